package service_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/service"
	"coffer/api/service/store/storetest"
)

// serve starts a service on a free port and returns a transport that trusts its authority and nothing else.
func serve(t *testing.T, dir string, hosts ...string) (*service.Running, *http.Transport, context.CancelFunc) {
	t.Helper()
	o := options(storetest.New(t))
	o.Clock = time.Now // certificates are judged by the real clock
	s := open(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := s.Serve(ctx, service.ServeOptions{Listen: "127.0.0.1:0", Dir: dir, Host: hosts})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	})
	return r, trusting(t, r.CAFile), cancel
}

func trusting(t testing.TB, ca string) *http.Transport {
	t.Helper()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("the CA file holds no certificate")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func TestServeAnswersOverTLSWithItsOwnAuthority(t *testing.T) {
	r, tr, _ := serve(t, t.TempDir())
	if !strings.HasPrefix(r.BaseURL, "https://127.0.0.1:") || !strings.HasSuffix(r.BaseURL, "/api") ||
		strings.Contains(r.BaseURL, ":0/") {
		t.Errorf("base URL %s", r.BaseURL)
	}
	if status, body := get(t, tr, r.BaseURL+"/chains/supported-list", key); status != 200 ||
		!strings.HasPrefix(body, "[") {
		t.Errorf("%d %s", status, body)
	}
	local := strings.Replace(r.BaseURL, "127.0.0.1", "localhost", 1)
	if status, _ := get(t, tr, local+"/chains/supported-list", key); status != 200 {
		t.Errorf("by the name localhost: %d", status)
	}
}

func TestServeRefusesPlainHTTPAndOldTLS(t *testing.T) {
	r, tr, _ := serve(t, t.TempDir())
	base, err := url.Parse(r.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	plain := request(t, context.Background(), http.MethodGet, "http://"+base.Host+"/api/chains/supported-list", "")
	plain.Header.Set("x-api-key", key)
	unsafe := &http.Transport{}
	t.Cleanup(unsafe.CloseIdleConnections)
	res, err := unsafe.RoundTrip(plain)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != 401 {
		t.Errorf("plain HTTP is answered with %d", res.StatusCode)
	}
	old := tr.TLSClientConfig.Clone()
	old.MinVersion, old.MaxVersion, old.ServerName = tls.VersionTLS10, tls.VersionTLS11, "127.0.0.1"
	if c, err := tls.Dial("tcp", base.Host, old); err == nil {
		c.Close()
		t.Error("TLS 1.1 was accepted")
	}
	if _, err := (&http.Transport{}).RoundTrip(request(t, context.Background(), http.MethodGet, r.BaseURL, "")); err ==
		nil {
		t.Error("a client that does not know the authority was satisfied")
	}
}

func TestTheAuthorityIsKeptAndItsKeyIsPrivate(t *testing.T) {
	dir := t.TempDir()
	first, _, stop := serve(t, dir)
	before, err := os.ReadFile(first.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "ca-key.pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v: the key must have mode 0600", info, err)
	}
	stop()
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	second, tr, _ := serve(t, dir, "wallet.example", "192.0.2.7")
	if after, err := os.ReadFile(second.CAFile); err != nil || string(after) != string(before) {
		t.Errorf("%v: another authority after a restart", err)
	}
	for _, name := range []string{"wallet.example", "192.0.2.7", "localhost", "::1"} {
		cfg := tr.TLSClientConfig.Clone()
		cfg.ServerName = name
		c, err := tls.Dial("tcp", second.Addr.String(), cfg)
		if err != nil {
			t.Errorf("the certificate is not good for %s: %v", name, err)
			continue
		}
		c.Close()
	}
	if !strings.HasPrefix(second.BaseURL, "https://127.0.0.1:") {
		t.Errorf("base URL %s, expected the address listened on: extra names need not lead here", second.BaseURL)
	}
}

func TestAnAuthorityThatOthersCanReadIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, _, stop := serve(t, dir)
	stop()
	if err := os.Chmod(filepath.Join(dir, "ca-key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, options(storetest.New(t)))
	if _, err := s.Serve(context.Background(), service.ServeOptions{Listen: "127.0.0.1:0", Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "0600") {
		t.Errorf("%v, expected a refusal", err)
	}
}

func TestServeStopsCleanlyWithTheContext(t *testing.T) {
	r, tr, stop := serve(t, t.TempDir())
	if status, _ := get(t, tr, r.BaseURL+"/chains/supported-list", key); status != 200 {
		t.Fatal(status)
	}
	stop()
	<-r.Done()
	if err := r.Wait(); err != nil {
		t.Errorf("%v after an orderly end", err)
	}
	if c, err := net.Dial("tcp", r.Addr.String()); err == nil {
		c.Close()
		t.Error("somebody still listens")
	}
}

func TestExplorerPagesNeedNoKeyOverTheWire(t *testing.T) {
	r, tr, _ := serve(t, t.TempDir())
	res, err := tr.RoundTrip(request(t, context.Background(), http.MethodGet,
		r.BaseURL+"/explorer/eip155:1/tx/0x"+strings.Repeat("0", 64), ""))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if page, err := io.ReadAll(res.Body); err != nil || res.StatusCode != 404 ||
		!strings.Contains(string(page), "no such transaction") {
		t.Errorf("%v %d %s", err, res.StatusCode, page)
	}
}
