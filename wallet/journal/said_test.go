package journal_test

import (
	"crypto/rand"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// elsewhere are the options on a network on which the service's word proves nothing.
func elsewhere(kind network.Kind) journal.Options {
	o := options()
	o.Kind, o.Random = kind, rand.Reader
	return o
}

// doubting are the kinds of networks on which nothing is believed; "" is one that nobody declared.
func doubting() []network.Kind { return []network.Kind{network.Lab, network.Real, ""} }

// words are what the journal says of each open signature, by its hash.
func words(j *journal.Journal, at time.Time) map[string]journal.Word {
	out := map[string]journal.Word{}
	for _, x := range j.Outstanding(at) {
		out[x.OpHash] = x.Said
	}
	return out
}

func TestK4_WhatTheServiceSaysRanStaysOpenUntilItsTimeIsOver(t *testing.T) {
	for _, kind := range doubting() {
		j := open(t, dirOf(t), elsewhere(kind))
		run(t, j, fullRun())
		endless := approval(5)
		run(t, j, append(append(signedRun(endless), withQuote("0xCD", fullRun()[2:3])...),
			step{journal.QuoteSigned, journal.Entry{QuoteID: "0xCD"}},
			step{journal.Executing, journal.Entry{QuoteID: "0xCD"}}, end("0xCD", "COMPLETED", endless.OpHash)))
		got := words(j, now())
		if len(got) != 3 || got["0xprepared4"] != journal.SaidRan || got["0xfunding7"] != journal.SaidRan ||
			got[endless.OpHash] != journal.SaidRan {
			t.Fatalf("%q: %v", kind, got)
		}
		over := now().Add(700 * time.Second)
		if got := words(j, over); len(got) != 1 || got[endless.OpHash] != journal.SaidRan {
			t.Fatalf("%q: after their time: %v", kind, got)
		}
		for _, x := range j.Outstanding(over) {
			must(t, j.Void(x.Op, x.OpHash, "typed"))
		}
		if x := j.Outstanding(over); len(x) != 1 || x[0].VoidedAt.IsZero() {
			t.Errorf("%q: %+v", kind, x)
		}
	}
	j := open(t, dirOf(t), options())
	run(t, j, fullRun())
	if got := words(j, now()); len(got) != 0 {
		t.Errorf("embedded: %v", got)
	}
}

func TestK3_WhatTheServiceSaysCameToNothingStaysOpen(t *testing.T) {
	full := fullRun()
	for name, last := range map[string]step{
		"refunded":     end("0xAB", "REFUNDED", "0xfunding7"),
		"failed":       end("0xAB", "FAILED"),
		"not executed": {journal.NotExecuted, journal.Entry{QuoteID: "0xAB"}},
	} {
		dir := dirOf(t)
		j := open(t, dir, elsewhere(network.Lab))
		run(t, j, append(slices.Clone(full[:6]), last))
		check := func(j *journal.Journal) {
			t.Helper()
			if got := words(j, now()); len(got) != 2 || got["0xprepared4"] != journal.SaidNothing ||
				got["0xfunding7"] != journal.SaidNothing {
				t.Errorf("%s: %v", name, got)
			}
			if list := j.Open(now()); len(list) != 2 || !list[0].Nothing || !list[0].Sent || list[0].Ran ||
				len(list[0].Spend) != 1 || len(list[0].Intent) == 0 || list[0].Ends.IsZero() {
				t.Errorf("%s: %+v", name, list)
			}
			// It stands in the way of no other nonce: whether that is a repeat is for verify to judge.
			if live := j.LiveNonces(account, 8453, 0, now()); len(live) != 0 {
				t.Errorf("%s: live %v", name, live)
			}
		}
		check(j)
		j.Close()
		j = open(t, dir, elsewhere(network.Lab))
		check(j)
		// What is signed in its place is a signature of which nothing was said.
		again := signature("prepared", 0, 4, now().Unix()+600)
		again.OpHash = "0xagain"
		run(t, j, signedRun(again))
		if got := words(j, now()); len(got) != 3 || got["0xagain"] != "" {
			t.Errorf("%s: %v", name, got)
		}
		if live := j.LiveNonces(account, 8453, 0, now()); len(live) != 1 {
			t.Errorf("%s: live %v", name, live)
		}
	}
}

func TestK3_NothingIsTakenOffTheCapsForALostNonceThatOnlyTheServiceSaw(t *testing.T) {
	for kind, want := range map[network.Kind]int64{network.Embedded: 2, network.Lab: 3} {
		j := open(t, dirOf(t), elsewhere(kind))
		run(t, j, append(signedRun(signature("prepared", 0, 4, now().Unix()+600)),
			step{journal.Abandoned, journal.Entry{}}))
		steps := fullRun()
		other := signature("prepared", 0, 4, now().Unix()+600)
		other.OpHash = "0xother"
		steps[1].entry.Signatures, steps[6].entry.Used[0] = []journal.Signature{other}, "0xother"
		run(t, j, steps)
		if spent := j.Spent(now().Add(-time.Hour)); len(spent) != 1 || spent[0].Amount.Int64() != want {
			t.Errorf("%s: %+v", kind, spent)
		}
	}
}

func TestK4_AFileOfAnEarlierProgramIsReadWithTheNewMeaning(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, fullRun())
	j.Close()
	before, err := os.ReadFile(filepath.Join(dir, "journal"))
	must(t, err)
	k := open(t, dir, elsewhere(network.Lab))
	if got := words(k, now()); k.ReadOnly() != nil || len(got) != 2 {
		t.Fatalf("%v %v", k.ReadOnly(), got)
	}
	k.Close()
	after, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil || string(before) != string(after) {
		t.Error("reading it changed it", err)
	}
}

func TestK4_AnAuthorizationStaysListedWhenTheServiceSaysThatItWasUsed(t *testing.T) {
	for kind, want := range map[network.Kind]int{network.Embedded: 0, network.Lab: 1} {
		j := open(t, dirOf(t), elsewhere(kind))
		d := delegated(4, 0)
		run(t, j, append(append(signedRun(d), withQuote("0xCD", fullRun()[2:3])...),
			step{journal.QuoteSigned, journal.Entry{QuoteID: "0xCD"}},
			step{journal.Executing, journal.Entry{QuoteID: "0xCD"}}, end("0xCD", "COMPLETED", d.OpHash)))
		list := slices.DeleteFunc(j.Outstanding(now()),
			func(x journal.Outstanding) bool { return x.Role != journal.RoleDelegation })
		if len(list) != want {
			t.Errorf("%s: %+v", kind, list)
		}
	}
}

// lane is the one of the test account's prepared calls.
func lane(seq uint64) journal.Lane {
	return journal.Lane{ChainID: 8453, Account: account.Hex(), Lane: 0, Sequence: seq}
}

func TestK4_ARepairSetsTheLaneAndClosesNothing(t *testing.T) {
	for _, kind := range []network.Kind{network.Embedded, network.Lab} {
		dir := dirOf(t)
		j := open(t, dir, elsewhere(kind))
		run(t, j, fullRun())
		run(t, j, append(append(signedRun(delegated(5, 0)), withQuote("0xCD", fullRun()[2:3])...),
			step{journal.QuoteSigned, journal.Entry{QuoteID: "0xCD"}},
			step{journal.Executing, journal.Entry{QuoteID: "0xCD"}}, end("0xCD", "COMPLETED", "0xprepared5")))
		if next, _ := j.NextSequence(account, 8453, 0); next != 6 {
			t.Fatalf("%s: next %d", kind, next)
		}
		spent := j.Spent(now().Add(-time.Hour))
		must(t, j.Repair(lane(4), "typed 00a1"))
		check := func(j *journal.Journal) {
			t.Helper()
			if next, known := j.NextSequence(account, 8453, 0); next != 4 || !known {
				t.Errorf("%s: next %d %v", kind, next, known)
			}
			if next, _ := j.NextSequence(account, 8453, 1); next != 8 {
				t.Errorf("%s: the other lane goes on at %d", kind, next)
			}
			got := words(j, now())
			if got["0xprepared4"] != journal.SaidDoubted || got["0xprepared5"] != journal.SaidDoubted ||
				got["0xd"+delegated(5, 0).Nonce] == journal.SaidRan {
				t.Errorf("%s: %v", kind, got)
			}
			if _, listed := got["0xd"+delegated(5, 0).Nonce]; !listed {
				t.Errorf("%s: the authorization is gone: %v", kind, got)
			}
			if after := j.Spent(now().Add(-time.Hour)); after[0].Amount.Cmp(spent[0].Amount) < 0 {
				t.Errorf("%s: spent %v, before %v", kind, after, spent)
			}
			opened := 0
			for _, x := range j.Open(now()) {
				if x.Nothing {
					opened++
				}
			}
			if opened != 2 {
				t.Errorf("%s: %d are weighed against a repeat", kind, opened)
			}
			// The place can be signed again, and what runs there then is past.
			if live := j.LiveNonces(account, 8453, 0, now()); len(live) != 0 {
				t.Errorf("%s: %v", kind, live)
			}
		}
		check(j)
		j.Close()
		j = open(t, dir, elsewhere(kind))
		check(j)
		again := signature("prepared", 0, 4, now().Unix()+600)
		again.OpHash = "0xagain"
		steps := withQuote("0xEF", fullRun())
		steps[1].entry.Signatures, steps[3].entry.Signatures, steps[6].entry.Used = []journal.Signature{again}, nil,
			[]string{"0xagain"}
		run(t, j, steps)
		if next, _ := j.NextSequence(account, 8453, 0); next != 5 {
			t.Errorf("%s: next %d", kind, next)
		}
		// A lane may be set ahead too; that opens nothing and closes nothing.
		before := len(j.Outstanding(now()))
		must(t, j.Repair(lane(60), "typed 00a1"))
		if next, _ := j.NextSequence(account, 8453, 0); next != 60 || len(j.Outstanding(now())) != before {
			t.Errorf("%s: next %d, %d open", kind, next, len(j.Outstanding(now())))
		}
		facts := j.Lanes(now())
		if len(facts) != 2 || !facts[0].Set || !facts[0].Doubtful() || facts[0].Sequence != 60 || facts[0].Key == nil ||
			facts[1].Lane.Lane != 1 {
			t.Errorf("%s: %+v", kind, facts)
		}
	}
}

func TestK4_ARepairNamesALane(t *testing.T) {
	j := open(t, dirOf(t), options())
	for name, l := range map[string]journal.Lane{
		"no chain": {Account: account.Hex()}, "no account": {ChainID: 1},
		"another account": {ChainID: 1, Account: payer},
	} {
		if err := j.Repair(l, "x"); !errors.Is(err, journal.ErrRepair) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := j.Append("", journal.Repaired, journal.Entry{}); !errors.Is(err, journal.ErrRepair) {
		t.Error(err)
	}
	id := run(t, j, nil)
	l := lane(1)
	for name, e := range map[string]journal.Entry{"signatures": {Lane: &l,
		Signatures: []journal.Signature{approval(1)}}, "what is used": {Lane: &l, Used: []string{"0x1"}}} {
		if err := j.Append("", journal.Repaired, e); !errors.Is(err, journal.ErrRepair) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := j.Append(id, journal.Repaired, journal.Entry{Lane: &l}); !errors.Is(err, journal.ErrRepair) {
		t.Error("a repair of an operation:", err)
	}
	if j.ReadOnly() != nil || len(j.Operations()) != 1 {
		t.Error(j.ReadOnly())
	}
}

// FuzzRepair: whatever lane a record names, no open signature is lost, and what counts as spent stays or grows.
func FuzzRepair(f *testing.F) {
	f.Add(uint64(8453), account.Hex(), uint16(0), uint64(4), true)
	f.Add(uint64(8453), account.Hex(), uint16(1), uint64(0), false)
	f.Add(uint64(1), payer, uint16(9), uint64(1<<63), true)
	image := kindsImage(f)
	f.Fuzz(func(t *testing.T, chain uint64, who string, number uint16, seq uint64, embedded bool) {
		kind := network.Lab
		if embedded {
			kind = network.Embedded
		}
		o := elsewhere(kind)
		j := open(t, place(t, image), o)
		run(t, j, withQuote("0xZZ", fullRun()))
		hashes := func() []string {
			var out []string
			for _, x := range j.Outstanding(now()) {
				out = append(out, x.Op+x.OpHash)
			}
			return out
		}
		before, spent := hashes(), j.Spent(time.Time{})
		if err := j.Repair(journal.Lane{ChainID: chain, Account: who, Lane: number, Sequence: seq}, "x"); err != nil {
			return
		}
		after := hashes()
		for _, h := range before {
			if !slices.Contains(after, h) {
				t.Fatalf("%s is lost", h)
			}
		}
		for _, s := range spent {
			i := slices.IndexFunc(j.Spent(time.Time{}), func(x verify.Spend) bool { return x.Asset == s.Asset })
			if i < 0 || j.Spent(time.Time{})[i].Amount.Cmp(s.Amount) < 0 {
				t.Fatalf("%v counts less", s)
			}
		}
		if next, known := j.NextSequence(common.HexToAddress(who), chain, number); !known || next < seq {
			t.Fatalf("%d %v", next, known)
		}
		for _, l := range j.Lanes(now()) {
			if l.Key != nil && l.Key.Cmp(new(big.Int)) < 0 {
				t.Fatal(l)
			}
		}
	})
}
