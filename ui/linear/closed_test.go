package linear

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Activity asks own nodes; what they closed is said with who saw it, also where nothing else is under way.
func TestJ4_WhatOwnNodesClosedSaysWhoSawIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		asked := 0
		r.opts.Deps.Observe = func(context.Context) error { asked++; return nil }
		r.opts.Deps.Closed = func(time.Time) []journal.Closed {
			return []journal.Closed{{Signature: journal.Signature{Role: verify.RoleFunding, Chain: "eip155:10",
				ChainID: 10, Sender: account, Nonce: "1", ValidUntil: utc().Unix() + 60}, Op: "op1", At: utc(),
				Block: 42}}
		}
		r.begins()
		r.wants(r.types("7"), present.Cannot,
			"A payment on Optimism: seen by your node: its nonce is used in block 42", "which is final")
		if asked == 0 {
			t.Error("own nodes were not asked")
		}
		s := &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: r.opts.Deps}
		st := s.stateOf(flow.Snapshot{ID: "op1", State: flow.StateDone, Said: true})
		r.wants(st.Sentence, "can no longer be used (seen by your node)")
		if err := r.ends(); err != nil {
			t.Fatal(err)
		}
	})
}
