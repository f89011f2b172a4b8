package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestSecretIsReadByKeys(t *testing.T) {
	for name, c := range map[string]struct{ typed, want string }{
		"enter ends it":      {"key\rrest", "key"},
		"newline ends it":    {"key\n", "key"},
		"backspace":          {"\x7fkex\x7fy\r", "key"},
		"ctrl+u":             {"wrong\x15key\r", "key"},
		"escapes are not it": {"\x1bk\x00ey\r", "key"},
		"bytes stay":         {"clé\r", "clé"},
	} {
		s, err := readSecret(strings.NewReader(c.typed))
		if err != nil || string(s.Reveal()) != c.want {
			t.Errorf("%s: %q, %v", name, s.Reveal(), err)
		}
	}
	if _, err := readSecret(strings.NewReader("ke\x03")); !errors.Is(err, ErrInterrupted) {
		t.Errorf("ctrl+c: %v", err)
	}
	if _, err := readSecret(strings.NewReader("ke")); !errors.Is(err, io.EOF) {
		t.Errorf("closed terminal: %v", err)
	}
	if _, err := readSecret(strings.NewReader(strings.Repeat("k", maxSecret+1))); err == nil {
		t.Error("an endless answer was taken")
	}
}
