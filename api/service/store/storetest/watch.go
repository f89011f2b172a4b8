package storetest

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Watched is a way to the server of an address that counts what is asked on it.
type Watched struct {
	Address string
	server  string
	mu      sync.Mutex
	made    map[string]int // statements by their text
	ways    int            // flushes of messages, each of which waits for an answer
	writing time.Duration  // from the lock of writers to the end of its transaction
}

// Watch makes a way to the server of an address, until the test ends.
func Watch(t testing.TB, address string) *Watched {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Watched{server: u.Host, made: map[string]int{}}
	u.Host = l.Addr().String()
	w.Address = u.String()
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				if err := w.carry(c); err != nil {
					t.Error(err)
				}
			})
		}
	})
	return w
}

// Writing is for how long writers had their lock since the last Taken, as their clients see it.
func (w *Watched) Writing() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writing
}

// Taken returns how often each statement was made since the last time, and how many ways to the server they took.
func (w *Watched) Taken() (made map[string]int, ways int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	made, ways = maps.Clone(w.made), w.ways
	clear(w.made)
	w.ways, w.writing = 0, 0
	return made, ways
}

// carry connects a client with the server until either leaves.
func (w *Watched) carry(client net.Conn) error {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", w.server) //nolint:noctx // it ends with the client
	if err != nil {
		return err
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	err = w.read(io.TeeReader(client, server))
	_ = server.Close()
	back.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// read counts the messages of a client: statements that are parsed have a name, by which they run.
func (w *Watched) read(in io.Reader) error {
	named := map[string]string{}
	running := "" // what the last Bind bound
	var locked time.Time
	makes := func(text string) {
		w.made[text]++
		if strings.Contains(text, "pg_advisory_xact_lock") {
			locked = time.Now()
		} else if !locked.IsZero() && (text == "commit" || text == "rollback") {
			w.writing += time.Since(locked)
			locked = time.Time{}
		}
	}
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first { // the message that begins has no type
			head = head[:4]
		}
		if _, err := io.ReadFull(in, head); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		if first {
			continue
		}
		w.mu.Lock()
		switch head[0] {
		case 'Q':
			text, _, _ := strings.Cut(string(body), "\x00")
			makes(text)
			w.ways++
		case 'P':
			name, rest, _ := strings.Cut(string(body), "\x00")
			named[name], _, _ = strings.Cut(rest, "\x00")
		case 'B':
			_, rest, _ := strings.Cut(string(body), "\x00")
			name, _, _ := strings.Cut(rest, "\x00")
			running = named[name]
		case 'E':
			makes(running)
		case 'S':
			w.ways++
		}
		w.mu.Unlock()
	}
}
