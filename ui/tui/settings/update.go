package settings

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.w, m.h = msg.W, msg.H
	case screen.OpenedMsg:
		return m.opened(msg)
	case savedMsg:
		return m.saved(msg)
	case limitsMsg:
		m.limits, m.limitsErr, m.limitsGot = msg.lines, msg.err, true
	case foundMsg:
		if msg.gen == m.gen {
			m.found, m.asking, m.askedAt = msg.found, false, m.ctx.Clock()
		}
	case screen.ClickMsg:
		m.click(msg)
	case tea.PasteMsg:
		m.paste(msg)
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return nil
}

func (m *Model) opened(msg screen.OpenedMsg) tea.Cmd {
	m.page = pageMain
	if m.deps.Actions != nil {
		m.actions = m.deps.Actions()
	}
	cmd := m.readPolicy()
	if _, ok := msg.Arg.(DoctorArg); ok {
		return tea.Batch(cmd, m.openDoctor())
	}
	return cmd
}

func (m *Model) readPolicy() tea.Cmd {
	read := m.deps.Policy
	if read == nil {
		return nil
	}
	return func() tea.Msg {
		lines, err := read()
		return limitsMsg{lines, err}
	}
}

func (m *Model) paste(msg tea.PasteMsg) {
	switch {
	case m.editing:
		m.field.Update(msg)
	case m.typing:
		if m.filter.Update(msg) {
			m.narrow()
		}
	}
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.choice.IsOpen():
		return m.choose(msg)
	case m.editing:
		return m.edit(msg)
	case m.waiting:
		return m.bind(key)
	case m.typing:
		return m.pressFilter(msg)
	}
	if m.page == pageDoctor {
		return m.pressDoctor(key)
	}
	if m.takesText() && (msg.Text != "" || key == "backspace" || key == "ctrl+u") {
		m.beginDust()
		return m.edit(msg)
	}
	if m.page == pageMain && m.scrolled(key) {
		return nil
	}
	switch key {
	case "esc":
		return m.back()
	case "down", "j":
		m.move(1)
	case "up", "k":
		m.move(-1)
	case "pgdown":
		m.move(max(1, m.h-2))
	case "pgup":
		m.move(-max(1, m.h-2))
	case "home", "g":
		m.move(-1 << 20)
	case "end", "G":
		m.move(1 << 20)
	}
	if m.page == pageKeys {
		return m.pressKeys(key)
	}
	switch key {
	case "enter":
		return m.enter()
	case "d":
		return m.openDoctor()
	}
	return nil
}

// scrolled handles the keys that scroll the main page: below the last choice is text that cannot be selected.
func (m *Model) scrolled(key string) bool {
	if m.h == 0 {
		return false
	}
	m.layout()
	last := m.sel[pageMain] == len(m.items())-1
	switch {
	case key == "pgdown" || key == "pgup" || last && (key == "down" || key == "j"):
		return m.text.Press(key)
	case key == "end" || key == "G":
		m.sel[pageMain] = len(m.items()) - 1
		return m.text.Press(key)
	}
	return false
}

func (m *Model) back() tea.Cmd {
	if m.page == pageMain {
		return screen.Send(screen.BackMsg{From: screen.Settings})
	}
	m.gen++ // drop the answer of a doctor that is still running
	m.page, m.asking = pageMain, false
	m.reveal()
	return nil
}

// move selects another row.
func (m *Model) move(by int) {
	n := len(m.items())
	if m.page == pageKeys {
		n = len(m.rows)
	}
	m.sel[m.page] = max(0, min(m.sel[m.page]+by, n-1))
	m.wrong = ""
	m.reveal()
}

// click selects the row under the mouse.
func (m *Model) click(at screen.ClickMsg) {
	if m.busy() || m.page == pageDoctor {
		return
	}
	if i := slices.Index(m.starts, m.text.Top()+at.Y); i >= 0 {
		m.sel[m.page] = i
	}
}

// enter changes the selected choice.
func (m *Model) enter() tea.Cmd {
	items := m.items()
	if m.sel[pageMain] >= len(items) {
		return nil
	}
	it := items[m.sel[pageMain]]
	switch {
	case it.id == idDoctor:
		return m.openDoctor()
	case it.id == idKeys:
		m.openKeys()
	case it.off != "":
		return screen.Toast(theme.Warn, it.off)
	case m.saving:
		return screen.Toast(theme.Warn, "the last choice is still being written")
	case it.id == idDust:
		m.beginDust()
	case len(it.choices) > 0:
		m.choice.Title = it.label
		m.choice.Open(it.choices, it.value)
	}
	return nil
}

// beginDust gives the field of the dust threshold the keyboard; typing appends to its present value.
func (m *Model) beginDust() {
	m.editing, m.wrong = true, ""
	m.field.Set(m.dust())
	m.field.Focus()
}

func (m *Model) choose(msg tea.Msg) tea.Cmd {
	got, ok := m.choice.Update(msg)
	if !ok {
		return nil
	}
	ui := m.ui
	on := got.Value == yes
	switch it := m.items()[m.sel[pageMain]]; it.id {
	case idTheme:
		ui.Theme = got.Value
	case idMouse:
		ui.Mouse = nil
		if got.Value != auto {
			ui.Mouse = &on
		}
	case idASCII:
		ui.ASCII = on
	case idHide:
		ui.HideAmounts = on
	case idNotify:
		if ui.Notify = got.Value; ui.Notify == config.NotifyAuto {
			ui.Notify = ""
		}
	case idCopies:
		ui.Clipboard = nil
		if !on {
			ui.Clipboard = &on
		}
	}
	return m.save(ui, "")
}

// edit handles a key of the dust field.
func (m *Model) edit(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.editing, m.wrong = false, ""
		m.field.Blur()
		return nil
	case "enter":
		ui := m.ui
		ui.Dust = strings.TrimPrefix(strings.TrimSpace(m.field.Value()), "$")
		if err := config.CheckUI(ui); err != nil {
			m.wrong = fieldProblem(err)
			return nil
		}
		m.editing = false
		m.field.Blur()
		return m.save(ui, "it counts from the next start on")
	}
	m.wrong = ""
	m.field.Update(msg)
	return nil
}

// save checks and writes choices. They take effect once they are written.
func (m *Model) save(ui config.UI, remark string) tea.Cmd {
	if err := config.CheckUI(ui); err != nil {
		m.wrong = problem(err)
		return nil
	}
	m.wrong, m.saving = "", true
	m.gen++
	gen, write := m.gen, m.deps.Save
	return func() tea.Msg { return savedMsg{gen, ui, remark, write(ui)} }
}

func (m *Model) saved(msg savedMsg) tea.Cmd {
	m.saving = false
	if msg.err != nil {
		m.wrong = problem(msg.err)
		return nil
	}
	m.ui = msg.ui
	text := "written to " + m.deps.Config
	if msg.what != "" {
		text += "; " + msg.what
	}
	return tea.Batch(screen.Send(msg.ui), screen.Toast(theme.Good, text))
}

func problem(err error) string { return present.Clean(err.Error(), 400) }

// withoutText removes the text keys from keys that move.
func withoutText(keys []kit.Key) []kit.Key {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Press = slices.DeleteFunc(slices.Clone(out[i].Press), func(p string) bool { return len(p) == 1 })
	}
	return out
}

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	switch {
	case m.choice.IsOpen():
		return []kit.Key{kit.NewKey("go on", "enter"), kit.NewKey("choose", "up", "down"),
			kit.NewKey("leave as it is", "esc")}
	case m.editing:
		return []kit.Key{kit.NewKey("write it down", "enter"), kit.NewKey("leave as it is", "esc")}
	case m.waiting:
		return []kit.Key{kit.NewKey("leave as it is", "esc")}
	case m.typing:
		return []kit.Key{kit.NewKey("done", "enter"), kit.NewKey("show all", "esc")}
	}
	move := []kit.Key{kit.NewKey("up", "up", "k").Hidden(), kit.NewKey("down", "down", "j").Hidden(),
		kit.NewKey("page up", "pgup").Hidden(), kit.NewKey("page down", "pgdown").Hidden(),
		kit.NewKey("first", "home", "g").Hidden(), kit.NewKey("last", "end", "G").Hidden()}
	switch m.page {
	case pageKeys:
		return append(m.keysKeys(), move...)
	case pageDoctor:
		return append([]kit.Key{
			kit.NewKey("look again", "r").OffWhen(m.asking, "it is looking").Named("look-again"),
			kit.NewKey("copy the report", "y").OffWhen(m.deps.Report == nil ||
				m.found == nil, "there is no report yet").Explain(
				"copy the report: without addresses, hosts and names of directories"),
			kit.NewKey("back", "esc"),
		}, move...)
	}
	if m.takesText() {
		return append([]kit.Key{kit.NewKey("change", "enter"), kit.NewKey("back", "esc")}, withoutText(move)...)
	}
	return append([]kit.Key{
		kit.NewKey("change", "enter"), kit.NewKey("doctor", "d").OffWhen(m.deps.Doctor == nil,
			m.noDoctor()).Explain("check your setup"), kit.NewKey("back", "esc"),
	}, move...)
}
