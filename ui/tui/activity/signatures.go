package activity

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// signature is the selected live signature.
func (s *Screen) signature() (present.Signature, bool) {
	if s.sig < 0 || s.sig >= len(s.live) {
		return present.Signature{}, false
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
		kit.NewKey("void", "v").Explain("void a signature that never expires").OffWhen(why != "", why),
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
	const none = "Nothing that you signed can still be used."
	if len(s.live)+len(s.closed) == 0 {
		return kit.Notice(th, theme.Good, f.W, f.H, "No signature is outstanding.", none)
	}
	s.sig = max(0, min(s.sig, len(s.live)-1))
	head := "Anyone who has these signatures can still use them. Below each is what ends it."
	if len(s.live) == 0 {
		head = none
	}
	lines := kit.Prose(f.W-1, 1, kit.Plain(head))
	s.sigAt = s.sigAt[:0]
	for i, o := range s.live {
		lines = append(lines, "")
		s.sigAt = append(s.sigAt, len(lines))
		lines = append(lines, s.sigLines(f, o, i == s.sig, true)...)
	}
	end := len(lines)
	lines = append(lines, s.closedLines(f)...)
	s.sigList.Resize(f.H - 2)
	s.sigList.Keep(lines)
	s.showSig(end, f.H-2)
	return kit.Lines(th.Strong.Render(" Outstanding signatures"), s.sigList.View(f.W),
		" "+th.Dim.Render(s.sigList.MoreBy(th, "pgdn")))
}

// closedLines list the signatures that own nodes closed.
func (s *Screen) closedLines(f screen.Frame) []string {
	if len(s.closed) == 0 {
		return nil
	}
	th := f.Theme
	out := append([]string{""}, kit.Prose(f.W-1, 1, kit.Plain(present.Cannot))...)
	for _, x := range s.closed {
		out = append(out, " "+th.Mark(theme.Good)+" "+x.Name(s.ctx.Catalog))
		out = append(out, kit.Prose(f.W-1, 3, th.Dim.Span(x.Seen))...)
	}
	return out
}

// showSig scrolls to the selected signature when the selection changes.
func (s *Screen) showSig(lines, h int) {
	if s.sigShown == s.sig || len(s.sigAt) == 0 {
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

// sigLines are everything about a live signature, with the time that is left if it counts down.
func (s *Screen) sigLines(f screen.Frame, o present.Signature, selected, counts bool) []string {
	th, w := f.Theme, f.W-1
	until := o.Lasts(f.Now, func(t time.Time) string { return clock(t.In(f.Now.Location())) },
		func(time.Duration) string { return kit.Countdown(f.Now, o.Until) })
	if !counts {
		until, _, _ = strings.Cut(until, ", in ")
	}
	mark, lead := th.Mark(theme.Warn), " "
	if !o.Voided.IsZero() {
		mark = th.Dim.Render(th.Signs.Dot)
	}
	if selected {
		lead = th.Accent.Render(th.Signs.Cursor)
	}
	name := lead + mark + " " + th.Strong.Render(o.Name(s.ctx.Catalog))
	out := []string{kit.Sides(name, until+" ", f.W)}
	if present.Width(name)+present.Width(until)+2 > f.W {
		out = append([]string{name}, kit.Prose(w, 3, kit.Plain(until))...)
	}
	what := ""
	if it := s.find(o.Operation); it != nil {
		what = present.Operation(s.ctx.Catalog, it.snap)
	}
	for _, r := range o.Rows(s.ctx.Catalog, what) {
		out = append(out, kit.Row(th, w, 3, 10, r.Label, s.rowSpans(th, r)...)...)
	}
	return out
}

// rowSpans draws a fact of a signature: an address on one line with its kind beside it, figures, or a text.
func (s *Screen) rowSpans(th theme.Theme, r present.Row) []kit.Span {
	var out []kit.Span
	quiet := th.Text
	if r.Quiet {
		quiet = th.Dim
	}
	switch {
	case r.Address != "":
		out = append(out, kit.Span{Text: present.Address(r.Address), Style: quiet, Whole: true})
		if r.Text != "" {
			out = append(out, kit.Plain("  "), kit.Span{Text: r.Text, Style: th.Dim, Whole: true})
		}
	case r.Text != "":
		out = append(out, quiet.Span(r.Text))
	}
	for i, a := range r.Amounts {
		if i > 0 {
			out = append(out, kit.Plain(", "))
		}
		out = append(out, s.amount(th, a)...)
	}
	return out
}
