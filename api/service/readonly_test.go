package service_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/solmsg"
	"coffer/api/openapi"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// countedStore counts the commits that are begun, empty and failed ones too.
type countedStore struct {
	store.Store
	begun atomic.Int64
}

func (c *countedStore) Update(fn func(store.Tx) error) error {
	c.begun.Add(1)
	return c.Store.Update(fn)
}

// newAddresses are an EVM and a Solana address that nobody has named.
func newAddresses(t testing.TB) (evm, solana string) {
	t.Helper()
	var a common.Address
	if _, err := rand.Read(a[:]); err != nil {
		t.Fatal(err)
	}
	for {
		var k solmsg.Key
		if _, err := rand.Read(k[:]); err != nil {
			t.Fatal(err)
		}
		if k.OnCurve() {
			return a.Hex(), k.String()
		}
	}
}

// readings are the queries of every endpoint that only reads, about new addresses and about a quote.
func readings(t testing.TB, quoteID string) map[string]string {
	evm, solana := newAddresses(t)
	balances := "?account=" + url.QueryEscape("eip155:1:"+evm+",solana:"+solana) + "&aggregatedAssetId=ob:usdc"
	return map[string]string{
		"/assets/list": "", "/chains/supported-list": "", "/healthz": "", "/openapi.json": "",
		"/v2/balances/aggregated-balance": "?address=" + evm,
		"/v3/balances/aggregated-balance": balances,
		"/account/code":                   "?account=eip155:8453:" + evm,
		"/account/roles":                  "?account=eip155:8453:" + evm,
		"/status/get-execution-status":    "?quoteId=" + quoteID,
		"/v3/status/get-execution-status": "?quoteId=0x" + hex.EncodeToString(sha256Of(evm)),
		"/status/get-tx-history":          "?user=" + evm,
		"/v3/status/get-tx-history":       "?sortBy=updatedAt&user=" + solana,
	}
}

func sha256Of(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}

// TestK11_AReadOnlyKeyNeverMakesTheServiceWrite: whatever it asks about, not one commit is begun and the file stays as
// it is, byte for byte.
func TestK11_AReadOnlyKeyNeverMakesTheServiceWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coffer.db")
	bolt, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = bolt.Close() })
	db := &countedStore{Store: bolt}
	s := open(t, options(db))
	rt := service.RoundTripper(s.Handler())

	c := newClient(t, s, api.AccountKernelV31, 1)
	done := c.finish(c.exchange(c.swap("ob:usdc", "20000000", "ob:eth", "")))
	page := strings.Replace(done.OriginChainOperations[0].ExplorerURL, "https://coffer.internal", "https://x", 1)
	reading, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "figures",
		Permissions: []string{access.Read}})
	executing, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "robot",
		Permissions: []string{access.Read, access.Execute}})
	narrow, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "page", Endpoints: []string{
		"/v2/balances/", "/v3/balances/", "/account/code", "/account/roles", "/assets/", "/chains/", "/status/",
		"/v3/status/",
	}})

	begun, before := db.begun.Load(), fileSum(t, path)
	for name, k := range map[string]string{"read": reading, "read and execute": executing,
		"every permission for endpoints that read": narrow} {
		queries := readings(t, done.QuoteID)
		for _, e := range openapi.Endpoints() {
			if e.Method == http.MethodPost {
				continue
			}
			query, known := queries[e.Path]
			if !known {
				t.Fatalf("%s has no query in this test", e.Path)
			}
			for range 2 {
				if status, body := get(t, rt, "https://x/api"+e.Path+query, k); status != 200 {
					t.Errorf("%s: %s: %d %s", name, e.Path, status, body)
				}
			}
			if n := db.begun.Load(); n != begun {
				t.Fatalf("%s: %s began %d commits", name, e.Path, n-begun)
			}
		}
		if status, _ := get(t, rt, page, ""); status != 200 {
			t.Errorf("%s: %d", page, status)
		}
	}
	for _, e := range openapi.Endpoints() { // what it may not do is refused before anything else happens
		if e.Method == http.MethodPost {
			if status, body := sendAs(t, rt, reading, e.Path,
				c.swap("ob:usdc", "1000000", "ob:eth", "")); status != 403 {
				t.Errorf("%s: %d %s", e.Path, status, body)
			}
		}
	}
	if n := db.begun.Load(); n != begun {
		t.Errorf("%d commits were begun", n-begun)
	}
	if fileSum(t, path) != before {
		t.Error("the database has changed")
	}
}

func fileSum(t testing.TB, path string) [sha256.Size]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(raw)
}

// sendAs posts a body with a key.
func sendAs(t testing.TB, rt http.RoundTripper, key, path, body string) (int, string) {
	t.Helper()
	r := request(t, t.Context(), http.MethodPost, "https://x/api"+path, body)
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	res, err := checked{t, rt}.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

// holds reports whether an address has any USDC.
func holds(t testing.TB, rt http.RoundTripper, key, address string) bool {
	t.Helper()
	status, body := get(t, rt, "https://x/api/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account="+
		address, key)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return !strings.Contains(body, `"totalBalance":{"fiatValue":0}`)
}

// TestK11_TestFundsComeWithWhatAKeyThatMayQuoteNames: a balance too; what a key that only reads named before is as new
// as ever.
func TestK11_TestFundsComeWithWhatAKeyThatMayQuoteNames(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	rt := service.RoundTripper(s.Handler())
	reading, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "figures",
		Permissions: []string{access.Read}})
	quoting, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "wallet",
		Permissions: []string{access.Read, access.Quote}})
	usual, _ := addKey(t, s, team()) // as README.md makes it
	for name, k := range map[string]string{"a key that may quote": quoting,
		"a key as it is made without flags": usual} {
		evm, solana := newAddresses(t)
		for _, account := range []string{"eip155:8453:" + evm, "solana:" + solana} {
			if holds(t, rt, reading, account) {
				t.Errorf("%s: a key that only reads brings test funds", account)
			}
			if !holds(t, rt, k, account) || !holds(t, rt, reading, account) {
				t.Errorf("%s: %s brings no test funds", account, name)
			}
		}
	}
}

// TestK11_AKeyBringsTestFundsToSoManyNewAddressesADay: beyond that nothing is written and balances are as they are,
// however the address is named; known addresses do not count, another key has a budget of its own, and after a day
// there is a new one.
func TestK11_AKeyBringsTestFundsToSoManyNewAddressesADay(t *testing.T) {
	at := time.Unix(1_760_000_000, 0)
	db := &countedStore{Store: storetest.New(t)}
	o := options(db)
	o.Clock, o.FundLimit = func() time.Time { return at }, 3
	s := open(t, o)
	rt := service.RoundTripper(s.Handler())
	usual, _ := addKey(t, s, team())
	more := team()
	more.FundLimit = 4
	generous, _ := addKey(t, s, more)
	for k, limit := range map[string]int{usual: 3, generous: 4} {
		var last string
		for i := range limit + 1 {
			last, _ = newAddresses(t)
			if got := holds(t, rt, k, "eip155:1:"+last); got != (i < limit) {
				t.Errorf("new address %d of %d: test funds %t", i+1, limit, got)
			}
		}
		begun := db.begun.Load()
		evm, solana := newAddresses(t)
		for range 2 {
			if holds(t, rt, k, "eip155:1:"+evm+",solana:"+solana) {
				t.Error("a balance brings test funds beyond the budget")
			}
		}
		body := fmt.Sprintf(`{"type":"kernel-v3.1-ecdsa","signerAddress":%q}`, evm)
		if status, answer := sendAs(t, rt, k, "/account/predict-address", body); status != 201 {
			t.Errorf("%d %s", status, answer)
		}
		for _, path := range []string{"/v3/quote", "/v1/quote"} {
			c := &client{t: t, s: s, user: newClient(t, s, api.AccountKernelV31, uint64(50+limit)).user,
				v1: path == "/v1/quote"}
			if status, answer := sendAs(t, rt, k, path, c.swap("ob:usdc", "1000000", "ob:eth", "")); status != 400 ||
				!strings.Contains(answer, api.ErrInsufficientBalance) {
				t.Errorf("%s: %d %s", path, status, answer)
			}
		}
		if n := db.begun.Load(); n != begun {
			t.Errorf("%d commits were begun beyond the budget", n-begun)
		}
		if at = at.Add(access.FundSpan - time.Second); holds(t, rt, k, "eip155:1:"+last) {
			t.Error("the budget is new before the day is over")
		}
		if at = at.Add(time.Second); !holds(t, rt, k, "eip155:1:"+last) {
			t.Error("a day later the address got no test funds")
		}
	}
	process, _ := newAddresses(t)
	for range 5 { // the key of this process has no budget
		if !holds(t, rt, key, "eip155:1:"+process) {
			t.Error("the key of the process brings no test funds")
		}
		process, _ = newAddresses(t)
	}
}
