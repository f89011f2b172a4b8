package linear

import (
	"strings"
	"testing"
	"time"

	"coffer/ui/present"
	"coffer/ui/present/presenttest"
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
