package remote_test

import (
	"encoding/json"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/rpcpool"
	"coffer/api/service/chain"
)

// Whatever a node answers to one method, reads and calls end with an answer or an error.
func FuzzAnswers(f *testing.F) {
	methods := []string{"eth_getBlockByNumber", "eth_feeHistory", "eth_blobBaseFee", "eth_getBalance",
		"eth_getTransactionCount", "eth_getCode", "eth_getStorageAt", "eth_createAccessList", "eth_call",
		"eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getBlockByHash", "eth_getBlockReceipts"}
	block := `{"number":"0xffffffffffffffff","hash":"0x11","timestamp":"0xffffffffffffffff","gasLimit":"0x0"}`
	for i := range methods {
		for _, answer := range []string{"null", `"0x"`, `"0x0"`, `"0xffffffffffffffffffffffffffffffffff"`, "[]", "{}",
			`[{"logs":[{}]}]`, `{"oldestBlock":"0x2","baseFeePerGas":[null,"0x"]}`, block,
			`{"accessList":[{"address":"0x0100000000000000000000000000000000000000","storageKeys":null}]}`} {
			f.Add(uint8(i), []byte(answer))
		}
	}
	l := newLab(f)
	l.populate()
	tx := l.seal(l.start()[3:4]...).Receipts[0].TxHash
	f.Fuzz(func(t *testing.T, method uint8, answer []byte) {
		l.node.each = func(_ int, c *rpcpool.Call) bool {
			if c.Method != methods[int(method)%len(methods)] {
				return false
			}
			if c.Result != nil {
				c.Err = json.Unmarshal(answer, c.Result)
			}
			return true
		}
		if st, err := l.remote.State(t.Context(), 0); err == nil {
			st.Apply(l.credit(0, person(2), 5))
			res := st.Call(l.execute(0, l.transfer(0, person(3), 5)))
			st.Call(chain.Message{From: person(0), To: made(5), Gas: 100_000})
			if balance := st.Balance(person(1)); balance == nil ||
				st.Err() != nil && (balance.Sign() != 0 || st.Call(chain.Message{}).Err == nil) {
				t.Errorf("%s, %+v, %v", balance, res, st.Err())
			}
			st.Close()
		}
		_, _ = l.remote.Balances(t.Context(), person(0), []common.Address{{}, l.tokens[0]})
		_, _, _ = l.remote.Receipt(t.Context(), tx)
		_, _, _ = l.remote.Block(t.Context(), 2)
		_, _ = l.remote.Final(t.Context())
	})
}
