package solana

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"coffer/api/op/solmsg"
)

const (
	// FeePerSignature is the base fee in lamports of each required signature.
	FeePerSignature = 5000

	unitsPerInstruction = 200_000   // default limit, for each instruction but compute budget's
	maxUnits            = 1_400_000 // of one transaction
	microPerLamport     = 1_000_000

	minHeap, maxHeap, heapStep = 32 << 10, 256 << 10, 1 << 10
)

// Instructions of the compute budget program.
const (
	budgetHeap  = 1
	budgetLimit = 2
	budgetPrice = 3
	budgetLoad  = 4
)

// feeOf is the fee of a message in lamports: 5000 for each signature, plus the price of
// its compute limit, rounded up. An impossible or repeated compute budget instruction is
// an error: such a transaction is never included.
func feeOf(m solmsg.Message) (uint64, error) {
	limit, price, others := uint64(0), uint64(0), uint64(0)
	seen := map[byte]bool{}
	for i, ix := range m.Instructions {
		if ix.Program != solmsg.ComputeBudgetProgram() {
			others++
			continue
		}
		tag, ok := budgetTag(ix.Data)
		if !ok || seen[tag] {
			return 0, fmt.Errorf("%w: instruction %d", ErrBudget, i)
		}
		seen[tag] = true
		if units, ok := solmsg.DecodeComputeUnitLimit(ix.Data); ok {
			limit = uint64(units)
		}
		if micro, ok := solmsg.DecodeComputeUnitPrice(ix.Data); ok {
			price = micro
		}
	}
	if !seen[budgetLimit] {
		limit = others * unitsPerInstruction
	}
	high, low := bits.Mul64(price, min(limit, maxUnits))
	low, carry := bits.Add64(low, microPerLamport-1, 0)
	high += carry
	if high >= microPerLamport {
		return 0, fmt.Errorf("%w: the priority fee does not fit into 64 bits", ErrPayer)
	}
	priority, _ := bits.Div64(high, low, microPerLamport)
	fee, carry := bits.Add64(priority, FeePerSignature*uint64(m.Header.RequiredSignatures), 0)
	if carry != 0 {
		return 0, fmt.Errorf("%w: the fee does not fit into 64 bits", ErrPayer)
	}
	return fee, nil
}

// budgetTag names a well-formed compute budget instruction.
func budgetTag(data []byte) (byte, bool) {
	if len(data) == 0 {
		return 0, false
	}
	switch tag := data[0]; {
	case tag == budgetPrice && len(data) == 9:
		return tag, true
	case len(data) != 5:
		return 0, false
	case tag == budgetLimit:
		return tag, true
	case tag == budgetHeap:
		n := binary.LittleEndian.Uint32(data[1:])
		return tag, n >= minHeap && n <= maxHeap && n%heapStep == 0
	case tag == budgetLoad:
		return tag, binary.LittleEndian.Uint32(data[1:]) > 0
	}
	return 0, false
}
