package api

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// wrapped is the call data of multicall(bytes[]).
func wrapped(t testing.TB, inner ...[]byte) []byte {
	t.Helper()
	return packed(t, "multicall(bytes[])", inner)
}

func nested(t testing.TB, levels int, data []byte) []byte {
	t.Helper()
	for range levels {
		data = wrapped(t, data)
	}
	return data
}

func TestAnApprovalInsideAMulticallIsNoCall(t *testing.T) {
	approve := approveData(t)
	move := packed(t, "transfer(address,uint256)", common.HexToAddress(evmOther), common.Big1)
	for name, data := range map[string][]byte{
		"alone":           wrapped(t, approve),
		"behind another":  wrapped(t, move, nil, approve),
		"four levels":     nested(t, 4, approve),
		"with a deadline": packed(t, "multicall(uint256,bytes[])", big.NewInt(1), [][]byte{move, approve}),
		"with a block":    packed(t, "multicall(bytes32,bytes[])", [32]byte{}, [][]byte{approve}),
		"batch":           packed(t, "batch(bytes[],bool)", [][]byte{approve}, true),
		"with a tail":     append(wrapped(t, approve), "a client's mark"...),
	} {
		t.Run(name, func(t *testing.T) { refusedCall(t, accKernel31, evmOther, data, "approve(address,uint256)") })
	}
	for name, data := range map[string][]byte{
		"empty":             wrapped(t),
		"harmless":          wrapped(t, move, nil, []byte{1}),
		"harmless, 4 deep":  nested(t, 4, move),
		"harmless, 256":     wrapped(t, slices.Repeat([][]byte{move}, maxInnerCalls)...),
		"harmless, a tail":  append(wrapped(t, move), "a client's mark"...),
		"harmless deadline": packed(t, "multicall(uint256,bytes[])", big.NewInt(1), [][]byte{move}),
	} {
		t.Run(name, func(t *testing.T) { acceptedCall(t, accKernel31, evmOther, data) })
	}
}

// word writes a number into call data, at a word behind the selector.
func word(data []byte, at int, v int64) []byte {
	out := slices.Clone(data)
	fill := byte(v >> 63)
	w := out[4+32*at:][:32]
	for i := range w {
		w[i] = fill
	}
	binary.BigEndian.PutUint64(w[24:], uint64(v))
	return out
}

// A contract finds the calls by their offsets, so an approval is found wherever an offset leads, also backwards.
func TestTheCallsOfAMulticallAreFoundByTheirOffsets(t *testing.T) {
	approve := approveData(t)
	list := wrapped(t, nil, approve)          // words: offset, length, two offsets, length 0, length, approve
	shared := word(word(list, 1, 2), 2, 3*32) // both offsets lead to the approve
	moved := slices.Concat(list[:4], make([]byte, 5*32), list[4:])
	moved = word(moved, 0, 6*32) // the list stands further behind
	for name, data := range map[string][]byte{"shared": shared, "moved": moved, "forgotten": word(list, 1, 1)} {
		signature, ok := FindApproval(data)
		if want := map[bool]string{true: "approve(address,uint256)"}[name != "forgotten"]; signature != want || !ok {
			t.Errorf("%s: %q, %v", name, signature, ok)
		}
	}
	// The approve in front of the list, reached by a negative offset.
	front := slices.Concat(list[:4], make([]byte, 32), common.LeftPadBytes([]byte{byte(len(approve))}, 32),
		common.RightPadBytes(approve, 96), make([]byte, 64))
	front = word(word(word(front, 0, 5*32), 5, 1), 6, -5*32)
	if signature, ok := FindApproval(front); signature == "" || !ok {
		t.Errorf("backwards: %q, %v", signature, ok)
	}
}

func TestAMulticallThatCannotBeReadIsRefused(t *testing.T) {
	move := packed(t, "transfer(address,uint256)", common.HexToAddress(evmOther), common.Big1)
	list := wrapped(t, move)
	huge := slices.Clone(list)
	huge[4+2*32] = 1 // an offset of 2^248
	branches := move
	for range 4 {
		branches = wrapped(t, slices.Repeat([][]byte{branches}, 5)...)
	}
	for name, data := range map[string][]byte{
		"no arguments":      list[:4],
		"cut":               list[:len(list)-32],
		"list outside":      word(list, 0, 1<<20),
		"list in front":     word(list, 0, -32),
		"too many for it":   word(list, 1, 3),
		"negative length":   word(list, 1, -1),
		"element outside":   word(list, 2, 1<<20),
		"element in front":  word(list, 2, -1<<20),
		"element too long":  word(list, 3, 1<<20),
		"element below 0":   word(list, 3, -1),
		"offset too large":  huge,
		"five levels":       nested(t, 5, move),
		"257 calls":         wrapped(t, slices.Repeat([][]byte{nil}, maxInnerCalls+1)...),
		"257 in all levels": branches,
	} {
		t.Run(name, func(t *testing.T) {
			if signature, ok := FindApproval(data); signature != "" || ok {
				t.Errorf("%q, %v", signature, ok)
			}
			refusedCall(t, accKernel31, evmOther, data, "another one")
		})
	}
}

// Foreign call data never stops the search, and what the reference decoder reads of a multicall is searched.
func FuzzFindApproval(f *testing.F) {
	approve := approveData(f)
	move := packed(f, "transfer(address,uint256)", common.HexToAddress(evmOther), common.Big1)
	for _, seed := range [][]byte{
		nil, approve, move, wrapped(f), wrapped(f, approve), wrapped(f, move, approve), nested(f, 5, approve),
		word(wrapped(f, approve), 2, -1), wrapped(f, approve)[:70],
		packed(f, "multicall(uint256,bytes[])", big.NewInt(1), [][]byte{approve}),
		packed(f, "batch(bytes[],bool)", [][]byte{move}, true),
	} {
		f.Add(seed)
	}
	reference := method(f, "multicall(bytes[])", "bytes[]")
	f.Fuzz(func(t *testing.T, data []byte) {
		signature, ok := FindApproval(data)
		if signature != "" && !slices.ContainsFunc(approvals(),
			func(f function) bool { return f.signature == signature }) {
			t.Fatalf("found %q", signature)
		}
		if len(data) < 4 || selectorOf(data) != selectorOf(reference.ID) {
			return
		}
		read, err := reference.Inputs.Unpack(data[4:])
		if err != nil || signature != "" || !ok {
			return
		}
		for _, inner := range read[0].([][]byte) {
			if s, ok := FindApproval(inner); s != "" || !ok {
				t.Fatalf("%x holds %q, %v", inner, s, ok)
			}
		}
	})
}
