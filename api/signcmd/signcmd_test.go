package signcmd_test

import (
	"bytes"
	"errors"
	"testing"

	"coffer/api/signcmd"
)

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"signature":"0x11"}`))
	f.Add([]byte(`{"signature":"0x11","signature":"0x22"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		said, err := signcmd.ReadAnswer(b)
		if err != nil && (said != "" || !errors.Is(err, signcmd.ErrNone)) {
			t.Fatalf("%q %v", said, err)
		}
		if err == nil && bytes.Count(b, []byte(`"signature"`)) > 1 &&
			!bytes.Contains([]byte(said), []byte(`"signature"`)) {
			t.Fatalf("two signatures are one: %q", b)
		}
	})
}
