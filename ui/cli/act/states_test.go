package act

import (
	"strings"
	"testing"

	"coffer/ui/cli/act/plan"
	"coffer/ui/present"
	"coffer/ui/present/presenttest"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Every state of an operation, every status and every reason of a refund is printed in the words of package present, as
// on the screens and in lines.
func TestStatesStatusesAndReasonsArePrintedInTheCommonWords(t *testing.T) {
	r := newRig(t)
	for _, x := range presenttest.Snapshots(t) {
		p := &page{}
		p.state(r.s, x, r.c.Clock())
		want := present.StateOf(x, present.Live{Known: true}, stamp, present.Keys{})
		if got := p.String(); !strings.Contains(got, " "+want.Word+"\n") || !strings.Contains(got, want.Sentence) {
			t.Errorf("%s, %q: %s", x.State, x.Status.Status, got)
		}
	}
	for _, reason := range append(presenttest.Reasons(t), "NEW") {
		p := &page{}
		p.reason(reason)
		want := present.FailReason(reason, present.Keys{})
		if got := p.String(); !strings.Contains(got, " "+reason+"\n") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// What a call sends along is written in the chain's own coin: in the comments of a plan, and with the wei beside it in
// the comparison with the operation, whose --json keeps the wei alone.
func TestTheValueOfACallIsInCoinsAndInWei(t *testing.T) {
	r := newRig(t)
	call := intent.Call{To: payee, Value: "1500000000000000001"}
	x := flow.Snapshot{Intent: intent.Draft{TargetChain: "eip155:8453", Calls: []intent.Call{call}},
		Review1: &verify.PreparedView{Chain: verify.ChainLabel{ID: 8453, CAIP: "eip155:8453"}}}
	text := differencesText("0x", r.s.differences(plan.Plan{}, x, r.s.inCoins))
	if !strings.Contains(text, "1.500000000000000001 ETH (1500000000000000001 wei)\n") {
		t.Error(text)
	}
	if told := r.s.explain(x.Intent).Call(0); len(told) != 1 || told[0] != "sends 1.500000000000000001 ETH along" {
		t.Errorf("%q", told)
	}
	if doc := string(encode(r.s.differences(plan.Plan{}, x, inWei))); !strings.Contains(doc,
		" 1500000000000000001 wei\"") {
		t.Error(doc)
	}
}
