package activity

import (
	"strings"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// sigView lists the live signatures: what each allows, until when, and how to make it void.
func (s *Screen) sigView(f screen.Frame) string {
	th := f.Theme
	if len(s.live) == 0 {
		return kit.Notice(th, theme.Good, f.W, f.H, "No signature is outstanding.", "Nothing that you signed can still be used.")
	}
	lines := kit.Prose(f.W-1, 1, kit.Plain("These signatures were given and can still be used by whoever has them. What ends each of them stands below it."))
	for _, o := range s.live {
		lines = append(lines, "")
		lines = append(lines, s.sigLines(f, o)...)
	}
	s.sigList.Resize(f.H - 2)
	s.sigList.Keep(lines)
	return kit.Lines(th.Strong.Render(" Outstanding signatures"), s.sigList.View(f.W), " "+th.Dim.Render(s.sigList.More(th)))
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

func (s *Screen) sigLines(f screen.Frame, o Outstanding) []string {
	th, w := f.Theme, f.W-1
	where := screen.ChainName(s.ctx.Catalog, o.Summary.Chain)
	until := "no end of its own"
	if !o.Until.IsZero() {
		until = "until " + o.Until.In(f.Now.Location()).Format("15:04:05") + ", in " + kit.Countdown(f.Now, o.Until)
	}
	out := []string{kit.Sides(" "+th.Mark(theme.Warn)+" "+th.Strong.Render(sigName(o.Summary.Role)+where), until+" ", f.W)}
	row := func(label string, spans ...kit.Span) { out = append(out, kit.Row(th, w, 3, 10, label, spans...)...) }
	account := []kit.Span{{Text: kit.Address(o.Summary.Sender), Whole: true}}
	if o.Summary.Kind != "" {
		account = append(account, kit.Plain("  "), kit.Span{Text: screen.AccountWords(o.Summary.Kind), Style: th.Dim, Whole: true})
	}
	row("account", account...)
	if it := s.find(o.Operation); it != nil {
		row("for", kit.Plain(what(s.ctx.Catalog, it.snap)))
	}
	if o.Code != "" {
		row("the code", kit.Span{Text: kit.Address(o.Code), Whole: true})
	}
	row("allows", s.allows(th, o)...)
	switch {
	case o.Summary.BlockHash != "":
		row("block hash", kit.Span{Text: kit.Address(o.Summary.BlockHash), Style: th.Dim, Whole: true})
	default:
		row("nonce", kit.Span{Text: kit.Clean(o.Summary.Nonce, 80), Style: th.Dim})
	}
	void := kit.Clean(o.Void, 600)
	if void == "" {
		void = "Not known: take it to be usable for ever."
	}
	if n := o.Summary.Nonce; n != "" {
		void = strings.ReplaceAll(void, "uses nonce "+n+" ", "uses this nonce ")
	}
	row("ends", kit.Plain(strings.ReplaceAll(void, o.Summary.Chain, where)))
	return out
}

// allows says what a signature lets somebody do.
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
