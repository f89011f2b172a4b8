package activity

import (
	"strings"
	"testing"

	"coffer/ui/present"
	"coffer/ui/present/presenttest"
	"coffer/wallet/flow"
)

// Every state of an operation, every status and every reason of a refund is shown in the words of package present, as
// in lines and commands.
func TestStatesStatusesAndReasonsAreShownInTheCommonWords(t *testing.T) {
	shows := func(x flow.Snapshot, want string) {
		t.Helper()
		r := newRig(t, Deps{}).track(&fakeOp{id: x.ID, snap: x})
		r.w, r.h = 160, 60
		if got := flat(r.view()); !strings.Contains(got, flat(want)) {
			t.Errorf("%s, %q: %q is not in %s", x.State, x.Status.Status, want, got)
		}
	}
	for _, x := range presenttest.Snapshots(t) {
		st := present.StateOf(x, present.Live{}, clock, keys())
		shows(x, st.Word)
		shows(x, st.Sentence)
	}
	for _, reason := range append(presenttest.Reasons(t), "NEW") {
		x := flow.Snapshot{ID: "op1", State: flow.StateFailed}
		x.Status.Status, x.Status.FailReason = "REFUNDED", reason
		shows(x, present.FailReason(reason, keys())+" The service says: "+reason)
	}
}
