package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serveDirect serves a handler over Direct, with timeouts.
func serveDirect(t testing.TB, h http.Handler, log *slog.Logger) (address string, server *http.Server) {
	t.Helper()
	return serveOver(t, h, func(l net.Listener, s *http.Server) net.Listener { return NewDirect(l, s, log) })
}

func serveOver(t testing.TB, h http.Handler, over func(net.Listener, *http.Server) net.Listener) (address string,
	server *http.Server) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = &http.Server{Handler: h, ReadHeaderTimeout: time.Second, ReadTimeout: 300 * time.Millisecond,
		WriteTimeout: 10 * time.Second, IdleTimeout: 200 * time.Millisecond,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelWarn)}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(over(l, server)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String(), server
}

// talk sends pieces, each in a packet of its own, and returns what is answered to them: at most so many answers.
func talk(t testing.TB, address string, answers int, pieces ...string) (all []string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for i, p := range pieces {
		if i > 0 {
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := io.WriteString(c, p); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
	in := bufio.NewReader(c)
	for len(all) < answers {
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(all, "no answer")
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		r.Header.Del("Date")
		all = append(all, fmt.Sprint(r.StatusCode, r.Header, r.TransferEncoding, string(body), err))
	}
	return all
}

func TestWhatIsAnsweredDirectlyIsAnsweredAsNetHTTPDoes(t *testing.T) {
	s := NewServer(Options{CORS: []string{"http://known"}, Limits: Limits{Body: 70_000}})
	defer s.Close()
	plain, _ := serveOver(t, s.Endpoint(methods()), func(l net.Listener, _ *http.Server) net.Listener { return l })
	direct, _ := serveDirect(t, s.Endpoint(methods()), s.Log)
	const call = `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`
	head := func(lines ...string) string {
		return "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
			strings.Join(append(lines, "\r\n"), "\r\n")
	}
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }
	whole := head(length(call)) + call
	big := `{"jsonrpc":"2.0","id":1,"method":"echo","params":["` + strings.Repeat("x", 40_000) + `"]}`
	for name, c := range map[string]struct {
		answers int
		pieces  []string
	}{
		"a call":                     {1, []string{whole}},
		"the same again":             {2, []string{whole, whole}},
		"with another length":        {2, []string{whole, head(length(call+" ")) + call + " "}},
		"keep-alive":                 {1, []string{head(length(call), "connection: Keep-Alive") + call}},
		"a body of its own packet":   {1, []string{head(length(call)), call}},
		"a header in two packets":    {2, []string{whole[:40], whole[40:], whole}},
		"two at once":                {2, []string{whole + whole}},
		"one and a half":             {2, []string{whole + whole[:50], whole[50:]}},
		"a large body":               {2, []string{head(length(big)) + big[:20_000], big[20_000:], whole}},
		"a large answer, compressed": {1, []string{head(length(big), "Accept-Encoding: gzip") + big}},
		"a notification": {2, []string{head("Content-Length: 33") + `{"jsonrpc":"2.0","method":"echo"}`,
			whole}},
		"GET between": {3, []string{whole, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", whole}},
		"OPTIONS": {1, []string{"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://known" +
			"\r\n\r\n"}},
		"a known origin":        {1, []string{head(length(call), "Origin: http://known") + call}},
		"another origin":        {2, []string{head(length(call), "Origin: http://other") + call, whole}},
		"another host":          {2, []string{strings.Replace(whole, "localhost", "example.com", 1), whole}},
		"no host":               {1, []string{strings.Replace(whole, "Host: localhost\r\n", "", 1)}},
		"two hosts":             {1, []string{strings.Replace(whole, "Host: ", "Host: a\r\nHost: ", 1)}},
		"another type":          {2, []string{strings.Replace(whole, "application/json", "text/plain", 1), whole}},
		"a type with a charset": {1, []string{strings.Replace(whole, "/json", "/json; charset=utf-8", 1)}},
		"HTTP/1.0":              {1, []string{strings.Replace(whole, "HTTP/1.1", "HTTP/1.0", 1)}},
		"no version":            {1, []string{strings.Replace(whole, "HTTP/1.1", "HTTX", 1)}},
		"HTTP/2.1":              {1, []string{strings.Replace(whole, "HTTP/1.1", "HTTP/2.1", 1)}},
		"close":                 {2, []string{head(length(call), "Connection: close") + call}},
		"keep-alive and close": {2, []string{head(length(call), "Connection: keep-alive", "Connection: close") +
			call, whole}},
		"chunked": {2, []string{head("Transfer-Encoding: chunked") + "35\r\n" + call + "\r\n0\r\n\r\n",
			whole}},
		"chunked with a length":    {1, []string{head("Transfer-Encoding: chunked", length(call)) + call}},
		"two lengths":              {1, []string{head(length(call), "Content-Length: 3") + call}},
		"the same length twice":    {1, []string{head(length(call), length(call)) + call}},
		"no length":                {1, []string{head()}},
		"a length of nothing":      {1, []string{head("Content-Length: 0")}},
		"a length below zero":      {1, []string{head("Content-Length: -1") + call}},
		"a body that is too large": {1, []string{head("Content-Length: 70001") + "{"}},
		"100-continue":             {1, []string{head(length(call), "Expect: 100-continue") + call}},
		"another expectation":      {1, []string{head(length(call), "Expect: more") + call}},
		"lines that end in LF":     {1, []string{strings.ReplaceAll(whole, "\r\n", "\n")}},
		"one line that ends in LF": {1, []string{strings.Replace(whole, "localhost\r\n", "localhost\n", 1)}},
		"a folded line":            {1, []string{head(length(call), "X: a", " b") + call}},
		"a blank before the colon": {1, []string{head(length(call), "X : a") + call}},
		"no name before the colon": {1, []string{head(length(call), ": a") + call}},
		"a line without a colon":   {1, []string{head(length(call), "X") + call}},
		"a host that is none":      {1, []string{strings.Replace(whole, "localhost", "local host", 1)}},
		"an empty value":           {1, []string{head(length(call), "X:") + call}},
		"a byte that is no text":   {1, []string{head(length(call), "X: \x00") + call}},
		"an absolute address":      {1, []string{strings.Replace(whole, "POST /", "POST http://localhost/", 1)}},
		"no JSON":                  {2, []string{head("Content-Length: 1") + "x", whole}},
	} {
		t.Run(name, func(t *testing.T) {
			want := talk(t, plain, c.answers, c.pieces...)
			if got := talk(t, direct, c.answers, c.pieces...); !reflect.DeepEqual(got, want) {
				t.Errorf("directly %q, by net/http %q", got, want)
			}
		})
	}
}

func TestACallThatTakesLongEndsWithItsCaller(t *testing.T) {
	ended := make(chan struct{})
	address, _ := serveDirect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(ended)
	}), slog.New(slog.DiscardHandler))
	if got := talk(t, address, 0, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"); len(got) > 0 {
		t.Error(got)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("it goes on")
	}
}

// Its caller may go long after the time for reading has passed.
func TestAVeryLongCallEndsWithItsCaller(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	address, server := serveDirect(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(begun)
		<-r.Context().Done()
		close(ended)
	}), slog.New(slog.DiscardHandler))
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	<-begun
	select {
	case <-ended:
		t.Error("it ended before its caller")
	case <-time.After(server.ReadHeaderTimeout + 200*time.Millisecond):
	}
	_ = c.Close()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("it goes on")
	}
}

// A server that answers before it read everything ends its half of the connection with the answer.
func TestAnAnswerToAPartOfARequestIsItsEnd(t *testing.T) {
	s := NewServer(Options{Limits: Limits{Body: 100}})
	defer s.Close()
	address, _ := serveDirect(t, s.Endpoint(methods()), s.Log)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: 300000\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(250 * time.Millisecond)) // net/http closes it after 500
	if raw, err := io.ReadAll(c); err != nil || !bytes.HasPrefix(raw, []byte("HTTP/1.1 413")) {
		t.Errorf("%q, %v", raw, err)
	}
}

// What is given to the server is counted by it from then on, and no more as one of the connections before.
func TestAConnectionIsGivenAwayBeforeTheServerCountsIt(t *testing.T) {
	var closed atomic.Bool
	early := make(chan bool, 1)
	address, _ := serveOver(t, http.NotFoundHandler(), func(l net.Listener, s *http.Server) net.Listener {
		s.ConnState = func(c net.Conn, now http.ConnState) {
			_, given := c.(*begun)
			switch {
			case !given && now == http.StateClosed:
				time.Sleep(50 * time.Millisecond)
				closed.Store(true)
			case given && now == http.StateActive:
				early <- !closed.Load()
			}
		}
		return NewDirect(l, s, slog.New(slog.DiscardHandler))
	})
	talk(t, address, 1, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if <-early {
		t.Error("the server has it while it still counts as one of before")
	}
}

func TestNothingIsLostThatComesDuringALongCall(t *testing.T) {
	var calls atomic.Int32
	address, _ := serveOver(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if calls.Add(1) == 1 {
			time.Sleep(3 * directWait)
		}
		_, _ = w.Write(raw)
	}), func(l net.Listener, s *http.Server) net.Listener {
		s.ReadHeaderTimeout, s.ReadTimeout, s.IdleTimeout = 0, 0, 0 // it sets no deadline of its own
		return NewDirect(l, s, slog.New(slog.DiscardHandler))
	})
	one := func(body string) string {
		return fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for i, body := range []string{"first", "second", "third"} {
		if _, err := io.WriteString(c, one(body)); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			time.Sleep(2 * directWait)
		} else {
			r, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if raw, err := io.ReadAll(r.Body); string(raw) != []string{"", "first", "second"}[i] || err != nil {
				t.Errorf("%q, %v", raw, err)
			}
		}
	}
}

func TestADirectConnectionHasItsTimes(t *testing.T) {
	s := NewServer(Options{})
	defer s.Close()
	address, _ := serveDirect(t, s.Endpoint(methods()), s.Log)
	const call = `{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`
	head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", len(call))
	for name, sent := range map[string]string{"nothing": "", "half a header": head[:40], "half a body": head + call[:9],
		"a whole call": head + call} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Errorf("it is not closed: %v", err)
			}
		})
	}
}

func TestAClosedServerClosesItsDirectConnections(t *testing.T) {
	s := NewServer(Options{})
	defer s.Close()
	address, server := serveDirect(t, s.Endpoint(methods()), s.Log)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	time.Sleep(20 * time.Millisecond)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("it is open: %v", err)
	}
}

func TestAPanicOfAHandlerEndsItsConnectionAlone(t *testing.T) {
	var log bytes.Buffer
	address, _ := serveDirect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("a secret")
		}
	}), slog.New(slog.NewTextHandler(&log, nil)))
	const rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
	if got := talk(t, address, 1, "POST /panic"+rest); got[0] != "no answer" {
		t.Error(got)
	}
	if got := talk(t, address, 1, "POST /"+rest); !strings.HasPrefix(got[0], "200") {
		t.Error(got)
	}
	if out := log.String(); !strings.Contains(out, "panicked") || strings.Contains(out, "a secret") {
		t.Error(out)
	}
}

// What readSimple reads is what encoding/json reads.
func FuzzAMessageIsReadAsEncodingJSONReadsIt(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x","a":[1,{"b":"]}\\""}]},"latest"]}`,
		` { "id" : "a" , "method":"m", "params" : [ ] , "jsonrpc":"2.0" } `,
		`{"jsonrpc":"2.0","id":null,"method":"m","params":null}`,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":[1 ,2]}`,
		`{"jsonrpc":"2.0","ID":1,"method":"\u0065","params":{"a":1}}`,
		`{"jsonrpc":"2.0","id":-1e5,"method":"m","params":["\\","]",true,null,-0.5]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		if got, simple := readSimple(raw); simple {
			var want message
			if err := json.Unmarshal(raw, &want); err != nil || got.Version != want.Version ||
				got.Method != want.Method || !bytes.Equal(got.ID, want.ID) || !bytes.Equal(got.Params, want.Params) {
				t.Errorf("%q is read as %q, by encoding/json as %q, %v", raw, got, want, err)
			}
		}
		if got, array := (&scanner{raw, 0}).array(); array {
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil || len(got) != len(want) {
				t.Fatalf("%q has %q, by encoding/json %q, %v", raw, got, want, err)
			}
			for i := range got {
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("%q has %q, by encoding/json %q", raw, got[i], want[i])
				}
			}
		}
	})
}

// What is answered directly is one request for net/http too.
func FuzzADirectRequestIsOne(f *testing.F) {
	f.Add([]byte("POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\nX:\r\n y\r\n\r\n{"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &direct{in: raw, from: new(bytes.Reader), ctx: t.Context(), Conn: nowhere{}}
		c.head = bufio.NewReader(c.from)
		size := c.parse()
		if size == 0 {
			return
		}
		all := bufio.NewReader(bytes.NewReader(append(bytes.Clone(raw), make([]byte, max(0, size-len(raw)))...)))
		r, err := http.ReadRequest(all)
		if err != nil || r.Method != http.MethodPost || r.Host != c.request.Host ||
			!reflect.DeepEqual(r.Header, c.request.Header) || r.URL.String() != c.request.URL.String() {
			t.Fatalf("%q is %+v, %v", raw, r, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != c.request.ContentLength || all.Buffered() > 0 ||
			!bytes.HasPrefix(raw, []byte("POST /")) {
			t.Errorf("%q: a body of %d bytes, %d left, %v", raw, len(body), all.Buffered(), err)
		}
	})
}

// nowhere is a connection without another end.
type nowhere struct{ net.Conn }

func (nowhere) RemoteAddr() net.Addr { return &net.TCPAddr{} }
