//go:build unix

package flows

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// idles looks at screens that nobody touches after an operation has completed, beginning with the activity that shows
// it: the program writes nothing, unless prices have moved. Then the total in the first line changes, and what the
// balances are worth.
func idles(t *testing.T, p rig.Person) {
	t.Helper()
	still := func(d time.Duration) {
		if err := p.Term.Still(d, rig.Limit); err != nil {
			t.Fatal(err)
		}
	}
	p.Sees("✓ transfer on")
	p.Waits("the end of the news", func(screen string) bool { return !strings.Contains(screen, "✓ transfer on") })
	for _, s := range []struct {
		keys, shows string
		watch       time.Duration
	}{
		{"", "COMPLETED", time.Second},
		{"4", "1 record", 2500 * time.Millisecond}, // longer than "now" lasts where every second counts
		{"1", "Balances by asset", time.Second / 2},
		{"6", "Accounts", time.Second / 2},
		{"o", "theme", time.Second / 2},
	} {
		p.Types(s.keys)
		p.Sees(s.shows)
		still(200 * time.Millisecond)
		for end := time.Now().Add(s.watch); ; {
			screen := p.Term.Screen()
			bytes, _ := p.Term.Written()
			err := p.Term.WaitWritten(bytes, time.Until(end))
			if errors.Is(err, termtest.ErrTimeout) {
				break
			}
			still(100 * time.Millisecond)
			now := p.Term.Screen()
			_, was, _ := strings.Cut(screen, "\n")
			if _, is, _ := strings.Cut(now, "\n"); now == screen || is != was && s.keys != "1" {
				t.Errorf("%s: written: %q", s.shows, p.Term.Raw()[bytes:])
			}
		}
	}
}
