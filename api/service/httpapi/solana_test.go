package httpapi_test

import (
	"context"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/httpapi"
)

// sealed puts one transaction of the faucet on the ledger and returns its page.
func (b *bench) sealed(t *testing.T, accept func([]solana.Receipt) error, builds ...solmsg.Build) (int, string,
	solana.Receipt) {
	t.Helper()
	hash, _, _ := b.in.Solana.Blockhash(context.Background(), uint64(now().Unix()))
	m, err := solmsg.Compose(b.in.SolanaFaucet.Key(), hash, builds...)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := solana.Sign(t.Context(), m, b.in.SolanaFaucet)
	if err != nil {
		t.Fatal(err)
	}
	receipts, err := b.in.Solana.Seal(context.Background(),
		solana.SealRequest{Time: uint64(now().Unix()), Txs: []solana.Tx{tx},
			Accept: accept})
	if err != nil {
		t.Fatal(err)
	}
	w := b.withoutKey("/api" + httpapi.TransactionPath(caip.SolanaMainnet(), receipts[0].Signature))
	if ct := w.Header().Get("Content-Type"); ct != "text/html; charset=utf-8" {
		t.Errorf("Content-Type %q", ct)
	}
	return w.Code, w.Body.String(), receipts[0]
}

func TestExplorerShowsADecodedSolanaTransaction(t *testing.T) {
	b := newBench(t)
	faucet, friend := b.in.SolanaFaucet.Key(), solmsg.Key{7, 7, 7}
	usdc, err := caip.ParseAsset(
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	if err != nil {
		t.Fatal(err)
	}
	pay, err := b.in.SolanaTransfer(context.Background(), faucet, friend, faucet, usdc, big.NewInt(12_500_000))
	if err != nil {
		t.Fatal(err)
	}
	builds := append(pay, solmsg.SystemTransfer(faucet, friend, 1_500_000_000), solmsg.Memo("0xabc"))
	status, page, rc := b.sealed(t, solana.AllSucceed, builds...)
	if status != http.StatusOK {
		t.Fatal(status, page)
	}
	for _, want := range []string{
		rc.Signature, "Solana (solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp)", "Success", "faucet", "CreateIdempotent",
		"TransferChecked", "12.5 USDC", "Transfer", "1.5 SOL",
		"Memo", "0xabc", friend.String(), "SPL Token", "Balance changes", "\u2212", "Log",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

func TestExplorerSaysWhyASolanaTransactionFailed(t *testing.T) {
	b := newBench(t)
	faucet := b.in.SolanaFaucet.Key()
	_, page, rc := b.sealed(t, nil, solmsg.SystemTransfer(faucet, solmsg.Key{7}, 1<<62))
	if rc.Success || !strings.Contains(page, "Failed") || !strings.Contains(page, "Reason") ||
		!strings.Contains(page, "instruction 1") {
		t.Errorf("%+v\n%s", rc, page)
	}
}

func TestExplorerEscapesAHostileMemo(t *testing.T) {
	b := newBench(t)
	const memo = `<script>alert(1)</script><img src=x onerror=alert(2)>` + "\u202e\u0007"
	status, page, _ := b.sealed(t, nil, solmsg.Memo(memo))
	if status != http.StatusOK || !strings.Contains(page, "alert(1)") {
		t.Fatal(status, page)
	}
	for _, raw := range []string{"<script", "<img", "\u202e", "\u0007"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page holds %q", raw)
		}
	}
}

func FuzzExplorerPath(f *testing.F) {
	b := newBench(f)
	f.Add("eip155:1", "0x"+strings.Repeat("0", 64))
	f.Add(caip.SolanaMainnet().String(), solanaTx)
	f.Add("<script>", "\"onload=\x00")
	f.Fuzz(func(t *testing.T, chain, hash string) {
		r, err := http.NewRequest(http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Path = "/api/explorer/" + chain + "/tx/" + hash
		w := b.send(r)
		html := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
		if w.Code != http.StatusNotFound || html && strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%q %q: %d %.300s", chain, hash, w.Code, w.Body)
		}
	})
}
