package service_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/service"
)

// send makes a request over TLS and returns its answer with the body read.
func (s served) send(t testing.TB, method, path, key, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r := request(t, context.Background(), method, s.BaseURL+path, body)
	r.Header.Set("x-api-key", key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := s.over.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, raw
}

// refusalIn reads name and status of an error body.
func refusalIn(t testing.TB, raw []byte) (name string, status int) {
	t.Helper()
	var e api.Error
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return e.Name, e.StatusCode
}

// What is too large, too deep or ambiguous is refused with the documented body, over the wire.
func TestBoundsOfARequestHoldOverTLS(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	const path = "/v3/quote/prepare-call-quote"
	limits := api.DefaultLimits()
	for name, c := range map[string]struct {
		body   string
		header []string
		want   string
		status int
	}{
		"body over the limit": {`{"x":"` + strings.Repeat("x", limits.Bytes) + `"}`, nil, api.ErrValidation, 400},
		"too deep": {strings.Repeat(`{"a":`, limits.Depth+1) + "1" + strings.Repeat("}", limits.Depth+1),
			nil, api.ErrValidation, 400},
		"a name twice":         {`{"accounts":[],"accounts":[]}`, nil, api.ErrValidation, 400},
		"names alike":          {`{"accounts":[],"Accounts":[]}`, nil, api.ErrValidation, 400},
		"two documents":        {`{} {}`, nil, api.ErrValidation, 400},
		"no json":              {`accounts=1`, nil, api.ErrValidation, 400},
		"another content type": {`{}`, []string{"Content-Type", "text/plain"}, api.ErrMediaType, 415},
		"compressed":           {`{}`, []string{"Content-Encoding", "gzip"}, api.ErrMediaType, 415},
	} {
		res, raw := s.send(t, http.MethodPost, path, key, c.body, c.header...)
		if got, status := refusalIn(t, raw); res.StatusCode != c.status || status != c.status || got != c.want {
			t.Errorf("%s: %d %s", name, res.StatusCode, raw)
		}
	}
}

func TestAHeaderOverTheBoundIsRefused(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	for _, proto := range []string{"h2", "http/1.1"} {
		tr := s.over.Clone()
		tr.TLSClientConfig.NextProtos, tr.ForceAttemptHTTP2 = []string{proto}, proto == "h2"
		t.Cleanup(tr.CloseIdleConnections)
		r := request(t, context.Background(), http.MethodGet, s.BaseURL+"/assets/list", "")
		r.Header.Set("x-api-key", key)
		r.Header.Set("X-Large", strings.Repeat("x", 200<<10))
		if res, err := tr.RoundTrip(r); err == nil {
			if res.Body.Close(); res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
				t.Errorf("%s: %d", proto, res.StatusCode)
			}
		}
	}
}

// HTTP/2 is offered, and the first thing that the service says bounds what one connection may do at once.
func TestHTTP2BoundsTheStreamsOfAConnection(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	secure := s.over.TLSClientConfig.Clone()
	secure.ServerName, secure.NextProtos = "127.0.0.1", []string{"h2"}
	c := tls.Client(dial(t, s), secure)
	if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
		t.Fatal(err)
	}
	if got := c.ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Fatalf("negotiated %q", got)
	}
	var head [9]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[3] != 4 {
		t.Fatalf("%v: frame of type %d, expected the settings", err, head[3])
	}
	payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(c, payload); err != nil {
		t.Fatal(err)
	}
	settings := map[uint16]uint32{}
	for ; len(payload) >= 6; payload = payload[6:] {
		settings[binary.BigEndian.Uint16(payload)] = binary.BigEndian.Uint32(payload[2:])
	}
	if settings[3] != 100 || settings[6] == 0 || settings[6] > 128<<10 {
		t.Errorf("settings %v: 100 streams and a bounded header list were expected", settings)
	}
}
