//go:build linux

package sshci

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/api/amount"
)

// The main job over SSH: from an empty home by builder, review, signature, second review and execution to COMPLETED.
// Afterwards commands without a terminal tell the same, and so does the next login.
func TestSSHTheMainJob(t *testing.T) {
	for _, a := range []at{{Cols: 80, Rows: 24}, {Term: "tmux-256color", Cols: 120, Rows: 40},
		{Term: "xterm", Env: []string{"LANG=C", "NO_COLOR=1"}, Cols: 80, Rows: 24}} {
		t.Run(strings.Join(append(a.Env, a.Term), " "), func(t *testing.T) {
			t.Parallel()
			h := newHost(t, hostOptions{})
			p := h.opens(a, "coffer")
			p.sees("EMBEDDED", "demo", "USDC", "$")
			needs := p.builds()
			p.types("y")
			p.confirms(p.pays())
			p.sees("COMPLETED")
			p.types("4")
			p.sees(amount.Trim(needs)+" USDC", "completed")
			p.leaves()

			out, errs, code := h.runs("", "coffer", "history", "--json")
			var record struct{ QuoteID, Status string }
			if err := json.Unmarshal([]byte(out), &record); code != 0 || err != nil || record.Status != "COMPLETED" ||
				strings.Count(out, "\n") != 1 {
				t.Fatalf("code %d: %v %s%s", code, err, out, errs)
			}
			if out, errs, code := h.runs("", "coffer", "status", record.QuoteID); code != 0 ||
				!strings.Contains(out, "COMPLETED") {
				t.Errorf("code %d: %s%s", code, out, errs)
			}
			again := h.opens(a, "coffer")
			again.sees("EMBEDDED", "USDC")
			again.types("4")
			again.sees(amount.Trim(needs)+" USDC", "completed", "1 record")
			again.leaves()
		})
	}
}
