//go:build unix

package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestC3AVaultFileIsForItsOwnerAlone(t *testing.T) {
	b := newBench(t)
	v := b.created(t, BackendFile)
	info, err := os.Stat(b.dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info.Mode(), err)
	}
	files, err := os.ReadDir(b.dir)
	if err != nil || len(files) != 2 { // the vault and its lock; nothing temporary
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(f.Name(), info.Mode(), err)
		}
	}
	for _, mode := range []fs.FileMode{0o720, 0o702, 0o777, 0o770} {
		if err := os.Chmod(b.dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := v.Unlock(t.Context(), pass()); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("directory mode %o: %v", mode, err)
		}
		if _, err := OpenFile(b.options()); err == nil {
			t.Errorf("directory mode %o: opened", mode)
		}
	}
	if err := os.Chmod(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := v.store.(*fileStore).path
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o660, 0o610} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := v.Unlock(t.Context(), pass()); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("file mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := v.Unlock(t.Context(), pass()); err != nil {
		t.Fatal(err)
	}
}

func TestK1AKeyFileIsItsOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o644: false,
		0o620: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		s, err := ReadKeyFile(path)
		if ok != (err == nil) || ok && string(s.Reveal()) != "content" {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	pipe, empty, big := filepath.Join(dir, "pipe"), filepath.Join(dir, "empty"), filepath.Join(dir, "big")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), os.WriteFile(empty, nil, 0o600),
		os.WriteFile(big, make([]byte, maxKeyFile+1), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{pipe, dir, big, filepath.Join(dir, "none"), "/dev/null"} {
		if _, err := ReadKeyFile(p); err == nil {
			t.Errorf("%s was read", filepath.Base(p))
		}
	}
	if s, err := ReadKeyFile(empty); err != nil || !s.Empty() {
		t.Error(err)
	}
	if err := os.WriteFile(big, make([]byte, maxKeyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadKeyFile(big); err != nil || len(s.Reveal()) != maxKeyFile {
		t.Error("the largest file is refused", err)
	}
}
