// Package review is the screen on which a person agrees to what gets signed: review 1 of the prepared operation, review
// 2 of the quote, the signing itself, and every early end of one of them. A swap or a transfer has review 2 only.
//
// Promise: everything shown about an operation comes from verify's views, that is from the decoded bytes (TH-V1); what
// only the service says is labelled so. The intent is shown beside it and compared here again, byte for byte. The
// arithmetic of a quote is shown, a missing figure is "unknown" and counted, and both reviews carry the fingerprint by
// which a second machine identifies the same document. No figure, address or reason is cut: the text wraps and the
// screen scrolls. On a wide screen a second pane explains; what has to be read is in the first one alone.
//
// The first signature is asked for only after a confirmed review 1, the others only after a confirmed review 2, and a
// confirmation carries the fingerprint of the shown review (protocol §1). A confirming key does nothing for half a
// second after its screen appears, on key repeat, on a paste, before every line was on the screen, and after the
// deadline; neither a click nor the palette presses it.
//
// One key confirms a value below Deps.TypeFrom. A higher or unknown value, and a costly one, takes typing the beginning
// of what leaves the account. Characters of an address are typed as well where the payee is nobody that the person
// knows, and instead where the amount is too long to type or a call cannot be decoded; no page shows them meanwhile.
// The linear mode asks for the same. Behind an open gate the gate's sentence comes first, typed exactly and by hand.
// When the vault is locked, a dialog asks for the passphrase before the review begins, or before a signature where the
// person looked without it. It is never drawn and is wiped, and it confirms nothing; leaving the review locks the vault
// again (TH-K6).
//
// Units: micro USD, base units, basis points. Sources: protocol §1–§3; TH-V1–V4, D6, K6, R3 and R4.
package review

import (
	"context"
	"crypto/rand"
	"io"
	"math/big"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/secret"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Operation is the operation that this screen drives: from commands only, one step at a time.
type Operation = present.Driven

// Deps are the dependencies of the screen. Start begins an operation in the journal; it is called from a command.
// TypeFrom is the value in micro USD from which the amount has to be typed to confirm; nil: 100 USD.
//
// Known reports whether an address is a contact of the person's, as package consent asks; nil: there are none. Random
// draws which characters of an unknown payee's address are typed; nil: crypto/rand.
//
// Names returns the name of an address in the person's contact book, "" when it has none. The address is in checksum
// form or base58. It is called on the event loop; nil: there is no book.
//
// Locked reports whether a signature needs the vault's passphrase first; it is called on the event loop; nil: never.
// Unlock opens the vault, takes over the passphrase and wipes it; it is called from a command and may take a second.
// nil: there is nothing to unlock.
type Deps struct {
	Start    func(ctx context.Context, in intent.Intent) (Operation, error)
	TypeFrom *big.Int
	Known    func(address string) bool
	Random   io.Reader
	Names    func(address string) string
	Locked   func() bool
	Unlock   func(ctx context.Context, pass secret.Secret) error
	// After sends a message when some time has passed; nil: tea.Tick.
	After func(d time.Duration, msg tea.Msg) tea.Cmd
	// NoSigner says why nothing can be signed here, whatever the review says; "": signing is possible.
	NoSigner string
}

// StartArg is the argument of screen.OpenMsg{Review} by which the builder hands over a frozen intent.
type StartArg struct{ Intent intent.Intent }

// Accounts are the accounts that the intent is of.
func (a StartArg) Accounts() []api.Account { return a.Intent.Draft().Accounts }

// EditArg is the argument of screen.OpenMsg{Build} with which the review goes back: the draft, and its mistakes if the
// service or the rules named them by path.
type EditArg struct {
	Draft    intent.Draft
	Failures []api.Failure
}

// phase is the stage of the operation that the screen shows.
type phase int

const (
	phaseEmpty   phase = iota
	phasePrepare       // asking for the operation
	phaseReview1       // waits for the first confirmation
	phaseQuote         // signed; asking for a quote
	phaseReview2       // waits for the second confirmation
	phaseExecute       // signing and sending
	phaseRefused       // a check refused
	phaseProblem       // a step failed and may be tried again
	phaseGone          // sent or ended
)

// page says which text of a review is on the screen.
type page int

const (
	pageMain page = iota
	pageChecks
	pageInspect
)

// Screen is the review screen. It is used on the event loop only.
type Screen struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc

	gen    int
	op     Operation
	start  intent.Intent
	snap   flow.Snapshot
	phase  phase
	since  time.Time // when the present phase began
	stop   context.CancelFunc
	failed error // what the last step returned
	retry  step  // which step to try again
	events []flow.Event

	page     page
	text     [3]kit.Scroll
	width    int             // of the last drawing, in cells
	side     kit.Scroll      // what is beside the review
	focus    kit.Focus       // the pane that has the keyboard
	panes    int             // of the last drawing of a review
	unfolded map[string]bool // the folds of the review that the person opened, by their letters
	shown    []string        // the facts of the review that were laid out
	reveal   bool            // a fold was opened, which the next drawing scrolls to
	drawn    string          // the review that the main text belongs to: a new fingerprint forgets what was seen
	guard    kit.Guard
	typed    *kit.Field
	answers  consent.Answers // what was typed of several texts; the last one is still in the field
	draw     uint32          // where in an address characters are typed, new for each review
	read     struct {        // how far the review under confirmation was read
		id   string
		text kit.Scroll
	}
	renewal  renewal
	previous *verify.QuoteView // the figures that stand beside those of the quote
	unlock   unlock            // the passphrase dialog over a review
	key      string            // the key pressed last and when, to tell a held key from a pressed one
	keyAt    time.Time
	signed   bool              // this operation has a signature, for this quote or an earlier one
	given    map[string]bool   // operations with a signature: a new quote counts anew and takes nothing back
	paid     map[string]bool   // operations with a signed payment, likewise
	busy     map[string]string // operations with a step in progress that leaving does not cancel, and its words
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Screen {
	if d.TypeFrom == nil {
		d.TypeFrom = consent.TypeFrom()
	}
	if d.Random == nil {
		d.Random = rand.Reader
	}
	if d.After == nil {
		d.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		}
	}
	life, cancel := context.WithCancel(context.Background())
	return &Screen{ctx: ctx, deps: d, life: life, cancel: cancel, typed: kit.NewField("", 600),
		unlock: unlock{field: kit.NewSecretField()}, busy: map[string]string{}, given: map[string]bool{},
		paid: map[string]bool{}}
}

// Title is the name of the screen.
func (s *Screen) Title() string { return "Review" }

// Init does nothing: the screen starts when it is opened with an argument.
func (s *Screen) Init() tea.Cmd { return nil }

// Close cancels what is in progress. An execute that has begun is safe: the journal records how far it came.
func (s *Screen) Close() {
	s.cancel()
	s.unlock.field.Wipe()
}

// Capturing reports whether typed text goes to a field.
func (s *Screen) Capturing() bool { return s.unlock.open || s.page == pageMain && s.typing() }

// KeepOpen says what quitting now would leave behind.
func (s *Screen) KeepOpen() string {
	switch s.phase {
	case phasePrepare, phaseReview1, phaseQuote, phaseReview2:
		switch {
		case s.running():
			return s.busy[s.op.ID()]
		case s.signed && s.before():
			return "what was signed before can still be used; nothing is signed for this one"
		case s.signed:
			return "the first signature is given; no payment is signed"
		}
		return "a review is open; nothing is signed"
	case phaseExecute:
		return wordsExecute
	case phaseRefused, phaseProblem:
		switch {
		case s.signed && s.before():
			return "what was signed before can still be used; the " + s.about().Noun() + " is not finished"
		case s.signed:
			return "the first signature is given; the call is not finished"
		}
		return "the call is not finished; nothing is signed"
	}
	for _, words := range s.busy { // left, and still running
		return words
	}
	return ""
}

// The words for what keeps running after the screen is left.
const (
	wordsSign    = "the call is being signed"
	wordsRun     = "the call is being signed and run"
	wordsExecute = "payments are being signed and sent"
)

// running reports whether the whole consent is given: the call is signed and runs without another review.
func (s *Screen) running() bool {
	return s.phase == phaseQuote && s.op != nil && s.busy[s.op.ID()] == wordsRun
}

// Wake is the time until time alone changes the screen: a countdown, or the end of the half second in which nothing
// confirms.
func (s *Screen) Wake(now time.Time) time.Duration {
	switch s.phase {
	case phasePrepare, phaseQuote, phaseExecute:
		return kit.AgeChanges(now, s.since)
	case phaseReview1, phaseReview2:
		if s.guard.Waiting(now) {
			return kit.GuardQuiet
		}
		if at := s.renews(now); !at.IsZero() {
			return kit.CountdownChanges(now, at)
		}
		return kit.CountdownChanges(now, s.deadline())
	}
	return 0
}

// expired reports whether the deadline has passed. Without a deadline nothing can be confirmed either.
func (s *Screen) expired(now time.Time) bool { return !now.Before(s.deadline()) }

// reviewing reports whether a review waits for a decision.
func (s *Screen) reviewing() bool { return s.phase == phaseReview1 || s.phase == phaseReview2 }

// deadline is the moment after which the review on the screen cannot be confirmed; zero: unknown.
func (s *Screen) deadline() time.Time { return present.Deadline(s.snap, s.review()) }

// waitsFor returns the phase that belongs to a snapshot.
func waitsFor(x flow.Snapshot) phase {
	return map[present.Stage]phase{present.StageReview1: phaseReview1, present.StageReview2: phaseReview2,
		present.StageRefused: phaseRefused, present.StageGone: phaseGone,
		present.StageProblem: phaseProblem}[present.StageOf(x)]
}
