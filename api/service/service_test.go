package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

const (
	key     = "the-key-of-this-test"
	account = "0x00000000000000000000000000000000000C0ffe"
)

func options(s store.Store) service.Options {
	return service.Options{
		Store: s, Clock: func() time.Time { return time.Unix(1_760_000_000, 0) },
		Seed: []byte("an installation seed of 32 bytes"),
		Fund: true, APIKey: key,
	}
}

func open(t testing.TB, o service.Options) *service.Service {
	t.Helper()
	s, err := service.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// get asks through rt with the key and returns status and body.
func get(t testing.TB, rt http.RoundTripper, url, key string) (int, string) {
	t.Helper()
	r := request(t, context.Background(), http.MethodGet, url, "")
	r.Header.Set("x-api-key", key)
	res, err := checked{t, rt}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

const balancesPath = "/v3/balances/aggregated-balance?account=eip155:1:" + account + "&aggregatedAssetId=ob:usdc,ob:eth"

func TestOpenAnswersThroughTheFullHTTPLayer(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	rt := service.RoundTripper(s.Handler())
	if status, body := get(t, rt, "https://x/api/assets/list", ""); status != 401 ||
		!strings.Contains(body, `"path":"/api/assets/list"`) {
		t.Errorf("without a key: %d %s", status, body)
	}
	status, body := get(t, rt, "https://x/api"+balancesPath, key)
	var out api.AggregatedBalance
	if err := json.Unmarshal([]byte(body), &out); err != nil || status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if out.BalanceByAggregatedAsset[0].Balance == "0" {
		t.Error("the account got no test funds")
	}
	if again, second := get(t, rt, "https://x/api"+balancesPath, key); again != 200 || second != body {
		t.Error("the same question at the same time has another answer")
	}
}

func TestWithoutFundNobodyGetsTestFunds(t *testing.T) {
	o := options(storetest.New(t))
	o.Fund = false
	_, body := get(t, service.RoundTripper(open(t, o).Handler()), "https://x/api"+balancesPath, key)
	if !strings.Contains(body, `"totalBalance":{"fiatValue":0}`) {
		t.Errorf("%s", body)
	}
}

func TestNetworkFileIsTheDescriptorAndSurvivesReopening(t *testing.T) {
	dir, db := t.TempDir(), storetest.New(t)
	o := options(db)
	o.Dir = dir
	first := open(t, o)
	raw, err := os.ReadFile(filepath.Join(dir, service.NetworkFile))
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil || d.ID != first.Network().ID || d.Kind != network.Embedded {
		t.Errorf("%v %s, expected %s", err, d.ID, first.Network().ID)
	}
	o.Seed = nil
	part := filepath.Join(dir, ".new-1") // of a process that was killed
	if err := os.WriteFile(part, raw[:10], 0o600); err != nil {
		t.Fatal(err)
	}
	if again := open(t, o); again.Network().ID != d.ID {
		t.Errorf("network id %s after reopening", again.Network().ID)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v %v: a temporary file was left", files, err)
	}
}

func TestAKeyIsDrawnWhenNoneIsGiven(t *testing.T) {
	o := options(storetest.New(t))
	o.APIKey = ""
	s := open(t, o)
	if len(s.APIKey()) != 64 {
		t.Errorf("a key of %d characters", len(s.APIKey()))
	}
	if status, _ := get(t, service.RoundTripper(s.Handler()), "https://x/api/assets/list", s.APIKey()); status != 200 {
		t.Errorf("the drawn key is answered with %d", status)
	}
	if status, _ := get(t, service.RoundTripper(s.Handler()), "https://x/api/assets/list", ""); status != 401 {
		t.Errorf("an empty key is answered with %d", status)
	}
}

func TestOpenRefusesWhatItCannotRun(t *testing.T) {
	for name, change := range map[string]func(*service.Options){
		"no store":   func(o *service.Options) { o.Store = nil },
		"base path":  func(o *service.Options) { o.BasePath = "api/" },
		"short seed": func(o *service.Options) { o.Seed = []byte("short") },
		"no random":  func(o *service.Options) { o.Seed, o.APIKey, o.Random = nil, "", strings.NewReader("") },
	} {
		o := options(storetest.New(t))
		change(&o)
		if _, err := service.Open(o); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestQuoteRequestsFundTheirAccounts(t *testing.T) {
	o := options(storetest.New(t))
	s := open(t, o)
	rt := service.RoundTripper(s.Handler())
	const named = "0x000000000000000000000000000000000000bEEF"
	body :=
		`{"accounts":[{"type":"kernel-v3.3-ecdsa","deploymentType":"EIP7702","signerAddress":"` + named +
			`","accountAddress":"` + named +
			`"}],"targetChain":"eip155:8453","calls":[{"to":"0x3333333333333333333333333333333333333333"}]}`
	r := request(t, context.Background(), http.MethodPost, "https://x/api/v3/quote/prepare-call-quote", body)
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := checked{t, rt}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close() // whatever prepare says: the account was named
	s.Close()
	o.Fund = false // so that asking does not fund
	_, after := get(t, service.RoundTripper(open(t, o).Handler()),
		"https://x/api"+strings.ReplaceAll(balancesPath, account, named), key)
	if strings.Contains(after, `"totalBalance":{"fiatValue":0}`) {
		t.Errorf("%s", after)
	}
}

func benchmarkOpen(b *testing.B, fresh func(i int) store.Store, reuse bool) {
	s := fresh(0)
	for i := 0; b.Loop(); i++ {
		if !reuse && i > 0 {
			b.StopTimer()
			_ = s.Close()
			s = fresh(i)
			b.StartTimer()
		}
		svc, err := service.Open(options(s))
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		err = svc.Close()
		b.StartTimer()
		if err != nil {
			b.Fatal(err)
		}
	}
	_ = s.Close()
}

func bolt(b *testing.B, dir string, i int) store.Store {
	s, err := store.OpenBolt(filepath.Join(dir, fmt.Sprintf("%d.db", i)), store.BoltOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkOpenFreshMemory(b *testing.B) {
	benchmarkOpen(b, func(int) store.Store { return storetest.New(b) }, false)
}

func BenchmarkOpenFreshBolt(b *testing.B) {
	dir := b.TempDir()
	benchmarkOpen(b, func(i int) store.Store { return bolt(b, dir, i) }, false)
}

func BenchmarkReopenBolt(b *testing.B) {
	dir := b.TempDir()
	benchmarkOpen(b, func(i int) store.Store { return bolt(b, dir, i) }, true)
}

func BenchmarkBalancesThroughRoundTripper(b *testing.B) {
	rt := service.RoundTripper(open(b, options(storetest.New(b))).Handler())
	for b.Loop() {
		if status, body := get(b, rt, "https://x/api"+balancesPath, key); status != 200 {
			b.Fatal(errors.New(body))
		}
	}
}

// BenchmarkReadyWithTestFunds measures a first start on a file until an account that nobody named before has its test
// funds and its balances are answered: chains, contracts, tokens, funds.
func BenchmarkReadyWithTestFunds(b *testing.B) {
	dir := b.TempDir()
	for i := 0; b.Loop(); i++ {
		s := bolt(b, dir, i)
		svc, err := service.Open(options(s))
		if err != nil {
			b.Fatal(err)
		}
		rt := service.RoundTripper(svc.Handler())
		if status, body := get(b, rt, "https://x/api"+balancesPath, key); status != 200 {
			b.Fatal(errors.New(body))
		}
		b.StopTimer()
		if err := errors.Join(svc.Close(), s.Close()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
