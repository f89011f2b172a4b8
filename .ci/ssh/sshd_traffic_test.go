//go:build linux

package sshci

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The bytes that the dashboard costs on a slow line: at the terminal, and on the wire with what SSH adds. Bounds are
// those of bytes, never of time.
func TestSSHTraffic(t *testing.T) {
	h := newHost(t, hostOptions{})
	wire := func() int { return int(h.link.to.Load() + h.link.from.Load()) }
	warm := h.opens(at{}, "coffer") // an installation that exists
	warm.sees("EMBEDDED", "USDC", "$")
	warm.leaves()
	h.nothingRuns()
	before := wire()
	if out, _, code := h.runs("", "true"); code != 0 {
		t.Fatal(out)
	}
	login := wire() - before
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		before = wire()
		p := h.opens(at{Cols: size[0], Rows: size[1]}, "coffer")
		p.sees("EMBEDDED", "USDC", "$", "hidden (z)")
		p.settles()
		first, _ := p.term.Written()
		firstWire := wire() - before - login
		var keys, keysWire []int
		for i := range 20 {
			key := "j"
			if i%8 >= 4 {
				key = "k"
			}
			written, _ := p.term.Written()
			sent := wire()
			p.types(key)
			must(t, p.term.WaitWritten(written, limit))
			p.settles()
			now, _ := p.term.Written()
			keys, keysWire = append(keys, now-written), append(keysWire, wire()-sent)
		}
		slices.Sort(keys)
		slices.Sort(keysWire)
		const idle = 5 * time.Second
		written, _ := p.term.Written()
		sent := wire()
		<-time.After(idle) // what is measured is how little comes in that time
		now, _ := p.term.Written()
		t.Logf("%dx%d: first frame %d B (%d B on the wire beside the login of %d B); a key %d B median, %d B most "+
			"(%d B on the wire); idle %.1f B/s (%.1f B/s on the wire)",
			size[0], size[1], first, firstWire, login, keys[len(keys)/2], keys[len(keys)-1], keysWire[len(keysWire)/2],
			float64(now-written)/idle.Seconds(), float64(wire()-sent)/idle.Seconds())
		// from 120 columns a selection that holds still also draws the details of its line
		if most := map[int][2]int{80: {6 << 10, 450}, 120: {10 << 10, 1000}}[size[0]]; first > most[0] ||
			keys[len(keys)/2] > most[1] || now-written > 400 {
			t.Errorf("first frame %d B, a key %d B, idle %d B: more than a slow line is to carry", first,
				keys[len(keys)/2], now-written)
		}
		p.leaves()
		if raw := string(p.term.Raw()); strings.Contains(raw, "\x1b[?1003h") || strings.Contains(raw, "\x1b[?1002h") ||
			strings.Contains(raw, "\x1b[?1000h") {
			t.Error("the mouse is on over SSH, so that every movement costs a packet")
		}
	}
}
