package activity

import (
	"context"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// Opening the signatures asks own nodes; what they closed is no longer among those that can be used, and says so.
func TestJ4_WhatOwnNodesClosedSaysWhoSawIt(t *testing.T) {
	asked := 0
	closed := []present.Closed{{Seen: "seen by your node: its nonce is used in block 42, which is final",
		Signature: present.Signature{Operation: "op1",
			Summary: verify.OpSummary{Role: verify.RoleFunding, Chain: "eip155:10"}}}}
	done := snapshot(flow.StateDone, api.StatusCompleted)
	done.Said = true
	r := newRig(t, Deps{
		Outstanding: func(now time.Time) []present.Signature {
			if asked > 0 {
				return nil
			}
			return live(now)
		},
		Closed: func(time.Time) []present.Closed {
			if asked == 0 {
				return nil
			}
			return closed
		},
		Observe: func(context.Context) error { asked++; return nil },
	}).track(&fakeOp{id: "op1", snap: done})
	if got := squeezed(r.view()); !strings.Contains(got, "can no longer be used (seen by your node)") {
		t.Errorf("the operation: %s", got)
	}
	r = r.press("o")
	got := squeezed(r.view())
	for _, want := range []string{"Nothing that you signed can still be used.", present.Cannot,
		"a payment on Optimism", closed[0].Seen} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing: %s", want, got)
		}
	}
	if asked == 0 {
		t.Error("own nodes were not asked")
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }
