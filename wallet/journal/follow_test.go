package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/wallet/journal"
)

// moved are the options of the network that took the place of the one of options.
func moved(o journal.Options) journal.Options {
	o.Network = "0xbb"
	if o.Anchor != "" {
		o.Anchor = filepath.Join(filepath.Dir(o.Anchor), "after", "journal")
	}
	return o
}

// running are the records of an operation whose signatures are open.
func running() []step { return fullRun()[:5] }

func TestAJournalFollowsToTheNetworkThatTookThePlaceOfItsOwn(t *testing.T) {
	dir, o := dirOf(t), anchored(t)
	j := open(t, dir, o)
	done := run(t, j, withQuote("0xCD", fullRun()))
	// The same places again, as another account's would be; this one stays open.
	steps := running()
	steps[1].entry.Signatures[0].Nonce, steps[3].entry.Signatures[0].Nonce = signature("p", 0, 5, 0).Nonce,
		signature("f", 1, 8, 0).Nonce
	steps[1].entry.Signatures[0].OpHash, steps[3].entry.Signatures[0].OpHash = "0xopen1", "0xopen2"
	open1 := run(t, j, steps)
	before, spent := j.Operations(), j.Spent(now().Add(-1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw := content(t, filepath.Join(dir, "journal"))
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Fatal(err)
	}
	if after := content(t, filepath.Join(dir, "journal")); !bytes.HasPrefix(after, raw) || len(after) == len(raw) {
		t.Error("what was written before has changed")
	}
	if _, err := journal.Open(dir, o); err == nil || !strings.Contains(err.Error(), "another network") {
		t.Errorf("it still opens for the network before: %v", err)
	}
	k := open(t, dir, moved(o))
	if err := k.ReadOnly(); err != nil || k.Remark() != "" {
		t.Fatalf("%v, %q", err, k.Remark())
	}
	if got := k.Operations(); len(got) != len(before) || got[0].ID != done || got[1].ID != open1 ||
		got[1].State != journal.Executing || !k.SeenQuote("0xAB") {
		t.Errorf("operations %+v, they were %+v", got, before)
	}
	if got := k.Spent(now().Add(-1)); len(got) != len(spent) || len(got) != 1 ||
		got[0].Amount.Cmp(spent[0].Amount) != 0 {
		t.Errorf("%v counts against caps, it was %v", got, spent)
	}
	out := k.Outstanding(now())
	if len(out) != 2 || !out[0].Past || !strings.Contains(out[0].Void, "the network before this one") {
		t.Errorf("open signatures: %+v", out)
	}
	if n, known := k.NextSequence(account, 8453, 0); known || len(k.LiveNonces(account, 8453, 0, now())) != 0 {
		t.Errorf("the lane goes on at %d instead of beginning again", n)
	}
	if len(k.Lanes(now())) != 0 {
		t.Errorf("lanes of the network before: %+v", k.Lanes(now()))
	}
	// Nonce 0 of both lanes: refused beside an open signature of the same network, and free here.
	steps = withQuote("0xEF", running())
	steps[1].entry.Signatures[0].Nonce, steps[3].entry.Signatures[0].Nonce = signature("p", 0, 0, 0).Nonce,
		signature("f", 1, 0, 0).Nonce
	run(t, k, steps)
	if n, known := k.NextSequence(account, 8453, 0); !known || n != 0 {
		t.Errorf("the next is %d, %t", n, known)
	}
	// The end of what was open comes in later, and takes nothing on this network.
	if err := k.Append(open1, journal.Done, journal.Entry{QuoteID: "0xAB", Outcome: "REFUNDED",
		Used: []string{"0xopen2"}}); err != nil {
		t.Fatal(err)
	}
	if n, _ := k.NextSequence(account, 8453, 1); n != 0 {
		t.Errorf("a place of the network before counts: the next is %d", n)
	}
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Errorf("once more: %v", err)
	}
}

func TestAJournalThatLacksRecordsDoesNotFollow(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	put(t, filepath.Join(dir, "journal"), files[0])
	if err := journal.Follow(dir, o, moved(o)); !errors.Is(err, journal.ErrOlder) {
		t.Errorf("%v, expected ErrOlder", err)
	}
	if is, err := journal.Belongs(dir, moved(o).Network); is != "" || err != nil {
		t.Errorf("it moved: %s, %v", is, err)
	}
}

func TestWithoutAJournalThereIsNothingToFollow(t *testing.T) {
	dir, o := dirOf(t), anchored(t)
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory was made: %v", err)
	}
	foreign := o
	foreign.Network = "0xcc"
	j := open(t, dir, foreign)
	run(t, j, fullRun())
	if err := errors.Join(j.Close(), journal.Follow(dir, o, moved(o))); err != nil {
		t.Fatal(err)
	}
	if is, err := journal.Belongs(dir, "0xdd", "0xcc"); is != "0xcc" || err != nil {
		t.Errorf("a journal of a third network moved: %s, %v", is, err)
	}
}

// TestAJournalThatDoesNotSayWhoseItIsBelongsToNobody: of a file that a crash left empty, and of one with a damaged
// header, nobody is asked whether it follows; opening it says what it is.
func TestAJournalThatDoesNotSayWhoseItIsBelongsToNobody(t *testing.T) {
	dir, o := dirOf(t), anchored(t)
	j := open(t, dir, o)
	run(t, j, fullRun())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal")
	raw := content(t, path)
	damaged := bytes.Clone(raw)
	damaged[12] ^= 1 // in the network
	for name, b := range map[string][]byte{"damaged": damaged, "empty": {}, "cut": raw[:20]} {
		put(t, path, b)
		if is, err := journal.Belongs(dir, o.Network, moved(o).Network); is != "" || err != nil {
			t.Errorf("%s: it belongs to %q (%v)", name, is, err)
		}
		if err := journal.Follow(dir, o, moved(o)); err != nil || !bytes.Equal(content(t, path), b) {
			t.Errorf("%s: it was changed (%v)", name, err)
		}
	}
}

// TestACrashBeforeTheRecordLeavesTheJournalOfTheOldNetwork: the anchor of the new one is there already.
func TestACrashBeforeTheRecordLeavesTheJournalOfTheOldNetwork(t *testing.T) {
	dir, o := dirOf(t), anchored(t)
	j := open(t, dir, o)
	run(t, j, fullRun())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw := content(t, filepath.Join(dir, "journal"))
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "journal"), raw) // as if the record had not been written
	if k := open(t, dir, o); k.ReadOnly() != nil || len(k.Operations()) != 1 {
		t.Errorf("%v", k.ReadOnly())
	}
}

// TestACopyFromBeforeTheJournalMovedIsNotWrittenTo: what was signed on the new network is missing in it.
func TestACopyFromBeforeTheJournalMovedIsNotWrittenTo(t *testing.T) {
	dir, o := dirOf(t), anchored(t)
	j := open(t, dir, o)
	run(t, j, fullRun())
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw := content(t, filepath.Join(dir, "journal"))
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Fatal(err)
	}
	k := open(t, dir, moved(o))
	run(t, k, withQuote("0xEF", running()))
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "journal"), raw)
	if err := journal.Follow(dir, o, moved(o)); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, moved(o))
	if err := journal.Adopt(dir, moved(o)); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, moved(o)).ReadOnly(); err != nil {
		t.Error(err)
	}
}
