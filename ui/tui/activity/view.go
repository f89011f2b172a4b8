package activity

import (
	"cmp"
	"errors"
	"time"

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
		kit.Column{Min: 22, Align: kit.Right},
	)
}

// View draws the list above the steps of the selected operation, or the live signatures.
func (s *Screen) View(f screen.Frame) string {
	s.forget(f.Now)
	if s.sigs {
		return s.sigView(f)
	}
	if len(s.items) == 0 {
		return s.emptyView(f)
	}
	th := f.Theme
	rows := min(len(s.items), max(2, f.H/4))
	s.table.Resize(rows)
	list := s.table.View(th, f.W-2, func(i int, c []kit.Cell) []kit.Cell { return s.row(th, i, c) })
	head := th.Strong.Render(" Activity")
	if n := len(s.live); n > 0 {
		head = kit.Sides(head, th.Mark(theme.Warn)+" "+present.Plural(n, "outstanding signature",
			"outstanding signatures")+
			th.Dim.Render(" (o)")+" ", f.W)
	}
	used := 2 + rows
	it := s.selected()
	if id := it.op.ID(); id != s.shown {
		s.shown = id
		s.detail = kit.Scroll{}
	}
	lines := s.details(f, it)
	s.detail.Resize(f.H - used - 1)
	s.detail.Keep(lines)
	return kit.Lines(head, list, th.Rule.Render(kit.Rule(th.Signs.Rule, f.W)), s.detail.View(f.W),
		" "+th.Dim.Render(s.detail.More(th)))
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
		"also after you closed Coffer and opened it again.",
		"What has ended is in History (4)."}
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
		kit.Text(present.Operation(s.ctx.Catalog, snap)),
		kit.Styled(present.ShortID(copyID(snap), th.Signs.More), th.Dim),
		kit.Styled(st.Word+" "+th.Sign(st.Meaning), th.Style(st.Meaning)),
	)
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

func (s *Screen) details(f screen.Frame, it *item) []string {
	th, snap := f.Theme, it.snap
	st := s.state(snap, f.Now)
	out := []string{kit.Sides(" "+th.Strong.Render(present.Operation(s.ctx.Catalog, snap)),
		th.Style(st.Meaning).Render(st.Word)+" "+th.Mark(st.Meaning)+" ", f.W)}
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
	steps := s.steps(snap)
	for _, x := range steps {
		out = append(out, stepLine(th, x))
	}
	out = append(out, "")
	for _, x := range steps {
		out = append(out, s.refLines(th, f.W, x)...)
	}
	if snap.QuoteID != "" {
		out = append(out, kit.Row(th, f.W-1, 1, 8, "quote",
			th.Dim.Span(present.Groups(snap.QuoteID)))...)
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
			out = append(out, kit.Prose(w-1, 3, kit.Plain(present.Groups(r.Hash)))...)
			continue
		}
		out = append(out, kit.Prose(w-1, 3, kit.Plain(where))...)
		if !s.ctx.KnownPage(r.Chain, r.ExplorerURL) {
			out = append(out, kit.Prose(w-1, 3, th.Warn.Span(th.Sign(theme.Warn)+
				" not a page of the known explorer: do not trust it"))...)
		}
	}
	return out
}
