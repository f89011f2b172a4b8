package act

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/wallet/journal"
)

// What the person's own node closed is no open signature; it is listed with what was seen, until its time is over.
func TestActivitySaysWhichSignaturesOwnNodesClosed(t *testing.T) {
	r := newRig(t)
	someBook(r)
	const note = "seen by your node: the nonce is used in block 42, which is final"
	r.shut = []journal.Closed{{Signature: r.live[0].Signature, Op: r.live[0].Op, At: start(), Note: note}}
	r.live = nil
	if code := r.run("activity"); code != 0 || !strings.Contains(r.out.String(), "0 outstanding signatures") ||
		!strings.Contains(r.out.String(), note) {
		t.Errorf("exit code %d: %s", code, r.out.String())
	}
	r.out.Reset()
	if code := r.run("activity", "--json"); code != 0 {
		t.Fatal(code)
	}
	var told struct {
		Open   []any
		Closed []struct{ OpHash, Closed, Ends string }
	}
	if err := json.Unmarshal(r.out.Bytes(), &told); err != nil || len(told.Open) != 0 || len(told.Closed) != 1 ||
		told.Closed[0].Ends != note || told.Closed[0].OpHash == "" || told.Closed[0].Closed == "" {
		t.Errorf("%v: %s", err, r.out.String())
	}
}
