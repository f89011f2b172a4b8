//go:build unix

package crash_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"coffer/api/network"
	"coffer/api/service/crash/traffic"
)

// served is one life of the service.
type served struct {
	cmd   *exec.Cmd
	pipe  io.Closer
	lines chan string   // that it prints; closed when it is gone
	ended chan struct{} // the process is gone
	exit  error
	*way  // through its own ports
	said  traffic.Served

	mu     sync.Mutex
	spare  *way          // through those of the process that stands by, nil without
	now    int           // quotes that this life is known to have in flight
	enough chan struct{} // closed and replaced when now grows
}

// way is how people reach a life. A person has always the same key.
type way struct {
	clients []*traffic.Client
	nodes   traffic.Nodes
}

// client is that of one person.
func (w *way) client(n int) *traffic.Client { return w.clients[n%len(w.clients)] }

func (w *way) close() {
	for _, c := range w.clients {
		c.Close()
	}
	w.nodes.Close()
}

// ways makes the way through the ports of which a line tells.
func (h *harness) way(said traffic.Served) (*way, error) {
	w := &way{nodes: said.Nodes()}
	keys := h.keys
	if len(keys) == 0 {
		keys = []string{said.APIKey}
	}
	for _, said.APIKey = range keys {
		c, err := said.Client(crowd)
		if err != nil {
			return nil, err
		}
		w.clients = append(w.clients, c)
	}
	return w, nil
}

// pick is the way that somebody takes now: one of the two, where there are two.
func (s *served) pick(dice *rand.Rand) *way {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare != nil && dice.IntN(2) == 0 {
		return s.spare
	}
	return s.way
}

// lost reports whether a way led through the process that stood by, which is not asked again.
func (s *served) lost(w *way) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spare == w {
		s.spare = nil
	}
	return w != s.way
}

// spawn starts the process and does not wait for it to listen.
func (h *harness) spawn() (*served, error) {
	args := append([]string{"serve", "--data", h.data(), "--listen", "127.0.0.1:0", "--rpc", "127.0.0.1:0",
		"--json"},
		strings.Fields(settings.serve)...)
	s := &served{cmd: exec.Command(settings.program, args...), lines: make(chan string, 4),
		ended: make(chan struct{}), enough: make(chan struct{})}
	log, err := os.OpenFile(filepath.Join(h.dir, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	s.cmd.Stderr = log
	out, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout, s.pipe = in, out
	err = s.cmd.Start()
	_ = in.Close()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	h.last = s
	go func() {
		defer close(s.lines)
		for all := bufio.NewScanner(out); all.Scan(); {
			s.lines <- all.Text()
		}
	}()
	go func() {
		s.exit = s.cmd.Wait()
		close(s.ended)
	}()
	return s, nil
}

// next is the process that stands by, or a new one.
func (h *harness) next() (*served, error) {
	if s := h.spare; s != nil {
		h.spare = nil
		return s, nil
	}
	return h.spawn()
}

// serving is the process that serves; when there is none, one is launched.
func (h *harness) serving(ctx context.Context) (_ *served, err error) {
	if h.running == nil {
		h.running, err = h.launch(ctx)
	}
	return h.running, err
}

// launch starts the service, waits until it listens, and lets the people know.
func (h *harness) launch(ctx context.Context) (*served, error) {
	begin := time.Now()
	s, err := h.next()
	if err != nil {
		return nil, err
	}
	line, err := s.says(ctx, serving)
	if err == nil {
		err = h.connect(s, line)
	}
	if err != nil {
		return nil, errors.Join(err, s.kill())
	}
	h.starts++
	h.startTime += time.Since(begin)
	if settings.spares {
		h.lives++
		if err := h.standBy(ctx, s); err != nil {
			return nil, errors.Join(err, s.kill())
		}
	}
	h.mu.Lock()
	h.current = s
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	return s, nil
}

// Roles of a process.
const (
	serving    = "serving"
	forwarding = "forwarding"
)

// says waits for the line in which a process says that it has a role.
func (s *served) says(ctx context.Context, role string) (string, error) {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		select {
		case line, more := <-s.lines:
			if !more {
				return "", errors.New("the service did not start (see serve.log)")
			}
			if strings.Contains(line, `"role":"forwarding"`) == (role == forwarding) {
				return line, nil
			}
		case <-limit.C:
			return "", errors.New("the service did not listen in time")
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// standBy starts a process that stands by, and leads people through its ports too.
func (h *harness) standBy(ctx context.Context, s *served) error {
	other := filepath.Join(h.dir, fmt.Sprint("data", (h.lives+1)%2))
	if err := os.MkdirAll(h.data(), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"ca.pem", "ca-key.pem"} {
		raw, err := os.ReadFile(filepath.Join(other, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(h.data(), name), raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	spare, err := h.spawn()
	if err != nil {
		return err
	}
	h.spare = spare
	line, err := spare.says(ctx, forwarding)
	if err != nil {
		return err
	}
	said, err := s.said.Through("", []byte(line))
	if err != nil {
		return err
	}
	w, err := h.way(said)
	if err != nil {
		return err
	}
	spare.way = w
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = w
	return nil
}

// makeKeys makes keys that are good in every life. One takes 1 000 requests a second.
func (h *harness) makeKeys() error {
	for range 4 {
		out, err := exec.Command(settings.program, "serve", "keys", "add", "--data", h.data(), "--company", "a",
			"--project", "b", "--limit", "60000", "--fund-limit", "10000", "--json").Output()
		if err != nil {
			return fmt.Errorf("make a key: %w", err)
		}
		var made struct {
			Key string `json:"key"`
		}
		if err := json.Unmarshal(out, &made); err != nil {
			return err
		}
		h.keys = append(h.keys, made.Key)
	}
	return nil
}

// connect reads the line that the service prints, and the first time the network that it runs.
func (h *harness) connect(s *served, line string) error {
	if err := json.Unmarshal([]byte(line), &s.said); err != nil {
		return fmt.Errorf("the service says %q: %w", line, err)
	}
	said := s.said
	if settings.spares && h.keys == nil {
		if err := h.makeKeys(); err != nil {
			return err
		}
	}
	w, err := h.way(said)
	if err != nil {
		return err
	}
	s.way = w
	raw, err := os.ReadFile(said.NetworkFile)
	if err != nil {
		return err
	}
	n, err := network.Decode(raw)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.network.ID != "" && h.network.ID != n.ID {
		return fmt.Errorf("the network was %s and is %s", h.network.ID, n.ID)
	}
	h.network = n
	return nil
}

// kill ends the process with signal 9 and waits until it is gone. A process that ended before by itself is an error.
func (s *served) kill() error {
	select {
	case <-s.ended:
		return fmt.Errorf("the service ended by itself: %w", errors.Join(s.exit, io.ErrUnexpectedEOF))
	default:
	}
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	<-s.ended
	_ = s.pipe.Close()
	if s.way != nil {
		s.close()
	}
	var exit *exec.ExitError
	if !errors.As(s.exit, &exit) {
		return fmt.Errorf("the service was not killed: %w", s.exit)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the service ended before it was killed: %w", s.exit)
	}
	return nil
}

// stop ends the process as a person does, which must succeed.
func (s *served) stop() error {
	s.close() // a connection that never was used would hold up the end for seconds
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.ended
	_ = s.pipe.Close()
	if s.exit != nil {
		return fmt.Errorf("the service did not stop in order: %w", s.exit)
	}
	return nil
}

// fly counts a quote that this life has in flight, land one that it has no longer.
func (s *served) fly() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now++
	close(s.enough)
	s.enough = make(chan struct{})
}

func (s *served) land() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
}

func (s *served) flying() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// busy waits until n quotes are in flight.
func (s *served) busy(ctx context.Context, n int) error {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		s.mu.Lock()
		now, more := s.now, s.enough
		s.mu.Unlock()
		if now >= n {
			return nil
		}
		select {
		case <-more:
		case <-s.ended:
			return fmt.Errorf("the service ended by itself: %w", s.exit)
		case <-limit.C:
			return fmt.Errorf("only %d quotes are in flight after %s", now, patience)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
