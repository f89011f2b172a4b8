package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coffer/api/service/metrics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(text, "\n"+l+"\n") {
			t.Errorf("%q is missing in\n%s", l, text)
		}
	}
}

func TestEveryFigureIsCounted(t *testing.T) {
	m := metrics.New()
	m.Request("/assets/list", "read", 200, 3*time.Millisecond)
	m.Request("/assets/list", "read", 429, 0)
	m.Request("other", "none", 404, time.Second)
	m.Quoted("cross_chain_with_solver")
	m.Quoted("swap")
	m.Settled("COMPLETED", "")
	m.Settled("REFUNDED", "SLIPPAGE")
	m.Watch(metrics.Gauges{
		OpenSagas:  func() (int, error) { return 3, nil },
		StoreBytes: func() (int64, error) { return 4096, nil },
	})
	has(t, scrape(t, m),
		`coffer_requests_total{endpoint="/assets/list",permission="read",status="200"} 1`,
		`coffer_requests_total{endpoint="/assets/list",permission="read",status="429"} 1`,
		`coffer_requests_total{endpoint="other",permission="none",status="404"} 1`,
		`coffer_request_seconds_count{endpoint="/assets/list"} 2`,
		`coffer_request_seconds_bucket{endpoint="/assets/list",le="0.005"} 2`,
		`coffer_quotes_total{call_type="cross_chain_with_solver"} 1`,
		`coffer_quotes_total{call_type="swap"} 1`,
		`coffer_settlements_total{fail_reason="",status="COMPLETED"} 1`,
		`coffer_settlements_total{fail_reason="SLIPPAGE",status="REFUNDED"} 1`,
		`coffer_open_sagas 3`, `coffer_store_bytes 4096`)
	if !strings.Contains(scrape(t, m), "\ngo_goroutines ") {
		t.Error("the Go runtime's figures are missing")
	}
}

// What Prometheus' own library answered on Linux before: the names, the types, and the help of the service's figures
// must stay, as dashboards and alerts name them.
func TestNoFamilyIsLostOrChangesItsType(t *testing.T) {
	m := metrics.New()
	m.Request("/assets/list", "read", 200, 0)
	m.Quoted("swap")
	m.Settled("COMPLETED", "")
	m.Watch(metrics.Gauges{
		OpenSagas:  func() (int, error) { return 0, nil },
		StoreBytes: func() (int64, error) { return 0, nil },
	})
	text := "\n" + scrape(t, m)
	raw, err := os.ReadFile("testdata/families.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if runtime.GOOS == "linux" || !strings.Contains(line, " process_") {
			has(t, text, strings.TrimSpace(line))
		}
	}
}

var (
	reFamily = regexp.MustCompile(`^# HELP (\w+) [^\\\n]+\n` +
		`# TYPE (\w+) (counter|gauge|histogram|summary)\n((?:[^#].*\n)+)`)
	reSeries = regexp.MustCompile(`^(\w+)(\{(?:[a-z_]+="[^"\\]*",?)+\})? (\S+)\n$`)
)

// The grammar of the text format 0.0.4: a family has one help, one type and then its series, each of them once.
func TestTheTextIsWellFormed(t *testing.T) {
	m := metrics.New()
	for i := range 40 {
		m.Request("/assets/list", "read", 200+i%3, time.Duration(i)*time.Second/4)
		m.Quoted("swap")
		m.Settled("COMPLETED", "")
	}
	m.Watch(metrics.Gauges{SSHOpen: func() int { return 2 }, SSHBegan: func() int64 { return 5 }})
	text := scrape(t, m)
	has(t, text, "coffer_ssh_sessions 2", "coffer_ssh_sessions_total 5")
	seen := map[string]bool{}
	for text != "" {
		f := reFamily.FindStringSubmatch(text)
		if f == nil || f[1] != f[2] || seen[f[1]] {
			t.Fatalf("no family, or one for the second time: %s", text)
		}
		seen[f[1]], text = true, text[len(f[0]):]
		last := -1.0
		for line := range strings.Lines(f[4]) {
			s := reSeries.FindStringSubmatch(line)
			if s == nil || seen[s[1]+s[2]+" "] {
				t.Fatalf("no series, or one for the second time: %s", line)
			}
			seen[s[1]+s[2]+" "] = true
			v, err := strconv.ParseFloat(s[3], 64)
			if err != nil {
				t.Error(line, err)
			}
			suffix := strings.TrimPrefix(s[1], f[1])
			several := f[3] == "histogram" || f[3] == "summary"
			if suffix == s[1] || suffix != "" && (!several ||
				suffix != "_sum" && suffix != "_count" && suffix != "_bucket") {
				t.Errorf("%s is in the family %s", s[1], f[1])
			}
			if suffix == "_bucket" {
				if v < last {
					t.Errorf("fewer than in the bucket before: %s", line)
				}
				last = v
			}
			if suffix == "_count" && last >= 0 && v != last {
				t.Errorf("%v in the last bucket, %s", last, line)
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d families and series", len(seen))
	}
}

// More scrapers than four at once get a 503, so that they cannot keep the service from its work.
func TestScrapersAtOnceAreBounded(t *testing.T) {
	m := metrics.New()
	asked, release := make(chan struct{}), make(chan struct{})
	m.Watch(metrics.Gauges{OpenSagas: func() (int, error) {
		asked <- struct{}{}
		<-release
		return 0, nil
	}})
	h := m.Handler()
	get := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Code
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if code := get(); code != http.StatusOK {
				t.Errorf("%d", code)
			}
		})
		<-asked
	}
	if code := get(); code != http.StatusServiceUnavailable {
		t.Errorf("the fifth got %d", code)
	}
	close(release)
	group.Wait()
}

// The figures of a network have labels from a file that a person wrote.
func TestTheLabelsOfANetworkAreEscaped(t *testing.T) {
	m := metrics.New()
	m.Watch(metrics.Gauges{Network: func() []metrics.Family {
		return []metrics.Family{{Name: "coffer_inventory", Help: "What is there.", Samples: []metrics.Sample{
			{Labels: []metrics.Label{{Name: "chain", Value: "10"}, {Name: "symbol", Value: "A\"\\\nB"}}, Value: 2.5},
			{Labels: []metrics.Label{{Name: "chain", Value: "10"}, {Name: "symbol", Value: "C"}}}}}}
	}})
	has(t, scrape(t, m), "# TYPE coffer_inventory gauge", `coffer_inventory{chain="10",symbol="A\"\\\nB"} 2.5`,
		`coffer_inventory{chain="10",symbol="C"} 0`)
}

// TestWhereRequestsAreForwardedToIsNamed while they are.
func TestWhereRequestsAreForwardedToIsNamed(t *testing.T) {
	m, to := metrics.New(), "https://10.0.0.1:8443"
	m.Watch(metrics.Gauges{Forwarding: func() string { return to }})
	has(t, scrape(t, m), "# TYPE coffer_forwarding gauge", `coffer_forwarding{to="https://10.0.0.1:8443"} 1`)
	if to = ""; strings.Contains(scrape(t, m), "coffer_forwarding") {
		t.Error("it forwards to nobody")
	}
}

func TestAnUnknownFigureIsLeftOut(t *testing.T) {
	m := metrics.New()
	m.Watch(metrics.Gauges{OpenSagas: func() (int, error) { return 0, errors.New("closed") }})
	if text := scrape(t, m); strings.Contains(text, "coffer_open_sagas") ||
		strings.Contains(text, "coffer_store_bytes") {
		t.Errorf("an unknown figure is shown:\n%s", text)
	}
}

func TestLabelsAreBoundedAndNeverForeignText(t *testing.T) {
	m := metrics.New()
	for i := range 1000 {
		m.Request(fmt.Sprintf("/made-up/%d", i), "read", 200, 0)
		m.Quoted(fmt.Sprintf("kind%d", i))
	}
	m.Request("coffer_k7q2m9xw_"+strings.Repeat("a", 52), "a key\n", 200, 0)
	text := scrape(t, m)
	if n := strings.Count(text, "coffer_requests_total{"); n > 70 {
		t.Errorf("%d series", n)
	}
	if strings.Contains(text, "k7q2m9xw") || strings.Contains(text, "a key") {
		t.Error("foreign text is a label")
	}
	has(t, text, `coffer_quotes_total{call_type="other"} 936`)
}

func TestCountingIsSafeForConcurrentUse(t *testing.T) {
	m := metrics.New()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				m.Request("/x", "read", 200, 0)
				m.Settled("FAILED", "UNKNOWN")
			}
		})
	}
	_ = scrape(t, m)
	group.Wait()
	has(t, scrape(t, m), `coffer_requests_total{endpoint="/x",permission="read",status="200"} 800`,
		`coffer_settlements_total{fail_reason="UNKNOWN",status="FAILED"} 800`)
}

func TestOnlyALoopbackAddressIsListenedOn(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:9464", "9464", "",
		"no-such-host.invalid:0"} {
		ctx, cancel := context.WithCancel(context.Background())
		if r, err := metrics.New().Listen(ctx, address, slog.New(slog.DiscardHandler)); !errors.Is(err,
			metrics.ErrNotLoopback) {
			t.Errorf("%q: %v, expected a refusal", address, err)
			cancel()
			if r != nil {
				_ = r.Wait()
			}
		}
		cancel()
		if err := metrics.CheckAddress(address); !errors.Is(err, metrics.ErrNotLoopback) {
			t.Errorf("%q: %v, expected a refusal", address, err)
		}
	}
}

func TestTheListenerAnswersAndStopsWithItsContext(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := metrics.New().Listen(ctx, address, slog.New(slog.DiscardHandler))
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		tr := &http.Transport{}
		for url, want := range map[string]int{r.URL: 200, strings.TrimSuffix(r.URL, "metrics"): 404} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != want {
				t.Errorf("%s: %d %v", url, res.StatusCode, err)
			}
			res.Body.Close()
		}
		tr.CloseIdleConnections()
		cancel()
		if err := r.Wait(); err != nil {
			t.Errorf("%v after an orderly end", err)
		}
	}
}

// A name that somebody lets mean 127.0.0.1 must not open the figures to a page in the operator's browser.
func TestAForeignHostGetsNoFigures(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := metrics.New().Listen(ctx, "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	way := &http.Transport{DisableKeepAlives: true}
	for host, want := range map[string]int{
		"": 200, "localhost": 200, "localhost:9464": 200, "LOCALHOST.": 200, "[::1]:9464": 200, "127.8.8.8": 200,
		"evil.example": 421, "evil.example:80": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421,
		"10.0.0.1": 421, "0.0.0.0": 421,
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := way.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != want ||
			want != 200 && strings.Contains(string(raw), "coffer_") {
			t.Errorf("host %q: %d %v, expected %d", host, res.StatusCode, err, want)
		}
	}
	cancel()
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAWrongPortIsNamed(t *testing.T) {
	for _, a := range []string{"9464", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http", "127.0.0.1:-1"} {
		if err := metrics.CheckAddress(a); !errors.Is(err, metrics.ErrNotLoopback) {
			t.Errorf("%q: %v", a, err)
		}
	}
}
