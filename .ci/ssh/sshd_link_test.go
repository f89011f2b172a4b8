//go:build linux

package sshci

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// link is the network between a person and the host. It counts what goes over it and can break or freeze.
type link struct {
	addr     string
	to, from atomic.Int64 // bytes to the host, bytes from it

	mu     sync.Mutex
	thaw   *sync.Cond
	frozen bool
	open   map[net.Conn]bool
}

func newLink(t testing.TB, host string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	k := &link{addr: l.Addr().String(), open: map[net.Conn]bool{}}
	k.thaw = sync.NewCond(&k.mu)
	t.Cleanup(func() { k.breaks(); _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", host)
			if err != nil {
				_ = near.Close()
				continue
			}
			k.keep(near, far)
			go k.copies(far, near, &k.to)
			go k.copies(near, far, &k.from)
		}
	}()
	return k
}

func (k *link) keep(conns ...net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range conns {
		k.open[c] = true
	}
}

// copies carries bytes in one direction. What is read while the link is frozen goes on when it thaws.
func (k *link) copies(dst, src net.Conn, count *atomic.Int64) {
	buf := make([]byte, 1<<15)
	for {
		n, err := src.Read(buf)
		if n > 0 {
			k.mu.Lock()
			for k.frozen {
				k.thaw.Wait()
			}
			k.mu.Unlock()
			count.Add(int64(n))
			if _, werr := dst.Write(buf[:n]); werr != nil {
				err = errors.Join(err, werr)
			}
		}
		if err != nil {
			if c, ok := dst.(interface{ CloseWrite() error }); ok && errors.Is(err, io.EOF) {
				_ = c.CloseWrite()
				return
			}
			_ = errors.Join(src.Close(), dst.Close())
			return
		}
	}
}

// freezes lets nothing through any more, without telling anybody.
func (k *link) freezes() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frozen = true
}

// breaks ends every connection at once; connections made later work.
func (k *link) breaks() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // as a reset
		}
		_ = c.Close()
	}
	k.open, k.frozen = map[net.Conn]bool{}, false
	k.thaw.Broadcast()
}
