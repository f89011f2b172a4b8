package journal_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coffer/wallet/journal"
)

func TestJ5_ARecordThatCannotBeWrittenLeavesTheJournalUsable(t *testing.T) {
	j := open(t, dirOf(t), options())
	id := run(t, j, nil)
	for name, e := range map[string]journal.Entry{
		"text that is not UTF-8": {Note: "\xff"},
		"more than a record":     {Document: make([]byte, 20<<20)},
	} {
		if err := j.Append(id, journal.Prepared, e); err == nil {
			t.Errorf("%s was recorded", name)
		}
	}
	if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil || j.ReadOnly() != nil {
		t.Errorf("the journal is stuck: %v", err)
	}
}

func TestJ1_AnIDNeedsRandomness(t *testing.T) {
	for name, r := range map[string]io.Reader{"none": nil, "too little": strings.NewReader("abc")} {
		o := options()
		o.Random = r
		j := open(t, dirOf(t), o)
		if _, err := j.Begin([]byte(`{}`), [32]byte{}); err == nil || len(j.Operations()) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sealed puts a correct checksum at the end of b.
func sealed(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func TestJ1_AJournalOfALaterVersionIsLeftAlone(t *testing.T) {
	b, ends := image(t)
	later := append([]byte(nil), b[:ends[0]-4]...)
	binary.BigEndian.PutUint32(later[8:], journal.Version+1)
	dir := place(t, append(sealed(later), b[ends[0]:]...))
	if _, err := journal.Open(dir, options()); err == nil {
		t.Error("it was opened for writing")
	}
	if _, err := journal.OpenReadOnly(dir, options()); err == nil {
		t.Error("it was read")
	}
	if _, err := journal.Open(place(t, []byte("short, and not the start of one")), options()); err == nil {
		t.Error("a foreign file was overwritten")
	}
}

func TestJ5_ARecordWithMembersOfALaterVersionIsDamage(t *testing.T) {
	b, ends := image(t)
	payload := []byte(`{"op":"x","at":"2025-10-09T08:53:20Z","shiny":1}`)
	frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), append([]byte{1}, payload...)...)
	j := open(t, place(t, append(append([]byte(nil), b[:ends[0]]...), sealed(frame)...)), options())
	if !errors.Is(j.ReadOnly(), journal.ErrReadOnly) {
		t.Error("a record that is not understood was taken")
	}
}

func TestJ1_WhatIsInTheWayIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(filepath.Join(file, "wallet"), options()); err == nil {
		t.Error("a directory below a file")
	}
	if _, err := journal.Open(file, options()); err == nil {
		t.Error("a file in place of the directory")
	}
	dir := dirOf(t)
	if err := os.MkdirAll(filepath.Join(dir, "journal.lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(dir, options()); err == nil {
		t.Error("a directory in place of the lock")
	}
}

// broken is a file on a disk that cannot be read, or that moves or stores less than it says.
type broken struct {
	journal.File
	read, seek, short bool
	cut               error
}

func (b *broken) Read(p []byte) (int, error) {
	if b.read {
		return 0, syscall.EIO
	}
	return b.File.Read(p)
}

func (b *broken) Seek(at int64, from int) (int64, error) {
	if b.seek {
		return 0, syscall.EIO
	}
	return b.File.Seek(at, from)
}

func (b *broken) Write(p []byte) (int, error) {
	if b.short {
		n, _ := b.File.Write(p[:len(p)/2])
		return n, nil
	}
	return b.File.Write(p)
}

func (b *broken) Truncate(n int64) error {
	if b.cut != nil {
		return b.cut
	}
	return b.File.Truncate(n)
}

func withBroken(b *broken) journal.Options {
	o := options()
	o.Holder = ""
	o.OpenFile = func(path string, flag int, perm fs.FileMode) (journal.File, error) {
		real, err := os.OpenFile(path, flag, perm)
		b.File = real
		return b, err
	}
	return o
}

func TestJ5_AFaultyDiskIsSaidAndNothingCountsAsWritten(t *testing.T) {
	if _, err := journal.Open(dirOf(t), withBroken(&broken{read: true})); !errors.Is(err, syscall.EIO) {
		t.Errorf("unreadable: %v", err)
	}
	b := &broken{}
	j := open(t, dirOf(t), withBroken(b))
	id := run(t, j, nil)
	for name, fault := range map[string]func(bool){"seek": func(on bool) { b.seek = on },
		"short write": func(on bool) { b.short = on }} {
		fault(true)
		if err := j.Append(id, journal.Prepared, journal.Entry{}); !errors.Is(err, journal.ErrReadOnly) ||
			j.Operations()[0].State != journal.Intent {
			t.Errorf("%s: %v", name, err)
		}
		fault(false)
	}
	if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
		t.Error(err)
	}
}

func TestJ5_ATornTailThatCannotBeRemovedIsAnError(t *testing.T) {
	whole, _ := image(t)
	if _, err := journal.Open(place(t, whole[:len(whole)-3]), withBroken(&broken{cut: syscall.EROFS})); !errors.Is(err,
		syscall.EROFS) {
		t.Error(err)
	}
}
