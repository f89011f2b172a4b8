package linear

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestL4_LinesSayWatchOnlyBeforeAReview expects the remark as soon as something is built.
func TestL4_LinesSayWatchOnlyBeforeAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Deps.WatchOnly = func(context.Context) string { return "watch-only until the key of X is in the vault" }
		r.begins()
		r.wants(r.types(callScript()[:reviewAt]...),
			"You can build and hear a review, but not sign: watch-only until the key of X is in the vault.")
		if err := r.ends(); err != nil || len(r.started) != 0 {
			t.Errorf("%d begun, %v", len(r.started), err)
		}
	})
}
