package kit

import (
	"strconv"
	"time"

	"coffer/ui/tui/theme"
)

// ageSteps are the ages at which the text changes: coarse, so that an idle screen stays quiet.
func ageSteps() []time.Duration {
	const s, m, h, d = time.Second, time.Minute, time.Hour, 24 * time.Hour
	return []time.Duration{0, 2 * s, 5 * s, 10 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 30 * m, h, 2 * h, 6 * h, 12 * h, d}
}

// Age writes how long ago at was, in coarse steps: "now", "2 s ago", "5 min ago", "3 d ago". A zero time gives "never".
func Age(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	d := now.Sub(at)
	if d >= 48*time.Hour {
		return strconv.Itoa(int(d/(24*time.Hour))) + " d ago"
	}
	steps := ageSteps()
	for i := len(steps) - 1; i > 0; i-- {
		if d >= steps[i] {
			return span(steps[i]) + " ago"
		}
	}
	return "now"
}

// AgeChanges is the time until the text of Age changes; 0 for a zero time.
func AgeChanges(now, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	d := now.Sub(at)
	for _, s := range ageSteps() {
		if s > d && s > 0 {
			return s - d
		}
	}
	return 24*time.Hour - d%(24*time.Hour)
}

// fresh is the age up to which read data has no running age, so that an idle program writes nothing. What is read
// regularly is read again before.
const fresh = 30 * time.Second

// DataAge is the Age of what was read: "now" for the first half minute.
func DataAge(now, at time.Time) string {
	if now.Sub(at) < fresh {
		now = at
	}
	return Age(now, at)
}

// DataAgeChanges is the time until the text of DataAge changes; 0 for a zero time.
func DataAgeChanges(now, at time.Time) time.Duration {
	if d := now.Sub(at); d < fresh {
		return fresh - d
	}
	return AgeChanges(now, at)
}

func span(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + " d"
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + " h"
	case d >= time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	}
	return strconv.Itoa(int(d/time.Second)) + " s"
}

// Countdown is the time left until a moment, as "0:47" or "1:02:03", rounded up to the second; "0:00" once it has
// passed.
func Countdown(now, until time.Time) string {
	left := max(until.Sub(now), 0)
	sec := int((left + time.Second - 1) / time.Second)
	two := func(n int) string {
		if n < 10 {
			return "0" + strconv.Itoa(n)
		}
		return strconv.Itoa(n)
	}
	if sec >= 3600 {
		return strconv.Itoa(sec/3600) + ":" + two(sec/60%60) + ":" + two(sec%60)
	}
	return strconv.Itoa(sec/60) + ":" + two(sec%60)
}

// CountdownMeaning is the urgency of a countdown: Warn in its last 15 seconds, Danger once it has passed.
func CountdownMeaning(now, until time.Time) theme.Meaning {
	switch left := until.Sub(now); {
	case left <= 0:
		return theme.Danger
	case left <= 15*time.Second:
		return theme.Warn
	}
	return theme.None
}

// CountdownChanges is the time until the text of Countdown changes; 0 once it has passed.
func CountdownChanges(now, until time.Time) time.Duration {
	left := until.Sub(now)
	if left <= 0 {
		return 0
	}
	if r := left % time.Second; r > 0 {
		return r
	}
	return time.Second
}

// Guard keeps a key that was meant for the screen below from answering a dialog that has just appeared: nothing
// confirms within GuardQuiet of its appearance, nor within GuardQuiet of a key that Guard refused, but for GuardLimit
// at most.
type Guard struct{ opened, last time.Time }

// Limits of Guard.
const (
	GuardQuiet = 500 * time.Millisecond
	GuardLimit = 1500 * time.Millisecond
)

// Open starts the grace period.
func (g *Guard) Open(now time.Time) { g.opened, g.last = now, now }

// Allow reports whether a key pressed now may confirm; a refused key prolongs the wait.
func (g *Guard) Allow(now time.Time) bool {
	if now.Sub(g.opened) >= GuardLimit || now.Sub(g.last) >= GuardQuiet {
		return true
	}
	g.last = now
	return false
}

// Waiting reports whether the grace period still runs, without prolonging it.
func (g *Guard) Waiting(now time.Time) bool {
	return now.Sub(g.opened) < GuardLimit && now.Sub(g.last) < GuardQuiet
}
