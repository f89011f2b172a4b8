package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Direct is a listener for an http.Server. What nearly every tool sends, a POST over HTTP/1.1 whose header comes in one
// piece and names the length of its body, it answers itself, with one read and one write: the header is read by
// net/http and the server's handler is called, but there is no goroutine, timer or buffer for each request. A
// connection on which anything else comes goes to the server, with all that was read of it, and stays there.
type Direct struct {
	net.Listener
	Aside  func() bool  // reports whether the server gets every connection that comes now; nil for none
	server *http.Server // its handler, timeouts and ConnState are those of the connections
	log    *slog.Logger
	others chan accepted
	late   *Expiry

	mu   sync.Mutex
	open map[net.Conn]struct{} // nil once closed
	end  chan struct{}

	begin sync.Once
}

// accepted is what the server gets of a listener.
type accepted struct {
	conn net.Conn
	err  error
}

const (
	directHead = 4 << 10               // bytes, of a header and what else is read with it
	directWait = 50 * time.Millisecond // that a call takes before it is seen whether its caller is still there
)

// NewDirect takes the connections of a listener for a server, once its Serve is called with it.
func NewDirect(l net.Listener, s *http.Server, log *slog.Logger) *Direct {
	return &Direct{Listener: l, server: s, log: log, others: make(chan accepted), late: NewExpiry(directWait),
		open: map[net.Conn]struct{}{}, end: make(chan struct{})}
}

func (d *Direct) run() {
	for {
		c, err := d.Listener.Accept()
		if err == nil {
			if d.Aside != nil && d.Aside() {
				if !d.pass(accepted{c, nil}) {
					_ = c.Close()
				}
			} else if d.take(c) {
				d.state(c, http.StateNew)
				go d.serve(c)
			}
			continue
		}
		if !d.pass(accepted{nil, err}) || errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// pass gives the server a connection or an error, unless the listener was closed.
func (d *Direct) pass(a accepted) bool {
	select {
	case d.others <- a:
		return true
	case <-d.end:
		return false
	}
}

// Accept implements net.Listener.
func (d *Direct) Accept() (net.Conn, error) {
	d.begin.Do(func() { go d.run() })
	select {
	case a := <-d.others:
		return a.conn, a.err
	case <-d.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It closes the connections too.
func (d *Direct) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return nil
	}
	close(d.end)
	for c := range d.open {
		_ = c.Close()
	}
	d.open = nil
	return d.Listener.Close()
}

// take keeps a connection until it is given away, closed or the listener is.
func (d *Direct) take(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		_ = c.Close()
		return false
	}
	d.open[c] = struct{}{}
	return true
}

func (d *Direct) leave(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, c)
}

func (d *Direct) state(c net.Conn, now http.ConnState) {
	if d.server.ConnState != nil {
		d.server.ConnState(c, now)
	}
}

// direct is a connection that is answered directly.
type direct struct {
	net.Conn
	listener *Direct
	ctx      context.Context
	gone     context.CancelFunc // the caller is
	in       []byte             // what was read
	from     *bytes.Reader      // of it
	head     *bufio.Reader      // of that
	out      []byte
	last     []byte        // the header before
	request  *http.Request // what it says
	body     piece         // of the request
	header   http.Header   // of the answer
	watched  chan []byte   // what was read while it was seen whether the caller is there
}

// serve answers a connection, and gives it to the server when something else than a plain call comes.
func (d *Direct) serve(conn net.Conn) {
	in := d.calls(conn)
	d.leave(conn)
	d.state(conn, http.StateClosed) // when it goes to the server, that counts it anew
	if in == nil || conn.SetReadDeadline(time.Time{}) != nil || !d.pass(accepted{&begun{conn, in}, nil}) {
		_ = conn.Close()
	}
}

// calls answers plain calls until something else comes, and returns it; nil when the connection is to be closed.
func (d *Direct) calls(conn net.Conn) []byte {
	c := &direct{Conn: conn, listener: d, in: make([]byte, 0, directHead), from: new(bytes.Reader),
		header: http.Header{}, watched: make(chan []byte, 1)}
	c.head = bufio.NewReaderSize(c.from, 512)
	c.ctx, c.gone = context.WithCancel(context.Background())
	defer c.gone()
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("an endpoint panicked", "stack", string(debug.Stack()))
		}
	}()
	for wait := d.server.ReadHeaderTimeout; c.fill(wait); wait = d.server.IdleTimeout {
		size := c.parse()
		if size == 0 {
			return c.in
		}
		if !c.rest(size) || !c.answer() {
			break
		}
	}
	return nil
}

// after is the time after so long, none when that is zero.
func after(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// fill reads what comes at once, unless something is there already.
func (c *direct) fill(wait time.Duration) bool {
	if len(c.in) == 0 {
		if c.SetReadDeadline(after(wait)) != nil {
			return false
		}
		n, err := c.Read(c.in[:directHead])
		if c.in = c.in[:n]; n == 0 || err != nil {
			return false
		}
	}
	c.listener.state(c.Conn, http.StateActive)
	return true
}

// parse reads the header of the request that begins with what was read, and returns the length of the whole request; 0
// when it is none that is answered directly. Clients repeat themselves: a header that is the one before says the same.
func (c *direct) parse() (size int) {
	end := bytes.Index(c.in, []byte("\r\n\r\n")) + 4
	if end < 4 {
		return 0
	}
	if !bytes.Equal(c.in[:end], c.last) {
		if c.request = c.plain(c.in[:end]); c.request == nil {
			return 0
		}
		c.last = append(c.last[:0], c.in[:end]...)
	}
	if size = end + int(c.request.ContentLength); size < len(c.in) { // another request, sent without an answer to this
		return 0
	}
	return size
}

// plain reads a header; nil when it is none that is answered directly.
func (c *direct) plain(head []byte) *http.Request {
	if !bytes.HasPrefix(head, []byte("POST /")) || !isPlain(head) {
		return nil
	}
	c.from.Reset(head)
	c.head.Reset(c.from)
	r, err := http.ReadRequest(c.head)
	if err != nil || r.Proto != "HTTP/1.1" || r.Close || r.Host == "" || strings.ContainsAny(r.Host, noHost) ||
		r.ContentLength <= 0 || r.ContentLength > smallBody || len(r.TransferEncoding) > 0 {
		return nil
	}
	for _, name := range []string{"Expect", "Upgrade", "Trailer"} {
		if r.Header[name] != nil {
			return nil
		}
	}
	r = r.WithContext(c.ctx)
	r.RemoteAddr = c.RemoteAddr().String()
	return r
}

const noHost = " \"#%/<>?@\\^`{|}" // what net/http refuses in a host, and more

// isPlain reports whether a header is of printable characters in lines that end as they should, with names of letters,
// digits and hyphens.
func isPlain(head []byte) bool {
	name := false // in that of a line
	for i, b := range head {
		switch {
		case b == '\n' && head[i-1] == '\r':
			name = true
		case b == '\r' && head[i+1] == '\n' && (!name || head[i-1] == '\n'):
		case name && b == ':' && head[i-1] != '\n':
			name = false
		case b < ' ' || b > '~' || name && !isNamed(b):
			return false
		}
	}
	return true
}

func isNamed(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-'
}

// rest reads what is missing of a request.
func (c *direct) rest(size int) bool {
	begun := len(c.in)
	if size == begun {
		return true
	}
	c.in = slices.Grow(c.in, size-begun)[:size]
	if c.SetReadDeadline(after(c.listener.server.ReadTimeout)) != nil {
		return false
	}
	_, err := io.ReadFull(c.Conn, c.in[begun:])
	return err == nil
}

// answer has the request answered.
func (c *direct) answer() bool {
	r := *c.request
	c.body.in = c.in[len(c.in)-int(r.ContentLength):]
	r.Body = &c.body
	if c.SetWriteDeadline(after(c.listener.server.WriteTimeout)) != nil {
		return false
	}
	clear(c.header)
	w := &reply{conn: c, header: c.header}
	ended := c.listener.late.Add(func() {
		_ = c.SetReadDeadline(time.Time{}) // that of the request would end the watch
		go c.watch()
	})
	c.listener.server.Handler.ServeHTTP(w, &r)
	c.in = c.in[:0]
	if cap(c.in) > directHead {
		c.in = make([]byte, 0, directHead)
	}
	if !ended() {
		if c.SetReadDeadline(time.Unix(1, 0)) != nil {
			return false
		}
		c.in = append(c.in, <-c.watched...)
	}
	if err := w.finish(); err != nil {
		return false
	}
	c.listener.state(c.Conn, http.StateIdle)
	return true
}

// watch sees whether the caller of a long call goes away.
func (c *direct) watch() {
	var one [1]byte
	n, err := c.Read(one[:])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.gone()
	}
	c.watched <- one[:n]
}

// reply collects an answer, or writes it at once when its length is known.
type reply struct {
	conn   *direct
	header http.Header
	status int
	body   []byte
	begun  bool
	err    error
}

// Header implements http.ResponseWriter.
func (w *reply) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *reply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.err != nil:
		return 0, w.err
	case w.begun:
		_, w.err = w.conn.Write(b)
	case w.header.Get("Content-Length") != "":
		w.send(b)
	default:
		w.body = append(w.body, b...)
	}
	return len(b), w.err
}

// send writes the header, and what there is of the body with it.
func (w *reply) send(body []byte) {
	w.begun = true
	out := append(w.conn.out[:0], "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(w.status), 10)
	out = append(append(append(out, ' '), http.StatusText(w.status)...), "\r\nDate: "...)
	out = append(time.Now().UTC().AppendFormat(out, http.TimeFormat), "\r\n"...)
	for name, values := range w.header {
		for _, v := range values {
			out = append(append(append(append(out, name...), ": "...), v...), "\r\n"...)
		}
	}
	out = append(out, "\r\n"...)
	w.conn.out = out
	if len(body) < worthIt {
		w.conn.out = append(out, body...)
		_, w.err = w.conn.Write(w.conn.out)
		return
	}
	_, w.err = (&net.Buffers{out, body}).WriteTo(w.conn.Conn)
}

// finish writes what has not been written.
func (w *reply) finish() error {
	if w.WriteHeader(http.StatusOK); !w.begun {
		if w.status != http.StatusNoContent {
			w.header.Set("Content-Length", strconv.Itoa(len(w.body)))
		}
		w.send(w.body)
	}
	return w.err
}

// begun is a connection of which something was read already.
type begun struct {
	net.Conn
	in []byte
}

// Read implements net.Conn.
func (c *begun) Read(b []byte) (int, error) {
	if len(c.in) == 0 {
		return c.Conn.Read(b)
	}
	n := copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

// NetConn is the connection below.
func (c *begun) NetConn() net.Conn { return c.Conn }

// CloseWrite ends the sending half where the connection can.
func (c *begun) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// piece is the body of a request that is in memory, until it is answered.
type piece struct{ in []byte }

// Read implements io.Reader.
func (p *piece) Read(b []byte) (int, error) {
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in)
	p.in = p.in[n:]
	return n, nil
}

// Close implements io.Closer.
func (*piece) Close() error { return nil }
