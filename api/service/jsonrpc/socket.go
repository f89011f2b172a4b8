package jsonrpc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socket is a WebSocket connection. There is no queue behind it: what is sent waits for the reader, and a reader that
// takes longer than Limits.Write for one message loses its connection.
type socket struct {
	*websocket.Conn
	server *Server
	ctx    context.Context
	close  context.CancelFunc
	work   sync.WaitGroup // calls and subscriptions

	writing sync.Mutex

	mu   sync.Mutex
	subs map[string]context.CancelFunc
	next uint64
}

// socket serves a WebSocket connection until it ends.
func (s *Server) socket(w http.ResponseWriter, r *http.Request, m Methods) {
	if !s.place() {
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	up := websocket.Upgrader{
		ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10, WriteBufferPool: &buffers,
		CheckOrigin: func(*http.Request) bool { return true }, // admitted has checked it
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	c := &socket{Conn: conn, server: s, subs: map[string]context.CancelFunc{}}
	c.ctx, c.close = context.WithCancel(s.life)
	stop := context.AfterFunc(c.ctx, func() { _ = conn.Close() })
	c.serve(m)
	c.close()
	stop()
	_ = conn.Close()
	c.work.Wait()
}

// buffers are those of connections that write nothing at the moment.
var buffers sync.Pool

// place takes the place of a connection; false when there is none.
func (s *Server) place() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sockets >= s.Limits.Sockets {
		return false
	}
	s.sockets++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets--
}

// serve reads messages and has each carried out. While as many as may are under way it reads no more.
func (c *socket) serve(m Methods) {
	l := c.server.Limits
	c.SetReadLimit(int64(l.Body))
	alive := func(string) error { return c.SetReadDeadline(time.Now().Add(2 * l.Ping)) }
	c.SetPongHandler(alive)
	c.work.Go(func() { c.ping(l) })
	places := make(chan struct{}, l.Calls)
	for {
		if alive("") != nil {
			return
		}
		_, message, err := c.NextReader()
		if err != nil {
			return
		}
		begun := &beginnings{socket: c}
		q := &request{Server: c.server, methods: m, subscriber: begun}
		body, err := q.read(c.ctx, message)
		if err != nil {
			q.release()
			return
		}
		places <- struct{}{}
		c.work.Go(func() {
			defer func() { <-places }()
			defer q.release()
			out := q.answer(c.ctx, body)
			if out != nil && c.write(c.ctx, out) != nil {
				c.close()
			}
			begun.run()
		})
	}
}

// ping asks now and then whether the other side is there.
func (c *socket) ping(l Limits) {
	tick := time.NewTicker(l.Ping)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case now := <-tick.C:
			if c.WriteControl(websocket.PingMessage, nil, now.Add(l.Write)) != nil {
				c.close()
				return
			}
		}
	}
}

// write sends one message, unless ctx has ended by its turn.
func (c *socket) write(ctx context.Context, out []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := c.SetWriteDeadline(time.Now().Add(c.server.Limits.Write)); err != nil {
		return err
	}
	return c.WriteMessage(websocket.TextMessage, out)
}

// beginnings are the subscriptions that one request asks for. They run once it is answered.
type beginnings struct {
	*socket
	mu  sync.Mutex
	all []func()
}

func (b *beginnings) run() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, begin := range b.all {
		b.work.Go(begin)
	}
	b.all = nil
}

// Subscribe implements Subscriber.
func (b *beginnings) Subscribe(s Subscription) (any, error) {
	c := b.socket
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := c.server.Limits.Subscriptions; len(c.subs) >= most {
		return nil, Errorf(CodeServer, "too many subscriptions on one connection, at most %d", most)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	var id any
	if s.Numeric {
		c.next++
		id = c.next
	} else {
		var random [16]byte
		_, _ = rand.Read(random[:]) // it never fails
		id = "0x" + strings.TrimLeft(hex.EncodeToString(random[:]), "0")
	}
	raw, err := json.Marshal(id)
	if err != nil {
		cancel()
		return nil, err
	}
	c.subs[string(raw)] = cancel
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, func() {
		defer c.Unsubscribe(raw)
		defer func() {
			if p := recover(); p != nil {
				c.server.Log.Error("a subscription of an endpoint panicked", "method", s.Method)
				c.close()
			}
		}()
		s.Run(ctx, func(result any) error { return c.push(ctx, s, raw, result) })
	})
	return id, nil
}

// push sends one result of a subscription.
func (c *socket) push(ctx context.Context, s Subscription, id json.RawMessage, result any) error {
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	name := strconv.Quote(s.Method)
	out := make([]byte, 0, len(raw)+len(id)+len(name)+64)
	out = append(append(out, `{"jsonrpc":"2.0","method":`...), name...)
	if s.Numeric {
		out = append(append(append(append(out, `,"params":{"result":`...), raw...), `,"subscription":`...), id...)
	} else {
		out = append(append(append(append(out, `,"params":{"subscription":`...), id...), `,"result":`...), raw...)
	}
	if err = c.write(ctx, append(out, "}}"...)); err != nil && ctx.Err() == nil {
		c.close() // it reads too slowly, or is gone
	}
	return err
}

// Unsubscribe implements Subscriber.
func (c *socket) Unsubscribe(id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel, found := c.subs[string(id)]
	if found {
		cancel()
		delete(c.subs, string(id))
	}
	return found
}
