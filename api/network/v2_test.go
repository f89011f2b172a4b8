package network

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/assets"
)

// read decodes a file of testdata.
func read(t *testing.T, name string) Descriptor {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Decode(b)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// The vectors: v1.json is what revision b7df61d wrote. The ids and the digest of v2.json were computed by sha256sum
// over text that jq -cS wrote.
func TestVectorsOfBothVersions(t *testing.T) {
	one, two := read(t, "v1.json"), read(t, "v2.json")
	if one.Fingerprint() != "e8a3 39aa ca80 9c2c 8ceb 4ba8 9284 5f05" {
		t.Errorf("version 1: %s", one.Fingerprint())
	}
	if d, err := one.Digest(); d != "" || err != nil {
		t.Errorf("version 1 has the digest %s (%v)", d, err)
	}
	digest, err := two.Digest()
	if err != nil || two.ID != "0x8b4e6f5f472b2a6aa12569ae32aa2543a257a14a97b9f7e33967d31a7e7235d4" ||
		digest != "0xcb70d75c392bf303c935734349887bf41ff407490f42f8553bff550f5a4b3c5c" ||
		two.Fingerprint() != "7bc3 a522 b798 b662 de4f a615 1460 6bc8" {
		t.Errorf("version 2: id %s, digest %s, fingerprint %s (%v)", two.ID, digest, two.Fingerprint(), err)
	}
}

// TestAnIDOfVersion2CoversWhatNeverChanges, and the fingerprint everything.
func TestAnIDOfVersion2CoversWhatNeverChanges(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Descriptor)
		id     bool
	}{
		"kind":   {func(d *Descriptor) { d.Kind = Lab }, true},
		"chains": {func(d *Descriptor) { d.Chains = slices.Clone(d.Chains[1:]) }, true},
		"genesis": {func(d *Descriptor) { d.Genesis = maps.Clone(d.Genesis); d.Genesis["eip155:1"] = "0x01" },
			true},
		"installation": {func(d *Descriptor) { d.Installation = "0x" + strings.Repeat("ab", 32) }, true},
		"pins":         {func(d *Descriptor) { d.Pins.SolanaVault = "thief" }, false},
		"formulas":     {func(d *Descriptor) { d.Formulas = nil }, false},
		"deployments":  {func(d *Descriptor) { d.Deployments = append(d.Deployments, Deployment{From: 9}) }, false},
	} {
		d := read(t, "v2.json")
		print := d.Fingerprint()
		was, err := d.Digest()
		if err != nil {
			t.Fatal(err)
		}
		c.change(&d)
		id, errID := d.ComputeID()
		digest, errDigest := d.Digest()
		if err := errors.Join(errID, errDigest); err != nil {
			t.Fatal(err)
		}
		if (id != d.ID) != c.id || (digest != was) == c.id {
			t.Errorf("%s: another id: %t, another digest: %t", name, id != d.ID, digest != was)
		}
		if d.ID = id; d.Fingerprint() == print {
			t.Errorf("%s: the same fingerprint", name)
		}
	}
}

func TestDecodeOfVersion2IsStrict(t *testing.T) {
	a, b := common.HexToAddress("0x0a"), common.HexToAddress("0x0b")
	good := Deployment{From: 5, Attesters: []common.Address{a, b}, Threshold: 2}
	for name, change := range map[string]func(*Descriptor){
		"good":                       func(*Descriptor) {},
		"no deployment":              func(d *Descriptor) { d.Deployments = nil },
		"two that begin together":    func(d *Descriptor) { d.Deployments = append(d.Deployments, good) },
		"before 1970":                func(d *Descriptor) { d.Deployments[0].From = -1 },
		"threshold 0":                func(d *Descriptor) { d.Deployments[0].Threshold = 0 },
		"threshold above attesters":  func(d *Descriptor) { d.Deployments[0].Threshold = 3 },
		"attesters descend":          func(d *Descriptor) { d.Deployments[0].Attesters = []common.Address{b, a} },
		"an attester twice":          func(d *Descriptor) { d.Deployments[0].Attesters = []common.Address{a, a} },
		"embedded, no installation":  func(d *Descriptor) { d.Installation = "" },
		"installation in upper case": func(d *Descriptor) { d.Installation = strings.ToUpper(d.Installation) },
		"a lab with an installation": func(d *Descriptor) { d.Kind = Lab },
		"another pinned escrow":      func(d *Descriptor) { d.Pins.Escrow = a },
		"version 1 with members":     func(d *Descriptor) { d.Version = 1 },
		"version 3":                  func(d *Descriptor) { d.Version = 3 },
	} {
		d := read(t, "v2.json")
		d.Deployments = []Deployment{{From: 5, Escrow: d.Pins.Escrow, Attesters: []common.Address{a, b}, Threshold: 2}}
		change(&d)
		d, err := d.WithID()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(raw); (err == nil) != (name == "good") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What an operator adds later leaves the id, so keys and journals stay good; the digest, which a person confirms, and
// with it the fingerprint cover it.
func TestAddedChainsLeaveTheIDAndChangeTheDigest(t *testing.T) {
	d, err := Descriptor{
		Version: 2, Kind: Lab, Chains: []string{"eip155:1"}, Genesis: map[string]string{"eip155:1": "0xab"},
		Deployments: []Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	more := d
	more.Chains, more.Added = []string{"eip155:1", "eip155:100"}, []string{"eip155:100"}
	more.Genesis = map[string]string{"eip155:1": "0xab", "eip155:100": "0xcd"}
	raw, err := more.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(raw); err != nil || got.ID != d.ID || len(got.Chains) != 2 || len(got.Genesis) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	other := more
	other.Genesis = map[string]string{"eip155:1": "0xab", "eip155:100": "0xef"}
	seen := map[string]bool{}
	for _, n := range []Descriptor{d, more, other} {
		digest, _ := n.Digest()
		seen[digest], seen[n.Fingerprint()] = true, true
	}
	if len(seen) != 6 {
		t.Errorf("digests and fingerprints repeat: %v", seen)
	}
	for name, spoil := range map[string]func(*Descriptor){
		"not a chain": func(d *Descriptor) { d.Chains = d.Chains[:1] },
		"no genesis":  func(d *Descriptor) { d.Genesis = map[string]string{"eip155:1": "0xab"} },
		"version 1":   func(d *Descriptor) { d.Version, d.Deployments = 1, nil },
	} {
		bad := more
		spoil(&bad)
		bad, _ = bad.WithID()
		raw, _ := bad.Encode()
		if _, err := Decode(raw); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// Without a deployment nothing is paid across chains: good on own nodes alone.
func TestOwnNodesNeedNoDeployment(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Descriptor)
		good   bool
	}{
		"real":           {func(*Descriptor) {}, true},
		"test":           {func(d *Descriptor) { d.Kind = Test }, true},
		"lab":            {func(d *Descriptor) { d.Kind = Lab }, true},
		"an added chain": {func(d *Descriptor) { d.Added = []string{"eip155:1"} }, true},
		"embedded": {func(d *Descriptor) {
			d.Kind, d.Installation = Embedded, "0x"+strings.Repeat("ab", 32)
		}, false},
		"a solver":          {func(d *Descriptor) { d.Pins.Solver = Window() }, false},
		"an escrow":         {func(d *Descriptor) { d.Pins.Escrow = Window() }, false},
		"another paymaster": {func(d *Descriptor) { d.Pins.Paymaster = common.Address{1} }, false},
		"no paymaster":      {func(d *Descriptor) { d.Pins.Paymaster = common.Address{} }, false},
		"and a deployment": {func(d *Descriptor) {
			d.Deployments = []Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}}
		}, false},
	} {
		d := Descriptor{Version: 2, Kind: Real, Chains: []string{"eip155:1"},
			Genesis: map[string]string{"eip155:1": "0xab"}, Pins: Pins{Paymaster: Window()}}
		c.change(&d)
		d, err := d.WithID()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(raw)
		if (err == nil) != c.good || c.good && !got.OnOwnNodes() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContractsOfOwnNodesComeOutOfTheDeterministicDeployer(t *testing.T) {
	pins, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
	deployer := common.HexToAddress(pins.DeterministicDeployer)
	for name, want := range map[string]common.Address{
		"Window": Window(), "RoleBasedECDSAValidator": RoleBasedValidator(),
	} {
		art, err := assets.Contract(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := crypto.CreateAddress2(deployer, common.Hash{}, crypto.Keccak256(art.Bytecode)); at != want {
			t.Errorf("%s is at %s", name, at)
		}
	}
}
