package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

const (
	// largestCopy is the largest copy in bytes that terminals accept: a sequence of 100 000 bytes, in base64.
	largestCopy = 74_994
	// screenChunk is the longest string that GNU Screen passes through.
	screenChunk = 768
)

// copyText puts text on the clipboard of the person's terminal, which over SSH is not the one of this machine (OSC 52).
// It says where the text went, or why it did not go; whether the terminal accepted it cannot be known.
func (m *Model) copyText(msg screen.CopyMsg) tea.Cmd {
	if len(msg.Text) > largestCopy {
		m.warn("not copied: " + msg.What + " has " +
			present.Plural(len(msg.Text), "byte", "bytes") +
			", and terminals take 74,994 at most")
		return nil
	}
	if !m.opt.UI.Copies() { // TH-R2
		m.warn("not copied: copies are turned off (settings, copies)")
		return nil
	}
	if why := m.opt.noClipboard(); why != "" {
		m.warn("not copied: " + why)
		return nil
	}
	text := "sent to the terminal's clipboard: " + msg.What + " " + present.ShortID(msg.Text)
	if m.opt.Env.Get("TMUX") != "" && !m.toldTmux {
		m.toldTmux = true
		text += " (tmux hands it on with set-clipboard on)"
	}
	m.show(screen.ToastMsg{Meaning: theme.Good, Text: text})
	if m.opt.inScreen() {
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(msg.Text), screenChunk))
	}
	return tea.SetClipboard(msg.Text)
}

// noClipboard names the terminals that are known to offer programs no clipboard.
func (o Options) noClipboard() string {
	switch {
	case o.Env.Get("TERM") == "linux":
		return "the console has no clipboard"
	case Dumb(o.Env):
		return "this terminal has no clipboard"
	case o.Env.Get("TERM_PROGRAM") == "Apple_Terminal":
		return "this terminal takes no copies from programs: select the text with the mouse (M first)"
	}
	return ""
}
