package history

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"coffer/api/client"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/wallet/verify"
)

// jobKind is the reason for asking for a page.
type jobKind int

const (
	jobRefresh jobKind = iota // from the top down to a record in memory
	jobMore                   // after a section
	jobRefill                 // released rows
)

// job is the reading in progress.
type job struct {
	kind   jobKind
	run    *book           // refresh: what it has read so far
	cover  map[string]bool // refresh: unfinished records that it has to see again
	sec    *section        // more
	bridge bool            // more: until the section meets the one below it
	chunk  *chunk          // refill
	pages  int
	restep bool // the service lost the place: this reads again from the top
}

// pageMsg is the answer to one request; after is the continuation of the request.
type pageMsg struct {
	gen   int
	after string
	rows  []*record
	token string
	err   error
}

// followMsg says that unfinished records are due for another look.
type followMsg struct{ gen int }

// startRefresh reads from the top. It reads records that can still change again when they are among the first cover.
func (m *Model) startRefresh(cover int) tea.Cmd {
	m.job = job{kind: jobRefresh, run: m.book.newRun(), cover: m.unfinished(cover)}
	return m.fetch("", m.job.run.top())
}

func (m *Model) startMore(s *section, bridge bool) tea.Cmd {
	m.job = job{kind: jobMore, sec: s, bridge: bridge}
	return m.fetch(s.next, s)
}

// unfinished lists those of the first most records that can still change.
func (m *Model) unfinished(most int) map[string]bool {
	out, n := map[string]bool{}, 0
	m.book.each(func(r *record) bool {
		if !r.final() {
			out[r.id] = true
		}
		n++
		return n < most
	})
	return out
}

func (m *Model) fetch(after string, reading *section) tea.Cmd {
	m.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	m.cancel = cancel
	m.gen++
	m.loading, m.since = true, m.ctx.Clock()
	if reading != nil {
		reading.seen[after] = true
	}
	if m.job.kind == jobMore {
		m.alone++
	}
	gen, src, rd := m.gen, m.src, readerOf(m.ctx)
	return func() tea.Msg {
		defer cancel()
		page, err := src.History(ctx, PageSize, after)
		return pageMsg{gen: gen, after: after, rows: rd.page(page.Transactions), token: page.Continuation, err: err}
	}
}

// arrived takes an answer and continues the job.
func (m *Model) arrived(msg pageMsg) tea.Cmd {
	m.loading = false
	if msg.err != nil {
		return m.failed(msg)
	}
	m.job.pages++
	if msg.after != "" {
		m.losses = 0
	}
	before := m.found()
	var on tea.Cmd
	switch m.job.kind {
	case jobRefresh:
		on = m.refreshed(msg)
	case jobMore:
		on = m.extended(msg, before)
	default:
		m.book.refill(m.job.chunk, msg.rows)
	}
	if m.job.kind != jobRefresh || on == nil {
		m.settle()
	}
	if on != nil {
		return on
	}
	return tea.Batch(m.wantMore(), m.follow(), m.saveSoon(), m.tell())
}

// failed keeps the list. A continuation that the service no longer knows restarts the reading.
func (m *Model) failed(msg pageMsg) tea.Cmd {
	if msg.after != "" && client.LostPlace(msg.err) && m.losses < maxLosses {
		m.losses++
		return m.again()
	}
	m.err = msg.err
	return nil
}

// again reads from the top; the list stays on the screen until pages replace it.
func (m *Model) again() tea.Cmd {
	m.book.forget()
	m.choose()
	cmd := m.startRefresh(0)
	m.job.restep = true
	return cmd
}

// refreshed continues until the run meets known records and has seen the unfinished ones again.
func (m *Model) refreshed(msg pageMsg) tea.Cmd {
	j := &m.job
	sec := j.run.top()
	j.run.extend(0, msg.rows, msg.after, msg.token)
	m.check(sec, msg.token)
	for _, r := range msg.rows {
		delete(j.cover, r.id)
	}
	held := m.book.count() > 0
	met := !held || m.book.byID[sec.last()] != nil || j.run.byID[m.book.top().last()] != nil
	if sec.canGo() && j.pages < bridgePages && (!met || held && len(j.cover) > 0) {
		return m.fetch(sec.next, sec)
	}
	m.book.adopt(j.run)
	m.loaded, m.at, m.dirty = true, m.ctx.Clock(), true
	return nil
}

// extended continues while pages bring nothing new and, when it closes a gap, until the gap is closed.
func (m *Model) extended(msg pageMsg, before int) tea.Cmd {
	j := &m.job
	i := slices.Index(m.book.sections, j.sec)
	if i < 0 {
		return nil
	}
	dirty := m.book.count() < MaxKept
	added, met := m.book.extend(i, msg.rows, msg.after, msg.token)
	m.check(j.sec, msg.token)
	m.dirty = m.dirty || dirty
	m.at = m.ctx.Clock()
	if !j.sec.canGo() || j.pages >= bridgePages {
		return nil
	}
	m.refilter()
	if added == 0 || j.bridge && !met || m.searching && m.found() == before {
		return m.fetch(j.sec.next, j.sec)
	}
	return nil
}

// check records why nothing more can be read after token.
func (m *Model) check(s *section, token string) {
	more, why := verify.Continuation(s.seen, token)
	s.stopped, s.further = "", false
	switch {
	case why != nil:
		s.stopped = plainWords(why.Title)
		s.further = len(s.seen) >= verify.MaxPages && !s.seen[token] && len(token) <= verify.MaxContinuation
	case more && s.asked(token):
		s.stopped = "the service repeats itself"
	}
}

// asked reports whether token already returned a page of the section, perhaps in an earlier reading.
func (s *section) asked(token string) bool {
	return slices.ContainsFunc(s.chunks, func(c *chunk) bool { return c.after == token })
}

// plainWords turns a sentence into a part of one.
func plainWords(title string) string {
	r := []rune(strings.TrimSuffix(title, "."))
	if len(r) > 1 && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

// settle releases rows far from the window and shows the list as it is now.
func (m *Model) settle() {
	m.choose()
	from, to := m.table.Window()
	if m.query.active() {
		from, to = m.book.lines(), m.book.lines()
	}
	m.book.shed(from, to, m.most)
	m.months = nil
	m.choose()
}

// tell tells the other screens the newest records, unless only older ones came.
func (m *Model) tell() tea.Cmd {
	if m.job.kind != jobRefresh && m.book.count() > maxTold+PageSize {
		return nil
	}
	msg := screen.PastMsg{Whole: m.ended()}
	m.book.each(func(r *record) bool {
		if r.unread() {
			return true
		}
		look, word := statusLook(r.status.Value())
		l := m.format.line(r)
		deed := func(show func(string) string, arrow string) string { return l.what(brief(show, "…"), arrow) }
		value, got := l.micro, r.gotOf.Value()
		if l.more {
			value, got = nil, "" // they are of one asset alone
		}
		msg.Records = append(msg.Records, screen.Past{At: r.at(), Deed: deed, Value: value,
			Status: present.State{Word: word, Meaning: look},
			Left:   m.receipts().Left(m.format.facts(r), address(r.recipient.Value())),
			Paid:   r.paidOf.Value(), Got: got})
		return len(msg.Records) < maxTold
	})
	return screen.Send(msg)
}

// wantMore requests the pages that the window needs: released rows, newer pages in place of cached rows, or the next
// page when the last record is on the screen. With a filter only `m` reads further: otherwise a filter without matches
// would read the whole history.
func (m *Model) wantMore() tea.Cmd {
	if m.h == 0 || !m.loaded || m.loading || m.err != nil || m.query.active() || m.alone >= alonePages {
		return nil
	}
	from, to := m.table.Window()
	if to == 0 {
		from, to = 0, 1
	}
	for i := from; i < to; i++ {
		s, r := m.book.at(i)
		if s.chunk != nil && r == nil && s.sec.live {
			m.job = job{kind: jobRefill, chunk: s.chunk}
			return m.fetch(s.chunk.after, nil)
		}
		if s.chunk != nil && !s.sec.live {
			return m.moreAbove(s.sec)
		}
	}
	if to < m.book.lines() || len(m.book.sections) == 0 {
		return nil
	}
	last := m.book.sections[len(m.book.sections)-1]
	if last.canGo() && m.book.held <= m.most {
		return m.startMore(last, false)
	}
	return nil
}

// moreAbove continues the nearest live section above a cached one.
func (m *Model) moreAbove(kept *section) tea.Cmd {
	i := slices.Index(m.book.sections, kept)
	for i--; i >= 0; i-- {
		if s := m.book.sections[i]; s.live {
			if s.canGo() {
				return m.startMore(s, false)
			}
			return nil
		}
	}
	return nil
}

// follow schedules another look while a record near the top is unfinished.
func (m *Model) follow() tea.Cmd {
	if m.loading {
		return nil
	}
	n, open := 0, false
	m.book.each(func(r *record) bool {
		open = open || !r.final()
		n++
		return !open && n < PageSize
	})
	if !open {
		return nil
	}
	gen := m.gen
	return m.later(followEvery, followMsg{gen})
}

// later is the timer of the screen.
func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}
