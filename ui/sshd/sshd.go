// Package sshd serves dashboards over SSH to everyone in an authorized-keys file. Options.Show decides what a
// dashboard is; this package decides who gets one, on what terms, and how it ends.
//
// Promise: only a public key of the file admits a connection, and the key that counts is the one whose signature was
// checked. A connection can open one dashboard on a terminal, and nothing more: no command, no subsystem, no
// forwarding, no agent. Nothing of the client's environment reaches this process; a few words of it describe its
// terminal. Every connection is bounded before its handshake, during it, and after it; a client that reads nothing,
// types nothing, or makes a dashboard panic ends its own connection and touches no other. No keystroke and no secret
// is logged.
//
// Units: durations; sizes in cells. Errors name the remedy in terms of the command line (--ssh, --ssh-keys). Sources:
// docs/ssh.md, TH-Z1, TH-Z2, TH-R2.
package sshd

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"charm.land/ssh"
	"charm.land/wish/v2"
	gossh "golang.org/x/crypto/ssh"

	"coffer/ui/tui"
)

// Options set who is served, where and with what. Zero durations and numbers mean the defaults below.
type Options struct {
	Listen   string // host:port; port 0 takes a free one
	Open     bool   // other machines may reach it; without it Listen must be a loopback address
	Dir      string // where the host key and the guests' journals are kept; created when missing, 0700
	Keys     string // the authorized-keys file
	Idle     time.Duration
	Max      time.Duration
	Sessions int // dashboards at once
	Log      *slog.Logger

	// Show shows a guest its dashboard until the guest leaves or ctx ends. It is called once for each dashboard, on
	// its own goroutine.
	Show func(ctx context.Context, v Visit) error

	Limits Limits
}

// Limits are bounds that only tests change.
type Limits struct {
	Handshake time.Duration // until a key is proved: a person may have to type its passphrase, or to touch it
	Waiting   time.Duration // a connection without a dashboard
	Stall     time.Duration // a client that takes no output
	Ending    time.Duration // a dashboard that was asked to end
	Asking    time.Duration // the question whether to take over
	Alive     time.Duration // between two questions whether the client still responds
	PerMinute int           // connections from an address, after a first Burst
	Burst     int
}

// The defaults.
const (
	DefaultIdle     = 15 * time.Minute
	DefaultMax      = 8 * time.Hour
	DefaultSessions = 32
)

// perKey is how many connections of one key may be past the handshake: the dashboard, and one that asks to take its
// place.
const perKey = 2

func (o Options) withDefaults() Options {
	o.Idle, o.Max, o.Sessions = cmp.Or(o.Idle, DefaultIdle), cmp.Or(o.Max, DefaultMax),
		cmp.Or(o.Sessions, DefaultSessions)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &o.Limits
	l.Handshake, l.Waiting, l.Stall = cmp.Or(l.Handshake, time.Minute), cmp.Or(l.Waiting, 75*time.Second),
		cmp.Or(l.Stall, 30*time.Second)
	l.Ending, l.Asking, l.Alive = cmp.Or(l.Ending, 2*time.Second), cmp.Or(l.Asking, time.Minute),
		cmp.Or(l.Alive, 30*time.Second)
	l.PerMinute, l.Burst = cmp.Or(l.PerMinute, 30), cmp.Or(l.Burst, 40)
	return o
}

// A Visit is one dashboard of one guest.
type Visit struct {
	ID          string // of the connection, as the log names it
	Name        string // of the guest, from the comment of the key's line; the fingerprint without a comment
	Fingerprint string // SHA256:… of the key
	Key         []byte // the public key, as SSH encodes it
	Dir         string // of the guest, below Options.Dir; nothing else may be written for it

	In      io.Reader
	Out     io.Writer
	Env     []string // describes the guest's terminal
	Size    tui.Size
	Resized <-chan tui.Size
	Notes   <-chan string // messages to the guest during the visit

	// Secret derives 32 bytes for this guest's throw-away signer on a network (GuestSecret).
	Secret func(network string, try byte) ([]byte, error)

	// Broken receives a panic, which then ends this dashboard alone.
	Broken func(what any, stack []byte)
}

// Server is a listening server.
type Server struct {
	Addr        net.Addr
	HostKey     string // the public host key, as a known-hosts file has it after the name
	Fingerprint string // of the host key, SHA256:…
	KeysFile    string
	Guests      int // keys of the file at the start

	o       Options
	host    ed25519.PrivateKey
	keys    *keyFile
	ssh     *ssh.Server
	log     *slog.Logger
	limiter *connLimiter

	mu    sync.Mutex
	open  map[string]*live // by fingerprint
	count map[string]int   // connections past the handshake with a session, by fingerprint
	here  int
	began atomic.Int64
	visit sync.WaitGroup

	ending context.Context
	end    context.CancelCauseFunc
	done   chan struct{}
	err    error
}

// live is a dashboard that is open.
type live struct {
	id    string
	from  string
	since time.Time
	stop  context.CancelCauseFunc
	done  chan struct{}
}

// HostKeyFile and GuestsDir are names below Options.Dir; KeysFile is the default file of authorized keys.
const (
	HostKeyFile = "host_key"
	GuestsDir   = "guests"
	KeysFile    = "authorized_keys"
)

// Start listens and serves until ctx ends. It does not listen when the keys, the host key or the address are invalid.
func Start(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	if err := CheckAddress(o.Listen, o.Open); err != nil {
		return nil, err
	}
	if o.Keys == "" {
		o.Keys = filepath.Join(o.Dir, KeysFile)
	}
	keys := &keyFile{path: o.Keys, log: o.Log}
	admitted, err := keys.start()
	if err != nil {
		return nil, err
	}
	host, err := OpenHostKey(o.Dir)
	if err != nil {
		return nil, err
	}
	return start(ctx, o, keys, admitted, host)
}

func start(ctx context.Context, o Options, keys *keyFile, admitted int, host ed25519.PrivateKey) (*Server, error) {
	signer, err := gossh.NewSignerFromKey(host)
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	s := &Server{
		HostKey: plainLine(signer.PublicKey()), Fingerprint: gossh.FingerprintSHA256(signer.PublicKey()),
		KeysFile: o.Keys, Guests: admitted,
		o: o, host: host, keys: keys, log: o.Log, open: map[string]*live{}, count: map[string]int{},
		done: make(chan struct{}),
	}
	if s.ssh, err = s.library(signer); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s; name another port with --ssh: %w", o.Listen, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--ssh: %w", err)
	}
	s.Addr = l.Addr()
	s.limiter = newConnLimiter(l, o)
	s.ending, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	go s.run(ctx)
	return s, nil
}

// library configures the server of the SSH library completely: who is admitted, what a connection may ask for, and for
// how long.
func (s *Server) library(host gossh.Signer) (*ssh.Server, error) {
	l := s.o.Limits
	return wish.NewServer(
		func(srv *ssh.Server) error { srv.AddHostKey(host); return nil },
		wish.WithVersion("Coffer"),
		wish.WithPublicKeyAuth(s.admit),
		wish.WithMiddleware(s.show, s.guarded),
		// the dashboard gets its warning before: this is a second line of defence
		wish.WithMaxTimeout(s.o.Max+l.Ending+time.Minute),
		ssh.EmulatePty(),
		func(srv *ssh.Server) error {
			srv.HandshakeTimeout = l.Handshake
			srv.ServerConfigCallback = func(ssh.Context) *gossh.ServerConfig {
				return &gossh.ServerConfig{PublicKeyAuthAlgorithms: signatureAlgorithms()}
			}
			srv.ConnCallback = s.accepted
			srv.ConnectionFailedCallback = s.failed
			// None of the library's package-level tables.
			srv.ChannelHandlers = map[string]ssh.ChannelHandler{"session": s.channel}
			srv.RequestHandlers = map[string]ssh.RequestHandler{}
			srv.SubsystemHandlers = map[string]ssh.SubsystemHandler{}
			return nil
		},
	)
}

// Why a dashboard ends although its guest did not leave.
var (
	errStopping = errors.New("the service is stopping")
	errIdle     = errors.New("nothing was typed")
	errMax      = errors.New("the longest time has passed")
	errTaken    = errors.New("another connection of this key took its place")
	errFlood    = errors.New("the client sent more than a person does")
	errUnsafe   = errors.New("the client sent a control sequence that the screen library cannot read")
	errGone     = errors.New("the client is gone")
)

// run serves until ctx ends, then ends every dashboard, and closes the connections of those that do not end by
// themselves.
func (s *Server) run(ctx context.Context) {
	defer close(s.done)
	failed := make(chan error, 1)
	go func() { failed <- s.ssh.Serve(s.limiter) }()
	select {
	case err := <-failed:
		s.err = fmt.Errorf("--ssh: %w", err)
	case <-ctx.Done():
	}
	s.end(errStopping)
	_ = s.limiter.Close()
	ended := make(chan struct{})
	go func() { s.visit.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(3 * s.o.Limits.Ending):
		s.log.Warn("ssh: a dashboard does not end", "open", s.Open())
	}
	_ = s.ssh.Close()
	s.limiter.closeAll() // which also frees goroutines that wait for a client
	select {
	case <-ended:
	case <-time.After(s.o.Limits.Ending):
	}
}

// Wait returns when the server has stopped and the dashboards have ended: nil after an orderly end.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}

// Open is how many dashboards are open.
func (s *Server) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.here
}

// Began is how many dashboards have been opened so far.
func (s *Server) Began() int64 { return s.began.Load() }
