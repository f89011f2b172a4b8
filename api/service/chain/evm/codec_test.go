package evm

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/service/store"
)

func tenToThe18(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

// records returns stored blocks of every kind.
func records(tb testing.TB) [][]byte {
	tb.Helper()
	c := memoryChain(tb)
	eoa := key(3)
	seal(tb, c, sendToken(tb, treasury(), tokenAt(0), addr(key(1)), 7), pay(treasury(), addr(eoa), 1))
	tx := pay(treasury(), addr(eoa), 0)
	tx.Gas, tx.Authorizations = 100_000, auths(authorize(tb, eoa, c.ID(), tokenAt(0), 0))
	seal(tb, c, tx)
	var out [][]byte
	_ = c.store.View(func(tx store.Tx) error {
		tx.Bucket(c.layout.blocks).Ascend(nil, func(_, v []byte) bool {
			out = append(out, bytes.Clone(v))
			return true
		})
		return nil
	})
	return out
}

func TestEveryCutOrFlippedBlockRecordIsAnErrorOrTheSameBlock(t *testing.T) {
	for _, v := range records(t) {
		for n := range len(v) {
			if _, _, err := decodeRecord(v[:n]); !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut at %d: %v", n, err)
			}
		}
		h, hash, err := decodeRecordHeader(v)
		if err != nil || h.Hash() != hash {
			t.Fatalf("header alone: %v", err)
		}
		for i := range recordHead {
			bad := bytes.Clone(v)
			bad[i] ^= 1
			if _, _, err := decodeRecord(bad); !errors.Is(err, ErrDamaged) {
				t.Fatalf("flipped byte %d: %v", i, err)
			}
			if _, _, err := decodeRecordHeader(bad); !errors.Is(err, ErrDamaged) {
				t.Fatalf("flipped byte %d: %v", i, err)
			}
		}
	}
}

func FuzzDecodeBlockRecord(f *testing.F) {
	for _, v := range records(f) {
		f.Add(v)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, v []byte) {
		r, hash, err := decodeRecord(v)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error without a kind: %v", err)
			}
			_, _, _ = decodeRecordHeader(v)
			return
		}
		toBlock(r, hash) // must not panic on what was accepted
		again, err := encodeRecord(hash, r)
		if err != nil || !bytes.Equal(again, v) {
			t.Fatalf("accepted bytes are not what is written: %v", err)
		}
		if h, _, err := decodeRecordHeader(v); err != nil || h.Hash() != hash {
			t.Fatalf("header alone: %v", err)
		}
	})
}

func FuzzDecodeAccount(f *testing.F) {
	f.Add(encodeAccount(types.NewEmptyStateAccount()))
	f.Add(encodeAccount(&types.StateAccount{Nonce: 7, Balance: uint256.NewInt(9), Root: common.Hash{1},
		CodeHash: make([]byte, 32)}))
	f.Add([]byte{0xc0})
	f.Fuzz(func(t *testing.T, v []byte) {
		a, err := decodeAccount(v)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error without a kind: %v", err)
			}
			return
		}
		back, err := decodeAccount(encodeAccount(a))
		if err != nil || back.Nonce != a.Nonce || !back.Balance.Eq(a.Balance) || back.Root != a.Root ||
			!bytes.Equal(back.CodeHash, a.CodeHash) {
			t.Fatalf("%+v reads back as %+v, %v", a, back, err)
		}
	})
}

func FuzzDecodeSlotAndLookup(f *testing.F) {
	f.Add([]byte{1})
	f.Add(make([]byte, 12))
	f.Add(bytes.Repeat([]byte{0xff}, 33))
	f.Fuzz(func(t *testing.T, v []byte) {
		if s, err := decodeSlot(v); err == nil && !bytes.Equal(encodeSlot(s), v) {
			t.Fatalf("slot %x reads as %s", v, s)
		}
		if l, err := decodeLookup(v); err == nil && !bytes.Equal(l.encode(), v) {
			t.Fatalf("lookup %x reads as %+v", v, l)
		}
	})
}
