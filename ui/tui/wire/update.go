package wire

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/text"

	"coffer/api/client/httplog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
	case changedMsg:
		m.reload()
		return m.listen()
	case screen.OpenedMsg:
		m.detail = nil
		m.reload()
	case screen.ClickMsg:
		m.click(msg)
	case tea.PasteMsg:
		m.typed(msg)
	case tea.KeyPressMsg:
		switch {
		case m.Capturing():
			m.typed(msg)
		case m.detail != nil:
			return m.pressDetail(msg.String())
		default:
			return m.pressList(msg.String())
		}
	}
	return nil
}

func (m *Model) field() *kit.Field {
	if m.detail != nil {
		return m.detail.find
	}
	return m.filter
}

// typed passes a key or a paste to the field with the keyboard.
func (m *Model) typed(msg tea.Msg) {
	f := m.field()
	if !f.Focused() || !f.Narrow(msg) {
		return
	}
	if m.detail != nil {
		m.detail.search(0)
		return
	}
	m.choose()
}

func (m *Model) pressList(key string) tea.Cmd {
	if m.table.Press(key) {
		m.follow = len(m.shown) > 0 && m.table.Selected() == len(m.shown)-1
		m.remember()
		return nil
	}
	e, ok := m.selected()
	switch key {
	case "esc":
		if m.filter.Value() != "" {
			m.filter.Set("")
			m.choose()
			return nil
		}
		return screen.Send(screen.BackMsg{From: screen.Wire})
	case "/":
		m.filter.Focus()
	case "x":
		return m.export(m.listed())
	}
	if !ok {
		return nil
	}
	switch key {
	case "enter":
		m.openDetail(e)
	case "y":
		return m.curl(e)
	case "Y":
		return copyBody("answer", e.Response)
	}
	return nil
}

func (m *Model) listed() []httplog.Exchange {
	out := make([]httplog.Exchange, 0, len(m.shown))
	for _, i := range m.shown {
		out = append(out, m.all[i])
	}
	return out
}

func (m *Model) pressDetail(key string) tea.Cmd {
	d := m.detail
	if d.press(key) {
		return nil
	}
	switch key {
	case "esc":
		m.detail = nil
	case "/":
		d.find.Focus()
	case "n":
		d.search(1)
	case "N":
		d.search(-1)
	case "y":
		return m.curl(d.e)
	case "Y":
		if d.inRequest() {
			return copyBody("request", d.e.Request)
		}
		return copyBody("answer", d.e.Response)
	case "v":
		if n := d.selected(); n != nil && n.isDocument() && !n.container() {
			return screen.Copy("value", copyable([]byte(n.text)))
		}
		return screen.Toast(theme.Warn, "only a single value can be copied here; Y copies the body")
	case "x":
		return m.export([]httplog.Exchange{d.e})
	}
	return nil
}

// curl copies the request as a command.
func (m *Model) curl(e httplog.Exchange) tea.Cmd {
	if e.RequestCut {
		return screen.Toast(theme.Warn, "the request is too long for a command: its end was not kept")
	}
	what := "curl command"
	if e.Sealed > 0 {
		what = "curl command, without its signatures,"
	}
	return screen.Copy(what, copyable([]byte(e.Curl(m.ctx.BaseURL))))
}

func copyBody(which string, body []byte) tea.Cmd {
	if len(body) == 0 {
		return screen.Toast(theme.Warn, "the "+which+" has no body")
	}
	return screen.Copy("body of the "+which, copyable(body))
}

// copyable is text for the clipboard: JSON as it is, because it has no control characters but white space; anything
// else cleaned, line by line, so that nothing acts on the terminal where the person pastes it.
func copyable(b []byte) string {
	if jsontext.Value(b).IsValid() || plain(b) {
		return string(b)
	}
	var out []byte
	for i, r := 0, 0; i < len(b); i += r {
		var c rune
		if c, r = utf8.DecodeRune(b[i:]); c == '\n' {
			out = append(out, '\n')
			continue
		}
		out = append(out, text.Clean(string(c), 1)...)
	}
	return string(out)
}

// plain reports whether b has printable ASCII and line ends only.
func plain(b []byte) bool {
	for _, c := range b {
		if (c < 0x20 || c > 0x7e) && c != '\n' {
			return false
		}
	}
	return true
}

// export writes exchanges to a new file.
func (m *Model) export(all []httplog.Exchange) tea.Cmd {
	write, version := m.ctx.Export, m.deps.Version
	switch {
	case len(all) == 0:
		return screen.Toast(theme.Warn, "there is nothing to export")
	case write == nil:
		return screen.Toast(theme.Warn, m.ctx.WhyNoFiles("this program cannot write files here"))
	}
	return func() tea.Msg {
		b, err := httplog.HAR(all, version)
		path := ""
		if err == nil {
			path, err = write("wire.har", b)
		}
		if err != nil {
			return screen.ToastMsg{Meaning: theme.Danger, Text: "not exported: " + present.Clean(err.Error(), 200)}
		}
		return screen.ToastMsg{Meaning: theme.Good, Text: present.Plural(len(all), "exchange", "exchanges") + " in " +
			path}
	}
}

// click selects the clicked line; a click on the selected one opens or folds it.
func (m *Model) click(at screen.ClickMsg) {
	if d := m.detail; d != nil {
		d.click(at.Y)
		return
	}
	before := m.table.Selected()
	if at.Y < 1 || !m.table.Click(at.Y-1) {
		return
	}
	m.follow = false
	m.remember()
	if e, ok := m.selected(); ok && m.table.Selected() == before {
		m.openDetail(e)
	}
}

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	if m.Capturing() {
		if m.detail != nil {
			return []kit.Key{kit.NewKey("search", "enter"), kit.NewKey("leave the search", "esc")}
		}
		return []kit.Key{kit.NewKey("keep filter", "enter"), kit.NewKey("clear filter", "esc")}
	}
	if m.detail != nil {
		return m.detail.keys()
	}
	_, some := m.selected()
	const why = "there is no exchange to use it on"
	keys := []kit.Key{
		kit.NewKey("open", "enter").OffWhen(!some, why), kit.NewKey("copy as curl", "y").OffWhen(!some, why),
		kit.NewKey("copy answer", "Y").OffWhen(!some, why),
		kit.NewKey("export", "x").Explain("export what is listed as an HTTP archive").OffWhen(!some, why),
		kit.NewKey("filter", "/"), kit.NewKey("back", "esc").Named("back"),
	}
	return append(keys, kit.MoveKeys()...)
}
