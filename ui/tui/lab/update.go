package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

type (
	// keptMsg brings the saved results.
	keptMsg struct {
		all []entry
		err error
	}
	// heldMsg brings the balances of the accounts.
	heldMsg struct {
		gen  int
		held api.AggregatedBalance
		err  error
	}
	// askedMsg brings the answer to one variant.
	askedMsg struct {
		gen, i int
		key    string
		result Result
		err    error
	}
	// dueMsg says that the pause between two rounds is over.
	dueMsg struct{ gen int }
)

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
	case screen.OpenedMsg:
		return m.take(false)
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case keptMsg:
		return m.cached(msg)
	case heldMsg:
		if msg.gen == m.heldGen {
			m.holds(msg)
		}
	case askedMsg:
		if msg.gen == m.gen {
			return m.asked(msg)
		}
	case dueMsg:
		if msg.gen == m.gen {
			return m.due()
		}
	case screen.ClickMsg:
		if !m.compare && m.table.Click(msg.Y-2) {
			m.pane.Set(nil)
		}
	case tea.KeyPressMsg:
		return m.press(msg.String())
	}
	return nil
}

func (m *Model) cached(msg keptMsg) tea.Cmd {
	if msg.err != nil {
		return screen.Toast(theme.Warn, "the lab begins anew: "+present.Clean(msg.err.Error(), 160))
	}
	fresh := m.book
	m.book, m.series = nil, map[string][]Result{}
	for _, e := range append(msg.all, fresh...) {
		m.note(e)
	}
	return nil
}

// note adds a result.
func (m *Model) note(e entry) {
	m.book = tail(append(m.book, e))
	m.series[e.Key] = tail(append(m.series[e.Key], e.Result))
}

// tail is at most the last MaxKept items of a list. It copies them into a new array unless the present one has room for
// twice as many.
func tail[T any](s []T) []T {
	if len(s) <= MaxKept {
		return s
	}
	if s = s[len(s)-MaxKept:]; cap(s) < 2*MaxKept {
		return slices.Clone(s)
	}
	return s
}

func (m *Model) holds(msg heldMsg) {
	m.held, m.heldWhy = &msg.held, ""
	if msg.err != nil {
		m.held, m.heldWhy = nil, present.ErrorText(msg.err)
	}
	if m.asking < 0 && !m.watching {
		m.replan()
	}
}

// begin starts a round at the first variant that takes part.
func (m *Model) begin() tea.Cmd {
	m.gen++
	m.round, m.end = context.WithCancel(m.life)
	m.asking, m.why = -1, ""
	return m.next()
}

// next asks for the next variant of the round, or ends the round.
func (m *Model) next() tea.Cmd {
	for i := m.asking + 1; i < len(m.variants); i++ {
		if v := m.variants[i]; !v.off {
			m.asking = i
			gen, quote, ctx := m.gen, m.deps.Quote, m.round
			return func() tea.Msg {
				r, err := quote(ctx, v.in)
				return askedMsg{gen, i, v.key, r, err}
			}
		}
	}
	m.asking, m.last = -1, m.ctx.Clock()
	m.rounds++
	m.end()
	if !m.watching {
		return m.save()
	}
	if m.rounds >= MaxRounds {
		m.halt(fmt.Sprintf("watching ended after %d rounds", MaxRounds))
		return m.save()
	}
	gen := m.gen
	return tea.Batch(m.save(), tea.Tick(m.pause(), func(time.Time) tea.Msg { return dueMsg{gen} }))
}

// pause is the time between two rounds: the person's choice, but at least long enough to keep the requests at half of
// the client's limit.
func (m *Model) pause() time.Duration {
	return max(m.every, time.Duration(m.active())*400*time.Millisecond)
}

func (m *Model) asked(msg askedMsg) tea.Cmd {
	r := msg.result
	if r.At.IsZero() {
		r.At, r.CostBps = m.ctx.Clock(), -1
	}
	if msg.err != nil {
		r.Problem = present.ErrorText(msg.err)
	}
	m.note(entry{msg.key, r})
	var no *api.Error
	switch {
	case errors.As(msg.err, &no) && no.Name == api.ErrTooManyRequests:
		m.halt("stopped: the service asks for fewer requests")
		return m.save()
	case m.left():
		m.halt("watching ended because the screen was left")
		return m.save()
	}
	return m.next()
}

// left reports whether another screen is shown while this one watches: it was not drawn since the last answer.
func (m *Model) left() bool {
	was := m.drawn
	m.drawn = false
	return m.watching && !was
}

func (m *Model) due() tea.Cmd {
	if m.left() {
		m.halt("watching ended because the screen was left")
		return nil
	}
	return m.begin()
}

// halt stops what is in progress; the screen shows why.
func (m *Model) halt(why string) {
	m.gen++
	if m.end != nil {
		m.end()
	}
	m.asking, m.watching, m.why = -1, false, why
}

// save writes the last results.
func (m *Model) save() tea.Cmd {
	keep, all := m.ctx.Keep, slices.Clone(m.book)
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		b, err := encode(all)
		if err == nil {
			err = keep.Save(document, b)
		}
		if err != nil {
			return screen.ToastMsg{Meaning: theme.Warn, Text: "the lab's results were not kept: " +
				present.Clean(err.Error(), 160)}
		}
		return nil
	}
}

func (m *Model) press(key string) tea.Cmd {
	if m.compare {
		return m.pressCompare(key)
	}
	if m.table.Press(key) {
		m.pane.Set(nil)
		return nil
	}
	switch key {
	case "d":
		return m.take(true)
	case "i":
		return screen.Open(screen.Wire, nil)
	case "f", "l", "u":
		m.vary(key)
	case "r":
		return m.begin()
	case "s":
		m.halt("stopped")
		return m.save()
	case "w":
		m.watching, m.rounds, m.drawn = true, 0, true
		return m.begin()
	case "+", "=":
		m.wait(1)
	case "-":
		m.wait(-1)
	case "J":
		m.pane.Move(1)
	case "K":
		m.pane.Move(-1)
	case "c":
		m.compare = m.a.set && m.b.set
		m.pane.Set(nil)
	}
	return m.pressVariant(key)
}

// pressVariant handles the keys that act on the selected variant.
func (m *Model) pressVariant(key string) tea.Cmd {
	v := m.selected()
	if v == nil {
		return nil
	}
	switch key {
	case "space":
		v.off = !v.off
	case "a", "b":
		r, ok := m.latest(v.key)
		if !ok {
			return nil
		}
		p := pin{true, v.key, v.label(m.axes), r}
		if key == "a" {
			m.a = p
		} else {
			m.b = p
		}
	case "o":
		m.halt("")
		return screen.Open(screen.Review, review.StartArg{Intent: v.in})
	}
	return nil
}

func (m *Model) pressCompare(key string) tea.Cmd {
	switch {
	case m.pane.Press(key):
	case key == "esc", key == "c":
		m.compare = false
		m.pane.Set(nil)
		m.resize(m.w, m.h)
	case key == "x":
		m.a, m.b = m.b, m.a
	}
	return nil
}

// vary switches an axis.
func (m *Model) vary(key string) {
	switch key {
	case "f":
		m.axes.funding = !m.axes.funding
	case "l":
		m.axes.slippage = !m.axes.slippage
	case "u":
		m.axes.accounts = !m.axes.accounts
	}
	m.replan()
}

// wait chooses a longer or a shorter pause.
func (m *Model) wait(step int) {
	all := waits()
	m.every = all[max(0, min(len(all)-1, slices.Index(all, m.every)+step))]
}
