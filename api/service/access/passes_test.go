package access

import (
	"crypto/rand"
	"errors"
	"strconv"
	"testing"
	"time"

	"coffer/api"
)

func TestAPassIsGoodUntilItIsTakenBack(t *testing.T) {
	p := NewPasses(time.Now, PassPerMinute, 1)
	refused := func(key string) bool {
		_, err := p.Admit(t.Context(), Attempt{Key: key})
		var e *api.Error
		return errors.As(err, &e) && e.Name == api.ErrUnauthorized
	}
	if !refused("") || !refused("anything") {
		t.Error("a pass that nobody issued is admitted")
	}
	one, revoke, err := p.Issue(rand.Reader, "guest 1")
	if err != nil {
		t.Fatal(err)
	}
	two, _, err := p.Issue(rand.Reader, "guest 2")
	if err != nil || one == two {
		t.Fatal(err, one == two)
	}
	if g, err := p.Admit(t.Context(), Attempt{Key: one}); err != nil || g.Caller != "guest 1" {
		t.Errorf("%+v, %v", g, err)
	}
	revoke()
	revoke()
	if !refused(one) || refused(two) || !refused("") {
		t.Error("taking one back ends that one alone")
	}
}

func TestAVisitorHasOneWindowForAllItsPasses(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := NewPasses(func() time.Time { return now }, 3, 1)
	issue := func(caller string) (string, func()) {
		key, revoke, err := p.Issue(rand.Reader, caller)
		if err != nil {
			t.Fatal(err)
		}
		return key, revoke
	}
	one, revoke := issue("guest 1")
	other, _ := issue("guest 2")
	for left := 2; left >= 0; left-- {
		if g, err := p.Admit(t.Context(), Attempt{Key: one}); err != nil || g.Limit != 3 || g.Remaining != left ||
			!g.Reset.Equal(now.Add(Span)) {
			t.Fatalf("%d left: %+v, %v", left, g, err)
		}
	}
	full := func(key string) bool {
		_, err := p.Admit(t.Context(), Attempt{Key: key})
		var e *api.Error
		return errors.As(err, &e) && e.Name == api.ErrTooManyRequests && e.RetryAfter > 0
	}
	now = now.Add(Span - time.Second)
	if !full(one) || full(other) {
		t.Error("a window is each visitor's own")
	}
	revoke()
	if again, _ := issue("guest 1"); !full(again) {
		t.Error("a second visit begins with a fresh window")
	}
	now = now.Add(time.Second)
	again, _ := issue("guest 1")
	if full(again) {
		t.Error("the window does not slide")
	}
}

func TestVisitorsOfThePastAreForgotten(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	p := NewPasses(func() time.Time { return now }, 3, 1)
	for i := range 100 {
		key, revoke, err := p.Issue(rand.Reader, "guest "+strconv.Itoa(i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Admit(t.Context(), Attempt{Key: key}); err != nil {
			t.Fatal(err)
		}
		revoke()
		now = now.Add(Span)
	}
	if len(p.callers) > 2 || len(p.known) != 0 {
		t.Errorf("%d visitors and %d keys are kept", len(p.callers), len(p.known))
	}
}
