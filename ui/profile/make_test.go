package profile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/zalando/go-keyring"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/wallet/vault"
)

// ring is a keyring in memory.
type ring struct {
	mu    sync.Mutex
	items map[string][]byte
	fail  int // the call to Set that fails, from 1; 0: none
	sets  int
}

func (r *ring) Set(service, user string, value []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sets++; r.sets == r.fail {
		return errors.New("org.freedesktop.Secret.Error.IsLocked")
	}
	r.items[service+" "+user] = bytes.Clone(value)
	return nil
}

func (r *ring) Get(service, user string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.items[service+" "+user]
	if !ok {
		return nil, keyring.ErrNotFound
	}
	return bytes.Clone(v), nil
}

func (r *ring) Delete(service, user string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.items[service+" "+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(r.items, service+" "+user)
	return nil
}

// bench is a home directory with a network file.
type bench struct {
	dir, file string
	host      Host
	ring      *ring
	n         network.Descriptor
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), ring: &ring{items: map[string][]byte{}}}
	b.host = Host{Getenv: func(k string) string {
		return map[string]string{"COFFER_CONFIG": b.dir + "/config/config.toml", "COFFER_DATA": b.dir, "HOME": b.dir}[k]
	}, Keyring: b.ring, WorkFactor: 1}
	n, err := network.Descriptor{Version: 2, Kind: network.Lab, Chains: []string{"eip155:1"},
		Genesis:     map[string]string{"eip155:1": "0xab"},
		Deployments: []network.Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}}}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := n.Encode()
	b.n, b.file = n, filepath.Join(b.dir, "network.json")
	if err = errors.Join(err, os.WriteFile(b.file, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	return b
}

const planAPIKey, planPass = "api-key-0123456789", "correct horse battery"

// plan is one of everything: two keys, an account, the API key.
func (b *bench) plan(t *testing.T, kind string) Plan {
	t.Helper()
	p := Plan{
		Profile: config.Profile{
			Name: "team", Kind: network.Lab, BaseURL: "https://lab.invalid/api", NetworkFile: b.file, NetworkID: b.n.ID,
			Vault: kind,
			Accounts: []config.Account{{Type: api.AccountKernelV31,
				SignerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}},
		},
		Network: b.n, APIKey: secret.New([]byte(planAPIKey)), Default: true,
	}
	if kind != config.VaultKeyringOnly && kind != config.VaultMemory {
		p.Passphrase = secret.New([]byte(planPass))
	}
	if kind == config.VaultMemory {
		return p
	}
	for _, k := range []vault.Kind{vault.EVM, vault.Solana} {
		key, err := vault.New(k, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		address, err := vault.AddressOf(k, key)
		if err != nil {
			t.Fatal(err)
		}
		p.Keys = append(p.Keys, vault.Candidate{Kind: k, Address: address, Key: key})
	}
	return p
}

// TestD7_AProfileInsideThisProgramIsMadeWhole: its network is made on the way; when the configuration cannot be
// written, nothing of it stays, and data that were there before do.
func TestD7_AProfileInsideThisProgramIsMadeWhole(t *testing.T) {
	for _, before := range []bool{false, true} {
		b := newBench(t)
		n, err := Host{}.Describe()
		if err != nil {
			t.Fatal(err)
		}
		n.Version, n.Chains, n.Genesis = 1, []string{"eip155:1"}, map[string]string{"eip155:1": "0xab"}
		if n, err = n.WithID(); err != nil {
			t.Fatal(err)
		}
		b.host.Embedded = func(_ context.Context, dir string, _ EmbeddedOptions) (Embedded, error) {
			return Embedded{Network: n, BaseURL: "https://embedded.invalid", APIKey: secret.New([]byte("key")),
				Close: func() error { return nil }}, os.MkdirAll(dir, 0o700)
		}
		p := b.plan(t, config.VaultFile)
		p.Profile = config.Profile{Name: "own", Kind: network.Embedded, Vault: config.VaultFile,
			Accounts: p.Profile.Accounts}
		p.Network, p.APIKey = network.Descriptor{}, secret.Secret{}
		paths, err := config.PathsFrom(b.host.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		kept := filepath.Join(paths.ProfileData("own"), "coffer.db")
		if before {
			if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		steps, err := b.host.steps(&p)
		if err != nil {
			t.Fatal(err)
		}
		steps[len(steps)-1].do = func(context.Context) error { return errors.New("the disk is full") }
		if err := carryOut(t.Context(), steps); err == nil || gone(kept) == before ||
			gone(paths.ProfileData("own")) == before || !gone(paths.ProfileKeys("own")) {
			t.Errorf("with data %v: %v %v", before, err, b.tree(t))
		}
		if _, err := b.host.Make(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		o, err := b.host.OpenKeys(t.Context(), "own")
		if err != nil || o.Network.ID != n.ID || len(o.Accounts) != 1 {
			t.Fatalf("%+v %v", o, err)
		}
		if err := o.Vault().Unlock(t.Context(), secret.New([]byte(planPass))); err != nil {
			t.Error(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// tree is everything below the home and in the keyring.
func (b *bench) tree(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(b.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && e.Type().IsRegular() {
			raw, errRead := os.ReadFile(path)
			out, err = append(out, fmt.Sprintf("%s %v %x", path, info.Mode(), raw)), errRead
		} else {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(out, slices.Sorted(maps.Keys(b.ring.items))...)
}

func TestMakingAProfileLeavesOneThatOpens(t *testing.T) {
	for _, kind := range []string{config.VaultFile, config.VaultKeyring, config.VaultKeyringOnly} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.plan(t, kind)
			if _, err := b.host.Make(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			p.Passphrase.Wipe()
			b.host.Ask = func(context.Context, string) (secret.Secret, error) {
				return secret.New([]byte(planPass)),
					nil
			}
			o, err := b.host.Open(t.Context(), "", "") // the default one
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = o.Close() }()
			for _, k := range p.Keys {
				if there, err := o.has(t.Context(), k.Address); err != nil || !there {
					t.Errorf("%s: %v, %v", k.Address, there, err)
				}
			}
			if _, refuses := o.Signer().(refusing); refuses || o.Change() != nil {
				t.Errorf("what was typed a moment ago is asked for again: %+v", o.Change())
			}
			if key, err := o.apiKey(t.Context()); err != nil || string(key.Reveal()) != planAPIKey {
				t.Errorf("the API key: %v", err)
			}
			for _, line := range b.tree(t) {
				if strings.Contains(line, ".new-") || strings.Contains(line, fmt.Sprintf("%x", planAPIKey)) {
					t.Errorf("left behind: %.100s", line)
				}
			}
		})
	}
}

func TestAProfileThatKeepsNothingHasNoVault(t *testing.T) {
	b := newBench(t)
	if _, err := b.host.Make(t.Context(), b.plan(t, config.VaultMemory)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "data")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was kept: %v", err)
	}
	p := b.plan(t, config.VaultMemory)
	p.Keys = b.plan(t, config.VaultFile).Keys
	if _, err := b.host.Make(t.Context(), p); err == nil {
		t.Error("keys that cannot be kept were accepted")
	}
}

// Whichever step fails, before it or half-way through, the home and the keyring are as before.
func TestASetUpThatFailsLeavesNothing(t *testing.T) {
	broken := errors.New("broken")
	for _, kind := range []string{config.VaultFile, config.VaultKeyring, config.VaultMemory} {
		b := newBench(t)
		p := b.plan(t, kind)
		n, err := b.host.steps(&p)
		if err != nil {
			t.Fatal(err)
		}
		for at := range n {
			for _, after := range []bool{false, true} {
				p := b.plan(t, kind)
				steps, err := b.host.steps(&p)
				if err != nil {
					t.Fatal(err)
				}
				do := steps[at].do
				steps[at].do = func(ctx context.Context) error {
					if after && at < len(n)-1 { // the last one is done or not done: the configuration is one write
						if err := do(ctx); err != nil {
							return err
						}
					}
					return broken
				}
				before := b.tree(t)
				if err := carryOut(t.Context(), steps); !errors.Is(err, broken) {
					t.Fatalf("%s, step %d: %v", kind, at, err)
				}
				if after := b.tree(t); !slices.Equal(before, after) {
					t.Errorf("%s, step %q: left\n%.300q", kind, steps[at].name, after)
				}
			}
		}
	}
}

func TestAKeyringThatFailsHalfWayIsCleaned(t *testing.T) {
	for fail := 1; fail <= 6; fail++ {
		b := newBench(t)
		b.ring.fail = fail
		_, err := b.host.Make(t.Context(), b.plan(t, config.VaultKeyringOnly))
		if b.ring.sets < fail {
			break // it needs fewer
		}
		var of *vault.KeyringError
		if !errors.As(err, &of) || len(b.ring.items) > 0 {
			t.Errorf("call %d: %v, %d items left", fail, err, len(b.ring.items))
		}
		if _, err := os.Stat(filepath.Join(b.dir, "config")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a configuration was written: %v", err)
		}
	}
}

func TestASetUpThatIsCalledOffLeavesNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := b.tree(t)
	if _, err := b.host.Make(ctx, b.plan(t, config.VaultFile)); !errors.Is(err, context.Canceled) ||
		!slices.Equal(before, b.tree(t)) {
		t.Errorf("%v", err)
	}
}

func TestKeysOfAnEarlierProfileAreNotOverwritten(t *testing.T) {
	for _, kind := range []string{config.VaultFile, config.VaultKeyringOnly} {
		b := newBench(t)
		if _, err := b.host.Make(t.Context(), b.plan(t, kind)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(b.dir, "config", "config.toml")); err != nil {
			t.Fatal(err)
		}
		before := b.tree(t)
		if _, err := b.host.Make(t.Context(), b.plan(t, kind)); err == nil ||
			!strings.Contains(err.Error(), "earlier profile") || !slices.Equal(before, b.tree(t)) {
			t.Errorf("%s: %v", kind, err)
		}
		p := b.plan(t, kind).Profile
		if err := b.host.ProbeStore(t.Context(), p, b.n.ID); kind == config.VaultKeyringOnly &&
			(err == nil || !strings.Contains(err.Error(), "earlier profile")) {
			t.Errorf("the probe: %v", err)
		}
	}
}

func TestTheNetworkFileIsFoundByTheFingerprintThatWasTyped(t *testing.T) {
	b := newBench(t)
	pinned := shipped(t)
	raw, err := pinned.Encode()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.dir, ".local", "share", "coffer", "serve")
	b.host.Getenv = func(k string) string { return map[string]string{"HOME": b.dir}[k] }
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "network.json"), raw, 0o600)); err !=
		nil {
		t.Fatal(err)
	}
	typed := strings.ToUpper(strings.ReplaceAll(pinned.Fingerprint(), " ", "-"))
	path, n, err := b.host.FindNetwork(typed, network.Real)
	if err != nil || n.ID != pinned.ID || n.Kind != network.Real || filepath.Dir(path) != dir {
		t.Errorf("%s, %v, %v", path, n.ID, err)
	}
	if _, _, err := b.host.FindNetwork(b.n.Fingerprint(), network.Lab); !errors.Is(err, ErrNoNetworkFile) {
		t.Errorf("another fingerprint: %v", err)
	}
	if _, err := b.host.ReadNetwork(b.file, network.Lab); err == nil ||
		!strings.Contains(err.Error(), "this program expects") {
		t.Errorf("a network with other addresses than the shipped ones: %v", err)
	}
}

func TestProfilesOnOneNetworkAreFound(t *testing.T) {
	b := newBench(t)
	if _, err := b.host.Make(t.Context(), b.plan(t, config.VaultMemory)); err != nil {
		t.Fatal(err)
	}
	if on, err := b.host.OnNetwork(b.n.ID); err != nil || !slices.Equal(on, []string{"team"}) {
		t.Errorf("%v, %v", on, err)
	}
	if on, err := b.host.OnNetwork("0x12"); err != nil || len(on) > 0 {
		t.Errorf("%v, %v", on, err)
	}
	if names, err := b.host.Names(); err != nil || !slices.Equal(names, []string{"demo", "team"}) {
		t.Errorf("%v, %v", names, err)
	}
}
