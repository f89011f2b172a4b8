package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/wallet/journal"
)

// signedRun is a run up to SIGNED with the given signatures.
func signedRun(signatures ...journal.Signature) []step {
	return []step{{journal.Prepared, journal.Entry{}}, {journal.Signed, journal.Entry{Signatures: signatures}}}
}

func TestU3_NoSecondSignatureIsRecordedBesideAnOpenOne(t *testing.T) {
	until := now().Unix() + 600
	other := signature("prepared", 0, 5, until)
	other.OpHash = "0xother"
	for name, c := range map[string]struct {
		change  func(s *journal.Signature)
		refused bool
	}{
		"another nonce": {func(*journal.Signature) {}, true},
		"sender in other letters": {func(s *journal.Signature) {
			s.Sender =
				"0x00000000000000000000000000000000000000A1"
		}, true},
		"the same nonce": {func(s *journal.Signature) { s.Nonce = signature("", 0, 4, until).Nonce }, false},
		"another lane":   {func(s *journal.Signature) { s.Lane = 1 }, false},
		"another chain":  {func(s *journal.Signature) { s.ChainID = 10 }, false},
		"another account": {func(s *journal.Signature) {
			s.Sender =
				"0x00000000000000000000000000000000000000a2"
		}, false},
		"beside another one's pair": {func(s *journal.Signature) { s.ChainID, s.Lane = 10, 7 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := open(t, dirOf(t), options())
			run(t, j, fullRun()[:2]) // sequence 4 is open
			id := run(t, j, signedRun()[:1])
			s := other
			c.change(&s)
			err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{s}})
			if errors.Is(err, journal.ErrConflict) != c.refused || (err != nil) != c.refused {
				t.Fatal(err)
			}
			want := 2
			if c.refused {
				want = 1
			}
			if n := len(j.Outstanding(now())); n != want {
				t.Errorf("%d open signatures", n)
			}
		})
	}
}

func TestU3_TheSignaturesOfOneRecordDoNotConflict(t *testing.T) {
	j := open(t, dirOf(t), options())
	until := now().Unix() + 600
	id := run(t, j, fullRun()[:3])
	pair := []journal.Signature{signature("funding", 1, 7, until), signature("funding", 1, 8, until)}
	if err := j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0xAB", Signatures: pair}); !errors.Is(err,
		journal.ErrConflict) {
		t.Fatal(err)
	}
}

func TestU3_ASignatureThatEndedNoLongerBlocks(t *testing.T) {
	clock := now()
	o := options()
	o.Clock = func() time.Time { return clock }
	j := open(t, dirOf(t), o)
	run(t, j, signedRun(signature("prepared", 0, 4, now().Unix()+600)))
	id := run(t, j, signedRun()[:1])
	late := journal.Entry{Signatures: []journal.Signature{signature("prepared", 0, 3, now().Unix()+1200)}}
	clock = clock.Add(659 * time.Second)
	if err := j.Append(id, journal.Signed, late); !errors.Is(err, journal.ErrConflict) {
		t.Fatal(err)
	}
	clock = clock.Add(2 * time.Second)
	if err := j.Append(id, journal.Signed, late); err != nil {
		t.Fatal(err)
	}
}

func TestU3_ASequenceFarAheadThatEndedUnusedDoesNotLockTheAccount(t *testing.T) {
	clock := now()
	o := options()
	o.Clock = func() time.Time { return clock }
	j := open(t, dirOf(t), o)
	far := signature("prepared", 0, 1<<31, now().Unix()+600) // a service may choose it while nothing is known
	run(t, j, signedRun(far))
	if seq, ok := j.NextSequence(account, 8453, 0); !ok || seq != 1<<31 {
		t.Fatalf("%d %v while it is open", seq, ok)
	}
	clock = clock.Add(661 * time.Second)
	if seq, ok := j.NextSequence(account, 8453, 0); ok {
		t.Fatalf("the account stays at %d for ever", seq)
	}
}

func TestQ1_AQuoteIDIsRecordedOnce(t *testing.T) {
	j := open(t, dirOf(t), options())
	run(t, j, fullRun()[:3])
	id := run(t, j, fullRun()[:2])
	if err := j.Append(id, journal.Quoted, journal.Entry{QuoteID: "0xab"}); !errors.Is(err, journal.ErrQuote) {
		t.Fatal(err)
	}
	if err := j.Append(id, journal.Quoted, journal.Entry{QuoteID: "0xac"}); err != nil {
		t.Fatal(err)
	}
}

func TestX3_RecordsOfAnotherQuoteThanTheLastAreRefused(t *testing.T) {
	for n, s := range []journal.State{journal.QuoteSigned, journal.Executing, journal.Acked} {
		j := open(t, dirOf(t), options())
		id := run(t, j, fullRun()[:3+n])
		if err := j.Append(id, s, journal.Entry{QuoteID: "0xAC"}); !errors.Is(err, journal.ErrQuote) {
			t.Errorf("%s: %v", s, err)
		}
	}
	// What was sent may only go back to signed for itself.
	j := open(t, dirOf(t), options())
	id := run(t, j, fullRun()[:5])
	if err := j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0xAC"}); !errors.Is(err, journal.ErrQuote) {
		t.Error(err)
	}
	if err := j.Append(id, journal.QuoteSigned, journal.Entry{QuoteID: "0xAB"}); err != nil {
		t.Error(err)
	}
}

func TestJ5_ARecordWhoseEndNeverReachedTheDiskIsTorn(t *testing.T) {
	b, ends := image(t)
	last := ends[len(ends)-2]
	for zeros := 5; zeros < len(b)-last-9; zeros += 7 {
		torn := append([]byte(nil), b...)
		clear(torn[len(torn)-zeros:])
		k := open(t, place(t, torn), options())
		if k.ReadOnly() != nil || k.Repaired() != len(b)-last || k.Operations()[0].State != journal.Acked {
			t.Fatalf("%d zeros at the end: %v, %d repaired", zeros, k.ReadOnly(), k.Repaired())
		}
		k.Close()
	}
	// The same zeros before a sound record are damage.
	damaged := append([]byte(nil), b...)
	clear(damaged[last-20 : last])
	if k := open(t, place(t, damaged), options()); k.ReadOnly() == nil {
		t.Error("a damaged record in the middle was dropped")
	}
}

func TestJ1_TheLockNamesAHolderThatLeftNoName(t *testing.T) {
	dir := dirOf(t)
	if _, err := open(t, dir, options()).Hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "journal.lock"), 0); err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Patience = time.Millisecond
	if _, err := journal.Open(dir, o); !errors.Is(err, journal.ErrLocked) ||
		!strings.Contains(err.Error(), "a process that left no name") {
		t.Fatal(err)
	}
}
