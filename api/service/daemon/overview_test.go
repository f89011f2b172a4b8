package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coffer/api/service/metrics"
	"coffer/api/service/overview"
)

// What is not known is not among the figures, and never zero.
func TestFiguresOfChains(t *testing.T) {
	n := uint64(12)
	o := overview.Overview{At: time.Unix(1000, 0), Exposure: "12.5", Cap: "100", Chains: []overview.Chain{
		{ID: 10, Quorum: 2, Gas: "1500000000000000000", Operations: &n, Lane: overview.Lane{Known: true, Waiting: 3},
			Endpoints: []overview.Endpoint{{State: "up"}, {State: "resting"}},
			Stock:     []overview.Stock{{Symbol: "USDC", Decimals: 6, Has: "2500000", Promised: "0", Free: "1000000"}}},
		{ID: 8453, Quorum: 1, Lane: overview.Lane{Stopped: "why"}},
	}, Escrowed: []overview.Deposit{{Deadline: time.Unix(1060, 0)}}}
	m := metrics.New()
	m.Watch(metrics.Gauges{Chains: func() []metrics.Figure { return chainFigures(o) }})
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost/metrics", nil))
	raw, _ := io.ReadAll(rec.Body)
	text := string(raw)
	for _, line := range []string{`coffer_chain_gas_coins{chain="10"} 1.5`,
		`coffer_chain_gas_operations{chain="10"} 12`,
		`coffer_chain_nodes_up{chain="10"} 1`, `coffer_chain_nodes{chain="10"} 2`, `coffer_chain_quorum{chain="10"} 2`,
		`coffer_chain_lane_waiting{chain="10"} 3`, `coffer_chain_lane_stopped{chain="8453"} 1`,
		`coffer_chain_stock{chain="10",asset="USDC"} 2.5`, `coffer_chain_stock_free{chain="10",asset="USDC"} 1`,
		`coffer_chain_stock_promised{chain="10",asset="USDC"} 0`, "coffer_escrow_usd 12.5", "coffer_escrow_cap_usd 100",
		"coffer_escrow_deposits 1", "coffer_escrow_seconds 60", "coffer_alerts "} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	for _, part := range []string{`coffer_chain_gas_coins{chain="8453"}`, `coffer_chain_lane_waiting{chain="8453"}`} {
		if strings.Contains(text, part) {
			t.Errorf("%s is not known", part)
		}
	}
	if strings.Count(text, "# TYPE coffer_chain_nodes ") != 1 {
		t.Error("a name has its help more than once")
	}
}
