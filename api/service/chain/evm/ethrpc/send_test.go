package ethrpc

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

func TestASentTransactionIsSealedWhenTheAnswerComes(t *testing.T) {
	l := newLab(t)
	hash := l.note(number(5))
	rc := into[types.Receipt](t, l.call("eth_getTransactionReceipt", hash))
	if rc.Status != 1 || rc.BlockNumber.Uint64() != l.node.Head().Number.Uint64() {
		t.Errorf("%+v", rc)
	}
}

func TestATransactionThatBreaksARuleIsRefusedInGoEthereumsWords(t *testing.T) {
	l := newLab(t)
	l.note(number(5))
	rich, poor := key(0), key(9)
	bad := func(change func(*types.DynamicFeeTx)) hexutil.Bytes {
		tx := dynamic(1, &echoes.at, 0, nil)
		change(tx)
		return rawOf(t, sign(t, rich, tx))
	}
	for _, c := range []struct {
		raw  hexutil.Bytes
		text string
	}{
		{nil, "typed transaction too short"},
		{hexutil.Bytes{0x7f, 1, 2}, "transaction type not supported"},
		{hexutil.Bytes{0xc0}, "rlp: too few elements for types.LegacyTx"},
		{bad(func(tx *types.DynamicFeeTx) { tx.Nonce = 0 }), "nonce too low: next nonce 1, tx nonce 0"},
		{bad(func(tx *types.DynamicFeeTx) { tx.Gas = 20_999 }),
			"intrinsic gas too low: gas 20999, minimum needed 21000"},
		{bad(func(tx *types.DynamicFeeTx) { tx.Gas = 16_777_217 }),
			"transaction gas limit too high (cap: 16777216, tx: 16777217)"},
		{bad(func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(1e15) }),
			"tx fee (200.00 ether) exceeds the configured cap (1.00 ether)"},
		{rawOf(t, sign(t, poor, dynamic(0, &echoes.at, 1, nil))), "insufficient funds for gas * price + value: " +
			"balance 0, tx cost 4000000000000001, overshot 4000000000000001"},
	} {
		l.fails(-32000, c.text, "eth_sendRawTransaction", c.raw)
	}
	tx, err := types.SignNewTx(rich, types.HomesteadSigner{}, &types.LegacyTx{
		Nonce: 1, GasPrice: big.NewInt(2 * gwei), Gas: 21_000, To: &echoes.at,
	})
	if err != nil {
		t.Fatal(err)
	}
	l.fails(-32000, "only replay-protected (EIP-155) transactions allowed over RPC", "eth_sendRawTransaction",
		rawOf(t, tx))
	l.is(`"0x1"`, "eth_blockNumber")
}

func TestAGapIsHeldAndSealedWhenItCloses(t *testing.T) {
	l := newLab(t)
	var sent []*types.Transaction
	for n := range uint64(3) {
		sent = append(sent, sign(t, key(0), dynamic(n, &echoes.at, 1, nil)))
	}
	for _, i := range []int{1, 2} {
		l.is(`"`+sent[i].Hash().Hex()+`"`, "eth_sendRawTransaction", rawOf(t, sent[i]))
	}
	l.is(`{"pending":"0x0","queued":"0x2"}`, "txpool_status")
	l.is("null", "eth_getTransactionReceipt", sent[1].Hash())
	held := into[Transaction](t, l.call("eth_getTransactionByHash", sent[1].Hash()))
	if held.BlockHash != nil || held.GasPrice.ToInt().Int64() != 20*gwei || held.From != addr(key(0)) {
		t.Errorf("%+v", held)
	}
	l.is(`"`+hexutil.Encode(rawOf(t, sent[1]))+`"`, "eth_getRawTransactionByHash", sent[1].Hash())
	content := into[map[string]map[string]map[string]Transaction](t, l.call("txpool_content"))
	if got := content["queued"][addr(key(0)).Hex()]["2"]; got.Hash != sent[2].Hash() || len(content["pending"]) != 0 {
		t.Errorf("%+v", content)
	}
	from := into[map[string]map[string]Transaction](t, l.call("txpool_contentFrom", addr(key(0))))
	if from["queued"]["1"].Hash != sent[1].Hash() {
		t.Errorf("%+v", from)
	}
	l.is(`{"pending":{},"queued":{"`+addr(key(0)).Hex()+`":{"1":"`+echoes.at.Hex()+
		`: 1 wei + 200000 gas × 20000000000 wei","2":"`+echoes.at.Hex()+`: 1 wei + 200000 gas × 20000000000 wei"}}}`,
		"txpool_inspect")
	l.is(`"`+sent[0].Hash().Hex()+`"`, "eth_sendRawTransaction", rawOf(t, sent[0]))
	l.is(`"0x1"`, "eth_blockNumber")
	l.is(`"0x3"`, "eth_getBlockTransactionCountByNumber", "latest")
	l.is(`{"pending":"0x0","queued":"0x0"}`, "txpool_status")
}

func TestASynchronousSendAnswersWithTheReceiptOrTheHash(t *testing.T) {
	l := newLab(t)
	tx := sign(t, key(0), dynamic(0, &echoes.at, 1, nil))
	if rc := into[types.Receipt](t, l.call("eth_sendRawTransactionSync", rawOf(t, tx))); rc.TxHash != tx.Hash() {
		t.Errorf("%+v", rc)
	}
	gap := sign(t, key(0), dynamic(2, &echoes.at, 1, nil))
	err := l.fails(4, "The transaction was added to the transaction pool but wasn't processed in 5ms",
		"eth_sendRawTransactionSync", rawOf(t, gap), 5)
	if err.Data != gap.Hash() {
		t.Errorf("%v", err.Data)
	}
	next, closes := sign(t, key(0), dynamic(3, &echoes.at, 1, nil)), sign(t, key(0), dynamic(1, &echoes.at, 1, nil))
	go func() {
		if _, err := l.node.Submit(t.Context(), closes); err != nil {
			t.Error(err)
		}
	}()
	rc := into[types.Receipt](t, l.call("eth_sendRawTransactionSync", rawOf(t, next), "0x2710"))
	if rc.TxHash != next.Hash() {
		t.Errorf("%+v", rc)
	}
}

func TestAFilledTransactionIsAcceptedOnceItIsSigned(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	w, from := number(2), addr(key(0))
	for typ, extra := range map[uint8]object{
		types.DynamicFeeTxType: {}, types.LegacyTxType: {"gasPrice": "0x77359400"},
		types.AccessListTxType: {"gasPrice": "0x77359400", "accessList": []any{}},
		types.SetCodeTxType: {"authorizationList": []any{object{
			"chainId": "0x2105", "address": echoes.at, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}}},
	} {
		extra["from"], extra["to"], extra["input"] = from, notes.at, w
		f := into[Filled](t, l.call("eth_fillTransaction", extra))
		if f.Tx.Type() != typ || f.Tx.Nonce() != l.nonce(key(0)) {
			t.Errorf("type %d: %+v", typ, f.Tx)
		}
		if most := new(big.Int).Lsh(l.node.Head().BaseFee, 1); extra["gasPrice"] == nil &&
			f.Tx.GasFeeCap().Cmp(most.Add(most, big.NewInt(gwei))) != 0 {
			t.Errorf("type %d: at most %s a unit of gas", typ, f.Tx.GasFeeCap())
		}
		var again types.Transaction
		if err := again.UnmarshalBinary(f.Raw); err != nil || again.Hash() != f.Tx.Hash() {
			t.Errorf("type %d: %v", typ, err)
		}
		signed, err := types.SignTx(f.Tx, types.LatestSigner(l.node.Config()), key(0))
		if err != nil {
			t.Fatal(err)
		}
		l.call("eth_sendRawTransaction", rawOf(t, signed))
		rc := into[types.Receipt](t, l.call("eth_getTransactionReceipt", signed.Hash()))
		if rc.Status != 1 {
			t.Errorf("type %d: %+v", typ, rc)
		}
	}
	err := l.fails(3, "execution reverted", "eth_fillTransaction", object{"from": from, "to": reverts.at})
	if err.Data != "0x" {
		t.Errorf("%v", err.Data)
	}
	for text, args := range map[string]object{
		"contract creation without any data provided": {"from": from},
		"maxFeePerGas (1) < maxPriorityFeePerGas (2)": {
			"to": from, "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x2"},
		"gasPrice must be non-zero after london fork": {"to": from, "gasPrice": "0x0"},
		`both "data" and "input" are set and not equal. Please use "input" to pass transaction call data`: {
			"to": from, "data": "0x01", "input": "0x02"},
		"blob transactions are not supported by this chain": {"to": from, "blobs": []any{"0x"}},
	} {
		l.fails(-32000, text, "eth_fillTransaction", args)
	}
}
