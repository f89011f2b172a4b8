package service_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// A clock that goes back stops quoting with a reason and for how long, in the answer, the health and the log; what only
// reads goes on, and so does everything once the clock has caught up.
func TestR4_AClockThatGoesBackIsSaid(t *testing.T) {
	log := new(bytes.Buffer)
	var back atomic.Int64
	o := options(storetest.New(t))
	real := o.Clock
	o.Clock = func() time.Time { return real().Add(-time.Duration(back.Load())) }
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	s, err := service.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c := newClient(t, s, api.AccountKernelV31, 9)
	body := c.transfer(5_000_000)
	c.prepare(body) // funds the account: the chains have blocks of this time

	back.Store(int64(time.Hour))
	res, answer := post(t, c.rt, "https://x/api"+c.preparePath(), body)
	if res.StatusCode != 503 || res.Header.Get("Retry-After") != "3600" ||
		!strings.Contains(answer, "clock went back") || !strings.Contains(answer, "1h0m0s") {
		t.Errorf("prepare: %d %v %s", res.StatusCode, res.Header, answer)
	}
	if status, answer := get(t, c.rt, "https://x/healthz", ""); status != 503 ||
		!strings.Contains(answer, "clock went back") {
		t.Errorf("health: %d %s", status, answer)
	}
	if status, answer := get(t, c.rt,
		"https://x/api/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account=eip155:8453:"+
			c.user.Address.Hex(), key); status != 200 {
		t.Errorf("a balance: %d %s", status, answer)
	}
	if strings.Count(log.String(), "the clock went back") != 1 {
		t.Errorf("the log is\n%s", log)
	}
	back.Store(0)
	c.prepare(body)
	if status, answer := get(t, c.rt, "https://x/healthz", ""); status != 200 {
		t.Errorf("health afterwards: %d %s", status, answer)
	}
}

// full is a store on a disk without room.
type full struct {
	store.Store
	since atomic.Pointer[time.Time]
}

func (f *full) Update(fn func(store.Tx) error) error {
	if f.since.Load() == nil {
		return f.Store.Update(fn)
	}
	now := time.Now()
	f.since.Store(&now)
	return errFull{}
}

func (f *full) Trouble() (time.Time, error) {
	if at := f.since.Load(); at != nil {
		return *at, errFull{}
	}
	return time.Time{}, nil
}

type errFull struct{}

func (errFull) Error() string { return "no room" }

func (errFull) Unwrap() []error { return []error{store.ErrNotWritten, store.ErrFull, syscall.ENOSPC} }

// A request that needs a full disk is answered with the reason, and health says it too; what only reads goes on.
func TestR6_AFullDiskIsSaid(t *testing.T) {
	disk := &full{Store: storetest.New(t)}
	s := open(t, options(disk))
	c := newClient(t, s, api.AccountKernelV31, 9)
	body := c.transfer(5_000_000)
	c.prepare(body)
	now := time.Now()
	disk.since.Store(&now)
	res, answer := post(t, c.rt, "https://x/api"+c.preparePath(), body)
	if res.StatusCode != 503 || !strings.Contains(answer, "disk is full") {
		t.Errorf("prepare: %d %s", res.StatusCode, answer)
	}
	if status, answer := get(t, c.rt, "https://x/healthz", ""); status != 503 ||
		!strings.Contains(answer, "disk is full") {
		t.Errorf("health: %d %s", status, answer)
	}
	if status, answer := get(t, c.rt,
		"https://x/api/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account=eip155:8453:"+
			c.user.Address.Hex(), key); status != 200 {
		t.Errorf("a balance: %d %s", status, answer)
	}
	disk.since.Store(nil)
	c.prepare(body)
	if status, answer := get(t, c.rt, "https://x/healthz", ""); status != 200 {
		t.Errorf("health afterwards: %d %s", status, answer)
	}
}

// post sends a body with the key.
func post(t *testing.T, rt http.RoundTripper, url, body string) (*http.Response, string) {
	t.Helper()
	req := request(t, t.Context(), http.MethodPost, url, body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", key)
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(raw)
}
