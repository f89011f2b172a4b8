package balances

import (
	"strings"

	"coffer/api/network"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	th := f.Theme
	if want := (titles{view: m.view, order: m.order, up: th.Signs.Up, down: th.Signs.Down,
		wide: m.fitted(m.panesFor(f.W)[0])}); want != m.titled {
		m.retitle(want)
	}
	m.resize(f.W, f.H)
	if m.allowed.open {
		return kit.Box(m.allowancesView(f), f.W, f.H)
	}
	if m.receive.open {
		return kit.Box(m.receiveView(f), f.W, f.H)
	}
	var body string
	switch {
	case m.data == nil && m.err != nil:
		body = m.failedView(f)
	case m.data == nil:
		body = kit.Notice(th, theme.None, f.W, f.H, "Reading balances for the first time.",
			"Asking "+m.serviceName()+" since "+m.since.Format("15:04:05")+".")
	default:
		body = m.home(f)
	}
	if m.inspect {
		body = m.inspectView(f, body)
	}
	return kit.Box(body, f.W, f.H)
}

func (m *Model) serviceName() string {
	if m.ctx.Network.Kind == network.Embedded {
		return "the service inside this program"
	}
	return present.Clean(m.ctx.BaseURL, 120)
}

func (m *Model) failedView(f screen.Frame) string {
	again := "Tries again at " + m.retryAt.Format("15:04:05") + ", or press ctrl+r."
	if m.loading {
		again = "Trying again now."
	}
	return kit.Notice(f.Theme, theme.Warn, f.W, f.H, "Balances could not be read: "+present.ErrorText(m.err)+".", again,
		"Nothing was changed. Accounts and unfinished operations stay available.")
}

func (m *Model) emptyWords() []string {
	if m.filter.Value() != "" {
		return []string{"Nothing matches the filter.", "Press / to change it or esc to clear it."}
	}
	return []string{"This account holds nothing yet.", "Press r for the address to send to."}
}

// head is the pane of the lines without its body: it counts the lines, and shows the state of the data on the right.
func (m *Model) head(f screen.Frame, w int) kit.Pane {
	th := f.Theme
	p := kit.Pane{W: w, Title: "Balances " + m.view.words()}
	switch {
	case m.last:
		p.Note = th.Say(theme.Warn, "last known, "+kit.Age(f.Now, m.at))
	case len(m.rows) > 0:
		words := m.counted()
		if m.order != (order{}) {
			words += ", " + m.order.words(m.view)
		}
		p.Note = th.Dim.Render(" " + words)
	}
	if n := m.marked(); n > 0 {
		p.Note += "  " + th.Say(theme.Warn, present.Plural(n, "finding", "findings"))
	}
	var state []string
	switch {
	case m.hidden:
		state = append(state, th.Dim.Render("amounts hidden"))
	case m.scrambled:
		state = append(state, th.BadgeReal.Render(" "+th.Signs.Warn+" SCRAMBLED, not real "))
	}
	if filter := m.filter.Filter(th, min(24, w/3), 24); filter != "" {
		state = append(state, filter)
	}
	p.State = strings.Join(state, "  ")
	return p
}

// noteLine is the last line: what is wrong with the data, else a finding at the selected line, else one about the
// answer.
func (m *Model) noteLine(f screen.Frame) string {
	th := f.Theme
	note := func(mean theme.Meaning, text string) string {
		return "  " + th.Say(mean, text)
	}
	r, _ := m.current()
	reasons := r.found()
	switch {
	case m.err != nil:
		next := "tries again at " + m.retryAt.Format("15:04:05")
		if m.loading {
			next = "trying again now"
		}
		return kit.Sides(note(theme.Warn, "read "+kit.Age(f.Now, m.at)+": "+present.ErrorText(m.err)),
			th.Dim.Render(next+" "), f.W)
	case len(reasons) > 0:
		return kit.Sides(note(meaning(reasons[0].Level), m.finding(reasons[0])),
			th.Dim.Render(others(len(reasons))+" "), f.W)
	case m.data.Differs() && !m.hidden:
		return note(theme.Warn, m.data.Doubt())
	case len(m.data.Reasons) > 0:
		return note(meaning(m.data.Reasons[0].Level), m.finding(m.data.Reasons[0]))
	}
	return ""
}

func others(n int) string {
	if n > 1 {
		return present.Plural(n-1, "more: i", "more: i")
	}
	return "i says more"
}

// finding is a reason on one line. The compared values may hold amounts, so they are left out while amounts are hidden
// or made up.
func (m *Model) finding(x verify.Reason) string {
	if m.hidden || m.scrambled || x.Got == "" && x.Want == "" {
		return x.Title
	}
	return x.Title + " " + compared(x)
}
