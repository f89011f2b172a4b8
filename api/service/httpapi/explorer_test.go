package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/httpapi"
)

// withoutKey is how a browser asks.
func (b *bench) withoutKey(path string) *httptest.ResponseRecorder {
	return b.send(httptest.NewRequest(http.MethodGet, path, nil))
}

func TestExplorerShowsTheDecodedReceiptWithoutAKey(t *testing.T) {
	b := newBench(t)
	block, ok, err := b.in.Chains[8453].Block(1)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var transfer chain.Receipt
	for _, r := range block.Receipts {
		if r.To == common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913") {
			transfer = r
		}
	}
	w := b.withoutKey("/api" + httpapi.ExplorerPath(caip.EVM(8453), transfer.TxHash))
	page := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %s", w.Code, w.Header())
	}
	for _, want := range []string{transfer.TxHash.Hex(), "Base (eip155:8453)", "Success", "treasury", "Transfer", "200,000,000 USDC"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
}

func TestExplorerEscapesWhatTheAddressSays(t *testing.T) {
	b := newBench(t)
	hash := "0x" + strings.Repeat("0", 64)
	for _, path := range []string{
		"/api/explorer/%3Cscript%3Ealert(1)%3C%2Fscript%3E/tx/" + hash,
		"/api/explorer/eip155:1/tx/%3Cimg%20src=x%20onerror=alert(1)%3E",
		"/api/explorer/eip155:1%22onload=alert(1)/tx/" + hash,
		"/api/explorer/eip155:56/tx/" + hash, "/api/explorer/eip155:1/tx/" + hash, "/api/explorer/solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/tx/" + hash,
	} {
		w := b.withoutKey(path)
		if w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
		for _, raw := range []string{"<script", "<img", `"onload`} {
			if strings.Contains(w.Body.String(), raw) {
				t.Errorf("%s: the page holds %q", path, raw)
			}
		}
	}
}
