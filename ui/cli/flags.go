package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// checkValues refuses a flag in the place of another flag's value: `--again --yes` would take "--yes" for the value
// and leave the flag out. The user can still give such a value as `--again=--yes`.
func checkValues(root *cobra.Command, args []string) error {
	c, _, err := root.Find(args)
	if err != nil || c.DisableFlagParsing {
		return nil // cobra reports the fault
	}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, long := strings.CutPrefix(args[i], "--")
		if !long || strings.Contains(name, "=") {
			continue
		}
		f := c.Flag(name)
		if f == nil || f.NoOptDefVal != "" {
			continue // it takes no value
		}
		if i++; i < len(args) && isFlag(c, args[i]) {
			return &UsageError{
				Problem: "--" + name + " needs a value, but a flag follows it" + followed(c, args[i]),
				Hint: "write --" + name + "=VALUE if the value begins with a dash; see `" + c.CommandPath() +
					" --help`",
			}
		}
	}
	return nil
}

// isFlag reports text that looks like a flag: anything after two dashes, or a single letter that the command knows.
// "-" is a file and "-5" a number.
func isFlag(c *cobra.Command, arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return true
	}
	return len(arg) == 2 && arg[0] == '-' && (arg[1] == 'h' || c.Flags().ShorthandLookup(arg[1:]) != nil)
}

// followed names a flag that the command knows; it repeats nothing else, which may be a secret.
func followed(c *cobra.Command, arg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	if c.Flag(name) == nil {
		return ""
	}
	return ": --" + name
}
