//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// recording is a walk as an animated picture: screens and how long each is shown.
type recording struct {
	shots []shot
	holds []time.Duration
}

// add shows a screen for a while.
func (r *recording) add(s shot, hold time.Duration) {
	r.shots, r.holds = append(r.shots, s), append(r.holds, hold)
}

// span is a time in which a line of the screen does not change, as indexes of shots.
type span struct{ from, to int }

// picture draws the recording without end; for a reader who wants no motion, its last screen. A line is drawn once for
// each time in which it does not change.
func (r *recording) picture() []byte {
	var d drawing
	var rules strings.Builder
	var total time.Duration
	starts := make([]time.Duration, len(r.shots)+1)
	for i, hold := range r.holds {
		total += hold
		starts[i+1] = total
	}
	last := len(r.shots) - 1
	var named []span
	for y := range r.shots[last].dark {
		for _, s := range r.spans(y) {
			if s == (span{0, last + 1}) {
				d.line(r.shots[last], y)
				continue
			}
			at := slices.Index(named, s)
			if at < 0 {
				at = len(named)
				named = append(named, s)
				rules.WriteString(keyframes(at, starts[s.from], starts[s.to], total, s.to == last+1))
			}
			fmt.Fprintf(&d.body, `<g class="k%d">`, at)
			d.line(r.shots[s.from], y)
			d.body.WriteString("</g>\n")
		}
	}
	return d.file(len(r.shots[last].dark[0]), len(r.shots[last].dark), rules.String())
}

// spans are the times in which line y does not change.
func (r *recording) spans(y int) []span {
	var out []span
	for i := range r.shots {
		n := len(out) - 1
		if n >= 0 && slices.Equal(r.shots[out[n].from].dark[y], r.shots[i].dark[y]) {
			out[n].to = i + 1
			continue
		}
		out = append(out, span{i, i + 1})
	}
	return out
}

// keyframes shows the elements of class k<n> between two moments of the whole, again and again; still says whether a
// reader who wants no motion sees them.
func keyframes(n int, from, to, whole time.Duration, still bool) string {
	percent := func(d time.Duration) float64 { return 100 * float64(d) / float64(whole) }
	var steps string
	if from > 0 {
		steps = "0%{visibility:hidden}"
	}
	steps += fmt.Sprintf("%.3f%%{visibility:visible}", percent(from))
	if to < whole {
		steps += fmt.Sprintf("%.3f%%{visibility:hidden}", percent(to))
	}
	seen := "hidden"
	if still {
		seen = "visible"
	}
	return fmt.Sprintf("@keyframes k%d{%s}\n.k%d{animation:k%d %.1fs step-end infinite}\n"+
		"@media (prefers-reduced-motion:reduce){.k%d{animation:none;visibility:%s}}\n",
		n, steps, n, n, whole.Seconds(), n, seen)
}
