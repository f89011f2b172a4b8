package history

import (
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// loadedMsg brings the cached records.
type loadedMsg struct {
	rows   []*record
	at     time.Time
	views  []view
	errors []error
}

// savedMsg reports whether a document was written.
type savedMsg struct {
	name string
	err  error
}

// saveMsg says that changes are due to be written.
type saveMsg struct{}

// owner is the owner of this history; false without an account.
func (m *Model) owner() (owner, bool) {
	if len(m.ctx.Accounts) == 0 {
		return owner{}, false
	}
	return owner{m.ctx.Network.ID, m.ctx.Accounts[0].AccountAddress}, true
}

// load reads the cache.
func (m *Model) load() tea.Cmd {
	keep, rd := m.ctx.Keep, readerOf(m.ctx)
	o, known := m.owner()
	return func() tea.Msg {
		var out loadedMsg
		b, err := keep.Load(keptName)
		if err == nil && b != nil && known {
			out.rows, out.at, err = decodeCache(b, o, rd)
		}
		if err != nil && !errors.Is(err, errForeign) {
			out.errors = append(out.errors, err)
		}
		if b, err = keep.Load(viewsName); err == nil && b != nil {
			out.views, err = decodeViews(b)
		}
		if err != nil {
			out.errors = append(out.errors, err)
		}
		return out
	}
}

// wasLoaded shows the cached records and reads the top of the list.
func (m *Model) wasLoaded(msg loadedMsg) tea.Cmd {
	m.views = msg.views
	if len(msg.rows) > 0 {
		m.keptAt = msg.at
		m.book.hold(msg.rows)
		m.settle()
	}
	cmd := m.startRefresh(coverRecords)
	if len(msg.rows) > 0 {
		cmd = tea.Batch(cmd, m.tell())
	}
	for _, err := range msg.errors {
		cmd = tea.Batch(cmd, screen.Toast(theme.Warn, err.Error()+"; Coffer makes a new one"))
	}
	return cmd
}

// newest are the records from the top to the first gap, as many as the cache keeps.
func (b *book) newest() []*record {
	var out []*record
	for _, s := range b.sections {
		if s.gap {
			break
		}
		for _, c := range s.chunks {
			if !c.held() {
				return out
			}
			for _, r := range c.rows {
				if !r.unread() {
					out = append(out, r)
				}
			}
			if len(out) >= MaxKept {
				return out[:MaxKept]
			}
		}
	}
	return out
}

// saveSoon writes changes, at most every saveEvery.
func (m *Model) saveSoon() tea.Cmd {
	o, known := m.owner()
	if !m.dirty || m.saving || m.ctx.Keep == nil || !known || !m.loaded {
		return nil
	}
	now := m.ctx.Clock()
	if wait := saveEvery - now.Sub(m.savedAt); !m.savedAt.IsZero() && wait > 0 {
		if m.saveDue {
			return nil
		}
		m.saveDue = true
		return m.later(wait, saveMsg{})
	}
	m.dirty, m.saving, m.savedAt = false, true, now
	rows, keep := m.book.newest(), m.ctx.Keep
	return func() tea.Msg {
		b, err := encodeCache(o, now, rows)
		if err == nil {
			err = keep.Save(keptName, b)
		}
		return savedMsg{keptName, err}
	}
}

func (m *Model) wasSaved(msg savedMsg) tea.Cmd {
	if msg.name == keptName {
		m.saving = false
	}
	if msg.err != nil && !m.saveTold {
		m.saveTold = true
		return screen.Toast(theme.Warn, "what is kept between starts could not be written: "+msg.err.Error())
	}
	return nil
}

// saveViews writes a copy of the saved views.
func (m *Model) saveViews() tea.Cmd {
	keep, list := m.ctx.Keep, slices.Clone(m.views)
	return func() tea.Msg {
		b, err := encodeViews(list)
		if err == nil {
			err = keep.Save(viewsName, b)
		}
		return savedMsg{viewsName, err}
	}
}

// putView saves the filter under a name, in place of an older one of that name.
func (m *Model) putView(name, filter string) {
	v := view{Name: name, Filter: filter}
	if i := slices.IndexFunc(m.views, func(x view) bool { return x.Name == name }); i >= 0 {
		m.views[i] = v
		return
	}
	m.views = append(m.views, v)
	slices.SortFunc(m.views, func(a, b view) int { return strings.Compare(a.Name, b.Name) })
}
