//go:build unix

package serve

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/e2e/rig"
)

// TestK13_AWalletWorksOverAPrivateServiceAndNobodyElseSeesIt: a transfer, its state and its record by the commands of a
// profile, against `coffer serve --private`; a key of another project is told nothing of it.
func TestK13_AWalletWorksOverAPrivateServiceAndNobodyElseSeesIt(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t, "--private")
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	out, _ := s.Runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t), "--chain", "op", "--yes",
		"--accept", "V4,Q10,Q11,J4,U3", "--json")
	done := rig.ResultOf(t, out)
	if done.State != "done" || done.Status.Status != api.StatusCompleted {
		t.Fatalf("%s", out)
	}
	for _, args := range [][]string{{"status", done.Operation, "--json"}, {"history", "--json"}} {
		if out, _ := s.Runs(0, args...); !strings.Contains(out, done.Status.QuoteID) ||
			!strings.Contains(out, api.StatusCompleted) {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	var other struct {
		Key string `json:"key"`
	}
	rig.KeysOf(t, env, &other, "add", "--data", filepath.Dir(b.At.NetworkFile), "--company", "Bee Works", "--project",
		"robot")
	line, err := json.Marshal(b.At)
	if err != nil {
		t.Fatal(err)
	}
	c := reached(t, string(line), other.Key)
	status, err := c.Status(t.Context(), done.Status.QuoteID)
	if err != nil || status.Status != "" {
		t.Errorf("another project: %+v, %v", status, err)
	}
	page, err := c.History(t.Context(), client.HistoryQuery{User: done.Status.User})
	if err != nil || len(page.Transactions) != 0 {
		t.Errorf("another project: %+v, %v", page, err)
	}
}
