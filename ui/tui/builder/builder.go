// Package builder is the screen on which a person builds what is to be asked for: one or more contract calls on one chain, what they spend, which
// contracts may take tokens while they run, which asset pays, and for how long the request is good.
//
// Promise: what is typed is checked with the same rules as the service's (api.Rules through intent.Freeze), and every mistake stands at its field.
// Nothing is asked of the service here but balances. The form and the call data are one: decoding what the form encodes gives the form again.
// approve() is never a call; it becomes an allowance by one key. Single letters are keys only while no text field is being edited.
//
// Units: amounts of a known token are typed in whole tokens ("250.5") and kept in base units; native value in whole coins; slippage in basis
// points; validity in minutes. An unknown balance is "unknown", never zero. Sources: screens "Build", service-spec "Prepare call quote (v3)",
// protocol §2 and §3.7.
package builder

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// Contact is a named address that is offered in address fields.
type Contact struct{ Name, Address string }

// Deps is what the screen works with. Balances reads the aggregated balances of the accounts and is called from commands only; nil: balances are
// unknown. Book holds the known recipients; the first one is that of the trial call.
type Deps struct {
	Balances func(ctx context.Context) (api.AggregatedBalance, error)
	Book     []Contact
}

// Screen is the builder. It is used on the event loop only.
type Screen struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc

	b       batch
	focus   string // id of the focused row
	editing bool   // a text field has the keyboard
	tried   bool   // Review was asked for: empty fields are mistakes now
	told    map[string]string
	general []string // failures that belong to no field
	frozen  string   // id of the intent handed over last

	choice *kit.Choice
	take   func(value string) tea.Cmd
	top    int // first visible line

	money    money
	gen      int
	loading  bool
	hidden   bool // what the accounts hold is not shown
	trialDue bool // the trial call is filled in when the first balances are known
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Screen {
	life, cancel := context.WithCancel(context.Background())
	s := &Screen{ctx: ctx, deps: d, life: life, cancel: cancel, choice: kit.NewChoice("")}
	s.clear()
	return s
}

// clear begins anew on the chain that was chosen last.
func (s *Screen) clear() {
	s.b = newBatch(s.ctx.Catalog, s.b.chain)
	s.focus, s.editing, s.tried, s.told, s.general, s.top, s.trialDue = idTo(0), false, false, nil, nil, 0, false
}

// Title is the name of the tab.
func (s *Screen) Title() string { return "Build" }

// Init reads the balances for the first time.
func (s *Screen) Init() tea.Cmd { return s.load() }

// Close cancels what is under way.
func (s *Screen) Close() { s.cancel() }

// Capturing reports that a text field or a list has the keyboard.
func (s *Screen) Capturing() bool { return s.editing || s.choice.IsOpen() }

// KeepOpen says that something was typed and not handed over.
func (s *Screen) KeepOpen() string {
	if s.b.empty() || s.frozen != "" {
		return ""
	}
	return "a call is being built"
}

// rules are the validation rules at this moment.
func (s *Screen) rules() api.Rules { return api.Rules{Catalog: s.ctx.Catalog, Now: s.ctx.Clock()} }

// freeze builds the intent; the failures are put to their fields.
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
	s.told, s.general = nil, nil
	return in, true
}

// draft is what was typed as an intent draft. It is only meaningful when there are no mistakes.
func (s *Screen) draft() intent.Draft {
	d := intent.Draft{
		Version: intent.Version, Network: s.ctx.Network.ID, Accounts: s.ctx.Accounts, TargetChain: s.b.chain.String(), FundWith: s.b.fund,
		SlippageBps: s.b.bps(), TokensRequired: s.b.requirements(s.ctx.Catalog), Allowances: s.b.allowances(s.ctx.Catalog),
		ValidAfter: s.b.kept.after, Overrides: s.b.kept.overrides,
	}
	for _, c := range s.b.calls {
		d.Calls = append(d.Calls, c.intentCall(s.b.native(s.ctx.Catalog), s.b.decimals(s.ctx.Catalog, c)))
	}
	if m, ok := s.b.minutes(); ok && m != defaultMinutes {
		d.ValidUntil = unixText(s.ctx.Clock().Add(time.Duration(m) * time.Minute))
	}
	return d
}

func trim(s string) string { return strings.TrimSpace(s) }
