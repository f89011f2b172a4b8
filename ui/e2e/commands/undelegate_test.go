//go:build unix

package commands

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestTH_D7_TheProgramUndelegatesAnEOAAndDelegatesAgain: the whole circle in the real program, twice, since each turn
// takes two nonces of the EOA; asked again, nothing is sent.
func TestTH_D7_TheProgramUndelegatesAnEOAAndDelegatesAgain(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	s.Runs(0, "setup", "--yes", "--profile", "mine")
	out, _ := s.Runs(0, "keys", "list", "--json")
	key := regexp.MustCompile("0x[0-9a-f]{40}").FindString(out)
	s.Runs(0, "accounts", "add", "--type", "kernel-v3.3-ecdsa", "--signer", key, "--name", "daily")
	ends := func() (sent int) {
		t.Helper()
		out, _ := s.Runs(0, "accounts", "undelegate", "daily", "--yes", "--json")
		var done []struct{ Chain, Hash, Skipped string }
		if err := json.Unmarshal([]byte(out), &done); err != nil {
			t.Fatal(err)
		}
		for _, d := range done {
			if d.Hash != "" && d.Chain == "eip155:8453" {
				sent++
			} else if d.Skipped == "" {
				t.Errorf("%+v", d)
			}
		}
		return sent
	}
	if ends() != 0 {
		t.Error("sent for an account that is not delegated")
	}
	for range 2 {
		s.Runs(0, "call", "--account", "daily", "--chain", "base", "--to", "usdc", "--function",
			"transfer(address to, uint256 amount)", "--arg", rig.Payee(t), "--arg", "5 USDC", "--yes", "--accept",
			"V4,Q10,Q11,J4,U3,D4")
		if _, errs := s.Runs(2, "accounts", "undelegate", "daily"); !strings.Contains(errs, "--yes") ||
			!strings.Contains(errs, "Base (eip155:8453): delegated to 0x") {
			t.Error(errs)
		}
		if first, second := ends(), ends(); first != 1 || second != 0 {
			t.Errorf("sent %d and %d", first, second)
		}
	}
}
