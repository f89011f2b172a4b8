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

// Rows writes a page as rows, a label and its value. It cuts nothing, and of foreign text it lets only printable
// characters through. shown are the facts of the rows.
func Rows(p present.Page) (rows string, shown []string) {
	var b strings.Builder
	for _, l := range p.Say(true) {
		indent, value := strings.Repeat(" ", 2+2*l.Level), l.Text()
		switch {
		case l.Code != "":
			l.Label, value = l.Code, strings.TrimPrefix(value, l.Word+": ")
		case l.Label == "" && l.Row:
			indent = strings.Repeat(" ", column+1)
		}
		line := indent + value
		if l.Label != "" {
			line = fmt.Sprintf("%s%-*s %s", indent, column-len(indent), l.Label, value)
		}
		line = strings.TrimRight(line, " ")
		fmt.Fprintln(&b, text.Clean(line, max(1, len(line))))
	}
	return b.String(), p.Paths()
}

// Clock writes a time of a review.
func Clock(t time.Time) string {
	if t.IsZero() {
		return amount.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
