package act

import (
	"strings"
	"testing"

	"coffer/ui/present"
	"coffer/ui/present/presenttest"
)

// Every state of an operation, every status and every reason of a refund is printed in the words of package present, as
// on the screens and in lines.
func TestStatesStatusesAndReasonsArePrintedInTheCommonWords(t *testing.T) {
	r := newRig(t)
	for _, x := range presenttest.Snapshots(t) {
		p := &page{}
		p.state(r.s, x, r.c.Clock())
		want := present.StateOf(x, present.Live{Known: true}, stamp, present.Keys{})
		if got := p.b.String(); !strings.Contains(got, " "+want.Word+"\n") || !strings.Contains(got, want.Sentence) {
			t.Errorf("%s, %q: %s", x.State, x.Status.Status, got)
		}
	}
	for _, reason := range append(presenttest.Reasons(t), "NEW") {
		p := &page{}
		p.reason(reason)
		want := present.FailReason(reason, present.Keys{})
		if got := p.b.String(); !strings.Contains(got, " "+reason+"\n") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", reason, got)
		}
	}
}
