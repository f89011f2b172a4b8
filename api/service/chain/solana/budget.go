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

	microPerLamport = 1_000_000

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
	asked := map[byte]uint64{}
	heap := -1 // the instruction that asks for a heap
	for i, ix := range m.Instructions {
		if ix.Program != solmsg.ComputeBudgetProgram() {
			continue
		}
		tag, value, ok := decodeBudget(ix.Data)
		if _, again := asked[tag]; !ok || again {
			f := Fault{Kind: FaultInstruction, Index: i, Instruction: "InvalidInstructionData"}
			if again {
				f = Fault{Kind: FaultDuplicate, Index: i}
			}
			return 0, ofTransaction(f, fmt.Errorf("%w: instruction %d", ErrBudget, i))
		}
		asked[tag] = value
		if tag == budgetHeap {
			heap = i
		}
	}
	if n := asked[budgetHeap]; heap >= 0 && (n < minHeap || n > maxHeap || n%heapStep != 0) {
		return 0, ofTransaction(Fault{Kind: FaultInstruction, Index: heap, Instruction: "InvalidInstructionData"},
			fmt.Errorf("%w: instruction %d", ErrBudget, heap))
	}
	units, limited := asked[budgetLimit]
	if !limited {
		units = solmsg.Units(m.Instructions)
	}
	high, low := bits.Mul64(asked[budgetPrice], min(units, solmsg.MaxUnits))
	low, carry := bits.Add64(low, microPerLamport-1, 0)
	high += carry
	if high >= microPerLamport {
		return 0, payerFault("InsufficientFundsForFee", "the priority fee does not fit into 64 bits")
	}
	priority, _ := bits.Div64(high, low, microPerLamport)
	fee, carry := bits.Add64(priority, FeePerSignature*uint64(m.Header.RequiredSignatures), 0)
	if carry != 0 {
		return 0, payerFault("InsufficientFundsForFee", "the fee does not fit into 64 bits")
	}
	return fee, nil
}

// payerFault says why the payer cannot pay the fee.
func payerFault(kind, format string, args ...any) error {
	return ofTransaction(Fault{Kind: kind}, fmt.Errorf("%w: %s", ErrPayer, fmt.Sprintf(format, args...)))
}

// decodeBudget reads a compute budget instruction: its tag and its number. Like the runtime it passes over bytes behind
// them.
func decodeBudget(data []byte) (tag byte, value uint64, ok bool) {
	switch {
	case len(data) >= 9 && data[0] == budgetPrice:
		return budgetPrice, binary.LittleEndian.Uint64(data[1:]), true
	case len(data) < 5:
		return 0, 0, false
	}
	tag, value = data[0], uint64(binary.LittleEndian.Uint32(data[1:]))
	switch tag {
	case budgetLimit, budgetHeap:
		return tag, value, true
	case budgetLoad:
		return tag, value, value > 0
	}
	return 0, 0, false
}
