package operator

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

// withSolana adds the ledger to the file, through a proxy.
func (w *world) withSolana() (*networks.Solana, *faultproxy.Proxy) {
	w.Helper()
	p, err := rpcpool.New(rpcpool.Options{URLs: []rpcpool.Endpoint{{URL: w.solana}}, Solana: strings.Repeat("1", 32)})
	if err != nil {
		w.Fatal(err)
	}
	defer p.Close()
	err = p.Call(w.Context(), nil, "getSlot")
	if !errors.Is(err, rpcpool.ErrOtherChain) {
		w.Fatal(err)
	}
	_, rest, _ := strings.Cut(err.Error(), "it serves chain ")
	s, err := networks.ShippedSolana()
	if err != nil {
		w.Fatal(err)
	}
	if s.ID, err = caip.ParseChain("solana:" + rest[:32]); err != nil {
		w.Fatal(err)
	}
	proxy := faultproxy.New(w.ledger(), 1)
	w.Cleanup(proxy.Close)
	s.RPC = []string{proxy.URL}
	w.file.Solana = s
	w.write()
	return s, proxy
}

// ledger passes requests on to the endpoint of the ledger.
func (w *world) ledger() http.Handler {
	at, err := url.Parse(w.solana)
	if err != nil {
		w.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL, r.Out.Host = at, at.Host }}
}

// checks says what Check finds on the Solana chain, and how much is missing there.
func (w *world) checks() (string, int) {
	w.Helper()
	s, err := Look(w.Context(), w.options())
	if err != nil {
		w.Fatal(err)
	}
	last := s.Chains[len(s.Chains)-1]
	if len(s.Chains) != len(w.file.Chains)+1 || last.Chain != w.file.Solana.ID.String() {
		w.Fatalf("%+v", last)
	}
	s.Chains = []*Report{last}
	var out bytes.Buffer
	if err := s.table(&out); err != nil {
		w.Fatal(err)
	}
	return out.String(), last.missing()
}

func TestCheckTriesASolanaChain(t *testing.T) {
	w := embedded(t)
	s, _ := w.withSolana()
	out, missing := w.checks()
	if missing > 0 {
		t.Error(missing)
	}
	says(t, out, "Solana", s.ID.String()+", slot ", "newest slot", "finalized", "0 slots behind the newest",
		"System, Token, Associated Token Account and Memo are there", "1 of 1 have the decimals of the file")
	w.json = true
	_ = Check(t.Context(), w.options()) // no contract was deployed
	if all := w.out.String(); !strings.Contains(all, `{"chain":"`+s.ID.String()+`","name":"Solana"`) {
		t.Error(all)
	}
}

func TestCheckSaysWhatASolanaChainLacks(t *testing.T) {
	w := embedded(t)
	s, _ := w.withSolana()
	usdc := s.Mints[0]
	s.Mints[0].Decimals, s.Mints[0].Aggregate = 8, "ob:own"
	s.Mints = append(s.Mints, networks.Mint{Key: [32]byte{9}, Symbol: "NONE", Decimals: 1, Aggregate: "ob:none"})
	w.write()
	out, missing := w.checks()
	if missing != 2 {
		t.Error(missing)
	}
	says(t, out, "it has 6 decimals, the file says 8", "there is no mint at "+caip.FormatSolanaKey([32]byte{9}))
	// An endpoint of another chain is not used, whatever it answers.
	s.Mints = []networks.Mint{usdc}
	s.ID, _ = caip.ParseChain("solana:" + strings.Repeat("2", 32))
	w.write()
	out, _ = w.checks()
	says(t, out, "this endpoint is not used", "it serves chain ", "0 of 1 answer, and 1 endpoint must agree")
}

// Programs and mints are what a quorum of the nodes says.
func TestALyingNodeOfSolanaIsFoundByCheck(t *testing.T) {
	w := embedded(t)
	s, proxy := w.withSolana()
	honest := httptest.NewServer(w.ledger())
	t.Cleanup(honest.Close)
	s.RPC, s.Quorum = append(s.RPC, honest.URL), 2
	w.write()
	if out, missing := w.checks(); missing != 0 {
		t.Fatal(out)
	}
	proxy.Script(faultproxy.Rule{On: "getMultipleAccounts", Fault: faultproxy.Lie("value", []any{nil})})
	out, missing := w.checks()
	if missing != 2 {
		t.Error("a quorum of one liar and one honest node")
	}
	says(t, out, "2 endpoints must give the same answer to getMultipleAccounts")
}
