package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/wallet/journal"
)

// facts is everything that caps, history, export and the next signature take from a journal.
func facts(j *journal.Journal) string {
	var b strings.Builder
	for _, o := range j.Operations() {
		fmt.Fprintf(&b, "%+v\n", o)
	}
	for _, at := range []time.Time{now(), now().Add(time.Hour)} {
		for _, x := range j.Outstanding(at) {
			fmt.Fprintf(&b, "%+v\n", x)
		}
		for _, lane := range []uint16{0, 1} {
			fmt.Fprintln(&b, j.LiveNonces(account, 8453, lane, at))
			next, known := j.NextSequence(account, 8453, lane)
			fmt.Fprintln(&b, next, known)
		}
	}
	for _, s := range j.Spent(time.Time{}) {
		fmt.Fprintln(&b, s.Asset, s.Amount)
	}
	next, known := j.NextAuthorization(account, 8453)
	fmt.Fprintln(&b, next, known, j.Recipients(), j.Adoptions())
	for q := range 40 {
		fmt.Fprint(&b, j.SeenQuote(quoteOf(q)), " ")
	}
	return b.String()
}

func quoteOf(n int) string { return fmt.Sprintf("0x%02d", n) }

// random writes a journal of operations that went in every way, with answers of some size.
func random(t testing.TB, dir string, o journal.Options, r *rand.Rand) {
	t.Helper()
	at := now()
	o.Clock = func() time.Time { return at }
	j := open(t, dir, o)
	defer j.Close()
	answer := func() []byte {
		return []byte(`{"document":"` + strings.Repeat("abcdefgh", 4<<10+r.IntN(4<<10)) + `","quoteId":"x"}`)
	}
	for n := range 12 {
		until := at.Unix() + 30
		q := quoteOf(n)
		steps := []step{
			{journal.Prepared, journal.Entry{Document: answer()}},
			{journal.Signed, journal.Entry{Signatures: []journal.Signature{signature("prepared", 0, uint64(n), until)},
				Confirmed: "yes", Summary: []string{"a", "b"}}},
			{journal.Quoted, journal.Entry{Document: answer(), QuoteID: q, Expires: at.Unix() + 30}},
			{journal.QuoteSigned, journal.Entry{QuoteID: q,
				Signatures: []journal.Signature{signature("funding", 1, uint64(n), until)}, Confirmed: "yes"}},
			{journal.Executing, journal.Entry{QuoteID: q, BodyHash: "00ff"}},
			{journal.Acked, journal.Entry{QuoteID: q}},
		}
		steps = steps[:1+r.IntN(len(steps))]
		switch last := steps[len(steps)-1].state; {
		case last == journal.Acked && r.IntN(3) > 0:
			steps = append(steps, step{journal.Done, journal.Entry{QuoteID: q, Outcome: "COMPLETED",
				Used: []string{fmt.Sprintf("0xprepared%d", n), fmt.Sprintf("0xfunding%d", n)}}})
		case last == journal.Executing && r.IntN(3) > 0:
			steps = append(steps, step{journal.NotExecuted, journal.Entry{QuoteID: q}})
		case last != journal.Acked && last != journal.Executing && r.IntN(3) > 0:
			steps = append(steps, step{journal.Abandoned, journal.Entry{Note: "left"}})
		}
		run(t, j, steps)
		at = at.Add(2 * time.Minute) // the window is over: the next one conflicts with nothing
	}
}

// dir with a journal that is compacted when it is opened.
func large(t testing.TB, o journal.Options, seed uint64) (dir string, b []byte) {
	t.Helper()
	for ; ; seed += 1000 {
		dir = dirOf(t)
		random(t, dir, o, rand.New(rand.NewPCG(seed, 1)))
		b = content(t, filepath.Join(dir, "journal"))
		j := open(t, dir, o)
		j.Close()
		smaller := content(t, filepath.Join(dir, "journal"))
		put(t, filepath.Join(dir, "journal"), b)
		if len(smaller) < len(b)*3/4 {
			return dir, b
		}
	}
}

func TestK10_CompactingLosesNothingThatIsNeeded(t *testing.T) {
	for seed := range uint64(8) {
		o := anchored(t)
		dir, b := large(t, o, seed)
		anchor := content(t, o.Anchor)
		r, err := journal.OpenReadOnly(dir, o)
		if err != nil || len(b) == 0 {
			t.Fatal(err)
		}
		want := facts(r)
		r.Close()
		j := open(t, dir, o)
		if j.ReadOnly() != nil || facts(j) != want {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, j.ReadOnly(), facts(j), want)
		}
		small := content(t, filepath.Join(dir, "journal"))
		if len(small) > len(b)*3/4 || string(content(t, o.Anchor)) != string(anchor) {
			t.Errorf("seed %d: %d bytes of %d; the anchor has to be what it was", seed, len(small), len(b))
		}
		run(t, j, withQuote("0xFF", fullRun()[:1]))
		j.Close()
		k := open(t, dir, o)
		if k.ReadOnly() != nil || len(k.Operations()) != 13 {
			t.Errorf("seed %d: %v", seed, k.ReadOnly())
		}
		k.Close()
		put(t, filepath.Join(dir, "journal"), small) // one record less
		refused(t, dir, o)
		put(t, filepath.Join(dir, "journal"), b)
		refused(t, dir, o)
	}
}

// A kill at any moment of compacting leaves a journal that opens, is no rollback, and knows everything.
func TestK10_AKillWhileCompactingLeavesAJournal(t *testing.T) {
	o := anchored(t)
	dir, b := large(t, o, 1)
	path := filepath.Join(dir, "journal")
	r, err := journal.OpenReadOnly(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	want := facts(r)
	r.Close()
	open(t, dir, o).Close()
	small := content(t, path)
	for name, leave := range map[string]func(){
		"nothing written beside": func() { put(t, path, b); put(t, path+".new", nil) },
		"a part written beside":  func() { put(t, path, b); put(t, path+".new", small[:len(small)/2]) },
		"all written beside":     func() { put(t, path, b); put(t, path+".new", small) },
		"renamed":                func() { put(t, path, small) },
	} {
		leave()
		j := open(t, dir, o)
		if j.ReadOnly() != nil || facts(j) != want || j.Repaired() != 0 {
			t.Errorf("%s: %v", name, j.ReadOnly())
		}
		j.Close()
		if got := content(t, path); !bytes.Equal(got, small) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if _, err := os.Stat(path + ".new"); err == nil {
			t.Errorf("%s: a file is left beside", name)
		}
	}
}

// A disk without room for the smaller file leaves the larger one in use.
func TestK10_AFullDiskLeavesTheLargerFile(t *testing.T) {
	o := anchored(t)
	dir, b := large(t, o, 2)
	full := o
	full.OpenFile = func(path string, flag int, perm fs.FileMode) (journal.File, error) {
		f, err := os.OpenFile(path, flag, perm)
		if strings.HasSuffix(path, ".new") && err == nil {
			return &failing{File: f, writes: 0, syncs: -1, truncates: -1, partial: 100, err: syscall.ENOSPC}, nil
		}
		return f, err
	}
	j := open(t, dir, full)
	if j.ReadOnly() != nil || !strings.Contains(j.Remark(), "no space left") ||
		!bytes.Equal(content(t, filepath.Join(dir, "journal")), b) {
		t.Fatalf("%v %q", j.ReadOnly(), j.Remark())
	}
	run(t, j, withQuote("0xFF", fullRun()[:1]))
	j.Close()
	if _, err := os.Stat(filepath.Join(dir, "journal.new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file is left beside")
	}
}

// Another process that has the larger file open goes on with the smaller one.
func TestK10_AProcessBesideGoesOnAfterCompacting(t *testing.T) {
	o := anchored(t)
	dir, _ := large(t, o, 3)
	path := filepath.Join(dir, "journal")
	first := o
	first.OpenFile = func(path string, flag int, perm fs.FileMode) (journal.File, error) {
		if strings.HasSuffix(path, ".new") {
			return nil, syscall.EROFS // this one does not compact
		}
		return os.OpenFile(path, flag, perm)
	}
	j := open(t, dir, first)
	id := run(t, j, withQuote("0xFE", fullRun()[:1]))
	want := facts(j)
	size := len(content(t, path))
	k := open(t, dir, impatient(o))
	if n := len(content(t, path)); n >= size {
		t.Fatalf("not compacted: %d of %d bytes", n, size)
	}
	if facts(j) != want {
		t.Error("the first process knows something else")
	}
	if err := j.Append(id, journal.Signed, journal.Entry{}); err != nil {
		t.Fatal(err)
	}
	if x, ok := k.Operation(id); !ok || x.State != journal.Signed {
		t.Errorf("%+v", x)
	}
	j.Close()
	k.Close()
	if l := open(t, dir, o); l.ReadOnly() != nil {
		t.Error(l.ReadOnly())
	}
}
