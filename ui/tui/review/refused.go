package review

import (
	"cmp"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// report returns the findings on the last answer that was judged.
func (s *Screen) report() verify.Report {
	if s.snap.Report2.Refused() || s.phase == phaseReview2 {
		return s.snap.Report2
	}
	return s.snap.Report1
}

// problemView says what went wrong, what it means and what can be done.
func (s *Screen) problemView(f screen.Frame) string {
	th, w := f.Theme, f.W-1
	words, rest := present.Problem(s.snap, s.failed, s.retry == stepExecute && s.before())
	out := []string{kit.Sides(" "+th.Strong.Render(s.problemTitle()),
		th.Warn.Render("not done ")+th.Mark(theme.Warn)+" ", f.W), ""}
	say := func(in int, spans ...kit.Span) { out = append(out, kit.Prose(w, in, spans...)...) }
	say(indent, kit.Marked(th, theme.Warn, present.Clean(words, 2000))...)
	for _, x := range rest {
		say(indent+2, kit.Plain(present.Clean(x.String(), 600)))
	}
	out = append(out, "")
	say(indent, kit.Plain(cmp.Or(present.Help(s.failed, present.Hands{Change: "e changes",
		Fields: "e goes to the fields", Again: ": r", Wait: ", then r", Retry: "r tries again",
		Follow: "enter opens Activity"}), "r tries again.")))
	out = append(out, "")
	switch {
	case s.submitted(): // Activity and History show how it ended
	case s.signed:
		say(indent, kit.Plain(s.stillLive()))
	default:
		say(indent, kit.Plain("Nothing was signed."))
	}
	text := &s.text[pageMain]
	text.Resize(f.H - 1)
	text.Keep(out)
	return kit.Lines(text.View(f.W), " "+th.Dim.Render(text.More(th)))
}

func (s *Screen) problemTitle() string {
	switch s.retry {
	case stepSign, stepQuote:
		return "The quote"
	case stepExecute:
		return "Signing and sending"
	}
	return "The operation"
}
