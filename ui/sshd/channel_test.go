package sshd

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"coffer/ui/tui"
)

// A channel shows a dashboard on a terminal. The server refuses everything else that a client can ask for, and nothing
// happens.
func TestNoCommandNoSubsystemNoForwardingNoAgent(t *testing.T) {
	alice := newSigner(t)
	shown := make(chan Visit, 1)
	r := serving(t, Options{Show: func(_ context.Context, v Visit) error { shown <- v; return nil }},
		line(alice, "alice"))
	c := r.dial(alice)

	g := newSession(t, c)
	if err := g.s.Start("ls /; echo done"); err != nil {
		t.Fatal(err)
	}
	if code := g.code(); code != exitUsage || !strings.Contains(g.errs.String(), "runs no commands") ||
		g.out.String() != "" {
		t.Errorf("a command: code %d, %q, %q", code, g.out, g.errs)
	}
	for _, name := range []string{"sftp", "anything"} {
		g := newSession(t, c)
		if err := g.s.RequestSubsystem(name); err == nil {
			t.Errorf("subsystem %s was accepted", name)
		}
		_ = g.s.Close()
	}
	for _, request := range []string{"auth-agent-req@openssh.com", "x11-req", "signal", "break", "no-such-thing"} {
		g := newSession(t, c)
		if ok, err := g.s.SendRequest(request, true, nil); ok || err != nil {
			t.Errorf("%s: %v, %v", request, ok, err)
		}
		_ = g.s.Close()
	}
	if _, err := c.Dial("tcp", r.Addr.String()); err == nil {
		t.Error("a connection was forwarded")
	}
	if l, err := c.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
		t.Error("a port was forwarded back")
	}
	if l, err := c.ListenUnix(filepath.Join(t.TempDir(), "s")); err == nil {
		_ = l.Close()
		t.Error("a socket was forwarded back")
	}
	if _, _, err := c.OpenChannel("direct-streamlocal@openssh.com",
		gossh.Marshal(struct{ A, B string }{"/tmp/x", ""})); err == nil {
		t.Error("a socket was forwarded")
	}
	select {
	case <-shown:
		t.Error("a dashboard was opened by one of them")
	default:
	}
}

func TestWithoutATerminalThereAreWordsAndACode(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{}, line(alice, "alice"))
	g := newSession(t, r.dial(alice))
	if err := g.s.Shell(); err != nil {
		t.Fatal(err)
	}
	if code := g.code(); code != exitUsage || !strings.Contains(g.errs.String(), "needs a terminal") {
		t.Errorf("code %d, %q", code, g.errs)
	}
	for _, term := range []string{"dumb", "", "../../etc/passwd", "xterm\x1b[31m", strings.Repeat("x", 100)} {
		g := newSession(t, r.dial(alice))
		if err := g.s.RequestPty(term, 24, 80, nil); err != nil {
			t.Fatal(err)
		}
		if err := g.s.Shell(); err != nil {
			t.Fatal(err)
		}
		if code := g.code(); code != exitUsage || !strings.Contains(g.out.String(), "TERM=dumb") ||
			strings.Contains(g.out.String(), "\x1b") {
			t.Errorf("%q: code %d, %q", term, code, g.out)
		}
	}
}

// The client's environment describes its terminal with a few plain words. None of it becomes this process's
// environment, and it cannot turn on the terminal library's logs of keystrokes.
func TestZ2OfTheClientsEnvironmentOnlyWhatDescribesItsTerminalIsTaken(t *testing.T) {
	alice := newSigner(t)
	env := make(chan []string, 1)
	r := serving(t, Options{Show: func(_ context.Context, v Visit) error { env <- v.Env; return nil }},
		line(alice, "alice"))
	trace := filepath.Join(t.TempDir(), "trace")
	before := os.Environ()
	g := newSession(t, r.dial(alice))
	for name, x := range map[string]struct {
		value string
		taken bool
	}{
		"LANG": {"de_DE.UTF-8", true}, "COLORTERM": {"truecolor", true}, "NO_COLOR": {"1", true},
		"LC_ALL":    {"C.UTF-8\x1b]52;c;x\a", false},
		"TEA_TRACE": {trace, false}, "TEA_DEBUG": {"1", false}, "PATH": {"/tmp", false},
		"LD_PRELOAD": {"/tmp/x.so", false}, "HOME": {"/", false},
		"COFFER_CONFIG": {"/tmp/x", false}, "LC_CTYPE": {strings.Repeat("x", 1000), false}, "SSH_TTY": {"", false},
		"TERM": {"dumb", false},
	} {
		if err := g.s.Setenv(name, x.value); (err == nil) != x.taken {
			t.Errorf("%s=%q: %v", name, x.value, err)
		}
	}
	if err := g.s.RequestPty("xterm-256color", 24, 80, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.s.Shell(); err != nil {
		t.Fatal(err)
	}
	got := <-env
	var names []string
	for _, e := range got {
		name, value, _ := strings.Cut(e, "=")
		names = append(names, name)
		if name == "SSH_CONNECTION" && len(strings.Fields(value)) != 4 {
			t.Errorf("SSH_CONNECTION=%q", value)
		}
	}
	if want := []string{"COLORTERM", "LANG", "NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "TERM"}; !slices.Equal(names,
		want) {
		t.Errorf("the dashboard's environment is %q", got)
	}
	if !slices.Equal(os.Environ(), before) {
		t.Error("the environment of this process changed")
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("keystrokes are logged")
	}
}

func TestSizesOfTheTerminalAreFollowedAndBounded(t *testing.T) {
	alice := newSigner(t)
	sizes := make(chan tui.Size, 8)
	r := serving(t, Options{Show: func(ctx context.Context, v Visit) error {
		sizes <- v.Size
		for {
			select {
			case s := <-v.Resized:
				sizes <- s
				if s.Width == 100 {
					return nil
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}}, line(alice, "alice"))
	g := newSession(t, r.dial(alice))
	if err := g.s.RequestPty("xterm", 1<<31-1, 1<<31-1, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.s.Shell(); err != nil {
		t.Fatal(err)
	}
	if got := <-sizes; got != (tui.Size{Width: maxColumns, Height: maxRows}) {
		t.Errorf("the first size is %+v", got)
	}
	last := tui.Size{}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for last = range sizes {
		}
	}()
	for i := range 1000 { // more than the dashboard reads: the newest one counts, and the connection continues
		if err := g.s.WindowChange(30, 120+i%2); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.s.WindowChange(40, 100); err != nil {
		t.Fatal(err)
	}
	if code := g.code(); code != 0 {
		t.Errorf("code %d", code)
	}
	close(sizes)
	<-drained
	if last != (tui.Size{Width: 100, Height: 40}) {
		t.Errorf("the last size is %+v", last)
	}
}

func TestAConnectionHasOneDashboardAtATime(t *testing.T) {
	alice := newSigner(t)
	r := serving(t, Options{}, line(alice, "alice"))
	c := r.dial(alice)
	first := opened(t, c)
	first.out.wait(t, "hello")
	if s, err := c.NewSession(); err == nil {
		_ = s.Close()
		t.Error("a second channel was opened")
	}
	first.typed("q")
	if code := first.code(); code != 0 {
		t.Errorf("code %d", code)
	}
	// The channel may still be closing when the client opens the next one; a shared ssh connection does the same.
	for {
		s, err := c.NewSession()
		if err != nil {
			continue
		}
		_ = s.Close()
		return
	}
}

func TestNothingComesPastTheDoor(t *testing.T) {
	var s Server
	if a, b := net.Pipe(); s.accepted(nil, a) != nil {
		t.Error("a connection that the limiter does not know was served")
	} else {
		_, _ = a.Close(), b.Close()
	}
}
