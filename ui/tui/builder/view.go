package builder

import (
	"strconv"
	"strings"

	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// labelW is the width of the labels, formW the most that the form takes beside the summary.
const (
	labelW = 11
	formW  = 100
)

// View draws the form around the focused row, with its help in the last line.
func (s *Screen) View(f screen.Frame) string {
	th := f.Theme
	s.width = f.W
	wrong, notes := s.mistakes(), s.Cautions(s.shown())
	panes := s.panes()
	form, below := s.formLines(th, panes[0], f.H-2, wrong, notes)
	if len(panes) < 2 {
		form = kit.Lines(s.head(th, f.W), kit.Box(form, f.W, f.H-2))
	} else {
		form = kit.Beside(th, f.H-1, s.pane, kit.Pane{W: panes[0], Head: s.head(th, panes[0]), Body: form},
			s.summaryPane(th, panes[1], f.H-2, wrong, notes))
	}
	body := kit.Lines(form, s.help(th, f.W, below))
	if s.prompt.open {
		body, _, _, _ = kit.TakeCursor(body)
		return s.prompt.view(th, kit.Box(body, f.W, f.H), f.W, f.H)
	}
	if s.choice.IsOpen() {
		body, _, _, _ = kit.TakeCursor(body)
		left, w := listPlace(f.W)
		return kit.Overlay(kit.Box(body, f.W, f.H), s.choice.View(th, w, f.H-listTop), left, listTop)
	}
	return body
}

// formLines draws the rows around the focused one in a body of w×h cells, and counts the lines below it.
func (s *Screen) formLines(th theme.Theme, w, h int, wrong map[string]string, notes map[string]caution) (body string,
	below int) {
	focus := s.current().id
	pinned := s.remarks(th, w)
	var lines []string
	if len(pinned) > h/2 { // too many to keep in sight: they scroll
		pinned, lines = nil, pinned
	}
	ids := make([]string, len(lines)) // the row of each line
	from, to := 0, 0
	for _, r := range s.rows() {
		focused := r.id != "" && r.id == focus
		if focused {
			from = len(lines)
		}
		lines = append(lines, s.rowLines(th, r, focused, w)...)
		c := notes[r.id]
		if problem := wrong[r.id]; problem != "" {
			c = remark(compose.Danger, problem)
		}
		if c.Text != "" && r.id != "" {
			lines = append(lines, s.noteLines(th, c, s.column(r), w)...)
		}
		if focused {
			to = len(lines)
		}
		for len(ids) < len(lines) {
			ids = append(ids, r.id)
		}
	}
	room := h - len(pinned)
	s.scroll(from, to, len(lines), room)
	end := min(len(lines), s.top+room)
	s.hits = append(append(make([]string, 1+len(pinned)), ids[s.top:end]...), make([]string, room+1-(end-s.top))...)
	return strings.Join(append(pinned, lines[s.top:end]...), "\n"), len(lines) - end
}

// remarks stay above the form however it scrolls: the source of the form, and refusals that belong to no field.
func (s *Screen) remarks(th theme.Theme, w int) []string {
	var lines []string
	if s.watchOnly != "" {
		words := "You can build and look at a review, but not sign: " + present.Clean(s.watchOnly, 300)
		lines = append(lines, s.noteLines(th, remark(compose.Warn, words), 1, w)...)
	}
	if s.note.Text != "" {
		lines = append(lines, s.noteLines(th, s.note, 1, w)...)
	}
	for _, g := range s.general {
		lines = append(lines, kit.Prose(w-1, 1, kit.Span{Text: th.Sign(theme.Danger) + " ", Style: th.Danger},
			kit.Plain(g))...)
	}
	return lines
}

// scroll keeps the focused lines in the window.
func (s *Screen) scroll(from, to, n, h int) {
	if to > s.top+h {
		s.top = to - h
	}
	if from < s.top {
		s.top = from
	}
	if from <= 2 {
		s.top = 0
	}
	s.top = max(0, min(s.top, n-h))
}

// formName is a form with its key, its name and what it is for.
type formName struct{ form, key, name, does string }

func forms() []formName {
	return []formName{{formCalls, "c", "calls", "build contract calls"},
		{intent.KindTransfer, "t", "transfer", "send an asset"},
		{intent.KindSwap, "w", "swap", "swap one asset for another"}}
}

// formGap is the room between two names in the first line.
const formGap = 3

// label is the name of a form, with its key unless it is the shown one.
func (f formName) label(shown string) string {
	if f.form == shown {
		return strings.ToUpper(f.name[:1]) + f.name[1:]
	}
	return f.key + " " + f.name
}

// head names the forms, the shown one strong, and summarises the shown one.
func (s *Screen) head(th theme.Theme, w int) string {
	title, key := " ", th.Accent
	if s.Capturing() { // the keys of the forms are text here
		key = th.Dim
	}
	for _, f := range forms() {
		if f.form == s.form {
			title += th.Strong.Render(f.label(s.form))
		} else {
			title += key.Render(f.key) + " " + th.Dim.Render(f.name)
		}
		title += strings.Repeat(" ", formGap)
	}
	right := ""
	switch {
	case s.form != formCalls:
	case s.b.Empty() && s.hasTrial() && !s.Capturing():
		right = th.Accent.Render("d") + th.Dim.Render(" fills in a trial call ")
	default:
		right = th.Dim.Render(present.Plural(len(s.b.Calls), "call", "calls")+" on "+s.ChainName(s.b.Chain)) + " "
	}
	return kit.Sides(title, right, w)
}

// noteLines draw a remark with its sign.
func (s *Screen) noteLines(th theme.Theme, c caution, indent, w int) []string {
	if c.Level == compose.None {
		return kit.Prose(w-1, indent, kit.Span{Text: c.Text, Style: th.Dim})
	}
	return kit.Prose(w-1, indent, kit.Marked(th, c.Level, c.Text)...)
}

// help is the last line: what the focused field expects, and how much is out of sight.
func (s *Screen) help(th theme.Theme, w, below int) string {
	help, hidden := " "+th.Dim.Render(s.current().help), ""
	if s.top > 0 {
		hidden = th.Signs.Up + " " + strconv.Itoa(s.top) + "  "
	}
	if below > 0 {
		hidden += th.Signs.Down + " " + strconv.Itoa(below)
	}
	hidden = strings.TrimRight(hidden, " ")
	if long := hidden + " more"; hidden != "" && present.Width(help)+present.Width(long)+2 < w {
		hidden = long
	}
	return kit.Sides(help, th.Dim.Render(hidden)+" ", w)
}

func (s *Screen) column(r row) int { return 2 + labelW + 2*r.depth }

func (s *Screen) rowLines(th theme.Theme, r row, focused bool, w int) []string {
	if r.heading {
		label := " " + th.Dim.Render(r.label) + " "
		if focused {
			label = th.Accent.Render(th.Signs.Cursor + r.label + " ")
		}
		return []string{kit.Fit(label+th.Rule.Render(kit.Rule(th.Signs.Rule, max(0, w-present.Width(label)-1))), w)}
	}
	mark := "  "
	label := th.Dim
	if focused {
		mark, label = th.Accent.Render(th.Signs.Cursor)+" ", th.Accent
	}
	lead := mark + label.Render(kit.Fit(strings.Repeat(" ", 2*r.depth)+r.label, labelW+2*r.depth))
	room := w - s.column(r) - 1
	if focused && s.editing && r.field != nil {
		return s.editLines(th, r, lead, room, w)
	}
	value := s.valueSpans(th, r, focused)
	lines := kit.Prose(w-1, s.column(r), value...)
	lines[0] = lead + lines[0][s.column(r):]
	return s.withAside(th, r, lines, w)
}

// editLines draws the row that is being edited: one line that scrolls, so that the cursor is always visible. The remark
// goes below when there is no room beside it.
func (s *Screen) editLines(th theme.Theme, r row, lead string, room, w int) []string {
	aside := s.aside(th, r)
	need := max(14, present.Width(*r.field)+2)
	if aside != "" && need+present.Width(aside)+1 <= room {
		return []string{lead + s.editor.Text(th, room-present.Width(aside)-1) + " " + aside}
	}
	lines := []string{lead + s.editor.Text(th, room)}
	return append(lines, s.asideBelow(th, r, w)...)
}

// asideBelow draws the remark on its own lines, so that no figure is cut.
func (s *Screen) asideBelow(th theme.Theme, r row, w int) []string {
	switch {
	case r.aside == "":
		return nil
	case r.mean == theme.None:
		return kit.Prose(w-1, s.column(r), kit.Span{Text: r.aside, Style: th.Dim})
	}
	return kit.Prose(w-1, s.column(r), kit.Span{Text: r.aside + " ", Style: th.Style(r.mean)},
		kit.Span{Text: th.Sign(r.mean), Style: th.Style(r.mean)})
}

func (s *Screen) aside(th theme.Theme, r row) string {
	if r.aside == "" {
		return ""
	}
	if r.mean == theme.None {
		return th.Dim.Render(r.aside)
	}
	return th.Style(r.mean).Render(r.aside) + " " + th.Mark(r.mean)
}

func (s *Screen) withAside(th theme.Theme, r row, lines []string, w int) []string {
	aside := s.aside(th, r)
	if aside == "" {
		return lines
	}
	last := len(lines) - 1
	if present.Width(lines[last])+present.Width(aside)+3 <= w {
		lines[last] = kit.Sides(lines[last], aside+" ", w)
		return lines
	}
	return append(lines, s.asideBelow(th, r, w)...)
}

// valueSpans is the value of a row that is not being edited: addresses in groups, lists marked as lists.
func (s *Screen) valueSpans(th theme.Theme, r row, focused bool) []kit.Span {
	text := r.text
	look := th.Text
	switch {
	case r.id == idReview:
		look = th.Strong
		if focused {
			look = th.Accent.And(th.Strong)
		}
		text += " " + th.Signs.Arrow
	case r.field != nil && *r.field == "":
		text, look = r.empty, th.Rule
		if r.none {
			look = th.Dim
		}
	case r.field != nil && r.address && present.Width(trim(*r.field)) == 42:
		// grouped exactly as typed, so that a wrong letter stays visible
		return []kit.Span{{Text: present.Groups(present.Clean(trim(*r.field), 42)), Whole: true}}
	case r.field != nil && r.address && isSolana(trim(*r.field)):
		return []kit.Span{{Text: present.Address(trim(*r.field)), Whole: true}}
	case r.field != nil:
		text = present.Clean(*r.field, len(*r.field)+1)
		if n := len([]rune(text)); n > shownText && !focused {
			text = present.Clean(text, shownText) + " " + present.Plural(n, "character", "characters") + " in all"
		}
	case r.items != nil:
		text += " " + th.Signs.Open
	}
	return []kit.Span{{Text: text, Style: look}}
}

func isSolana(text string) bool { _, err := caip.ParseSolanaKey(text); return err == nil }

// shownText bounds a long text in a row without focus; the review shows everything.
const shownText = 400
