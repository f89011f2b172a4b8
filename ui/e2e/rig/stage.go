//go:build unix

package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Stage is a team's wallet in front of a real service in another process, and the words that its commands use.
type Stage struct {
	Script
	Between *Between
	Words   map[string]string
}

// NewStage makes one, with flags for `coffer serve` if any.
func NewStage(t *testing.T, serve ...string) *Stage {
	t.Helper()
	env, b := Team(t, serve...)
	dir := t.TempDir()
	plan, list := filepath.Join(dir, "pay.toml"), filepath.Join(dir, "list.csv")
	if err := os.WriteFile(list, []byte(AList(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	words := map[string]string{"PAYEE": Payee(t), "PLAN": plan, "LIST": list, "NOBODY": "0x" + strings.Repeat("00", 32)}
	s := &Stage{Script{t, env, Passphrase}, b, words}
	s.Plans(plan, "21")
	return s
}

// Plans writes a plan of a payment.
func (s *Stage) Plans(file, amount string) {
	s.Helper()
	s.Runs(0, "plan", "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 amount)",
		"--arg", Payee(s.T), "--arg", amount+" USDC", "--out", file)
}
