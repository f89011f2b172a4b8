package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/ui/present"
)

// helpWidth is the width of help, in characters.
const helpWidth = 80

// Groups of the commands in help.
const (
	groupLook    = "look"
	groupAct     = "act"
	groupSetUp   = "set-up"
	groupProgram = "program"
)

// helpTerms is the topic of help that explains words.
const helpTerms = "terms"

// groups puts the commands of the first level in groups. A command that is not named here appears under "Additional
// Commands".
func groups(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look:"}, &cobra.Group{ID: groupAct, Title: "Act, and judge before:"},
		&cobra.Group{ID: groupSetUp, Title: "Set up:"}, &cobra.Group{ID: groupProgram, Title: "Service and program:"},
	)
	of := map[string][]string{
		groupLook:    {"balances", "receive", "assets", "chains", "history", "status", "activity", "lab", "export"},
		groupAct:     {"call", "pay", "transfer", "swap", "refund", "plan", "apply", "intent", "verify"},
		groupSetUp:   {"setup", "profile", "accounts", "contacts", "keys", "tank", "config", "network"},
		groupProgram: {"serve", "attest", "devnet", "doctor", "completion", "man", "version"},
	}
	for _, c := range root.Commands() {
		for id, names := range of {
			if slices.Contains(names, c.Name()) {
				c.GroupID = id
			}
		}
	}
	root.SetHelpCommandGroupID(groupProgram)
}

// helpCommand is `coffer help`: the help of the command that its words name. It refuses words that name none, as the
// command itself would, without help before them.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command | terms]",
		Short: "Help about any command; help terms explains the words",
		Long: "Prints what a command does, with its flags and examples; the same as --help behind the command. " +
			"With terms it says what words such as escrow and nonce mean.",
		Example: "  coffer help keys import\n  coffer help terms",
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			at, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			if at == c.Root() && strings.HasPrefix(helpTerms, begun) {
				names = append(names, cobra.CompletionWithDesc(helpTerms, "What the words of this program mean"))
			}
			for _, sub := range at.Commands() {
				if (sub.IsAvailableCommand() || sub.Name() == "help") && strings.HasPrefix(sub.Name(), begun) {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{helpTerms}) {
				for _, t := range present.Terms() {
					fmt.Fprintf(c.OutOrStdout(), "%s\n  %s\n", t.Name,
						strings.ReplaceAll(reflow(t.Text, helpWidth-2), "\n", "\n  "))
				}
				return nil
			}
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noArgs(about, rest)
			}
			about.InitDefaultHelpFlag() // so that help lists it
			help(about, nil)
			return nil
		},
	}
}

// known refuses words after a command that only has subcommands, whose help would otherwise answer for one that does
// not exist.
func known(c *cobra.Command, words []string) error {
	if !c.HasAvailableSubCommands() || len(words) == 0 {
		return nil
	}
	return noArgs(c, words)
}

// help prints what a command does, for 80 columns; examples stay as they are, so that the user can copy them.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	says := c.Long
	if says == "" {
		says = c.Short
	}
	fmt.Fprintf(w, "%s\n\n", reflow(says, helpWidth))
	c.SetOut(w)
	_ = usage(c) // a failure to write help has no place to be reported
}

// usage prints how a command is called.
func usage(c *cobra.Command) error {
	w := c.OutOrStdout()
	fmt.Fprint(w, "Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(w, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	usageCommands(w, c)
	usageFlags(w, "Flags", c.LocalFlags())
	usageFlags(w, "Global Flags", c.InheritedFlags())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n`%s [command] --help` says more about a command.\n", c.CommandPath())
	}
	return nil
}

// usageCommands lists the commands below c, in groups where there are some.
func usageCommands(w io.Writer, c *cobra.Command) {
	list := func(title, group string) {
		first := true
		for _, sub := range c.Commands() {
			if sub.GroupID != group || !sub.IsAvailableCommand() && sub.Name() != "help" {
				continue
			}
			if first {
				fmt.Fprintf(w, "\n%s\n", title)
			}
			first = false
			fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	for _, g := range c.Groups() {
		list(g.Title, g.ID)
	}
	title := "Additional Commands:"
	if len(c.Groups()) == 0 {
		title = "Available Commands:"
	}
	list(title, "")
}

func usageFlags(w io.Writer, title string, f *pflag.FlagSet) {
	if f.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", title, flagUsages(f))
	}
}

// flagUsages lists flags: what a flag with a long name does is on the line below it. A line of a flag's text that
// begins with two blanks is not broken.
func flagUsages(f *pflag.FlagSet) string {
	const column = 22
	var b strings.Builder
	f.VisitAll(func(one *pflag.Flag) {
		if one.Hidden {
			return
		}
		name, says := flagHead(one), flagWords(one)
		lines := strings.Split(reflow(says, helpWidth-column), "\n")
		if len(name) >= column {
			fmt.Fprintf(&b, "%s\n", name)
			name = ""
		}
		for _, l := range lines {
			if strings.HasPrefix(l, "  ") { // a separate table
				fmt.Fprintf(&b, "      %s\n", l)
				continue
			}
			fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-*s%s", column, name, l), " "))
			name = ""
		}
	})
	return b.String()
}

// flagHead is a flag with the name of its value.
func flagHead(f *pflag.Flag) string {
	head := "      --" + f.Name
	if f.Shorthand != "" {
		head = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value := valueWord(f); value != "" {
		head += " " + value
	}
	return head
}

// valueWord names the value of a flag: the word in back quotes of its usage, else one for its type.
func valueWord(f *pflag.Flag) string {
	value, _ := pflag.UnquoteUsage(f)
	switch value {
	case "string", "strings", "stringArray":
		return "TEXT"
	case "int", "int64":
		return "N"
	case "duration":
		return "TIME"
	}
	return value
}

// flagWords is what a flag does, with its default where that is informative.
func flagWords(f *pflag.Flag) string {
	_, says := pflag.UnquoteUsage(f)
	says = strings.TrimRight(says, "\n")
	switch f.DefValue {
	case "", "false", "0", "0s", "-1", "[]", "true":
		return says
	}
	if f.Value.Type() == "string" {
		return fmt.Sprintf("%s (default %q)", says, f.DefValue)
	}
	return fmt.Sprintf("%s (default %s)", says, f.DefValue)
}

// reflow breaks paragraphs at a width. Lines that begin with a blank stay as they are; an empty line ends a paragraph.
func reflow(s string, width int) string {
	var out []string
	var words []string
	flush := func() {
		out = append(out, fill(words, width)...)
		words = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		switch {
		case line == "":
			flush()
			out = append(out, "")
		case line[0] == ' ':
			flush()
			out = append(out, strings.TrimRight(line, " "))
		default:
			words = append(words, strings.Fields(line)...)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// fill distributes words over lines.
func fill(words []string, width int) []string {
	var out []string
	line := ""
	for _, w := range words {
		if line != "" && len([]rune(line))+1+len([]rune(w)) > width {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
