// Package linear is the wallet as numbered prompts on plain lines, for screen readers, braille displays, logs and terminals that understand no escape
// sequences: balances, receive, build, both reviews, signing, progress, activity, history, accounts. The order of things, the checks, the gates and what it takes
// to confirm are those of the screens.
//
// Promise: the output is lines of printable characters and nothing else: no escape sequence, no cursor movement, no line that is drawn again, and no line wider than
// Options.Width but for an address in one piece. Everything foreign passes kit.Clean (TH-R1), and everything once more on its way out. What is shown
// of an operation comes from verify's views, that is from the bytes that get signed (TH-V1); no figure, address or reason is cut.
//
// Input is read one line at a time, and only while a question waits for it. `?` repeats what the question is about, an empty line goes back, the end of the
// input leaves, and a last line without an end is no answer. Nothing is signed but by the answer to a question that asks for it, and such a question takes only
// a line that comes at least half a second after it was asked and after every line before it, with no other line at its heels: what was waiting in the input,
// a paste of several lines and the output of a program confirm nothing. (A single line that is pasted and then ended by hand looks like a typed one here.)
// A signature is asked for by the fingerprint of the review that was printed. When a deadline has passed, the old and the new figures are printed with their
// differences, and the confirmation has to be given anew.
//
// Run returns nil when the person leaves, also by the end of the input or of the context; its errors are those of the input and of the output.
//
// Units: micro USD, base units, basis points. Sources: protocol §1; TH-V1–V4, D6, H2, H4, K6, R1 and R3.
package linear

import (
	"context"
	"errors"
	"io"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/secret"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
)

// Operation is one operation on its way; *flow.Operation is one.
type Operation interface {
	ID() string
	Snapshot() flow.Snapshot
	Prepare(ctx context.Context) (flow.Snapshot, error)
	Quote(ctx context.Context) (flow.Snapshot, error)
	SignPrepared(ctx context.Context, confirmed string) (flow.Snapshot, error)
	Requote(ctx context.Context) (flow.Snapshot, error)
	Execute(ctx context.Context, confirmed string, progress func(flow.Event)) (flow.Snapshot, error)
	Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error)
	Abandon() error
}

// Contact is a named address that may be typed by its name.
type Contact struct{ Name, Address string }

// Deps is what the conversation works with. Start, Balances and History must be set.
type Deps struct {
	// Start begins an operation in the journal.
	Start func(ctx context.Context, in intent.Intent) (Operation, error)
	// Unfinished lists the operations that were signed and have no end yet, and may list such as ended before anybody was told. Outstanding lists the signatures
	// that can still be used. nil: there are none.
	Unfinished  func() []Operation
	Outstanding func(now time.Time) []journal.Outstanding
	// Void declares a signature dead; hash is its OpHash, typed what the person typed (flow.Flow.Void). nil: that cannot be done here.
	Void func(hash, typed string) error
	// Balances reads what the accounts hold, History a page of the records, newest first.
	Balances func(ctx context.Context) (api.AggregatedBalance, error)
	History  func(ctx context.Context, limit int, continuation string) (api.HistoryPage, error)
	Book     []Contact
	// TypeFrom is the value in micro USD from which the amount has to be typed to confirm; nil: 100 USD.
	TypeFrom *big.Int
	// Locked says whether a signature needs the vault's passphrase first; nil: never. Unlock opens the vault, takes over the passphrase and wipes it.
	Locked func() bool
	Unlock func(ctx context.Context, pass secret.Secret) error
	// WatchOnly says why nothing can be signed, such as that no key is here; "": it can, or it is not known. nil: it can.
	WatchOnly func(ctx context.Context) string
	// Secret asks for a passphrase without showing it. It has the input to itself while it runs.
	Secret func(ctx context.Context, question string) (secret.Secret, error)
}

// Options is what Run is started with. Width is the widest line in cells; 0: 78; the least is 20. In is read until its end; a read that is under way when Run
// returns is left to end by itself.
type Options struct {
	// Notice is what the person has to know first; "": nothing.
	Notice  string
	Context screen.Context
	In      io.Reader
	Out     io.Writer
	Width   int
	Deps    Deps
}

// session is one conversation. It runs on one goroutine; the input has another.
type session struct {
	ctx      screen.Context
	deps     Deps
	in       *input
	out      *printer
	hidden   bool            // amounts outside a review are not said
	given    map[string]bool // operations of which something was signed: a new quote counts anew and takes nothing back
	paidFor  map[string]bool // operations of which a payment was signed, likewise
	told     map[string]bool // operations whose end was told
	lookouts []*lookout
	life     context.Context // of the lookouts, which outlive the question at which they begin
	money    money
}

// Run talks until the person leaves, the input ends or ctx does.
func Run(ctx context.Context, o Options) error {
	if o.Context.Clock == nil {
		o.Context.Clock = time.Now
	}
	if o.Deps.TypeFrom == nil {
		o.Deps.TypeFrom = big.NewInt(100_000_000)
	}
	s := &session{
		ctx: o.Context, deps: o.Deps, in: newInput(o.In, o.Context.Clock), out: newPrinter(o.Out, o.Width), hidden: o.Context.Settings.Hidden,
		given: map[string]bool{}, paidFor: map[string]bool{}, told: map[string]bool{}, life: ctx,
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

// now is the time.
func (s *session) now() time.Time { return s.ctx.Clock() }

// greet says where the person is.
func (s *session) greet() {
	s.out.say("Coffer, line by line. Profile " + clean(s.ctx.Profile, 60) + ". " + networkWords(s.ctx.Network.Kind))
	s.out.say("At every question: type the number or the word of a choice and press Enter. A question mark repeats, an empty line goes back.")
}

// mainMenu is where every conversation comes back to.
func (s *session) mainMenu(ctx context.Context) error {
	for {
		s.news()
		m := menu{title: "What do you want to do?", top: true}
		do := []func(context.Context) error{}
		add := func(text string, fn func(context.Context) error) {
			m.items = append(m.items, text)
			do = append(do, fn)
		}
		add("Balances", s.balances)
		add("Receive: your address", s.receive)
		add("Build a call", s.buildCall)
		add("Transfer an asset", s.buildTransfer)
		add("Swap an asset for another", s.buildSwap)
		add("Load an intent or a Safe batch from a file", s.load)
		add("Activity"+s.activityWords(), s.activity)
		add("History", s.history)
		add("Accounts", s.accounts)
		if s.ctx.Vault.Lock != nil {
			add("Lock the keys", s.lock)
		}
		add("Quit", func(context.Context) error { return errQuit })
		i, _, err := s.choose(ctx, m)
		if err == nil {
			err = do[i](ctx)
		}
		if err != nil && !errors.Is(err, errBack) {
			return err
		}
	}
}

// lock wipes the keys from memory.
func (s *session) lock(context.Context) error {
	s.ctx.Vault.Lock()
	s.out.say("The keys are locked. The next signature asks for the passphrase.")
	return nil
}
