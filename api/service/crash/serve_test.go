//go:build unix

package crash_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	cmd    *exec.Cmd
	pipe   io.Closer
	out    *bufio.Reader
	ended  chan struct{} // the process is gone
	exit   error
	client *traffic.Client
	nodes  traffic.Nodes

	mu     sync.Mutex
	now    int           // quotes that this life is known to have in flight
	enough chan struct{} // closed and replaced when now grows
}

// spawn starts the process and does not wait for it to listen.
func (h *harness) spawn() (*served, error) {
	args := append([]string{"serve", "--data", h.data(), "--listen", "127.0.0.1:0", "--rpc", "127.0.0.1:0",
		"--json"},
		strings.Fields(settings.serve)...)
	s := &served{cmd: exec.Command(settings.program, args...), ended: make(chan struct{}), enough: make(chan struct{})}
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
	s.cmd.Stdout, s.pipe, s.out = in, out, bufio.NewReader(out)
	err = s.cmd.Start()
	_ = in.Close()
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	h.last = s
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
	type line struct {
		text string
		err  error
	}
	first := make(chan line, 1)
	go func() {
		text, err := s.out.ReadString('\n')
		first <- line{text, err}
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case got := <-first:
		if got.err != nil {
			return nil, fmt.Errorf("the service did not start (see serve.log): %w", got.err)
		}
		if err := h.connect(s, got.text); err != nil {
			return nil, errors.Join(err, s.kill())
		}
	case <-limit.C:
		return nil, errors.Join(errors.New("the service did not listen in time"), s.kill())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.kill())
	}
	h.starts++
	h.startTime += time.Since(begin)
	if settings.spares {
		h.lives++
		if h.spare, err = h.spawn(); err != nil {
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

// connect reads the line that the service prints, and the first time the network that it runs.
func (h *harness) connect(s *served, line string) error {
	client, said, err := traffic.Connect([]byte(line), crowd)
	if err != nil {
		return err
	}
	s.client, s.nodes = client, said.Nodes()
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
	if s.client != nil {
		s.client.Close()
		s.nodes.Close()
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
	s.client.Close() // a connection that never was used would hold up the end for seconds
	s.nodes.Close()
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
