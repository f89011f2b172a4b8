package activity

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
)

// loadedMsg brings the content of the journal.
type loadedMsg struct {
	ops []Operation
	liveMsg
}

// liveMsg brings a new list of live signatures, and of closed ones.
type liveMsg struct {
	live   []present.Signature
	closed []present.Closed
}

// progressedMsg is one step of a watch; feed brings the next one.
type progressedMsg struct {
	id   string
	snap flow.Snapshot
	feed chan flow.Snapshot
}

// watchedMsg is the end of a watch.
type watchedMsg struct {
	id   string
	snap flow.Snapshot
	err  error
}

// abandonedMsg reports whether an operation was abandoned.
type abandonedMsg struct {
	op  Operation
	err error
}

// retryMsg starts the next watch after a failed one.
type retryMsg struct{ id string }

func (s *Screen) load() tea.Cmd {
	deps, clock := s.deps, s.ctx.Clock
	return func() tea.Msg {
		m := loadedMsg{liveMsg: outstanding(deps, clock())}
		if deps.Unfinished != nil {
			m.ops = deps.Unfinished()
		}
		return m
	}
}

// readLive reads the signatures at once, and again after own nodes were asked which are used.
func (s *Screen) readLive() tea.Cmd {
	deps, clock, life := s.deps, s.ctx.Clock, s.life
	read := func() tea.Msg { return outstanding(deps, clock()) }
	if deps.Observe == nil {
		return read
	}
	return tea.Batch(read, func() tea.Msg {
		_ = deps.Observe(life) // a journal that cannot be written says so elsewhere
		return read()
	})
}

func outstanding(d Deps, now time.Time) (m liveMsg) {
	if d.Outstanding != nil {
		m.live = d.Outstanding(now)
	}
	if d.Closed != nil {
		m.closed = d.Closed(now)
	}
	return m
}

// watch follows one operation: one command runs the watch, another brings its steps one by one.
func (s *Screen) watch(it *item) tea.Cmd {
	if it.watching || !watchable(it.snap.State) || s.life.Err() != nil {
		return nil
	}
	life, stop := context.WithCancel(s.life)
	it.watching, it.stop, it.again = true, stop, false
	op, feed := it.op, make(chan flow.Snapshot, 16)
	run := func() tea.Msg {
		defer stop()
		defer close(feed)
		snap, err := op.Watch(life, func(x flow.Snapshot) {
			select {
			case feed <- x:
			case <-life.Done():
			}
		})
		return watchedMsg{id: op.ID(), snap: snap, err: err}
	}
	return tea.Batch(run, next(op.ID(), feed))
}

func next(id string, feed chan flow.Snapshot) tea.Cmd {
	return func() tea.Msg {
		snap, ok := <-feed
		if !ok {
			return nil
		}
		return progressedMsg{id: id, snap: snap, feed: feed}
	}
}

// Update handles one message, and tells the other screens when what is under way has changed.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if !s.loaded {
		return cmd
	}
	now, told := s.underWay()
	if told == s.told {
		return cmd
	}
	s.told = told
	return tea.Batch(cmd, screen.Send(now))
}

// underWay lists what has not ended, and the same as a text that changes with it.
func (s *Screen) underWay() (msg screen.UnderWayMsg, text string) {
	now := s.ctx.Clock()
	msg.Open = s.live
	for _, it := range s.items {
		if ended(it.snap) {
			continue
		}
		st := s.state(it.snap, now)
		msg.Operations = append(msg.Operations, screen.UnderWay{Since: it.snap.Started,
			What: present.Operation(s.ctx.Catalog, it.snap), Progress: s.progress(it.snap, st), Meaning: st.Meaning})
	}
	text = "known"
	for _, o := range msg.Operations {
		text += "\n" + o.Since.String() + o.What + o.Progress
	}
	for _, o := range msg.Open {
		text += "\n" + o.Hash + o.Voided.String() + o.Ends.String()
	}
	return msg, text
}

// progress is the state in a word or two, and how many payments have arrived.
func (s *Screen) progress(snap flow.Snapshot, st present.State) string {
	steps := s.deposits(snap)
	if !tracked(snap.State) || len(steps) == 0 {
		return st.Word
	}
	n, next := 0, ""
	for _, x := range steps {
		switch {
		case x.meaning == theme.Good:
			n++
		case next == "":
			next = ", now " + strings.TrimSuffix(x.text, " deposit")
		}
	}
	return "payments: " + kit.Count(n, len(steps)) + next
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case loadedMsg:
		s.loaded, s.live, s.closed = true, m.live, m.closed
		var cmds []tea.Cmd
		none := len(s.items) == 0
		for _, op := range m.ops {
			known := s.find(op.ID()) != nil
			cmds = append(cmds, s.track(op))
			if it := s.find(op.ID()); !known && it != nil { // announce also an end that came unseen
				it.announced = false
				cmds = append(cmds, s.moved(op.ID(), it.snap))
			}
		}
		if none {
			s.table.Select(0) // not the one that the journal lists first
		}
		return tea.Batch(cmds...)
	case liveMsg:
		s.live, s.closed = m.live, m.closed
	case TrackMsg:
		return tea.Batch(s.track(m.Op), s.readLive())
	case progressedMsg:
		if it := s.find(m.id); it != nil && it.again {
			return next(m.id, m.feed) // the last report of a watch that was stopped on purpose
		}
		return tea.Batch(s.moved(m.id, m.snap), next(m.id, m.feed))
	case watchedMsg:
		return s.watched(m)
	case abandonedMsg:
		if m.err != nil {
			return tea.Batch(s.track(m.op), screen.Toast(theme.Warn,
				"it could not be abandoned: "+present.Clean(m.err.Error(), 200)))
		}
		return tea.Batch(s.track(m.op), s.readLive())
	case retryMsg:
		if it := s.find(m.id); it != nil {
			return s.watch(it)
		}
	case voidedMsg:
		return s.voided(m)
	case tea.PasteMsg:
		if s.void.open {
			return screen.Toast(theme.Warn, "a paste confirms nothing: type it by hand")
		}
	case stillMsg:
		if m.move == s.moves {
			s.showDetails()
		}
	case screen.ClickMsg:
		s.click(m)
	case screen.AmountsMsg:
		s.hidden = m.Hidden
	case screen.OpenedMsg:
		return s.opened(m.Arg)
	case tea.KeyPressMsg:
		return s.press(m)
	}
	return nil
}

// track takes in a new operation, or looks at a known one again.
func (s *Screen) track(op Operation) tea.Cmd {
	if op == nil {
		return nil
	}
	it := s.find(op.ID())
	if it == nil {
		it = &item{op: op, snap: op.Snapshot()}
		if forgettable(it.snap) {
			return nil
		}
		s.items = append(s.items, it)
		it.announced = ended(it.snap)
	}
	it.op = op
	cmd := s.moved(op.ID(), op.Snapshot())
	return tea.Batch(cmd, s.watch(it))
}

// moved takes a newer snapshot and announces an end once.
func (s *Screen) moved(id string, snap flow.Snapshot) tea.Cmd {
	it := s.find(id)
	if it == nil {
		return nil
	}
	it.snap = snap
	if forgettable(snap) {
		s.items = slices.DeleteFunc(s.items, func(x *item) bool { return x == it })
		s.sort()
		return nil
	}
	s.sort()
	if !ended(snap) || it.announced {
		return nil
	}
	it.announced = true
	st, what := s.state(snap, s.ctx.Clock()), present.Operation(s.ctx.Catalog, snap)
	cmds := []tea.Cmd{
		screen.Send(screen.BalancesChangedMsg{}), screen.Toast(st.Meaning, what+": "+st.Word), s.readLive(),
	}
	if snap.State.Terminal() && snap.State != flow.StateAbandoned {
		cmds = append(cmds, screen.Send(screen.EndedMsg{What: what, Word: st.Word}))
	}
	return tea.Batch(cmds...)
}

func (s *Screen) watched(m watchedMsg) tea.Cmd {
	it := s.find(m.id)
	if it == nil {
		return nil
	}
	it.watching = false
	if it.again && watchable(m.snap.State) {
		return s.watch(it) // it was stopped to ask at once
	}
	cmd := s.moved(m.id, m.snap)
	it.err = ""
	if m.err == nil || s.life.Err() != nil || !watchable(it.snap.State) {
		return cmd
	}
	it.err, it.errAt = present.Clean(m.err.Error(), 300), s.ctx.Clock()
	id := m.id
	return tea.Batch(cmd, tea.Tick(s.deps.Retry, func(time.Time) tea.Msg { return retryMsg{id} }))
}

func (s *Screen) opened(arg any) tea.Cmd {
	s.sigs, s.void = false, voidForm{}
	if a, ok := arg.(ShowArg); ok && a.Op != nil {
		cmd := s.track(a.Op)
		s.selectID(a.Op.ID())
		s.showDetails()
		return tea.Batch(cmd, s.readLive())
	}
	return s.readLive()
}

// askTime is how long a second x answers the question of the first.
const askTime = 4 * time.Second

// abandon abandons an operation on the second x: that does not take its first signature back.
func (s *Screen) abandon(it *item) tea.Cmd {
	now, id := s.ctx.Clock(), it.op.ID()
	if s.asked != id || now.Sub(s.askedAt) > askTime {
		s.asked, s.askedAt = id, now
		text := "press x again to abandon it: it is never sent"
		switch {
		case it.snap.BodyHash != "":
			text = "press x again to abandon it: it is not sent again; what was signed can still be used until it ends"
		case it.snap.SignaturesDone > 0:
			text = "press x again to abandon it; what was signed can still be used until it ends"
		}
		return screen.Toast(theme.Warn, text)
	}
	s.asked = ""
	op, ok := it.op.(abandoner)
	if !ok {
		return nil
	}
	return func() tea.Msg { return abandonedMsg{it.op, op.Abandon()} }
}

// copyPage copies the address of the newest transaction, and on the next press that of the one before.
func (s *Screen) copyPage(it *item) tea.Cmd {
	pages := s.pages(it.snap)
	if len(pages) == 0 {
		return nil
	}
	r := pages[it.page%len(pages)]
	it.page++
	return screen.Copy("explorer address on "+present.ChainName(s.ctx.Catalog, r.Chain), r.ExplorerURL)
}

// askPause is the shortest time between two r.
const askPause = 2 * time.Second

// askNow asks for the status at once: it ends a waiting Watch and starts a new one. It sends nothing but the question.
func (s *Screen) askNow(it *item) tea.Cmd {
	now := s.ctx.Clock()
	if now.Sub(it.asked) < askPause {
		return screen.Toast(theme.None, "it was asked just now")
	}
	it.asked = now
	if !it.watching {
		return s.watch(it)
	}
	it.again = true
	it.stop()
	return screen.Toast(theme.None, "asking the service now; nothing is sent again")
}

// click selects the clicked line.
func (s *Screen) click(m screen.ClickMsg) {
	switch {
	case s.void.open:
	case s.sigs:
		s.clickSig(m.Y)
	case len(s.items) > 0:
		pane, _ := kit.PaneAt(s.panes(), m.X)
		if s.focus = kit.Focus(pane); pane == 0 && s.table.Click(m.Y-1) {
			s.showDetails()
		}
	}
}

func (s *Screen) press(m tea.KeyPressMsg) tea.Cmd {
	s.forget(s.ctx.Clock())
	key := m.String()
	switch {
	case s.void.open:
		return s.pressVoid(m)
	case s.sigs:
		return s.pressSigs(key)
	}
	if k, ok := kit.FindKey(s.Keys(), key); ok && k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	switch n := len(s.panes()); {
	case len(s.items) == 0:
	case s.focus.Press(key, n), s.focus.In(n) == 1 && s.detail.Press(key), s.focus.In(n) == 2 && s.signed.Press(key):
		return nil
	}
	it := s.selected()
	switch key {
	case "o":
		s.sigs, s.sig, s.sigShown = true, 0, 0
		s.sigList.Press("home")
		return s.readLive()
	case "enter":
		return screen.Open(screen.Review, ReopenArg{it.op})
	case "x":
		return s.abandon(it)
	case "c":
		return screen.Copy("quote id", copyID(it.snap))
	case "u":
		return s.copyPage(it)
	case "b":
		return screen.Copy("support bundle (ids, states, times)", s.bundle(it))
	case "r":
		return s.askNow(it)
	case screen.NameKey:
		return s.ctx.Name(s.payee(it))
	case "pgdown", "space", "pgup":
		s.detail.Press(key)
	default:
		if s.table.Press(key) {
			return s.chose()
		}
	}
	return nil
}
