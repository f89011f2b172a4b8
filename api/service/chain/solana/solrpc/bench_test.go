package solrpc_test

import (
	"strconv"
	"testing"

	"coffer/api/op/solmsg"
)

func BenchmarkGetBalance(b *testing.B) {
	w := newWorld(b)
	params := `["` + w.alice.Key().String() + `"]`
	for b.Loop() {
		w.ask(b.Context(), b, "getBalance", params)
	}
}

// From the bytes of a transaction to its status, in memory.
func BenchmarkSendToStatus(b *testing.B) {
	w := newWorld(b)
	for i := 0; b.Loop(); i++ {
		name := w.send(b, w.alice, solmsg.Memo(strconv.Itoa(i)))
		w.ask(b.Context(), b, "getSignatureStatuses", `[["`+name+`"]]`)
	}
}
