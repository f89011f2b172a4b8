package act

import (
	"context"
	"testing"

	"coffer/ui/cli"
)

// TestL4_NothingIsAskedThatNobodyHereCanSign refuses before the first request; a dry run asks and reports it.
func TestL4_NothingIsAskedThatNobodyHereCanSign(t *testing.T) {
	r := newRig(t)
	r.s.WatchOnly = func(context.Context) string { return "watch-only until the key of X is in the vault" }
	r.done(cli.ExitAccess, callFlags("--yes")...)
	r.says("nothing was asked, because nothing can be signed: watch-only until the key of X is in the vault")
	if len(r.started) != 0 {
		t.Fatalf("%d requests", len(r.started))
	}
	r.done(0, callFlags("--dry-run")...)
	r.says("Nothing could be signed: watch-only until the key of X is in the vault.")
	if len(r.started) != 1 {
		t.Fatalf("%d requests", len(r.started))
	}
}
