package httpapi_test

import (
	"context"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/httpapi"
)

// withoutKey is how a browser asks.
func (b *bench) withoutKey(path string) *httptest.ResponseRecorder {
	return b.send(httptest.NewRequest(http.MethodGet, path, nil))
}

func TestExplorerShowsTheDecodedReceiptWithoutAKey(t *testing.T) {
	b := newBench(t)
	base := b.in.Chains[8453]
	block, err := base.Seal(context.Background(), chain.SealRequest{Time: base.Head().Time, Txs: []chain.Tx{{
		From: b.in.Treasury, To: common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
		Data: erc20.Transfer(common.Address{7}, big.NewInt(200_000_000_000_000)), Gas: 100_000,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	transfer := block.Receipts[0]
	w := b.withoutKey("/api" + httpapi.TransactionPath(caip.EVM(8453), transfer.TxHash.Hex()))
	page := w.Body.String()
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %s", w.Code, w.Header())
	}
	for _, want := range []string{transfer.TxHash.Hex(), "Base (eip155:8453)", "Success", "treasury", "Transfer",
		"200,000,000 USDC"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
}

// explained is the page of a transaction that is sealed for it.
func (b *bench) explained(t *testing.T, on uint64, tx chain.Tx) string {
	t.Helper()
	ch := b.in.Chains[on]
	block, err := ch.Seal(context.Background(), chain.SealRequest{Time: ch.Head().Time, Txs: []chain.Tx{tx}})
	if err != nil {
		t.Fatal(err)
	}
	w := b.withoutKey("/api" + httpapi.TransactionPath(caip.EVM(on), block.Receipts[0].TxHash.Hex()))
	if w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestExplorerShowsCoinsInWholeUnits(t *testing.T) {
	b := newBench(t)
	page := b.explained(t, 10, chain.Tx{From: b.in.Treasury, To: common.Address{7},
		Value: big.NewInt(55_900_000_000_000_000)})
	if !strings.Contains(page, "0.0559 ETH") {
		t.Errorf("the page does not show what was sent: %s", page)
	}
}

func TestExplorerShowsDepositsInWholeUnitsWithDateAndNames(t *testing.T) {
	b := newBench(t)
	deadline := b.in.Chains[10].Head().Time + 3600
	data := escrow.DepositCalldata(escrow.Deposit{QuoteID: [32]byte{1}, Amount: big.NewInt(2.5e18),
		RefundDeadline: deadline}, escrow.Terms{FillDeadline: deadline - 1, Operations: [][32]byte{{2}}})
	page := b.explained(t, 10, chain.Tx{From: b.in.Treasury, To: b.in.Pins.Escrow,
		Value: big.NewInt(2_500_000_000_000_000_000), Data: data})
	date := time.Unix(int64(deadline), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	for _, want := range []string{"Deposited", "2500000000000000000 = 2.5 ETH", date, "treasury", "escrow"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q: %s", want, page)
		}
	}
}

// TestExplorerReadsTheEscrowOfVersion1: its events are logged here by the creation of a contract without code.
func TestExplorerReadsTheEscrowOfVersion1(t *testing.T) {
	b := newBench(t)
	at, quote, depositor := b.in.Chains[10].Head().Time, common.Hash{0xaa, 31: 1}, common.Hash{31: 0xd0}
	date := time.Unix(int64(at), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	usdc := common.BytesToHash(common.FromHex("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"))
	word := func(v int64) common.Hash { return common.BigToHash(big.NewInt(v)) }
	for _, c := range []struct {
		event, third string
		topic        common.Hash
		data         [2]common.Hash
		want         []string
	}{
		{"Deposited(bytes32,address,address,uint256,uint64)", "token", usdc,
			[2]common.Hash{word(1_500_000), word(int64(at))}, []string{"Deposited", "USDC token", "1.5 USDC", date}},
		{"Released(bytes32,address,address,address,uint256)", "to", common.BytesToHash(b.in.Pins.Paymaster[:]),
			[2]common.Hash{usdc, word(1_500_000)}, []string{"Released", "filler", "USDC token", "1.5 USDC"}},
	} {
		push := func(code []byte, words ...common.Hash) []byte {
			for _, w := range words {
				code = append(append(code, 0x7f), w[:]...)
			}
			return code
		}
		code := append(push(nil, c.data[0]), 0x5f, 0x52)       // mstore(0, first)
		code = append(push(code, c.data[1]), 0x60, 0x20, 0x52) // mstore(32, second)
		code = push(code, c.topic, depositor, quote, crypto.Keccak256Hash([]byte(c.event)))
		code = append(code, 0x60, 0x40, 0x5f, 0xa4, 0x5f, 0x5f, 0xf3) // log4(0, 64), return(0, 0)
		page := b.explained(t, 10, chain.Tx{From: b.in.Treasury, To: evm.DeterministicDeployer(),
			Data: append(make([]byte, 32), code...)})
		for _, want := range append(c.want, quote.Hex(), "depositor", c.third) {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page does not show %q: %s", c.event, want, page)
			}
		}
	}
}

func TestExplorerNamesTokensAndShowsAuthorizations(t *testing.T) {
	b := newBench(t)
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("an account that lends itself")))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := op.Authorization{ChainID: big.NewInt(8453), Address: b.in.Pins.KernelV33}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	usdc := common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	page := b.explained(t, 8453, chain.Tx{
		From: b.in.Treasury, To: usdc, Data: erc20.Transfer(b.in.Pins.Solver, big.NewInt(1_500_000)),
		Authorizations: []op.SignedAuthorization{signed},
	})
	for _, want := range []string{
		"1500000 = 1.5 USDC", "USDC token", "filler", crypto.PubkeyToAddress(key.PublicKey).Hex(),
		"lends itself to " + b.in.Pins.KernelV33.Hex() + " Kernel v3.3",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %q: %s", want, page)
		}
	}
}

// TestExplorerWritesBytesInHex: also those of other lengths than 32, as the account's root validator has.
func TestExplorerWritesBytesInHex(t *testing.T) {
	b := newBench(t)
	pins := b.in.Pins
	owner := common.HexToAddress("0x1111111111111111111111111111111111111111")
	page := b.explained(t, 10, chain.Tx{From: b.in.Treasury, To: pins.MetaFactory,
		Data: op.FactoryData(pins.Factory, op.InitDataECDSA(pins.ECDSAValidator, owner), new(big.Int))})
	if want := "0x01" + strings.ToLower(pins.ECDSAValidator.Hex()[2:]); !strings.Contains(page, want) ||
		strings.Contains(page, "[1 ") {
		t.Errorf("the page does not show %q: %s", want, page)
	}
}

func TestExplorerEscapesWhatTheAddressSays(t *testing.T) {
	b := newBench(t)
	hash := "0x" + strings.Repeat("0", 64)
	for _, path := range []string{
		"/api/explorer/%3Cscript%3Ealert(1)%3C%2Fscript%3E/tx/" + hash,
		"/api/explorer/eip155:1/tx/%3Cimg%20src=x%20onerror=alert(1)%3E",
		"/api/explorer/eip155:1%22onload=alert(1)/tx/" + hash,
		"/api/explorer/eip155:57/tx/" + hash, "/api/explorer/eip155:1/tx/" + hash,
		"/api/explorer/solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/tx/" + hash,
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

// A creation has no recipient, which is not the zero address; a payment to the zero address is one.
func TestExplorerSaysThatATransactionCreatesAContract(t *testing.T) {
	b := newBench(t)
	c, ok := b.in.Chains[10].(*evm.Chain)
	if !ok {
		t.Fatal("the chain is not in this process")
	}
	n := evm.NewNode(c, evm.NodeOptions{Dev: true})
	t.Cleanup(n.Close)
	send := func(nonce uint64, to *common.Address, code []byte) string {
		hash, sealed, err := n.SendAs(t.Context(), b.in.Faucet.Address(), types.NewTx(&types.DynamicFeeTx{
			ChainID: big.NewInt(10), Nonce: nonce, Gas: 100_000, GasFeeCap: big.NewInt(1e10), To: to, Data: code}))
		if err != nil || !sealed {
			t.Fatalf("sealed %t: %v", sealed, err)
		}
		return b.withoutKey("/api" + httpapi.TransactionPath(caip.EVM(10), hash.Hex())).Body.String()
	}
	from := b.in.Faucet.Address()
	nonce, err := n.PendingNonce(from)
	if err != nil {
		t.Fatal(err)
	}
	at := func(nonce uint64) string { return crypto.CreateAddress(from, nonce).Hex() }
	zero := common.Address{}.Hex()
	for _, c := range []struct {
		page, want, not string
	}{
		{send(nonce, nil, nil), "<td>creates a contract at " + at(nonce) + "</td>", zero},
		{send(nonce+1, nil, []byte{0xfe}), "<td>creates a contract, which failed: none is at " + at(nonce+1) + "</td>",
			zero},
		{send(nonce+2, new(common.Address), nil), zero, "creates"},
	} {
		if !strings.Contains(c.page, c.want) || strings.Contains(c.page, c.not) {
			t.Errorf("the page does not show %q, or shows %q: %s", c.want, c.not, c.page)
		}
	}
}
