package op

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// HandleOpsCall is the EntryPoint's handleOps(ops, beneficiary): the call with which
// anyone submits signed operations. The beneficiary, which must not be the zero address,
// gets the fees that the operations pay. It fails when an operation cannot be packed.
func HandleOpsCall(beneficiary common.Address, ops ...UserOp) ([]byte, error) {
	if beneficiary == (common.Address{}) {
		return nil, refuse("U11", "beneficiary", "an address", "the zero address")
	}
	array, err := EncodeOps(ops...)
	if err != nil {
		return nil, err
	}
	out := word.Uint64(word.Selector("handleOps("+OpsType+",address)"), 2*word.Size)
	out = word.Address(out, beneficiary)
	return append(out, array...), nil
}

// OpsType is the ABI type of an array of packed operations.
const OpsType = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)[]"

// EncodeOps is the ABI form of an array of operations: what an offset to an argument of
// OpsType points at. It fails when an operation cannot be packed.
func EncodeOps(ops ...UserOp) ([]byte, error) {
	var heads, tails []byte
	offset := len(ops) * word.Size
	for _, o := range ops {
		p, err := o.Pack()
		if err != nil {
			return nil, err
		}
		heads = word.Uint64(heads, uint64(offset+len(tails)))
		tails = append(tails, encodePacked(p)...)
	}
	return append(append(word.Uint64(nil, uint64(len(ops))), heads...), tails...), nil
}

// encodePacked is the ABI form of one packed operation.
func encodePacked(p PackedUserOp) []byte {
	const head = 9 * word.Size
	out := word.Uint(word.Address(nil, p.Sender), p.Nonce)
	at := head
	dynamic := func(b []byte) {
		out = word.Uint64(out, uint64(at))
		at += word.Size + word.Padded(len(b))
	}
	dynamic(p.InitCode)
	dynamic(p.CallData)
	out = append(out, p.AccountGasLimits[:]...)
	out = word.Uint(out, p.PreVerificationGas)
	out = append(out, p.GasFees[:]...)
	dynamic(p.PaymasterAndData)
	dynamic(p.Signature)
	for _, b := range [][]byte{p.InitCode, p.CallData, p.PaymasterAndData, p.Signature} {
		out = word.Bytes(out, b)
	}
	return out
}
