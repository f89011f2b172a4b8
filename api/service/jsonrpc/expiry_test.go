package jsonrpc

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAnExpiryCallsWhatWasNotTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, begun := NewExpiry(time.Second), time.Now()
		var at []time.Duration
		note := func() { at = append(at, time.Since(begun)) }
		first := e.Add(note)
		time.Sleep(300 * time.Millisecond)
		second := e.Add(note)
		third := e.Add(note)
		if !second() {
			t.Error("it was called before its time")
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(at) != 2 || at[0] != time.Second || at[1] != 1300*time.Millisecond {
			t.Errorf("called after %v", at)
		}
		if first() || third() {
			t.Error("what was called is taken back")
		}
		e.Add(note)
		e.Close()
		e.Add(note)
		if len(at) != 4 {
			t.Errorf("called %d times", len(at))
		}
	})
}
