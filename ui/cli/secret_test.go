package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// pieces are keys as they arrive; an empty piece is a moment without keys, and suspended is a suspension.
type pieces struct{ left []string }

const suspended = "suspended"

func (p *pieces) next(_ context.Context, buf []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	piece := p.left[0]
	if piece == suspended {
		p.left = p.left[1:]
		return 0, errAgain
	}
	n := copy(buf, piece)
	if p.left[0] = piece[n:]; len(p.left[0]) == 0 {
		p.left = p.left[1:]
	}
	return n, nil
}

func readKeys(t *testing.T, lines bool, typed ...string) (string, error) {
	t.Helper()
	s, err := readSecret(t.Context(), &pieces{typed}, maxSecret, lines)
	return string(s.Reveal()), err
}

func TestSecretIsReadByKeys(t *testing.T) {
	for name, c := range map[string]struct {
		typed []string
		want  string
	}{
		"enter ends it":           {[]string{"key\rrest"}, "key"},
		"newline ends it":         {[]string{"key\n"}, "key"},
		"backspace":               {[]string{"\x7fkex\x7fy\r"}, "key"},
		"backspace takes a rune":  {[]string{"clé\x7fe\x08日\x7f\r"}, "cl"},
		"ctrl+u":                  {[]string{"wrong\x15key\r"}, "key"},
		"escapes are not it":      {[]string{"\x1bk\x00ey\r"}, "key"},
		"arrows add nothing":      {[]string{"k\x1b[Ae\x1bOB\x1b[1;5Cy\x1b[3~\r"}, "key"},
		"a lone escape":           {[]string{"ke\x1b", "", "[y\r"}, "ke[y"},
		"bytes stay":              {[]string{"clé\r"}, "clé"},
		"a paste ends nothing":    {[]string{"\x1b[200~key\r", "\x1b[20", "1~s\r"}, "key\rs"},
		"its last line end goes":  {[]string{"\x1b[200~key\r\n\x1b[201~\r"}, "key"},
		"escapes of a paste":      {[]string{"\x1b[200~k\x1b[20\x1b\x07y\x1b[201~\r"}, "k[20y"},
		"suspended, it is anew":   {[]string{"half\x1b[200~more", suspended, "key\r"}, "key"},
		"typing goes on after it": {[]string{"a\x1b[200~b\x1b[201~c\x7fd\r"}, "abd"},
	} {
		if got, err := readKeys(t, true, c.typed...); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, typed := range []string{"ke\x03", "ke\x04", "\x1b[200~ke\x03"} {
		if _, err := readKeys(t, false, typed); !errors.Is(err, ErrInterrupted) {
			t.Errorf("%q: %v", typed, err)
		}
	}
	if _, err := readKeys(t, false, "ke"); !errors.Is(err, io.EOF) {
		t.Errorf("closed terminal: %v", err)
	}
	if got, err := readKeys(t, false, strings.Repeat("k", maxSecret+1)); err == nil || got != "" {
		t.Error("an endless answer was taken")
	}
	if got, err := readKeys(t, false, "\x1b[200~one\rtwo\x1b[201~\r"); !errors.Is(err, errLines) || got != "" {
		t.Errorf("two lines for a question of one: %q, %v", got, err)
	}
}

// TH-K4: no deleted or unreturned input stays in memory.
func TestSecretThatWasTakenBackIsWiped(t *testing.T) {
	a := answer{line: make([]byte, 0, 16)}
	for _, keys := range []string{"secrét\x7f\x7f", "\x15ab"} {
		for _, k := range []byte(keys) {
			if _, err := a.take(k); err != nil {
				t.Fatal(err)
			}
		}
		if rest := a.line[len(a.line):cap(a.line)]; !bytes.Equal(rest, make([]byte, len(rest))) {
			t.Errorf("after %q: %q is left", keys, rest)
		}
	}
	a.wipe()
	if all := a.line[:cap(a.line)]; !bytes.Equal(all, make([]byte, len(all))) {
		t.Errorf("%q is left", all)
	}
}

// However keys arrive, an answer has no control bytes except those of a paste, and never more than its bound.
func FuzzSecretKeys(f *testing.F) {
	f.Add([]byte("k\x1b[200~a\rb\x1b[201~\x7f\x15x\r"))
	f.Fuzz(func(t *testing.T, keys []byte) {
		s, err := readSecret(t.Context(), &pieces{[]string{string(keys)}}, 32, true)
		if err != nil {
			return
		}
		got := s.Reveal()
		if len(got) > 32 || bytes.ContainsFunc(got,
			func(r rune) bool { return (r < ' ' && r != '\r' && r != '\n' && r != '\t') || r == 127 }) {
			t.Fatalf("%q", got)
		}
	})
}
