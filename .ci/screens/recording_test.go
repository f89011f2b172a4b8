//go:build unix

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"coffer/ui/termtest"
)

// TestARecordingDrawsALineOnceWhileItDoesNotChange: three screens of two lines; the second line changes once.
func TestARecordingDrawsALineOnceWhileItDoesNotChange(t *testing.T) {
	var r recording
	for _, second := range []string{"a<b", "a<b", "c&d"} {
		s := [][]termtest.Cell{line("always"), line(second)}
		r.add(shot{dark: s, light: s}, time.Second)
	}
	text := string(r.picture())
	for part, want := range map[string]int{">always<": 1, ">a&lt;b<": 1, ">c&amp;d<": 1, "@keyframes": 2,
		"animation:none;visibility:visible": 1, "66.667%": 2} {
		if n := strings.Count(text, part); n != want {
			t.Errorf("%q is there %d times, want %d", part, n, want)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// line is a line of the screen, with blanks at its ends.
func line(text string) []termtest.Cell {
	out := make([]termtest.Cell, 0, len(text)+2)
	for _, c := range " " + text + " " {
		out = append(out, termtest.Cell{Text: string(c)})
	}
	return out
}
