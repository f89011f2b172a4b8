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
// exported; foreign bytes pass strict parsers (intent.ParseDraft, FromSafe).
//
// Units: amounts of a known asset are typed in whole tokens ("250.5"), or with a unit ("20 gwei"), and kept in base
// units; slippage in basis points or percent; times in minutes. An unknown balance is "unknown", never zero. Sources:
// docs/interface.md#requests, protocol §2 and §3.7.
package builder

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// Contact is a named address that is offered in address fields.
type Contact struct{ Name, Address string }

// Deps are the dependencies of the screen. Balances reads the aggregated balances of the accounts and is called from
// commands only; nil: balances are unknown. Book holds the known recipients; the trial call pays the first one. Paid
// lists the addresses that were paid before, and is called from commands only; nil: new recipients cannot be told from
// old ones.
type Deps struct {
	// WatchOnly says why nothing can be signed, for example for want of a key; "": signing is possible or unknown. It
	// is called from commands; nil: signing is possible.
	WatchOnly func(ctx context.Context) string
	Balances  func(ctx context.Context) (api.AggregatedBalance, error)
	Book      []Contact
	Paid      func() []string
}

// Screen is the builder. It is used on the event loop only.
type Screen struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc

	form        string // which form is shown
	b           batch
	x           map[string]*exchange // transfer and swap
	focus       string               // id of the focused row
	editing     bool                 // a text field has the keyboard
	tried       bool                 // Review was pressed: empty fields are mistakes now
	fieldErrors map[string]string
	general     []string // failures that belong to no field
	note        caution  // the source of the shown form
	frozen      string   // id of the intent handed over last
	before      *desk    // what U restores

	choice *kit.Choice
	take   func(value string) tea.Cmd
	typed  func(text string) tea.Cmd // takes the text typed into the open list; nil: the list takes its items only
	looks  bool                      // the open list changes nothing in the form
	prompt prompt
	top    int      // first visible line
	hits   []string // the row of each line of the last drawn body
	width  int      // of the last drawn body

	watchOnly string // why nothing can be signed
	money     money
	paid      []string
	paidKnown bool
	gen       int
	loading   bool
	hidden    bool // balances are hidden
	trialDue  bool // fill in the trial call when the first balances arrive

	store   store
	changes int // counts changes
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Screen {
	life, cancel := context.WithCancel(context.Background())
	s := &Screen{ctx: ctx, deps: d, life: life, cancel: cancel, choice: kit.NewChoice(""), hidden: ctx.Settings.Hidden,
		store: newStore()}
	s.x = map[string]*exchange{formTransfer: newExchange(formTransfer), formSwap: newExchange(formSwap)}
	s.b = newBatch(ctx.Catalog, s.b.chain)
	s.focus = idCall(0)
	return s
}

// clear empties the shown form; calls start again on the chain that was chosen last.
func (s *Screen) clear() {
	s.focus, s.editing, s.tried, s.fieldErrors, s.general, s.top, s.trialDue, s.note = "", false, false, nil, nil, 0,
		false, caution{}
	if s.form != formCalls {
		s.x[s.form] = newExchange(s.form)
		return
	}
	s.b = newBatch(s.ctx.Catalog, s.b.chain)
	s.focus = idCall(0)
}

// empty reports whether the shown form has no typed text.
func (s *Screen) empty() bool {
	if s.form != formCalls {
		return s.x[s.form].empty()
	}
	return s.b.empty()
}

// show changes the form. The others keep their text.
func (s *Screen) show(form string) {
	s.leaveField()
	if s.form == form {
		return
	}
	s.form, s.focus, s.tried, s.fieldErrors, s.general, s.top, s.frozen, s.note = form, "", false, nil, nil, 0, "",
		caution{}
	s.changes++
}

// slip is the slippage tolerance of the shown form.
func (s *Screen) slip() *tolerance {
	if s.form != formCalls {
		return &s.x[s.form].slip
	}
	return &s.b.slip
}

// Title is the name of the tab.
func (s *Screen) Title() string { return "Build" }

// Init reads the balances, the unfinished work and the templates for the first time.
func (s *Screen) Init() tea.Cmd { return tea.Batch(s.load(), s.loadKept(), s.watch()) }

// Close cancels what is in progress.
func (s *Screen) Close() { s.cancel() }

// Capturing reports whether typed text goes into a field or a list, including a text row that is only highlighted.
func (s *Screen) Capturing() bool {
	return s.editing || s.choice.IsOpen() || s.prompt.open || s.current().takesText()
}

// KeepOpen warns of typed text that is neither handed over nor saved.
func (s *Screen) KeepOpen() string {
	if s.empty() || s.frozen != "" || s.saved() {
		return ""
	}
	if s.form != formCalls {
		return "a " + s.form + " is being built"
	}
	return "a call is being built"
}

// rules are the validation rules, as of now.
func (s *Screen) rules() api.Rules { return api.Rules{Catalog: s.ctx.Catalog, Now: s.ctx.Clock()} }

// freeze builds the intent, and puts failures at their fields.
func (s *Screen) freeze() (intent.Intent, bool) {
	s.tried = true
	if len(s.mistakes()) > 0 {
		return intent.Intent{}, false
	}
	in, err := intent.Freeze(s.draft(), s.rules())
	if err != nil {
		s.refuse(failuresOf(err), err)
		return intent.Intent{}, false
	}
	s.fieldErrors, s.general = nil, nil
	return in, true
}

// draft turns the form into an intent draft. It is only meaningful without mistakes.
func (s *Screen) draft() intent.Draft {
	if s.form != formCalls {
		x := s.x[s.form]
		return s.older(s.exchangeDraft(x), x.v1)
	}
	d := intent.Draft{
		Version: intent.Version, Network: s.ctx.Network.ID, Accounts: s.ctx.Accounts, TargetChain: s.b.chain.String(),
		FundWith:    s.b.fund,
		SlippageBps: s.b.slip.bps(), TokensRequired: s.b.requirements(s.ctx.Catalog),
		Allowances: s.b.allowances(s.ctx.Catalog),
		ValidAfter: s.b.after, Overrides: s.b.overrides(s.ctx.Catalog),
	}
	for _, c := range s.b.calls {
		d.Calls = append(d.Calls, c.intentCall(s.b.native(s.ctx.Catalog), s.b.decimals(s.ctx.Catalog, c)))
	}
	now := s.ctx.Clock()
	if n, ok := s.b.start.value(0, maxMinutes); ok && n > 0 && s.b.after == "" {
		d.ValidAfter = unixText(now.Add(time.Duration(n) * time.Minute))
	}
	if n, ok := s.b.valid.value(minMinutes, maxMinutes); ok && n != defaultMinutes {
		d.ValidUntil = unixText(now.Add(time.Duration(n) * time.Minute))
	}
	return s.older(d, s.b.v1)
}

// Draft is the draft in progress; false while the form is empty or has mistakes.
func (s *Screen) Draft() (intent.Draft, bool) {
	if s.empty() || len(s.mistakes()) > 0 {
		return intent.Draft{}, false
	}
	return s.draft(), true
}

// older sets the older interface, which takes one EVM account only.
func (s *Screen) older(d intent.Draft, v1 bool) intent.Draft {
	if a, ok := s.evmAccount(); v1 && ok {
		d.Interface, d.Accounts = intent.InterfaceV1, []api.Account{a}
	}
	return d
}
