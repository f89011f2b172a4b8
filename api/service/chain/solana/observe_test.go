package solana_test

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

func signatures(all []solana.Receipt) (out []string) {
	for _, r := range all {
		out = append(out, r.Signature)
	}
	return out
}

func TestHistoryIsTheSameFromTheStoreAndFromCommits(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	if _, err := w.History(a, nil, nil, 1); err != nil { // from here on commits add to the index
		t.Fatal(err)
	}
	var sent []string
	for i := range 5 {
		sent = append(sent, w.must(t, w.alice, solmsg.SystemTransfer(a, b, uint64(i)+1)).Signature)
	}
	sent = append(sent, w.must(t, w.bob, solmsg.CreateATAIdempotent(b, b, w.mint)).Signature)
	slices.Reverse(sent)
	again, err := open(w.store, mustSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]ledger{"as it ran": w.ledger, "opened again": again} {
		all, err := l.History(b, nil, nil, 6)
		if err != nil || !slices.Equal(signatures(all), sent) {
			t.Errorf("%s: %v, %v; want %v", name, signatures(all), err, sent)
		}
		before, until := sigOf(t, sent[1]), sigOf(t, sent[4])
		some, err := l.History(b, &before, &until, 100)
		if err != nil || !slices.Equal(signatures(some), sent[2:4]) {
			t.Errorf("%s: %v, %v; want %v", name, signatures(some), err, sent[2:4])
		}
		if _, err := l.History(b, &[64]byte{1}, nil, 100); !errors.Is(err, solana.ErrUnknown) {
			t.Errorf("%s: before an unknown signature: %v", name, err)
		}
		keys, accounts, err := l.TokenAccounts(b)
		if err != nil || len(accounts) != 1 || keys[0] != ata(t, b, w.mint) {
			t.Errorf("%s: bob's token accounts are %v, %v", name, keys, err)
		}
		_, next, err := l.Since(-1)
		if err != nil {
			t.Fatal(err)
		}
		news, _, err := l.Since(next - 2)
		if err != nil || !slices.Equal(signatures(news), []string{sent[1], sent[0]}) {
			t.Errorf("%s: since %d: %v, %v", name, next-2, signatures(news), err)
		}
	}
}

func sigOf(t tb, s string) [64]byte {
	t.Helper()
	sig, err := solmsg.ParseSignature(s)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func TestAClosedTokenAccountHasNoOwner(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	b := keyOf(w.bob)
	w.must(t, w.bob, solmsg.CreateATAIdempotent(b, b, w.mint))
	if keys, _, err := w.TokenAccounts(b); err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	at := ata(t, b, w.mint)
	w.must(t, w.bob, solmsg.Build{Program: solmsg.TokenProgram(), Data: []byte{9}, Accounts: []solmsg.Meta{
		{Key: at, Writable: true}, {Key: b, Writable: true}, {Key: b, Signer: true}}})
	if keys, _, err := w.TokenAccounts(b); err != nil || len(keys) != 0 {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestTheNextCommitIsAnnounced(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	changed := w.Changed()
	select {
	case <-changed:
		t.Fatal("nothing was committed")
	default:
	}
	w.must(t, w.alice, solmsg.Memo("x"))
	select {
	case <-changed:
	default:
		t.Error("a commit was not announced")
	}
}

func TestATrialShowsAccountsAsTheTransactionLeavesThem(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	hash, last := w.RecentHash(w.at)
	if last != w.Slot(w.at)+solana.HashSlots {
		t.Errorf("valid until %d in slot %d", last, w.Slot(w.at))
	}
	m, err := solmsg.Compose(a, hash, solmsg.SystemTransfer(a, b, 7))
	if err != nil {
		t.Fatal(err)
	}
	r, after, err := w.Try(t.Context(), solana.Trial{Time: w.at, Tx: solana.Tx{Message: m.Bytes()}, Unsigned: true,
		Accounts: []solmsg.Key{b}})
	if err != nil || !r.Success || after[0].Lamports != 10e9+7 {
		t.Errorf("%+v, %+v, %v", r, after, err)
	}
	if v, err := w.Lamports(b); err != nil || v != 10e9 {
		t.Errorf("bob has %d, %v", v, err)
	}
}

func TestCommitsGoOnWhileTheIndexIsBuilt(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a := keyOf(w.alice)
	want := []string{}
	for i := range 600 { // more than one part
		want = append(want, w.must(t, w.alice, solmsg.Memo(strconv.Itoa(i))).Signature)
	}
	for range 20 {
		l, err := open(w.store, mustSpec(t)) // without an index
		if err != nil {
			t.Fatal(err)
		}
		w.ledger = l
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := l.History(a, nil, nil, 1); err != nil {
				t.Error(err)
			}
		})
		for i := range 5 {
			want = append(want, w.must(t, w.alice, solmsg.Memo(strconv.Itoa(1_000*len(want)+i))).Signature)
		}
		group.Wait()
		got, err := l.History(a, nil, nil, len(want))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(got)
		if !slices.Equal(signatures(got), want) {
			t.Fatalf("%d of %d transactions, or another order", len(got), len(want))
		}
	}
}

func BenchmarkIndexOf1000(b *testing.B) {
	w := newWorld(b, store.NewMemory())
	for i := range 1_000 {
		w.must(b, w.alice, solmsg.Memo(strconv.Itoa(i)))
	}
	for b.Loop() {
		l, err := open(w.store, mustSpec(b))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.History(keyOf(w.alice), nil, nil, 1); err != nil {
			b.Fatal(err)
		}
	}
}
