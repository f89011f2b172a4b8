package ethrpc

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/service/jsonrpc"
)

// seedsOf are parameters of every kind that some method takes.
func seedsOf(l *lab) []string {
	hash := l.note(number(1))
	raw := into[string](l.tb, l.call("eth_getRawTransactionByHash", hash))
	sendable := hexutil.Encode(rawOf(l.tb, sign(l.tb, key(0), dynamic(1, &echoes.at, 0, nil))))
	at := notes.at.Hex()
	const most = "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
	call := `{"from":"` + addr(key(0)).Hex() + `","to":"` + at + `","input":"0x01","data":"0x01","value":"0x0",` +
		`"gas":"0xffffffffffffffff","nonce":"0x0","maxFeePerGas":"` + most + `",` +
		`"accessList":[{"address":"` + at + `","storageKeys":[]}],"chainId":"0x2105",` +
		`"authorizationList":[{"chainId":"0x1","address":"` + at +
		`","nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}]}`
	state := `{"` + at + `":{"balance":"0xff","nonce":"0xffffffffffffffff","code":"0x5b5f56","stateDiff":{}},` +
		`"0x0000000000000000000000000000000000000004":{"movePrecompileToAddress":"` + echoes.at.Hex() + `","state":{}}}`
	block := `{"number":"` + most + `","time":"0xffffffffffffffff","gasLimit":"0x0","baseFeePerGas":"` + most +
		`","blobBaseFee":"0x0","difficulty":"0x1"}`
	return []string{
		`[]`, `[null]`, `["latest"]`, `["0x1",true]`, `["pending",false]`, `[{"blockHash":"` + hash.Hex() + `"},true]`,
		`["` + at + `","0x0","latest"]`, `["` + at + `",["0x0","0x1"],"earliest"]`, `["` + hash.Hex() + `","0x0"]`,
		`[` + call + `,"latest",` + state + `,` + block + `]`, `[{"to":"` + loops.at.Hex() + `"},null]`,
		`["` + raw + `"]`, `["` + sendable + `",5]`, `["0x5","latest",[10,50.5]]`, `[1e3,"0x1",[]]`,
		`[{"fromBlock":"0x0","toBlock":"latest","address":["` + at + `"],"topics":[null,["` + hash.Hex() + `",null]]}]`,
		`["newHeads"]`, `["logs",{"topics":[[]]}]`, `["0x52fdfc072182654f163f5f0f9a621d72"]`,
		`["` + at + `","` + most + `"]`,
		`["` + at + `","` + common.Hash{1}.Hex() + `","` + common.Hash{2}.Hex() + `"]`,
		`["0xffffffffffffffff","0xffffffffffffffff"]`, `[18446744073709551615]`, `["0x1"]`,
	}
}

// FuzzEveryMethod feeds parameters to every method in turn: what comes back is JSON or an error, never a panic.
func FuzzEveryMethod(f *testing.F) {
	l := devLab(f)
	names := slices.Sorted(maps.Keys(l.methods))
	seeds := seedsOf(l)
	for i := range names {
		for _, s := range seeds {
			f.Add(uint16(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, pick uint16, raw []byte) {
		var p jsonrpc.Params
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		name := names[int(pick)%len(names)]
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		result, err := l.methods[name](ctx, p)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("%s%s: an error without words", name, raw)
			}
			return
		}
		if _, err := json.Marshal(result); err != nil {
			t.Errorf("%s%s: %v", name, raw, err)
		}
	})
}
