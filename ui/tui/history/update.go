package history

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// pageMsg is the answer to one request; after is the continuation that was sent.
type pageMsg struct {
	gen   int
	after string
	page  api.HistoryPage
	err   error
}

// followMsg says that it is time to look at unfinished records again.
type followMsg struct{ gen int }

// start begins a job; one under way is given up.
func (m *Model) start(j job) tea.Cmd {
	m.job, m.at0, m.stopped = j, 0, ""
	switch j {
	case jobMore:
		m.at0, m.jobSeen = len(m.book.rows), m.used
		return m.fetch(m.cursor)
	case jobRestart:
		m.used = map[string]bool{}
		m.jobSeen = m.used
	default:
		m.jobSeen = map[string]bool{}
	}
	return m.fetch("")
}

func (m *Model) fetch(after string) tea.Cmd {
	m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	m.cancel = cancel
	m.gen++
	m.loading, m.since = true, m.ctx.Clock()
	m.jobSeen[after] = true
	gen, src := m.gen, m.src
	return func() tea.Msg {
		defer cancel()
		page, err := src.History(ctx, PageSize, after)
		return pageMsg{gen: gen, after: after, page: page, err: err}
	}
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case screen.ResizedMsg:
		m.resize(msg.W, msg.H)
		return m.wantMore()
	case pageMsg:
		if msg.gen == m.gen {
			return m.arrived(msg)
		}
	case followMsg:
		if msg.gen == m.gen && !m.loading {
			return m.start(jobRefresh)
		}
	case screen.BalancesChangedMsg:
		return m.refresh()
	case screen.AmountsMsg:
		m.hidden = msg.Hidden
	case screen.OpenedMsg:
		if m.ctx.Clock().Sub(m.at) > freshFor {
			return m.refresh()
		}
	case tea.PasteMsg:
		if m.filter.Focused() && m.filter.Update(msg) {
			m.choose()
		}
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return nil
}

// refresh reads from the top, unless something is being read already.
func (m *Model) refresh() tea.Cmd {
	switch {
	case m.loading:
		return nil
	case !m.loaded:
		return m.start(jobMore)
	}
	return m.start(jobRefresh)
}

func (m *Model) arrived(msg pageMsg) tea.Cmd {
	m.loading, m.err = false, msg.err
	if msg.err != nil {
		if m.job == jobMore && msg.after != "" && lostPlace(msg.err) {
			m.err = nil
			return m.start(jobRestart)
		}
		return nil
	}
	m.loaded, m.at = true, m.ctx.Clock()
	before := len(m.book.rows)
	next, added, met := m.book.merge(m.reader().page(msg.page.Transactions), m.at0)
	m.at0 = next
	m.choose()
	follow := m.next(msg, before, added, met)
	if follow != nil {
		return follow
	}
	return tea.Batch(m.wantMore(), m.follow())
}

// next decides whether the job goes on. before is how many records were held when the page came.
func (m *Model) next(msg pageMsg, before, added int, met bool) tea.Cmd {
	token := msg.page.Continuation
	atEnd := m.at0 >= len(m.book.rows)
	if m.job == jobMore || atEnd || token == "" {
		m.cursor, m.ended = token, token == ""
		m.halt(token)
		if m.job == jobMore && added == 0 && !m.ended && m.stopped == "" {
			return m.fetch(token) // a page of known records only: the list was re-ordered meanwhile
		}
	}
	switch {
	case token == "", m.stopped != "", m.jobSeen[token], len(m.book.rows) >= MaxRecords:
		return nil
	case m.job == jobRefresh && !met && before > 0:
		return m.fetch(token)
	case m.job == jobRestart && !atEnd:
		return m.fetch(token)
	}
	return nil
}

// halt notes why nothing more can be read after token.
func (m *Model) halt(token string) {
	switch {
	case len(token) > maxCursor:
		m.stopped = "the service's mark for the next page is too long"
	case token != "" && m.jobSeen[token]:
		m.stopped = "the service repeats itself"
	case len(m.book.rows) >= MaxRecords:
		m.stopped = "this is as many as the program holds"
	}
}

// lostPlace reports that the service refused a continuation that it gave out before.
func lostPlace(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && (refused.StatusCode == http.StatusBadRequest || refused.StatusCode == http.StatusNotFound ||
		refused.StatusCode == http.StatusGone)
}

// wantMore asks for the next page when the last record is on the screen. With a filter only `m` reads on: otherwise a filter that
// matches nothing would read the whole history.
func (m *Model) wantMore() tea.Cmd {
	_, to := m.table.Window()
	if m.h == 0 || m.filter.Value() != "" || to < len(m.book.rows) || !m.canMore() {
		return nil
	}
	return m.start(jobMore)
}

func (m *Model) canMore() bool {
	return m.loaded && !m.loading && !m.ended && m.stopped == "" && m.err == nil
}

// follow looks again soon while a record near the top is not finished.
func (m *Model) follow() tea.Cmd {
	top := m.book.rows[:min(PageSize, len(m.book.rows))]
	if m.loading || !slices.ContainsFunc(top, func(r *record) bool { return !api.Terminal(r.status) }) {
		return nil
	}
	gen := m.gen
	return tea.Tick(followEvery, func(time.Time) tea.Msg { return followMsg{gen} })
}

func (m *Model) reader() reader {
	return reader{ctx: m.ctx, catalog: m.ctx.Catalog, book: &m.book}
}

// choose applies the filter and keeps the selected record selected, at the same line of the window unless that shows the top.
func (m *Model) choose() {
	want := strings.ToLower(m.filter.Value())
	from, _ := m.table.Window()
	line := m.table.Selected() - from
	m.shown = m.book.rows
	if want != "" {
		m.shown = nil
		for _, r := range m.book.rows {
			if r.matches(want) {
				m.shown = append(m.shown, r)
			}
		}
	}
	m.table.SetRows(len(m.shown))
	if i := slices.Index(m.shown, m.chosen); i >= 0 {
		if from == 0 {
			line = i // at the top of the list new records come into view
		}
		m.table.SelectAt(i, line)
	}
	m.remember()
	m.resize(m.w, m.h)
}

func (r *record) matches(want string) bool {
	_, status := statusLook(r.status)
	for _, s := range []string{r.what(open), r.kind, r.from.name, r.to.name, status, r.status, r.id, r.received, r.paid, r.reason} {
		if strings.Contains(strings.ToLower(s), want) {
			return true
		}
	}
	return slices.ContainsFunc(r.legs, func(l leg) bool { return strings.Contains(strings.ToLower(l.hash), want) })
}

// remember notes the selected record; details of another one start at their top.
func (m *Model) remember() {
	old := m.chosen
	m.chosen = nil
	if i := m.table.Selected(); i >= 0 && i < len(m.shown) {
		m.chosen = m.shown[i]
	}
	if old != m.chosen {
		m.pane.Set(nil)
	}
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if m.filter.Focused() {
		return m.pressFilter(msg, key)
	}
	if m.table.Press(key) {
		m.remember()
		return m.wantMore()
	}
	switch key {
	case "/":
		m.filter.Focus()
	case "esc":
		return m.leave()
	case "enter":
		if !m.side() {
			m.details = !m.details
			m.resize(m.w, m.h)
			m.table.Select(m.table.Selected())
		}
	case "J":
		m.pane.Move(1)
	case "K":
		m.pane.Move(-1)
	case "y":
		return screen.Copy("quote id", m.chosen.id)
	case "m":
		m.err = nil
		return m.start(jobMore)
	case "ctrl+r":
		m.err = nil
		return m.refresh()
	}
	return nil
}

// leave closes the details first, then the filter.
func (m *Model) leave() tea.Cmd {
	if m.details && !m.side() {
		m.details = false
		m.resize(m.w, m.h)
		return nil
	}
	m.filter.Set("")
	m.choose()
	return m.wantMore()
}

func (m *Model) pressFilter(msg tea.KeyPressMsg, key string) tea.Cmd {
	switch key {
	case "enter", "up", "down":
		m.filter.Blur()
		return nil
	case "esc":
		m.filter.Blur()
		m.filter.Set("")
		m.choose()
		return m.wantMore()
	}
	if m.filter.Update(msg) {
		m.choose()
	}
	return nil
}

// Keys lists what works now.
func (m *Model) Keys() []kit.Key {
	if m.filter.Focused() {
		return []kit.Key{kit.NewKey("keep filter", "enter"), kit.NewKey("clear filter", "esc")}
	}
	none, why := m.chosen == nil, "there is no record to use it on"
	details := kit.NewKey("details", "enter").OffWhen(none, why)
	if m.details {
		details.Label = "close details"
	}
	if m.side() && details.Off == "" {
		details.Off, details.Quiet = "details are beside the list", true
	}
	more := kit.NewKey("read more", "m").OffWhen(!m.loaded || m.ended || m.stopped != "" || m.loading, m.whyNoMore())
	more.Quiet = m.filter.Value() == ""
	keys := []kit.Key{
		details, kit.NewKey("copy quote id", "y").OffWhen(none, why), kit.NewKey("filter", "/"), more,
		kit.NewKey("read again", "ctrl+r"), kit.NewKey("scroll details", "J", "K").Hidden(), kit.NewKey("close details, clear filter", "esc").Hidden(),
	}
	return append(keys, kit.MoveKeys()...)
}

func (m *Model) whyNoMore() string {
	switch {
	case m.loading:
		return "a page is being read already"
	case m.stopped != "":
		return m.stopped
	}
	return "this is the end of history"
}
