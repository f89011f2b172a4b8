//go:build unix

// Package older opens what an older version of the program wrote. testdata/b7df61d.tar.zst is an installation that
// revision b7df61d made on 2026-11-23: a demo profile that swapped and transferred; a profile with a vault in a file,
// an EVM and a Solana account, three operations and a plan that is still to be applied; the store of a service with an
// API key; and, in want, what that revision's own history and export printed.
package older

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
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

// export is what must be the same of an export; balances without the values, which follow the prices.
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

// TestAnInstallationOfAnOlderRevisionOpens: history and export say all that they said, old figures and documents
// unchanged; what the older revision had not written may come in addition.
func TestAnInstallationOfAnOlderRevisionOpens(t *testing.T) {
	t.Parallel()
	dir, s := unpack(t)
	for _, profile := range []string{"mine", "demo"} {
		out, _ := s.Runs(0, "history", "--json", "--profile", profile)
		if want := printed(t, dir, profile+"-history.json"); !bytes.Equal([]byte(out), want) {
			t.Errorf("history of %s:\n%s\nit was\n%s", profile, out, want)
		}
		out, _ = s.Runs(0, "export", "--profile", profile)
		want, got := read(t, printed(t, dir, profile+"-export.json")), read(t, []byte(out))
		if len(got.Journal.Operations) != len(want.Journal.Operations) {
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
		if len(want.Journal.Operations) == 0 || len(want.Balances.Assets) == 0 {
			t.Fatalf("nothing to compare: %+v", want)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("export of %s:\n%+v\nit was\n%+v", profile, got, want)
		}
	}
	out, _ := s.Runs(0, "serve", "keys", "list", "--data", filepath.Join(dir, "serve"), "--json")
	if !bytes.Contains([]byte(out), []byte("Ant Works")) {
		t.Errorf("the API key is gone: %s", out)
	}
}

// TestAVaultAJournalAndPlansOfAnOlderRevisionWork: the plan that was applied is not applied twice, the open one is
// applied, once, with the key in the old vault.
func TestAVaultAJournalAndPlansOfAnOlderRevisionWork(t *testing.T) {
	t.Parallel()
	dir, s := unpack(t)
	s.Pass = passphrase
	s.Runs(4, "apply", filepath.Join(dir, "done.toml"), "--yes", "--profile", "mine")
	plan := filepath.Join(dir, "open.toml")
	s.Runs(0, "apply", plan, "--yes", "--profile", "mine")
	s.Runs(4, "apply", plan, "--yes", "--profile", "mine")
	s.Pass = ""
	out, _ := s.Runs(0, "history", "--json", "--profile", "mine")
	before := printed(t, dir, "mine-history.json")
	if !bytes.HasSuffix([]byte(out), before) || bytes.Count([]byte(out), []byte("\n")) !=
		bytes.Count(before, []byte("\n"))+1 {
		t.Errorf("one record more is due: %s", out)
	}
}
