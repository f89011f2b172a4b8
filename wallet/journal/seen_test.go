package journal_test

import (
	"errors"
	"testing"
	"time"

	"coffer/wallet/journal"
)

// What the person's own node saw used can be used by nothing else: it leaves the list, its place is past, its sums
// stay, also for another operation that signed in the same place, and after a start.
func TestU3_ANonceThatOwnNodesSawUsedClosesItsSignatures(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	id := run(t, j, append(signedRun(approval(4)), step{journal.Abandoned, journal.Entry{Note: "given up"}}))
	other := paying("prepared", 0, 4, "7", "")
	run(t, j, signedRun(other))
	before, spent := j.Operations()[0], total(j.Spent(now()), usdc)
	if len(j.Outstanding(now())) != 2 {
		t.Fatalf("%+v", j.Outstanding(now()))
	}
	for name, hashes := range map[string][]string{"none": nil, "another": {"0x99"},
		"one of several": {approval(4).OpHash, "0x99"}} {
		if err := j.Saw(id, hashes, "x"); !errors.Is(err, journal.ErrSeen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, j.Saw(id, []string{approval(4).OpHash}, "seen by your node: block 7"))
	check := func(j *journal.Journal) {
		t.Helper()
		if list := j.Outstanding(now()); len(list) != 0 {
			t.Errorf("still open: %+v", list)
		}
		if n := j.LiveNonces(account, 8453, 0, now()); len(n) != 0 {
			t.Errorf("live: %v", n)
		}
		if n, known := j.NextSequence(account, 8453, 0); !known || n != 5 {
			t.Errorf("the next sequence is %d, %t", n, known)
		}
		if got := total(j.Spent(now()), usdc); got != spent {
			t.Errorf("%s are spent, %s were", got, spent)
		}
		if o := j.Operations()[0]; o.State != journal.Abandoned || !o.Updated.Equal(before.Updated) {
			t.Errorf("the operation changed: %+v", o)
		}
		list := j.Closed(now())
		if len(list) != 2 || list[0].Op != id || list[0].Note != "seen by your node: block 7" ||
			!list[0].At.Equal(now()) {
			t.Errorf("%+v", list)
		}
		if list = j.Closed(now().Add(24 * time.Hour)); len(list) != 1 {
			t.Errorf("what has ended by its time is listed: %+v", list)
		}
	}
	check(j)
	j.Close()
	o, ids := options(), counter(0x40)
	o.Random = &ids
	j = open(t, dir, o)
	if j.ReadOnly() != nil {
		t.Fatal(j.ReadOnly())
	}
	check(j)
}
