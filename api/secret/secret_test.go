package secret

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestK2 formats a secret every way a program does by accident.
func TestK2SecretIsNeverPrinted(t *testing.T) {
	const word = "sentinel-5f2c"
	s := New([]byte(word))
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb, s)
		fmt.Fprintf(&out, verb, &s)
		fmt.Fprintf(&out, verb, struct{ K Secret }{s})
		fmt.Fprintf(&out, verb, []Secret{s})
	}
	fmt.Fprint(&out, s, fmt.Errorf("wrapped: %w", errors.New(s.String())))
	b, err := json.Marshal(map[string]any{"k": s})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(b)
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("m", "k", s, "group", slog.GroupValue(slog.Any("k", s)))
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("m", "k", &s)
	out.Write(logged.Bytes())
	for _, form := range []string{word, fmt.Sprintf("%x", word), fmt.Sprintf("%X", word),
		fmt.Sprintf("%d", []byte(word))} {
		if strings.Contains(out.String(), form) {
			t.Fatalf("the secret was printed as %q", form)
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Fatal("nothing was printed at all")
	}
}

func TestWipeClearsEveryCopy(t *testing.T) {
	b := []byte("key")
	s := New(b)
	s.Wipe()
	if !bytes.Equal(b, make([]byte, 3)) || s.Empty() {
		t.Fatal("the bytes are still there")
	}
}
