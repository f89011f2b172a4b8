// Package cli is the wallet without a screen: commands for scripts and for the start of the dashboard. Data goes to
// Out, every remark about it to Err. Nothing prompts. Code lists the exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/text"
	"coffer/config"
	"coffer/ui/present"
	"coffer/wallet/vault"
)

// Global holds the flags that every command takes.
type Global struct {
	Profile string // name of the profile; empty for the default one
	Account string // name or address of the EVM account to use; empty for the default one
	Linear  bool   // the dashboard as a conversation, line by line
	Record  string // directory of a recording of the exchanges with the service
	Replay  string // directory of a recording to show instead of a profile
	// Lab opens the dashboard there, on a question where there is one.
	Lab      bool
	Question string
}

// Program is what the commands work with; main fills it in.
type Program struct {
	Out, Err  io.Writer
	Terminal  bool // both standard input and standard output are terminals
	Build     Build
	Catalog   func(profile string) (*catalog.Catalog, error)
	Dashboard func(context.Context, Global) error
	SetUp     func(context.Context, Global, bool) error // the flag: with the usual answers
	Doctor    Examine
	// answer of the v3 balance endpoint for the profile's accounts
	Balances func(context.Context, Global) (*api.Document, error)
	// Earlier reads what the accounts had on networks before the present one.
	Earlier   func(context.Context, Global) ([]EarlierBalance, error)
	Serve     func(context.Context, ServeOptions) error
	Devnet    func(context.Context, DevnetOptions) error
	Attest    func(context.Context, AttestOptions) error
	Network   NetworkCommands  // of networks on own nodes
	Keys      KeysCommands     // of a service
	Store     StoreCommands    // of a service
	Accounts  AccountsCommands // of role-based accounts
	FaultHelp []string         // the faults that --fault takes, one line each
	Env       []string         // environment of the process; nil: os.Environ
	// Extra are commands that other packages implement, AccountsExtra some below `coffer accounts`.
	Extra         []func(*Global) *cobra.Command
	AccountsExtra func(*Global) []*cobra.Command
}

// Exit codes of the program.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitAccess  = 3
	ExitRefused = 4
	ExitExpired = 5
	ExitUnknown = 6
	ExitDamaged = 7
)

// A UsageError means that the command line cannot run as written. Hint, if any, is what to run instead.
type UsageError struct {
	Problem, Hint string
}

func (e *UsageError) Error() string { return e.Problem }

// A RefusedError means that verification refused what a command was about; the reasons were printed.
type RefusedError struct{ Problem string }

func (e *RefusedError) Error() string { return e.Problem }

// An AccessError means that a key or a passphrase is missing or wrong. Hint, if any, is what to do.
type AccessError struct {
	Problem, Hint string
}

func (e *AccessError) Error() string { return e.Problem }

// ExitCode is ExitAccess.
func (*AccessError) ExitCode() int { return ExitAccess }

// A FileError means that a file which the command line names cannot be read or written: an error of the command line
// (exit code 2).
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *FileError) Unwrap() error { return e.Err }

// ExitCode is ExitUsage.
func (*FileError) ExitCode() int { return ExitUsage }

// InFile is err as an error of a file that the command line names, nil for a nil err.
func InFile(err error) error {
	if err == nil {
		return nil
	}
	return &FileError{err}
}

// Broken adds to a problem with a file why it cannot be used: the broken rules of an intent, or the error.
func Broken(problem string, err error) string {
	failures := present.Failures(err)
	if len(failures) == 0 {
		return problem + ": " + text.Clean(err.Error(), maxReport)
	}
	for _, f := range failures {
		problem += "\n  " + text.Clean(f.String(), maxReport)
	}
	return problem
}

// ReadFile reads a file that the command line names, of at most most MiB.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, InFile(err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, most<<20+1))
	if err == nil && int64(len(b)) > most<<20 {
		err = fmt.Errorf("%s is larger than %d MiB", path, most)
	}
	return b, InFile(err)
}

// A DataError means that the stored data of a service or an embedded profile is damaged or lost. Hint is what to do.
type DataError struct {
	Err  error
	Hint string
}

// Error is the text of the cause.
func (e *DataError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *DataError) Unwrap() error { return e.Err }

// ExitCode is ExitDamaged.
func (*DataError) ExitCode() int { return ExitDamaged }

// Interrupted reports that the user or a signal ended a step.
func Interrupted(err error) bool {
	var failed *client.Error
	return errors.Is(err, context.Canceled) || errors.Is(err, ErrInterrupted) ||
		errors.As(err, &failed) && failed.Kind == client.KindCancelled
}

// Code maps an error to the exit code: 0 done, 1 failed, 2 usage (or a named file, or a broken configuration), 3
// access (key missing, wrong or without permission, locked keys, or a wrong passphrase), 4 refused by verification, 5
// expired, interrupted or not executed, 6 outcome unknown, 7 stored data of a service damaged or lost.
func Code(err error) int {
	var usage *UsageError
	var cfg *config.Error
	var service *api.Error
	var refused *RefusedError
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.As(err, &refused):
		return ExitRefused
	case errors.As(err, &usage), errors.As(err, &cfg), errors.Is(err, vault.ErrLabel):
		return ExitUsage
	case errors.Is(err, vault.ErrPassphrase), errors.Is(err, vault.ErrLocked), errors.Is(err, vault.ErrNoKey),
		errors.Is(err, vault.ErrNetwork):
		return ExitAccess
	case Interrupted(err):
		return ExitExpired
	case errors.As(err, &service):
		switch service.Name {
		case api.ErrUnauthorized, api.ErrForbidden:
			return ExitAccess
		case api.ErrQuoteExpired:
			return ExitExpired
		}
	}
	return ExitFailed
}

// maxReport bounds a line of an error, in characters.
const maxReport = 2000

// Report writes an error as one line, with the hint below it. An error may repeat foreign text, such as the name of a
// file: every line is cleaned.
func Report(w io.Writer, err error) {
	for i, line := range strings.Split(problemOf(err), "\n") {
		prefix := ""
		if i == 0 {
			prefix = "coffer: "
		}
		fmt.Fprintf(w, "%s%s\n", prefix, text.Clean(line, maxReport))
	}
	if hint := Hint(err); hint != "" {
		for line := range strings.SplitSeq(hint, "\n") {
			fmt.Fprintf(w, "  %s\n", text.Clean(line, maxReport))
		}
	}
}

// problemOf is an error in words; a request that the user stopped is no failure of the network.
func problemOf(err error) string {
	var coded interface{ ExitCode() int }
	var request *client.Error
	switch {
	case errors.As(err, &coded):
	case errors.As(err, &request) && request.Kind == client.KindCancelled:
		return "stopped before the end (" + request.Op + "); nothing was sent"
	case errors.Is(err, ErrInterrupted):
		return "you left the question; nothing was done after it"
	}
	return err.Error()
}

// Hint is the remedy for an error, "" when none is known.
func Hint(err error) string {
	var usage *UsageError
	var access *AccessError
	var data *DataError
	switch {
	case errors.As(err, &usage):
		return usage.Hint
	case errors.As(err, &access):
		return access.Hint
	case errors.As(err, &data):
		return data.Hint
	}
	return ""
}

// Run runs the command line and returns the error that Code and Report read.
func (p Program) Run(ctx context.Context, args []string) error {
	root := p.root()
	var unknown error // of a command whose help was asked for
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if unknown = known(c, c.Flags().Args()); unknown == nil {
			help(c, nil)
		}
	})
	root.SetArgs(args)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	if completes(args) {
		p.complete(root)
	} else {
		p.warnOfSecrets()
		if err := checkValues(root, args); err != nil {
			return err
		}
	}
	if err := root.ExecuteContext(ctx); err != nil {
		return err
	}
	return unknown
}

// environ is the environment of the process.
func (p Program) environ() []string {
	if p.Env != nil {
		return p.Env
	}
	return os.Environ()
}

// getenv looks a variable up in the environment.
func (p Program) getenv(name string) string { return config.Getenv(p.environ())(name) }

// warnOfSecrets names the variables that look like an attempt to pass a secret. The program takes none from there, and
// never shows their values.
func (p Program) warnOfSecrets() {
	for _, name := range config.SecretVariables(p.environ()) {
		fmt.Fprintf(p.Err,
			"coffer: %s is ignored: no environment variable takes a secret; remove it from the environment\n",
			text.Clean(name, maxReport))
	}
}

func (p Program) root() *cobra.Command {
	var g Global
	var version bool
	root := &cobra.Command{
		Use:   "coffer",
		Short: "A terminal wallet for smart accounts on many chains",
		Long: `Coffer shows the balances of your smart accounts over many chains, builds contract calls, and walks you
through prepare, review, sign and execute. Without a configuration it opens the demo profile: play money on chains
that run inside this program.`,
		Example: `  coffer                     open the dashboard
  coffer balances --json     print the balances of the profile's accounts
  coffer keys init           set up where the profile keeps its keys
  coffer verify FILE...        check saved answers, with no network and no key
  coffer serve               run the service for a team
  coffer serve keys add      make an API key for it`,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case version:
				return p.printVersion(false)
			case g.Linear: // works without a terminal as well
			case g.Record != "" && g.Replay != "":
				return &UsageError{Problem: "a replay cannot be recorded", Hint: "leave --record or --replay out"}
			case !p.Terminal:
				return &UsageError{
					Problem: "the dashboard needs a terminal for input and output",
					Hint: "without one, run a command such as `coffer balances --json`; `coffer --help` lists " +
						"them\nover SSH, ask for a terminal: ssh -t HOST coffer",
				}
			}
			return p.Dashboard(cmd.Context(), g)
		},
	}
	root.PersistentFlags().StringVar(&g.Profile, "profile", "",
		"profile to use, by its `NAME` (default: that of COFFER_PROFILE, else the one that the configuration names)")
	g.Profile = p.getenv(config.EnvProfile) // until the flag is read
	AccountFlag(root, &g)
	root.Flags().BoolVar(&g.Linear, "linear", false,
		"questions and answers line by line, without moving the cursor: for screen readers and simple terminals")
	root.Flags().BoolVarP(&version, "version", "v", false, "print what this program was built from, as coffer version")
	root.Flags().StringVar(&g.Record, "record", "",
		"keep every exchange with the service in this new `DIR`, without secrets")
	root.Flags().StringVar(&g.Replay, "replay", "",
		"show a recording from this `DIR`, with no network; nothing can be signed")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return Misused(c, "%s", err)
	})
	root.AddCommand(Passing(p.balances(&g), p.Terminal), p.accounts(&g), p.serve(&g), p.attest(), p.devnet(&g),
		p.network(&g), p.config(&g), p.completion(), p.man(), p.version())
	if p.SetUp != nil {
		root.AddCommand(p.setUp(&g))
	}
	if p.Doctor != nil {
		root.AddCommand(Passing(p.doctor(&g), p.Terminal))
	}
	for _, more := range p.Extra {
		root.AddCommand(more(&g))
	}
	root.SetHelpFunc(help)
	root.SetHelpCommand(helpCommand())
	root.SetUsageFunc(usage)
	groups(root)
	strict(root.Commands()...)
	return root
}

// AccountFlag adds --account, for a command that works with one EVM account of a profile.
func AccountFlag(cmd *cobra.Command, g *Global) {
	cmd.Flags().StringVar(&g.Account, "account", "",
		"EVM account to use, by its `NAME` or address (default: the default account of the profile)")
}

// setUp is the command that sets up a profile with questions.
func (p Program) setUp(g *Global) *cobra.Command {
	var usual bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Set up a profile, step by step",
		Long: `Asks whether the profile is your own, on chains inside this program, of a service, or on your own nodes;
then where the keys are kept, for a key and an account, tries it, and writes the profile only at the end. Leaving
earlier changes nothing. Where screens cannot be drawn, and with --linear, it asks line by line.

--yes makes your own profile in one go: a new key in an encrypted file and its smart account, with play money. It asks
for the new passphrase alone, or takes it from --passphrase-fd.`,
		Example: "  coffer setup\n  coffer setup --linear\n  coffer setup --yes --profile mine",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !p.Terminal && !usual {
				return &UsageError{Problem: "the set-up needs a terminal for input and output",
					Hint: "without one, use `coffer setup --yes --passphrase-fd N`, or `coffer profile add` and " +
						"`coffer keys`"}
			}
			return p.SetUp(cmd.Context(), *g, usual)
		},
	}
	cmd.Flags().BoolVar(&g.Linear, "linear", false, "questions and answers line by line")
	cmd.Flags().BoolVar(&usual, "yes", false, "your own profile on chains inside this program, without questions")
	return Passing(cmd, p.Terminal)
}

// noArgs refuses anything that is not a command or a flag.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	problem, hint := "there is no such command", "see `"+c.CommandPath()+" --help`"
	if harmless(args) {
		problem = fmt.Sprintf("there is no command %q", args[0])
		if meant := nearest(c, args[0]); meant != "" {
			hint = "did you mean `" + meant + "`? " + hint
		}
	}
	return &UsageError{Problem: problem, Hint: hint}
}

// meant are words of other wallets' command lines, and what does the same here.
var meant = map[string]string{
	"send": "transfer", "bridge": "transfer", "withdraw": "transfer", "deposit": "receive", "address": "receive",
	"addresses": "receive", "portfolio": "balances", "tx": "history", "txs": "history",
	"transactions": "history", "pending": "activity", "cancel": "activity", "import": "keys import",
	"backup": "keys backup", "restore": "keys restore", "seed": "keys import", "mnemonic": "keys import",
	"keygen": "keys new", "new": "setup", "create": "setup", "init": "setup",
	"wallet": "accounts", "wallets": "accounts",
	"approve": "accounts allowances", "approvals": "accounts allowances", "allowance": "accounts allowances",
	"allowances": "accounts allowances", "revoke": "accounts allowances", "addressbook": "contacts", "node": "network",
	"nodes": "network", "rpc": "network", "settings": "config", "options": "config", "sign": "call", "execute": "call",
	"start": "", "open": "", "run": "", "tui": "", "ui": "", "dashboard": "",
}

// nearest is the command that a word may have meant, "" for none.
func nearest(c *cobra.Command, word string) string {
	if command, known := meant[strings.ToLower(word)]; known && !c.HasParent() {
		return strings.TrimRight(c.CommandPath()+" "+command, " ")
	}
	c.SuggestionsMinimumDistance = min(2, len(word)/2) // letters
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return c.CommandPath() + " " + near[0]
	}
	return ""
}

// harmless reports whether an error may repeat the first of args: it is a short plain word and not the first of many.
// A key or a mnemonic given by mistake is neither.
func harmless(args []string) bool {
	const maxWord, maxWords = 24, 6
	return len(args[0]) <= maxWord && len(args) <= maxWords && isPlain(args[0])
}
