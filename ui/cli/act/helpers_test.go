//go:build unix

package act

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"coffer/api/secret"
	"coffer/wallet/intent"
)

type intentOf = intent.Intent

func itoa(n int) string { return strconv.Itoa(n) }

func secretOf(s string) secret.Secret { return secret.New([]byte(s)) }

// inheritable is a descriptor as a parent process leaves one open: with a text to read and without the mark that
// closes it.
func inheritable(t *testing.T, text string) int {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n, err := unix.Dup(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// mustDraft is the draft of callFlags.
func mustDraft(t *testing.T) intent.Draft {
	t.Helper()
	d, err := intentFile("x", []byte(transferOf25))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
