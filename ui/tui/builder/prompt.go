package builder

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// prompt is a dialog with one field. A paste goes into the field and never answers; a whole document is held beside the
// field.
type prompt struct {
	open  bool
	title string
	field *kit.Field
	hint  string
	wrong string // why the last answer was refused
	sure  string // the answer that waits for a second enter
	docs  bool   // takes whole documents
	list  bool   // they are lists, not JSON
	doc   string // a pasted document
	take  func(string) tea.Cmd
}

func (p *prompt) show(title, empty string, limit int, take func(string) tea.Cmd) {
	*p = prompt{open: true, title: title, field: kit.NewField("", limit), take: take}
	p.field.Empty = empty
	p.field.Focus()
}

func (p *prompt) close() { *p = prompt{} }

// pressPrompt handles a key of the dialog.
func (s *Screen) pressPrompt(m tea.KeyPressMsg) tea.Cmd {
	switch m.String() {
	case "esc":
		s.prompt.close()
	case "enter":
		s.prompt.wrong = ""
		return s.prompt.take(s.prompt.field.Value())
	default:
		if s.prompt.field.Update(m) {
			s.prompt.wrong, s.prompt.sure, s.prompt.doc = "", "", ""
		}
	}
	return nil
}

func (s *Screen) pastePrompt(text string) {
	p := &s.prompt
	t := trim(text)
	if p.docs && t != "" && (t[0] == '{' || t[0] == '[' || p.list && strings.ContainsAny(t, ",;\r\n")) {
		p.doc, p.wrong = text, ""
		p.field.Set("")
		return
	}
	if p.field.Update(tea.PasteMsg{Content: t}) {
		p.wrong, p.sure, p.doc = "", "", ""
	}
}

// view draws the dialog over the body.
func (p *prompt) view(th theme.Theme, body string, w, h int) string {
	panel := min(w-4, 76)
	inner := panel - 4
	lines := []string{th.Strong.Render(p.title), ""}
	if p.doc != "" {
		lines = append(lines, th.Accent.Render("a pasted document of "+strconv.Itoa(len(p.doc))+" characters"))
	} else {
		lines = append(lines, p.field.Text(th, inner))
	}
	for line := range strings.SplitSeq(p.wrong, "\n") {
		if line != "" {
			lines = append(lines, kit.Prose(inner, 0, kit.Marked(th, theme.Danger, line)...)...)
		}
	}
	if p.wrong == "" {
		lines = append(lines, kit.Prose(inner, 0, kit.Span{Text: p.hint, Style: th.Dim})...)
	}
	return kit.Dialog(th, body, lines, panel, w, h)
}
