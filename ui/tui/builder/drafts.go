package builder

import (
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

const (
	draftsName    = "drafts.json"
	templatesName = "templates.json"
)

// store is the state of the saved documents.
type store struct {
	ready     bool // drafts and templates are read, so that saving overwrites nothing unread
	templates []compose.Template
	broken    string // why the templates cannot be read; they are left unchanged then
	done      int    // the last saved change
	busy      bool   // a save is running or due
	disk      *disk
	complain  bool // a failing save was reported
	pause     time.Duration
}

// savePause is how long changes collect before a save.
const savePause = time.Second

// keptMsg brings the saved documents; one that was never saved is nil.
type keptMsg struct {
	drafts    *compose.Desk
	templates []compose.Template
	broken    string // of the templates
	lost      string // why the drafts cannot be read
}

// saveDueMsg ends the pause before a save.
type saveDueMsg struct{}

// savedMsg reports the outcome of a save; change is the change that the document holds, 0 for the templates.
type savedMsg struct {
	change int
	name   string // of the template, for the message
	err    error
}

// loadKept reads both documents.
func (s *Screen) loadKept() tea.Cmd {
	keep := s.ctx.Keep
	if keep == nil {
		return nil
	}
	w := compose.World{Catalog: s.Catalog}
	return func() tea.Msg {
		var m keptMsg
		if b, err := keep.Load(draftsName); err != nil {
			m.lost = plain(err)
		} else if b != nil {
			if d, err := w.ParseDesk(b); err != nil {
				m.lost = plain(err)
			} else {
				m.drafts = &d
			}
		}
		if b, err := keep.Load(templatesName); err != nil {
			m.broken = plain(err)
		} else if b != nil {
			if m.templates, err = w.ParseTemplates(b); err != nil {
				m.broken = plain(err)
			}
		}
		return m
	}
}

// restoreKept puts the unfinished work on the screen, unless the person typed meanwhile.
func (s *Screen) restoreKept(m keptMsg) {
	s.store.ready, s.store.templates, s.store.broken = true, m.templates, m.broken
	if s.changes > 0 || !s.empty() {
		if m.drafts != nil { // text typed meanwhile stays, and the rest is not lost
			s.before = m.drafts
			s.note = remark(compose.None, "there is unfinished work of last time: U brings it back")
		}
		return
	}
	if m.lost != "" {
		s.note = remark(compose.Warn, "the unfinished work of last time cannot be read: "+m.lost)
		return
	}
	if m.drafts == nil {
		return
	}
	s.lay(*m.drafts)
	s.changes, s.store.done = 1, 1 // what is on the screen is on disk
	if s.frozen = m.drafts.Reviewed; s.frozen != "" {
		s.sayReviewed()
	} else if !s.empty() {
		s.note = remark(compose.None, "Draft restored; X clears it")
	}
}

// lay puts unfinished work on the screen.
func (s *Screen) lay(d compose.Desk) {
	if d.Calls != nil {
		s.b = d.Calls
	}
	for kind, x := range map[string]*compose.Exchange{intent.KindTransfer: d.Transfer, intent.KindSwap: d.Swap} {
		if x != nil {
			s.x[kind] = x
		}
	}
	s.form, s.place = d.Form, place{}
}

// desk is the present content of the screen. A form under review is on it until it is sent.
func (s *Screen) desk() compose.Desk {
	d := compose.Desk{Form: s.form, Reviewed: s.frozen}
	if !s.b.Empty() {
		d.Calls = s.b
	}
	if x := s.x[intent.KindTransfer]; !x.Empty() {
		d.Transfer = x
	}
	if x := s.x[intent.KindSwap]; !x.Empty() {
		d.Swap = x
	}
	return d
}

// sent empties the form whose operation op is, once it is on its way, so that it is not made twice. U brings it back.
func (s *Screen) sent(op activity.Operation) {
	snap := op.Snapshot()
	switch snap.State {
	case flow.StateExecuting, flow.StateAccepted, flow.StateDone, flow.StateUnknown:
	default:
		return
	}
	if s.frozen == "" || snap.Intent.ID() != s.frozen {
		return
	}
	s.remember()
	s.touched()
	s.clear()
	s.note = remark(compose.None, "it was sent, so the form is empty; U fills it in again")
}

// saved reports whether everything typed is on disk.
func (s *Screen) saved() bool {
	return s.store.ready && s.store.done == s.changes && s.changes > 0 && !s.store.complain
}

// keepUp saves changes: at most one save at a time, after a pause.
func (s *Screen) keepUp() tea.Cmd {
	if s.ctx.Keep == nil || !s.store.ready || s.store.busy || s.store.done == s.changes {
		return nil
	}
	s.store.busy = true
	if s.store.pause <= 0 {
		return s.saveNow()
	}
	return tea.Tick(s.store.pause, func(time.Time) tea.Msg { return saveDueMsg{} })
}

func (s *Screen) saveNow() tea.Cmd {
	keep, change, disk := s.ctx.Keep, s.changes, s.store.disk
	data, err := s.desk().Encode()
	return func() tea.Msg {
		if err == nil {
			err = disk.write(change, func() error { return keep.Save(draftsName, data) })
		}
		return savedMsg{change: change, err: err}
	}
}

// Save saves at once what no save holds yet, before the program leaves; nil when everything is on disk.
func (s *Screen) Save() tea.Cmd {
	if s.ctx.Keep == nil || !s.store.ready || s.store.done == s.changes && !s.store.complain {
		return nil
	}
	return s.saveNow()
}

// disk keeps two saves that run at once from leaving the older change behind.
type disk struct {
	mu   sync.Mutex
	last int // the newest change that was written
}

func (d *disk) write(change int, save func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if change < d.last {
		return nil
	}
	err := save()
	if err == nil {
		d.last = change
	}
	return err
}

func (s *Screen) wasSaved(m savedMsg) tea.Cmd {
	if m.name != "" {
		if m.err != nil {
			return screen.Toast(theme.Danger, "the template was not saved: "+plain(m.err))
		}
		return screen.Toast(theme.Good, m.name)
	}
	s.store.busy = false
	s.store.done = max(s.store.done, m.change)
	if m.err == nil {
		s.store.complain = false
		return nil
	}
	if s.store.complain {
		return nil
	}
	s.store.complain = true
	return screen.Toast(theme.Warn, "unfinished work is not saved: "+plain(m.err))
}

// remember keeps the screen for undo.
func (s *Screen) remember() {
	s.before = &compose.Desk{Form: s.form, Calls: s.b.Clone(), Transfer: s.x[intent.KindTransfer].Clone(),
		Swap: s.x[intent.KindSwap].Clone()}
}

// undo swaps the screen with its content before the last clearing, loading or import.
func (s *Screen) undo() tea.Cmd {
	back := s.before
	if back == nil {
		return screen.Toast(theme.Warn, "nothing was cleared or replaced yet")
	}
	s.remember()
	s.touched()
	s.lay(*back)
	return screen.Toast(theme.Good, "Restored; U again to redo")
}
