package history

import (
	"strings"
	"time"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

func (m *Model) list(f screen.Frame, w int) string {
	filtered := m.query.active()
	return m.table.View(f.Theme, w, func(i int, c []kit.Cell) []kit.Cell {
		if filtered {
			return m.cells(f, w, m.shown[i], c)
		}
		s, r := m.book.at(i)
		if r == nil {
			return append(c, m.empty(f.Theme, s))
		}
		return m.cells(f, w, r, c)
	})
}

// empty is a line without a record: a gap, or rows that are not in memory.
func (m *Model) empty(th theme.Theme, s span) kit.Cell {
	if s.chunk != nil {
		return kit.Cell{Text: th.Signs.More + " read again when it stays on the screen", Style: th.Dim, Span: true}
	}
	return kit.Cell{Text: th.Signs.Warn + " not loaded: records may be missing here, enter loads them", Style: th.Warn,
		Span: true}
}

func (m *Model) cells(f screen.Frame, w int, r *record, c []kit.Cell) []kit.Cell {
	th, l := f.Theme, m.format.line(r)
	if r.unread() {
		return append(c, kit.Cell{Text: th.Signs.Warn + " " + r.reason.Value(), Style: th.Warn, Span: true})
	}
	look, word := statusLook(r.status.Value())
	value := kit.Text(present.USD(l.micro))
	switch {
	case m.hidden:
		value = kit.Styled(kit.Masked(th), th.Dim)
	case l.micro == nil:
		value.Style = th.Unknown
	case look == theme.Warn || look == theme.Danger:
		value.Style = th.Dim // it did not happen
	}
	chains := l.route(th, m.table.WidthOf(chainsColumn, w))
	if r.seen() {
		word = "node saw it"
	}
	status := kit.Cell{Text: r.sign(th, look) + " " + word, Style: th.Style(look)}
	c = append(c, kit.Text(when(f.Now, r.at())), kit.Styled(strings.ToLower(r.kind.Value()), th.Dim),
		kit.Text(l.what(brief(m.mask(th), th.Signs.More), th.Signs.Arrow)), kit.Text(chains), value, status)
	if k := m.book.byID[r.id]; k != nil && !k.sec.live {
		c[len(c)-1].Text = th.Signs.Dot + " " + word // as the cache has it
		for i := range c {
			c[i].Style = th.Dim
		}
	}
	return c
}

// route writes the way from chain to chain in w cells, abbreviated when the names do not fit.
func (l line) route(th theme.Theme, w int) string {
	if l.from == l.to {
		return l.to.name
	}
	full := l.from.name + " " + th.Signs.Arrow + " " + l.to.name
	if present.Width(full) <= w {
		return full
	}
	return l.from.short + " " + th.Signs.Arrow + " " + l.to.short
}

// sign is the sign of a record: which way it went, of what own nodes saw.
func (r *record) sign(th theme.Theme, look theme.Meaning) string {
	switch {
	case !r.seen() || r.unread():
		return sign(th, look)
	case r.kind.Value() == present.TypeReceived:
		return th.Signs.Back
	case r.kind.Value() == present.TypeSent:
		return th.Signs.Arrow
	}
	return th.Signs.Unknown
}

// sign is the sign of the meaning; a pending status has an ellipsis.
func sign(th theme.Theme, look theme.Meaning) string {
	if look == theme.None {
		return th.Signs.More
	}
	return th.Sign(look)
}

// when writes a time in 12 cells: with the clock in this year, with the year before it.
func when(now, t time.Time) string {
	if t.IsZero() {
		return present.UnknownText
	}
	t = t.In(now.Location())
	if t.Year() == now.Year() {
		return t.Format("02 Jan 15:04")
	}
	return t.Format("02 Jan 2006")
}
