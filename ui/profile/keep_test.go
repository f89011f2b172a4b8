package profile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"coffer/ui/profile"
)

func TestAFolderKeepsADocumentAsAWhole(t *testing.T) {
	f := profile.Folder{Dir: filepath.Join(t.TempDir(), "screens")}
	if b, err := f.Load("balances.json"); b != nil || err != nil {
		t.Errorf("nothing was saved: %q, %v", b, err)
	}
	for _, text := range []string{"one", "two"} {
		if err := f.Save("balances.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if b, err := f.Load("balances.json"); string(b) != text || err != nil {
			t.Errorf("%q, %v", b, err)
		}
	}
	files, err := os.ReadDir(f.Dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	info, err := os.Stat(filepath.Join(f.Dir, "balances.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAFolderTakesNoPathForAName(t *testing.T) {
	f := profile.Folder{Dir: t.TempDir()}
	for _, name := range []string{"", "../x", "a/b", "/etc/passwd", ".hidden", "a.b.c", "A"} {
		_, errLoad := f.Load(name)
		_, errExport := f.Export(name, nil)
		if !errors.Is(errLoad, profile.ErrName) || !errors.Is(f.Save(name, nil), profile.ErrName) ||
			!errors.Is(errExport, profile.ErrName) {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestAnExportNeverReplacesAFile(t *testing.T) {
	f := profile.Folder{Dir: t.TempDir()}
	for _, want := range []string{"history.csv", "history-2.csv", "history-3.csv"} {
		path, err := f.Export("history.csv", []byte(want))
		if err != nil || filepath.Base(path) != want {
			t.Fatalf("%s, %v", path, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(f.Dir, "history.csv")); string(b) != "history.csv" {
		t.Errorf("%q", b)
	}
}
