// Package act does the work of the dashboard as commands for scripts: assets, chains, receive, history, status,
// activity, call, transfer, swap, export, and plan files.
//
// Promise: data goes to Out, reviews, progress and findings to Err. A document with --json is the service's own, byte
// for byte, wherever the service gave one; the members beside it are facts of this program. Without a terminal the
// commands ask nothing: a signature needs --yes and keys that can be opened, every check and every limit of the policy
// holds as on the screens, and an open gate stays shut unless --confirm repeats its sentence. On a terminal the
// commands print both reviews, and the user confirms each by typing, by the rules of the screens. A passphrase comes
// from a terminal or from an inherited file descriptor, never from an argument, the environment or a file by name. An
// interrupt is safe at every step: package flow has every step on disk before it takes effect.
//
// Errors carry an exit code of package cli: 0 done, 1 failed (also a quote that ended REFUNDED or FAILED), 2 usage, 3
// access, 4 refused by verification, by the policy or by a plan that was applied before, 5 expired or not executed, 6
// outcome unknown (also: not known yet).
//
// Units: amounts are typed in whole units with a symbol, or in base units; slippage is typed in percent. Sources:
// protocol §1, §5, TH-B2, B3, H3, H4, J4, N7.
package act

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/api/text"
	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/ui/past"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/ui/qr"
	"coffer/ui/quotelab"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Commands makes the commands. Outside tests Clock is time.Now and Sleep waits. In is the input where a command line
// names "-". Terminal means that In and Err are a terminal: then Prompt asks the user. Random is the source of a
// plan's salt.
type Commands struct {
	// Open opens the profile that the flags name, with their account. It asks for a passphrase, where it needs one,
	// with the context of the command: --passphrase-fd may have given it.
	Open     func(ctx context.Context, g cli.Global) (*Session, error)
	In       io.Reader
	Out, Err io.Writer
	Clock    func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) error
	Random   io.Reader
	Terminal bool
	Prompt   Prompt
	// PayingKey reads the key that pays for gas, from a file or as typed; the caller wipes it.
	PayingKey func(ctx context.Context, file string) (secret.Secret, error)
	Build     cli.Build
	// Dashboard opens the screens; nil: there is no terminal for them.
	Dashboard func(ctx context.Context, g cli.Global) error
	// Code is how Out draws a QR code; nil: Out is no terminal that can.
	Code *qr.Look
}

// Prompt asks the user at the terminal; cli.Prompt is one.
type Prompt interface {
	Line(ctx context.Context, question string) (string, error)
	Hold(ctx context.Context) (held context.Context, end func())
}

// Service is what the commands read from a service, unchanged.
type Service interface {
	BalancesDocument(ctx context.Context, q client.BalanceQuery) (client.Answer, error)
	AssetsDocument(ctx context.Context) (client.Answer, error)
	ChainsDocument(ctx context.Context) (client.Answer, error)
	HistoryDocument(ctx context.Context, q client.HistoryQuery) (client.Answer, error)
	StatusDocument(ctx context.Context, quoteID string) (client.Answer, error)
}

// Operation is one operation under way.
type Operation = present.Driven

// Book is the journal for reading; *journal.Journal is one.
type Book interface {
	Operations() []journal.Operation
	Outstanding(now time.Time) []journal.Outstanding
	Closed(now time.Time) []journal.Closed
	Lanes(now time.Time) []journal.LaneFacts
	Terms(quoteID string) (journal.Terms, bool)
	Close() error
}

// Work is a journal opened for writing, with its operations. Other processes may have it open too: each step takes it
// for itself.
type Work struct {
	Start      func(ctx context.Context, in intent.Intent) (Operation, error)
	Unfinished func() []Operation
	// Reconcile asks once for the outcome of everything that may have been sent (TH-J3): what has ended blocks nothing
	// any more.
	Reconcile func(ctx context.Context) error
	// Observe asks own nodes which open signatures are used, and closes those.
	Observe    func(ctx context.Context) error
	Operations func() []journal.Operation
	// Void and Repair record what the user knows of a signature or of a lane (flow.Flow).
	Void   func(hash, typed string) error
	Repair func(l journal.Lane, typed string, yes bool) error
	// Hold takes the journal for a step of the caller; Yield abandons, in that step, what other processes began for an
	// intent and did not sign.
	Hold  func(ctx context.Context) (release func(), err error)
	Yield func(id, intentHash string) error
	// Remark is what the user should know about how the journal was opened.
	Remark string
	Close  func() error
}

// Tighten narrows the limits of a policy, or refuses.
type Tighten func(verify.Limits) (verify.Limits, error)

// Session is an opened profile.
type Session struct {
	Profile  string
	RPC      string // where the chains of an embedded profile answer while its dashboard is open; "": nowhere
	Network  network.Descriptor
	Catalog  *catalog.Catalog
	Accounts []api.Account // those in use
	All      []api.Account // of the profile
	Query    client.BalanceQuery
	Service  Service
	// Lists compares the lists of the service with what is shipped and with what was seen before.
	Lists func(ctx context.Context) (profile.Lists, error)
	// Read opens the journal for reading, also while another process holds it; nil and no error: it does not exist
	// yet.
	Read func() (Book, error)
	// Follow asks own nodes what became of an operation that was sent; nil: no nodes are named.
	Follow func(ctx context.Context, rec journal.Operation, status api.ExecutionStatus) []verify.Became
	// Seen is the Solana account in use as own nodes see it; nil: none look at one.
	Seen *past.Chain
	// Sees reports whether the person named nodes: what they see closes signatures (Work.Observe).
	Sees func() bool
	Book []compose.Contact // the names that can be typed in the place of an address
	// Own is the name of an account of the profile, "" of another address; nil: the accounts have no names.
	Own func(address string) string
	// Known reports whether an address is a contact of the person's, as package consent asks; nil: there are none.
	Known func(address string) bool
	// Work opens the journal for operations, under the limits of the profile's policy as tighten makes them; nil leaves
	// them.
	Work func(tighten Tighten) (*Work, error)
	// Try is Work on a journal that reads the real one and keeps additions in memory: it writes nothing to disk.
	Try func(tighten Tighten) (*Work, error)
	// Lost describes what the journal lacks of what was written before (journal.Examine); Adopt continues with it all
	// the same.
	Lost  func() (journal.Loss, error)
	Adopt func() error
	// Lab asks for quotes and judges them, without a key; done ends it.
	Lab func() (a quotelab.Asker, done func() error, err error)
	// Locked reports that a signature needs locked keys; Unlock opens them; Lock wipes them, because the program is
	// suspended.
	Locked func() bool
	Unlock func(ctx context.Context) error
	Lock   func()
	// WatchOnly returns why nothing can be signed, such as that no key of the accounts is here; "": signing is
	// possible, or that is unknown.
	WatchOnly func(ctx context.Context) string
	Keep      flow.Keep // small documents of the profile, between starts
	// Plans keeps the list of completed plans, outside the state directory, so that restoring an older journal loses
	// none of them.
	Plans flow.Keep
	Close func() error
}

// maxShown bounds one line of output, in characters; data in hex is longer and is written in full.
const maxShown = 2000

func clean(s string) string { return text.Clean(s, maxShown) }

// whole cleans foreign text and cuts nothing.
func whole(s string) string { return text.Clean(s, max(1, len(s))) }

// say writes a line for the user.
func (c Commands) say(format string, args ...any) {
	fmt.Fprintln(c.Err, whole(fmt.Sprintf(format, args...)))
}

// works completes a command that works on a profile: it opens the profile, does the work and closes the profile. The
// command takes no arguments, unless it says what it takes.
func (c Commands) works(g *cli.Global, cmd *cobra.Command,
	work func(cmd *cobra.Command, s *Session, args []string) error) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = cli.NoArgs
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		s, err := c.Open(cmd.Context(), *g)
		if err != nil {
			if interrupted(err) {
				return stopped("", err)
			}
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return work(cmd, s, args)
	}
	return cli.Passing(cmd, c.Terminal)
}

// chosen is works for a command that works with one EVM account of the profile.
func (c Commands) chosen(g *cli.Global, cmd *cobra.Command,
	work func(cmd *cobra.Command, s *Session, args []string) error) *cobra.Command {
	cli.AccountFlag(cmd, g)
	return c.works(g, cmd, work)
}

// member is a part of a JSON object, as unchanged bytes.
type member struct {
	name  string
	value []byte
}

// object joins members; it leaves out those without a value.
func object(members ...member) []byte {
	var b bytes.Buffer
	for _, m := range members {
		if len(m.value) == 0 {
			continue
		}
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		fmt.Fprintf(&b, "%q:", m.name)
		b.Write(m.value)
	}
	if b.Len() == 0 {
		return []byte("{}")
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode writes a value of this program as JSON.
func encode(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil // the types of this package always encode
	}
	return b
}

// write prints data and a line feed.
func (c Commands) write(b []byte) error {
	_, err := fmt.Fprintf(c.Out, "%s\n", bytes.TrimRight(b, "\n"))
	return err
}

// oneLine is a JSON document without line feeds between its values; the rest is unchanged.
func oneLine(b []byte) ([]byte, error) {
	if !bytes.ContainsAny(b, "\r\n") {
		return b, nil
	}
	v := jsontext.Value(bytes.Clone(b))
	err := v.Compact(jsontext.PreserveRawStrings(true))
	return v, err
}

// usage is the error of a command line that cannot run.
func usage(hint, format string, args ...any) error {
	return &cli.UsageError{Problem: fmt.Sprintf(format, args...), Hint: hint}
}
