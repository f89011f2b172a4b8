package review

import (
	"strconv"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
)

// exchange reports a swap or a transfer: there is nothing to prepare, so the quote is its first review.
func (s *Screen) exchange() bool { return s.about().Exchange() }

// firstCount is the number of signatures that were made before the quote: those of review 1.
func (s *Screen) firstCount() int { return s.about().First() }

// note records what was signed of the operation on the screen.
func (s *Screen) note(x flow.Snapshot) {
	s.remember(x)
	s.signed = s.signed || s.given[x.ID]
}

// before reports whether more was signed than review 1 asks for: payments of an earlier quote, or a quote that was sent
// and not accepted.
func (s *Screen) before() bool { return s.paid[s.snap.ID] || s.snap.BodyHash != "" }

// stillLive says what was signed and can still be used, when a quote cannot be confirmed.
func (s *Screen) stillLive() string {
	return s.about().StillLive(s.paid[s.snap.ID], s.before())
}

// executeView ticks the signatures off as they are made and shows the progress of sending.
func (s *Screen) executeView(f screen.Frame) string {
	th := f.Theme
	lines := []string{" " + th.Strong.Render("Signing and sending"), ""}
	add := func(ok bool, text string) {
		m := th.Dim.Render(th.Signs.Dot)
		if ok {
			m = th.Mark(theme.Good)
		}
		lines = append(lines, "  "+m+" "+text)
	}
	names := present.SignatureNames(s.snap)
	for i, words := range names {
		_, ok := s.event(flow.EventSigned, i+1)
		add(ok || i < s.firstCount(), "signature "+strconv.Itoa(i+1)+" of "+
			strconv.Itoa(max(len(names), s.snap.SignaturesTotal))+": "+words)
	}
	for _, x := range []struct{ kind, words string }{
		{flow.EventJournaled, "written to the journal"}, {flow.EventSent, "sent to the service, once"},
		{flow.EventAccepted, "accepted by the service"},
	} {
		at, ok := s.event(x.kind, 0)
		words := x.words
		if ok {
			words += th.Dim.Render("  " + clockText(at, f.Now.Location()))
		}
		add(ok, words)
	}
	lines = append(lines, "", " "+th.Dim.Render("You can leave: it continues, and Activity shows the result."))
	return kit.Box(kit.Lines(lines...), f.W, f.H)
}

// remember records what was signed or sent of an operation: nothing that is asked for next takes it back.
func (s *Screen) remember(x flow.Snapshot) {
	something, payment := present.WasSigned(x)
	s.given[x.ID] = s.given[x.ID] || something
	s.paid[x.ID] = s.paid[x.ID] || payment
}
