package linear

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// TestD2_HowAnOperationStandsFollowsTheJournalAndTheClock.
func TestD2_HowAnOperationStandsFollowsTheJournalAndTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.begins()
		s := &session{World: worldOf(r.opts), ctx: r.opts.Context, deps: r.opts.Deps}
		sig := journal.Signature{Role: verify.RolePrepared, Kind: api.AccountKernelV31, Chain: "eip155:8453",
			Sender: account, Nonce: "7", ValidUntil: utc().Add(time.Minute).Unix()}
		endless := sig
		endless.Kind, endless.ValidUntil = api.AccountRoleBased, verify.NoEnd
		live := func(list ...journal.Signature) {
			r.live = nil
			for _, x := range list {
				r.live = append(r.live, journal.Outstanding{Signature: x, Op: "op1"})
			}
		}
		unsent := flow.Snapshot{ID: "op1", State: flow.StateQuoting, SignaturesDone: 1}
		over, stuck := unsent, unsent
		over.Over, stuck.Stuck = true, true
		refunded := flow.Snapshot{ID: "op1", State: flow.StateFailed, Said: true,
			Status: api.ExecutionStatus{Status: api.StatusRefunded}}
		for name, c := range map[string]struct {
			x    flow.Snapshot
			open []journal.Signature
			word string
			says string
		}{
			"open": {unsent, []journal.Signature{sig}, "signed, no quote yet",
				"1 signature can still be used until 00:02:00. No payment is signed; ask for a quote, or abandon it."},
			"ended": {over, nil, "it has expired", "The first signature can no longer be used. " +
				"No payment is signed, and there is no time left for a quote. Prepare it again, or abandon it."},
			"without an end": {unsent, []journal.Signature{endless}, "signed, no quote yet",
				"it never expires."},
			"cannot be read": {stuck, []journal.Signature{sig, endless}, "can only be abandoned",
				"some never expire. No payment is signed. What was signed cannot be checked again; " +
					"you can only abandon it."},
			"refunded": {refunded, []journal.Signature{sig}, "service: REFUNDED",
				"you could pay twice"},
			"refunded, ended": {refunded, nil, "service: REFUNDED",
				"It may have run before that: look at the chain before you build it again."},
		} {
			live(c.open...)
			if st := s.stateOf(c.x); st.Word != c.word || !strings.Contains(st.Sentence, c.says) {
				t.Errorf("%s: %+v", name, st)
			}
		}
		r.types("10")
		if err := r.ends(); err != nil {
			t.Fatal(err)
		}
	})
}
