package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

func team() access.KeySpec { return access.KeySpec{Company: "Ant Works", Project: "wallet"} }

// administer calls fn with the keys of a directory.
func administer(t testing.TB, dir string, fn func(service.KeyAdmin) error) {
	t.Helper()
	if err := service.AdministerKeys(context.Background(), dir, true, fn); err != nil {
		t.Fatal(err)
	}
}

// addKey makes a key of a running service.
func addKey(t testing.TB, s *service.Service, spec access.KeySpec) (string, access.KeyInfo) {
	t.Helper()
	text, info, err := s.Keys().Add(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return text, info
}

// The same changes, through the socket of a process that runs the service and on the database when none does, have the
// same outcome.
func TestKeysAreAdministeredWhetherTheServiceRunsOrNot(t *testing.T) {
	for _, running := range []bool{true, false} {
		t.Run(strconv.FormatBool(running), func(t *testing.T) {
			dir := t.TempDir()
			var first *service.Attachment
			if running {
				first = attach(t, dir)
			}
			var text, next string
			var info access.KeyInfo
			ctx := context.Background()
			administer(t, dir, func(k service.KeyAdmin) (err error) {
				spec := team()
				spec.Chains, spec.PerMinute, spec.Expires = []string{"eip155:1"}, 5, time.Unix(2_000_000_000, 0)
				text, info, err = k.Add(ctx, spec)
				return err
			})
			if id, ok := access.IDOf(text); !ok || id != info.ID || info.PerMinute != 5 ||
				!info.Expires.Equal(time.Unix(2_000_000_000, 0)) {
				t.Fatalf("%+v", info)
			}
			administer(t, dir, func(k service.KeyAdmin) (err error) {
				next, _, err = k.Rotate(ctx, info.ID, time.Hour)
				return err
			})
			administer(t, dir, func(k service.KeyAdmin) error {
				all, err := k.List(ctx)
				if err != nil || len(all) != 1 || all[0].Company != "Ant Works" || all[0].Rotated.IsZero() ||
					all[0].PreviousUntil.IsZero() {
					t.Errorf("%+v %v", all, err)
				}
				_, _, refused := k.Add(ctx, access.KeySpec{Permissions: []string{"admin"}})
				refusedWith(t, refused, api.ErrValidation, 400)
				_, _, refused = k.Rotate(ctx, "nobody23", 0)
				refusedWith(t, refused, api.ErrNotFound, 404)
				_, _, refused = k.Rotate(ctx, info.ID, -time.Second)
				refusedWith(t, refused, api.ErrValidation, 400)
				_, refused = k.Revoke(ctx, "../../x")
				refusedWith(t, refused, api.ErrNotFound, 404)
				return nil
			})
			if first == nil {
				first = attach(t, dir)
			}
			for _, good := range []string{text, next} {
				if status, body := get(t, service.RoundTripper(first.Service().Handler()), first.BaseURL+"/assets/list",
					good); status != 200 {
					t.Errorf("%d %s", status, body)
				}
			}
			administer(t, dir, func(k service.KeyAdmin) error {
				_, err := k.Revoke(ctx, info.ID)
				return err
			})
			if status, _ := get(t, service.RoundTripper(first.Service().Handler()), first.BaseURL+"/assets/list",
				next); status != 401 {
				t.Errorf("a revoked key is answered with %d", status)
			}
		})
	}
}

func refusedWith(t testing.TB, err error, name string, status int) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Name != name || e.StatusCode != status {
		t.Errorf("%v, expected %d %s", err, status, name)
	}
}

// The open port has no administration, in process and over TLS, with and without a key.
func TestTheOpenPortHasNoAdministration(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	root := strings.TrimSuffix(s.BaseURL, "/api")
	for _, path := range []string{"/admin/keys", "/api/admin/keys", "/admin/keys/rotate", "/api/../admin/keys"} {
		for _, k := range []string{key, ""} {
			if status, _ := get(t, s.over, root+path, k); status != 404 {
				t.Errorf("%s: %d", path, status)
			}
			if status, _ := get(t, service.RoundTripper(s.service.Handler()), "https://x"+path, k); status != 404 {
				t.Errorf("in process %s: %d", path, status)
			}
		}
	}
}

func TestADirectoryWithoutADatabaseIsNamed(t *testing.T) {
	err := service.AdministerKeys(context.Background(), t.TempDir(), false,
		func(service.KeyAdmin) error { t.Error("called"); return nil })
	if !errors.Is(err, service.ErrNoDatabase) {
		t.Error(err)
	}
}

func TestAHolderWithoutASocketIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{Holder: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = service.AdministerKeys(context.Background(), dir, true,
		func(service.KeyAdmin) error { t.Error("called"); return nil })
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "somebody") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := service.AdministerKeys(ctx, dir, true, func(service.KeyAdmin) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Once there is a stored key, `coffer serve` accepts no key of its own; the embedded service keeps accepting its own.
func TestTheProcessKeyGivesWayToStoredKeys(t *testing.T) {
	db := storetest.New(t)
	o := options(db)
	o.StoredKeys = true
	first := open(t, o)
	if first.APIKey() != key {
		t.Error("without a stored key the process key is good")
	}
	text, info := addKey(t, first, team())
	works := func(s *service.Service, k string) bool {
		status, _ := get(t, service.RoundTripper(s.Handler()), "https://x/api/assets/list", k)
		return status == 200
	}
	if !works(first, key) || !works(first, text) {
		t.Error("both are good in the process that began with none")
	}
	second := open(t, o)
	if second.APIKey() != "" || works(second, key) || works(second, "") || !works(second, text) {
		t.Error("a stored key rules the process key out at the next start")
	}
	o.StoredKeys = false
	if third := open(t, o); third.APIKey() != key || !works(third, key) || !works(third, text) {
		t.Error("an embedded service accepts both")
	}
	if _, err := second.Keys().Revoke(context.Background(), info.ID); err != nil {
		t.Fatal(err)
	}
	if works(second, text) {
		t.Error("revoked")
	}
	o.StoredKeys = true
	if fourth := open(t, o); !works(fourth, key) {
		t.Error("with every key revoked the process key is good again")
	}
}

// Limits, permissions and what the answers tell of them, over TLS.
func TestLimitsAndPermissionsOfAStoredKeyOverTLS(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	spec := team()
	spec.PerMinute, spec.Permissions = 3, []string{access.Read}
	text, _ := addKey(t, s.service, spec)
	ask := func(method, path, body string, status int, name string, remaining int) *http.Response {
		t.Helper()
		res, raw := s.send(t, method, path, text, body)
		if res.StatusCode != status {
			t.Fatalf("%s: %d %s", path, res.StatusCode, raw)
		}
		if status >= 400 {
			if got, code := refusalIn(t, raw); got != name || code != status {
				t.Errorf("%s", raw)
			}
		}
		reset, err := strconv.ParseInt(res.Header.Get("x-ratelimit-reset"), 10, 64)
		left := time.Until(time.Unix(reset, 0))
		if err != nil || res.Header.Get("x-ratelimit-limit") != "3" ||
			res.Header.Get("x-ratelimit-remaining") != strconv.Itoa(remaining) || left < 30*time.Second ||
			left > 62*time.Second {
			t.Errorf("%d: %v", status, res.Header)
		}
		return res
	}
	ask(http.MethodGet, "/assets/list", "", 200, "", 2)
	ask(http.MethodPost, "/v3/quote/prepare-call-quote", "{}", 403, api.ErrForbidden, 1)
	ask(http.MethodPost, "/v3/quote/execute-quote", "{}", 403, api.ErrForbidden, 0)
	res := ask(http.MethodGet, "/assets/list", "", 429, api.ErrTooManyRequests, 0)
	if after, err := strconv.Atoi(res.Header.Get("Retry-After")); err != nil || after < 30 || after > 60 {
		t.Errorf("Retry-After %q", res.Header.Get("Retry-After"))
	}
	public, _ := addKey(t, s.service, access.KeySpec{PublicTest: true})
	r, raw := s.send(t, http.MethodPost, "/v3/quote/execute-quote", public, "{}")
	if r.StatusCode != 400 || r.Header.Get("x-ratelimit-limit") != "60" {
		t.Errorf("the public test key at an execute endpoint: %d %s", r.StatusCode, raw)
	}
	if r, _ := s.send(t, http.MethodGet, "/assets/list", key, ""); r.Header.Get("x-ratelimit-limit") != "" {
		t.Error("the process key has no window")
	}
}

// tally is a Meter that keeps what it is told.
type tally struct {
	mu       sync.Mutex
	requests []string
	quotes   []string
	settled  []string
}

func (m *tally) Request(endpoint, permission string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, endpoint+" "+permission+" "+strconv.Itoa(status))
}

func (m *tally) Quoted(callType string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.quotes = append(m.quotes, callType)
}

func (m *tally) Settled(status, failReason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settled = append(m.settled, strings.TrimSpace(status+" "+failReason))
}

// A whole call is seen by the meter: its requests with the permissions they need, its quote, how it ended; and nothing
// foreign.
func TestTheMeterSeesRequestsQuotesAndSettlements(t *testing.T) {
	for name, c := range map[string]struct {
		faults service.Faults
		want   string
	}{
		"completed": {service.Faults{}, api.StatusCompleted},
		"refunded": {service.Faults{Revert: func(string) bool { return true }},
			api.StatusRefunded + " EXECUTION_REVERTED"},
	} {
		t.Run(name, func(t *testing.T) {
			m := new(tally)
			o := options(storetest.New(t))
			o.Metrics, o.Faults = m, c.faults
			s := open(t, o)
			w := newWallet(t, s)
			signed, _, _ := w.quote(300_000_000)
			w.post("/v3/quote/execute-quote", signed.Raw(), 200)
			if err := s.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, err := s.OpenQuotes(); err != nil || n != 0 {
				t.Errorf("%d open quotes, %v", n, err)
			}
			rt := service.RoundTripper(s.Handler())
			get(t, rt, "https://x/api/made/up", key)
			get(t, rt, "https://x/api/assets/list", "wrong")
			m.mu.Lock()
			defer m.mu.Unlock()
			want := []string{
				"/account/predict-address quote 201", "/v3/quote/prepare-call-quote quote 200",
				"/v3/quote/call-quote quote 200", "/v3/quote/execute-quote execute 200",
				"other none 404", "/assets/list read 401",
			}
			for _, line := range want {
				if !slices.Contains(m.requests, line) {
					t.Errorf("%q is missing in %q", line, m.requests)
				}
			}
			if len(m.requests) != len(want) || len(m.quotes) != 1 || !strings.HasPrefix(m.quotes[0], "cross_chain") ||
				!slices.Equal(m.settled, []string{c.want}) {
				t.Errorf("requests %q, quotes %q, settled %q", m.requests, m.quotes, m.settled)
			}
		})
	}
}

// Good and bad keys are sent to every endpoint, in the header and where they do not belong. None is in the log, whose
// every line is JSON and which names each request by its id.
func TestNoKeyIsEverInTheLog(t *testing.T) {
	s := listen(t, service.Timeouts{}, nil)
	good, _ := addKey(t, s.service, team())
	spec := team()
	spec.PerMinute, spec.Permissions = 1, []string{access.Read}
	limited, _ := addKey(t, s.service, spec)
	forged := good[:len(good)-20] + strings.Repeat("z", 20)
	const plain = "another-key-of-somebody-else-0123456789"
	paths := slices.Concat(postPaths, []string{
		"/chains/supported-list", "/assets/list", "/v2/balances/aggregated-balance", "/v3/balances/aggregated-balance",
		"/v1/quote", "/v3/quote", "/quotes/prepare-call-quote",
		"/quotes/call-quote", "/quotes/execute-quote", "/status/get-execution-status",
		"/v3/status/get-execution-status", "/status/get-tx-history",
		"/v3/status/get-tx-history", "/account/code", "/account/undelegate", "/account/roles", "/account/relay",
		"/openapi.json", "/healthz",
		"/explorer/eip155:1/tx/0x00", "/network.json", "/no/such/path",
	})
	ids := map[string]bool{}
	for _, path := range paths {
		for _, k := range []string{good, limited, key, forged, plain, ""} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				for _, in := range []string{path, path + "?key=" + k + "&user=" + k, path + "/" + k} {
					body := ""
					if method == http.MethodPost {
						body = `{"accounts":"` + k + `","apiKey":"` + k + `"}`
					}
					if k == plain && in == path+"/"+k {
						continue // a text without the form of a key cannot be told from any other path
					}
					res, _ := s.send(t, method, in, k, body)
					ids[res.Header.Get("X-Request-Id")] = true
				}
			}
		}
	}
	log := s.log.String()
	for _, k := range []string{good[17:], limited[17:], key, forged[17:], plain} {
		if strings.Contains(log, k) {
			at := strings.Index(log, k)
			t.Errorf("a key is in the log: %s", log[max(0, at-200):at])
		}
	}
	seen := map[string]bool{}
	for line := range strings.Lines(log) {
		var entry struct {
			Time    string `json:"time"`
			Level   string `json:"level"`
			Msg     string `json:"msg"`
			Request string `json:"request"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" ||
			entry.Msg == "" {
			t.Errorf("no log line: %v %s", err, line)
		}
		seen[entry.Request] = true
	}
	for id := range ids {
		if id == "" || !seen[id] {
			t.Errorf("request %q has no line", id)
		}
	}
	if len(ids) < len(paths)*20 {
		t.Errorf("%d requests only", len(ids))
	}
}
