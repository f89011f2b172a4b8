//go:build unix

package nodes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// Real money is served only with keys under a passphrase, and for every account only with words. The keys stay the
// same, open with their passphrase alone, and are nowhere else; those of an attester likewise.
func TestRealMoneyIsServedWithKeysUnderAPassphraseOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base)
	file, data := filepath.Join(w.dir, "real.toml"), filepath.Join(w.dir, "team")
	keys := filepath.Join(w.dir, "team.keys")
	s := rig.Script{T: t, Env: w.env}
	s.Runs(0, "network", "init", "--kind", "real", "--tokens", "none", "--operator", w.rich.Hex(), "--chain",
		base+"="+w.url[base], "--out", file)
	serve := []string{"serve", "--networks", file, "--data", data, "--listen", "127.0.0.1:0"}
	says := func(s rig.Script, code int, what string, args ...string) string {
		t.Helper()
		out, errs := s.Runs(code, args...)
		if !strings.Contains(out+errs, what) {
			t.Errorf("%v: it does not say %q\n%s%s", args, what, out, errs)
		}
		return errs
	}
	errs := says(s, 1, "--keys names a file for them", serve...)
	if !strings.Contains(errs, "REAL MONEY is at stake") {
		t.Error(errs)
	}
	serve = append(serve, "--keys", keys)
	says(s, 3, "the keys are locked and there is no terminal", serve...)
	s.Pass = rig.Passphrase
	first := w.finds(says(s, 1, "into the list", serve...), `write (0x\w{40}) into the list`)
	if again := w.finds(says(s, 1, "into the list", serve...), `write (0x\w{40}) into the list`); again != first {
		t.Errorf("it attests as %s, then as %s", first, again)
	}
	info, err := os.Stat(keys)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	wrong := s
	wrong.Pass = "another passphrase than that"
	says(wrong, 3, "wrong passphrase", serve...)

	w.edits(file, "accounts = []", `accounts = "any"`)
	says(s, 2, "--serve-anyone-with-real-money", serve...)
	says(s, 1, "into the list", append(serve, "--serve-anyone-with-real-money")...)

	// An attester's key, for the same network and for no other.
	attest := []string{"attest", "--networks", file, "--data", filepath.Join(w.dir, "attester"), "--listen",
		"127.0.0.1:0"}
	second := w.finds(says(s, 1, "the operator's list of attesters does not have this one", attest...),
		`writes (0x\w{40}) into attesters`)
	if second == first {
		t.Error("two keys are one")
	}
	w.edits(file, "attesters = []", fmt.Sprintf("attesters = [%q]", second))
	says(s, 1, "coffer network deploy", attest...)
	w.edits(file, `kind = "real"`, `kind = "test"`)
	says(s, 1, "the keys in it are of another network", attest...)
	for _, dir := range []string{data, filepath.Join(w.dir, "attester")} {
		for _, name := range []string{"coffer.db", "attester.keys"} {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && strings.Contains(string(raw), "own nodes") && strings.Contains(string(raw), "seed") {
				t.Errorf("%s of %s has a seed", name, dir)
			}
		}
	}
}
