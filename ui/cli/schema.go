package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"coffer/api/text"
	"coffer/config"
)

// config is the command that shows and checks the configuration. It changes nothing.
func (p Program) config(g *Global) *cobra.Command {
	return Group(&cobra.Command{
		Use:   "config",
		Short: "Show, check and explain the configuration",
		Long: `The configuration is one file, and a few variables of the environment for settings. Neither takes a
secret. show prints what holds now and where it comes from, check reads a file, example and schema print all keys that
there are.`,
		Example: `  coffer config show
  coffer config example > ~/.config/coffer/config.toml
  coffer config check ~/.config/coffer/config.toml
  coffer config schema > coffer.schema.json`,
	}, p.configShow(g), p.configCheck(), p.configExample(), p.configSchema())
}

// configured is what `coffer config show --json` prints.
type configured struct {
	Settings []config.Effective `json:"settings"`
	Ignored  []string           `json:"ignored"` // variables of the environment that are no settings
}

func (p Program) configShow(g *Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every setting in use, and where it comes from",
		Long: `Prints the places, the profile, its settings and those of the screens, each with its source: the file
and its line, a variable of the environment, the command line, or the default. A setting without a value and without a
default reads "-". Variables that look like settings and are none are named on standard error.`,
		Example: "  coffer config show\n  coffer config show --profile team --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			named := ""
			if f := cmd.Flag("profile"); f != nil && f.Changed {
				named = g.Profile
			}
			all, err := config.Show(p.getenv, named)
			if err != nil {
				return asProfileError(err)
			}
			ignored := append(config.UnknownVariables(p.environ()), config.IgnoredXDG(p.getenv)...)
			if asJSON {
				return PrintJSON(p.Out, configured{all, append([]string{}, ignored...)})
			}
			for _, name := range ignored {
				fmt.Fprintf(p.Err, "%s is ignored: it is no setting, or no absolute path\n",
					text.Clean(name, maxReport))
			}
			return p.printSettings(all)
		},
	}
	JSONFlag(cmd, &asJSON)
	return cmd
}

// asProfileError turns an error about the name of a profile into an error of the command line.
func asProfileError(err error) error {
	var broken *config.Error
	var path *os.PathError
	if errors.As(err, &broken) || errors.As(err, &path) {
		return err
	}
	return &UsageError{Problem: err.Error()}
}

func (p Program) printSettings(all []config.Effective) error {
	w := Columns(p.Out)
	for _, e := range all {
		value, source := "-", e.Source
		if e.Value != nil {
			value = fmt.Sprint(e.Value)
		}
		if e.Where != "" {
			source += " " + e.Where
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Key, text.Clean(value, maxReport), text.Clean(source, maxReport))
	}
	return w.Flush()
}

func (p Program) configCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Read a configuration file strictly and say what is wrong",
		Long: `Reads the file, or the one in use now, as every start does, and reports unknown keys, wrong types and
broken rules with line and column, and a file that others may write. The exit code is 2 when something is wrong.`,
		Example: "  coffer config check\n  coffer config check ./config.toml",
		Args:    MayHave("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			paths, err := config.PathsFrom(p.getenv)
			if err != nil {
				return err
			}
			path := paths.Config
			if len(args) == 1 {
				path = args[0]
				if _, err := os.Stat(path); err != nil {
					return &UsageError{Problem: "the file cannot be read: " + err.Error()}
				}
			}
			f, err := config.Load(path)
			if err != nil {
				return err
			}
			state := "good"
			if _, err := os.Stat(path); err != nil { // Load found none
				state = "there is no file, so every setting has its default"
			}
			_, err = fmt.Fprintf(p.Out, "%s: %s, profiles: %d, %s is the default one\n", text.Clean(path, maxReport),
				state, len(f.Profiles), f.Default)
			return err
		},
	}
}

func (p Program) configExample() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a configuration with every key, its meaning and its default",
		Long: `Prints a file with every key there is. All but the version is commented out, so without a change
it means the same as no file.`,
		Example: "  coffer config example > ~/.config/coffer/config.toml",
		RunE: func(*cobra.Command, []string) error {
			_, err := p.Out.Write(config.Example())
			return err
		},
	}
}

func (p Program) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration, for editors",
		Long: `Prints a JSON Schema (draft 7) of the configuration file. An editor that knows TOML and schemas
completes and checks the file with it; the line
  #:schema ./coffer.schema.json
at the top of the file names it.`,
		Example: "  coffer config schema > ~/.config/coffer/coffer.schema.json",
		RunE: func(*cobra.Command, []string) error {
			b, err := config.JSONSchema()
			if err != nil {
				return err
			}
			_, err = p.Out.Write(b)
			return err
		},
	}
}
