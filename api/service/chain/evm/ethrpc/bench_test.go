package ethrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"coffer/api/service/jsonrpc"
)

// bench calls a method as a server does, its answer in JSON.
func bench(b *testing.B, l *lab, method string, params string) {
	b.Helper()
	var p jsonrpc.Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		result, err := l.methods[method](context.Background(), p)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(result); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetBalance(b *testing.B) {
	l := newLab(b)
	bench(b, l, "eth_getBalance", fmt.Sprintf(`["%s","latest"]`, addr(key(0))))
}

func BenchmarkCall(b *testing.B) {
	l := newLab(b)
	bench(b, l, "eth_call", fmt.Sprintf(`[{"to":"%s"},"latest"]`, slotZero.at))
}

func BenchmarkEstimateGas(b *testing.B) {
	l := newLab(b)
	bench(b, l, "eth_estimateGas", fmt.Sprintf(`[{"to":"%s","input":"%s"}]`, notes.at, number(1)))
}

func BenchmarkGetBlockByNumber(b *testing.B) {
	l := newLab(b)
	l.note(number(1))
	bench(b, l, "eth_getBlockByNumber", `["latest",true]`)
}

// BenchmarkSendToReceipt is what a test suite does all day. Signing is not counted.
func BenchmarkSendToReceipt(b *testing.B) {
	l := newLab(b)
	raws, hashes := make([]any, b.N), make([]any, b.N)
	for i := range b.N {
		tx := sign(b, key(0), dynamic(uint64(i), &echoes.at, 0, nil))
		raws[i], hashes[i] = rawOf(b, tx), tx.Hash()
	}
	b.ResetTimer()
	for i := range b.N {
		l.call("eth_sendRawTransaction", raws[i])
		if string(l.call("eth_getTransactionReceipt", hashes[i])) == "null" {
			b.Fatal("no receipt")
		}
	}
}
