package act

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// What the person's own node closed is no open signature; it is listed with what was seen, until its time is over.
func TestActivitySaysWhichSignaturesOwnNodesClosed(t *testing.T) {
	r := newRig(t)
	someBook(r)
	const note = "seen by your node: its nonce is used in block 42, which is final"
	r.shut = []journal.Closed{{Signature: r.live[0].Signature, Op: r.live[0].Op, At: start(), Block: 42}}
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

// Status and activity ask own nodes while something is open, and say who saw what.
func TestStatusAndActivityAskOwnNodes(t *testing.T) {
	for _, command := range []string{"activity", "status"} {
		r := newRig(t)
		someBook(r)
		r.live[0].Op = r.book[0].ID
		r.book[0].QuoteID = quoteID(5)
		r.service.statuses = []string{statusJSON(api.StatusCompleted)}
		r.sees = func() {
			r.shut = []journal.Closed{{Signature: r.live[0].Signature, Op: r.live[0].Op, At: start(), Block: 42}}
			r.live = nil
		}
		r.s.Follow = func(context.Context, journal.Operation, api.ExecutionStatus) []verify.Became {
			return []verify.Became{{Part: verify.PartDelivery, Outcome: verify.Filled, Block: 41,
				Chain: verify.ChainLabel{Name: "Base"}}}
		}
		args, want := []string{"activity"}, "seen by your node: its nonce is used in block 42, which is final"
		if command == "status" {
			args = []string{"status", r.book[0].QuoteID}
			want = "Its signatures can no longer be used (seen by your node)."
		}
		_ = r.run(args...)
		if got := strings.Join(strings.Fields(r.out.String()), " "); !strings.Contains(got, want) ||
			command == "status" && !strings.Contains(got, "seen by your node: filled on Base in block 41") {
			t.Errorf("%s: %s %s", command, got, r.err.String())
		}
	}
}
