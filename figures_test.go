//go:build unix

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// TestServeMetricsAreOnALoopbackListenerOfTheirOwn: what was asked over TLS is counted there, without the key, and the open port has no metrics.
func TestServeMetricsAreOnALoopbackListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	cmd, _, line, _ := served(t, env, "--metrics", "127.0.0.1:0")
	var at struct {
		MetricsURL string `json:"metricsUrl"`
		APIKey     string `json:"apiKey"`
	}
	if err := json.Unmarshal([]byte(line), &at); err != nil || !strings.HasPrefix(at.MetricsURL, "http://127.0.0.1:") {
		t.Fatalf("%v %s", err, line)
	}
	if !admitted(t, reached(t, line, at.APIKey)) || admitted(t, reached(t, line, "wrong")) {
		t.Error("the key")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.MetricsURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`coffer_requests_total{endpoint="/chains/supported-list",permission="read",status="200"} 1`,
		`coffer_requests_total{endpoint="/chains/supported-list",permission="read",status="401"} 1`,
		"coffer_open_sagas 0", "coffer_store_bytes ", "go_memstats_heap_alloc_bytes ", "process_start_time_seconds ",
	} {
		if !strings.Contains(string(text), "\n"+want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), at.APIKey) {
		t.Error("the key is a label")
	}
	interrupt(t, cmd)
}
