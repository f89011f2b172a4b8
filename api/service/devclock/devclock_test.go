package devclock_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"coffer/api/service/devclock"
)

func TestAMovedClockGoesOnAndNeverBack(t *testing.T) {
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := devclock.New(func() time.Time { return day })
	if ahead, err := c.Forward(time.Hour); ahead != time.Hour || err != nil || !c.Now().Equal(day.Add(time.Hour)) {
		t.Errorf("%s ahead, %s, %v", ahead, c.Now(), err)
	}
	day = day.Add(time.Minute)
	if want := day.Add(time.Hour); !c.Now().Equal(want) {
		t.Errorf("%s, expected %s", c.Now(), want)
	}
	if err := c.Set(day); !errors.Is(err, devclock.ErrBack) {
		t.Error(err)
	}
	if _, err := c.Forward(-1); !errors.Is(err, devclock.ErrBack) {
		t.Error(err)
	}
	if _, err := c.Forward(math.MaxInt64); !errors.Is(err, devclock.ErrFar) {
		t.Error(err)
	}
	if err := c.Set(day.AddDate(200, 0, 0)); !errors.Is(err, devclock.ErrFar) {
		t.Error(err)
	}
	if err := c.Set(day.Add(2 * time.Hour)); err != nil || !c.Now().Equal(day.Add(2*time.Hour)) {
		t.Errorf("%s, %v", c.Now(), err)
	}
}
