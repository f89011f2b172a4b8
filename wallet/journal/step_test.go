package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"coffer/wallet/journal"
)

// impatient are options of another process on the same journal, which does not wait.
func impatient(o journal.Options) journal.Options {
	other := new(counter)
	*other = 100
	o.Random, o.Holder, o.Patience = other, "another", time.Millisecond
	return o
}

func TestK8_TwoProcessesShareOneJournalStepByStep(t *testing.T) {
	o := anchored(t)
	dir := dirOf(t)
	a, b := open(t, dir, o), open(t, dir, impatient(o))
	one := run(t, a, fullRun()[:2])
	two := run(t, b, withQuote("0xAD", fullRun()[:1]))
	if got := a.Operations(); len(got) != 2 || got[1].ID != two || got[0].ID != one {
		t.Fatalf("%+v", got)
	}
	if n := len(b.Outstanding(now())); n != 1 {
		t.Errorf("the other process knows %d signatures", n)
	}
	beside := journal.Entry{Signatures: []journal.Signature{signature("prepared", 0, 5, now().Unix()+600)}}
	if err := b.Append(two, journal.Signed, beside); !errors.Is(err, journal.ErrConflict) {
		t.Errorf("a second signature beside the one of the first process: %v", err)
	}
	if err := b.Append(one, journal.Quoted, journal.Entry{QuoteID: "0xAB"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Append(one, journal.Quoted, journal.Entry{QuoteID: "0xab"}); !errors.Is(err, journal.ErrQuote) {
		t.Errorf("a quote id of the other process was taken again: %v", err)
	}
	if o, ok := a.Operation(one); !ok || o.State != journal.Quoted || o.Records != 4 {
		t.Errorf("%+v", o)
	}
	a.Close()
	b.Close()
	if c := open(t, dir, o); c.ReadOnly() != nil || len(c.Operations()) != 2 {
		t.Errorf("%v", c.ReadOnly())
	}
}

func TestK8_AStepKeepsOthersOutAndEndsForAll(t *testing.T) {
	dir := dirOf(t)
	a, b := open(t, dir, options()), open(t, dir, impatient(options()))
	first, err := a.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.Hold(t.Context()) // steps of one process may overlap
	if err != nil {
		t.Fatal(err)
	}
	first()
	first()
	if _, err := b.Hold(t.Context()); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("the other process is in a step beside the second one: %v", err)
	}
	if n := len(b.Operations()); n != 0 {
		t.Error("a reader waits for a step")
	}
	second()
	release, err := b.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	run(t, a, nil)
}

func TestK8_AWaitForAnotherProcessEndsWithTheContext(t *testing.T) {
	dir := dirOf(t)
	a, b := open(t, dir, options()), open(t, dir, options())
	release, err := a.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Hold(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestK8_AWaitingStepGetsTheJournalWhenTheOtherEnds(t *testing.T) {
	dir := dirOf(t)
	patient := impatient(options())
	patient.Patience = 0
	a, b := open(t, dir, options()), open(t, dir, patient)
	release, err := a.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error)
	go func() {
		_, err := b.Begin([]byte(`{}`), [32]byte{})
		got <- err
	}()
	id := run(t, a, nil)
	release()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if list := b.Operations(); len(list) != 2 || list[0].ID != id {
		t.Errorf("%+v", list)
	}
}

// What a process left that died while it wrote is removed by the next step of another one.
func TestK8_APartOfARecordOfADeadProcessIsRemoved(t *testing.T) {
	for _, o := range []journal.Options{options(), anchored(t)} {
		dir := dirOf(t)
		path := filepath.Join(dir, "journal")
		j := open(t, dir, o)
		id := run(t, j, nil)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, ends := image(t)
		if _, err := f.Write(b[ends[1] : ends[2]-3]); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(j.Operations()); n != 1 {
			t.Fatalf("%d operations", n)
		}
		if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
			t.Fatal(err)
		}
		j.Close()
		if k := open(t, dir, o); k.ReadOnly() != nil || k.Repaired() != 0 ||
			k.Operations()[0].State != journal.Prepared {
			t.Errorf("%v %d", k.ReadOnly(), k.Repaired())
		}
	}
}

func TestK10_AScratchJournalWritesNothing(t *testing.T) {
	o := anchored(t)
	dir, _ := history(t, o)
	before := content(t, filepath.Join(dir, "journal"))
	if err := os.Remove(filepath.Join(dir, "journal.lock")); err != nil {
		t.Fatal(err)
	}
	j, err := journal.OpenScratch(dir, impatient(o))
	if err != nil {
		t.Fatal(err)
	}
	id := run(t, j, withQuote("0xAD", fullRun()[:5]))
	if x, ok := j.Operation(id); !ok || x.State != journal.Executing || len(j.Operations()) != 2 ||
		!j.SeenQuote("0xAB") || !j.SeenQuote("0xad") {
		t.Errorf("%+v", x)
	}
	release, err := j.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	j.Close()
	if string(content(t, filepath.Join(dir, "journal"))) != string(before) {
		t.Error("the journal was written to")
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	none := dirOf(t)
	if j, err = journal.OpenScratch(none, options()); err != nil {
		t.Fatal(err)
	}
	run(t, j, fullRun())
	if _, err := os.Stat(none); !errors.Is(err, os.ErrNotExist) {
		t.Error("a directory was made")
	}
}
