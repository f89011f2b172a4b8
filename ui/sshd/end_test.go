package sshd

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

func TestADashboardInWhichNothingIsTypedIsClosedWithWords(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Idle: 2 * time.Second}, line(alice, "alice"))
	g := opened(t, r.dial(alice))
	g.out.wait(t, "note: nothing was typed for a while")
	g.typed("x") // and the idle time starts again
	g.out.wait(t, "<x>")
	if code := g.code(); code != exitFailed || !strings.Contains(g.out.String(), "closed: nothing was typed for 2s") {
		t.Errorf("code %d, %q", code, g.out)
	}
	if strings.Count(g.out.String(), "note: nothing") != 2 {
		t.Errorf("told %q", g.out)
	}
}

func TestADashboardIsClosedAfterTheLongestTimeWhateverIsTyped(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Max: 400 * time.Millisecond}, line(alice, "alice"))
	g := opened(t, r.dial(alice))
	g.out.wait(t, "note: this closes in")
	_, _ = g.in.Write([]byte("x"))
	if code := g.code(); code != exitFailed || !strings.Contains(g.out.String(),
		"closed: a dashboard is open for 400ms at most") {
		t.Errorf("code %d, %q", code, g.out)
	}
}

// secret is a panic value that must not reach the log.
type secretValue string

func TestAPanicEndsOneConnectionAndIsLoggedWithoutItsValue(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	var many []int
	r := serving(t, Options{Show: func(ctx context.Context, v Visit) error {
		switch v.Name {
		case "alice":
			panic(secretValue("s3cr3t"))
		case "carol":
			return errors.New(string(rune(many[len(v.Name)])))
		}
		return echo(ctx, v)
	}}, line(alice, "alice"), line(bob, "bob"))
	well := opened(t, r.dial(bob))
	well.out.wait(t, "hello bob")
	g := opened(t, r.dial(alice))
	if code := g.code(); code != exitFailed || !strings.Contains(g.out.String(), "something broke in this dashboard") {
		t.Errorf("code %d, %q", code, g.out)
	}
	writeKeys(t, r.dir, line(alice, "carol"), line(bob, "bob"))
	opened(t, r.dial(alice)).out.wait(t, "something broke")
	well.typed("z")
	well.out.wait(t, "<z>")
	if s := r.log.String(); strings.Contains(s, "s3cr3t") || !strings.Contains(s, "sshd.secretValue") ||
		!strings.Contains(s, "index out of range") {
		t.Errorf("the log is\n%s", s)
	}
}

// A client that reads nothing fills its own buffers. Others continue, and the end does not wait for it.
func TestAClientThatReadsNothingHoldsNobody(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	full, once := make(chan struct{}), new(sync.Once)
	var total atomic.Int64
	show := func(ctx context.Context, v Visit) error {
		if v.Name != "alice" {
			return echo(ctx, v)
		}
		b := []byte(strings.Repeat("x", 1<<15))
		for {
			// this write waits for the client
			late := time.AfterFunc(300*time.Millisecond, func() { once.Do(func() { close(full) }) })
			n, err := v.Out.Write(b)
			late.Stop()
			total.Add(int64(n))
			if err != nil {
				return err
			}
		}
	}
	stalled := func(r *rig) {
		ch, requests, err := r.dial(alice).OpenChannel("session", nil)
		if err != nil {
			t.Fatal(err)
		}
		go gossh.DiscardRequests(requests)
		pty := gossh.Marshal(struct {
			Term                         string
			Columns, Rows, Width, Height uint32
			Modes                        string
		}{"xterm", 80, 24, 0, 0, "\x00"})
		for _, name := range []string{"pty-req", "shell"} {
			if ok, err := ch.SendRequest(name, true, pty); !ok || err != nil {
				t.Fatal(name, ok, err)
			}
			pty = nil
		}
		within(t, "the client's buffers to fill", full)
	}
	t.Run("it loses its connection", func(t *testing.T) {
		full, once = make(chan struct{}), new(sync.Once)
		r := serving(t, Options{Show: show, Limits: Limits{Stall: time.Second}}, line(alice, "alice"), line(bob, "bob"))
		stalled(r)
		well := opened(t, r.dial(bob))
		well.out.wait(t, "hello bob")
		well.typed("z")
		well.out.wait(t, "<z>")
		deadline := time.Now().Add(limit)
		for r.Open() > 1 {
			if time.Now().After(deadline) {
				t.Fatal("it holds its place")
			}
			well.typed("y")
			well.out.wait(t, "<y>")
		}
	})
	t.Run("the end comes in time", func(t *testing.T) {
		full, once = make(chan struct{}), new(sync.Once)
		r := serving(t, Options{Show: show, Limits: Limits{Stall: time.Hour, Ending: 200 * time.Millisecond}},
			line(alice, "alice"))
		stalled(r)
		r.stop()
		ended := make(chan struct{})
		go func() { _ = r.Wait(); close(ended) }()
		within(t, "the end", ended)
		if r.Open() != 0 {
			t.Error("a dashboard is still open")
		}
	})
	if total.Load() > 16<<20 {
		t.Errorf("%d bytes are kept for a client that reads nothing", total.Load())
	}
}

func TestAtTheEndEveryDashboardIsToldAndWaitedFor(t *testing.T) {
	alice, bob := newSigner(t), newSigner(t)
	var closed atomic.Int64
	r := serving(t, Options{Show: func(ctx context.Context, v Visit) error {
		defer closed.Add(1)
		return echo(ctx, v)
	}}, line(alice, "alice"), line(bob, "bob"))
	one, two := opened(t, r.dial(alice)), opened(t, r.dial(bob))
	one.out.wait(t, "hello")
	two.out.wait(t, "hello")
	if r.Open() != 2 || r.Began() != 2 {
		t.Errorf("%d open, %d began", r.Open(), r.Began())
	}
	begun := time.Now()
	r.stop()
	for _, g := range []*guest{one, two} {
		if code := g.code(); code != exitFailed || !strings.Contains(g.out.String(), "the service is stopping") {
			t.Errorf("code %d, %q", code, g.out)
		}
	}
	if err := r.Wait(); err != nil || closed.Load() != 2 || r.Open() != 0 {
		t.Errorf("%v, %d closed, %d open", err, closed.Load(), r.Open())
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	if c, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(alice))); err == nil {
		_ = c.Close()
		t.Error("it still listens")
	}
}

// The end does not wait for ever for a dashboard that ignores its end.
func TestTheEndDoesNotWaitForADashboardThatHangs(t *testing.T) {
	alice := newSigner(t)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	r := serving(t, Options{Show: func(_ context.Context, v Visit) error {
		_, _ = io.WriteString(v.Out, "hello\n")
		<-hang
		return nil
	}, Limits: Limits{Ending: 100 * time.Millisecond}}, line(alice, "alice"))
	opened(t, r.dial(alice)).out.wait(t, "hello")
	r.stop()
	ended := make(chan struct{})
	go func() { _ = r.Wait(); close(ended) }()
	within(t, "the end", ended)
}

func TestAClientThatGoesAwayEndsItsDashboard(t *testing.T) {
	alice := newSigner(t)
	ended := make(chan error, 1)
	r := serving(t, Options{Show: func(ctx context.Context, v Visit) error {
		err := echo(ctx, v)
		ended <- err
		return err
	}}, line(alice, "alice"))
	for name, leave := range map[string]func(*gossh.Client, *guest){
		"the connection is cut":  func(c *gossh.Client, _ *guest) { _ = c.Close() },
		"the channel is closed":  func(_ *gossh.Client, g *guest) { _ = g.s.Close() },
		"the input comes to end": func(_ *gossh.Client, g *guest) { _ = g.in.Close() },
	} {
		c := r.dial(alice)
		g := opened(t, c)
		g.out.wait(t, "hello")
		leave(c, g)
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: it ended as if it had been left", name)
			}
		case <-time.After(limit):
			t.Errorf("%s: the dashboard stays open", name)
		}
		for r.Open() > 0 { // its place is free before the next one comes
			_, _ = c.NewSession()
		}
	}
}

// A broken line is silent: the server asks, and closes a client that does not answer.
func TestAClientThatDoesNotAnswerIsGone(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{Limits: Limits{Alive: 50 * time.Millisecond}}, line(alice, "alice"))
	raw := r.tcp()
	_ = raw.SetReadDeadline(time.Time{})
	conn, chans, requests, err := gossh.NewClientConn(raw, r.Addr.String(), config(gossh.PublicKeys(alice)))
	if err != nil {
		t.Fatal(err)
	}
	_ = requests // no answer
	go func() {
		for ch := range chans {
			_ = ch.Reject(gossh.Prohibited, "")
		}
	}()
	ch, channelRequests, err := conn.OpenChannel("session", nil)
	if err != nil {
		t.Fatal(err)
	}
	go gossh.DiscardRequests(channelRequests)
	pty := gossh.Marshal(struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}{"xterm", 80, 24, 0, 0, "\x00"})
	_, _ = ch.SendRequest("pty-req", true, pty)
	_, _ = ch.SendRequest("shell", true, nil)
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, ch); close(ended) }()
	within(t, "a client that does not answer", ended)
}

func TestWhatIsTypedIsNotLogged(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{}, line(alice, "alice@laptop"))
	g := opened(t, r.dial(alice))
	g.out.wait(t, "hello")
	for _, k := range "hunter2" {
		g.typed(string(k))
		g.out.wait(t, "<"+string(k)+">")
	}
	g.typed("q")
	g.code()
	r.stop()
	_ = r.Wait()
	s := r.log.String()
	if strings.Contains(s, "hunter2") || strings.Contains(s, "<h>") {
		t.Errorf("the log has what was typed:\n%s", s)
	}
	for _, want := range []string{"dashboard opened", "dashboard closed", "key=SHA256:", "name=alice@laptop",
		"address=127.0.0.1:", "length=", "conn=1", "the guest left"} {
		if !strings.Contains(s, want) {
			t.Errorf("the log lacks %q:\n%s", want, s)
		}
	}
}
