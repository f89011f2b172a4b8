package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/journal"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// generation is the embedded network of a generation; all of one installation.
func generation(t *testing.T, genesis string, escrow byte) network.Descriptor {
	t.Helper()
	n, err := network.Descriptor{
		Version: 2, Kind: network.Embedded, Chains: []string{"eip155:1"},
		Genesis: map[string]string{"eip155:1": genesis}, Installation: "0x" + strings.Repeat("ab", 32),
		Pins: network.Pins{Escrow: common.Address{escrow}},
		Deployments: []network.Deployment{{Escrow: common.Address{escrow}, Attesters: []common.Address{{1}},
			Threshold: 1}},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// machine is a user's machine with a profile that keeps its keys in a file.
type machine struct {
	t    *testing.T
	home string
	left []string // of the networks before
	ask  func(context.Context, string) (secret.Secret, error)
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	t.Parallel() // most of the time goes into passphrases
	m := &machine{t: t, home: t.TempDir(), ask: func(context.Context, string) (secret.Secret, error) {
		return secret.New([]byte("correct horse")), nil
	}}
	m.configure("version = 1\n\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\n")
	return m
}

func (m *machine) configure(text string) {
	m.t.Helper()
	if err := errors.Join(os.MkdirAll(m.home, 0o700),
		os.WriteFile(filepath.Join(m.home, "config.toml"), []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
}

// open opens the profile on a network that took the place of others.
func (m *machine) open(now network.Descriptor, earlier ...network.Descriptor) *Opened {
	m.t.Helper()
	h := Host{
		Getenv: config.Getenv([]string{"HOME=" + m.home, "COFFER_DATA=" + m.home,
			"COFFER_CONFIG=" + m.home + "/config.toml"}),
		Embedded: func(context.Context, string, EmbeddedOptions) (Embedded, error) {
			return Embedded{Network: now, Earlier: earlier, Left: m.left, BaseURL: "https://x.invalid/api",
				APIKey: secret.New([]byte("k")), Close: func() error { return nil }}, nil
		},
		Ask: m.ask, WorkFactor: 1,
	}
	o, err := h.OpenKeys(m.t.Context(), "mine")
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = o.Close() })
	return o
}

// makesVault makes the vault of a profile, with a passphrase that is quickly tried.
func (m *machine) makesVault(o *Opened) {
	m.t.Helper()
	options := o.host.vaultOptions(o.Profile, o.tags.keys, o.Paths.ProfileKeys(o.Profile.Name))
	options.WorkFactor = 1
	v, err := vault.OpenFile(options)
	if err == nil {
		err = errors.Join(v.Create(m.t.Context(), secret.New([]byte("correct horse"))), v.Close())
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// live makes a key and a journal with an operation, and signs: what a user has.
func (m *machine) live(o *Opened) string {
	m.t.Helper()
	m.makesVault(o)
	if err := o.vault.Unlock(m.t.Context(), secret.New([]byte("correct horse"))); err != nil {
		m.t.Fatal(err)
	}
	item, err := o.vault.Add(m.t.Context(), vault.EVM, secret.New([]byte(strings.Repeat("k", 32))), "")
	if err != nil {
		m.t.Fatal(err)
	}
	j, err := journal.Open(o.Journal("a test"))
	if err != nil {
		m.t.Fatal(err)
	}
	_, err = j.Begin([]byte("{}"), [32]byte{1})
	if err := errors.Join(err, j.Close(), o.Plans().Save("applied.json", []byte("{}"))); err != nil {
		m.t.Fatal(err)
	}
	if _, refuses := o.Signer().(refusing); refuses {
		m.t.Fatal("nothing can be signed")
	}
	return item.Address
}

// operations counts those of the journal.
func (m *machine) operations(o *Opened) int {
	m.t.Helper()
	j, err := journal.OpenReadOnly(o.Journal("a test"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer j.Close()
	return len(j.Operations())
}

func TestANetworkThatWasMadeAnewIsConfirmedOnceAndSignsNothingBefore(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	address := m.live(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	m.left = append([]string{"the quote 0x01 did not end: why"}, make([]string, 1000)...)
	o := m.open(now, old)
	change := o.Change()
	if change == nil || change.Typed != "yes" || !strings.Contains(strings.Join(change.Words, "\n"),
		old.Fingerprint()) || !strings.Contains(strings.Join(change.Words, "\n"), m.left[0]) ||
		len(change.Words) > 30 {
		t.Fatalf("what changed is not told: %+v", change)
	}
	if _, refuses := o.Signer().(refusing); !refuses || o.ReadOnly() == "" {
		t.Error("something can be signed before it was confirmed")
	}
	if err := o.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	none := func(secret.Secret) error { t.Error("a key was lent for the new network"); return nil }
	if err := o.vault.Use(t.Context(), now.ID, address, none); !errors.Is(err, vault.ErrNetwork) {
		t.Errorf("%v, expected ErrNetwork", err)
	}
	if m.operations(o) != 1 {
		t.Error("the journal cannot be read")
	}
	var refused *cli.RefusedError
	if err := o.Confirm(t.Context(), "no"); !errors.As(err, &refused) || o.Change() == nil {
		t.Errorf("%v, expected a refusal", err)
	}
	if err := o.Confirm(t.Context(), "yes"); err != nil {
		t.Fatal(err)
	}
	for _, o := range []*Opened{o, m.open(now, old)} {
		if _, refuses := o.Signer().(refusing); refuses || o.Change() != nil || o.ReadOnly() != "" {
			t.Errorf("it was confirmed: %+v, %s", o.Change(), o.ReadOnly())
		}
		if err := o.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		lent := false
		if err := o.vault.Use(t.Context(), now.ID, address,
			func(secret.Secret) error { lent = true; return nil }); err != nil ||
			!lent || m.operations(o) != 1 {
			t.Errorf("the key is not there: %v", err)
		}
		if raw, err := o.Plans().Load("applied.json"); err != nil || raw == nil {
			t.Errorf("the applied plans are gone: %v", err)
		}
	}
}

// TestAConfirmationThatWasCutShortIsAskedForAgain: the keys were moved, the journal was not.
func TestAConfirmationThatWasCutShortIsAskedForAgain(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	m.live(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	half := m.open(now, old)
	if err := errors.Join(half.retag(t.Context()), half.Close()); err != nil {
		t.Fatal(err)
	}
	o := m.open(now, old)
	if o.Change() == nil || o.tags != (tags{keys: now.ID, journal: old.ID}) {
		t.Fatalf("tags %+v", o.tags)
	}
	if err := o.Confirm(t.Context(), "yes"); err != nil || m.operations(o) != 1 {
		t.Fatal(err)
	}
	if again := m.open(now, old); again.Change() != nil {
		t.Error("asked once more")
	}
}

// TestANetworkThatNothingDescribesIsLeftWithMoreThanAYes: its earlier-ID/network.json is gone. Until it is confirmed,
// everything can be read.
func TestANetworkThatNothingDescribesIsLeftWithMoreThanAYes(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	address := m.live(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	o := m.open(now)
	change := o.Change()
	if change == nil || change.Typed != now.Fingerprint() ||
		!strings.Contains(strings.Join(change.Words, "\n"), network.Descriptor{Version: 1, ID: old.ID}.Fingerprint()) {
		t.Fatalf("nobody is asked: %+v", change)
	}
	if _, refuses := o.Signer().(refusing); !refuses || m.operations(o) != 1 {
		t.Error("something can be signed, or the journal cannot be read")
	}
	if err := o.Confirm(t.Context(), "yes"); err == nil {
		t.Error("a yes moved the keys of a network that nothing describes")
	}
	if back := m.open(now, old); back.Change() == nil || back.Change().Typed != "yes" {
		t.Errorf("its descriptor was put back: %+v", back.Change())
	}
	if err := errors.Join(o.Confirm(t.Context(), now.Fingerprint()), o.Close()); err != nil {
		t.Fatal(err)
	}
	o = m.open(now)
	if _, refuses := o.Signer().(refusing); refuses || o.Change() != nil || m.operations(o) != 1 {
		t.Errorf("it was confirmed: %+v", o.Change())
	}
	if raw, err := o.Plans().Load("applied.json"); err != nil || raw == nil {
		t.Errorf("the applied plans are gone: %v", err)
	}
	if err := o.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	lent := false
	if err := o.vault.Use(t.Context(), now.ID, address,
		func(secret.Secret) error { lent = true; return nil }); err != nil || !lent {
		t.Errorf("the key is not there: %v", err)
	}
}

// TestKeysOfALostNetworkTakeMoreThanAYesBesideAKnownJournal: the journal moved once more than the keys.
func TestKeysOfALostNetworkTakeMoreThanAYesBesideAKnownJournal(t *testing.T) {
	m := newMachine(t)
	lost, known, now := generation(t, "0x01", 1), generation(t, "0x02", 2), generation(t, "0x03", 3)
	first := m.open(lost)
	m.live(first)
	half := m.open(known, lost)
	dir, before := half.Journal("a test")
	half.tags.journal = known.ID
	_, after := half.Journal("a test")
	if err := errors.Join(first.Close(), journal.Follow(dir, before, after), half.Close()); err != nil {
		t.Fatal(err)
	}
	o := m.open(now, known)
	if o.tags != (tags{keys: lost.ID, journal: known.ID}) || o.Change() == nil ||
		o.Change().Typed != now.Fingerprint() {
		t.Errorf("tags %+v, %+v", o.tags, o.Change())
	}
}

// TestKeysOfAServiceOfOthersNeverMoveToPlayMoney, also when the profile's kind was changed in the configuration.
func TestKeysOfAServiceOfOthersNeverMoveToPlayMoney(t *testing.T) {
	m := newMachine(t)
	n, o := m.lab(1)
	if err := o.Confirm(t.Context(), n.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	m.live(o)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	m.configure("version = 1\n\n[profiles.mine]\nkind = \"embedded\"\nvault = \"file\"\n")
	now := generation(t, "0x02", 2)
	if o := m.open(now); o.Change() != nil || o.tags != (tags{now.ID, now.ID}) {
		t.Errorf("tags %+v, %+v", o.tags, o.Change())
	}
}

// TestGoingBackTakesKeysJournalAndAnchors of before the confirmation, as docs/guide.md says: the database alone leaves
// the older program without keys.
func TestGoingBackTakesKeysJournalAndAnchors(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	address, backup := m.live(first), filepath.Join(t.TempDir(), "backup")
	if err := errors.Join(first.Close(), os.CopyFS(backup, os.DirFS(m.home))); err != nil {
		t.Fatal(err)
	}
	o := m.open(now, old)
	if err := errors.Join(o.Confirm(t.Context(), "yes"), o.Close()); err != nil {
		t.Fatal(err)
	}
	if alone := m.open(old); alone.Change() == nil || alone.tags != (tags{now.ID, now.ID}) {
		t.Errorf("with the database alone keys and journal are tagged %+v", alone.tags)
	}
	if err := errors.Join(os.RemoveAll(m.home), os.CopyFS(m.home, os.DirFS(backup)),
		filepath.WalkDir(m.home, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chmod(path, 0o700)) // CopyFS widens modes
		})); err != nil {
		t.Fatal(err)
	}
	back := m.open(old)
	if err := back.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	lent := false
	err := back.vault.Use(t.Context(), old.ID, address, func(secret.Secret) error { lent = true; return nil })
	if err != nil || !lent || back.Change() != nil || m.operations(back) != 1 {
		t.Errorf("the profile of before is not there: %v, %+v", err, back.Change())
	}
}

// TestAContractThatShouldNotHaveBeenConfirmedIsAskedAboutAgain once its confirmation is removed, as docs/guide.md says.
func TestAContractThatShouldNotHaveBeenConfirmedIsAskedAboutAgain(t *testing.T) {
	m := newMachine(t)
	n, o := m.lab(1)
	if err := errors.Join(o.Confirm(t.Context(), n.Fingerprint()), os.Remove(filepath.Join(o.anchorsOf(n.ID).Dir,
		confirmedName)), o.Close()); err != nil {
		t.Fatal(err)
	}
	if _, o := m.lab(1); o.Change() == nil {
		t.Error("what was taken back is trusted")
	}
}

// TestAppliedPlansFollowBeforeTheJournal: afterwards nothing says whose they were. What is there already stays.
func TestAppliedPlansFollowBeforeTheJournal(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	m.live(first)
	dir, _ := first.Journal("a test")
	book, plans := filepath.Join(dir, "journal"), filepath.Join(first.Plans().Dir, "applied.json")
	raw, err := os.ReadFile(book)
	if err := errors.Join(err, first.Close(), os.Remove(plans), os.Mkdir(plans, 0o700)); err != nil {
		t.Fatal(err)
	}
	cut := m.open(now, old)
	if err := cut.Confirm(t.Context(), "yes"); err == nil {
		t.Fatal("what cannot be read has followed")
	}
	if err := errors.Join(cut.Close(), os.Remove(plans), os.WriteFile(plans, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	o := m.open(now, old)
	if err := o.Confirm(t.Context(), "yes"); err != nil {
		t.Fatal(err)
	}
	if got, err := o.Plans().Load("applied.json"); string(got) != "{}" {
		t.Errorf("the applied plans are %q (%v)", got, err)
	}
	newer := []byte(`{"version":1}`)
	if err := errors.Join(o.Plans().Save("applied.json", newer), o.Close(),
		os.WriteFile(book, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	restored := m.open(now, old)
	if err := restored.Confirm(t.Context(), "yes"); err != nil {
		t.Fatal(err)
	}
	if got, err := restored.Plans().Load("applied.json"); string(got) != string(newer) {
		t.Errorf("the applied plans of the new network are %q (%v)", got, err)
	}
}

// TestKeysOfABackupAreAskedForAgain: one of before the network was made anew takes the place of keys that were lost.
func TestKeysOfABackupAreAskedForAgain(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	first := m.open(old)
	address := m.live(first)
	vaults := func() []string {
		all, err := filepath.Glob(filepath.Join(first.Paths.ProfileKeys("mine"), "vault-*.json"))
		if err != nil || len(all) != 1 {
			t.Fatalf("vaults %v (%v)", all, err)
		}
		return all
	}
	before := vaults()[0]
	raw, err := os.ReadFile(before)
	if err := errors.Join(err, first.Close()); err != nil {
		t.Fatal(err)
	}
	confirmed := m.open(now, old)
	if err := errors.Join(confirmed.Confirm(t.Context(), "yes"), confirmed.Close(), os.Remove(vaults()[0]),
		os.WriteFile(before, raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	o := m.open(now, old)
	if o.Change() == nil {
		t.Fatal("nobody is asked about the keys of the network before")
	}
	if err := o.Confirm(t.Context(), "yes"); err != nil {
		t.Fatal(err)
	}
	lent := false
	err = o.vault.Use(t.Context(), now.ID, address, func(secret.Secret) error { lent = true; return nil })
	if err != nil || !lent {
		t.Errorf("the key is not there: %v", err)
	}
}

// TestKnownAssetsAreThoseOfTheNetworkBefore: whatever is read before the change is confirmed.
func TestKnownAssetsAreThoseOfTheNetworkBefore(t *testing.T) {
	m := newMachine(t)
	old, now := generation(t, "0x01", 1), generation(t, "0x02", 2)
	if err := m.open(old).keepAssets(verify.AssetMemory{"ob:x": {}}); err != nil {
		t.Fatal(err)
	}
	if got, err := m.open(now, old).assetMemory(); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := m.open(now).assetMemory(); err != nil || len(got) != 0 {
		t.Errorf("those of a stranger: %v, %v", got, err)
	}
}

// lab opens the profile on the network of a service of others with an escrow.
func (m *machine) lab(escrow byte) (network.Descriptor, *Opened) {
	return m.remote(network.Lab, escrow)
}

// remote is lab for a network of another kind, with nodes of one's own.
func (m *machine) remote(kind network.Kind, escrow byte, nodes ...string) (network.Descriptor, *Opened) {
	m.t.Helper()
	n := generation(m.t, "0x01", escrow)
	n.Kind, n.Installation, n.Chains = kind, "", []string{"eip155:1", "eip155:8453"}
	n.Genesis["eip155:8453"] = "0x02"
	n, err := n.WithID()
	if err != nil {
		m.t.Fatal(err)
	}
	raw, err := n.Encode()
	if err != nil {
		m.t.Fatal(err)
	}
	path := filepath.Join(m.home, "network.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.configure(fmt.Sprintf("version = 1\n\n[profiles.mine]\nkind = %q\nvault = \"file\"\nnetwork_id = %q\n"+
		"base_url = \"https://x.invalid/api\"\nnetwork_file = %q\nnodes = [%s]\n", kind, n.ID, path,
		strings.Join(nodes, ", ")))
	return n, m.open(n)
}

func TestReplacedContractsAreConfirmedByTheFingerprint(t *testing.T) {
	m := newMachine(t)
	lab := m.lab
	n, o := lab(1)
	first := strings.Join(o.Change().Words, "\n")
	if _, refuses := o.Signer().(refusing); !refuses || !strings.Contains(first, common.Address{1}.Hex()) ||
		!strings.Contains(first, "have not been confirmed") ||
		!strings.Contains(o.Unconfirmed().Error(), "coffer profile confirm --profile mine") {
		t.Fatalf("a network that nobody ever confirmed is not asked about:\n%s", first)
	}
	if err := o.Confirm(t.Context(), n.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	m.live(o)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	n, o = lab(2)
	if o.Change() == nil || !strings.Contains(strings.Join(o.Change().Words, "\n"), common.Address{2}.Hex()) {
		t.Fatalf("another escrow is not told: %+v", o.Change())
	}
	if _, refuses := o.Signer().(refusing); !refuses {
		t.Error("something can be signed with another escrow")
	}
	if err := o.Confirm(t.Context(), "yes"); err == nil {
		t.Error("a lab was confirmed without its fingerprint")
	}
	if err := o.Confirm(t.Context(), n.Fingerprint()); err != nil || o.Change() != nil {
		t.Fatal(err)
	}
	if _, o := lab(2); o.Change() != nil {
		t.Error("asked once more")
	}
	if _, o := lab(1); o.Change() == nil {
		t.Error("the escrow of before was taken without a word")
	}
}

// TestALabWithAnotherNetworkIsNotTaggedAnew: the id in the profile says no, as ever.
func TestALabWithAnotherNetworkIsNotTaggedAnew(t *testing.T) {
	n := shipped(t)
	raw, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	p := config.Profile{Name: "team", Kind: network.Lab, NetworkID: "0x" + strings.Repeat("12", 32), NetworkFile: path,
		Vault: config.VaultMemory}
	o := &Opened{Profile: p}
	if err := o.findNetwork(t.Context()); err == nil || !strings.Contains(err.Error(), "the profile names") {
		t.Errorf("%v", err)
	}
}
