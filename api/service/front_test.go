package service_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/forward"
	"coffer/api/service/store/storetest"
)

// replica is the port of one process of several.
type replica struct {
	*service.Front
	t    *testing.T
	stop func()
}

// replicas opens the ports of processes that trust one authority.
func replicas(t *testing.T, n int, change func(*service.FrontOptions)) (all []replica) {
	t.Helper()
	first := ""
	for range n {
		dir := t.TempDir()
		for _, name := range []string{"ca.pem", "ca-key.pem"} {
			if first == "" {
				break
			}
			raw, err := os.ReadFile(filepath.Join(first, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), raw, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		o := service.FrontOptions{ServeOptions: service.ServeOptions{Listen: "127.0.0.1:0", Dir: dir}, BasePath: "/api",
			Hold: 10 * time.Second, RPC: service.NodesOptions{Listen: "127.0.0.1:0"},
			Log: slog.New(slog.DiscardHandler)}
		if change != nil {
			change(&o)
		}
		ctx, cancel := context.WithCancel(context.Background())
		f, err := service.OpenFront(ctx, o)
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		r := replica{f, t, func() {
			cancel()
			if err := f.Wait(); err != nil {
				t.Error(err)
			}
		}}
		t.Cleanup(r.stop)
		if first == "" {
			if err := f.Keep(); err != nil {
				t.Fatal(err)
			}
			first = dir
		}
		all = append(all, r)
	}
	return all
}

// serves lets a new service answer at a port, with endpoints.
func (r replica) serves() *service.Service {
	r.t.Helper()
	o := options(storetest.New(r.t))
	o.Clock = time.Now
	s := open(r.t, o)
	n, err := s.ServeNodes(r.t.Context(), service.NodesOptions{Listen: "127.0.0.1:0", Front: r.Front})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = n.Close() })
	if _, err := r.Serve(s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// leads says to a port who serves.
func (r replica) leads(to replica) { r.Lead(forward.Process{Address: to.Address, Name: to.Address}) }

// asks sends a request with the key, and returns the answer without its body.
func (r replica) asks(path string, head ...string) (*http.Response, string) {
	r.t.Helper()
	req := request(r.t, r.t.Context(), http.MethodGet, strings.TrimSuffix(r.BaseURL, "/api")+path, "")
	req.Header.Set("X-Api-Key", key)
	for i := 0; i < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := trusting(r.t, filepath.Join(filepath.Dir(r.CAFile), "ca.pem")).RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		r.t.Fatal(err)
	}
	return res, string(body)
}

const list = "/api/chains/supported-list"

// TestEveryProcessAnswersAsTheOneThatServes, and its health is that of the other one as it is reached from here.
func TestEveryProcessAnswersAsTheOneThatServes(t *testing.T) {
	all := replicas(t, 3, nil)
	all[0].serves()
	_, want := all[0].asks(list)
	for _, r := range all[1:] {
		if res, _ := r.asks("/healthz"); res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("before it knows who serves: %d", res.StatusCode)
		}
		r.leads(all[0])
		if res, got := r.asks(list); res.StatusCode != http.StatusOK || got != want {
			t.Errorf("%d %s", res.StatusCode, got)
		}
		if res, _ := r.asks(list, "X-Api-Key", "wrong"); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("with a wrong key: %d", res.StatusCode)
		}
		if res, _ := r.asks("/healthz"); res.StatusCode != http.StatusOK || r.To() != all[0].Address {
			t.Errorf("%d, to %q", res.StatusCode, r.To())
		}
	}
	all[0].stop()
	if res, _ := all[1].asks("/healthz"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("while no process serves: %d", res.StatusCode)
	}
}

// TestNothingIsForwardedTwice: processes that wait, each of which takes another for the one that serves, answer 503
// after the time that a request may wait, with the word to come again.
func TestNothingIsForwardedTwice(t *testing.T) {
	all := replicas(t, 2, func(o *service.FrontOptions) { o.Hold = 100 * time.Millisecond })
	all[0].leads(all[1])
	all[1].leads(all[0])
	for _, r := range all {
		if res, body := r.asks(list); res.StatusCode != http.StatusServiceUnavailable ||
			res.Header.Get("Retry-After") == "" || !strings.Contains(body, "ServiceUnavailable") {
			t.Errorf("%d %s", res.StatusCode, body)
		}
		for _, carries := range []string{forward.API, forward.RPC} {
			w := httptest.NewRecorder()
			handed := request(t, t.Context(), http.MethodPost, "https://x"+list, "{}")
			handed.TLS = &tls.ConnectionState{NegotiatedProtocol: carries}
			r.ServeHTTP(w, handed)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
				t.Errorf("what was handed over as %s: %d", carries, w.Code)
			}
		}
	}
}

// TestAClientCannotAppearAsAProcess: neither by headers, which change nothing, nor in the handshake.
func TestAClientCannotAppearAsAProcess(t *testing.T) {
	all := replicas(t, 2, nil)
	all[0].serves()
	all[1].leads(all[0])
	forged := []string{"X-Forwarded-For", "127.0.0.1", "X-Real-Ip", "127.0.0.1", "Forwarded", "for=127.0.0.1",
		"X-Api-Key", "", "X-Forwarded-Proto", "https"}
	for _, r := range all {
		if res, _ := r.asks(list, forged...); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("with headers: %d", res.StatusCode)
		}
	}
	stranger := replicas(t, 1, nil)[0] // of another authority
	stranger.leads(all[0])
	if res, _ := stranger.asks("/healthz"); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("of another authority: %d", res.StatusCode)
	}
	c := trusting(t, all[0].CAFile).TLSClientConfig
	c.NextProtos, c.ServerName = []string{forward.RPC}, "127.0.0.1"
	conn, err := tls.Dial("tcp", all[0].Addr.String(), c)
	if err == nil { // the server's word on a missing certificate comes with the first answer
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_, err = conn.Read(make([]byte, 1))
	}
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
}

// TestTakingOverLosesNoRequest: while one process ends and the next one begins to serve, every request at the ports of
// the others is answered, and no connection is refused.
func TestTakingOverLosesNoRequest(t *testing.T) {
	all := replicas(t, 3, nil)
	all[0].serves()
	for _, r := range all[1:] {
		r.leads(all[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int64
	failed := make(chan string, 64)
	done := make(chan struct{})
	for i := range 8 {
		r := all[1+i%2]
		fresh := trusting(t, all[0].CAFile)
		fresh.DisableKeepAlives = i < 4 // half of them make a connection for each request
		go func() {
			defer func() { done <- struct{}{} }()
			for ctx.Err() == nil {
				req := request(t, context.Background(), http.MethodGet, r.BaseURL+"/chains/supported-list", "")
				req.Header.Set("X-Api-Key", key)
				res, err := fresh.RoundTrip(req)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				if asked.Add(1); err != nil || res.StatusCode != http.StatusOK {
					failed <- errors.Join(err, errors.New("refused")).Error()
					return
				}
			}
		}()
	}
	more := func() {
		for until := asked.Load() + 50; asked.Load() < until && len(failed) == 0; {
			time.Sleep(time.Millisecond)
		}
	}
	more()
	all[0].stop()
	time.Sleep(100 * time.Millisecond) // nobody serves
	all[1].serves()
	all[2].leads(all[1])
	more()
	cancel()
	for range 8 {
		<-done
	}
	select {
	case why := <-failed:
		t.Errorf("after %d: %s", asked.Load(), why)
	default:
	}
}

// TestEndpointsOfChainsAreThoseOfTheProcessThatServes: over HTTP, and over WebSocket, whose subscriptions last as long
// as that process. The ports become those of this process when it serves.
func TestEndpointsOfChainsAreThoseOfTheProcessThatServes(t *testing.T) {
	all := replicas(t, 2, nil)
	all[0].serves()
	all[1].leads(all[0])
	const want = `{"jsonrpc":"2.0","id":1,"result":"0xa"}`
	for _, r := range all {
		if got := rpc(t, r.RPC()+"/10", "eth_chainId"); got != want {
			t.Errorf("%s: %s", r.RPC(), got)
		}
		if got := rpcOver(t, strings.Replace(r.RPC(), "http", "ws", 1)+"/10", "eth_chainId"); got != want {
			t.Errorf("%s: %s", r.RPC(), got)
		}
	}
	evil := request(t, t.Context(), http.MethodPost, all[1].RPC()+"/10", "{}")
	evil.Host = "evil.example"
	res, err := http.DefaultTransport.RoundTrip(evil)
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.StatusCode != http.StatusForbidden {
		t.Errorf("under the name of a page: %d", res.StatusCode)
	}

	c, up, err := websocket.DefaultDialer.Dial(strings.Replace(all[1].RPC(), "http", "ws", 1)+"/solana", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = up.Body.Close()
	const ask = `{"jsonrpc":"2.0","id":7,"method":"slotSubscribe","params":[]}`
	if err := c.WriteMessage(websocket.TextMessage, []byte(ask)); err != nil {
		t.Fatal(err)
	}
	var begun struct {
		Result *int `json:"result"`
	}
	if _, raw, err := c.ReadMessage(); err != nil || json.Unmarshal(raw, &begun) != nil || begun.Result == nil {
		t.Fatalf("%s, %v", raw, err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				ended <- err
				return
			}
		}
	}()
	all[0].stop()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the subscription does not end with the process that served it")
	}
	all[1].serves()
	for range 2 {
		if got := rpc(t, all[1].RPC()+"/10", "eth_chainId"); got != want {
			t.Errorf("in its turn: %s", got)
		}
	}
}

// TestAnAddressOfEveryInterfaceIsAdvertised: the certificate is for that name, and so are the pages of the explorer.
func TestAnAddressOfEveryInterfaceIsAdvertised(t *testing.T) {
	all := replicas(t, 2, func(o *service.FrontOptions) {
		o.Listen, o.Advertise = "0.0.0.0:0", "https://process.test:1"
	})
	if got := all[0].Address; got != "https://process.test:1" {
		t.Error(got)
	}
	c := trusting(t, all[0].CAFile).TLSClientConfig
	c.ServerName = "process.test"
	conn, err := tls.Dial("tcp", "127.0.0.1:"+all[0].Addr.String()[strings.LastIndex(all[0].Addr.String(), ":")+1:], c)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if names := conn.ConnectionState().PeerCertificates[0].DNSNames; !slices.Contains(names, "process.test") {
		t.Errorf("%q", names)
	}
}

// TestAGoodKeyKeepsItsConnectionToAProcessThatForwards: silent connections, however many, do not take its place.
func TestAGoodKeyKeepsItsConnectionToAProcessThatForwards(t *testing.T) {
	all := replicas(t, 2, func(o *service.FrontOptions) { o.Connections = 4 })
	s := all[0].serves()
	all[1].leads(all[0])
	good, _, err := s.Keys().Add(t.Context(), access.KeySpec{Company: "a", Project: "b"})
	if err != nil {
		t.Fatal(err)
	}
	way, reused := trusting(t, all[0].CAFile), false
	ask := func() {
		req := request(t, httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused },
		}), http.MethodGet, all[1].BaseURL+"/chains/supported-list", "")
		req.Header.Set("X-Api-Key", good)
		res, err := way.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	ask()
	var silent []net.Conn
	for range 8 {
		c, err := net.Dial("tcp", all[1].Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	if _, err := silent[0].Read(make([]byte, 1)); err == nil { // it is silent for a shorter time than that of the key
		t.Fatal("nothing has made room")
	}
	if ask(); !reused {
		t.Error("the connection of the key has made room")
	}
}
