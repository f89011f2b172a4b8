// Package activity is the screen of operations in progress: every operation of this session and every unfinished one of
// the journal, step by step, and the signatures that are still live.
//
// Promise: nothing here signs or sends. The screen only ever asks about an operation whose request may have arrived,
// and never sends it again (docs/security.md#exactly-once). Tracking continues after a restart of the program, because
// the unfinished operations come from the journal. What the service says about an execution is labelled as its word.
// Times come from the context's clock. An unknown status or reason is shown as it is, cleaned, and never taken for an
// end (TH-H4). A signature that no time ends can be declared dead; that takes the end of its account's address, typed
// by hand, and takes nothing back. The support bundle has ids, states and times only.
package activity

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
)

// Operation is what this screen needs of one operation. Watch reports until the operation ends or the context is
// canceled.
type Operation interface {
	ID() string
	Snapshot() flow.Snapshot
	Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error)
}

// Deps are the dependencies of the screen. Unfinished lists the operations of the journal without an end, Outstanding
// the live signatures at a moment, Closed those that own nodes closed; Observe asks these nodes which are used. They
// may do input and are called from commands only. A nil function leaves its part out. Retry is the wait after a failed
// reading; 0: 5 s. Void declares a signature dead that no time ends (flow.Flow.Void): hash is present.Signature.Hash,
// typed the end of its account's address; it does output and is called from a command.
type Deps struct {
	Unfinished  func() []Operation
	Outstanding func(now time.Time) []present.Signature
	Closed      func(now time.Time) []present.Closed
	Observe     func(ctx context.Context) error
	Retry       time.Duration
	Void        func(hash, typed string) error
}

// TrackMsg passes an operation to the screen: a new one, or one that has moved on.
type TrackMsg struct{ Op Operation }

// ShowArg is the argument of screen.OpenMsg{Activity}: the operation to select.
type ShowArg struct{ Op Operation }

// ReopenArg is the argument of screen.OpenMsg{Review} with which this screen opens an operation that waits for a
// review.
type ReopenArg struct{ Op Operation }

// Accounts are the accounts that the operation is of.
func (a ReopenArg) Accounts() []api.Account { return a.Op.Snapshot().Intent.Accounts }

// item is one operation of the list. watching is true while a Watch runs; announced is true after its end was.
// stop ends the running Watch; again says that the next one starts at once; asked is when r was pressed last; page
// counts the explorer addresses copied.
type item struct {
	op        Operation
	snap      flow.Snapshot
	watching  bool
	stop      context.CancelFunc
	again     bool
	asked     time.Time
	page      int
	announced bool
	err       string
	errAt     time.Time
}

// Screen is the activity screen. It is used on the event loop only.
type Screen struct {
	ctx    screen.Context
	deps   Deps
	life   context.Context
	cancel context.CancelFunc

	items  []*item
	live   []present.Signature
	closed []present.Closed // by own nodes
	loaded bool

	table    *kit.Table
	width    int // of the last drawing
	focus    kit.Focus
	detail   kit.Scroll
	signed   kit.Scroll // the live signatures beside the operations
	moves    int        // of the selection
	sigs     bool       // the page of outstanding signatures is open
	sigList  kit.Scroll
	sig      int   // the selected signature
	sigAt    []int // the first line of each signature in the last drawing
	sigShown int
	void     voidForm
	shown    string // id of the operation whose steps are shown
	told     string // what the other screens were told
	hidden   bool   // amounts are hidden
	asked    string // id of the operation whose x awaits the second press
	askedAt  time.Time
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Screen {
	if d.Retry == 0 {
		d.Retry = 5 * time.Second
	}
	life, cancel := context.WithCancel(context.Background())
	return &Screen{ctx: ctx, deps: d, life: life, cancel: cancel, table: newTable()}
}

// Title is the name of the tab.
func (s *Screen) Title() string { return "Activity" }

// Init reads the journal's unfinished operations.
func (s *Screen) Init() tea.Cmd { return s.load() }

// Close ends the tracking; the service carries on.
func (s *Screen) Close() { s.cancel() }

// Capturing reports whether typed text goes to a field.
func (s *Screen) Capturing() bool { return s.void.open }

// KeepOpen warns that an operation is in progress.
func (s *Screen) KeepOpen() string {
	for _, it := range s.items {
		if tracked(it.snap.State) {
			return "an operation is under way"
		}
	}
	return ""
}

// Wake is the time until a shown age or countdown changes, or a signature ends.
func (s *Screen) Wake(now time.Time) time.Duration {
	var next time.Duration
	sooner := func(d time.Duration) {
		if d > 0 && (next == 0 || d < next) {
			next = d
		}
	}
	for _, o := range s.live {
		sooner(o.Until.Sub(now))
		sooner(o.Ends.Sub(now))
		if s.sigs {
			sooner(kit.CountdownChanges(now, o.Until))
		}
	}
	if it := s.selected(); !s.sigs && it != nil && tracked(it.snap.State) {
		sooner(kit.AgeChanges(now, it.snap.StatusAt))
	}
	return next
}

// Keys lists the keys that work now.
func (s *Screen) Keys() []kit.Key {
	if s.sigs {
		return s.sigKeys()
	}
	it := s.selected()
	label := "open review"
	if it != nil && it.snap.Over {
		label = "prepare again"
	}
	open := kit.NewKey(label, "enter").Named("open-review").OffWhen(it == nil ||
		!waits(it.snap), "only an operation that waits for a review can be opened")
	if it != nil && waits(it.snap) && it.snap.Stuck {
		open = open.OffWhen(true, "what was signed cannot be checked again: it can only be abandoned")
	}
	leave := kit.NewKey("abandon", "x").Explain("abandon: it is never sent").OffWhen(it == nil ||
		!leavable(it), "only an operation that was not sent can be abandoned")
	if it == nil || !waits(it.snap) {
		open, leave = open.Hidden(), leave.Hidden()
	}
	keys := []kit.Key{
		open,
		kit.NewKey("outstanding signatures", "o"),
		leave,
		kit.NewKey("copy id", "c").OffWhen(it == nil || copyID(it.snap) == "", "no operation with a quote is selected"),
		s.askKey(it),
		s.pageKey(it),
		kit.NewKey("support bundle", "b").Explain(
			"copy ids, states and times for someone who helps; no amounts, no accounts").OffWhen(it == nil,
			"no operation is selected"),
	}
	keys = s.ctx.Naming(keys, s.payee(it))
	if len(s.panes()) > 1 && it != nil {
		keys = append(keys, kit.NewKey("other pane", "tab").Explain(
			"give the next column the keyboard: the arrows scroll it then"),
			kit.NewKey("pane before", "shift+tab").Hidden())
	}
	return append(keys, detailKeys()...)
}

// payee is whom an operation pays, as far as the journal says.
func (s *Screen) payee(it *item) string {
	if it == nil {
		return ""
	}
	return s.ctx.Payee(it.snap.QuoteID)
}

// askKey asks for the status at once. An unknown outcome is reconciled that way: nothing is ever sent again.
func (s *Screen) askKey(it *item) kit.Key {
	k := kit.NewKey("ask again now", "r").Named("ask-again")
	if it != nil && it.snap.State == flow.StateUnknown {
		k.Label = "reconcile now"
		k = k.Explain("reconcile: ask for the status, and after the expiry read the history; nothing is sent")
	}
	if it == nil || !watchable(it.snap.State) {
		return k.OffWhen(true, "nothing to refresh: not sent, or already finished").Hidden()
	}
	return k
}

func detailKeys() []kit.Key {
	return []kit.Key{
		{Press: []string{"up", "k"}, Label: "operation above", Quiet: true},
		{Press: []string{"down", "j"}, Label: "operation below", Quiet: true},
		{Press: []string{"pgdown", "space"}, Label: "scroll details down", Quiet: true},
		{Press: []string{"pgup"}, Label: "scroll details up", Quiet: true},
	}
}

func (s *Screen) selected() *item {
	it, _ := kit.Chosen(s.table, s.items)
	return it
}

func (s *Screen) find(id string) *item {
	for _, it := range s.items {
		if it.op.ID() == id {
			return it
		}
	}
	return nil
}

// sort puts operations in progress first, then the newest, and keeps the selection on its operation.
func (s *Screen) sort() {
	keep := ""
	if it := s.selected(); it != nil {
		keep = it.op.ID()
	}
	slices.SortStableFunc(s.items, func(a, b *item) int {
		if x, y := ended(a.snap), ended(b.snap); x != y {
			if x {
				return 1
			}
			return -1
		}
		return b.snap.Started.Compare(a.snap.Started)
	})
	s.table.SetRows(len(s.items))
	s.selectID(keep)
}

func (s *Screen) selectID(id string) {
	for i, it := range s.items {
		if it.op.ID() == id {
			s.table.Select(i)
		}
	}
}

// tracked reports whether the service has, or may have, the operation in this state.
func tracked(st flow.State) bool {
	return st == flow.StateExecuting || st == flow.StateAccepted || st == flow.StateUnknown
}

// waits reports whether the operation waits for the person.
func waits(s flow.Snapshot) bool {
	switch s.State {
	case flow.StateReview1, flow.StateReview2, flow.StateQuoting:
		return true
	}
	return false
}

// abandoner is an operation that can be abandoned before it is sent.
type abandoner interface{ Abandon() error }

// leavable reports whether an operation can be abandoned: it was not sent and has not ended.
func leavable(it *item) bool {
	_, can := it.op.(abandoner)
	return can && waits(it.snap)
}

// watchable reports whether the status is worth asking for in this state.
func watchable(st flow.State) bool { return st == flow.StateAccepted || st == flow.StateUnknown }

// forgettable reports whether an operation had no effect: it was left before anything was signed.
func forgettable(s flow.Snapshot) bool {
	return s.State == flow.StateAbandoned && s.SignaturesDone == 0 && s.BodyHash == ""
}

func ended(s flow.Snapshot) bool { return s.State.Terminal() || s.State == flow.StateRefused }

func copyID(s flow.Snapshot) string { return s.QuoteID }

// pageKey copies the explorer address of the newest transaction. It refuses an address that is no page of the known
// explorer (TH-H2).
func (s *Screen) pageKey(it *item) kit.Key {
	k := kit.NewKey("copy explorer address", "u")
	if it == nil {
		return k.OffWhen(true, "no operation is selected")
	}
	pages := s.pages(it.snap)
	switch {
	case !s.ctx.Pages():
		return k.OffWhen(true, "the chains inside this program have no page to open").Hidden()
	case newest(it.snap).ExplorerURL == "":
		return k.OffWhen(true, "there is no transaction with a page yet")
	}
	return k.OffWhen(len(pages) == 0, "the address is not a page of the known explorer: it is not copied").
		Explain("copy the explorer address of the newest transaction; again: of the one before")
}

// pages lists the transactions with a page of the known explorer, the newest first.
func (s *Screen) pages(snap flow.Snapshot) []api.OperationRef {
	var out []api.OperationRef
	for _, list := range [][]api.OperationRef{snap.Status.DestinationChainOperations,
		snap.Status.OriginChainOperations} {
		for _, r := range slices.Backward(list) {
			if r.ExplorerURL != "" && s.ctx.KnownPage(r.Chain, r.ExplorerURL) {
				out = append(out, r)
			}
		}
	}
	return out
}

// newest is the newest transaction with an explorer address.
func newest(s flow.Snapshot) api.OperationRef {
	for _, list := range [][]api.OperationRef{s.Status.DestinationChainOperations, s.Status.OriginChainOperations} {
		for _, l := range slices.Backward(list) {
			if l.ExplorerURL != "" {
				return l
			}
		}
	}
	return api.OperationRef{}
}
