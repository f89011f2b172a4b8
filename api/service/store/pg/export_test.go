package pg

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// Waiting is how many Updates wait for their turn.
func (s *Store) Waiting() int { return int(s.waiting.Load()) }

// Later makes this a version with another migration until the test ends. No test runs beside others.
func Later(t *testing.T) {
	t.Helper()
	later := fstest.MapFS{"migrations/9999.sql": &fstest.MapFile{Data: []byte("select 1")}}
	files, err := fs.ReadDir(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := "migrations/" + f.Name()
		raw, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		later[name] = &fstest.MapFile{Data: raw}
	}
	migrations = later
	t.Cleanup(func() { migrations = embedded })
}
