package sshd

import (
	"io"
	"slices"
	"strings"
	"sync"

	"charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"

	"coffer/api/pattern"
	"coffer/ui/tui"
)

// The context keys of a connection, and of the filter of its open channel.
type (
	connKey   struct{}
	filterKey struct{}
)

// channelFilter sits between a client's channel and the SSH library: of a client's requests on a channel it passes on
// a terminal and a shell. It keeps the environment and the size of the terminal itself. It refuses everything else,
// which reaches nothing.
type channelFilter struct {
	ch gossh.Channel
	in *intake

	mu    sync.Mutex
	env   map[string]string
	size  tui.Size
	sizes chan tui.Size // the newest one
	shell bool          // was passed on
	gone  chan struct{} // closed when the channel's requests have ended
	ended chan struct{} // closed when the dashboard has
}

func newChannelFilter() *channelFilter {
	ended := make(chan struct{})
	return &channelFilter{env: map[string]string{}, sizes: make(chan tui.Size, 1), gone: make(chan struct{}),
		ended: ended, in: newIntake(ended)}
}

// channel handles a client's channel. A connection has one at a time.
func (s *Server) channel(srv *ssh.Server, connection *gossh.ServerConn, asked gossh.NewChannel, ctx ssh.Context) {
	c, ok := ctx.Value(connKey{}).(*conn)
	if !ok || !c.take() {
		_ = asked.Reject(gossh.ResourceShortage, "this connection has its dashboard; open another connection")
		return
	}
	g := newChannelFilter()
	ctx.SetValue(filterKey{}, g)
	ssh.DefaultSessionHandler(srv, connection, &filteredChannel{NewChannel: asked, g: g}, ctx)
	if g.handedOn() {
		<-g.ended
	}
	<-c.slot
}

// filteredChannel is a channel whose requests pass through the channelFilter.
type filteredChannel struct {
	gossh.NewChannel
	g *channelFilter
}

// Accept opens the channel.
func (n *filteredChannel) Accept() (gossh.Channel, <-chan *gossh.Request, error) {
	ch, requests, err := n.NewChannel.Accept()
	if err != nil {
		close(n.g.gone)
		return ch, requests, err
	}
	n.g.ch = ch
	go n.g.in.pump(ch)
	go func() { _, _ = io.Copy(io.Discard, ch.Stderr()) }() // no code reads what a client sends there
	through := make(chan *gossh.Request)
	go func() {
		defer close(through)
		defer close(n.g.gone)
		for r := range requests {
			if n.g.take(r) {
				through <- r
			}
		}
	}()
	return taken{ch, n.g.in}, through, nil
}

// maxRequest bounds a client's description of its terminal, in bytes.
const maxRequest = 4096

// take decides about a request; true passes it on.
func (g *channelFilter) take(r *gossh.Request) bool {
	ok := false // of subsystem, auth-agent-req@openssh.com, x11-req, signal, break, …
	switch {
	case r.Type == "exec" && g.first():
		g.noCommand(r)
		return false
	case r.Type == "exec", len(r.Payload) > maxRequest:
	case r.Type == "pty-req" && g.terminal(r), r.Type == "shell" && g.first():
		return true
	case r.Type == "window-change":
		var w struct{ Columns, Rows, Width, Height uint32 }
		if ok = gossh.Unmarshal(r.Payload, &w) == nil; ok {
			g.resize(w.Columns, w.Rows)
		}
	case r.Type == "env":
		var e struct{ Name, Value string }
		ok = gossh.Unmarshal(r.Payload, &e) == nil && g.keep(e.Name, e.Value)
	}
	_ = r.Reply(ok, nil)
	return false
}

// first reports whether a shell or a command is the first one of this channel, which allows no further one.
func (g *channelFilter) first() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.shell
	g.shell = true
	return !was
}

// noCommand refuses a command with a message: on a bare refusal, clients show nothing that a user understands.
func (g *channelFilter) noCommand(r *gossh.Request) {
	close(g.ended) // nothing was passed on, and nothing will be
	_ = r.Reply(true, nil)
	go func() { // a client that reads nothing delays only itself
		_, _ = g.ch.Stderr().Write([]byte(
			"coffer: this server shows a dashboard and runs no commands; connect without one\r\n"))
		_, _ = g.ch.SendRequest("exit-status", false, gossh.Marshal(struct{ Status uint32 }{exitUsage}))
		_ = g.ch.Close()
	}()
}

func (g *channelFilter) handedOn() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shell
}

var plainTerm = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$`)

// terminal reads a request for a terminal. The library gets the same request without its modes.
func (g *channelFilter) terminal(r *gossh.Request) bool {
	var p struct {
		Term                         string
		Columns, Rows, Width, Height uint32
		Modes                        string
	}
	if gossh.Unmarshal(r.Payload, &p) != nil {
		return false
	}
	if !plainTerm.MatchString(p.Term) {
		p.Term = "dumb"
	}
	p.Modes = "\x00"
	size := sizeOf(p.Columns, p.Rows)
	p.Columns, p.Rows, p.Width, p.Height = uint32(size.Width), uint32(size.Height), 0, 0
	g.mu.Lock()
	g.env["TERM"], g.size = p.Term, size
	g.mu.Unlock()
	r.Payload = gossh.Marshal(p)
	return true
}

// The largest window to draw for: the size that a client claims costs memory here.
const (
	maxColumns = 512
	maxRows    = 256
)

func sizeOf(columns, rows uint32) tui.Size {
	return tui.Size{Width: int(min(columns, maxColumns)), Height: int(min(rows, maxRows))}
}

// resize keeps the newest size for the dashboard and never waits for it.
func (g *channelFilter) resize(columns, rows uint32) {
	size := sizeOf(columns, rows)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size = size
	select {
	case <-g.sizes:
	default:
	}
	g.sizes <- size // there is room: only this method sends, under the lock
}

// terminalNames are the names that describe a terminal. The request for the terminal has TERM.
func terminalNames() []string {
	return []string{"COLORTERM", "COLORFGBG", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "TERM_PROGRAM"}
}

var plainValue = pattern.New(`^[A-Za-z0-9 ._@:;,+-]{0,128}$`)

func (g *channelFilter) keep(name, value string) bool {
	if !slices.Contains(terminalNames(), name) || !plainValue.MatchString(value) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.env[name] = value
	return true
}

// environ describes the client's terminal in the form of an environment, from which the program sees that the terminal
// is remote.
func (g *channelFilter) environ(connection string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := []string{"SSH_CONNECTION=" + connection, "SSH_TTY=ssh"}
	for name, value := range g.env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

func (g *channelFilter) current() (tui.Size, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.size, strings.TrimSpace(g.env["TERM"])
}
