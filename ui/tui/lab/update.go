package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
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
		result quotelab.Answer
		err    error
	}
	// pointMsg brings the answer to one point of a curve.
	pointMsg struct {
		gen, i int
		answer quotelab.Answer
		err    error
	}
	// exportedMsg says where an export is.
	exportedMsg struct {
		paths []string
		err   error
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
			return m.holds(msg)
		}
	case askedMsg:
		if msg.gen == m.gen {
			return m.asked(msg)
		}
	case pointMsg:
		if msg.gen == m.gen {
			return m.pointed(msg)
		}
	case exportedMsg:
		if msg.err != nil {
			return screen.Toast(theme.Danger, "nothing more was written: "+present.Clean(msg.err.Error(), 160))
		}
		return screen.Toast(theme.Good, "written: "+strings.Join(msg.paths, ", "))
	case dueMsg:
		if msg.gen == m.gen {
			return m.due()
		}
	case screen.ClickMsg:
		top := 2
		if len(m.widths()) > 1 {
			top++ // the titles of the panes
		}
		if pane, _ := kit.PaneAt(m.widths(), msg.X); !m.compare && !m.inspect && pane == 0 && m.table.Click(msg.Y-top) {
			m.pane.Set(nil)
		}
	case tea.PasteMsg:
		if !m.field.Focused() {
			return m.question(msg.Content)
		}
		m.field.Update(msg)
	case tea.KeyPressMsg:
		if m.field.Focused() {
			return m.typing(msg)
		}
		return m.press(msg.String())
	}
	return nil
}

// question reads a question; one with a mistake goes to the field to be repaired.
func (m *Model) question(text string) tea.Cmd {
	cmd, problem := m.read(text)
	m.field.Blur()
	m.field.Error = problem
	if problem != "" {
		m.field.Set(present.Clean(text, maxTyped))
		m.field.Focus()
	}
	return cmd
}

func (m *Model) typing(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		return m.question(m.field.Value())
	case "esc":
		m.field.Blur()
		m.field.Error = ""
	default:
		m.field.Update(msg)
	}
	return nil
}

// ask opens the field with the question that is shown.
func (m *Model) ask() {
	text, _ := m.world().QuestionOf(m.draft) // "" where a question cannot say it
	if m.have {
		m.field.Set(text)
	}
	m.field.Focus()
}

// copyQuestion copies the command that asks the selected variant's question elsewhere.
func (m *Model) copyQuestion(v *quotelab.Variant) tea.Cmd {
	text, err := m.world().QuestionOf(v.Intent.Draft())
	if err != nil {
		return screen.Toast(theme.Warn, err.Error())
	}
	return screen.Copy("question", "coffer lab '"+strings.ReplaceAll(text, "'", `'\''`)+"'")
}

func (m *Model) cached(msg keptMsg) tea.Cmd {
	if msg.err != nil {
		return screen.Toast(theme.Warn, "the lab begins again: "+present.Clean(msg.err.Error(), 160))
	}
	fresh := m.book
	m.book, m.series = nil, map[string][]quotelab.Answer{}
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

// money is what the accounts hold, as far as it is known.
func (m *Model) money() compose.Money {
	if m.held == nil {
		return compose.Money{}
	}
	return compose.ReadMoney(m.ctx.Catalog, *m.held)
}

func (m *Model) holds(msg heldMsg) tea.Cmd {
	m.reading = false
	m.held, m.heldWhy = &msg.held, ""
	if msg.err != nil {
		m.held, m.heldWhy = nil, present.ErrorText(msg.err)
	}
	wanted, watching := m.wanted, m.watching
	if m.asking < 0 && (wanted || !watching) {
		m.replan()
	}
	if !wanted {
		return nil
	}
	m.watching = watching
	return m.begin()
}

// begin starts a round at the first variant that takes part.
func (m *Model) begin() tea.Cmd {
	m.again()
	if m.wanted = m.reading; m.wanted {
		return nil
	}
	return m.next()
}

// again makes way for new questions: an answer of earlier ones is dropped.
func (m *Model) again() {
	m.gen++
	if m.end != nil {
		m.end()
	}
	m.round, m.end = context.WithCancel(m.life)
	m.asking, m.why, m.drawn = -1, "", true
}

// next asks for the next variant of the round, or ends the round.
func (m *Model) next() tea.Cmd {
	for i := m.asking + 1; i < len(m.variants); i++ {
		if v := m.variants[i]; !m.off[v.Key] {
			m.asking = i
			gen, quote, ctx, held := m.gen, m.deps.Quote, m.round, m.money()
			return func() tea.Msg {
				r, err := quote(ctx, v.Intent, held)
				return askedMsg{gen, i, v.Key, r, err}
			}
		}
	}
	m.asking, m.last = -1, m.ctx.Clock()
	m.rounds++
	if !m.watching {
		return tea.Batch(m.save(), m.curve())
	}
	m.end()
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

// curve asks for the curve of the selected variant, one point after the other.
func (m *Model) curve() tea.Cmd {
	v := m.selected()
	if v == nil {
		return nil
	}
	r, ok := m.latest(v.Key)
	if !ok || m.deps.Quote == nil {
		return nil
	}
	rules := api.Rules{Catalog: m.ctx.Catalog, Now: m.ctx.Clock()}
	m.points, m.curveKey = quotelab.Points(rules, v.Intent, r), v.Key
	return m.nextPoint()
}

// nextPoint asks for the first point without an answer.
func (m *Model) nextPoint() tea.Cmd {
	i := slices.IndexFunc(m.points, func(p quotelab.Point) bool { return !p.Asked })
	if i < 0 {
		return nil
	}
	gen, quote, ctx, in, held := m.gen, m.deps.Quote, m.round, m.points[i].Intent, m.money()
	return func() tea.Msg {
		r, err := quote(ctx, in, held)
		return pointMsg{gen, i, r, err}
	}
}

func (m *Model) pointed(msg pointMsg) tea.Cmd {
	p := &m.points[msg.i]
	p.Answer, p.Asked = m.settled(msg.answer, msg.err), true
	p.Answer.Estimate = !m.draft.Exchanges()
	if m.slower(msg.err) {
		return nil
	}
	return m.nextPoint()
}

// settled is an answer, also where there is none.
func (m *Model) settled(r quotelab.Answer, err error) quotelab.Answer {
	if err == nil {
		return r
	}
	failed := quotelab.Failed(m.ctx.Clock(), err)
	failed.Latency, failed.Prepared = r.Latency, r.Prepared
	return failed
}

// slower stops all questions when the service asks for fewer requests, or when the screen was left.
func (m *Model) slower(err error) bool {
	var no *api.Error
	switch {
	case errors.As(err, &no) && no.Name == api.ErrTooManyRequests:
		m.halt("stopped: the service asks for fewer requests")
	case m.left():
		m.halt("stopped because the screen was left")
	default:
		return false
	}
	return true
}

func (m *Model) asked(msg askedMsg) tea.Cmd {
	m.note(entry{msg.key, m.settled(msg.result, msg.err)})
	if m.slower(msg.err) {
		return m.save()
	}
	return m.next()
}

// left reports whether another screen is shown: this one was not drawn since the last answer.
func (m *Model) left() bool {
	was := m.drawn
	m.drawn = false
	return !was
}

func (m *Model) due() tea.Cmd {
	if m.left() {
		m.halt("stopped because the screen was left")
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
	m.asking, m.watching, m.wanted, m.why = -1, false, false, why
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
	if m.compare || m.inspect {
		m.pressOver(key)
		return nil
	}
	switch n := len(m.widths()); {
	case m.focus.Press(key, n):
		return nil
	case m.focus.In(n) == 1 && m.pane.Press(key), m.focus.In(n) == 2 && m.right.Press(key):
		return nil
	case m.table.Press(key):
		m.pane.Set(nil)
		return nil
	}
	switch key {
	case "d":
		return m.take(true)
	case "n":
		m.ask()
	case "m":
		m.by = m.by.Next()
	case "x":
		return m.export()
	case "v":
		m.again()
		m.toCurve = true
		return m.curve()
	case "f", "l", "u", "t":
		m.vary(key)
	case "r":
		return m.begin()
	case "s":
		m.halt("stopped")
		return m.save()
	case "w":
		m.watching, m.rounds = true, 0
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
		m.compare = len(m.chosen()) > 1
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
		m.off[v.Key] = !m.off[v.Key]
	case "a":
		m.mark(v.Key)
	case "i":
		_, m.inspect = m.latest(v.Key)
		m.pane.Set(nil)
	case "y":
		return m.copyQuestion(v)
	case "e":
		m.halt("")
		return screen.Open(screen.Build, review.EditArg{Draft: v.Intent.Draft()})
	case "o":
		m.halt("")
		return screen.Open(screen.Review, review.StartArg{Intent: v.Intent})
	}
	return nil
}

// pressOver handles the keys of side by side and of the answer as it arrived.
func (m *Model) pressOver(key string) {
	switch {
	case m.pane.Press(key):
	case key == "left", key == "h":
		m.from--
	case key == "right", key == "l":
		m.from++
	case key == "m":
		m.by = m.by.Next()
	case key == "esc", key == "c" && m.compare, key == "i" && m.inspect:
		m.compare, m.inspect = false, false
		m.pane.Set(nil)
		m.resize(m.w, m.h)
	}
}

// vary switches an axis.
func (m *Model) vary(key string) {
	switch key {
	case "f":
		m.axes.Funding = !m.axes.Funding
	case "l":
		m.axes.Slippage = !m.axes.Slippage
	case "u":
		m.axes.Accounts = !m.axes.Accounts
	case "t":
		m.axes.Arrival = !m.axes.Arrival
	}
	m.replan()
}

// report is what the screen shows, for an export.
func (m *Model) report() quotelab.Report {
	r := quotelab.Report{Network: m.ctx.Network.ID, At: m.last, By: m.by, Variants: m.answered(), Total: m.total}
	r.Question, _ = m.world().QuestionOf(m.draft)
	r.Curved = max(0, slices.IndexFunc(r.Variants, func(c quotelab.Compared) bool { return c.Key == m.curveKey }))
	if len(r.Variants) > 0 && r.Variants[r.Curved].Key == m.curveKey {
		r.Points = m.points
	}
	return r
}

// export writes the comparison as JSON, as CSV and as a picture.
func (m *Model) export() tea.Cmd {
	if m.ctx.Export == nil || len(m.answered()) == 0 {
		return nil
	}
	r, w, write := m.report(), m.world(), m.ctx.Export
	r.Points = slices.Clone(r.Points)
	return func() tea.Msg {
		var out exportedMsg
		for _, form := range []struct {
			name string
			make func() ([]byte, error)
		}{{"lab.json", func() ([]byte, error) { return r.JSON(w) }}, {"lab.csv", r.CSV},
			{"lab.svg", func() ([]byte, error) { return r.SVG(), nil }}} {
			b, err := form.make()
			path := ""
			if err == nil {
				path, err = write(form.name, b)
			}
			if err != nil {
				out.err = err
				return out
			}
			out.paths = append(out.paths, path)
		}
		return out
	}
}

// wait chooses a longer or a shorter pause.
func (m *Model) wait(step int) {
	all := waits()
	m.every = all[max(0, min(len(all)-1, slices.Index(all, m.every)+step))]
}
