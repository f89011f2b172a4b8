package network

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

func sample(t *testing.T) Descriptor {
	t.Helper()
	d, err := Descriptor{
		Version: 1, Kind: Lab, Chains: []string{"eip155:1"}, Genesis: map[string]string{"eip155:1": "0xab"},
		Pins:     Pins{EntryPoint: common.HexToAddress("0x01"), SolanaVault: "vault"},
		Formulas: []Formula{{Name: "V", Version: "1", Formula: FormulaCallDataAndNonce}},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDescriptorRoundTrip(t *testing.T) {
	d := sample(t)
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != d.ID || got.Pins != d.Pins || got.Kind != Lab {
		t.Fatalf("got %+v", got)
	}
}

func TestDescriptorIDCoversPinsButNotKind(t *testing.T) {
	d := sample(t)
	d.Kind = Real
	if id, _ := d.ComputeID(); id != d.ID {
		t.Fatal("the kind, which the user declares, changed the id")
	}
	d.Pins.Escrow = common.HexToAddress("0x02")
	if id, _ := d.ComputeID(); id == d.ID {
		t.Fatal("another escrow gave the same id")
	}
}

func TestDecodeRefusesAlteredDescriptor(t *testing.T) {
	b, _ := sample(t).Encode()
	altered := strings.Replace(string(b), `"solanaVault": "vault"`, `"solanaVault": "thief"`, 1)
	if _, err := Decode([]byte(altered)); !errors.Is(err, ErrID) {
		t.Fatalf("got %v", err)
	}
	for name, bad := range map[string]string{
		"unknown member": strings.Replace(string(b), `"version"`, `"extra": 1, "version"`, 1),
		"version":        strings.Replace(string(b), `"version": 1`, `"version": 9`, 1),
		"kind":           strings.Replace(string(b), `"lab"`, `"mainnet"`, 1),
		"trailing":       string(b) + "{}",
	} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestFingerprintIsGroupsOfFour(t *testing.T) {
	groups := strings.Split(sample(t).Fingerprint(), " ")
	if len(groups) != 8 {
		t.Fatalf("%d groups", len(groups))
	}
	for _, g := range groups {
		if len(g) != 4 {
			t.Fatalf("group %q", g)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1}`))
	for _, name := range []string{"v1.json", "v2.json"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b)
		if err != nil {
			return
		}
		if id, err := d.ComputeID(); err != nil || id != d.ID {
			t.Fatalf("accepted a descriptor whose id is %s", d.ID)
		}
		raw, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Decode(raw); err != nil || again.Fingerprint() != d.Fingerprint() {
			t.Fatalf("written anew it is %s: %v", again.Fingerprint(), err)
		}
	})
}
