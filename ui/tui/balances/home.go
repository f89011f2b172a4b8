package balances

import (
	"math/big"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const (
	stillFor  = 100 * time.Millisecond // the selection, before its details are shown
	recentMax = 20                     // records in the pane of what happened
)

// panesFor are the widths of the columns in w cells: the lines, the details, and what happened; at 200 cells an address
// has room in one line of the details. Until something happened, the details say so below them, and the third column
// stays blank.
func (m *Model) panesFor(w int) []int {
	if w < kit.ThreePanes {
		return kit.PaneWidths(w, 4, 3)
	}
	widths := kit.PaneWidths(w, 24, 20, 18)
	if m.firstSteps() {
		return widths[:2]
	}
	return widths
}

func (m *Model) panes() []int { return m.panesFor(m.w) }

// stillMsg says that a time has passed since a move of the selection.
type stillMsg struct{ move int }

// moved notes the newly selected line. Beside the lines its details are shown once the selection holds still, so that a
// held key does not draw the details of every line that it passes.
func (m *Model) moved() tea.Cmd {
	m.remember()
	if len(m.panes()) < 2 {
		return nil
	}
	m.moves++
	move := stillMsg{m.moves}
	return tea.Tick(stillFor, func(time.Time) tea.Msg { return move })
}

// showDetails shows the details of the selected line.
func (m *Model) showDetails() {
	if m.shown != m.selected {
		m.shown, m.sides[0] = m.selected, kit.Scroll{}
	}
}

// detailed is the line whose details are shown: the selected one where the shown one is gone.
func (m *Model) detailed() (row, bool) {
	for _, r := range m.rows {
		if r.key == m.shown {
			return r, true
		}
	}
	return m.current()
}

// resize fits the table between the title and what is below the lines.
func (m *Model) resize(w, h int) {
	m.w, m.h = w, h
	m.table.Resize(m.tableLines())
}

// room is the number of lines for the table and what is below it: all but the title, the note and the line of totals.
func (m *Model) room() int {
	if m.hasTrend() && len(m.panes()) < 3 && !m.charts() {
		return m.h - 3
	}
	return m.h - 2
}

// charts reports whether the past of the total has room below the lines, where no pane of its own has it.
func (m *Model) charts() bool {
	return m.hasTrend() && len(m.panes()) < 3 && !m.firstSteps() && m.h-2-len(m.rows)-1 >= chartLeast+chartFrame
}

// tableLines is the height of the table with the line of its titles: all the room, unless something is below its lines.
func (m *Model) tableLines() int {
	room, need := m.room(), len(m.rows)+1
	if m.belowLines(room-need) > 0 {
		return need
	}
	return room
}

// belowLines is how many lines what is below the table takes of the room for it.
func (m *Model) belowLines(room int) int {
	switch {
	case m.firstSteps():
		if room >= cardLeast {
			return room
		}
	case m.charts():
		return room
	case m.listsChains() && room > m.chainCount()+1:
		return room
	}
	return 0
}

// home draws the lines, and beside them the details and what happened.
func (m *Model) home(f screen.Frame) string {
	th, w := f.Theme, m.panes()
	list, note, h := m.head(f, w[0]), m.noteLine(f), m.h
	if note != "" {
		h--
	}
	if len(m.rows) == 0 {
		list.Body = kit.Notice(th, theme.None, w[0], m.h-2, m.emptyWords()...)
	} else {
		cells := func(i int, c []kit.Cell) []kit.Cell { return m.cells(th, w[0], i, c) }
		body, room := []string{m.table.View(th, w[0], cells)}, m.room()
		if rest := room - m.tableLines(); rest > 0 {
			body = append(body, kit.Box(kit.Lines(m.below(f, w[0], rest)...), w[0], rest))
		}
		if room < m.h-2 {
			body = append(body, m.trendLine(f, w[0]))
		}
		list.Body = kit.Lines(body...)
	}
	panes := []kit.Pane{list}
	if len(w) > 1 {
		panes = append(panes, m.detailPane(f, w[1], h-1, len(w) < 3))
	}
	if len(w) > 2 {
		p := kit.Pane{W: w[2]}
		lines := m.happened(f, w[2])
		p.Title, lines = strings.TrimSpace(lines[0]), lines[1:]
		p.Body = m.sides[1].Body(th, lines, w[2], h-1)
		panes = append(panes, p)
	}
	body := kit.Beside(th, h, m.focus.In(len(w)), panes...)
	if note != "" {
		body = kit.Lines(body, note)
	}
	return body
}

func (m *Model) below(f screen.Frame, w, h int) []string {
	switch {
	case m.firstSteps():
		return card(f.Theme, m.ctx.Network, w, h)
	case m.charts():
		head, lines := m.chart(f, w, min(chartMost, h-chartFrame))
		return append([]string{"", kit.Beside(f.Theme, 1, 0, head)}, lines...)
	}
	return m.chainLines(f.Theme, w)
}

// firstSteps reports whether nothing was ever paid with this account, as far as the service lists it.
func (m *Model) firstSteps() bool {
	return m.past != nil && m.past.Whole && len(m.past.Records) == 0 && len(m.under.Operations) == 0 &&
		m.filter.Value() == ""
}

const cardLeast = 3

// card says what to try first, until the first payment; in little room it says the most useful of it.
func card(th theme.Theme, n network.Descriptor, w, h int) []string {
	key := func(keys ...string) string {
		line := " "
		for i := 0; i+1 < len(keys); i += 2 {
			line += " " + th.Accent.Render(keys[i])
			line += strings.Repeat(" ", max(1, 6-present.Width(keys[i]))) + keys[i+1] + "    "
		}
		return line
	}
	head := map[network.Kind]string{network.Embedded: "This is play money.", network.Lab: "These are test chains: no " +
		"real money.", network.Test: "These are public test networks: their coins are worth nothing."}[n.Kind]
	if head == "" {
		head = "This is real money. Begin with a small payment."
	}
	lines := []string{" " + th.Rule.Render(kit.Rule(th.Signs.Rule, w-4)), "  " + th.Strong.Render(head), ""}
	switch {
	case n.OnOwnNodes():
		lines = append(lines, "  Your gas tank pays for gas. Send it coins:", "  "+n.Pins.Operator.Hex(),
			key("t", "send", "2", "build a call", "r", "receive"))
	case n.Kind == network.Embedded:
		lines = append(lines, key("2 d", "try a payment, paid from several chains"),
			key("t", "send", "w", "swap", "r", "receive"))
	default:
		lines = append(lines, key("2", "build a call, paid from any chain"),
			key("t", "send", "w", "swap", "r", "receive"))
	}
	more := len(lines) - 5
	lines = append(lines, key(":", "every action, account, asset and contact by name"),
		key("?", "keys of this screen", "q", "quit"), "",
		"  "+th.Dim.Render("This card goes with your first payment."))
	for _, drop := range []int{7 + more, 2, 6 + more, 5 + more, 4 + more, 3 + more} { // blanks, the least useful keys
		if len(lines) <= h {
			break
		}
		if drop < len(lines) {
			lines = append(lines[:drop], lines[drop+1:]...)
		}
	}
	return lines
}

// listsChains reports whether the values by chain are below the assets.
func (m *Model) listsChains() bool {
	return m.view == byAsset && len(m.panes()) > 2 && m.h >= 45 && m.data != nil && m.filter.Value() == ""
}

func (m *Model) chainCount() int { return len(m.chains()) }

// chains are the groups by chain with something on them, the largest value first.
func (m *Model) chains() []group {
	var out []group
	for _, g := range m.chainGroups() {
		if g.micro == nil || g.micro.Sign() != 0 || g.partial {
			out = append(out, g)
		}
	}
	was := m.order
	m.order = order{}
	m.sort(out)
	m.order = was
	return out
}

// chainLines are the values by chain, their bars under those of the assets.
func (m *Model) chainLines(th theme.Theme, w int) []string {
	lines := []string{"", " " + th.Strong.Render("By chain")}
	wide := func(i int) int { return m.table.WidthOf(i, w) }
	t := kit.NewTable(kit.Column{Min: wide(titleAt) + gap + wide(amountAt)}, kit.Column{Min: wide(shareAt)},
		kit.Column{Min: wide(percentAt), Align: kit.Right}, kit.Column{Min: wide(valueAt), Align: kit.Right})
	groups := m.chains()
	t.SetRows(len(groups) + 1)
	t.Select(len(groups)) // none of them
	t.Resize(len(groups) + 1)
	view := t.View(th, w, func(i int, c []kit.Cell) []kit.Cell {
		if i == len(groups) {
			return append(c, kit.Cell{Span: true})
		}
		g := groups[i]
		g.kind = groupRow
		return append(c, kit.Text(g.title), m.shareCell(th, g.row, wide(shareAt)), m.percentCell(th, g.row),
			m.valueCell(th, g.row, wide(valueAt)))
	})
	return append(lines, strings.Split(view, "\n")[:len(groups)]...)
}

// detailPane is everything about the line in detail; the past of the total above it, and with all what happened below
// it.
func (m *Model) detailPane(f screen.Frame, w, h int, all bool) kit.Pane {
	th := f.Theme
	r, ok := m.detailed()
	p := kit.Pane{W: w}
	var lines []string
	if ok && r.kind != noteRow && r.kind != headRow {
		p.Title, p.Note = r.title, th.Dim.Render(" "+m.nameOf(r))
		if !r.figure {
			p.State = th.Strong.Render(m.valueText(th, r))
		}
		lines = m.detailLines(f, r, w)
	}
	if !all && m.hasTrend() {
		head := kit.Sides(" "+th.Strong.Render(p.Title)+"  "+p.Note, p.State+" ", w)
		var chart []string
		p, chart = m.chart(f, w, chartMost)
		if lines != nil {
			lines = append([]string{"", head}, lines...)
		}
		lines = append(chart, lines...)
	}
	if all {
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, m.happened(f, w)...)
	}
	p.Body = m.sides[0].Body(th, lines, w, h)
	return p
}

// detailLines are the exact figures of a line, those of its parts, and its contracts.
func (m *Model) detailLines(f screen.Frame, r row, w int) []string {
	th := f.Theme
	var lines []string
	if r.figure {
		lines = m.ledger(th, w, 0, []kit.Entry{{Figure: m.exact(th, r), FigureLook: th.Strong,
			Aside: m.valueText(th, r), AsideLook: th.Strong}})
	}
	entries := make([]kit.Entry, 0, len(r.under))
	for _, p := range r.under {
		entries = append(entries, kit.Entry{Label: p.title + " ", Figure: m.exact(th, p), Aside: m.valueText(th, p)})
	}
	if len(entries) > 0 {
		lines = append(append(lines, ""), m.ledger(th, w, 1, entries)...)
	}
	lines = append(lines, "", " "+th.Dim.Render("as the service says, "+kit.DataAge(f.Now, m.at)))
	lines = append(lines, m.pastLines(f, r, w)...)
	if r.address != "" {
		lines = append(append(lines, ""), kit.Row(th, w, 1, 10, "address", kit.Plain(present.Address(r.address)))...)
	}
	return append(lines, m.contracts(th, r, w)...)
}

// ledger aligns figures and puts the values at the right end.
func (m *Model) ledger(th theme.Theme, w, indent int, entries []kit.Entry) []string {
	lines := kit.Ledger(th, w, indent, 0, entries)
	for i, e := range entries {
		if len(lines) != len(entries) || e.Aside == "" {
			continue
		}
		if left, ok := strings.CutSuffix(lines[i], e.AsideLook.Render(e.Aside)); ok {
			lines[i] = kit.Sides(strings.TrimRight(left, " "), e.AsideLook.Render(e.Aside)+" ", w)
		}
	}
	return lines
}

func (m *Model) exact(th theme.Theme, r row) kit.Figure {
	switch {
	case m.hidden:
		return kit.Figure{Main: kit.Masked(th)}
	case r.amount == nil || r.decimals < 0:
		return kit.Figure{Main: present.UnknownText}
	}
	return kit.Exact(r.amount, r.decimals)
}

func (m *Model) valueText(th theme.Theme, r row) string {
	text := present.USD(r.micro)
	if m.hidden {
		return kit.Masked(th)
	}
	if r.partial && r.micro != nil {
		text += unpricedTail
	}
	return text
}

// contracts are the token contracts of a line by chain, in full.
func (m *Model) contracts(th theme.Theme, r row, w int) []string {
	parts := r.under
	if r.kind == partRow {
		parts = []row{r}
	}
	var out []string
	for _, p := range parts {
		if len(p.ids) == 0 || r.arg.Aggregate == "" {
			continue
		}
		_, address, token := strings.Cut(p.ids[0], "/erc20:")
		if !token {
			if _, address, token = strings.Cut(p.ids[0], "/token:"); !token {
				continue
			}
		}
		if out == nil {
			out = append(out, "", " "+th.Strong.Render("Contracts"))
		}
		chain, _, _ := strings.Cut(p.title, " ")
		out = append(out, kit.LinkedRow(th, w, 1, 10, chain, present.Address(address),
			th.Link(th.Text, m.ctx.TokenLink(p.ids[0])))...)
	}
	return out
}

// happened lists what is under way, what can still be used, and what happened last.
func (m *Model) happened(f screen.Frame, w int) []string {
	th := f.Theme
	var lines []string
	block := func(title string) {
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, " "+th.Strong.Render(title))
	}
	if len(m.under.Operations) > 0 {
		block("Under way")
		for _, o := range m.under.Operations {
			at := o.Since.In(f.Now.Location()).Format("15:04")
			lines = append(lines, kit.Fit(" "+th.Dim.Render(at)+"  "+o.What, w),
				kit.Fit("        "+th.Style(o.Meaning).Render(o.Progress), w))
		}
	}
	if open := present.Open(m.under.Open, f.Now); len(open) > 0 {
		block("Can still be used")
		at := func(t time.Time) string { return t.In(f.Now.Location()).Format("15:04:05") }
		for _, o := range open {
			// the time left would be drawn each second
			lasts, _, _ := strings.Cut(o.Lasts(f.Now, at, time.Duration.String), ", in ")
			lines = append(lines, kit.Fit(" "+th.Mark(theme.Warn)+" "+o.Name(m.ctx.Catalog), w),
				kit.Fit("        "+th.Dim.Render(lasts), w))
		}
	}
	block("Recent")
	switch {
	case m.past == nil:
		return append(lines, " "+th.Dim.Render("  not read yet"))
	case len(m.past.Records) == 0:
		return append(lines, " "+th.Dim.Render("  Nothing yet."))
	}
	for _, r := range m.past.Records[:min(recentMax, len(m.past.Records))] {
		lines = append(lines, m.recentLine(f, r, w))
	}
	return append(lines, "   "+th.Accent.Render("4")+th.Dim.Render(" all of it"))
}

// recentLine is the time, what it did and how it ended, in w cells.
func (m *Model) recentLine(f screen.Frame, r screen.Past, w int) string {
	th := f.Theme
	when, form := "?", "02 Jan"
	if at := r.At.In(f.Now.Location()); !r.At.IsZero() {
		switch {
		case w >= 56:
			form = "02 Jan 15:04"
		case at.Format(time.DateOnly) == f.Now.Format(time.DateOnly):
			form = "15:04"
		}
		when = at.Format(form)
	}
	state := th.Say(r.Status.Meaning, r.Status.Word)
	deed := r.Deed(kit.Shown(th, m.hidden), th.Signs.Arrow)
	left := " " + th.Dim.Render(kit.Fit(when, len(form))) + "  " + deed
	return kit.Sides(left, state+strings.Repeat(" ", max(1, 13-present.Width(r.Status.Word)-1)), w)
}

// unpricedCount is the number of assets with something that has no price.
func (m *Model) unpricedCount() int {
	n := 0
	for _, a := range m.real.Assets {
		partly := a.Micro == nil && !present.IsZero(a.Amount, a.Micro)
		for _, p := range a.Parts {
			partly = partly || p.Micro == nil && !present.IsZero(p.Amount, p.Micro)
		}
		if partly {
			n++
		}
	}
	return n
}

// Wake draws again when a signature ends or an age changes.
func (m *Model) Wake(now time.Time) time.Duration {
	next := kit.DataAgeChanges(now, m.at)
	for _, o := range m.under.Open {
		for _, at := range []time.Time{o.Until, o.Ends} {
			if d := at.Sub(now); d > 0 && (next == 0 || d < next) {
				next = d
			}
		}
	}
	return next
}

// without removes what the person paid to others from totals, or from the values of one asset: each earlier value
// becomes what it would have been without the later payments. It says what it could not remove; "" when that is
// nothing.
func (m *Model) without(points []point, since int64, of string) (out []point, kept string) {
	if m.past == nil {
		return points, "your payments are in it"
	}
	var paid []screen.Past
	unknown, mixed, read := 0, 0, int64(0)
	for _, r := range m.past.Records {
		read = r.At.Unix()
		blank := of != "" && (r.Paid == "" || r.Got == "")
		switch {
		case r.At.IsZero() || r.At.Unix() < since || of != "" && !blank && r.Paid != of && r.Got != of:
		case of != "" && !blank && r.Paid != r.Got && (r.Left || r.Status.Meaning == theme.Good):
			mixed++
		case !r.Left:
		case r.Value == nil || blank:
			unknown++
		default:
			paid = append(paid, r)
		}
	}
	switch {
	case unknown > 0:
		kept = present.Plural(unknown, "payment without a value is in it", "payments without a value are in it")
	case mixed > 0:
		kept = present.Plural(mixed, "exchange for another asset is in it", "exchanges for other assets are in it")
	case !m.past.Whole && read > since && len(points) > 0 && points[0].at < read:
		from := time.Unix(read, 0).In(m.ctx.Clock().Location())
		kept = "payments before " + from.Format("02 Jan 15:04") + " are in it"
	}
	out = make([]point, len(points))
	for i, p := range points {
		p.micro = new(big.Int).Set(p.micro)
		for _, r := range paid {
			if r.At.Unix() > p.at {
				p.micro.Sub(p.micro, r.Value)
			}
		}
		out[i] = p
	}
	return out, kept
}
