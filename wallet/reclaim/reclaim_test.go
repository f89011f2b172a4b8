package reclaim_test

import (
	"encoding/hex"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/op/escrow"
	"coffer/wallet/flow"
	"coffer/wallet/reclaim"
)

var (
	holder    = common.HexToAddress("0xe5c0000000000000000000000000000000000001")
	depositor = common.HexToAddress("0xde00000000000000000000000000000000000002")
	quote     = strings.Repeat("ab", 32)
)

func refund() flow.Refund {
	return flow.Refund{QuoteID: "0x" + quote, Chain: "eip155:8453", ChainID: 8453, Escrow: holder, Depositor: depositor,
		Data: escrow.RefundCalldata(common.HexToHash(quote), depositor)}
}

// node answers for chain 8453 with one deposit.
type node struct {
	*testing.T
	answer  string // of the getter; "": it reverts
	reverts string // data of the revert of a refund, "" when it runs
	code    string
	status  string // of receipts
	coins   string
	sent    []*types.Transaction
}

func kept(state, deadline int64) string {
	return strings.Repeat("0", 64) + hex.EncodeToString(common.LeftPadBytes(big.NewInt(deadline).Bytes(), 32)) +
		hex.EncodeToString(common.LeftPadBytes(big.NewInt(state).Bytes(), 32)) +
		hex.EncodeToString(common.LeftPadBytes(big.NewInt(25).Bytes(), 32)) + strings.Repeat("0", 64)
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     jsontext.Value   `json:"id"`
		Method string           `json:"method"`
		Params []jsontext.Value `json:"params"`
	}
	if err := json.UnmarshalRead(r.Body, &q); err != nil {
		n.Error(err)
	}
	result, revert := n.result(q.Method, q.Params)
	if revert != "" {
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(q.ID) +
			`,"error":{"code":3,"message":"execution reverted","data":"0x` + strings.TrimPrefix(revert, "-") + `"}}`))
		return
	}
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + result + `}`))
}

func (n *node) result(method string, params []jsontext.Value) (result, revert string) {
	switch method {
	case "eth_chainId":
		return `"0x2105"`, ""
	case "eth_blockNumber", "eth_maxPriorityFeePerGas", "eth_getTransactionCount":
		return `"0x7"`, ""
	case "eth_getCode":
		return `"` + n.code + `"`, ""
	case "eth_getBalance":
		return `"` + n.coins + `"`, ""
	case "eth_estimateGas":
		return `"0x186a0"`, n.reverts
	case "eth_getBlockByNumber":
		return `{"number":"0x7","baseFeePerGas":"0x64"}`, ""
	case "eth_getTransactionReceipt":
		return `{"status":"` + n.status + `"}`, ""
	case "eth_call":
		if strings.Contains(string(params[0]), hexutil.Encode(refund().Data)) {
			return `"0x"`, n.reverts
		}
		if n.answer == "" {
			return "", "-"
		}
		return `"0x` + n.answer + `"`, ""
	case "eth_sendRawTransaction":
		var raw hexutil.Bytes
		tx := new(types.Transaction)
		if err := errors.Join(json.Unmarshal(params[0], &raw), tx.UnmarshalBinary(raw)); err != nil {
			n.Error(err)
		}
		n.sent = append(n.sent, tx)
		return `"` + tx.Hash().Hex() + `"`, ""
	}
	n.Errorf("the node is asked %s", method)
	return "null", ""
}

func opened(t *testing.T) (*node, *reclaim.Nodes) {
	t.Helper()
	n := &node{T: t, answer: kept(1, 1000), code: "0x60", status: "0x1", coins: "0xffffffffffff"}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	all, err := reclaim.New(t.Context(), reclaim.Options{URLs: []string{s.URL, s.URL}, Chains: []uint64{10, 8453},
		Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(all.Close)
	if all.Has(10) || !all.Has(8453) {
		t.Fatal("another chain is served")
	}
	return n, all
}

func TestWhatBecameOfADepositIsTheEscrowsWord(t *testing.T) {
	n, nodes := opened(t)
	selector := func(s string) string { return hex.EncodeToString(crypto.Keccak256([]byte(s))[:4]) }
	for name, c := range map[string]struct {
		answer, reverts string
		state           escrow.State
		due, known      bool
	}{
		"due":                {kept(1, 1000), "", escrow.Held, true, true},
		"not yet":            {kept(1, 1000), selector(escrow.NotYetSignature), escrow.Held, false, true},
		"released":           {kept(2, 1000), "", escrow.Released, false, true},
		"refunded":           {kept(3, 1000), "", escrow.Refunded, false, true},
		"never there":        {kept(0, 0), "", escrow.None, false, true},
		"an earlier, due":    {"", "", escrow.None, true, false},
		"an earlier, later":  {"", selector(escrow.NotYetSignature), escrow.Held, false, false},
		"an earlier, not":    {"", selector(escrow.NotHeldSignature), escrow.None, false, false},
		"an unknown answer":  {kept(9, 1000), "", escrow.None, true, false},
		"taken by a release": {kept(1, 1000), selector(escrow.NotHeldSignature), escrow.None, false, true},
	} {
		n.answer, n.reverts = c.answer, c.reverts
		got, err := nodes.Look(t.Context(), refund())
		if err != nil || got.State != c.state || got.Due != c.due || got.Known != c.known {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	n.answer, n.reverts = kept(1, 1000), "deadbeef"
	if _, err := nodes.Look(t.Context(), refund()); err == nil {
		t.Error("another revert says nothing")
	}
	n.code = "0x"
	if _, err := nodes.Look(t.Context(), refund()); err == nil || !strings.Contains(err.Error(), "another network") {
		t.Errorf("no contract: %v", err)
	}
}

// What is signed is the refund call of the journal: to its escrow, with no value, once.
func TestNothingButTheRefundIsSent(t *testing.T) {
	n, nodes := opened(t)
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	payer := crypto.PubkeyToAddress(key.PublicKey)
	bill, err := nodes.Prepare(t.Context(), refund(), payer)
	if err != nil || bill.Cost.Cmp(big.NewInt(120_000*207)) != 0 {
		t.Fatalf("%+v, %v", bill, err)
	}
	n.coins = "0x1"
	var poor *reclaim.PoorError
	if _, err := nodes.Send(t.Context(), bill, key); !errors.As(err, &poor) || poor.From != payer || len(n.sent) > 0 {
		t.Fatalf("without coins: %v", err)
	}
	n.coins = "0xffffffffffff"
	hash, err := nodes.Send(t.Context(), bill, key)
	if err != nil || len(n.sent) != 1 {
		t.Fatal(err, len(n.sent))
	}
	tx := n.sent[0]
	from, err := types.Sender(types.LatestSignerForChainID(big.NewInt(8453)), tx)
	if err != nil || from != payer || tx.Hash() != hash || *tx.To() != holder || tx.Value().Sign() != 0 ||
		hexutil.Encode(tx.Data()) != hexutil.Encode(refund().Data) || tx.Nonce() != 7 {
		t.Errorf("%v %+v", err, tx)
	}
	n.status = "0x0"
	if _, err := nodes.Send(t.Context(), bill, key); !errors.Is(err, reclaim.ErrReverted) {
		t.Errorf("a call that came second: %v", err)
	}
	n.reverts = "deadbeef"
	if _, err := nodes.Prepare(t.Context(), refund(), payer); err == nil {
		t.Error("a call that reverts is signed")
	}
}

func TestAnEndpointServesOneOfTheChains(t *testing.T) {
	s := httptest.NewServer(&node{T: t})
	defer s.Close()
	for _, chains := range [][]uint64{{10}, nil} {
		_, err := reclaim.New(t.Context(), reclaim.Options{URLs: []string{s.URL}, Chains: chains})
		if err == nil {
			t.Errorf("%v", chains)
		}
	}
}
