package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Model is the whole program as a tea.Model. It is used on the event loop only.
type Model struct {
	opt     Options
	ctx     screen.Context
	screens map[screen.ID]screen.Screen
	order   []screen.ID // every screen, tabs first: the order in which messages are sent
	tabs    []screen.ID
	tab     screen.ID
	over    map[screen.ID][]screen.ID // the screens opened on top of each tab

	w, h    int
	theme   theme.Theme
	look    theme.Look
	ground  theme.Ground
	blank   bool // nothing is drawn before the terminal names its background, or patience ends
	profile colorprofile.Profile
	mouseOn bool
	keys    *keymap

	total   screen.TotalChangedMsg
	hidden  bool // amounts are hidden; the screens know it
	toast   toast
	help    help
	job     *job.Job // nil: this program cannot be suspended
	palette *kit.Choice
	naming  naming
	recent  []string  // lines of the palette, the last one first
	quitAsk time.Time // time of the first refused q
	quitWhy []string  // the reasons for refusing it
	saving  bool      // it waits for a save

	toldTmux bool

	wakeAt  time.Time // time of the pending wake-up; zero: none
	wakeGen int
}

type toast struct {
	screen.ToastMsg
	since, until time.Time
	refusal      bool // the toast says why a key does nothing here
}

// wokeMsg is the wake-up that nap arranged.
type wokeMsg struct{ gen int }

// patience is how long the first frame waits for the terminal's background. A frame in other colours before it would be
// written twice; a terminal answers within milliseconds, or after the way to it, or never.
const patience = 50 * time.Millisecond

// patienceMsg says that patience has ended.
type patienceMsg struct{}

// New builds the program. Nothing runs before its Init.
func New(o Options) *Model {
	if o.Context.Clock == nil {
		o.Context.Clock = time.Now
	}
	o.Context.Settings.Hidden = o.Context.Settings.Hidden || o.UI.HideAmounts
	if o.View != nil && o.View.left {
		o.Context.Settings.Hidden = o.View.hidden
	}
	m := &Model{
		opt: o, ctx: o.Context, screens: o.Screens(o.Context), over: map[screen.ID][]screen.ID{},
		look: term.Look(o.UI), ground: o.ground(), profile: o.profile(), palette: kit.NewChoice(paletteTitle),
		mouseOn: o.UI.MouseOn(o.remote()), keys: newKeymap(o.UI.Keys), hidden: o.Context.Settings.Hidden,
	}
	m.palette.Labels, m.palette.Reasons = true, true
	for _, id := range screen.Tabs() {
		if m.screens[id] != nil {
			m.tabs = append(m.tabs, id)
		}
	}
	m.order = append(m.order, m.tabs...)
	for _, id := range screen.Overlays() {
		if m.screens[id] != nil {
			m.order = append(m.order, id)
		}
	}
	m.tab = m.tabs[0]
	if m.screens[o.Start] != nil {
		m.open(o.Start)
	}
	m.resume()
	m.retheme()
	m.checkKeys()
	return m
}

// Init asks the terminal for its background and loads the caches, then starts every screen.
func (m *Model) Init() tea.Cmd {
	first, cmds := []tea.Cmd{tea.RequestBackgroundColor}, []tea.Cmd(nil)
	if m.opt.remote() {
		first = append(first, tea.Raw(ansi.RequestModeSynchronizedOutput))
	}
	for _, id := range m.order {
		if s, ok := m.screens[id].(screen.Cacher); ok {
			first = append(first, s.LoadCache())
		}
		cmds = append(cmds, m.screens[id].Init())
	}
	if m.opt.Notice != "" {
		cmds = append(cmds, screen.Toast(theme.Warn, m.opt.Notice))
	}
	if m.hidden {
		first = append(first, m.broadcast(screen.AmountsMsg{Hidden: true}))
	}
	start := tea.Sequence(tea.Batch(first...), tea.Batch(cmds...))
	if m.blank {
		return tea.Batch(start, tea.Tick(patience, func(time.Time) tea.Msg { return patienceMsg{} }))
	}
	return start
}

// Close cancels what the screens are doing.
func (m *Model) Close() {
	for _, id := range m.order {
		m.screens[id].Close()
	}
}

func (m *Model) retheme() {
	m.theme = theme.Make(m.look, m.ground, m.profile, m.opt.ascii())
	m.theme.Links = m.opt.links()
}

// activeID is the screen that has the keyboard.
func (m *Model) activeID() screen.ID {
	if over := m.over[m.tab]; len(over) > 0 {
		return over[len(over)-1]
	}
	return m.tab
}

func (m *Model) active() screen.Screen { return m.screens[m.activeID()] }

// open shows a screen: a tab by switching to it and closing the screens on top, any other on top of the tab.
func (m *Model) open(id screen.ID) {
	if slices.Contains(m.tabs, id) {
		m.tab = id
		return
	}
	over := m.over[m.tab]
	if i := slices.Index(over, id); i >= 0 {
		over = over[:i]
	}
	m.over[m.tab] = append(over, id)
}

// back closes a screen that is open on top of a tab; "" is the visible one.
func (m *Model) back(from screen.ID) {
	if over := m.over[m.tab]; from == "" && len(over) > 0 {
		m.over[m.tab] = over[:len(over)-1]
	}
	for tab, over := range m.over {
		if i := slices.Index(over, from); i >= 0 {
			m.over[tab] = over[:i]
		}
	}
}

const (
	chromeTop    = 3 // first line, tabs, rule
	chromeBottom = 2 // rule or toast, keys
)

func (m *Model) tooSmall() bool { return m.w < MinWidth || m.h < MinHeight }

// body is the size of the body in cells; at least that of the smallest terminal.
func (m *Model) body() (w, h int) {
	return max(m.w, MinWidth), max(m.h, MinHeight) - chromeTop - chromeBottom
}
