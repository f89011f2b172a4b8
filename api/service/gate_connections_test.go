//go:build unix

package service_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// A connection beyond the bound is closed before its handshake when all others have a proof; those are served, and a
// place that becomes free is taken again.
func TestConnectionsBeyondTheBoundAreClosedAtOnce(t *testing.T) {
	o := options(storetest.New(t))
	o.Clock = time.Now
	s := open(t, o)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := s.Serve(ctx, service.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir(), Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		if err := r.Wait(); err != nil {
			t.Error(err)
		}
	}()
	first, second := trusting(t, r.CAFile), trusting(t, r.CAFile)
	for _, way := range []*http.Transport{first, second} {
		if status, body := get(t, way, r.BaseURL+"/chains/supported-list", key); status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
	}
	var d net.Dialer
	third, err := d.DialContext(ctx, "tcp", r.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := third.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := third.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("beyond the bound: %v, expected that it is closed", err)
	}
	first.CloseIdleConnections()
	way := trusting(t, r.CAFile)
	way.DisableKeepAlives = true
	// the server sees the end of the first connection when it reads from it
	for end := time.Now().Add(5 * time.Second); ; {
		res, err := way.RoundTrip(request(t, ctx, http.MethodGet, r.BaseURL+"/healthz", ""))
		if err == nil {
			if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("%d %v", res.StatusCode, err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the free place was not given away: %v", err)
		}
	}
}

// Whoever can replace a file of the data directory owns the service, so one that everybody may write to is refused by
// whatever uses it (TH-C3).
func TestADirectoryThatEverybodyMayWriteToIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	_, opened := service.OpenOrAttach(context.Background(), dir, options(nil))
	administered := service.AdministerKeys(context.Background(), dir, true,
		func(service.KeyAdmin) error { t.Error("called"); return nil })
	_, served := open(t, options(storetest.New(t))).Serve(context.Background(),
		service.ServeOptions{Listen: "127.0.0.1:0", Dir: dir})
	for _, err := range []error{opened, administered, served} {
		if err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("%v", err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v %v: something was made", files, err)
	}
}

// A process that was started with another base path says so, instead of only that it cannot reach the other one.
func TestAnotherBasePathIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	attach(t, dir)
	o := options(nil)
	o.Store, o.BasePath = nil, "/other"
	if _, err := service.OpenOrAttach(context.Background(), dir, o); !errors.Is(err, store.ErrInUse) ||
		!strings.Contains(err.Error(), "another base path") {
		t.Error(err)
	}
}
