// Package linear is the wallet as numbered prompts on plain lines, for screen readers, braille displays, logs and
// terminals that understand no escape sequences: balances, receive, build, both reviews, signing, progress, activity,
// history, accounts. The order of steps, the checks, the gates and the requirements of a confirmation are those of the
// screens.
//
// Promise: the output is lines of printable characters and nothing else: no escape sequence, no cursor movement, no
// redrawn line, and no line wider than Options.Width except an address in one piece. All foreign text passes
// present.Clean (TH-R1), and all output passes it once more. Everything shown of an operation comes from verify's
// views, that is from the bytes that get signed (TH-V1); no figure, address or reason is cut.
//
// The program reads input one line at a time, and only while a question waits for it. `?` repeats the subject of the
// question, `? terms` explains words, an empty line goes back, the end of the input leaves, and a last line without a
// line end is no answer. Only the answer to a question that asks for it signs anything, and such a question accepts a
// line only if it comes at least half a second after the question and after every earlier line, with no other line
// right behind it: buffered input, a paste of several lines and the output of a program confirm nothing. (A single line
// that is pasted and then ended by hand looks like a typed one here.) The program asks for a signature by the
// fingerprint of the printed
// review. After a deadline it prints the old and the new figures with their differences, and asks for the confirmation
// again.
//
// Run returns nil when the person leaves, also by the end of the input or of the context; its errors are those of the
// input and of the output.
//
// Units: micro USD, base units, basis points. Sources: protocol §1; TH-V1–V4, D6, H2, H4, K6, R1 and R3.
package linear

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/gastank"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
)

// Operation is an operation in progress.
type Operation = present.Driven

// Context is what the conversation knows of its profile. Only Accounts and Own change while the conversation runs, when
// the person uses another account. Catalog must be set; a missing Clock is time.Now.
type Context struct {
	Profile  string
	BaseURL  string // of the service, for display
	Network  network.Descriptor
	Catalog  *catalog.Catalog
	Accounts []api.Account // those in use
	Own      []present.Own // all of the profile; nil: those in use
	Clock    func() time.Time
	Vault    Vault
	Dust     *big.Int // micro USD: priced holdings below it are listed on request; nil: all are listed
	Hidden   bool     // amounts are hidden at the start
	// Export writes a new file, 0600, whose name derives from name, and returns its path; nil: nothing can be exported.
	Export func(name string, data []byte) (path string, err error)
	// Terms looks up, by quote id, the terms in the wallet's journal that the person agreed to; Names gives the name of
	// an address in the book, "" for none. nil: nothing is known.
	Terms func(quoteID string) (journal.Terms, bool)
	Names func(address string) string
}

// Vault is the conversation's access to the store of keys.
type Vault = present.Vault

// Deps are the dependencies of the conversation. Start, Balances and History must be set.
type Deps struct {
	// Start begins an operation in the journal.
	Start func(ctx context.Context, in intent.Intent) (Operation, error)
	// Unfinished lists the signed operations without an end, and may include some whose end was not reported yet.
	// Outstanding lists the live signatures, Closed those that own nodes closed. nil: there are none. Observe asks
	// these nodes which are used; nil: there are no such nodes.
	Unfinished  func() []Operation
	Outstanding func(now time.Time) []journal.Outstanding
	Closed      func(now time.Time) []journal.Closed
	Observe     func(ctx context.Context) error
	// Void declares a signature dead; hash is its OpHash, typed the person's text (flow.Flow.Void). nil: voiding is not
	// available here.
	Void func(hash, typed string) error
	// Allowances lists what calls of this wallet let contracts take (present.Allowances); nil: nothing is known.
	Allowances func() []present.Allowance
	// Tank reads what the gas tank of own nodes has; nil: there is none.
	Tank func(ctx context.Context) (gastank.Report, error)
	// Balances reads the balances of the accounts, History a page of the records, newest first.
	Balances func(ctx context.Context) (api.AggregatedBalance, error)
	History  func(ctx context.Context, limit int, continuation string) (api.HistoryPage, error)
	Book     []compose.Contact
	// Use makes another account of the profile the one in use, and returns what changes with it; nil: there is none.
	Use func(address string) (Used, error)
	// TypeFrom is the value in micro USD from which the amount has to be typed to confirm; nil: 100 USD.
	TypeFrom *big.Int
	// Known reports whether an address is a contact of the person's, as package consent asks; nil: there are none.
	// Random draws which characters of an unknown payee's address are typed; nil: crypto/rand.
	Known  func(address string) bool
	Random io.Reader
	// Locked reports whether a signature needs the vault's passphrase first; nil: never. Unlock opens the vault, takes
	// over the passphrase and wipes it.
	Locked func() bool
	Unlock func(ctx context.Context, pass secret.Secret) error
	// WatchOnly says why nothing can be signed, for example for want of a key; "": signing is possible or unknown. nil:
	// signing is possible.
	WatchOnly func(ctx context.Context) string
	// Secret asks for a passphrase without showing it. It has the input to itself while it runs.
	Secret func(ctx context.Context, question string) (secret.Secret, error)
}

// Used is what changes with the account in use.
type Used struct {
	Accounts []api.Account
	Own      []present.Own
	Book     []compose.Contact
}

// Options are the options of Run. Width is the widest line in cells; 0: Width; the minimum is 20. In is read until its
// end; a read in progress when Run returns ends by itself.
type Options struct {
	// Notice is the first thing that the person has to know; "": nothing.
	Notice  string
	Context Context
	In      io.Reader
	Out     io.Writer
	Width   int
	Deps    Deps
	// Terminal: the input is typed, and what waits in it before a question is dropped. Of a program's output every line
	// is an answer, except where something is confirmed.
	Terminal bool
}

// session is one conversation. It runs on one goroutine; the input has another.
type session struct {
	compose.World
	ctx  Context
	deps Deps
	in   *input
	out  *printer

	given    map[string]bool // operations with a signature: a new quote counts anew and takes nothing back
	paidFor  map[string]bool // operations with a signed payment, likewise
	reported map[string]bool // operations whose end was reported
	lookouts []*lookout
	life     context.Context // of the lookouts, which outlive the question that starts them
	money    money
	typed    bool // the input is a terminal
	asked    int  // questions so far
}

// ErrLeft is the error of Deps.Secret when the person left the question.
var ErrLeft = errors.New("you left the question")

// Run holds the conversation until the person leaves, the input ends or ctx ends.
func Run(ctx context.Context, o Options) error {
	if o.Context.Clock == nil {
		o.Context.Clock = time.Now
	}
	if o.Deps.TypeFrom == nil {
		o.Deps.TypeFrom = consent.TypeFrom()
	}
	if o.Deps.Random == nil {
		o.Deps.Random = rand.Reader
	}
	s := &session{
		World: worldOf(o), ctx: o.Context, deps: o.Deps, in: newInput(o.In, o.Context.Clock),
		out:   newPrinter(o.Out, o.Width),
		given: map[string]bool{}, paidFor: map[string]bool{}, reported: map[string]bool{}, life: ctx, typed: o.Terminal,
	}
	defer s.in.close()
	defer s.unwatchAll()
	s.greet()
	if o.Notice != "" {
		s.out.say(clean(o.Notice, 2000))
	}
	err := s.mainMenu(ctx)
	switch {
	case errors.Is(err, errQuit), errors.Is(err, errEnd), ctx.Err() != nil:
		s.out.say("Coffer ends.")
		err = nil
	}
	if s.out.err != nil {
		return s.out.err
	}
	return err
}

// worldOf is what typed text refers to.
func worldOf(o Options) compose.World {
	return compose.World{Catalog: o.Context.Catalog, Network: o.Context.Network.ID, Accounts: o.Context.Accounts,
		Clock: o.Context.Clock, Book: o.Deps.Book, Hidden: o.Context.Hidden,
		OwnNodes: o.Context.Network.OnOwnNodes()}
}

// now is the present time.
func (s *session) now() time.Time { return s.ctx.Clock() }

// greet prints the profile and the network.
func (s *session) greet() {
	s.out.say("Coffer, line by line. Profile " + clean(s.ctx.Profile, 60) + ". " + s.networkWords())
	if len(present.Choices(s.ctx.Own)) > 0 {
		s.out.say(s.inUse())
	}
	s.out.say("At every question: type the number or the first word of a choice and press Enter. A question mark " +
		"repeats, an empty line goes back one step.")
}

// mainMenu is the menu to which every conversation returns.
func (s *session) mainMenu(ctx context.Context) error {
	for brief := false; ; brief = true {
		s.news()
		m := menu{title: "What do you want to do?", top: true, brief: brief}
		add := func(text string, fn func(context.Context) error) { m.add(text, func() error { return fn(ctx) }) }
		add("Balances", s.balances)
		add("Receive: your address", s.receive)
		add("Build a call", s.buildCall)
		add("Transfer an asset", s.buildTransfer)
		add("Swap an asset for another", s.buildSwap)
		add("Load an intent, a Safe batch or a list of payouts (CSV) from a file", s.load)
		add("Activity"+s.activityWords(), s.activity)
		add("History", s.history)
		add("Accounts", s.accounts)
		add("Other things: settings, doctor, keys, comparison of quotes, exports", s.others)
		if s.ctx.Vault.Lock != nil {
			add("Lock the keys", s.lock)
		}
		add("Quit", func(context.Context) error { return errQuit })
		if err := s.offer(ctx, m); err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// others names the commands for what is not asked here.
func (s *session) others(context.Context) error {
	name := clean(s.ctx.Profile, 60)
	s.out.say("These are commands: leave with quit, then type one. Each has --help.")
	for _, c := range [][2]string{
		{"Settings", "coffer config show, coffer config example"},
		{"Doctor, what does not work and what to do", "coffer doctor --profile " + name},
		{"Keys, new, backup, restore", "coffer keys --profile " + name},
		{"Accounts, add, remove, check, roles", "coffer accounts --profile " + name},
		{"History with filters, and receipts", "coffer history --profile " + name + ", coffer status ID"},
		{"Comparison of quotes", "coffer lab --profile " + name},
		{"Export of balances, history and journal", "coffer export --profile " + name},
		{"Signatures that can still be used", "coffer activity --profile " + name},
		{"State overrides", "in an intent file, which is loaded here"},
	} {
		s.out.fact(2, c[0], c[1])
	}
	return nil
}

// lock wipes the keys from memory.
func (s *session) lock(context.Context) error {
	s.ctx.Vault.Lock()
	s.out.say("The keys are locked. The next signature asks for the passphrase.")
	return nil
}
