package service

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"coffer/api"
	"coffer/api/service/httpapi"
	"coffer/api/text"
)

// handshakeByte begins every TLS connection: the record type of a handshake. No HTTP request begins with it.
const handshakeByte = 0x16

// Bounds of the answer to plain HTTP. What a client still sends is read for a moment, since closing at once could take
// the answer away from it.
const (
	plainWrite  = 2 * time.Second
	plainLinger = 500 * time.Millisecond
	plainRest   = 256 << 10
)

// errPlain ends the connection of a client that does not speak TLS.
var errPlain = errors.New("plain HTTP was answered with 401")

// plainListener tells TLS from plain HTTP by the first byte. A connection that speaks plain HTTP gets one 401 and is
// closed (docs/security.md#who-may-call-the-service); whatever it sent, its key among it, is dropped. The work is done
// where the connection is first read, so Accept never waits, and under the deadlines that the server has set by then.
type plainListener struct {
	net.Listener
	clock   func() time.Time
	names   *httpapi.RequestIDs
	refused func(plainRequest) // is told of each answer
}

// plainRequest is a request that was answered with 401; method and path are those of what could be read as one, bytes
// are the answer's.
type plainRequest struct {
	id, method, path string
	bytes            int
	took             time.Duration
}

// Accept implements net.Listener.
func (l plainListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &firstByte{Conn: c, l: l}, nil
}

// firstByte is a connection whose first byte has not been seen, or was that of a handshake, or was another one.
type firstByte struct {
	net.Conn
	l     plainListener
	seen  bool
	plain bool
}

// Read implements net.Conn. Only one goroutine reads a connection.
func (c *firstByte) Read(b []byte) (int, error) {
	if c.plain {
		return 0, errPlain
	}
	n, err := c.Conn.Read(b)
	if n == 0 || c.seen {
		return n, err
	}
	if c.seen = true; b[0] == handshakeByte {
		return n, err
	}
	c.plain = true
	begun := c.l.clock()
	request := c.answer(io.MultiReader(bytes.NewReader(bytes.Clone(b[:n])), c.Conn))
	request.took = c.l.clock().Sub(begun)
	c.l.refused(request)
	return 0, errPlain
}

// answer reads the header of a request, writes the 401 and ends the connection.
func (c *firstByte) answer(from io.Reader) plainRequest {
	head := bufio.NewReader(io.LimitReader(from, maxHeader))
	request := plainRequest{id: c.l.names.Next(), path: "/"}
	if r, err := http.ReadRequest(head); err == nil {
		request.method, request.path = text.Clean(r.Method, 16), text.Clean(r.URL.Path, maxPath)
	}
	now := time.Now() // deadlines are the system's
	if c.SetWriteDeadline(now.Add(plainWrite)) != nil {
		return request
	}
	n, err := c.Write(c.l.unauthorized(request))
	if request.bytes = n; err != nil {
		return request
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil &&
		c.SetReadDeadline(now.Add(plainLinger)) == nil {
		_, _ = io.CopyN(io.Discard, from, plainRest) // whatever ends it, the connection is closed next
	}
	return request
}

// maxPath is how much of a foreign path an answer repeats.
const maxPath = 200

// unauthorized is the whole answer.
func (l plainListener) unauthorized(r plainRequest) []byte {
	e := api.NewError(api.ErrUnauthorized, "All calls must use HTTPS")
	e.Timestamp, e.Path = l.clock().UTC().Format("2006-01-02T15:04:05.000Z"), r.path
	doc, err := api.Encode(e)
	if err != nil {
		return fmt.Appendf(nil,
			"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n", r.id)
	}
	out := fmt.Appendf(nil, "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: "+
		"%d\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\nX-Request-Id: %s\r\nConnection: close\r\n\r\n", len(doc.Raw()), r.id)
	if r.method != http.MethodHead {
		out = append(out, doc.Raw()...)
	}
	return out
}

// plainRefused counts a request that did not come over TLS, and writes the line of the log that its id leads to.
func (s *Service) plainRefused(r plainRequest) {
	if s.watch != nil {
		s.watch.request("", http.StatusUnauthorized, r.took)
	}
	s.opts.Log.Info("request", "request", r.id, "method", r.method, "path", r.path, "status", http.StatusUnauthorized,
		"error", api.ErrUnauthorized, "bytes", r.bytes, "caller", "", "ms", r.took.Milliseconds(), "plain", true)
}
