package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coffer/api"
)

// Misused is the error of a command line that a command cannot run; its help is the hint.
func Misused(c *cobra.Command, format string, args ...any) error {
	return &UsageError{Problem: fmt.Sprintf(format, args...), Hint: "see `" + c.CommandPath() + " --help`"}
}

// strict has the commands that do not say what they take refuse words.
func strict(all ...*cobra.Command) {
	for _, c := range all {
		if c.Args == nil {
			c.Args = NoArgs
		}
	}
}

// Group completes a command that only has others below it: alone it names them.
func Group(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	var names []string
	for _, sub := range below {
		names = append(names, sub.Name())
	}
	last := len(names) - 1
	strict(below...)
	if c.Args == nil {
		c.Args = noArgs // with a suggestion
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		return Misused(c, "`%s` needs one of %s or %s", c.CommandPath(), strings.Join(names[:last], ", "), names[last])
	}
	c.AddCommand(below...)
	return c
}

// NoArgs refuses words after a command that takes none. It repeats none of them: one may be a key given by mistake.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Misused(c, "`%s` takes no arguments", c.CommandPath())
}

// OneArg demands one word that is not empty, as an unset variable of a script is; what names it in the error.
func OneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] != "" {
			return nil
		}
		return Misused(c, "`%s` takes one %s", c.CommandPath(), what)
	}
}

// MayHave is OneArg for a word that may be left out.
func MayHave(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return OneArg(what)(c, args)
	}
}

// JSONFlag adds --json to a command.
func JSONFlag(c *cobra.Command, asJSON *bool) { c.Flags().BoolVar(asJSON, "json", false, "print JSON") }

// PrintJSON writes a value as one line of JSON.
func PrintJSON(w io.Writer, v any) error {
	doc, err := api.Encode(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", doc.Raw())
	return err
}

// Columns aligns cells that a tab ends, with two blanks between them, until it is flushed.
func Columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }
