package ethrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

func TestACallReturnsWhatTheContractReturns(t *testing.T) {
	l := newLab(t)
	l.is(`"0x1234"`, "eth_call", object{"to": echoes.at, "input": "0x1234"}, "latest")
	l.is(`"0x1234"`, "eth_call", object{"to": echoes.at, "data": "0x1234"})
	l.is(`"0x1234"`, "eth_call", object{"to": echoes.at, "data": "0x1234", "input": "0x1234"}, nil, nil, nil)
	l.is(`"0x"`, "eth_call", object{"to": addr(key(9)), "input": "0x1234"})
}

func TestADeploylessCallRunsInitCode(t *testing.T) {
	l := newLab(t)
	l.is(`"0x`+echoes.code+`"`, "eth_call", object{"data": hexutil.Bytes(deploys(echoes.code))})
	big := make([]byte, 49_152)
	l.is(`"0x"`, "eth_call", object{"data": hexutil.Bytes(big)})
	l.fails(-32000, "err: max initcode size exceeded: code size 49153 limit 49152 (supplied gas 50000000)",
		"eth_call", object{"data": hexutil.Bytes(append(big, 0))})
}

func TestARevertCarriesItsDataAndItsReason(t *testing.T) {
	l := newLab(t)
	panics := append(common.FromHex("4e487b71"), common.LeftPadBytes([]byte{0x12}, 32)...)
	for _, method := range []string{"eth_call", "eth_estimateGas"} {
		for _, c := range []struct {
			data []byte
			text string
		}{
			{reason(t, "plain reason"), "execution reverted: plain reason"},
			{panics, "execution reverted: division or modulo by zero"},
			{common.FromHex("0x12345678"), "execution reverted"},
			{nil, "execution reverted"},
		} {
			err := l.fails(3, c.text, method, object{"to": reverts.at, "input": hexutil.Bytes(c.data)})
			if want := hexutil.Encode(c.data); err.Data != want {
				t.Errorf("data is %v, want %s", err.Data, want)
			}
		}
	}
}

func TestOtherFaultsAreNamedAsGoEthereumDoes(t *testing.T) {
	l := newLab(t)
	poor, rich := addr(key(9)), addr(key(0))
	l.fails(-32000, "invalid opcode: INVALID", "eth_call", object{"to": invalidOp.at})
	l.fails(-32000, "out of gas", "eth_call", object{"to": hungry.at})
	l.fails(-32000, "gas required exceeds allowance (16777216)", "eth_estimateGas", object{"to": hungry.at})
	l.fails(-32000, "err: insufficient funds for gas * price + value: address "+poor.Hex()+
		" have 0 want 21000000000000 (supplied gas 21000)", "eth_call",
		object{"from": poor, "to": rich, "gas": "0x5208", "gasPrice": "0x3b9aca00"})
	l.fails(-32000, "err: insufficient funds for gas * price + value: address "+poor.Hex()+
		" have 0 want 1 (supplied gas 50000000)", "eth_call",
		object{"from": poor, "to": rich, "value": "0x1"})
	l.fails(-32000, "err: max fee per gas less than block base fee: address "+rich.Hex()+
		", maxFeePerGas: 1, baseFee: 1000000000 (supplied gas 50000000)", "eth_call",
		object{"from": rich, "to": poor, "maxFeePerGas": "0x1"})
	l.fails(-32000, "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified", "eth_call",
		object{"to": poor, "gasPrice": "0x1", "maxFeePerGas": "0x1"})
	l.fails(-32000, "chainId does not match node's (have=1, want=8453)", "eth_call", object{"chainId": "0x1"})
	l.fails(-32000, "blob transactions are not supported by this chain", "eth_call",
		object{"to": poor, "blobVersionedHashes": []common.Hash{{}}})
	l.fails(-32602, "missing value for required argument 0", "eth_call")
	l.fails(-32000, "header not found", "eth_call", object{"to": poor}, "0x5")
	l.fails(-32000, "header for hash not found", "eth_call", object{"to": poor}, object{"blockHash": common.Hash{1}})
}

func TestACallEndsWithItsRequest(t *testing.T) {
	l := newLab(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, method := range []string{"eth_call", "eth_estimateGas"} {
		_, err := l.try(ctx, method, object{"to": loops.at})
		if err == nil || err.Message != "execution aborted (timeout = 5s)" {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestOverridesAreSeenByOneCallOnly(t *testing.T) {
	l := newLab(t)
	word7 := number(7).Hex()
	l.is(`"`+word7+`"`, "eth_call", object{"to": slotZero.at}, "latest",
		object{slotZero.at.Hex(): object{"stateDiff": object{common.Hash{}.Hex(): word7}}})
	l.is(`"`+common.Hash{}.Hex()+`"`, "eth_call", object{"to": slotZero.at})
	l.note(number(9))
	code := object{"code": "0x" + slotZero.code}
	l.is(`"`+number(9).Hex()+`"`, "eth_call", object{"to": notes.at}, "latest", object{notes.at.Hex(): code})
	code["state"] = object{number(1).Hex(): word7} // replaces the storage: slot 0 is empty then
	l.is(`"`+common.Hash{}.Hex()+`"`, "eth_call", object{"to": notes.at}, "latest", object{notes.at.Hex(): code})
	poor := addr(key(9))
	l.is(`"0x"`, "eth_call", object{"from": poor, "to": echoes.at, "value": "0x5"}, "latest",
		object{poor.Hex(): object{"balance": "0x5", "nonce": "0x7"}})
	l.fails(-32000, "account "+notes.at.Hex()+" has both 'state' and 'stateDiff'", "eth_call", object{}, "latest",
		object{notes.at.Hex(): object{"state": object{}, "stateDiff": object{}}})
}

func TestAPrecompileCanBeMoved(t *testing.T) {
	l := newLab(t)
	identity, there := common.BytesToAddress([]byte{4}), addr(key(9))
	move := object{identity.Hex(): object{"movePrecompileToAddress": there}}
	l.is(`"0xabcd"`, "eth_call", object{"to": there, "input": "0xabcd"}, "latest", move)
	l.is(`"0x"`, "eth_call", object{"to": identity, "input": "0xabcd"}, "latest", move)
	l.is(`"0xabcd"`, "eth_call", object{"to": identity, "input": "0xabcd"}, "latest")
	l.fails(-32000, "account "+there.Hex()+" is not a precompile", "eth_call", object{}, "latest",
		object{there.Hex(): object{"movePrecompileToAddress": identity}})
	l.fails(-32000, "account "+there.Hex()+" is already overridden", "eth_call", object{}, "latest",
		object{identity.Hex(): object{"movePrecompileToAddress": there}, there.Hex(): object{"nonce": "0x1"}})
}

// told is what the contract says about the block that a call runs in.
func told(t *testing.T, raw json.RawMessage) (number, time, baseFee uint64, coinbase common.Address, price uint64) {
	t.Helper()
	b := unhex(t, raw)
	if len(b) != 192 {
		t.Fatalf("%x", b)
	}
	return word(b, 0), word(b, 1), word(b, 2), common.BytesToAddress(b[96:128]), word(b, 4)
}

func TestACallRunsInTheBlockItNames(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	l.note(number(2))
	head := l.node.Head()
	args := object{"to": tells.at}
	n, at, fee, _, _ := told(t, l.call("eth_call", args, "latest"))
	if n != 2 || at != head.Time || fee != 0 {
		t.Errorf("latest: %d %d %d", n, at, fee)
	}
	if n, at, _, _, _ = told(t, l.call("eth_call", args, "0x1")); n != 1 || at != head.Time-1 {
		t.Errorf("0x1: %d %d", n, at)
	}
	if n, at, _, _, _ = told(t, l.call("eth_call", args, "pending")); n != 3 || at != head.Time+1 {
		t.Errorf("pending: %d %d", n, at)
	}
	paid := object{"to": tells.at, "from": addr(key(0)), "maxFeePerGas": "0xee6b2800", "maxPriorityFeePerGas": "0x7"}
	_, _, fee, _, price := told(t, l.call("eth_call", paid, "latest"))
	if fee != head.BaseFee.Uint64() || price != fee+7 {
		t.Errorf("fees: %d %d", fee, price)
	}
	n, at, fee, who, price := told(t, l.call("eth_call", paid, "latest", nil, object{
		"number": "0x64", "time": "0x65", "baseFeePerGas": "0x66", "feeRecipient": echoes.at, "gasLimit": "0x1000000",
		"prevRandao": number(3), "difficulty": "0x1", "blobBaseFee": "0x1",
	}))
	if n != 100 || at != 101 || fee != 102 || who != echoes.at || price != 109 {
		t.Errorf("overridden: %d %d %d %s %d", n, at, fee, who, price)
	}
	l.fails(-32000, `block override "beaconRoot" is not supported for this RPC method`, "eth_call", args, "latest", nil,
		object{"beaconRoot": common.Hash{}})
	l.fails(-32000, `block override "withdrawals" is not supported for this RPC method`, "eth_call", args, "latest",
		nil, object{"withdrawals": []any{}})
}

func TestAnEstimateIsEnoughAndNotMuchMore(t *testing.T) {
	l := newLab(t)
	w := number(5)
	gas := into[hexutil.Uint64](t, l.call("eth_estimateGas",
		object{"from": addr(key(0)), "to": notes.at, "data": hexutil.Bytes(w[:])}))
	tx := dynamic(0, &notes.at, 0, w[:])
	tx.Gas = uint64(gas)
	rc := into[types.Receipt](t, l.call("eth_getTransactionReceipt", l.send(key(0), tx)))
	if rc.Status != 1 || uint64(gas) < rc.GasUsed || uint64(gas) > rc.GasUsed*13/10 {
		t.Errorf("estimated %d, used %d, status %d", gas, rc.GasUsed, rc.Status)
	}
	l.is(`"0x5208"`, "eth_estimateGas", object{"from": addr(key(0)), "to": addr(key(1)), "value": "0x1"}, "pending")
	l.is(`"0x5208"`, "eth_estimateGas", object{"to": addr(key(1)), "gas": "0x5208"}, "latest", object{}, object{})
}

func TestAnEstimateFollowsTheBalanceWhenFeesAreGiven(t *testing.T) {
	l := newLab(t)
	poor := addr(key(9))
	has := func(wei int64) object {
		return object{poor.Hex(): object{"balance": (*hexutil.Big)(big.NewInt(wei))}}
	}
	args := object{"from": poor, "to": notes.at, "input": number(5).Hex(), "gasPrice": "0x77359400"}
	l.fails(-32000, "gas required exceeds allowance (30000)", "eth_estimateGas", args, "latest", has(30_000*2*gwei))
	l.call("eth_estimateGas", args, "latest", has(90_000*2*gwei))
	args["value"] = "0x5"
	l.fails(-32000, "insufficient funds for transfer", "eth_estimateGas", args, "latest", has(4))
}

// An estimate without a block runs in the next one, where the transaction will be: a head may be old.
func TestAnEstimateWithoutABlockRunsInTheNext(t *testing.T) {
	l := newLab(t)
	head := l.node.Head()
	// reverts unless the block's number is the one that comes next
	code := fmt.Sprintf("0x43%s14600a575f5ffd5b00", "60"+fmt.Sprintf("%02x", head.Number.Uint64()+1))
	over := object{echoes.at.Hex(): object{"code": code}}
	l.call("eth_estimateGas", object{"to": echoes.at}, nil, over)
	l.call("eth_estimateGas", object{"to": echoes.at}, "pending", over)
	l.fails(3, "execution reverted", "eth_estimateGas", object{"to": echoes.at}, "latest", over)
}

func TestAnEstimateOfASetCodeTransactionPaysForIt(t *testing.T) {
	l := newLab(t)
	auth := object{"chainId": "0x2105", "address": echoes.at, "nonce": "0x0", "yParity": "0x0", "r": "0x1", "s": "0x1"}
	gas := into[hexutil.Uint64](t, l.call("eth_estimateGas",
		object{"to": addr(key(1)), "authorizationList": []any{auth}}))
	if gas < 46_000 {
		t.Errorf("%d", gas)
	}
	l.fails(-32000, "EIP-7702 transaction cannot be used to create contract", "eth_estimateGas",
		object{"authorizationList": []any{auth}})
}

func TestArgumentsThatCannotBeReadAreNamed(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct {
		method, text string
		params       []any
	}{
		{"eth_getBalance", "invalid argument 0: json: cannot unmarshal hex string without 0x prefix into Go value of " +
			"type common.Address", []any{strings.Repeat("00", 20)}},
		{"eth_getBalance", "invalid argument 1: hex string without 0x prefix", []any{common.Address{}, "12"}},
		{"eth_getBalance", "invalid argument 1: hex number with leading zero digits", []any{common.Address{}, "0x01"}},
		{"eth_getBalance", "invalid argument 1: block number larger than int64",
			[]any{common.Address{}, "0xffffffffffffffff"}},
		{"eth_getBalance", "invalid argument 1: must specify either BlockHash or BlockNumber",
			[]any{common.Address{}, object{}}},
		{"eth_getBalance", "too many arguments, want at most 2", []any{common.Address{}, "latest", 1}},
		{"eth_getStorageAt", `invalid argument 1: storage key too long (want at most 32 bytes): "0x` +
			strings.Repeat("00", 33) + `"`, []any{common.Address{}, "0x" + strings.Repeat("00", 33)}},
		{"eth_getStorageAt", `invalid argument 1: invalid hex in storage key: "0xzz"`, []any{common.Address{}, "0xzz"}},
		{"eth_getBlockByNumber", "missing value for required argument 1", []any{"latest"}},
	} {
		l.fails(-32602, c.text, c.method, c.params...)
	}
}
