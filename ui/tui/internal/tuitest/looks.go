package tuitest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Looks compares a screen, including its styles, with golden files: on a dark and on a light background in true colour,
// and without colour, each in the bodies of an 80×24 and of a 120×40 terminal. A non-nil prepare runs before each
// drawing, after the size message.
func Looks(t *testing.T, s screen.Screen, now time.Time, prepare func()) {
	t.Helper()
	looks := []struct {
		name    string
		dark    bool
		profile colorprofile.Profile
	}{{"dark", true, colorprofile.TrueColor}, {"light", false, colorprofile.TrueColor},
		{"nocolor", true, colorprofile.ASCII}}
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		w, h := size[0], size[1]-5
		s.Update(screen.ResizedMsg{W: w, H: h})
		for _, l := range looks {
			t.Run(fmt.Sprintf("%dx%d_%s", size[0], size[1], l.name), func(t *testing.T) {
				if prepare != nil {
					prepare()
				}
				body, _, _, _ := kit.TakeCursor(s.View(screen.Frame{W: w, H: h,
					Theme: theme.New(l.dark, l.profile, false), Now: now}))
				compare(t, body)
			})
		}
	}
}

// compare requires the content of testdata/<test>.golden, or writes it when the test runs with -update, a flag that any
// package may define. Every line ends with a sign that makes its spaces visible; escapes are spelled out.
func compare(t *testing.T, body string) {
	t.Helper()
	var got bytes.Buffer
	for line := range bytes.SplitSeq([]byte(body), []byte{'\n'}) {
		got.Write(bytes.ReplaceAll(line, []byte{0x1b}, []byte(`\e`)))
		got.WriteString("|\n")
	}
	path := filepath.Join("testdata", t.Name()+".golden")
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(want, got.Bytes()) {
		return
	}
	was, is := bytes.Split(want, []byte{'\n'}), bytes.Split(got.Bytes(), []byte{'\n'})
	for i := range max(len(was), len(is)) {
		if i >= len(was) || i >= len(is) || !bytes.Equal(was[i], is[i]) {
			t.Fatalf("%s, line %d:\n%s\nnot\n%s", path, i+1, at(is, i), at(was, i))
		}
	}
}

func at(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}
