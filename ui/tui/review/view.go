package review

import (
	"strings"
	"time"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
)

const (
	indent = 1
	labelW = 10
	movesW = 9
	costW  = 15
	roomyW = 14
)

// View draws the screen. Drawn lines count as seen.
func (s *Screen) View(f screen.Frame) string {
	if s.unlock.open {
		return s.unlockView(f, s.body(f))
	}
	return s.body(f)
}

func (s *Screen) body(f screen.Frame) string {
	s.width = f.W
	if s.unlock.then != nil && !s.reviewing() {
		return kit.Notice(f.Theme, theme.None, f.W, f.H, "Nothing has been requested yet.")
	}
	switch s.phase {
	case phaseEmpty:
		return kit.Notice(f.Theme, theme.None, f.W, f.H, "Nothing to review.",
			"Press 2 to build a call, or open a waiting one from Activity (3).")
	case phaseGone:
		return kit.Notice(f.Theme, theme.None, f.W, f.H, "This operation is under way.",
			"Activity follows it: press enter.")
	case phasePrepare, phaseQuote:
		return s.waitView(f)
	case phaseExecute:
		return s.executeView(f)
	case phaseProblem:
		return s.problemView(f)
	case phaseRefused:
		return s.page0(f, s.refusedLines(f))
	}
	return s.page0(f, nil)
}

// page0 draws title, text and foot of a review, a refusal, or one of the pages behind them.
func (s *Screen) page0(f screen.Frame, lines []string) string {
	title, right := s.title(f)
	text, need := &s.text[s.page], len(lines)
	if s.page == pageMain && s.drawn != s.shownID() {
		s.drawn, s.unfolded = s.shownID(), map[string]bool{}
		*text, s.side, s.focus = kit.Scroll{}, kit.Scroll{}, 0
	}
	switch {
	case s.page == pageChecks:
		title, right, lines = "Checks", "", s.lines(f, present.Checks(s.report()).Hide(s.atStake()))
		need = len(lines)
	case s.page == pageInspect:
		title, right, lines = "Bytes and hashes", "", s.lines(f, present.Inspect(s.about()).Hide(s.atStake()))
		need = len(lines)
	case s.reviewing():
		if body, ok := s.twoPanes(f); ok {
			return kit.Lines(s.head(f, title, right), body, s.foot(f))
		}
		lines, need = s.mainLines(f, f.W, f.H-2, false)
	}
	text.Resize(f.H - 2)
	text.KeepFirst(lines, need)
	s.revealed(text)
	return kit.Lines(s.head(f, title, right), text.View(f.W), s.foot(f))
}

// head is the first line.
func (s *Screen) head(f screen.Frame, title, right string) string {
	return kit.Sides(" "+f.Theme.Strong.Render(title), right+" ", f.W)
}

// shownID identifies the main text: lines seen of one review do not count for another.
func (s *Screen) shownID() string {
	switch s.phase {
	case phaseReview1:
		return "1 " + s.snap.Review1.Fingerprint
	case phaseReview2:
		return "2 " + s.snap.Review2.Fingerprint
	}
	return "refused " + s.snap.ID
}

func (s *Screen) title(f screen.Frame) (string, string) {
	th := f.Theme
	until := s.deadline()
	count := func(before string) string {
		if until.IsZero() {
			return th.Unknown.Render("time left unknown " + th.Sign(theme.Unknown))
		}
		m := kit.CountdownMeaning(f.Now, until)
		if m == theme.None {
			return th.Dim.Render(before) + kit.Countdown(f.Now, until)
		}
		return th.Style(m).Render(before+kit.Countdown(f.Now, until)+" ") + th.Mark(m)
	}
	switch {
	case s.phase == phaseRefused:
		return "Refused", th.Danger.Render("nothing can be signed ") + th.Mark(theme.Danger)
	case s.deps.NoSigner != "": // what runs out here decides nothing
		return s.about().Title(), th.Dim.Render("nothing can be signed here")
	case s.phase == phaseReview2:
		title := s.about().Title()
		if s.expired(f.Now) {
			return title, th.Danger.Render("quote expired ") + th.Mark(theme.Danger)
		}
		if at := s.renews(f.Now); !at.IsZero() {
			return title, th.Dim.Render("quote renews in ") + kit.Countdown(f.Now, at)
		}
		return title, count("quote expires in ")
	}
	if s.expired(f.Now) {
		return s.about().Title(), th.Danger.Render("closed ") + th.Mark(theme.Danger)
	}
	return s.about().Title(), count("closes in ")
}

// foot is the last line: how much is left to read, or how to confirm.
func (s *Screen) foot(f screen.Frame) string {
	th := f.Theme
	if s.page == pageMain && s.reviewing() && s.expired(f.Now) {
		return kit.Fit(" "+th.Mark(theme.Warn)+" "+th.Warn.Render(s.obstacle(f.Now)), f.W)
	}
	read := s.page == pageMain && s.reviewing() && s.text[pageMain].SeenAll() // the rest are folds
	if more := s.text[s.page].More(th); more != "" && !read {
		line := " " + th.Accent.Render(more) + th.Dim.Render("  (space)")
		if s.page == pageMain && s.reviewing() {
			line += "  " + th.Dim.Render(s.how(f.W-present.Width(line)-2))
		}
		return kit.Fit(line, f.W)
	}
	if s.page != pageMain {
		return kit.Fit(" "+th.Dim.Render("esc goes back to the review"), f.W)
	}
	if s.phase == phaseRefused {
		return ""
	}
	if n := s.text[pageMain].Unseen(); n > 0 && s.faithful() { // pressing a key shows the whole sentence
		return kit.Fit(" "+th.Accent.Render(th.Signs.Up+" "+present.Plural(n, "line", "lines")+" above not read yet")+
			th.Dim.Render("  (space)"), f.W)
	}
	if why := s.obstacle(f.Now); why != "" {
		return kit.Fit(" "+th.Mark(theme.Warn)+" "+th.Warn.Render(why), f.W)
	}
	switch k := s.atStake(); s.wants() {
	case wantPhrase:
		return s.phraseFoot(f)
	case wantLetters:
		return s.lettersFoot(f, k)
	case wantAmount:
		return s.typedFoot(f, k)
	}
	return kit.Fit(" "+th.Accent.Render("y")+" "+s.verb(), f.W)
}

// how says how the review is confirmed once it was read, in at most w cells; "" when it cannot be.
func (s *Screen) how(w int) string {
	then := ""
	switch k := s.atStake(); s.wants() {
	case wantPhrase:
		then = "then the sentence"
	case wantLetters:
		then = "then characters of the address"
	case wantAmount:
		then = "then " + k.Least
	default:
		then = "then y"
	}
	if !s.reviewing() || !s.faithful() || s.deps.NoSigner != "" || present.Width(then) > w {
		return ""
	}
	if all := then + ", to " + s.verb(); present.Width(all) <= w {
		return all
	}
	return then
}

// phraseFoot is the field for the sentence of an open gate; the text above shows the sentence itself.
func (s *Screen) phraseFoot(f screen.Frame) string {
	th := f.Theme
	if !s.writing() {
		return kit.Fit(" "+th.Accent.Render(th.Signs.Enter)+" type the sentence above to "+s.verb(), f.W)
	}
	return s.typedLine(f, " the sentence: ")
}

// typedLine is the field behind what belongs there, or behind the word that it is wrong.
func (s *Screen) typedLine(f screen.Frame, lead string) string {
	if th := f.Theme; s.typed.Error != "" {
		lead = " " + th.Mark(theme.Warn) + th.Warn.Render(" not the same: ")
	}
	return kit.Fit(lead+s.typed.Text(f.Theme, max(1, f.W-present.Width(lead)-1)), f.W)
}

// lettersFoot is the field for characters of an address; the text above shows the address without them.
func (s *Screen) lettersFoot(f screen.Frame, k consent.Demand) string {
	th, lead, room := f.Theme, " type "+present.Typed(k), f.W-consent.Letters-4
	if present.Width(lead) > room {
		lead, _, _ = strings.Cut(lead, ",")
	}
	if !s.writing() {
		return kit.Fit(" "+th.Accent.Render(th.Signs.Enter)+lead, f.W)
	}
	return s.typedLine(f, lead+": ")
}

// typedFoot is the field for the amount. The text above shows a very long amount; the field stays visible.
func (s *Screen) typedFoot(f screen.Frame, k consent.Demand) string {
	want := k.Least
	lead := " type the amount above and press enter: "
	for _, l := range []string{" type " + want + " and press enter to " + s.verb() + ": ",
		" type " + want + " and press enter: "} {
		if present.Width(l)+max(8, present.Width(want))+2 <= f.W {
			lead = l
			break
		}
	}
	return s.typedLine(f, lead)
}

// verb says what confirming does.
func (s *Screen) verb() string { return s.about().Verb() }

// waitView says what the screen waits for, and since when.
func (s *Screen) waitView(f screen.Frame) string {
	what, more := "Asking the service to prepare the operation.", "Nothing is signed. esc leaves."
	switch {
	case s.running():
		what, more = "Signing and running it.", "You can leave: it continues, and Activity shows the result."
	case s.phase == phaseQuote:
		what = "Asking for a quote."
		if s.signed {
			more = "The first signature was given; no payment is signed. " + s.about().FirstLives() +
				", even if you leave."
			if s.before() {
				more = s.stillLive()
			}
		}
		switch {
		case s.snap.Review2 == nil:
		case s.exchange():
			what = "Asking for a new quote."
		default:
			what = "Asking for a new quote for the same signed operation."
		}
		if s.exchange() && s.signed {
			more = s.stillLive()
		}
	}
	age := kit.Age(f.Now, s.since)
	return kit.Notice(f.Theme, theme.None, f.W, f.H, what, more,
		"since "+s.since.In(f.Now.Location()).Format("15:04:05")+" ("+age+")")
}

func clockText(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.In(zone).Format("15:04:05")
}

// event finds an event; index 0 is any.
func (s *Screen) event(kind string, index int) (time.Time, bool) {
	for _, e := range s.events {
		if e.Kind == kind && (index == 0 || e.Index == index) {
			return e.At, true
		}
	}
	return time.Time{}, false
}

// sides puts a mark at the right end of the last of some lines, or on its own line when there is no room.
func sides(lines []string, right string, w int) []string {
	last := lines[len(lines)-1]
	if present.Width(last)+present.Width(right)+1 > w {
		return append(lines, strings.Repeat(" ", max(0, w-present.Width(right)))+right)
	}
	lines[len(lines)-1] = kit.Sides(last, right, w)
	return lines
}
