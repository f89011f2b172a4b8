package cli

import (
	"fmt"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/api/text"
	"coffer/ui/present"
)

// column is the width of the labels of Rows, their indent included.
const column = 22

// Sheet is text in rows: labels with their values beside them. It cuts nothing, and of foreign text it lets only
// printable characters through.
type Sheet struct{ strings.Builder }

// Line writes a line.
func (s *Sheet) Line(line string) {
	line = strings.TrimRight(line, " ")
	fmt.Fprintln(s, text.Clean(line, max(1, len(line))))
}

// Row writes a fact; nothing without a value.
func (s *Sheet) Row(label, value string) {
	if value != "" {
		s.row("  ", label, value)
	}
}

// Sub writes a part of the fact above.
func (s *Sheet) Sub(label, value string) {
	if value != "" {
		s.row("    ", label, value)
	}
}

func (s *Sheet) row(indent, label, value string) {
	s.Line(fmt.Sprintf("%s%-*s %s", indent, column-len(indent), label, value))
}

// Rows writes a page as rows of a Sheet. shown are the facts of the rows.
func Rows(p present.Page) (rows string, shown []string) {
	var s Sheet
	for _, l := range p.Say(true) {
		indent, value := strings.Repeat(" ", 2+2*l.Level), l.Text()
		switch {
		case l.Code != "":
			l.Label, value = l.Code, strings.TrimPrefix(value, l.Word+": ")
		case l.Label == "" && l.Row:
			indent = strings.Repeat(" ", column+1)
		}
		if l.Label == "" {
			s.Line(indent + value)
		} else {
			s.row(indent, l.Label, value)
		}
	}
	return s.String(), p.Paths()
}

// Clock writes a time of a review.
func Clock(t time.Time) string {
	if t.IsZero() {
		return amount.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
