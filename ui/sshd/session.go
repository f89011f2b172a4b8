package sshd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"charm.land/ssh"
	"github.com/charmbracelet/x/ansi"
	gossh "golang.org/x/crypto/ssh"

	"coffer/api/text"
	"coffer/ui/tui"
)

// Exit codes that a client sees, as those of the program.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// accepted ties a connection to its context, before the handshake.
func (s *Server) accepted(ctx ssh.Context, c net.Conn) net.Conn {
	if known, ok := c.(*conn); ok {
		ctx.SetValue(connKey{}, known)
		return c
	}
	return nil // never happens: every connection comes from the limiter
}

// failed logs a connection that was not admitted.
func (s *Server) failed(c net.Conn, err error) {
	s.log.Info("ssh: not admitted", "address", c.RemoteAddr().String(), "why", text.Clean(err.Error(), 300))
}

// admit decides about a public key that a client offers. It stores nothing: an offer is no proof.
func (s *Server) admit(ctx ssh.Context, key ssh.PublicKey) bool {
	if unfit(key) != "" {
		return false
	}
	_, ok := s.keys.name(key)
	if !ok {
		s.log.Info("ssh: unknown key", "key", gossh.FingerprintSHA256(key), "address", ctx.RemoteAddr().String())
	}
	return ok
}

// session is one dashboard from its request to its end.
type session struct {
	ssh.Session
	s     *Server
	g     *channelFilter
	c     *conn
	id    string
	print string // fingerprint of the key
	key   []byte
	name  string
	term  *terminal
	ctx   context.Context
	stop  context.CancelCauseFunc
	begun time.Time
	notes chan string
	broke atomic.Bool
}

// guarded is the outermost handler: a panic ends one connection.
func (s *Server) guarded(next ssh.Handler) ssh.Handler {
	return func(sess ssh.Session) {
		g, _ := sess.Context().Value(filterKey{}).(*channelFilter)
		c, _ := sess.Context().Value(connKey{}).(*conn)
		if g == nil || c == nil {
			_ = sess.Exit(exitFailed)
			return
		}
		defer close(g.ended)
		c.alone.Stop() // a dashboard is open, so the connection may stay
		defer c.alone.Reset(c.limiter.o.Limits.Waiting)
		s.visit.Add(1)
		defer s.visit.Done()
		defer func() {
			if what := recover(); what != nil {
				s.panicked(c.id, what, debug.Stack())
				_ = sess.Exit(exitFailed)
				_ = c.Close()
			}
		}()
		next(sess)
	}
}

// panicked logs a panic. The panic value may hold anything, so the log gets only the runtime's own words, and the type
// of everything else.
func (s *Server) panicked(id string, what any, stack []byte) {
	words := fmt.Sprintf("%T", what)
	if e, ok := what.(interface {
		error
		RuntimeError()
	}); ok {
		words = e.Error()
	}
	s.log.Error("ssh: a dashboard broke and was closed", "conn", id, "panic", text.Clean(words, 300), "stack",
		string(stack))
}

// show is the innermost handler.
func (s *Server) show(ssh.Handler) ssh.Handler {
	return func(sess ssh.Session) {
		v, why := s.enter(sess)
		if why != "" {
			s.say(v, why)
			_ = sess.Exit(exitUsage)
			return
		}
		code := s.serve(v)
		_ = sess.Exit(code)
	}
}

// enter makes a session of the client's requests. why names what is missing.
func (s *Server) enter(sess ssh.Session) (v *session, why string) {
	ctx := sess.Context()
	v = &session{Session: sess, s: s, begun: time.Now(), notes: make(chan string, 4)}
	v.g, _ = ctx.Value(filterKey{}).(*channelFilter)
	v.c, _ = ctx.Value(connKey{}).(*conn)
	v.id = v.c.id
	v.ctx, v.stop = context.WithCancelCause(ctx)
	v.term = &terminal{Session: sess, stall: s.o.Limits.Stall, shut: func() { _ = v.c.Close() }, gone: v.leaves}
	// The key whose signature was checked: the library takes it from the permissions of the finished handshake, not
	// from the last offer.
	key := sess.PublicKey()
	if key == nil {
		return v, "this connection has no key"
	}
	v.key, v.print = key.Marshal(), gossh.FingerprintSHA256(key)
	name, ok := s.keys.name(key)
	if !ok {
		return v, "your key is not admitted any more"
	}
	if v.name = name; name == "" {
		v.name = text.Clean(v.print, 24)
	}
	if _, _, ok := sess.Pty(); !ok {
		return v, "a dashboard needs a terminal, and your client asked for none; connect with ssh -t"
	}
	if _, term := v.g.current(); tui.Dumb([]string{"TERM=" + term}) {
		return v, "your terminal cannot move the cursor (TERM=" + term + "), and a dashboard needs that"
	}
	return v, ""
}

// say writes a line to the guest, on the terminal or beside it.
func (s *Server) say(v *session, line string) {
	late := time.AfterFunc(s.o.Limits.Ending, func() { _ = v.c.Close() })
	defer late.Stop()
	_, _, pty := v.Pty()
	if pty {
		width := 80
		if size, _ := v.g.current(); size.Width > 0 {
			width = size.Width
		}
		_, _ = v.Write([]byte(ansi.Wordwrap("coffer: "+line, width, " ") + "\n"))
		return
	}
	_, _ = v.Stderr().Write([]byte("coffer: " + line + "\n"))
}

// serve shows the dashboard and returns the exit code.
func (s *Server) serve(v *session) int {
	defer v.stop(nil)
	leave, why := s.place(v)
	if why != "" {
		s.say(v, why)
		s.log.Info("ssh: no place", "conn", v.id, "key", v.print, "why", why)
		return exitFailed
	}
	defer leave()
	defer context.AfterFunc(s.ending, func() { v.stop(errStopping) })()
	go func() { // the client closed its channel, or sent something that is refused
		select {
		case <-v.g.gone:
		case <-v.g.in.refused:
		case <-v.ctx.Done():
		}
		v.leaves()
	}()
	mine, why := s.sole(v)
	if mine == nil {
		s.say(v, why)
		return exitFailed
	}
	defer s.release(v, mine)
	s.began.Add(1)
	s.log.Info("ssh: dashboard opened", "conn", v.id, "key", v.print, "name", v.name, "address",
		v.RemoteAddr().String())
	go v.watch()
	go v.alive()
	err := v.run()
	why, code := v.farewell(err)
	if why != "" {
		s.say(v, why)
	}
	s.log.Info("ssh: dashboard closed", "conn", v.id, "key", v.print, "address", v.RemoteAddr().String(), "length",
		time.Since(v.begun).Round(time.Millisecond), "why", v.reason(err))
	return code
}

// leaves ends a dashboard whose input has ended.
func (v *session) leaves() {
	why := v.g.in.reason()
	if why == nil {
		why = errGone
	}
	v.stop(why)
}

// run calls Show. A dashboard that does not end when asked to loses its connection.
func (v *session) run() (err error) {
	dir := filepath.Join(v.s.o.Dir, GuestsDir, guestDir(v.key))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	late := context.AfterFunc(v.ctx, func() {
		t := time.AfterFunc(v.s.o.Limits.Ending, v.term.shut)
		<-v.g.ended
		t.Stop()
	})
	defer late()
	defer func() {
		if what := recover(); what != nil {
			v.panicked(what, debug.Stack())
			err = errBroken
		}
	}()
	size, _ := v.g.current()
	err = v.s.o.Show(v.ctx, Visit{
		ID: v.id, Name: v.name, Fingerprint: v.print, Key: v.key, Dir: dir, In: v.term, Out: v.term,
		Env: v.g.environ(connection(v)), Size: size,
		Resized: v.g.sizes, Notes: v.notes, Broken: v.panicked,
		Secret: func(network string, try byte) ([]byte, error) { return GuestSecret(v.s.host, network, v.key, try) },
	})
	if v.broke.Load() {
		return errBroken
	}
	return err
}

// errBroken means that the dashboard panicked.
var errBroken = errors.New("the dashboard broke")

func (v *session) panicked(what any, stack []byte) {
	if !v.broke.Swap(true) {
		v.s.panicked(v.id, what, stack)
	}
	v.stop(errBroken)
}

// connection names both ends, as SSH_CONNECTION does.
func connection(v *session) string {
	host := func(a net.Addr) string {
		h, p, err := net.SplitHostPort(a.String())
		if err != nil {
			return a.String()
		}
		return h + " " + p
	}
	return host(v.RemoteAddr()) + " " + host(v.LocalAddr())
}

// farewell returns what the guest reads on its own screen afterwards, and the exit code.
func (v *session) farewell(err error) (string, int) {
	switch cause := context.Cause(v.ctx); {
	case v.broke.Load():
		return "something broke in this dashboard and it was closed; other dashboards go on. What was sent before " +
			"goes on, too. Tell the operator: connection " + v.id, exitFailed
	case errors.Is(cause, errStopping):
		return "the service is stopping, and this dashboard was closed. What was sent goes on when the service does; " +
			"connect again later", exitFailed
	case errors.Is(cause, errIdle):
		return "closed: nothing was typed for " + words(v.s.o.Idle) + ". Connect again to go on", exitFailed
	case errors.Is(cause, errMax):
		return "closed: a dashboard is open for " + words(v.s.o.Max) + " at most. Connect again to go on", exitFailed
	case errors.Is(cause, errTaken):
		return "closed: another connection with your key took this dashboard over", exitFailed
	case errors.Is(cause, errFlood):
		return "closed: your terminal sent more than 1 MiB at once, such as a paste without an end. Connect again to " +
			"go on", exitFailed
	case errors.Is(cause, errUnsafe):
		return "closed: your terminal sent a control sequence that no terminal sends by itself. Connect again to go on",
			exitFailed
	case v.ctx.Err() != nil:
		return "", exitFailed
	case err != nil:
		return text.Clean(err.Error(), 600), exitFailed
	}
	return "", exitDone
}

// reason is why a dashboard ended, for the log.
func (v *session) reason(err error) string {
	switch cause := context.Cause(v.ctx); {
	case v.broke.Load():
		return errBroken.Error()
	case cause != nil:
		return text.Clean(cause.Error(), 300)
	case err != nil:
		var more interface{ Whole() string } // what the guest does not see
		if errors.As(err, &more) {
			return text.Clean(more.Whole(), 600)
		}
		return text.Clean(err.Error(), 300)
	}
	return "the guest left"
}

func words(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}
