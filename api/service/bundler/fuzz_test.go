package bundler

import (
	"encoding/json"
	"testing"

	"coffer/api/op"
)

// Whatever a stranger sends as an operation is refused, or has a packed form that reads back as the same operation.
func FuzzOperation(f *testing.F) {
	f.Add([]byte(`{"sender":"0x00000000000000000000000000000000000000a3","nonce":"0x1","callData":"0x",
		"callGasLimit":"0x1",
		"verificationGasLimit":"0x1","preVerificationGas":"0x1","maxFeePerGas":"0x1","maxPriorityFeePerGas":"0x1",
		"signature":"0x00","factory":"0x00000000000000000000000000000000000000a4","factoryData":"0x12"}`))
	f.Add([]byte(`{"sender":"0x00000000000000000000000000000000000000a3","nonce":"0x0","callData":"0x12",
		"signature":"0x","paymaster":"0x00000000000000000000000000000000000000a5",
		"eip7702Auth":{"chainId":"0x1","r":"0x1","s":"0x1"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o Operation
		if json.Unmarshal(raw, &o) != nil {
			return
		}
		_, _ = o.authorizations(1)
		u, err := o.padded()
		if err != nil {
			return
		}
		packed, err := u.Pack()
		if err != nil {
			t.Fatalf("%+v was taken and cannot be packed: %v", o, err)
		}
		again, err := op.Unpack(packed)
		if err != nil || again.Sender != u.Sender || again.Nonce.Cmp(u.Nonce) != 0 {
			t.Fatalf("%+v became %+v: %v", u, again, err)
		}
		preVerificationGas(u)
		Shown(u)
	})
}
