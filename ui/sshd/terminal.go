package sshd

import (
	"sync/atomic"
	"time"

	"charm.land/ssh"
)

// terminal is the guest's end of a dashboard.
type terminal struct {
	ssh.Session
	stall time.Duration
	shut  func() // closes the connection
	gone  func() // called when the client sends nothing more

	typed atomic.Pointer[time.Time] // when the last input came
}

// heard is the time since the last input, or since the beginning without any.
func (t *terminal) heard(begun, now time.Time) time.Duration {
	if at := t.typed.Load(); at != nil {
		return now.Sub(*at)
	}
	return now.Sub(begun)
}

// Read reads the guest's input.
func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.Session.Read(b)
	if n > 0 {
		now := time.Now()
		t.typed.Store(&now)
	}
	if err != nil {
		t.gone()
	}
	return n, err
}

// Write draws. A client that takes no output for too long loses its connection, so that the drawing code does not wait
// for ever.
func (t *terminal) Write(b []byte) (int, error) {
	late := time.AfterFunc(t.stall, t.shut)
	defer late.Stop()
	if _, err := t.Session.Write(b); err != nil {
		t.gone()
		return 0, err
	}
	return len(b), nil
}

// watch ends a dashboard without input, and one that is open for too long; it warns the guest before.
func (v *session) watch() {
	idle, most := v.s.o.Idle, v.s.o.Max
	warnIdle, warnMax := min(time.Minute, idle/4), min(5*time.Minute, most/4)
	toldIdle, toldMax := false, false
	for {
		now := time.Now()
		still, open := v.term.heard(v.begun, now), now.Sub(v.begun)
		switch {
		case still >= idle:
			v.stop(errIdle)
			return
		case open >= most:
			v.stop(errMax)
			return
		}
		next := min(idle-still, most-open)
		switch left := idle - still; {
		case left > warnIdle:
			toldIdle = false
			next = min(next, left-warnIdle)
		case !toldIdle:
			toldIdle = true
			v.note("nothing was typed for a while: this closes in " + words(left.Round(time.Second)) +
				", unless a key is pressed")
		}
		switch left := most - open; {
		case left > warnMax:
			next = min(next, left-warnMax)
		case !toldMax:
			toldMax = true
			v.note("this closes in " + words(left.Round(time.Second)) + ": a dashboard is open for " + words(most) +
				" at most")
		}
		select {
		case <-v.ctx.Done():
			return
		case <-time.After(max(next, time.Millisecond)):
		}
	}
}

// note sends the guest a message during the visit; it drops one that is not read.
func (v *session) note(text string) {
	select {
	case v.notes <- text:
	default:
	}
}

// alive asks the client now and then whether it still responds: a broken line is silent.
func (v *session) alive() {
	tick := time.NewTicker(v.s.o.Limits.Alive)
	defer tick.Stop()
	connection, ok := v.Context().Value(ssh.ContextKeyConn).(interface {
		SendRequest(name string, wantReply bool, payload []byte) (bool, []byte, error)
	})
	if !ok {
		return
	}
	for {
		select {
		case <-v.ctx.Done():
			return
		case <-tick.C:
		}
		late := time.AfterFunc(2*v.s.o.Limits.Alive, v.term.shut)
		_, _, err := connection.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			return
		}
	}
}
