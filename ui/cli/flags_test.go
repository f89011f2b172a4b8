package cli_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/ui/cli"
)

// TestL6_AFlagIsNoValueOfAnotherFlag gives another flag as the value of every flag that takes one, on every command.
func TestL6_AFlagIsNoValueOfAnotherFlag(t *testing.T) {
	tried := map[string]int{}
	var walk func(c *cobra.Command)
	t.Parallel()
	walk = func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		try := func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				return
			}
			tried[f.Value.Type()]++
			for _, next := range []string{"--yes", "--no-such-flag", "--json=true", "--", "-h"} {
				for _, args := range [][]string{
					slices.Concat(words, []string{"--" + f.Name, next}),
					slices.Concat(words, []string{"--" + f.Name, next, "file"}),
					slices.Concat([]string{"--profile", "p"}, words, []string{"x", "--" + f.Name, next}),
				} {
					err := whole(io.Discard).Run(t.Context(), args)
					var usage *cli.UsageError
					if !errors.As(err, &usage) || cli.Code(err) != cli.ExitUsage ||
						!strings.Contains(usage.Problem, "--"+f.Name+" needs a value, but a flag follows") {
						t.Errorf("%v: %v", args, err)
					}
				}
			}
		}
		c.LocalFlags().VisitAll(try)
		c.InheritedFlags().VisitAll(try)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(whole(io.Discard).Root())
	if tried["string"] < 50 || len(tried) < 4 {
		t.Errorf("only these were tried: %v", tried)
	}
}

// TestL6_ValuesThatBeginWithADashAreStillValues keeps numbers below zero, standard input and values joined by =.
func TestL6_ValuesThatBeginWithADashAreStillValues(t *testing.T) {
	for _, args := range [][]string{
		{"apply", "-", "--again=--yes"}, {"apply", "--again", "-5", "-"}, {"history", "--limit", "-1"},
		{"call", "--arg", "-5", "--arg=--text"},
		{"apply", "x", "--", "--again", "--yes"},
	} {
		if err := cli.CheckValues(whole(io.Discard).Root(), args); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
