package sshd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

const limit = 10 * time.Second

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// rig is a server and what its tests inspect.
type rig struct {
	*Server
	t    *testing.T
	dir  string
	log  *logged
	stop context.CancelFunc
}

// newSigner is the key of a guest.
func newSigner(t testing.TB) gossh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func line(s gossh.Signer, name string) string { return plainLine(s.PublicKey()) + " " + name + "\n" }

func writeKeys(t testing.TB, dir string, lines ...string) string {
	t.Helper()
	path := filepath.Join(dir, KeysFile)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)); err !=
		nil {
		t.Fatal(err)
	}
	return path
}

// serving starts a server with these lines of authorized keys.
func serving(t *testing.T, o Options, lines ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), log: new(logged)}
	if o.Dir == "" {
		o.Dir = r.dir
	}
	writeKeys(t, o.Dir, lines...)
	o.Listen = "127.0.0.1:0"
	o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	if o.Show == nil {
		o.Show = echo
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	var err error
	if r.Server, err = Start(ctx, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// echo is a dashboard that greets, shows what is typed, and ends at "q".
func echo(ctx context.Context, v Visit) error {
	if _, err := io.WriteString(v.Out, "hello "+v.Name+"\n"); err != nil {
		return err
	}
	typed := make(chan byte)
	go func() {
		var b [1]byte
		for {
			if n, err := v.In.Read(b[:]); err != nil || n == 0 {
				return
			}
			select {
			case typed <- b[0]:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case k := <-typed:
			if k == 'q' {
				return nil
			}
			if _, err := v.Out.Write([]byte{'<', k, '>'}); err != nil {
				return err
			}
		case note := <-v.Notes:
			_, _ = io.WriteString(v.Out, "note: "+note+"\n")
		}
	}
}

func config(auth ...gossh.AuthMethod) *gossh.ClientConfig {
	return &gossh.ClientConfig{User: "anybody", Auth: auth, Timeout: limit,
		HostKeyCallback: gossh.InsecureIgnoreHostKey()} // pinned where it matters
}

// dial connects with keys and fails the test when that does not work.
func (r *rig) dial(keys ...gossh.Signer) *gossh.Client {
	r.t.Helper()
	c, err := gossh.Dial("tcp", r.Addr.String(), config(gossh.PublicKeys(keys...)))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// guest is a client in front of a dashboard.
type guest struct {
	t    *testing.T
	s    *gossh.Session
	in   io.WriteCloser
	out  *seen
	errs *seen
}

// seen is what a client received, and can be waited for.
type seen struct {
	mu      sync.Mutex
	changed *sync.Cond
	text    bytes.Buffer
}

func newSeen() *seen {
	s := &seen{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *seen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	return s.text.Write(b)
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait waits until the text is there.
func (s *seen) wait(t *testing.T, text string) {
	t.Helper()
	deadline := time.Now().Add(limit)
	wake := time.AfterFunc(limit, s.changed.Broadcast)
	defer wake.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.text.String(), text) {
		if time.Now().After(deadline) {
			t.Fatalf("%q never came; got %q", text, s.text.String())
		}
		s.changed.Wait()
	}
}

// newSession opens a session without a request.
func newSession(t *testing.T, c *gossh.Client) *guest {
	t.Helper()
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{t: t, s: s, out: newSeen(), errs: newSeen()}
	s.Stdout, s.Stderr = g.out, g.errs
	if g.in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	return g
}

// opened opens a dashboard.
func opened(t *testing.T, c *gossh.Client) *guest {
	t.Helper()
	g := newSession(t, c)
	if err := errors.Join(g.s.RequestPty("xterm-256color", 24, 80, nil), g.s.Shell()); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *guest) typed(text string) {
	g.t.Helper()
	if _, err := io.WriteString(g.in, text); err != nil {
		g.t.Fatal(err)
	}
}

// code waits for the end and returns the exit code; -1 without one.
func (g *guest) code() int {
	g.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- g.s.Wait() }()
	select {
	case err := <-ended:
		var exit *gossh.ExitError
		switch {
		case err == nil:
			return 0
		case errors.As(err, &exit):
			return exit.ExitStatus()
		}
		return -1
	case <-time.After(limit):
		g.t.Fatalf("it never ended; got %q", g.out.String())
		return -1
	}
}

// within fails when something takes too long.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatal("too long: " + what)
	}
}
