package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
)

// TestTheNetworkIsTheOneThatTheProfileNames: the profile refuses the file of another network, and its own kind holds.
func TestTheNetworkIsTheOneThatTheProfileNames(t *testing.T) {
	n, err := network.Descriptor{
		Version: 1, Kind: network.Lab, Chains: []string{"eip155:1"},
		Genesis:  map[string]string{"eip155:1": "0xab"},
		Formulas: []network.Formula{{Name: "V", Version: "1", Formula: network.FormulaCallDataAndNonce}},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", n.ID} {
		if got, err := (Profile{Kind: network.Real, NetworkFile: path, NetworkID: id}).Network(); err != nil ||
			got.ID != n.ID || got.Kind != network.Real {
			t.Errorf("%q: %v %v, %v", id, got.ID, got.Kind, err)
		}
	}
	other := "0x" + strings.Repeat("1", 64)
	if _, err := (Profile{Kind: network.Lab, NetworkFile: path, NetworkID: other}).Network(); err == nil ||
		!strings.Contains(err.Error(), "the profile names "+other) {
		t.Errorf("another network: %v", err)
	}
	if _, err := (Profile{NetworkFile: path + ".none"}).Network(); err == nil ||
		!strings.Contains(err.Error(), "network file") {
		t.Errorf("no file: %v", err)
	}
}

// TestTheKindIsThatOfTheNetworkFromVersion2On: there the id covers it, so a key tagged with the id of a lab would
// otherwise pass for one of real money.
func TestTheKindIsThatOfTheNetworkFromVersion2On(t *testing.T) {
	n, err := network.Descriptor{
		Version: 2, Kind: network.Lab, Chains: []string{"eip155:1"}, Genesis: map[string]string{"eip155:1": "0xab"},
		Deployments: []network.Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := n.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (Profile{Kind: network.Lab, NetworkFile: path}).Network(); err != nil || got.ID != n.ID {
		t.Errorf("the same kind: %v, %v", got.ID, err)
	}
	if _, err := (Profile{Kind: network.Real, NetworkFile: path}).Network(); err == nil ||
		!strings.Contains(err.Error(), "kind lab, the profile says kind real") {
		t.Errorf("another kind: %v", err)
	}
}

// TestAnAuthorityWithoutACertificateIsRefused: an empty pool trusts no server, so every connection would fail without
// a reason.
func TestAnAuthorityWithoutACertificateIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Profile{CAFile: path}).Roots(); err == nil || !strings.Contains(err.Error(), "holds no certificate") {
		t.Errorf("got %v", err)
	}
	if roots, err := (Profile{}).Roots(); roots != nil || err != nil {
		t.Errorf("without a file: %v, %v", roots, err)
	}
}

// TH-C3: a user who can change the network file or the certificate authority can change which servers the program
// trusts.
func TestFilesThatOthersMayWriteAreNotTrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	dir := t.TempDir()
	for name, read := range map[string]func(string) error{
		"network.json": func(path string) error { _, err := (Profile{NetworkFile: path}).Network(); return err },
		"ca.pem":       func(path string) error { _, err := (Profile{CAFile: path}).Roots(); return err },
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Chmod(path, 0o622)); err != nil {
			t.Fatal(err)
		}
		if err := read(path); err == nil || !strings.Contains(err.Error(), "others may write here") {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckMode(path); err == nil {
			t.Errorf("%s passed", name)
		}
	}
}

func TestServiceDataIsTheGivenDirectoryOrTheUsersOne(t *testing.T) {
	env := func(k string) string { return map[string]string{"XDG_DATA_HOME": "/d", "HOME": "/h"}[k] }
	none := func(string) string { return "" }
	if got, err := ServiceData("", env); err != nil || got != "/d/coffer/serve" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ServiceData("lab", none); err != nil || !filepath.IsAbs(got) || filepath.Base(got) != "lab" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ServiceData("", none); err == nil {
		t.Error("no home directory and no error")
	}
}
