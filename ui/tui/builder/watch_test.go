package builder

import (
	"context"
	"strings"
	"testing"

	"coffer/ui/tui/screen"
)

// TestL4_TheBuilderSaysWatchOnlyBeforeAnythingIsAsked expects the remark above an empty form, and none once a key is
// there.
func TestL4_TheBuilderSaysWatchOnlyBeforeAnythingIsAsked(t *testing.T) {
	r := newRig(t)
	words := "watch-only until the key of " + payee + " is in the vault"
	r.s.deps.WatchOnly = func(context.Context) string { return words }
	r.do(r.s.Update(screen.OpenedMsg{}))
	if v := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(v,
		"! You can build and look at a review, but not sign: "+words) || len(r.sent) > 0 {
		t.Fatalf("%s", r.view())
	}
	words = ""
	r.do(r.s.Update(screen.OpenedMsg{}))
	if strings.Contains(r.view(), "watch-only") {
		t.Errorf("%s", r.view())
	}
}
