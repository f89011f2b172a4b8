package sshd

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestPlacesAreCountedAndWhoGetsNoneIsTold(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	r := serving(t, Options{Sessions: 1}, line(alice, "alice"), line(bob, "bob"))
	first := opened(t, r.dial(alice))
	first.out.wait(t, "hello alice")
	second := opened(t, r.dial(bob))
	if code := second.code(); code != exitFailed || !strings.Contains(second.out.String(), "all 1 places are taken") {
		t.Errorf("code %d, %q", code, second.out)
	}
	first.typed("q")
	if code := first.code(); code != exitDone {
		t.Errorf("code %d", code)
	}
	opened(t, r.dial(bob)).out.wait(t, "hello bob")
}

// A journal has one holder. The server asks the second connection of a key, because the first one may be the guest's
// own behind a broken line.
func TestASecondConnectionOfAKeyIsAskedWhetherToTakeOver(t *testing.T) {
	alice := newSigner(t)
	inside := make(chan int, 8)
	n := 0
	r := serving(t, Options{Show: func(ctx context.Context, v Visit) error {
		n++ // never two at once: the race detector would report it
		inside <- n
		return echo(ctx, v)
	}}, line(alice, "alice"))
	first := opened(t, r.dial(alice))
	first.out.wait(t, "hello")
	<-inside

	second := opened(t, r.dial(alice))
	second.out.wait(t, "Your dashboard is open already")
	third := opened(t, r.dial(alice))
	if code := third.code(); code != exitFailed || !strings.Contains(third.out.String(),
		"another connection that asks for it") {
		t.Errorf("a third one: code %d, %q", code, third.out)
	}
	second.typed("n")
	if code := second.code(); code != exitFailed || !strings.Contains(second.out.String(),
		"the other dashboard goes on") {
		t.Errorf("left: code %d, %q", code, second.out)
	}
	first.typed("x")
	first.out.wait(t, "<x>")

	taking := opened(t, r.dial(alice))
	taking.out.wait(t, "show it here")
	taking.typed("t")
	if code := first.code(); code != exitFailed || !strings.Contains(first.out.String(), "took this dashboard over") {
		t.Errorf("taken over: code %d, %q", code, first.out)
	}
	taking.out.wait(t, "hello alice")
	if <-inside != 2 {
		t.Error("a dashboard was shown to the one that left")
	}
}

func TestTheQuestionDoesNotWaitWithoutEnd(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Limits: Limits{Asking: 100 * time.Millisecond}}, line(alice, "alice"))
	first := opened(t, r.dial(alice))
	first.out.wait(t, "hello")
	second := opened(t, r.dial(alice))
	second.out.wait(t, "Your dashboard is open already")
	second.code()
	first.typed("x")
	first.out.wait(t, "<x>")
}
