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

// anchored are options with an anchor outside the journal's directory.
func anchored(t testing.TB) journal.Options {
	t.Helper()
	o := options()
	o.Anchor = filepath.Join(t.TempDir(), "anchors", "journal")
	return o
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// history writes a journal and returns its file after each record.
func history(t testing.TB, o journal.Options) (dir string, files [][]byte) {
	t.Helper()
	dir = dirOf(t)
	j := open(t, dir, o)
	path := filepath.Join(dir, "journal")
	id := run(t, j, nil)
	files = append(files, content(t, path))
	for _, s := range fullRun() {
		if err := j.Append(id, s.state, s.entry); err != nil {
			t.Fatal(err)
		}
		files = append(files, content(t, path))
	}
	j.Close()
	return dir, files
}

// refused demands that a journal is read-only because records are missing.
func refused(t *testing.T, dir string, o journal.Options, words ...string) {
	t.Helper()
	j := open(t, dir, o)
	defer j.Close()
	err := j.ReadOnly()
	if !errors.Is(err, journal.ErrOlder) || !errors.Is(err, journal.ErrReadOnly) {
		t.Fatalf("an older journal is written to: %v", err)
	}
	for _, w := range append(words, dir, "coffer activity adopt") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not said: %v", w, err)
		}
	}
	if _, err := j.Begin([]byte(`{}`), [32]byte{}); !errors.Is(err, journal.ErrOlder) {
		t.Errorf("something new is begun: %v", err)
	}
	if _, err := j.Hold(t.Context()); !errors.Is(err, journal.ErrOlder) {
		t.Errorf("a step begins: %v", err)
	}
	if _, err := journal.OpenScratch(dir, o); !errors.Is(err, journal.ErrOlder) {
		t.Errorf("it is tried on: %v", err)
	}
	if r, err := journal.OpenReadOnly(dir, o); err == nil {
		if !errors.Is(r.ReadOnly(), journal.ErrOlder) {
			t.Errorf("a reader is not told: %v", r.ReadOnly())
		}
		r.Close()
	}
}

func TestK7_AnOlderCopyIsNotSignedWith(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	path := filepath.Join(dir, "journal")
	whole := files[len(files)-1]
	for n, b := range files[:len(files)-1] {
		put(t, path, b)
		refused(t, dir, o, "records that were written until 9 October 2025")
		if got := content(t, path); len(got) != len(b) {
			t.Fatalf("%d bytes of the copy after record %d are left of %d", len(got), n+1, len(b))
		}
	}
	put(t, path, whole)
	if j := open(t, dir, o); j.ReadOnly() != nil || j.Remark() != "" {
		t.Fatalf("the newest copy is refused: %v %s", j.ReadOnly(), j.Remark())
	}
}

func TestK7_ATornTailBehindTheAnchorIsNotRepaired(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	path := filepath.Join(dir, "journal")
	whole := files[len(files)-1]
	for _, cut := range []int{1, 5, 40, len(whole) - len(files[len(files)-2]), len(whole) - 10, len(whole)} {
		put(t, path, whole[:len(whole)-cut])
		refused(t, dir, o)
		if n := len(content(t, path)); n != len(whole)-cut {
			t.Errorf("cut by %d: the file has %d bytes, it was changed", cut, n)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, o, "0 of the 8 records")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, o, "0 of the 8 records")
}

func TestK7_AnotherJournalIsNotSignedWith(t *testing.T) {
	o := anchored(t)
	dir, _ := history(t, o)
	other := anchored(t)
	later := time.Unix(1_760_000_100, 0)
	other.Clock = func() time.Time { return later }
	_, files := history(t, other)
	put(t, filepath.Join(dir, "journal"), files[len(files)-1])
	refused(t, dir, o, "are not those that were written")
}

func TestK7_ACrashBetweenARecordAndItsAnchorIsNoRollback(t *testing.T) {
	o := anchored(t)
	dir := dirOf(t)
	var anchors [][]byte
	j := open(t, dir, o)
	id := run(t, j, nil)
	for _, s := range fullRun() {
		anchors = append(anchors, content(t, o.Anchor))
		if err := j.Append(id, s.state, s.entry); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	last := content(t, o.Anchor)
	for n, a := range anchors { // any earlier anchor, as after a restored configuration
		put(t, o.Anchor, a)
		put(t, o.Anchor+".new", last[:n*7]) // what a crash left beside it
		k := open(t, dir, o)
		if k.ReadOnly() != nil || k.Remark() != "" {
			t.Fatalf("after record %d: %v %s", n+1, k.ReadOnly(), k.Remark())
		}
		k.Close()
		if string(content(t, o.Anchor)) != string(last) {
			t.Errorf("after record %d the anchor stays behind", n+1)
		}
	}
}

func TestK7_AMissingAnchorIsMadeAndSaid(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	if err := os.Remove(o.Anchor); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir, o)
	if j.ReadOnly() != nil || !strings.Contains(j.Remark(), o.Anchor) || !strings.Contains(j.Remark(), "8 records") {
		t.Fatalf("%v %q", j.ReadOnly(), j.Remark())
	}
	j.Close()
	put(t, filepath.Join(dir, "journal"), files[3])
	refused(t, dir, o)
	info, err := os.Stat(o.Anchor)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

func TestK7_ADamagedAnchorIsNotTakenForNone(t *testing.T) {
	o := anchored(t)
	dir, _ := history(t, o)
	good := content(t, o.Anchor)
	for name, b := range map[string][]byte{
		"empty": nil, "cut": good[:20], "another network": []byte(strings.Replace(string(good), `"0xaa"`, `"0xab"`, 1)),
		"another version": []byte(strings.Replace(string(good), `anchor":1`, `anchor":2`, 1)),
		"huge":            append(good, make([]byte, 1<<20)...),
	} {
		put(t, o.Anchor, b)
		j := open(t, dir, o)
		if !errors.Is(j.ReadOnly(), journal.ErrReadOnly) || !strings.Contains(j.ReadOnly().Error(), o.Anchor) {
			t.Errorf("%s: %v", name, j.ReadOnly())
		}
		j.Close()
	}
	put(t, o.Anchor, good)
	if err := os.Chmod(o.Anchor, 0o622); err != nil {
		t.Fatal(err)
	}
	if j := open(t, dir, o); j.ReadOnly() == nil {
		t.Error("others may write to the anchor")
	}
}

func TestK7_ARecordThatCannotBeAnchoredIsNotThere(t *testing.T) {
	o := anchored(t)
	dir := dirOf(t)
	j := open(t, dir, o)
	id := run(t, j, nil)
	before := content(t, filepath.Join(dir, "journal"))
	if err := os.Rename(filepath.Dir(o.Anchor), filepath.Dir(o.Anchor)+"-away"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(o.Anchor), nil) // a file in place of the directory
	if err := j.Append(id, journal.Prepared, journal.Entry{}); !errors.Is(err, journal.ErrReadOnly) {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(dir, "journal")); string(got) != string(before) ||
		j.Operations()[0].State != journal.Intent {
		t.Error("a record that is not anchored is there")
	}
	if err := errors.Join(os.Remove(filepath.Dir(o.Anchor)),
		os.Rename(filepath.Dir(o.Anchor)+"-away", filepath.Dir(o.Anchor))); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
		t.Errorf("after the place is back: %v", err)
	}
}

func TestK7_ARollbackBesideARunningProgramIsSeen(t *testing.T) {
	for name, restore := range map[string]func(t *testing.T, path string, b []byte){
		"in place": func(t *testing.T, path string, b []byte) { put(t, path, b) },
		"another file": func(t *testing.T, path string, b []byte) {
			put(t, path+"-copy", b)
			if err := os.Rename(path+"-copy", path); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, path string, _ []byte) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"another of the same size": func(t *testing.T, path string, _ []byte) {
			b := content(t, path)
			o := anchored(t)
			o.Clock = func() time.Time { return time.Unix(1_760_000_100, 0) }
			_, other := history(t, o)
			put(t, path, other[0][:min(len(other[0]), len(b))])
		},
	} {
		for _, o := range []journal.Options{anchored(t), options()} {
			t.Run(name, func(t *testing.T) {
				dir := dirOf(t)
				path := filepath.Join(dir, "journal")
				j := open(t, dir, o)
				id := run(t, j, fullRun()[:1])
				copied := content(t, path)
				if err := j.Append(id, journal.Signed, fullRun()[1].entry); err != nil {
					t.Fatal(err)
				}
				restore(t, path, copied)
				if err := j.Append(id, journal.Abandoned, journal.Entry{}); !errors.Is(err, journal.ErrOlder) {
					t.Errorf("written all the same: %v", err)
				}
				if len(j.Operations()) != 1 || len(j.Outstanding(now())) != 1 {
					t.Error("what was known is forgotten")
				}
			})
		}
	}
}

func TestK7_AdoptingGoesOnWithTheOlderJournal(t *testing.T) {
	for name, n := range map[string]int{"an older copy": 4, "none": -1} {
		t.Run(name, func(t *testing.T) {
			o := anchored(t)
			dir, files := history(t, o)
			path := filepath.Join(dir, "journal")
			if _, err := journal.Examine(dir, o); !errors.Is(err, journal.ErrWhole) {
				t.Fatal(err)
			}
			if err := journal.Adopt(dir, o); !errors.Is(err, journal.ErrWhole) {
				t.Fatal(err)
			}
			has := 0
			if n < 0 {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			} else {
				put(t, path, files[n])
				has = n + 1
			}
			lost, err := journal.Examine(dir, o)
			if err != nil || lost.Has != has || lost.Written != 8 || lost.Missing != (n < 0) ||
				!lost.Until.Equal(now()) {
				t.Fatalf("%+v %v", lost, err)
			}
			if err := journal.Adopt(dir, o); err != nil {
				t.Fatal(err)
			}
			j := open(t, dir, o)
			if j.ReadOnly() != nil || len(j.Adoptions()) != 1 ||
				!strings.Contains(j.Adoptions()[0].Note, "8 were written") {
				t.Fatalf("%v %+v", j.ReadOnly(), j.Adoptions())
			}
			run(t, j, withQuote("0xAD", fullRun()[:1]))
			j.Close()
			put(t, path, files[len(files)-1]) // the newer copy turns up after all
			refused(t, dir, o)
		})
	}
}

func TestK7_ADamagedJournalIsNotAdopted(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	b := files[len(files)-1]
	b[len(files[0])+20] ^= 0x20
	put(t, filepath.Join(dir, "journal"), b)
	if err := journal.Adopt(dir, o); !errors.Is(err, journal.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}

// A record of the adoption counts as the head like any other, and an interrupted adoption is one that has not happened.
func TestK7_AnInterruptedAdoptionIsAskedForAgain(t *testing.T) {
	o := anchored(t)
	dir, files := history(t, o)
	path := filepath.Join(dir, "journal")
	put(t, path, files[2])
	before := content(t, o.Anchor)
	if err := journal.Adopt(dir, o); err != nil {
		t.Fatal(err)
	}
	put(t, o.Anchor, before) // the crash came after the record and before the anchor
	refused(t, dir, o)
	if err := journal.Adopt(dir, o); err != nil {
		t.Fatal(err)
	}
	if j := open(t, dir, o); j.ReadOnly() != nil || len(j.Adoptions()) != 2 {
		t.Errorf("%v %v", j.ReadOnly(), j.Adoptions())
	}
}

// BenchmarkAppend measures a record on disk, alone and with its anchor.
func BenchmarkAppend(b *testing.B) {
	for name, o := range map[string]journal.Options{"alone": options(), "anchored": anchored(b)} {
		b.Run(name, func(b *testing.B) {
			j := open(b, dirOf(b), o)
			id := run(b, j, nil)
			for b.Loop() {
				if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
