package access

import (
	"testing"
	"time"
)

// However many requests come and however they are spread, a window holds no more moments than its limit.
func TestAWindowNeverGrowsBeyondItsLimit(t *testing.T) {
	for _, limit := range []int{1, 3, 60, 1000} {
		var w window
		for i := range 10 * limit {
			w.take(time.Duration(i)*Span/time.Duration(3*limit), limit)
			if len(w.ring) > limit || w.n > limit {
				t.Fatalf("limit %d: %d places, %d moments", limit, len(w.ring), w.n)
			}
		}
		if w.n == 0 {
			t.Errorf("limit %d: nothing is in the window", limit)
		}
	}
}

func TestAQuietWindowTakesLittleRoom(t *testing.T) {
	var w window
	for i := range 10_000 {
		w.take(time.Duration(i)*Span/4, MaxPerMinute)
	}
	if len(w.ring) > smallestRing {
		t.Errorf("%d places for 4 requests a minute", len(w.ring))
	}
}
