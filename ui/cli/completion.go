package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shells are the shells with a completion script.
func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completion is the command that prints a shell's script.
func (p Program) completion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print the script that completes commands in a shell",
		Long: `Prints the script by which bash, zsh, fish or PowerShell completes commands, flags and their values:
profiles, chains, assets, ids of this machine's operations and files. Nothing is asked of a service for it, no keys
are touched and no file is changed.

For the present shell:
  source <(coffer completion bash)
  source <(coffer completion zsh)
  coffer completion fish | source
  coffer completion powershell | Out-String | Invoke-Expression

For every shell that starts:
  bash        write it to ~/.local/share/bash-completion/completions/coffer;
              the package bash-completion is needed
  zsh         write it to "${fpath[1]}/_coffer"; ~/.zshrc needs the line
              autoload -U compinit; compinit
  fish        write it to ~/.config/fish/completions/coffer.fish
  PowerShell  append it to the file that $PROFILE names`,
		Example: `  coffer completion bash > ~/.local/share/bash-completion/completions/coffer
  coffer completion zsh > "${fpath[1]}/_coffer"
  coffer completion fish > ~/.config/fish/completions/coffer.fish
  coffer completion powershell >> $PROFILE`,
		ValidArgs:             shells(),
		DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells(), args[0]) {
				return Misused(c, "`%s` takes the name of a shell: %s", c.CommandPath(), strings.Join(shells(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return script(cmd.Root(), args[0], p.Out) },
	}
}

// script writes the script of a shell.
func script(root *cobra.Command, shell string, out io.Writer) error {
	switch shell {
	case "zsh":
		return root.GenZshCompletion(out)
	case "fish":
		return root.GenFishCompletion(out, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(out)
	}
	var b bytes.Buffer
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	s, err := withAt(b.String())
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, s)
	return err
}

// withAt makes the script of bash take usdc@base as one word. Bash breaks words at an @, as for the names of hosts;
// the script undoes that only for : and =.
func withAt(s string) (string, error) {
	for _, change := range [][2]string{
		{"_init_completion -n =: ||", "_init_completion -n =:@ ||"},
		{"    __coffer_handle_special_char \"$cur\" =\n",
			"    __coffer_handle_special_char \"$cur\" =\n    __coffer_handle_special_char \"$cur\" @\n"},
	} {
		if !strings.Contains(s, change[0]) {
			return "", fmt.Errorf("the script of bash has no %q", change[0])
		}
		s = strings.ReplaceAll(s, change[0], change[1])
	}
	return s, nil
}

// completes reports whether a shell asks for completions.
func completes(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// complete gives every command and every flag its completions. Only a shell needs them, so a normal start does not pay
// for it.
func (p Program) complete(root *cobra.Command) {
	cat, err := p.Catalog("")
	if err != nil {
		return
	}
	v := values{p, cat}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 {
			c.ValidArgsFunction = v.arguments(c)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" { // one that takes a value
				_ = c.RegisterFlagCompletionFunc(f.Name, v.flag(c, f)) // it fails for a flag that has its own
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}
