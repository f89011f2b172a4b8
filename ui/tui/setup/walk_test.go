package setup

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/assets"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
)

// fake is the Maker of a set-up. Tests change its answers.
type fake struct {
	n        network.Descriptor
	readErr  error
	findErr  error
	probeErr error
	compErr  error
	lie      bool // the service computes other addresses
	found    []doctor.Finding
	makeErr  error
	others   []string
	probes   int
	made     []config.Profile
	secrets  [][]byte // copies of the secrets that Make received
	given    []profile.Plan

	nodesFile string
	nodesKind network.Kind
	nodesErr  error
	needs     []networks.Need
	nodeKeys  []string // what the nodes got
	has       profile.Made
}

func (f *fake) Names() ([]string, error) { return []string{"demo", "team"}, nil }

func (f *fake) CanAdd(p config.Profile) error {
	if p.Name == "team" {
		return &config.Error{Path: "c.toml", Key: "profiles.team", Problem: "there is such a profile already"}
	}
	return config.CanAdd(filepath.Join(os.TempDir(), "coffer-no-such-directory", "config.toml"), p)
}

func (f *fake) Describe() (network.Descriptor, error) { return profile.Host{}.Describe() }

func (f *fake) ReadNetwork(_ string, kind network.Kind) (network.Descriptor, error) {
	n := f.n
	n.Kind = kind
	return n, f.readErr
}

func (f *fake) FindNetwork(typed string, kind network.Kind) (string, network.Descriptor, error) {
	n := f.n
	n.Kind = kind
	if f.findErr == nil && !profile.SameFingerprint(typed, n) {
		return "", n, profile.ErrNoNetworkFile
	}
	return "/data/serve/network.json", n, f.findErr
}

func (f *fake) OnNetwork(string) ([]string, error) { return f.others, nil }

func (f *fake) ProbeStore(context.Context, config.Profile, string) error {
	f.probes++
	return f.probeErr
}

func (f *fake) ComparePlan(_ context.Context, p profile.Plan) ([]profile.Compared, error) {
	var out []profile.Compared
	for _, a := range p.Profile.WireAccounts(p.Network.Pins) {
		c := profile.Compared{Account: a, Said: common.HexToAddress(a.AccountAddress),
			Own: a.Type == api.AccountSolana || a.Type == api.AccountKernelV33}
		if f.lie {
			c.Said = common.Address{1}
		}
		out = append(out, c)
	}
	return out, f.compErr
}

func (f *fake) Reach(context.Context, profile.Plan) []doctor.Finding { return f.found }

func (f *fake) NodesFile() string { return f.nodesFile }

func (f *fake) OnNodes(p config.Profile, path string) (config.Profile, network.Descriptor, []networks.Need, error) {
	n := f.n
	n.Kind = f.nodesKind
	p.Networks, p.Kind, p.NetworkID = path, n.Kind, n.ID
	return p, n, f.needs, f.nodesErr
}

func (f *fake) TryNodes(_ context.Context, p profile.Plan) []doctor.Finding {
	for _, n := range f.needs {
		f.nodeKeys = append(f.nodeKeys, n.Host+" gets "+string(p.NodeKeys[n].Reveal()))
	}
	return f.found
}

func (f *fake) Make(_ context.Context, p profile.Plan) (profile.Made, error) {
	f.given = append(f.given, p)
	if f.makeErr != nil {
		return profile.Made{}, f.makeErr
	}
	f.made = append(f.made, p.Profile)
	f.secrets = append(f.secrets, bytes.Clone(p.APIKey.Reveal()), bytes.Clone(p.Passphrase.Reveal()))
	for _, k := range p.Keys {
		f.secrets = append(f.secrets, bytes.Clone(k.Key.Reveal()))
	}
	return f.has, nil
}

// walk is a person in front of the set-up.
type walk struct {
	*testing.T
	m    *Model
	f    *fake
	now  time.Time
	seen strings.Builder // everything that was drawn
	quit bool
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	p, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
	a := common.HexToAddress
	n, err := network.Descriptor{
		Version: 1, Kind: network.Lab, Chains: []string{"eip155:1", "eip155:10"},
		Genesis: map[string]string{"eip155:1": "0xab"},
		Pins: network.Pins{Factory: a(p.Factory), KernelV31: a(p.KernelV31Implementation),
			ECDSAValidator: a(p.ECDSAValidator), RoleBasedValidator: a(p.RoleBasedValidator),
			CoSigner: a("0xf6112bd3da673b15926f16537d2b399844a9ed91")},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{T: t, f: &fake{n: n, found: []doctor.Finding{
		{Area: doctor.AreaService, Name: "reached", Text: "answered in 3 ms"}}}, now: tuitest.Now()}
	w.m = New(Options{Maker: w.f, Env: []string{"HOME=" + t.TempDir(), "TERM=xterm-256color", "LANG=C.UTF-8"},
		Clock: func() time.Time { return w.now }, Random: rand.Reader})
	t.Cleanup(w.m.Close)
	w.give(tea.WindowSizeMsg{Width: 80, Height: 24})
	w.run(w.m.loadNames())
	return w
}

// give passes a message to the model and runs its commands.
func (w *walk) give(msg tea.Msg) {
	_, cmd := w.m.Update(msg)
	w.screen()
	w.run(cmd)
}

func (w *walk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		w.quit = true
	case tea.BatchMsg:
		for _, c := range msg {
			w.run(c)
		}
	case nil:
	default:
		w.give(msg)
	}
}

func (w *walk) keys(names ...string) {
	for _, n := range names {
		w.give(kit.Press(n))
	}
}

// types types text letter by letter.
func (w *walk) types(text string) {
	for _, r := range text {
		w.give(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// line types text and presses enter.
func (w *walk) line(text string) { w.types(text); w.keys("enter") }

// to moves the keyboard to a row.
func (w *walk) to(id string) {
	w.Helper()
	at := slices.IndexFunc(w.m.rows(), func(r row) bool { return r.id == id })
	if at < 0 {
		w.Fatalf("there is no row %q:\n%s", id, w.screen())
	}
	for w.m.at[w.m.step] != at {
		if w.m.at[w.m.step] < at {
			w.keys("down")
		} else {
			w.keys("up")
		}
	}
}

func (w *walk) picks(group, value string) {
	w.Helper()
	w.to(group + "=" + value)
	if !w.m.inSight() {
		w.keys("enter")
	}
	w.keys("enter")
}

// goesOn presses the button; the first press only reveals a row that is out of sight.
func (w *walk) goesOn() {
	w.Helper()
	w.to(rowContinue)
	if !w.m.inSight() {
		w.keys("enter")
	}
	w.keys("enter")
}

func (w *walk) screen() string {
	content, _, _, _ := kit.TakeCursor(w.m.content())
	tuitest.CheckBox(w, content, w.m.w, w.m.h)
	w.seen.WriteString(content)
	return ansi.Strip(content)
}

func (w *walk) at(s stepID) {
	w.Helper()
	if w.m.step != s {
		w.Fatalf("at %s, expected %s:\n%s", stepTitle(w.m.step), stepTitle(s), w.screen())
	}
}

const (
	walkAPIKey  = "coffer_key_of_the_walk"
	walkNodeKey = "key-of-the-node"
	walkPass    = "seven plain words beside a river"
)

func (w *walk) throughService() {
	w.Helper()
	w.line("mine")
	w.picks(placeGroup, placeService)
	w.goesOn()
	w.at(stepService)
	w.line("https://lab.invalid:8443/api")
	w.to(rowFingerprint)
	w.line(w.f.n.Fingerprint())
	w.goesOn()
	w.at(stepAPIKey)
}

func (w *walk) throughStore() {
	w.Helper()
	w.throughService()
	w.line(walkAPIKey)
	w.keys("enter")
	w.at(stepStore)
	w.picks(storeGroup, config.VaultFile)
	w.to(rowPass)
	w.line(walkPass)
	w.line(walkPass)
	w.goesOn()
	w.at(stepOwn)
}

func (w *walk) throughAccounts() {
	w.Helper()
	w.throughStore()
	w.picks(ownGroup, ownBoth)
	w.goesOn()
	w.at(stepAccounts)
	w.picks(evmGroup, api.AccountKernelV31)
	w.goesOn()
	w.at(stepCheck)
	w.goesOn()
	w.at(stepSummary)
}
