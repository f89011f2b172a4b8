package setup

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/vault"
)

// stepID is one step, in the order of the walk.
type stepID int

const (
	stepName stepID = iota
	stepService
	stepAPIKey
	stepNodes
	stepFound
	stepStore
	stepOwn
	stepAccounts
	stepCheck
	stepSummary
	stepDone
)

// Model is the set-up as a tea.Model. It is used on the event loop only.
type Model struct {
	opt    Options
	life   context.Context
	stop   context.CancelFunc
	job    *job.Job // nil: this program cannot be suspended
	result string

	w, h    int
	ground  theme.Ground
	colours colorprofile.Profile
	theme   theme.Theme
	scroll  kit.Scroll

	step  stepID
	at    [stepDone + 1]int // the row with the keyboard, by step
	note  note
	wrong map[string]string // the mistake of each row
	leave time.Time         // time of the esc on the first step

	busy   string // what is in progress; "": nothing
	gen    int
	cancel context.CancelFunc

	fields  map[string]*kit.Field
	secrets map[string]*kit.SecretField
	picks   map[string]string // the chosen value, by group
	filled  map[string]string // addresses of keys that prefill put into fields, by row

	names    []string // existing profiles
	net      network.Descriptor
	netPath  string // of the network file
	looked   looked // at the network file while its name was being typed
	others   []string
	probed   string // the place of keys that works, as tested
	keys     []vault.Candidate
	keysFor  string       // the choices that the keys were made for
	held     []vault.Item // the keys without their secrets, for display after the secrets are wiped
	compared []profile.Compared
	found    []doctor.Finding
	nodes    config.Profile  // on the networks.toml that was read
	needs    []networks.Need // the keys that its nodes ask for
	has      profile.Made    // what the new profile has

	help   bool // the help is open
	terms  bool // and explains the words
	helped kit.Scroll
}

// note is one line above the rows: what happened.
type note struct {
	meaning theme.Meaning
	text    string
}

// looked is the result of reading a network file.
type looked struct {
	path, text string
	meaning    theme.Meaning
}

// New makes the set-up. Nothing runs before its Init.
func New(o Options) *Model {
	life, stop := context.WithCancel(context.Background())
	m := &Model{
		opt: o.withDefaults(), life: life, stop: stop, colours: colorprofile.Env(o.Env),
		wrong: map[string]string{}, fields: map[string]*kit.Field{}, secrets: map[string]*kit.SecretField{},
		filled: map[string]string{}, picks: map[string]string{kindGroup: string(network.Lab), solanaGroup: no,
			placeGroup: placeHere},
	}
	for id, limit := range map[string]int{
		rowName: 32, rowURL: 300, rowCA: 1000, rowNetwork: 1000, rowFingerprint: 80, rowKeyFile: 1000, rowSigner: 60,
		rowSession: 60, rowAdmin: 60, rowSolana: 60, rowNodes: 1000, rowReal: 40,
	} {
		m.fields[id] = kit.NewField("", limit)
	}
	for _, id := range []string{rowAPIKey, rowPass, rowAgain, rowKeyText, rowKeyPass} {
		m.secrets[id] = kit.NewSecretField()
	}
	m.retheme()
	m.focus()
	return m
}

// Init asks the terminal for its background and the configuration for its profiles.
func (m *Model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, m.loadNames()) }

// Close cancels what is in progress and wipes every secret.
func (m *Model) Close() { m.stop(); m.wipe() }

func (m *Model) retheme() {
	m.theme = theme.Make(term.Look(m.opt.UI), m.ground, m.colours, m.opt.UI.ASCII || m.opt.Env.ASCII())
}

// wipe wipes every secret.
func (m *Model) wipe() {
	for _, s := range m.secrets {
		s.Wipe()
	}
	for _, k := range m.keys {
		k.Key.Wipe()
	}
	m.keys, m.keysFor = nil, ""
}

// focus gives the row of the step the keyboard, and takes it from all others.
func (m *Model) focus() {
	rows := m.rows()
	m.at[m.step] = max(0, min(m.at[m.step], len(rows)-1))
	for _, f := range m.fields {
		f.Blur()
	}
	if len(rows) > 0 && rows[m.at[m.step]].field != nil {
		rows[m.at[m.step]].field.Focus()
	}
}

// goTo shows a step.
func (m *Model) goTo(s stepID) {
	m.step, m.wrong, m.leave = s, map[string]string{}, time.Time{}
	m.scroll.Move(-1 << 20)
	m.focus()
	if s != stepSummary { // the summary is read from its top
		m.reveal()
	}
}

func (m *Model) value(id string) string { return strings.TrimSpace(m.fields[id].Value()) }

// current is the row with the keyboard.
func (m *Model) current() row {
	rows := m.rows()
	if at := m.at[m.step]; at < len(rows) {
		return rows[at]
	}
	return row{}
}
