package ethrpc

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// simulated is what is read of an answer of eth_simulateV1.
type simulated struct {
	Number, Timestamp, GasUsed hexutil.Uint64
	BaseFeePerGas              hexutil.Big
	Hash, ParentHash           common.Hash
	StateRoot                  common.Hash
	Transactions               []json.RawMessage
	Calls                      []struct {
		ReturnData hexutil.Bytes
		Logs       []types.Log
		GasUsed    hexutil.Uint64
		Status     hexutil.Uint64
		Error      *struct {
			Code    int
			Message string
			Data    string
		}
	}
}

func (l *lab) simulate(request string, at ...string) []simulated {
	l.tb.Helper()
	params := []any{json.RawMessage(request)}
	for _, a := range at {
		params = append(params, a)
	}
	var out []simulated
	if err := json.Unmarshal(l.call("eth_simulateV1", params...), &out); err != nil {
		l.tb.Fatal(err)
	}
	return out
}

func TestSimulatedBlocksFollowEachOtherOnTheSameState(t *testing.T) {
	l := newLab(t)
	from := addr(key(0)).Hex()
	out := l.simulate(`{"blockStateCalls":[
		{"calls":[{"from":"` + from + `","to":"` + notes.at.Hex() + `","input":"0x` + hex32(7) + `"},
			{"to":"` + slotZero.at.Hex() + `"}]},
		{"stateOverrides":{"` + slotZero.at.Hex() + `":{"stateDiff":{"0x` + hex32(0) + `":"0x` + hex32(9) + `"}}},
		 "calls":[{"to":"` + slotZero.at.Hex() + `"},{"to":"` + reverts.at.Hex() + `","input":"0x1234"},
			{"to":"` + invalidOp.at.Hex() + `","gas":"0x10000"}]}]}`)
	if len(out) != 2 || out[0].Number != 1 || out[1].Number != 2 || out[1].ParentHash != out[0].Hash ||
		out[1].Timestamp != out[0].Timestamp+12 || out[0].ParentHash != l.node.HeadHash() {
		t.Fatalf("%+v", out)
	}
	first, second := out[0].Calls, out[1].Calls
	if first[0].Status != 1 || len(first[0].Logs) != 1 || first[0].Logs[0].BlockHash != out[0].Hash ||
		first[0].Logs[0].Topics[0] != common.HexToHash(hex32(7)) {
		t.Errorf("%+v", first[0])
	}
	if got := second[0].ReturnData.String(); got != "0x"+hex32(9) {
		t.Errorf("the override gave %s", got)
	}
	if e := second[1].Error; e == nil || e.Code != 3 || e.Data != "0x1234" || second[1].Status != 0 {
		t.Errorf("%+v", second[1])
	}
	if e := second[2].Error; e == nil || e.Code != -32015 || second[2].GasUsed != 0x10000 {
		t.Errorf("%+v", second[2])
	}
	if out[1].GasUsed != second[0].GasUsed+second[1].GasUsed+second[2].GasUsed || out[0].StateRoot == out[1].StateRoot {
		t.Errorf("%+v", out[1])
	}
	l.is(`"0x0"`, "eth_blockNumber")
	l.is(`"0x`+hex32(0)+`"`, "eth_getStorageAt", notes.at, "0x0")
}

func TestASimulationShowsTransfersOfCoinAsEventsOfAToken(t *testing.T) {
	l := newLab(t)
	from, to := addr(key(0)), addr(key(1))
	out := l.simulate(`{"traceTransfers":true,"blockStateCalls":[{"calls":[
		{"from":"` + from.Hex() + `","to":"` + to.Hex() + `","value":"0x5"},
		{"from":"` + from.Hex() + `","to":"` + reverts.at.Hex() + `","value":"0x6"}]}]}`)
	logs := out[0].Calls[0].Logs
	if len(logs) != 1 || logs[0].Address != nativeToken || logs[0].Topics[2] != common.BytesToHash(to[:]) ||
		new(big.Int).SetBytes(logs[0].Data).Int64() != 5 {
		t.Errorf("%+v", logs)
	}
	if got := out[0].Calls[1].Logs; len(got) != 0 {
		t.Errorf("a transfer that was taken back is shown: %+v", got)
	}
}

func TestASimulationFillsGapsOfNumbersAndKeepsTheirOrder(t *testing.T) {
	l := newLab(t)
	out := l.simulate(`{"blockStateCalls":[{"blockOverrides":{"number":"0x4","time":"0x7fffffff"}}]}`)
	if len(out) != 4 || out[3].Number != 4 || out[3].Timestamp != 0x7fffffff || len(out[0].Transactions) != 0 {
		t.Fatalf("%+v", out)
	}
	for _, bad := range []struct {
		code    int
		request string
	}{
		{-38020, `{"blockStateCalls":[{"blockOverrides":{"number":"0x3"}},{"blockOverrides":{"number":"0x3"}}]}`},
		{-38021, `{"blockStateCalls":[{"blockOverrides":{"time":"0x1"}}]}`},
		{-38026, `{"blockStateCalls":[{"blockOverrides":{"number":"0xffffff"}}]}`},
		{-32602, `{"blockStateCalls":[]}`},
		{-32602, `{"blockStateCalls":[{"blockOverrides":{"nummer":"0x3"}}]}`},
		{-32602, `{"blockStateCalls":[{"stateOverrides":{"` + notes.at.Hex() + `":{"stat":{}}}}]}`},
		{-38015, `{"blockStateCalls":[{"blockOverrides":{"gasLimit":"0x6000"},"calls":[{"gas":"0x7000"}]}]}`},
	} {
		_, err := l.try(t.Context(), "eth_simulateV1", json.RawMessage(bad.request))
		if err == nil || err.Code != bad.code {
			t.Errorf("%s: %v", bad.request, err)
		}
	}
}

func TestASimulationWithValidationChecksWhatATransactionMustPass(t *testing.T) {
	l := newLab(t)
	from, poor := addr(key(0)).Hex(), addr(key(1)).Hex()
	fees := `"maxFeePerGas":"0x77359400","maxPriorityFeePerGas":"0x1","gas":"0x5208"`
	one := func(call string) string {
		return `{"validation":true,"blockStateCalls":[{"calls":[{"to":"` + poor + `",` + call + `}]}]}`
	}
	out := l.simulate(one(`"from":"` + from + `",` + fees))
	if out[0].Calls[0].Status != 1 || out[0].BaseFeePerGas.ToInt().Sign() == 0 {
		t.Errorf("%+v", out)
	}
	for _, bad := range []struct {
		code int
		call string
	}{
		{-38011, `"from":"` + from + `","nonce":"0x5",` + fees},
		{-38012, `"from":"` + from + `","maxFeePerGas":"0x1","gas":"0x5208"`},
		{-38013, `"from":"` + from + `","maxFeePerGas":"0x77359400","gas":"0x5000"`},
		{-38014, `"from":"` + poor + `","value":"0x1",` + fees},
	} {
		_, err := l.try(t.Context(), "eth_simulateV1", json.RawMessage(one(bad.call)))
		if err == nil || err.Code != bad.code {
			t.Errorf("%s: %v", bad.call, err)
		}
	}
}

func TestAnAccessListNamesTheSlotsThatACallReadsAndNotWhoIsWarmAnyway(t *testing.T) {
	l := newLab(t)
	var got struct {
		AccessList types.AccessList
		GasUsed    hexutil.Uint64
		Error      string
	}
	ask := func(call map[string]any) {
		t.Helper()
		got.AccessList, got.Error = nil, ""
		if err := json.Unmarshal(l.call("eth_createAccessList", call), &got); err != nil {
			t.Fatal(err)
		}
	}
	ask(map[string]any{"to": slotZero.at, "from": addr(key(0))})
	if len(got.AccessList) != 1 || got.AccessList[0].Address != slotZero.at ||
		len(got.AccessList[0].StorageKeys) != 1 || got.GasUsed == 0 || got.Error != "" {
		t.Errorf("%+v", got)
	}
	ask(map[string]any{"to": echoes.at})
	if got.AccessList == nil || len(got.AccessList) != 0 {
		t.Errorf("%+v", got)
	}
	ask(map[string]any{"to": reverts.at, "data": "0x01"})
	if got.Error != "execution reverted" {
		t.Errorf("%+v", got)
	}
	created := crypto.CreateAddress(addr(key(0)), 0)
	ask(map[string]any{"from": addr(key(0)), "data": "0x5f54"})
	if len(got.AccessList) != 1 || got.AccessList[0].Address != created {
		t.Errorf("%+v, the contract would be at %s", got, created)
	}
}

// hex32 is a number as the digits of 32 bytes.
func hex32(n int64) string { return common.BigToHash(big.NewInt(n)).Hex()[2:] }
