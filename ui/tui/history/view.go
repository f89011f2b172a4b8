package history

import (
	"strconv"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	if m.w != f.W || m.h != f.H {
		m.resize(f.W, f.H)
	}
	th := f.Theme
	switch {
	case !m.loaded && m.err != nil:
		return kit.Notice(th, theme.Warn, f.W, f.H, "History could not be read: "+screen.Words(m.err)+".", "Press ctrl+r to try again.",
			"Nothing was changed. What is under way goes on without this list.")
	case !m.loaded:
		return kit.Notice(th, theme.None, f.W, f.H, "Reading history for the first time.", "Waiting since "+m.since.Format("15:04:05")+".")
	case len(m.book.rows) == 0 && m.ended:
		return kit.Notice(th, theme.None, f.W, f.H, "Nothing was done with this account yet.", "Press 2 to build a call, or 1 for balances.")
	case len(m.shown) == 0:
		words := []string{"Nothing that is loaded matches the filter.", "Press m to read more, / to change the filter or esc to clear it."}
		if m.ended {
			words = []string{"Nothing matches the filter.", "Press / to change it or esc to clear it."}
		}
		return kit.Lines(m.stateLine(f, f.W), kit.Notice(th, theme.None, f.W, f.H-2, words...), m.endLine(th, f.W))
	}
	if m.side() {
		return m.besideView(f)
	}
	body := kit.Lines(m.stateLine(f, f.W), m.list(f, f.W))
	if m.details {
		rule := th.Rule.Render(kit.Rule(th.Signs.Rule, f.W))
		m.pane.Keep(m.detailLines(th, f.Now, f.W-4))
		body = kit.Lines(body, rule, indent(m.pane.View(f.W-2)))
	}
	return kit.Box(kit.Lines(body, m.endLine(th, f.W)), f.W, f.H)
}

// besideView puts list and details side by side.
func (m *Model) besideView(f screen.Frame) string {
	th := f.Theme
	paneW := m.sideW()
	listW := f.W - paneW
	m.pane.Keep(m.detailLines(th, f.Now, paneW-3))
	left := strings.Split(m.list(f, listW), "\n")
	right := strings.Split(m.pane.View(paneW-2), "\n")
	divider := th.Rule.Render(th.Signs.Divider) + " "
	lines := make([]string, len(left))
	for i := range left {
		lines[i] = left[i] + divider
		if i < len(right) {
			lines[i] += right[i]
		}
	}
	return kit.Box(kit.Lines(m.stateLine(f, f.W), strings.Join(lines, "\n"), m.endLine(th, f.W)), f.W, f.H)
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// stateLine says what is listed and how it stands.
func (m *Model) stateLine(f screen.Frame, w int) string {
	th := f.Theme
	left := "  " + th.Strong.Render("History") + "  " + th.Dim.Render("newest first, read "+kit.Age(f.Now, m.at))
	right := ""
	switch {
	case m.filter.Focused():
		right = th.Dim.Render(kit.FilterPrefix) + m.filter.Text(th, min(24, w/3))
	case m.filter.Value() != "":
		right = th.Accent.Render(kit.FilterPrefix + kit.Clean(m.filter.Value(), 24))
	case m.hidden:
		right = th.Dim.Render("amounts hidden")
	}
	return kit.Sides(left, right+" ", w)
}

// Wake draws again when the age in the state line changes.
func (m *Model) Wake(now time.Time) time.Duration { return kit.AgeChanges(now, m.at) }

// endLine is the last line: how much there is, or what went wrong.
func (m *Model) endLine(th theme.Theme, w int) string {
	n := amount.Group(strconv.Itoa(len(m.book.rows)))
	left := n + " loaded, more below"
	switch {
	case m.filter.Value() != "":
		left = amount.Group(strconv.Itoa(len(m.shown))) + " of " + n + " loaded match; m reads more"
		if m.ended {
			left = amount.Group(strconv.Itoa(len(m.shown))) + " of " + n + " match"
		}
	case m.stopped != "":
		left = n + " loaded; " + m.stopped
	case m.ended:
		left = "end of history: " + kit.Plural(len(m.book.rows), "record", "records")
		if len(m.book.rows) > 999 {
			left = "end of history: " + n + " records"
		}
	}
	left = "  " + th.Dim.Render(left)
	switch {
	case m.err != nil:
		return kit.Fit("  "+th.Mark(theme.Warn)+" "+th.Warn.Render(screen.Words(m.err))+th.Dim.Render("; ctrl+r tries again"), w)
	case m.loading && m.job == jobRestart:
		return kit.Sides(left, th.Dim.Render("the service lost the place: reading again from the top "), w)
	case m.loading:
		return kit.Sides(left, th.Dim.Render("reading "), w)
	}
	right := ""
	if m.chosen != nil && (m.details || m.side()) && m.pane.Below() > 0 {
		right = th.Accent.Render("J") + th.Dim.Render(" scrolls, "+m.pane.More(th)+" ")
	}
	return kit.Sides(left, right, w)
}

func (m *Model) list(f screen.Frame, w int) string {
	return m.table.View(f.Theme, w, func(i int, c []kit.Cell) []kit.Cell { return m.cells(f, w, m.shown[i], c) })
}

func (m *Model) cells(f screen.Frame, w int, r *record, c []kit.Cell) []kit.Cell {
	th := f.Theme
	look, word := statusLook(r.status)
	value := kit.Text(kit.USD(r.micro))
	switch {
	case m.hidden:
		value = kit.Styled(kit.Masked(th), th.Dim)
	case r.micro == nil:
		value.Style = th.Unknown
	case look == theme.Warn || look == theme.Danger:
		value.Style = th.Dim // it did not happen
	}
	chains := r.route(th, m.table.WidthOf(chainsColumn, w))
	return append(c, kit.Text(when(f.Now, r.when)), kit.Styled(strings.ToLower(r.kind), th.Dim), kit.Text(r.what(m.mask(th))), kit.Text(chains), value,
		kit.Cell{Text: sign(th, look) + " " + word, Style: th.Style(look)})
}

// route writes from where to where in w cells, in few letters when the names do not fit.
func (r *record) route(th theme.Theme, w int) string {
	if r.from == r.to {
		return r.to.name
	}
	full := r.from.name + " " + th.Signs.Arrow + " " + r.to.name
	if kit.Width(full) <= w {
		return full
	}
	return r.from.short + " " + th.Signs.Arrow + " " + r.to.short
}

// sign is that of the meaning; what is under way has an ellipsis.
func sign(th theme.Theme, look theme.Meaning) string {
	if look == theme.None {
		return th.Signs.More
	}
	return th.Sign(look)
}

// when writes a time in 12 cells: with the clock this year, with the year before.
func when(now, t time.Time) string {
	if t.IsZero() {
		return kit.UnknownText
	}
	t = t.In(now.Location())
	if t.Year() == now.Year() {
		return t.Format("02 Jan 15:04")
	}
	return t.Format("02 Jan 2006")
}
