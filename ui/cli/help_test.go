package cli_test

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/present"
)

// every calls fn for each command of the program.
func every(t *testing.T, fn func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	for _, c := range cli.Documented(whole(io.Discard).Root()) {
		t.Run(c.CommandPath(), func(t *testing.T) { fn(t, c) })
	}
}

func TestEveryCommandSaysWhatItDoesAndShowsHow(t *testing.T) {
	every(t, func(t *testing.T, c *cobra.Command) {
		switch {
		case c.Short == "" || c.Long == "" || c.Example == "":
			t.Errorf("short %t, long %t, example %t", c.Short != "", c.Long != "", c.Example != "")
		case strings.HasSuffix(c.Short, ".") || strings.Contains(c.Short, "\n"):
			t.Errorf("the short words are no line of a list: %q", c.Short)
		}
	})
}

// reComment is the remark in an example: after two blanks or more.
var reComment = regexp.MustCompile(`\s{2,}\S.*$`)

// shellWords splits a line as a shell does, up to the first redirection or pipe. ok is false for quotes without an
// end.
func shellWords(line string) (words []string, ok bool) {
	word, in, quote := "", false, rune(0)
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' && in:
			if strings.ContainsAny(word, "|<>") {
				return words, true
			}
			words, word, in = append(words, word), "", false
		case r != ' ':
			word, in = word+string(r), true
		}
	}
	return words, quote == 0
}

// An example that cannot be typed is worse than none: its flags exist, their values parse and it has as many arguments
// as the command takes.
func TestEveryExampleCanBeTyped(t *testing.T) {
	every(t, func(t *testing.T, c *cobra.Command) {
		own := false
		for line := range strings.SplitSeq(c.Example, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if !strings.HasPrefix(line, "  coffer") {
				t.Errorf("no command of this program: %q", line)
				continue
			}
			words, ok := shellWords(reComment.ReplaceAllString(strings.TrimSpace(line), ""))
			root := whole(io.Discard).Root()
			found, rest, err := root.Find(words[1:])
			if !ok || err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			own = own || found.CommandPath() == c.CommandPath() ||
				strings.HasPrefix(found.CommandPath(), c.CommandPath()+" ")
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if strings.Contains(strings.Join(words, " "), "...") && found.CommandPath() != "coffer verify" {
				t.Errorf("%q leaves something out", line)
			}
		}
		if !own {
			t.Error("no example shows the command itself")
		}
	})
}

// Only lines to copy and separate tables may be wider.
func TestHelpFitsEightyColumns(t *testing.T) {
	every(t, func(t *testing.T, c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		example := strings.Split(c.Example, "\n")
		for line := range strings.SplitSeq(says(t, nil, args...), "\n") {
			if utf8.RuneCountInString(line) > cli.HelpWidth && !slices.Contains(example, line) {
				t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
			}
			if line != strings.TrimRight(line, " \t") {
				t.Errorf("blanks at the end: %q", line)
			}
		}
	})
}

// Help is read in every locale, also one whose characters are ASCII alone.
func TestHelpIsASCII(t *testing.T) {
	every(t, func(t *testing.T, c *cobra.Command) {
		help := says(t, nil, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		if i := strings.IndexFunc(help, func(r rune) bool { return r > '~' }); i >= 0 {
			t.Errorf("not ASCII: %.40q", help[i:])
		}
	})
}

func TestHelpExplainsTheTerms(t *testing.T) {
	got := strings.Join(strings.Fields(says(t, nil, "help", "terms")), " ")
	for _, term := range present.Terms() {
		if !strings.Contains(got, term.Name+" "+term.Text) {
			t.Errorf("%s is not explained", term.Name)
		}
	}
}

func TestGoldenHelp(t *testing.T) {
	golden.RequireEqual(t, []byte(says(t, nil, "--help")))
}

func TestReflowKeepsTablesAndParagraphs(t *testing.T) {
	got := cli.Reflow("one two\nthree four\n  a   table\n\nfive ×××× six", 9)
	if want := "one two\nthree\nfour\n  a   table\n\nfive ××××\nsix"; got != want {
		t.Errorf("%q", got)
	}
}

// Help for a command that does not exist is an error as the command itself is: nothing on standard output, and the
// suggestion on standard error.
func TestHelpOfACommandThatDoesNotExistIsRefusedWithASuggestion(t *testing.T) {
	const key = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	for line, hint := range map[string]string{
		"help nosuch": "see `coffer --help`", "help balnces": "did you mean `coffer balances`?",
		"help keys nosuch": "see `coffer keys --help`", "help keys improt": "did you mean `coffer keys import`?",
		"help keys import x":  "see `coffer keys import --help`",
		"help serve keys lst": "did you mean `coffer serve keys list`?", "help " + key: "see `coffer --help`",
		"help keys " + key: "see `coffer keys --help`",
		"nosuch --help":    "see `coffer --help`", "--help nosuch": "see `coffer --help`",
		"keys improt --help":          "did you mean `coffer keys import`?",
		"profile lst -h":              "did you mean `coffer profile list`?",
		"accounts exit nosuch --help": "see `coffer accounts exit --help`", "help --nosuch": "see `coffer help --help`",
	} {
		var out, errs bytes.Buffer
		p := whole(&out)
		p.Err = &errs
		err := p.Run(t.Context(), strings.Fields(line))
		cli.Report(&errs, err)
		if cli.Code(err) != cli.ExitUsage || out.Len() > 0 || !strings.Contains(errs.String(), "\n  ") ||
			!strings.Contains(errs.String(), hint) || strings.Contains(errs.String(), key) {
			t.Errorf("coffer %s: %v, printed %q, said %s", line, err, &out, &errs)
		}
	}
	for _, line := range []string{"help", "help keys", "help keys import", "help serve keys", "help help",
		"help completion"} {
		if got, want := says(t, nil, strings.Fields(line)...),
			says(t, nil, append(strings.Fields(line)[1:], "--help")...); got != want || got == "" {
			t.Errorf("coffer %s differs from --help:\n%s\n%s", line, got, want)
		}
	}
	if got := says(t, nil, "__complete", "help", "keys", "im"); !strings.HasPrefix(got, "import\t") {
		t.Errorf("completion of help: %q", got)
	}
}

// TestWordsOfOtherWalletsLeadSomewhere: each is no command here, and names one that exists.
func TestWordsOfOtherWalletsLeadSomewhere(t *testing.T) {
	for word, command := range cli.Meant {
		for _, line := range [][]string{{word}, {"help", word}, {word, "5", "usdc"}} {
			p := whole(new(bytes.Buffer))
			p.Err = new(bytes.Buffer)
			err := p.Run(t.Context(), line)
			want := "did you mean `" + strings.TrimRight("coffer "+command, " ") + "`?"
			if cli.Code(err) != cli.ExitUsage || !strings.Contains(cli.Hint(err), want) {
				t.Errorf("%v: %v, %s", line, err, cli.Hint(err))
			}
		}
		if slices.Contains([]string{"transfer", "receive", "history", "activity", "call", "contacts"}, command) {
			continue // of other packages
		}
		if says(t, nil, append(strings.Fields(command), "--help")...) == "" {
			t.Errorf("%s: there is no coffer %s", word, command)
		}
	}
}

func TestTheFlagPrintsTheVersionAsTheCommandDoes(t *testing.T) {
	want := says(t, nil, "version")
	for _, flag := range []string{"--version", "-v"} {
		if got := says(t, nil, flag); got != want || got == "" {
			t.Errorf("%s: %s", flag, got)
		}
	}
}
