// Package settings is the screen of a person's choices and of the program's set-up: theme, mouse, amounts, keys; the
// policy, the vault, the proxy and the files; and the doctor, which checks everything and says what to do.
//
// Promise: a choice is checked, written into the configuration with the person's comments kept, and only then used; one
// that needs a restart says so. The screen shows policy, vault and files and does not change them: the first two decide
// what may be signed. It shows nothing secret. The doctor changes nothing.
//
// The screen opens on top of a tab; esc closes it. Update does no input or output. Sources: docs/configuration.md,
// docs/policy.md, TH-Y5, K7.
package settings

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Action is the action of a key: its name in the configuration ("balances.sort"), its screen, its words and its default
// key. Fixed says why the key cannot be changed ("" when it can).
type Action struct{ Name, Screen, Words, Key, Fixed string }

// Path is a file or directory of the program, for display.
type Path struct{ Name, Path string }

// Deps are the dependencies of the screen. A nil function removes its part.
type Deps struct {
	UI      config.UI
	Config  string                   // path of the configuration
	Save    func(ui config.UI) error // writes the choices; called from commands
	Actions func() []Action          // the actions of keys, for rebinding; called on the event loop

	Paths     []Path
	LockAfter time.Duration // 0: no vault that locks
	Service   string        // its place, for display
	// RPC is where the profile wants its chains to answer JSON-RPC, "" for nowhere; Endpoints are where they do. Nil:
	// the chains are another program's.
	RPC       string
	Endpoints func() ([]Path, error)
	// Policy reads the policy file again and puts its limits into words; called from commands. PolicyFile "": there is
	// no policy file.
	PolicyFile string
	Policy     func() ([]string, error)
	// Doctor runs all checks; Report leaves out the private parts. Both are called from commands.
	Doctor func(ctx context.Context, t doctor.Terminal) []doctor.Finding
	Report func(found []doctor.Finding) string
	Getenv func(string) string // of the person's terminal; nil: nothing is known about it
}

// page says which page is on the screen.
type page int

const (
	pageMain page = iota
	pageKeys
	pageDoctor
)

// Model is the screen.
type Model struct {
	ctx  screen.Context
	deps Deps
	ui   config.UI
	page page
	sel  [pageDoctor + 1]int
	text kit.Scroll
	w, h int

	life context.Context
	stop context.CancelFunc
	gen  int

	choice  *kit.Choice
	field   *kit.Field // the dust threshold while it is edited
	editing bool
	wrong   string
	saving  bool

	limits    []string // of the policy
	limitsErr error
	limitsGot bool

	actions []Action
	rows    []int // the actions that match the filter
	filter  *kit.Field
	typing  bool // the filter has the keyboard
	waiting bool // the next key becomes the key of the selected action

	found   []doctor.Finding
	asking  bool
	askedAt time.Time
	look    theme.Theme // of the last drawing: the doctor's words about colours use it
	starts  []int       // the first line of each row in the last layout
}

// New makes the screen.
func New(ctx screen.Context, d Deps) *Model {
	life, stop := context.WithCancel(context.Background())
	return &Model{ctx: ctx, deps: d, ui: d.UI, life: life, stop: stop, choice: kit.NewChoice(""),
		field: kit.NewField("", 16), filter: kit.NewField("", 40)}
}

// Title names the screen.
func (m *Model) Title() string {
	switch m.page {
	case pageKeys:
		return "Settings: keys"
	case pageDoctor:
		return "Doctor"
	}
	return "Settings"
}

// Init does nothing before the screen opens.
func (m *Model) Init() tea.Cmd { return nil }

// Close cancels what is in progress.
func (m *Model) Close() { m.stop() }

// Capturing reports whether something is typed or chosen, or typed text goes into the selected row.
func (m *Model) Capturing() bool {
	return m.busy() || m.takesText()
}

// busy reports whether a list, a field or a question has the keyboard.
func (m *Model) busy() bool { return m.choice.IsOpen() || m.editing || m.waiting || m.typing }

// takesText reports whether the selected row is text: a character starts the typing there.
func (m *Model) takesText() bool {
	if m.busy() || m.page != pageMain || m.saving {
		return false
	}
	items := m.items()
	it := items[min(m.sel[pageMain], len(items)-1)]
	return it.id == idDust && it.off == ""
}

// DoctorArg as the argument of screen.OpenMsg opens the doctor at once.
type DoctorArg struct{}

// The messages.
type (
	savedMsg struct {
		gen  int
		ui   config.UI
		what string
		err  error
	}
	limitsMsg struct {
		lines []string
		err   error
	}
	foundMsg struct {
		gen   int
		found []doctor.Finding
	}
)
