//go:build unix

// Package older opens what an older version of the program wrote: networks of an earlier generation, which are made
// anew. testdata/b7df61d.tar.zst is an installation that revision b7df61d made on 2026-11-23: a demo profile that
// swapped and transferred; a profile with a vault in a file, an EVM and a Solana account, three operations and a plan
// that is still to be applied; the store of a service with an API key; and, in want, what that revision's own history
// and export printed.
package older

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"

	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

const passphrase = "correct horse battery staple"

// unpack puts the installation into a home.
func unpack(t *testing.T) (dir string, s rig.Script) {
	t.Helper()
	dir, env := rig.Home(t)
	f, err := os.Open("testdata/b7df61d.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(at, 0o700)
		} else {
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(at, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir, rig.Script{T: t, Env: append(env, "COFFER_DATA="+dir+"/coffer", "COFFER_CONFIG="+dir+"/config.toml")}
}

// printed is what the older revision printed.
func printed(t *testing.T, dir, file string) []byte {
	t.Helper()
	out, err := os.ReadFile(filepath.Join(dir, "want", file))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// export is what must be the same of an export: on the new network balances begin again.
type export struct {
	Network, Profile, Kind string
	Accounts               any
	History                any
	Balances               struct {
		Assets []struct {
			ID      string `json:"aggregatedAssetId"`
			Balance string
			Single  []struct{ AssetType, Balance string } `json:"individualAssetBalances"`
		} `json:"balanceByAggregatedAsset"`
	}
	Journal struct {
		Operations []map[string]any
	}
}

func read(t *testing.T, raw []byte) (e export) {
	t.Helper()
	if err := json.Unmarshal(raw, &e, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return e
}

// whole compares history and export with what the older revision printed; what it had not written may come in addition.
func whole(t *testing.T, dir string, s rig.Script, profile string) {
	t.Helper()
	out, _ := s.Runs(0, "history", "--json", "--profile", profile)
	if want := printed(t, dir, profile+"-history.json"); !bytes.Equal([]byte(out), want) {
		t.Errorf("history of %s:\n%s\nit was\n%s", profile, out, want)
	}
	out, _ = s.Runs(0, "export", "--profile", profile)
	want, got := read(t, printed(t, dir, profile+"-export.json")), read(t, []byte(out))
	if len(want.Journal.Operations) == 0 || len(got.Journal.Operations) != len(want.Journal.Operations) {
		t.Fatalf("%d operations in the journal of %s, it had %d", len(got.Journal.Operations), profile,
			len(want.Journal.Operations))
	}
	for i, o := range want.Journal.Operations {
		for member := range got.Journal.Operations[i] {
			if _, known := o[member]; !known {
				delete(got.Journal.Operations[i], member)
			}
		}
	}
	if got.Network == want.Network {
		t.Errorf("the network of %s is still %s", profile, got.Network)
	}
	got.Network, got.Balances = want.Network, want.Balances
	if !reflect.DeepEqual(want, got) {
		t.Errorf("export of %s:\n%+v\nit was\n%+v", profile, got, want)
	}
}

// had compares the balances of the network before with what the older revision printed.
func had(t *testing.T, dir string, s rig.Script, profile string) {
	t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, a := range read(t, printed(t, dir, profile+"-export.json")).Balances.Assets {
		for _, b := range a.Single {
			if b.Balance != "0" {
				want[b.AssetType] = b.Balance
			}
		}
	}
	out, _ := s.Runs(0, "balances", "--earlier", "--json", "--profile", profile)
	var lines []struct{ AssetID, Balance string }
	if err := json.Unmarshal([]byte(out), &lines, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		got[l.AssetID] = l.Balance
	}
	if len(want) == 0 || !maps.Equal(want, got) {
		t.Errorf("balances of %s before: %v, they were %v", profile, got, want)
	}
}

const anew = "This program replaced its network"

// TestAnInstallationOfAnOlderRevisionOpens: without a word of the user everything can be read, and nothing is signed.
func TestAnInstallationOfAnOlderRevisionOpens(t *testing.T) {
	t.Parallel()
	dir, s := unpack(t)
	for _, profile := range []string{"mine", "demo"} {
		whole(t, dir, s, profile)
		had(t, dir, s, profile)
		_, errs := s.Runs(3, append(send(t), "--profile", profile)...)
		if !strings.Contains(errs, "coffer profile confirm --profile "+profile) {
			t.Errorf("what is to do is not said: %s", errs)
		}
		_, errs = s.Runs(4, "profile", "confirm", "--fingerprint", "0000", "--profile", profile)
		if !strings.Contains(errs, anew) || !strings.Contains(errs, "nothing was changed") {
			t.Errorf("what changed is not told: %s", errs)
		}
		whole(t, dir, s, profile)
	}
	out, _ := s.Runs(0, "serve", "keys", "list", "--data", filepath.Join(dir, "serve"), "--json")
	if !bytes.Contains([]byte(out), []byte("Ant Works")) {
		t.Errorf("the API key is gone: %s", out)
	}
}

// send is a transfer of a little that the first network could make, too.
func send(t *testing.T) []string {
	t.Helper()
	return []string{"transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t), "--chain", "op", "--yes",
		"--accept", "V4,Q10,Q11,J4,U3"}
}

// TestAVaultAJournalAndPlansOfAnOlderRevisionFollow: once the user has confirmed the new network the old vault's key
// signs there and the journal goes on; no plan of the network before is applied, whether it was applied there or not.
func TestAVaultAJournalAndPlansOfAnOlderRevisionFollow(t *testing.T) {
	t.Parallel()
	dir, s := unpack(t)
	locked := s
	s.Pass = passphrase
	locked.Runs(3, "profile", "confirm", "--yes", "--profile", "mine") // the vault is locked
	whole(t, dir, locked, "mine")
	out, errs := s.Runs(0, "profile", "confirm", "--yes", "--profile", "mine")
	if !strings.Contains(errs, anew) || !strings.Contains(out, "Confirmed: profile mine signs on network") {
		t.Errorf("%s\n%s", out, errs)
	}
	whole(t, dir, locked, "mine")
	had(t, dir, locked, "mine")
	if out, _ := s.Runs(0, "profile", "confirm", "--profile", "mine"); !strings.Contains(out, "nothing to confirm") {
		t.Errorf("asked once more: %s", out)
	}
	for _, plan := range []string{"done.toml", "open.toml"} {
		_, errs := s.Runs(2, "apply", filepath.Join(dir, plan), "--yes", "--profile", "mine")
		if !strings.Contains(errs, "another network") {
			t.Errorf("%s: %s", plan, errs)
		}
	}
	s.Runs(0, append(send(t), "--profile", "mine")...)
	out, _ = locked.Runs(0, "history", "--json", "--profile", "mine")
	was := printed(t, dir, "mine-history.json")
	if !bytes.HasSuffix([]byte(out), was) || bytes.Count([]byte(out), []byte("\n")) !=
		bytes.Count(was, []byte("\n"))+1 {
		t.Errorf("one record more is due, before those of the network before: %s", out)
	}
	out, _ = locked.Runs(0, "export", "--profile", "mine")
	if got, want := len(read(t, []byte(out)).Journal.Operations),
		len(read(t, printed(t, dir, "mine-export.json")).Journal.Operations)+1; got != want {
		t.Errorf("%d operations in the journal, expected %d", got, want)
	}
}
