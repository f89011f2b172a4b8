package evm

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
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
	n := devNode(tb, c)
	if err := n.Change(chain.Overlay{{5}: {Balance: big.NewInt(7), Nonce: new(uint64), Code: []byte{1},
		Storage: map[common.Hash]common.Hash{{1}: {2}}}}); err != nil {
		tb.Fatal(err)
	}
	sendAs(tb, n, addr(treasury()), dynamic(c, c.nonce(tb, addr(treasury())), &common.Address{5}, 1, nil))
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
		for i := range recordHead {
			bad := bytes.Clone(v)
			bad[i] ^= 1
			if _, _, err := decodeRecord(bad); !errors.Is(err, ErrDamaged) {
				t.Fatalf("flipped byte %d: %v", i, err)
			}
		}
	}
}

// withBloom is a block record as it was written before: version 1 has the whole header.
func withBloom(tb testing.TB, v []byte) []byte {
	tb.Helper()
	r, hash, err := decodeRecord(v)
	if err != nil {
		tb.Fatal(err)
	}
	body, err := rlp.EncodeToBytes(r)
	if err != nil {
		tb.Fatal(err)
	}
	return append(append([]byte{blockWithBloom}, hash[:]...), body...)
}

func TestBlocksOfTheFirstVersionAreTheSameBlocks(t *testing.T) {
	blooms := 0
	for _, v := range records(t) {
		old := withBloom(t, v)
		r, hash, err := decodeRecord(v)
		before, oldHash, oldErr := decodeRecord(old)
		if err := errors.Join(err, oldErr); err != nil {
			t.Fatal(err)
		}
		if r.Header.Hash() != hash || hash != oldHash ||
			!reflect.DeepEqual(toBlock(r, hash), toBlock(before, oldHash)) {
			t.Errorf("block %s is another one than %s", hash, oldHash)
		}
		if r.Header.Bloom != (types.Bloom{}) {
			blooms++
			if !bytes.Contains(old, r.Header.Bloom[:]) || bytes.Contains(v, r.Header.Bloom[:]) {
				t.Error("the bloom is kept")
			}
		}
	}
	if blooms == 0 {
		t.Error("no block has a log")
	}
	// A chain of old blocks goes on.
	c := memoryChain(t)
	seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 7))
	err := c.store.Update(func(tx store.Tx) (err error) {
		b := tx.Bucket(c.layout.blocks)
		for n := range uint64(2) {
			err = errors.Join(err, b.Put(numberKey(n), withBloom(t, b.Get(numberKey(n)))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := c.spec()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(c.store, spec)
	if err != nil || again.Head().Hash != c.Head().Hash {
		t.Fatal(err)
	}
	seal(t, again, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 7))
	if n, err := again.Verify(context.Background()); n != 2 || err != nil {
		t.Errorf("verified up to block %d: %v", n, err)
	}
}

func FuzzDecodeBlockRecord(f *testing.F) {
	for _, v := range records(f) {
		f.Add(v)
		f.Add(withBloom(f, v))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, v []byte) {
		r, hash, err := decodeRecord(v)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error without a kind: %v", err)
			}
			return
		}
		toBlock(r, hash) // must not panic on what was accepted
		again, err := encodeRecord(hash, r)
		if err != nil || v[0] == blockVersion && !bytes.Equal(again, v) {
			t.Fatalf("accepted bytes are not what is written: %v", err)
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
		var slim types.SlimAccount
		fits := func(b []byte) bool { return len(b) == 0 || len(b) == common.HashLength }
		if same := rlp.DecodeBytes(v, &slim) == nil && fits(slim.Root) && fits(slim.CodeHash); same != (err == nil) {
			t.Fatalf("%x: %v, by reflection %t", v, err, same)
		}
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
