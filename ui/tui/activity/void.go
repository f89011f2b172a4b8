package activity

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
)

// voidForm declares a signature dead that no time ends. The text above the field explains what that means; the person
// types the end of the account's address by hand.
type voidForm struct {
	open, busy bool
	read       bool // the whole text was on the screen
	of         present.Signature
	field      *kit.Field
	text       kit.Scroll
	guard      kit.Guard
	wrong      string
}

// voidedMsg is the outcome of voiding a signature.
type voidedMsg struct {
	hash string
	err  error
}

// cannotVoid says why the selected signature cannot be voided; "" when it can.
func (s *Screen) cannotVoid() string {
	o, ok := s.signature()
	switch {
	case s.deps.Void == nil:
		return "this program keeps no journal of signatures"
	case !ok:
		return "no signature is outstanding"
	case !o.Voided.IsZero():
		return "it is voided already"
	case !o.Voidable:
		return "only a signature that never expires can be voided: see below how this one ends"
	}
	return ""
}

// askVoid opens the form for the selected signature.
func (s *Screen) askVoid() tea.Cmd {
	if why := s.cannotVoid(); why != "" {
		return screen.Toast(theme.Warn, why)
	}
	o, _ := s.signature()
	s.void = voidForm{open: true, of: o, field: kit.NewField("", 60)}
	s.void.field.Focus()
	s.void.guard.Open(s.ctx.Clock())
	return nil
}

// pressVoid handles a key of the form. Only a fresh enter, pressed after the whole text was on the screen, voids the
// signature.
func (s *Screen) pressVoid(m tea.KeyPressMsg) tea.Cmd {
	v := &s.void
	switch key := m.String(); {
	case key == "esc":
		s.void = voidForm{}
	case v.busy:
	case key == "pgdown" || key == "pgup" || key == "up" || key == "down":
		v.text.Press(key)
	case key == "enter":
		return s.confirmVoid(m)
	case v.guard.Allow(s.ctx.Clock()):
		if v.field.Update(m) {
			v.wrong = ""
		}
	}
	return nil
}

func (s *Screen) confirmVoid(m tea.KeyPressMsg) tea.Cmd {
	v := &s.void
	switch {
	case !v.guard.Allow(s.ctx.Clock()) || m.IsRepeat:
		return nil
	case !v.read:
		return screen.Toast(theme.Warn, "read to the end first (page down)")
	case v.field.Value() == "":
		return screen.Toast(theme.Warn, "type the last four characters of the account's address, then enter")
	}
	v.busy = true
	void, hash, typed := s.deps.Void, v.of.Hash, v.field.Value()
	return func() tea.Msg { return voidedMsg{hash, void(hash, typed)} }
}

// voided takes the outcome.
func (s *Screen) voided(m voidedMsg) tea.Cmd {
	if m.err == nil {
		if s.void.open && s.void.of.Hash == m.hash {
			s.void = voidForm{}
		}
		return tea.Batch(s.readLive(), screen.Toast(theme.Good,
			"void: it blocks nothing any more; anyone who has it can still use it"))
	}
	words := voidWords(m.err)
	if !s.void.open || s.void.of.Hash != m.hash {
		return screen.Toast(theme.Warn, words)
	}
	s.void.busy, s.void.wrong = false, words
	s.void.guard.Open(s.ctx.Clock())
	return nil
}

// voidWords says why a signature was not voided.
func voidWords(err error) string {
	switch {
	case errors.Is(err, flow.ErrVoidTyped):
		return "That is not the end of the account's address. Nothing was voided."
	case errors.Is(err, flow.ErrVoidUnknown):
		return "It is not open any more: it was used, it ended, or it was voided before."
	}
	return "It could not be voided: " + present.Clean(err.Error(), 300)
}

// voidView draws the form.
func (s *Screen) voidView(f screen.Frame) string {
	th, w, v := f.Theme, f.W-1, &s.void
	where := present.ChainName(s.ctx.Catalog, v.of.Summary.Chain)
	lines := s.sigLines(f, v.of, false, true)
	lines = append(lines, "", " "+th.Strong.Render("What voiding means"))
	for _, x := range []struct {
		m    theme.Meaning
		text string
	}{
		{theme.None,
			"Coffer now treats this signature as void: it no longer blocks a new one of this account."},
		{theme.Warn,
			"It takes nothing back. Anyone who has the signature can still use it until this nonce is used on " +
				where + "."},
		{theme.None, "It stays on the list as voided, and what it can spend still counts for its day."},
		{theme.None, "Do it only when you know that the nonce was used elsewhere, or that no one has the signature."},
	} {
		lines = append(lines, kit.Row(th, w, 1, 3, th.Sign(x.m), th.Style(x.m).Span(x.text))...)
	}
	lines = append(lines, kit.Prose(w, 1, kit.Span{
		Text:  "To void it, type the last four characters of the account's address by hand and press enter.",
		Style: th.Strong})...)
	if v.wrong != "" {
		lines = append(lines, kit.Prose(w, 1, th.Danger.Span(th.Sign(theme.Danger)+" "+v.wrong))...)
	}
	v.text.Resize(f.H - 3)
	v.text.Keep(lines)
	v.read = v.read || v.text.SeenAll()
	label := " last four characters: "
	foot := label + v.field.Text(th, max(1, min(12, f.W-present.Width(label))))
	if v.busy {
		foot = " " + th.Dim.Render("writing it to the journal")
	}
	return kit.Lines(th.Strong.Render(" Void a signature"), v.text.View(f.W),
		" "+th.Dim.Render(v.text.MoreBy(th, "pgdn")), foot)
}
