package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api/text"
)

// manSection is the section of the manual that commands are in.
const manSection = "1"

// man is the command that writes the manual pages.
func (p Program) man() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Long: `Writes one page for each command into DIR, which is made when it is not there: coffer.1, coffer-call.1
and so on; pages of the same name there are replaced. Without DIR it prints the page of coffer itself.
SOURCE_DATE_EPOCH dates the pages, else the revision that the program was built from, so that the same program writes
the same pages.`,
		Example: `  coffer man ~/.local/share/man/man1
  coffer man | man -l -`,
		Args: MayHave("directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			date, err := p.manDate()
			if err != nil {
				return err
			}
			m := manual{version: p.Build.Version, date: date}
			if len(args) == 0 {
				_, err := p.Out.Write(m.page(cmd.Root()))
				return err
			}
			n, err := m.write(cmd.Root(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.Err, "%d pages written to %s\n", n, text.Clean(args[0], maxReport))
			return err
		},
	}
}

// manDate is the date on the pages, "" when unknown.
func (p Program) manDate() (string, error) {
	if s := p.getenv("SOURCE_DATE_EPOCH"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return "", &UsageError{Problem: "SOURCE_DATE_EPOCH has to be a number of seconds since 1970"}
		}
		return time.Unix(n, 0).UTC().Format(time.DateOnly), nil
	}
	if at, err := time.Parse(time.RFC3339, p.Build.Time); err == nil {
		return at.UTC().Format(time.DateOnly), nil
	}
	return "", nil
}

// manual makes pages.
type manual struct{ version, date string }

// write writes the pages of c and everything below it.
func (m manual) write(c *cobra.Command, dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages are public
		return 0, InFile(err)
	}
	for _, one := range documented(c) {
		file := filepath.Join(dir, manName(one)+"."+manSection)
		if err := os.WriteFile(file, m.page(one), 0o644); err != nil { //nolint:gosec // pages are public
			return n, InFile(err)
		}
		n++
	}
	return n, nil
}

// documented are c and the commands below it that people call.
func documented(c *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{c}
	for _, sub := range below(c) {
		out = append(out, documented(sub)...)
	}
	return out
}

// below are the commands one level down that people call.
func below(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(s *cobra.Command) bool {
		return !s.IsAvailableCommand() ||
			s.Name() == "help"
	})
}

// manName is the name of a command's page.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// page is the page of a command, in the macros of man(7).
func (m manual) page(c *cobra.Command) []byte {
	r := &roff{}
	// programs parse the date, so it is not escaped
	r.line(fmt.Sprintf(".TH \"%s\" %s \"%s\" \"%s\" \"Coffer\"", escape(strings.ToUpper(manName(c))), manSection,
		m.date, escape("coffer "+m.version)))
	r.section("NAME")
	r.text(manName(c) + " - " + lowerFirst(c.Short))
	r.section("SYNOPSIS")
	if c.Runnable() {
		r.bold(c.UseLine())
	}
	if len(below(c)) > 0 {
		r.line(".br")
		r.bold(c.CommandPath() + " COMMAND")
	}
	r.section("DESCRIPTION")
	says := c.Long
	if says == "" {
		says = c.Short + "."
	}
	r.prose(says)
	m.commands(r, c)
	r.flags("OPTIONS", c.NonInheritedFlags())
	r.flags("OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if c.HasExample() {
		r.section("EXAMPLES")
		r.literal(strings.Split(c.Example, "\n"))
	}
	r.section("EXIT STATUS")
	for code, says := range exitCodes() {
		r.item(strconv.Itoa(code), says)
	}
	if c == c.Root() {
		m.surroundings(r)
	}
	m.also(r, c)
	return []byte(r.b.String())
}

func (manual) commands(r *roff, c *cobra.Command) {
	subs := below(c)
	if len(subs) == 0 {
		return
	}
	r.section("COMMANDS")
	for _, s := range subs {
		r.item(strings.TrimPrefix(s.CommandPath(), "coffer "), s.Short+". See "+manName(s)+"("+manSection+").")
	}
}

// also names the pages around this one.
func (manual) also(r *roff, c *cobra.Command) {
	var names []string
	if c.HasParent() {
		names = append(names, manName(c.Parent()))
	}
	for _, s := range below(c) {
		names = append(names, manName(s))
	}
	if c.HasParent() && c.Parent().HasParent() {
		for _, s := range below(c.Parent()) {
			if s != c {
				names = append(names, manName(s))
			}
		}
	}
	r.section("SEE ALSO")
	for i, n := range names {
		comma := ","
		if i == len(names)-1 {
			comma = ""
		}
		r.line(".BR " + escape(n) + " (" + manSection + ")" + comma)
	}
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'a' && s[1] <= 'z' {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
