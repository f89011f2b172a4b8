package review

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// When a quote under review renews by itself: so long before it expires, and no more than so often and so long after
// the last key.
const (
	renewLead   = 4 * time.Second
	maxRenewals = 5
	maxIdle     = 5 * time.Minute
)

// renewal is what renewing the quote under review takes: the review for which the person began to type, or else the
// first that was shown.
type renewal struct {
	first consent.Review
	n     int       // renewals since the last key
	key   time.Time // when that was
	off   bool      // a renewal failed: the quote expires
}

// renewMsg reports that the quote with a fingerprint is to be renewed.
type renewMsg struct {
	gen int
	of  string
}

// renewedMsg is the outcome of a renewal of the quote with a fingerprint.
type renewedMsg struct {
	renewMsg
	snap flow.Snapshot
	err  error
}

// renews is when the quote on the screen renews by itself; zero: it does not.
func (s *Screen) renews(now time.Time) time.Time {
	r := &s.renewal
	if s.phase != phaseReview2 || r.off || r.n >= maxRenewals || now.Sub(r.key) >= maxIdle || s.expired(now) {
		return time.Time{}
	}
	return s.deadline().Add(-min(renewLead, s.deadline().Sub(s.snap.Quoted)/4))
}

// schedule waits until the quote on the screen is to be renewed.
func (s *Screen) schedule() tea.Cmd {
	now := s.ctx.Clock()
	at := s.renews(now)
	if at.IsZero() {
		return nil
	}
	return s.deps.After(max(0, at.Sub(now)), renewMsg{s.gen, s.fingerprint()})
}

// reviewed begins to watch over the review of a quote that was asked for.
func (s *Screen) reviewed() {
	s.renewal = renewal{first: s.review(), key: s.ctx.Clock()}
}

// renew asks for the next quote while this one stays. Leaving cancels it.
func (s *Screen) renew(m renewMsg) tea.Cmd {
	if m.gen != s.gen || m.of != s.fingerprint() || s.renews(s.ctx.Clock()).IsZero() {
		return nil
	}
	op, ctx := s.op, s.leavable()
	return func() tea.Msg {
		snap, err := op.Renew(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return renewedMsg{m, snap, err}
	}
}

// renewed puts the new quote on the screen. What was typed and read carries over when nothing in it is worse than where
// the person began to type; else both begin again, and each figure that is worse is marked with the old one. The
// confirming key counts again after the pause of a new question.
func (s *Screen) renewed(m renewedMsg) tea.Cmd {
	if m.gen != s.gen || m.of != s.fingerprint() || s.phase != phaseReview2 {
		return nil
	}
	if m.err != nil {
		if s.renewal.off = true; errors.Is(m.err, flow.ErrMoved) {
			s.show(m.snap)
		}
		return nil
	}
	n, key := s.renewal.n+1, s.renewal.key
	first := s.renewal.first
	worse := consent.Carries(s.ctx.Catalog, s.person(), first, m.snap.Under(true))
	s.note(m.snap)
	if len(worse) > 0 {
		open := s.unlock.open
		s.show(m.snap)
		s.previous, s.renewal.n, s.renewal.key = first.Quote, n, key
		if open {
			s.ask()
		}
		return tea.Batch(s.schedule(), screen.Toast(theme.Warn, "new quote: "+worse[0].What+
			" changed; read it and type again"))
	}
	s.snap, s.previous, s.renewal.n = m.snap, first.Quote, n
	s.drawn = s.shownID()
	s.guard.Open(s.ctx.Clock())
	return s.schedule()
}

// overtaken goes back to the review when its quote was renewed at the moment of the confirmation: nothing was signed.
func (s *Screen) overtaken(m steppedMsg) (tea.Cmd, bool) {
	if m.step != stepExecute || m.snap.State != flow.StateReview2 ||
		!errors.Is(m.err, flow.ErrConfirmation) && !errors.Is(m.err, flow.ErrBusy) {
		return nil, false
	}
	s.show(m.op.Snapshot())
	return tea.Batch(track(m.op), s.schedule(),
		screen.Toast(theme.Warn, "the quote was renewed at that moment; nothing was signed: confirm the new one")), true
}
