package forward

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// authority signs certificates of processes.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	a.cert = a.sign(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign},
		&key.PublicKey)
	return a
}

func (a *authority) sign(t *testing.T, c *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	t.Helper()
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: "test"}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent := c
	if a.cert != nil {
		parent = a.cert
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key, a.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (a *authority) certificate(t *testing.T, use x509.ExtKeyUsage) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := a.sign(t, &x509.Certificate{KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// plain hides from net/http that a connection has TLS, and what was agreed on.
type plain struct {
	net.Listener
	config *tls.Config
}

func (l plain) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{tls.Server(c, l.config)}, nil
}

// process is one that serves, at an address that stays its own when it is away.
type process struct {
	Process
	config *tls.Config
	mu     sync.Mutex
	server *http.Server
}

func newProcess(t *testing.T, a *authority, h http.Handler) *process {
	t.Helper()
	p := &process{config: &tls.Config{Certificates: []tls.Certificate{a.certificate(t, x509.ExtKeyUsageServerAuth)},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(), NextProtos: []string{API}}}
	p.begin(t, "127.0.0.1:0", h)
	t.Cleanup(p.kill)
	return p
}

func (p *process) begin(t *testing.T, at string, h http.Handler) {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Address = "https://" + l.Addr().String()
	server := &http.Server{Handler: h}
	p.server = server
	go func() { _ = server.Serve(plain{l, p.config}) }()
}

// kill cuts every connection and closes the port.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.server.Close()
}

func newForwarder(t *testing.T, a *authority, change func(*Options)) *Forwarder {
	t.Helper()
	o := Options{Carries: API, Hold: 300 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		TLS: &tls.Config{RootCAs: a.pool(), Certificates: []tls.Certificate{a.certificate(t,
			x509.ExtKeyUsageClientAuth)}},
		Refused: func(w http.ResponseWriter, _ *http.Request, why error) int {
			status := http.StatusServiceUnavailable
			if errors.Is(why, ErrBroken) {
				status = http.StatusBadGateway
			}
			http.Error(w, why.Error(), status)
			return status
		}}
	if change != nil {
		change(&o)
	}
	f := New(o)
	t.Cleanup(func() { f.Close(0) })
	return f
}

// port serves a forwarder; here answers what it hands back.
func port(t *testing.T, f *Forwarder, here http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.Forward(w, r) {
			here(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func ask(t *testing.T, method, url, body string, head ...string) (status int, text string) {
	t.Helper()
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, from)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(head); i += 2 {
		r.Header.Set(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// TestARequestGoesThroughAsItIs: its key, its host, its query and its body reach the other side, and nothing that a
// client says of where it comes from.
func TestARequestGoesThroughAsItIs(t *testing.T) {
	a := newAuthority(t)
	var got http.Header
	p := newProcess(t, a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Request-Id", "its own")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, r.Host+" "+r.RequestURI+" "+string(body))
	}))
	f := newForwarder(t, a, nil)
	f.To(p.Process)
	url := port(t, f, nil)
	status, text := ask(t, "POST", url+"/a%2Fb?x=1;2&y=%zz", "what is asked", "X-Api-Key", "k",
		"X-Forwarded-For", "9.9.9.9", "Forwarded", "for=9.9.9.9", "X-Forwarded-Host", "evil",
		"X-Forwarded-Proto", "http")
	if want := strings.TrimPrefix(url, "http://") + " /a%2Fb?x=1;2&y=%zz what is asked"; status != http.StatusTeapot ||
		text != want {
		t.Errorf("%d %q, expected %q", status, text, want)
	}
	if got.Get("X-Api-Key") != "k" {
		t.Error("the key is gone")
	}
	for name := range got {
		if strings.Contains(name, "Forwarded") {
			t.Errorf("%s: %q is believed", name, got.Get(name))
		}
	}
}

// TestARequestThatCouldNotBeSentWaits, is sent once when somebody serves, and is refused after the time that it may
// wait.
func TestARequestThatCouldNotBeSentWaits(t *testing.T) {
	a := newAuthority(t)
	var count atomic.Int64
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		_, _ = io.Copy(w, r.Body)
	})
	gone := newProcess(t, a, echo)
	gone.kill()
	f := newForwarder(t, a, func(o *Options) { o.Hold = 200 * time.Millisecond })
	url := port(t, f, nil)
	for _, to := range []Process{{}, gone.Process} {
		if to != (Process{}) {
			f.To(to)
		}
		if status, text := ask(t, "POST", url, "a"); status != http.StatusServiceUnavailable || count.Load() != 0 {
			t.Errorf("%+v: %d %q", to, status, text)
		}
	}
	f.o.Hold = time.Minute
	done := make(chan string)
	go func() {
		_, text := ask(t, "POST", url, "the body is still there")
		done <- text
	}()
	time.Sleep(50 * time.Millisecond)
	f.To(newProcess(t, a, echo).Process)
	if text := <-done; text != "the body is still there" || count.Load() != 1 {
		t.Errorf("%q after %d", text, count.Load())
	}
}

// TestAProcessThatComesBackIsFound without another word from the database.
func TestAProcessThatComesBackIsFound(t *testing.T) {
	a := newAuthority(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
	p := newProcess(t, a, h)
	f := newForwarder(t, a, func(o *Options) { o.Hold = time.Minute })
	f.To(p.Process)
	url := port(t, f, nil)
	p.kill()
	done := make(chan string)
	go func() {
		_, text := ask(t, "POST", url, "a")
		done <- text
	}()
	time.Sleep(50 * time.Millisecond)
	p.begin(t, strings.TrimPrefix(p.Address, "https://"), h)
	if text := <-done; text != "here" {
		t.Error(text)
	}
}

// TestARequestThatMayHaveArrivedIsNotSentAgain: its outcome is not known. One that only asks is sent again.
func TestARequestThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	a := newAuthority(t)
	for method, want := range map[string]struct {
		status int
		count  int64
	}{"POST": {http.StatusBadGateway, 1}, "PUT": {http.StatusBadGateway, 1}, "GET": {http.StatusOK, 2}} {
		var count atomic.Int64
		p := newProcess(t, a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if count.Add(1) == 1 {
				panic(http.ErrAbortHandler) // the connection breaks before an answer
			}
			_, _ = io.WriteString(w, "fine")
		}))
		f := newForwarder(t, a, func(o *Options) { o.Hold = time.Minute })
		f.To(p.Process)
		body := ""
		if method != "GET" {
			body = "x"
		}
		if status, text := ask(t, method, port(t, f, nil), body, "Idempotency-Key", "1"); status != want.status ||
			count.Load() != want.count {
			t.Errorf("%s: %d %q, %d times", method, status, text, count.Load())
		}
	}
}

// TestAnAnswerThatBreaksOffIsNotTakenForAWholeOne.
func TestAnAnswerThatBreaksOffIsNotTakenForAWholeOne(t *testing.T) {
	a := newAuthority(t)
	p := newProcess(t, a, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	f := newForwarder(t, a, nil)
	f.To(p.Process)
	res, err := http.Get(port(t, f, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("%q is whole", got)
	}
}

// TestBodiesAreStreamed: each side has the first part before the other has sent the last.
func TestBodiesAreStreamed(t *testing.T) {
	a := newAuthority(t)
	p := newProcess(t, a, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		in := bufio.NewReader(r.Body)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			_, _ = io.WriteString(w, "got "+line)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	f := newForwarder(t, a, nil)
	f.To(p.Process)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		f.Forward(w, r)
	}))
	t.Cleanup(s.Close)
	body, out := io.Pipe()
	answer := make(chan *http.Response, 1)
	go func() {
		res, err := http.Post(s.URL, "text/plain", body)
		if err != nil {
			t.Error(err)
		}
		answer <- res
	}()
	_, _ = io.WriteString(out, "one\n")
	res := <-answer
	if res == nil {
		return
	}
	defer res.Body.Close()
	back := bufio.NewReader(res.Body)
	for _, word := range []string{"one", "two", "three"} {
		if line, err := back.ReadString('\n'); line != "got "+word+"\n" || err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		_, _ = io.WriteString(out, map[string]string{"one": "two", "two": "three", "three": ""}[word]+"\n")
	}
	_ = out.Close()
}

// TestAsManyRequestsAreUnderWayAsMay: who has shown no good key leaves places for who has.
func TestAsManyRequestsAreUnderWayAsMay(t *testing.T) {
	a := newAuthority(t)
	arrived, go_ := make(chan struct{}, 8), make(chan struct{})
	p := newProcess(t, a, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-go_
	}))
	f := newForwarder(t, a, func(o *Options) {
		o.Proven = func(r *http.Request) bool { return r.Header.Get("X-Api-Key") != "" }
	})
	f.requests = newPlaces(3, 2)
	f.To(p.Process)
	url := port(t, f, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	send := func(key ...string) {
		all.Go(func() {
			status, _ := ask(t, "GET", url, "", key...)
			mu.Lock()
			defer mu.Unlock()
			counts[status]++
		})
	}
	for range 2 {
		send()
		<-arrived
	}
	if status, text := ask(t, "GET", url, ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(text, "too many") {
		t.Errorf("a third one without a key: %d %q", status, text)
	}
	send("X-Api-Key", "k")
	<-arrived
	if status, _ := ask(t, "GET", url, "", "X-Api-Key", "k"); status != http.StatusServiceUnavailable {
		t.Errorf("a fourth one: %d", status)
	}
	close(go_)
	all.Wait()
	if counts[http.StatusOK] != 3 {
		t.Errorf("%v", counts)
	}
	if status, _ := ask(t, "GET", url, ""); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}

// TestARequestThatWaitsIsHandedBackWhole when this process comes to serve.
func TestARequestThatWaitsIsHandedBackWhole(t *testing.T) {
	a := newAuthority(t)
	gone := newProcess(t, a, nil)
	gone.kill()
	f := newForwarder(t, a, func(o *Options) { o.Hold = time.Minute })
	f.To(gone.Process)
	url := port(t, f, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	done := make(chan string)
	go func() {
		_, text := ask(t, "POST", url, "all of it")
		done <- text
	}()
	time.Sleep(50 * time.Millisecond)
	f.Here()
	if text := <-done; text != "all of it" {
		t.Errorf("%q", text)
	}
	if _, text := ask(t, "POST", url, "later"); text != "later" {
		t.Errorf("%q", text)
	}
}

// TestOnlyProcessesOfOneAuthorityKnowEachOther, in both directions, and one without a certificate is nobody.
func TestOnlyProcessesOfOneAuthorityKnowEachOther(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	var count atomic.Int64
	p := newProcess(t, a, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { count.Add(1) }))
	shows := func(c tls.Certificate) func(*Options) {
		return func(o *Options) { o.TLS.Certificates = []tls.Certificate{c} }
	}
	for name, change := range map[string]func(*Options){
		"it trusts another one":    func(o *Options) { o.TLS.RootCAs = other.pool() },
		"it is of another one":     shows(other.certificate(t, x509.ExtKeyUsageClientAuth)),
		"it shows one of a server": shows(a.certificate(t, x509.ExtKeyUsageServerAuth)),
		"it shows none":            func(o *Options) { o.TLS.Certificates = nil },
		"it wants something else":  func(o *Options) { o.Carries = RPC },
	} {
		f := newForwarder(t, a, change)
		f.To(p.Process)
		if status, text := ask(t, "POST", port(t, f, nil), "x"); status < 500 || count.Load() != 0 {
			t.Errorf("%s: %d %q", name, status, text)
		}
	}
}

// TestWhatAnErrorOfALinkMeansIsSaid.
func TestWhatAnErrorOfALinkMeansIsSaid(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	p := newProcess(t, a, nil)
	named := strings.Replace(p.Address, "127.0.0.1", "localhost", 1)
	for want, change := range map[string]func(*Options, *Process){
		"copy ca.pem and ca-key.pem":  func(o *Options, _ *Process) { o.TLS.RootCAs = other.pool() },
		"--advertise of the process":  func(_ *Options, p *Process) { p.Address = named },
		"does not take requests":      func(o *Options, _ *Process) { o.Carries = RPC },
		"does not say where":          func(_ *Options, p *Process) { p.Address = "" },
		`"ftp://x" is no address`:     func(_ *Options, p *Process) { p.Address = "ftp://x" },
		"lookup no.such.host.invalid": func(_ *Options, p *Process) { p.Address = "https://no.such.host.invalid:1" },
		"connect: connection refused": func(_ *Options, p *Process) { p.Address = "https://127.0.0.1:1" },
	} {
		o, to := newForwarder(t, a, nil).o, p.Process
		change(&o, &to)
		l := newLink(o, to)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := l.dial(ctx, "", "")
		cancel()
		if err == nil || !errors.Is(err, errDial) || !strings.Contains(explain(err).Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		l.end(0)
	}
}
