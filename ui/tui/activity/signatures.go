package activity

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// signature is the selected live signature.
func (s *Screen) signature() (Outstanding, bool) {
	if s.sig < 0 || s.sig >= len(s.live) {
		return Outstanding{}, false
	}
	return s.live[s.sig], true
}

// sigKeys lists the keys of the list of live signatures, and those of the form over it.
func (s *Screen) sigKeys() []kit.Key {
	if s.void.open {
		return []kit.Key{
			kit.NewKey("void it", "enter").OffWhen(s.void.busy, "it is being written").WithCare(),
			kit.NewKey("keep it", "esc"),
			{Press: []string{"pgdown", "pgup", "up", "down"}, Show: "pgdn", Label: "scroll", Quiet: true},
		}
	}
	why := s.cannotVoid()
	none := len(s.live) == 0
	return []kit.Key{
		kit.NewKey("back to operations", "esc", "o"),
		kit.NewKey("choose", "up", "down").OffWhen(none, "no signature is outstanding"),
		kit.NewKey("void", "v").Explain("declare a signature dead that no time ends").OffWhen(why != "", why),
		kit.NewKey("copy hash", "c").OffWhen(none, "no signature is outstanding"),
		kit.NewKey("choose, as the arrows do", "k", "j").Hidden(),
		{Press: []string{"pgdown", "space", "pgup", "g", "G", "home", "end"}, Show: "space", Label: "scroll",
			Quiet: true},
	}
}

// pressSigs handles a key on the list of live signatures.
func (s *Screen) pressSigs(key string) tea.Cmd {
	o, ok := s.signature()
	switch key {
	case "esc", "o":
		s.sigs = false
	case "up", "k":
		s.sig = max(0, s.sig-1)
	case "down", "j":
		s.sig = max(0, min(len(s.live)-1, s.sig+1))
	case "v":
		return s.askVoid()
	case "c":
		if ok {
			return screen.Copy("hash of the signed operation", o.Hash)
		}
	default:
		s.sigList.Press(key)
	}
	return nil
}

// sigView lists the live signatures: what each allows, until when, and how to make it void.
func (s *Screen) sigView(f screen.Frame) string {
	th := f.Theme
	if s.void.open {
		return s.voidView(f)
	}
	if len(s.live) == 0 {
		return kit.Notice(th, theme.Good, f.W, f.H, "No signature is outstanding.",
			"Nothing that you signed can still be used.")
	}
	s.sig = max(0, min(s.sig, len(s.live)-1))
	lines := kit.Prose(f.W-1, 1, kit.Plain("These signatures were given and can still be used by whoever has them. "+
		"What ends each of them stands below it."))
	s.sigAt = s.sigAt[:0]
	for i, o := range s.live {
		lines = append(lines, "")
		s.sigAt = append(s.sigAt, len(lines))
		lines = append(lines, s.sigLines(f, o, i == s.sig)...)
	}
	s.sigList.Resize(f.H - 2)
	s.sigList.Keep(lines)
	s.showSig(len(lines), f.H-2)
	return kit.Lines(th.Strong.Render(" Outstanding signatures"), s.sigList.View(f.W),
		" "+th.Dim.Render(s.sigList.More(th)))
}

// showSig scrolls to the selected signature when the selection changes.
func (s *Screen) showSig(lines, h int) {
	if s.sigShown == s.sig {
		return
	}
	s.sigShown = s.sig
	from, to := s.sigAt[s.sig], lines
	if s.sig+1 < len(s.sigAt) {
		to = s.sigAt[s.sig+1]
	}
	switch top := s.sigList.Top(); {
	case s.sig == 0:
		s.sigList.Press("home")
	case from < top || to-from > h:
		s.sigList.Move(from - top)
	case to > top+h:
		s.sigList.Move(to - top - h)
	}
}

// clickSig selects the signature on a line of the page.
func (s *Screen) clickSig(y int) {
	at := y - 1 + s.sigList.Top()
	for i, from := range s.sigAt {
		if y > 0 && from <= at {
			s.sig, s.sigShown = i, i
		}
	}
}

// sigName says what a signature is for.
func sigName(role string) string {
	switch role {
	case verify.RolePrepared:
		return "the call itself, on "
	case verify.RoleFunding:
		return "a payment on "
	case verify.RoleSwap:
		return "the payment of a swap, on "
	case verify.RoleTransfer:
		return "the payment of a transfer, on "
	case journal.RoleDelegation:
		return "a delegation of your EOA on "
	}
	return "a signature of an unknown kind on "
}

func (s *Screen) sigLines(f screen.Frame, o Outstanding, selected bool) []string {
	th, w := f.Theme, f.W-1
	where := present.ChainName(s.ctx.Catalog, o.Summary.Chain)
	until := "no end of its own"
	switch {
	case !o.Until.IsZero() && !f.Now.Before(o.Until):
		until = "over; counted until " + clock(o.Ends.In(f.Now.Location())) + ", as clocks differ"
	case !o.Until.IsZero():
		until = "until " + clock(o.Until.In(f.Now.Location())) + ", in " + kit.Countdown(f.Now, o.Until)
	}
	mark, lead := th.Mark(theme.Warn), " "
	if !o.Voided.IsZero() {
		mark, until = th.Dim.Render(th.Signs.Dot), "voided by you"
	}
	if selected {
		lead = th.Accent.Render(th.Signs.Cursor)
	}
	out := []string{kit.Sides(lead+mark+" "+th.Strong.Render(sigName(o.Summary.Role)+where), until+" ", f.W)}
	row := func(label string, spans ...kit.Span) { out = append(out, kit.Row(th, w, 3, 10, label, spans...)...) }
	account := []kit.Span{{Text: present.Address(o.Summary.Sender), Whole: true}}
	if o.Summary.Kind != "" {
		account = append(account, kit.Plain("  "), kit.Span{Text: present.AccountType(o.Summary.Kind), Style: th.Dim,
			Whole: true})
	}
	row("account", account...)
	if it := s.find(o.Operation); it != nil {
		row("for", kit.Plain(what(s.ctx.Catalog, it.snap)))
	}
	if o.Code != "" {
		row("the code", kit.Span{Text: present.Address(o.Code), Whole: true})
	}
	row("allows", s.allows(th, o)...)
	switch {
	case o.Summary.BlockHash != "":
		row("block hash", kit.Span{Text: present.Address(o.Summary.BlockHash), Style: th.Dim, Whole: true})
	default:
		row("nonce", kit.Span{Text: present.Clean(o.Summary.Nonce, 80), Style: th.Dim})
	}
	void := present.Clean(o.Void, 600)
	if void == "" {
		void = "Not known: take it to be usable for ever."
	}
	if n := o.Summary.Nonce; n != "" {
		void = strings.ReplaceAll(void, "uses nonce "+n+" ", "uses this nonce ")
	}
	row("ends", kit.Plain(strings.ReplaceAll(void, o.Summary.Chain, where)))
	return out
}

// allows says what a signature permits.
func (s *Screen) allows(th theme.Theme, o Outstanding) []kit.Span {
	switch {
	case o.Summary.Role == journal.RoleDelegation:
		return []kit.Span{kit.Plain("the code to control everything in this EOA there, until you change it")}
	case len(o.Summary.Spend) == 0:
		return []kit.Span{kit.Plain("nothing of a known value; the reviewed calls can run")}
	}
	var out []kit.Span
	for i, a := range o.Summary.Spend {
		if i > 0 {
			out = append(out, kit.Plain(", "))
		}
		out = append(out, s.amount(th, a)...)
	}
	return out
}
