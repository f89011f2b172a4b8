//go:build unix

package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept")
	for _, content := range []string{"one", "another"} {
		if err := Replace(path, ".new-*", []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		info, errInfo := os.Stat(path)
		if err != nil || errInfo != nil || string(got) != content || info.Mode().Perm() != 0o600 {
			t.Fatal(string(got), info.Mode(), err, errInfo)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if Replace(filepath.Join(dir, "taken"), ".new-*", nil) == nil {
		t.Error("a directory was replaced by a file")
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".new-*")); err != nil || len(left) > 0 {
		t.Error("left behind:", left, err)
	}
}

func TestC3WhoElseMayChangeAFileIsSaid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path        string
		mode        os.FileMode
		said        string
		write, read bool
	}{
		{path, 0o600, "", false, false},
		{path, 0o640, "", false, true},
		{path, 0o620, "others may write here (mode 620); run: chmod go-w", true, true},
		{dir, 0o777 | os.ModeSticky, "", true, true},
		{dir, 0o777, "others may write here (mode 777); run: chmod go-w", true, true},
		{dir, 0o700, "", false, false},
	} {
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(c.path)
		if err != nil {
			t.Fatal(err)
		}
		said := Changeable(c.path, info)
		if (c.said == "") != (said == "") || !strings.HasPrefix(said, c.said) || OthersMayWrite(info) != c.write ||
			OthersMayRead(info) != c.read || Foreign(info) {
			t.Errorf("%s %v: %q", c.path, c.mode, said)
		}
	}
}

func TestALockKeepsASecondOneOutUntilItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer func() { _ = second.Close() }()
	if err := Lock(t.Context(), first, 0); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Lock(ended, second, 0); !errors.Is(err, context.Canceled) {
		t.Error("two hold one lock:", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Lock(t.Context(), second, 0); err != nil {
		t.Error("the lock outlived its file:", err)
	}
}
