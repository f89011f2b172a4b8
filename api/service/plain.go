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
	"coffer/api/text"
)

// handshakeByte begins every TLS connection: the record type of a handshake. No HTTP request begins with it.
const handshakeByte = 0x16

// Bounds of the answer to plain HTTP. What a client still sends is read for a moment, since closing at once could take the answer away from it.
const (
	plainWrite  = 2 * time.Second
	plainLinger = 500 * time.Millisecond
	plainRest   = 256 << 10
)

// errPlain ends the connection of a client that does not speak TLS.
var errPlain = errors.New("plain HTTP was answered with 401")

// plainListener tells TLS from plain HTTP by the first byte. A connection that speaks plain HTTP gets one 401 and is closed (specification,
// Authentication 2 and 6); whatever it sent, its key among it, is dropped. The work is done where the connection is first read, so Accept never waits,
// and under the deadlines that the server has set by then.
type plainListener struct {
	net.Listener
	clock   func() time.Time
	refused func(took time.Duration) // is told of each answer
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
	c.answer(io.MultiReader(bytes.NewReader(bytes.Clone(b[:n])), c.Conn))
	c.l.refused(c.l.clock().Sub(begun))
	return 0, errPlain
}

// answer reads the header of a request, writes the 401 and ends the connection.
func (c *firstByte) answer(from io.Reader) {
	head := bufio.NewReader(io.LimitReader(from, maxHeader))
	path, body := "/", true
	if r, err := http.ReadRequest(head); err == nil {
		path, body = r.URL.Path, r.Method != http.MethodHead
	}
	now := time.Now() // deadlines are the system's
	if c.SetWriteDeadline(now.Add(plainWrite)) != nil {
		return
	}
	if _, err := c.Write(c.l.unauthorized(path, body)); err != nil {
		return
	}
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil && c.SetReadDeadline(now.Add(plainLinger)) == nil {
		_, _ = io.CopyN(io.Discard, from, plainRest) // whatever ends it, the connection is closed next
	}
}

// maxPath is how much of a foreign path an answer repeats.
const maxPath = 200

// unauthorized is the whole answer.
func (l plainListener) unauthorized(path string, withBody bool) []byte {
	e := api.NewError(api.ErrUnauthorized, "All calls must use HTTPS")
	e.Timestamp, e.Path = l.clock().UTC().Format("2006-01-02T15:04:05.000Z"), text.Clean(path, maxPath)
	doc, err := api.Encode(e)
	if err != nil {
		return []byte("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
	out := fmt.Appendf(nil, "HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"+
		"X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n", len(doc.Raw()))
	if withBody {
		out = append(out, doc.Raw()...)
	}
	return out
}
