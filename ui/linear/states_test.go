package linear

import (
	"strings"
	"testing"
	"time"

	"coffer/ui/present"
	"coffer/ui/present/presenttest"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// Every state of an operation, every status and every reason of a refund is said in the words of package present, as on
// the screens and in commands.
func TestStatesStatusesAndReasonsAreSaidInTheCommonWords(t *testing.T) {
	r := newRig(t)
	for _, x := range presenttest.Snapshots(t) {
		var b strings.Builder
		s := &session{World: worldOf(r.opts), ctx: r.opts.Context, out: newPrinter(&b, 10_000)}
		f := follower{session: s, said: map[string]bool{}}
		f.hear(x)
		want := present.StateOf(x, present.Live{}, time.Time.String, present.Keys{})
		if !strings.Contains(b.String(), want.Sentence) {
			t.Errorf("%s, %q: %s", x.State, x.Status.Status, b.String())
		}
	}
	var b strings.Builder
	s := &session{World: worldOf(r.opts), ctx: r.opts.Context, out: newPrinter(&b, 10_000)}
	x := flow.Snapshot{State: flow.StateAccepted, Problem: "The service cannot be reached: no route",
		Became: []verify.Became{{Part: verify.PartDelivery, Outcome: verify.Filled, Block: 41,
			Chain: verify.ChainLabel{Name: "Base"}}}}
	(&follower{session: s, said: map[string]bool{}}).hear(x)
	if !strings.Contains(b.String(), "no route") || !strings.Contains(b.String(), present.Became(x.Became,
		"")[0].Text[1:]) {
		t.Errorf("what own nodes see is not said beside the silence: %s", b.String())
	}
	for _, reason := range append(presenttest.Reasons(t), "NEW") {
		var b strings.Builder
		s := &session{World: worldOf(r.opts), ctx: r.opts.Context, out: newPrinter(&b, 10_000)}
		s.refused(reason)
		if want := present.FailReason(reason, present.Keys{}) + " The service says: " + reason + "."; !strings.Contains(
			b.String(), want) {
			t.Errorf("%s: %s", reason, b.String())
		}
	}
}
