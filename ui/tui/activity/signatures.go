package activity

import (
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// sigView lists the live signatures: what each allows, until when, and how to make it void.
func (s *Screen) sigView(f screen.Frame) string {
	th := f.Theme
	if len(s.live) == 0 {
		return kit.Notice(th, theme.Good, f.W, f.H, "No signature is outstanding.", "Nothing that you signed can still be used.")
	}
	lines := kit.Prose(f.W-1, 1, kit.Plain("These signatures were given and can still be used by the service. A signature ends with its window, or as soon as another call of the same account runs on the same chain."))
	for _, o := range s.live {
		lines = append(lines, "")
		lines = append(lines, s.sigLines(f, o)...)
	}
	s.sigList.Resize(f.H - 2)
	s.sigList.Keep(lines)
	return kit.Lines(th.Strong.Render(" Outstanding signatures"), s.sigList.View(f.W), " "+th.Dim.Render(s.sigList.More(th)))
}

func (s *Screen) sigLines(f screen.Frame, o Outstanding) []string {
	th, w := f.Theme, f.W-1
	where := chainName(s.ctx.Catalog, o.Summary.Chain)
	name := "the call itself, on " + where
	if o.Summary.Role == verify.RoleFunding {
		name = "a payment on " + where
	}
	until := "unknown"
	if !o.Until.IsZero() {
		until = o.Until.In(f.Now.Location()).Format("15:04:05") + ", in " + kit.Countdown(f.Now, o.Until)
	}
	out := []string{kit.Sides(" "+th.Mark(theme.Warn)+" "+th.Strong.Render(name), "until "+until+" ", f.W)}
	out = append(out, kit.Row(th, w, 3, 10, "account", kit.Span{Text: kit.Address(o.Summary.Sender), Whole: true})...)
	if it := s.find(o.Operation); it != nil {
		out = append(out, kit.Row(th, w, 3, 10, "for", kit.Plain(what(s.ctx.Catalog, it.snap)))...)
	}
	allows := []kit.Span{kit.Plain("nothing of a known value; the reviewed calls can run")}
	if len(o.Summary.Spend) > 0 {
		allows = nil
		for i, a := range o.Summary.Spend {
			if i > 0 {
				allows = append(allows, kit.Plain(", "))
			}
			allows = append(allows, s.amount(th, a)...)
		}
	}
	out = append(out, kit.Row(th, w, 3, 10, "allows", allows...)...)
	out = append(out, kit.Row(th, w, 3, 10, "nonce", kit.Span{Text: kit.Clean(o.Summary.Nonce, 80), Style: th.Dim})...)
	void := "wait until its window ends, or run another call on " + where + " from this account: it uses up the same number"
	return append(out, kit.Row(th, w, 3, 10, "void it", kit.Plain(void))...)
}
