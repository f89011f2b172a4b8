// Package builder is the screen on which a person builds an intent: contract calls on one chain, what they spend, which
// contracts may take tokens while they run, which asset pays, and how long the request is valid; or, as ready-made
// forms, a transfer or a swap.
//
// Promise: typed values are checked with the service's own rules (api.Rules through intent.Freeze), and every mistake
// is shown at its field, including those that the service or the rules report by path. The builder asks the service for
// nothing but balances. The form and the call data are one: decoding what the form encodes gives the form again, and
// call data that would not encode to the same bytes stays raw and says why. approve() is never a call; one key turns it
// into an allowance. A paste never opens a review. On a row that takes text, typing goes into that row and does nothing
// else: single letters and digits are keys only on a row that takes none, and esc leads to one.
//
// Unfinished work is kept in the document drafts.json, named templates in templates.json; templates hold no network and
// no account. Update itself writes neither. Files of intents and of the Safe Transaction Builder can be imported and
// exported. What is typed or read is judged by package compose; here are rows, keys and layout.
//
// Units: amounts of a known asset are typed in whole tokens ("250.5"), or with a unit ("20 gwei"), and kept in base
// units; slippage in basis points or percent; times in minutes. An unknown balance is "unknown", never zero. Sources:
// docs/interface.md#requests, protocol §2 and §3.7.
package builder

import (
	"cmp"
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// Deps are the dependencies of the screen. Balances reads the aggregated balances of the accounts and is called from
// commands only; nil: balances are unknown. Book holds the known recipients; the trial call pays the first one. Paid
// lists the addresses that were paid before, and is called from commands only; nil: new recipients cannot be told from
// old ones.
type Deps struct {
	// WatchOnly says why nothing can be signed, for example for want of a key; "": signing is possible or unknown. It
	// is called from commands; nil: signing is possible.
	WatchOnly func(ctx context.Context) string
	Balances  func(ctx context.Context) (api.AggregatedBalance, error)
	Book      []compose.Contact
	Paid      func() []string
}

// Screen is the builder. It is used on the event loop only.
type Screen struct {
	compose.World
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc

	form   string // which form is shown
	b      *compose.Calls
	x      map[string]*compose.Exchange // transfer and swap
	editor *kit.Field                   // of the focused row while it is edited
	place
	frozen string        // id of the intent handed over last
	before *compose.Desk // what U restores

	choice *kit.Choice
	take   func(value string) tea.Cmd
	typed  func(text string) tea.Cmd // takes the text typed into the open list; nil: the list takes its items only
	looks  bool                      // the open list changes nothing in the form
	prompt prompt
	hits   []string // the row of each line of the last drawn body
	width  int      // of the last drawn body

	watchOnly string // why nothing can be signed
	gen       int
	loading   bool
	trialDue  bool // fill in the trial call when the first balances arrive

	store   store
	changes int // counts changes
}

// place is where the person is in a form, and what is said of it. Another form begins without any of that.
type place struct {
	focus       string // id of the focused row
	editing     bool   // a text field has the keyboard
	tried       bool   // Review was pressed: empty fields are mistakes now
	fieldErrors map[string]string
	general     []string // failures that belong to no field
	note        caution  // the source of the shown form
	top         int      // first visible line
	pane        kit.Focus
	summary     kit.Scroll // beside the form
}

// caution is a remark at a field or above the form.
type caution = compose.Caution

func remark(l compose.Level, text string) caution { return caution{Level: l, Text: text} }

// New makes the screen.
func New(ctx screen.Context, d Deps) *Screen {
	life, cancel := context.WithCancel(context.Background())
	s := &Screen{
		World: compose.World{Catalog: ctx.Catalog, Network: ctx.Network.ID, Accounts: ctx.Accounts, Clock: ctx.Clock,
			Book: d.Book, Hidden: ctx.Settings.Hidden, OwnNodes: ctx.Network.OnOwnNodes()},
		ctx: ctx, deps: d, life: life, cancel: cancel, choice: kit.NewChoice(""), store: store{pause: savePause,
			disk: &disk{}}, x: map[string]*compose.Exchange{},
	}
	for _, kind := range []string{intent.KindTransfer, intent.KindSwap} {
		s.x[kind] = compose.NewExchange(kind)
	}
	s.b = s.NewCalls(caip.Chain{})
	s.focus = compose.IDCall(0)
	return s
}

// clear empties the shown form; calls start again on the chain that was chosen last.
func (s *Screen) clear() {
	s.place, s.trialDue, s.tried = place{}, false, false
	if s.form != formCalls {
		s.x[s.form] = compose.NewExchange(s.form)
		return
	}
	s.b = s.NewCalls(s.b.Chain)
	s.focus = compose.IDCall(0)
}

// formCalls is the form of calls; the others are named after the kind of intent that they make.
const formCalls = ""

// shown is the shown form.
func (s *Screen) shown() compose.Form {
	if s.form != formCalls {
		return s.x[s.form]
	}
	return s.b
}

// empty reports whether the shown form has no typed text.
func (s *Screen) empty() bool { return s.shown().Empty() }

// show changes the form. The others keep their text.
func (s *Screen) show(form string) {
	s.leaveField()
	if s.form == form {
		return
	}
	s.form, s.frozen, s.place = form, "", place{}
	s.changes++
}

// Title is the name of the tab.
func (s *Screen) Title() string { return "Build" }

// Init reads the balances, the unfinished work and the templates for the first time.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.load(), s.loadKept(), s.watch()) }

// Close cancels what is in progress.
func (s *Screen) Close() { s.cancel() }

// Capturing reports whether typed text goes into a field or a list, including a text row that is only highlighted.
func (s *Screen) Capturing() bool {
	return s.editing || s.choice.IsOpen() || s.prompt.open || !s.reading() && s.current().takesText()
}

// Listing reports whether a list is open.
func (s *Screen) Listing() bool { return s.choice.IsOpen() }

// KeepOpen warns of typed text that is not saved; where nothing can be saved, of text that was not reviewed.
func (s *Screen) KeepOpen() string {
	if s.empty() || s.saved() || s.frozen != "" && s.ctx.Keep == nil {
		return ""
	}
	if s.form != formCalls {
		return "a " + s.form + " is being built"
	}
	return "a call is being built"
}

// freeze builds the intent, and puts failures at their fields.
func (s *Screen) freeze() (intent.Intent, bool) {
	s.tried = true
	if len(s.mistakes()) > 0 {
		return intent.Intent{}, false
	}
	in, err := intent.Freeze(s.shown().Draft(&s.World), s.Rules())
	if err != nil {
		s.refuse(present.Failures(err), err)
		return intent.Intent{}, false
	}
	s.fieldErrors, s.general = nil, nil
	return in, true
}

// refuse puts the failures of the rules or of the service at their fields; the others are listed above the form.
func (s *Screen) refuse(fs []api.Failure, err error) {
	s.fieldErrors, s.general = compose.Failed(s.shown(), fs, err)
}

// mistakes are what is wrong, by row id: what is typed, and what the service refused. The keys that help are named.
func (s *Screen) mistakes() map[string]string {
	out := s.Mistakes(s.shown(), s.tried)
	for id, problem := range out {
		switch {
		case problem == compose.ApproveMistake && s.current().takesText():
			out[id] += ": esc, then a, moves it there"
		case problem == compose.ApproveMistake:
			out[id] += ": a moves it there"
		case strings.HasPrefix(problem, compose.SamePair):
			out[id] += ": t makes a transfer of it"
		}
	}
	for id, problem := range s.fieldErrors {
		out[id] = cmp.Or(out[id], problem)
	}
	return out
}

// Draft is the draft in progress; false while the form is empty or has mistakes.
func (s *Screen) Draft() (intent.Draft, bool) {
	if s.empty() || len(s.mistakes()) > 0 {
		return intent.Draft{}, false
	}
	return s.shown().Draft(&s.World), true
}
