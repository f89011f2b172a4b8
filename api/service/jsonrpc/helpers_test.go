package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// methods are made up to show what the transport does with what methods do.
func methods() Methods {
	return Methods{
		"echo": func(_ context.Context, p Params) (any, error) { return p, nil },
		"none": func(context.Context, Params) (any, error) { return nil, nil },
		"panic": func(context.Context, Params) (any, error) {
			panic("a secret of the method")
		},
		"fail": func(context.Context, Params) (any, error) { return nil, errors.New("nonce too low") },
		"revert": func(context.Context, Params) (any, error) {
			return nil, &Error{Code: CodeReverted, Message: "execution reverted", Data: "0x"}
		},
		"sleep": func(ctx context.Context, _ Params) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		"large": func(_ context.Context, p Params) (any, error) {
			var n int
			if err := p.Read(0, &n); err != nil {
				return nil, err
			}
			return strings.Repeat("x", n), nil
		},
		"count": func(ctx context.Context, p Params) (any, error) { // n notifications, -1: without an end
			c, err := SubscriberOf(ctx)
			if err != nil {
				return nil, err
			}
			var n, size int
			if err := errors.Join(p.Read(0, &n), p.Optional(1, &size)); err != nil {
				return nil, err
			}
			return c.Subscribe(Subscription{Method: "eth_subscription", Numeric: p.Has(2),
				Run: func(ctx context.Context, push func(any) error) {
					for i := 0; i != n; i++ {
						if push([]any{i, strings.Repeat("x", size)}) != nil {
							return
						}
					}
					if size == 1 {
						<-ctx.Done()
					}
				}})
		},
		"stop": func(ctx context.Context, p Params) (any, error) {
			c, err := SubscriberOf(ctx)
			if err != nil || !p.Has(0) {
				return nil, err
			}
			return c.Unsubscribe(p[0]), nil
		},
	}
}

// begin serves made-up methods.
func begin(t testing.TB, o Options) (*Server, *httptest.Server) {
	t.Helper()
	s := NewServer(o)
	h := httptest.NewUnstartedServer(s.Endpoint(methods()))
	h.Listener = NewDirect(h.Listener, h.Config, s.Log)
	h.Start()
	t.Cleanup(func() { s.Close(); h.Close() })
	return s, h
}

// post sends a body and returns the status and what came.
func post(t testing.TB, h *httptest.Server, body string) (int, string) {
	t.Helper()
	res, err := http.Post(h.URL, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// dial opens a WebSocket connection.
func dial(t testing.TB, h *httptest.Server) *websocket.Conn {
	t.Helper()
	c, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	return c
}

// ask sends a message over a WebSocket connection and returns the next one that comes.
func ask(t testing.TB, c *websocket.Conn, message string) string {
	t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(message)); err != nil {
		t.Fatal(err)
	}
	return next(t, c)
}

func next(t testing.TB, c *websocket.Conn) string {
	t.Helper()
	_, raw, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(raw) {
		t.Fatalf("not JSON: %s", raw)
	}
	return string(bytes.TrimSpace(raw))
}
