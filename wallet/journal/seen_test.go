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
		if err := j.Saw(id, hashes, 7); !errors.Is(err, journal.ErrSeen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, j.Saw(id, []string{approval(4).OpHash}, 7))
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
		if len(list) != 2 || list[0].Op != id || list[0].Block != 7 ||
			!list[0].At.Equal(now()) {
			t.Errorf("%+v", list)
		}
		if list = j.Closed(now().Add(12 * time.Hour)); len(list) != 1 {
			t.Errorf("what has ended by its time is listed: %+v", list)
		}
		if list = j.Closed(now().Add(24 * time.Hour)); len(list) != 0 {
			t.Errorf("what no time ends is listed for ever: %+v", list)
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

// An authorization ends with the account nonce of its EOA: once own nodes saw that used, it and those before it leave
// the list, and the next one follows, also after a start. One of another chain stays.
func TestU3_AnAccountNonceThatOwnNodesSawUsedClosesItsAuthorizations(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, append(signedRun(delegated(4, 6)), step{journal.Abandoned, journal.Entry{Note: "given up"}}))
	elsewhere := delegated(4, 7)
	elsewhere.ChainID, elsewhere.OpHash = 10, "0xelsewhere"
	elsewhere.Delegation.ChainID, elsewhere.Delegation.Digest = 10, "0xd10"
	run(t, j, append(signedRun(elsewhere), step{journal.Abandoned, journal.Entry{Note: "given up"}}))
	last := delegated(4, 7)
	last.Delegation.Digest = "0xd7"
	id := run(t, j, signedRun(last))
	must(t, j.Saw(id, []string{"0xd7"}, 42))
	check := func(j *journal.Journal) {
		t.Helper()
		for _, x := range j.Outstanding(now()) {
			if x.Role == journal.RoleDelegation && x.ChainID != 10 {
				t.Errorf("still open: %+v", x)
			}
		}
		if n, known := j.NextAuthorization(account, 8453); !known || n != 8 {
			t.Errorf("the next account nonce is %d, %t", n, known)
		}
		list := j.Closed(now())
		if len(list) != 2 || list[1].Op != id || list[1].Block != 42 || list[1].Role != journal.RoleDelegation ||
			list[1].Nonce != "7" {
			t.Errorf("%+v", list)
		}
	}
	check(j)
	j.Close()
	o, ids := options(), counter(0x40)
	o.Random = &ids
	check(open(t, dir, o))
}
