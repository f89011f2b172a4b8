package activity

import (
	"cmp"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

func newTable() *kit.Table {
	return kit.NewTable(
		kit.Column{Min: 8},
		kit.Column{Min: 18, Grow: 1},
		kit.Column{Min: 13, Hide: 1},
		kit.Column{Align: kit.Right}, // as wide as the widest state
	)
}

// fit gives the columns of a list of w cells the width of their words: first the states, then what the operations are;
// the ids take what is left, or go.
func (s *Screen) fit(th theme.Theme, w int) {
	state, what := 0, 0
	for _, it := range s.items {
		state = max(state, present.Width(s.stateWords(th, it.snap)))
		what = max(what, present.Width(present.Operation(s.ctx.Catalog, it.snap)+s.of(it.snap)))
	}
	const clockAndGaps = 8 + 3*2
	s.table.Need(3, state)
	s.table.Need(1, max(18, min(what, w-state-clockAndGaps-1)))
}

// panesFor are the widths of the columns in w cells: the operations, the steps of one, what can still be used.
func panesFor(w int) []int { return kit.PaneWidths(w, 5, 5, 4) }

func (s *Screen) panes() []int { return panesFor(s.width) }

// View draws the operations and the steps of one, or the live signatures. Below kit.TwoPanes cells the steps are below
// the operations; from kit.ThreePanes on the live signatures are beside both.
func (s *Screen) View(f screen.Frame) string {
	s.width = f.W
	s.forget(f.Now)
	if s.sigs {
		return s.sigView(f)
	}
	if len(s.items) == 0 {
		return s.emptyView(f)
	}
	th, w := f.Theme, s.panes()
	list := kit.Pane{W: w[0], Title: "Activity"}
	if n := len(s.live); n > 0 {
		list.State = th.Mark(theme.Warn) + " " + present.Plural(n, "outstanding signature", "outstanding signatures") +
			th.Dim.Render(" (o)")
	}
	row := func(i int, c []kit.Cell) []kit.Cell { return s.row(th, i, c) }
	s.fit(th, w[0]-1)
	if len(w) > 1 {
		s.table.Resize(f.H - 1)
		list.Body = s.table.View(th, w[0]-1, row)
		return kit.Beside(th, f.H, s.focus.In(len(w)), append([]kit.Pane{list}, s.beside(f, w)...)...)
	}
	n := min(len(s.items), max(2, f.H/4))
	s.table.Resize(n)
	s.showDetails()
	title, lines := s.details(f, s.selected())
	s.detail.Resize(f.H - 2 - n - 1)
	s.detail.Keep(append([]string{kit.Beside(th, 1, 0, title)}, lines...))
	return kit.Lines(kit.Beside(th, 1, 0, list), s.table.View(th, f.W-2, row),
		th.Rule.Render(kit.Rule(th.Signs.Rule, f.W)), s.detail.View(f.W),
		" "+th.Dim.Render(s.detail.MoreBy(th, "space")))
}

// beside are the panes beside the operations.
func (s *Screen) beside(f screen.Frame, w []int) []kit.Pane {
	th, h := f.Theme, f.H-1
	f.W = w[1]
	p, lines := s.details(f, s.detailed())
	p.Body = s.detail.Body(th, lines, f.W, h)
	if len(w) < 3 {
		return []kit.Pane{p}
	}
	f.W = w[2]
	return []kit.Pane{p, {W: f.W, Title: "Can still be used", Body: s.signed.Body(th, s.liveLines(f), f.W, h)}}
}

// liveLines are the live signatures beside the operations. The time that is left would be drawn each second.
func (s *Screen) liveLines(f screen.Frame) []string {
	if len(s.live) == 0 {
		return append(kit.Prose(f.W-1, 1, f.Theme.Dim.Span("Nothing that you signed can still be used.")),
			s.closedLines(f)...)
	}
	var out []string
	for _, o := range s.live {
		if out != nil {
			out = append(out, "")
		}
		out = append(out, s.sigLines(f, o, false, false)...)
	}
	return append(out, s.closedLines(f)...)
}

// stillFor is how long the selection holds still before its steps are drawn beside the operations.
const stillFor = 100 * time.Millisecond

// stillMsg says that a time has passed since a move of the selection.
type stillMsg struct{ move int }

// chose notes the newly selected operation. Beside the operations its steps are shown once the selection holds still,
// so that a held key does not draw those of every operation that it passes.
func (s *Screen) chose() tea.Cmd {
	if len(s.panes()) < 2 {
		return nil
	}
	s.moves++
	move := stillMsg{s.moves}
	return tea.Tick(stillFor, func(time.Time) tea.Msg { return move })
}

// showDetails shows the steps of the selected operation.
func (s *Screen) showDetails() {
	if it := s.selected(); it != nil && it.op.ID() != s.shown {
		s.shown, s.detail = it.op.ID(), kit.Scroll{}
	}
}

// detailed is the operation whose steps are shown: the selected one where the shown one is gone.
func (s *Screen) detailed() *item {
	if it := s.find(s.shown); it != nil {
		return it
	}
	s.showDetails()
	return s.selected()
}

// amount writes an amount in full, or hides its number.
func (s *Screen) amount(th theme.Theme, a verify.AmountView) []kit.Span {
	if !s.hidden {
		return kit.AmountSpans(th, a.Amount, a.Decimals, a.Symbol, a.Asset.Display())
	}
	unit := cmp.Or(present.Clean(a.Symbol, 60), present.Clean(a.Asset.Display(), 120))
	return []kit.Span{th.Dim.Span(kit.Masked(th)), kit.Plain(" " + unit)}
}

func (s *Screen) emptyView(f screen.Frame) string {
	if !s.loaded && s.deps.Unfinished != nil {
		return kit.Notice(f.Theme, theme.None, f.W, f.H, "Reading the journal.",
			"Operations that were not finished appear here.")
	}
	lines := []string{"Nothing is under way.", "Press 2 to build a call. What you confirm appears here step by step, " +
		"even after you close Coffer and open it again.",
		"Finished operations are in History (4)."}
	if n := len(s.live); n > 0 {
		lines = append(lines, present.Plural(n, "outstanding signature", "outstanding signatures")+
			": press o to see what each allows and until when.")
	}
	return kit.Notice(f.Theme, theme.None, f.W, f.H, lines...)
}

func (s *Screen) row(th theme.Theme, i int, c []kit.Cell) []kit.Cell {
	snap := s.items[i].snap
	st := s.state(snap, s.ctx.Clock())
	return append(c,
		kit.Styled(clock(snap.Started.In(s.ctx.Clock().Location())), th.Dim),
		kit.Cell{Text: present.Operation(s.ctx.Catalog, snap), Tail: s.of(snap), TailStyle: th.Dim},
		kit.Styled(present.ShortID(copyID(snap)), th.Dim),
		kit.Styled(s.stateWords(th, snap), th.Style(st.Meaning)),
	)
}

func (s *Screen) stateWords(th theme.Theme, snap flow.Snapshot) string {
	st := s.state(snap, s.ctx.Clock())
	return st.Word + " " + th.Sign(st.Meaning)
}

// of names the account of an operation where the profile has several.
func (s *Screen) of(snap flow.Snapshot) string {
	for _, o := range present.Choices(s.ctx.Owned()) {
		for _, a := range snap.Intent.Accounts {
			if o.Name != "" && strings.EqualFold(a.AccountAddress, o.AccountAddress) {
				return "  " + present.Clean(o.Name, 40)
			}
		}
	}
	return ""
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("15:04:05")
}

// step is one line of the checklist: what, how far, and the page that shows it.
type step struct {
	text    string
	meaning theme.Meaning // None: not yet
	ref     []api.OperationRef
}

// details are the steps of an operation: the line of their title, and the lines below it.
func (s *Screen) details(f screen.Frame, it *item) (head kit.Pane, out []string) {
	th, snap := f.Theme, it.snap
	st := s.state(snap, f.Now)
	head = kit.Pane{W: f.W, Title: present.Operation(s.ctx.Catalog, snap),
		State: th.Style(st.Meaning).Render(st.Word) + " " + th.Mark(st.Meaning)}
	if v := snap.Review1; v != nil {
		for _, a := range v.Outflow {
			out = append(out, kit.Row(th, f.W-1, 1, 8, "moves", s.amount(th, a)...)...)
		}
	}
	if v := snap.Review2; v != nil && snap.Intent.Exchanges() {
		for _, a := range v.Pay {
			out = append(out, kit.Row(th, f.W-1, 1, 8, "pays", s.amount(th, a)...)...)
		}
		out = append(out, kit.Row(th, f.W-1, 1, 8, "gets",
			append([]kit.Span{kit.Plain("at least ")}, s.amount(th, v.Minimum)...)...)...)
	}
	out = append(out, kit.Prose(f.W-1, 1, kit.Plain(st.Sentence))...)
	out = append(out, reasonLines(th, f.W, snap)...)
	out = append(out, it.remarks(f)...)
	steps, seen := s.steps(snap), []string(nil)
	for _, x := range present.Became(snap.Became, snap.Status.Status) {
		seen = append(seen, kit.Prose(f.W-1, 2, kit.Noted(th, x.Meaning, x.Text)...)...)
	}
	if lost(snap.Err) { // what own nodes see stands beside the silence
		out, seen = append(out, seen...), nil
	}
	for _, x := range steps {
		out = append(out, stepLine(th, x))
	}
	out = append(out, seen...)
	out = append(out, "")
	if lines := s.receiptLines(th, f.W, snap); len(lines) > 0 {
		out = append(append(out, lines...), "")
	}
	for _, x := range steps {
		out = append(out, s.refLines(th, f.W, x)...)
	}
	if snap.QuoteID != "" {
		out = append(out, kit.Row(th, f.W-1, 1, 8, "quote",
			th.Dim.Span(present.Groups(snap.QuoteID)))...)
	}
	return head, out
}

// receiptLines say who got what and what it cost, as the journal has it, once the service reports a status.
func (s *Screen) receiptLines(th theme.Theme, w int, snap flow.Snapshot) []string {
	own := s.ctx.Receipts()
	if snap.Status.Status == "" || own.Terms == nil {
		return nil
	}
	if _, known := own.Terms(snap.QuoteID); !known {
		return nil
	}
	var out []string
	for _, r := range own.Rows(present.Record{QuoteID: snap.QuoteID, Status: snap.Status.Status}) {
		if r.Money && s.hidden {
			r.Text = kit.Masked(th)
		}
		r.Text = strings.TrimSpace(r.Name + " " + r.Text)
		out = append(out, kit.Row(th, w-1, 1, 10, r.Label, s.rowSpans(th, r)...)...)
	}
	return out
}

// remarks say what is wrong with the tracking, and how old the last answer is.
func (it *item) remarks(f screen.Frame) []string {
	th, snap := f.Theme, it.snap
	var out []string
	warn := func(text string) {
		out = append(out, kit.Prose(f.W-1, 1, kit.Noted(th, theme.Warn, text)...)...)
	}
	if snap.Problem != "" && !snap.State.Terminal() {
		warn(present.Clean(snap.Problem, 500))
	}
	if tracked(snap.State) && lost(snap.Err) {
		out = append(out, kit.Prose(f.W-1, 3, kit.Plain(lostWords))...)
	}
	if it.err != "" && watchable(snap.State) {
		warn("The last reading failed " + kit.Age(f.Now, it.errAt) + ": " + it.err +
			". Coffer asks again by itself; r asks now.")
	}
	if tracked(snap.State) && !snap.StatusAt.IsZero() {
		out = append(out, " "+th.Dim.Render("asked the service "+kit.Age(f.Now, snap.StatusAt)))
	}
	return out
}

// lostWords explain what a lost connection means for a request that was sent.
const lostWords = "No connection. What was sent does not need this machine: it goes on, or it ends, without it. " +
	"Nothing is sent again. Coffer asks by itself until an answer comes; you may close it."

// lost reports whether the network failed, or the service does not answer.
func lost(err error) bool {
	var failed *client.Error
	return errors.As(err, &failed) && (failed.Kind == client.KindNetwork || failed.Kind == client.KindTimeout)
}

func reasonLines(th theme.Theme, w int, s flow.Snapshot) []string {
	reason := present.Clean(s.Status.FailReason, 200)
	if reason == "" {
		return nil
	}
	return kit.Row(th, w-1, 1, 8, "reason", kit.Plain(present.FailReason(s.Status.FailReason, keys())+" "),
		th.Dim.Span("The service says: "+reason))
}

func done(ok bool) theme.Meaning {
	if ok {
		return theme.Good
	}
	return theme.None
}

func stepLine(th theme.Theme, x step) string {
	mark := th.Mark(x.meaning)
	if x.meaning == theme.None {
		mark = th.Dim.Render(th.Signs.Dot)
	}
	return "  " + mark + " " + x.text
}

// maxURL bounds an explorer address, in characters: far above every real one.
const maxURL = 2048

// refLines lists the pages of a step's transactions, in full.
func (s *Screen) refLines(th theme.Theme, w int, x step) []string {
	var out []string
	for _, r := range x.ref {
		out = append(out, " "+th.Dim.Render(x.text))
		where := present.Clean(r.ExplorerURL, maxURL)
		if where == "" || !s.ctx.Pages() {
			link := th.Link(th.Text, s.ctx.HashLink(r.Chain, r.Hash))
			out = append(out, kit.Prose(w-1, 3, link.Span(present.Groups(r.Hash)))...)
			continue
		}
		link := th.Link(th.Text, s.ctx.Link(r.Chain, r.ExplorerURL))
		out = append(out, kit.Prose(w-1, 3, link.Span(where))...)
		if !s.ctx.KnownPage(r.Chain, r.ExplorerURL) {
			out = append(out, kit.Prose(w-1, 3, th.Warn.Span(th.Sign(theme.Warn)+
				" not a page of the known explorer: do not trust it"))...)
		}
	}
	return out
}
