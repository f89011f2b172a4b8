package evm

import (
	"context"
	"errors"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/store"
)

func accountKeyOf(a common.Address) []byte { return accountKey(crypto.Keccak256Hash(a[:])) }

func TestSevenChainsOpenWithOneCommitAndReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chain.db")
	specs := sevenSpecs(t)
	counted := &countingStore{Store: boltStore(t, path)}
	chains, err := OpenAll(counted, specs)
	if err != nil {
		t.Fatal(err)
	}
	if counted.updates != 1 {
		t.Fatalf("%d commits, want 1", counted.updates)
	}
	seen := map[common.Hash]bool{}
	for i, c := range chains {
		if c.ID() != specs[i].ChainID || c.Head().Number != 0 || c.Head().Time != genesisTime {
			t.Fatalf("chain %d is %+v", c.ID(), c.Head())
		}
		seal(t, c, pay(treasury(), addr(key(i+1)), int64(i+1)))
		seen[c.Head().Hash] = true
	}
	if len(seen) != len(specs) {
		t.Fatal("chains have the same head: the chain id is not in the signatures")
	}
	counted.Close()

	counted = &countingStore{Store: boltStore(t, path)}
	if chains, err = OpenAll(counted, specs); err != nil {
		t.Fatal(err)
	}
	for i, c := range chains {
		if st := stateOf(t, c); !seen[c.Head().Hash] || st.Balance(addr(key(i+1))).Int64() != int64(i+1) {
			t.Fatalf("chain %d lost its block", c.ID())
		}
	}
	if counted.updates != 0 {
		t.Fatalf("reopening wrote %d times", counted.updates)
	}
}

type countingStore struct {
	store.Store
	updates int
}

func (s *countingStore) Update(fn func(store.Tx) error) error {
	s.updates++
	return s.Store.Update(fn)
}

func TestAChainAddedLaterBeginsBesideTheOthers(t *testing.T) {
	s, specs := store.NewMemory(), sevenSpecs(t)
	first, err := OpenAll(s, specs[:2])
	if err != nil {
		t.Fatal(err)
	}
	head := seal(t, first[0], pay(treasury(), addr(key(1)), 1))
	all, err := OpenAll(s, specs)
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Head().Hash != head.Hash || all[6].Head().Number != 0 {
		t.Fatalf("heads are %+v and %+v", all[0].Head(), all[6].Head())
	}
}

func TestForeignGenesisIsRefusedByChain(t *testing.T) {
	s, specs := store.NewMemory(), sevenSpecs(t)
	if _, err := OpenAll(s, specs); err != nil {
		t.Fatal(err)
	}
	specs[3].Time++
	_, err := OpenAll(s, specs)
	var foreign *GenesisError
	if !errors.As(err, &foreign) || foreign.ChainID != specs[3].ChainID || foreign.Stored == foreign.Want {
		t.Fatalf("error is %v", err)
	}
}

func TestReopenComputesNoGenesisAndMissesNoChain(t *testing.T) {
	s, specs := store.NewMemory(), sevenSpecs(t)
	all, err := OpenAll(s, specs[:6])
	if err != nil {
		t.Fatal(err)
	}
	head := seal(t, all[2], pay(treasury(), addr(key(1)), 1))
	ids := []uint64{specs[2].ChainID, specs[0].ChainID}
	asked := 0
	again, err := Reopen(s, ids, func() ([]Spec, error) {
		asked++
		return []Spec{specs[2], specs[0]}, nil
	})
	if err != nil || asked != 0 || again[0].Head().Hash != head.Hash || again[1].ID() != ids[1] {
		t.Fatalf("%d specifications were asked for: %v", asked, err)
	}
	for i, blocks := range []uint64{1, 0} {
		if n, err := again[i].Verify(context.Background()); err != nil || n != blocks {
			t.Errorf("chain %d: verified up to block %d: %v", ids[i], n, err)
		}
	}
	if _, err := Reopen(s, []uint64{specs[6].ChainID}, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("a chain that is not there: %v", err)
	}
}

func TestUnusableSpecificationsAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	rich := Account{Address: common.Address{1}, Balance: big.NewInt(1)}
	for name, specs := range map[string][]Spec{
		"no chain id":      {{Alloc: []Account{rich}}},
		"chain twice":      {{ChainID: 1}, {ChainID: 1}},
		"account twice":    {{ChainID: 1}, {ChainID: 2, Alloc: []Account{rich, rich}}},
		"system account":   {{ChainID: 1, Alloc: []Account{{Address: DeterministicDeployer(), Nonce: 1}}}},
		"negative balance": {{ChainID: 1, Alloc: []Account{{Address: common.Address{1}, Balance: big.NewInt(-1)}}}},
		"empty account": {{ChainID: 1, Alloc: []Account{
			{Address: common.Address{1}, Storage: map[common.Hash]common.Hash{{}: {1}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &countingStore{Store: store.NewMemory()}
			if _, err := OpenAll(s, specs); !errors.Is(err, ErrSpec) || s.updates != 0 {
				t.Fatalf("%d commits, error %v", s.updates, err)
			}
		})
	}
}

// tamper changes one stored value behind the chain's back.
func tamper(t *testing.T, c *Chain, bucket string, key, value []byte) {
	t.Helper()
	err := c.store.Update(func(tx store.Tx) error {
		if value == nil {
			return tx.Bucket(bucket).Delete(key)
		}
		return tx.Bucket(bucket).Put(key, value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerifyFindsEveryKindOfTampering(t *testing.T) {
	slot := func(c *Chain) []byte { // of key(1)'s token balance
		k := crypto.Keccak256Hash(common.LeftPadBytes(addr(key(1)).Bytes(), 32), make([]byte, 32))
		return slotKey(crypto.Keccak256Hash(tokenAt(0).Bytes()), crypto.Keccak256Hash(k[:]))
	}
	for name, change := range map[string]func(t *testing.T, c *Chain){
		"token balance": func(t *testing.T, c *Chain) { tamper(t, c, c.layout.state, slot(c), []byte{99}) },
		"account gone": func(t *testing.T, c *Chain) {
			tamper(t, c, c.layout.state, accountKeyOf(addr(treasury())),
				nil)
		},
		"block gone": func(t *testing.T, c *Chain) { tamper(t, c, c.layout.blocks, numberKey(2), nil) },
		"code": func(t *testing.T, c *Chain) {
			tamper(t, c, codeBucket, codeHashOf(t, c, tokenAt(0)),
				[]byte{0})
		},
		"extra account": func(t *testing.T, c *Chain) {
			tamper(t, c, c.layout.state, accountKeyOf(common.Address{9}), []byte{0xc0})
		},
		"receipt": forgeReceipt,
		"lookup":  forgeLookup,
	} {
		t.Run(name, func(t *testing.T) {
			c := memoryChain(t)
			var last common.Hash
			for range 3 {
				last = seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 5)).Receipts[0].TxHash
			}
			if n, err := c.Verify(context.Background()); err != nil || n != 3 {
				t.Fatalf("before: %d, %v", n, err)
			}
			if _, found, err := c.Receipt(context.Background(), last); err != nil || !found {
				t.Fatal(err)
			}
			change(t, c)
			if _, err := c.Verify(context.Background()); !errors.Is(err, ErrDamaged) {
				t.Fatalf("after: %v", err)
			}
		})
	}
}

func codeHashOf(t *testing.T, c *Chain, a common.Address) []byte {
	t.Helper()
	return crypto.Keccak256(stateOf(t, c).Code(a))
}

// forgeReceipt makes block 2 claim another outcome under the same header.
func forgeReceipt(t *testing.T, c *Chain) {
	t.Helper()
	err := c.store.Update(func(tx store.Tx) error {
		r, hash, err := c.record(tx, 2)
		if err != nil {
			return err
		}
		r.Outcomes[0].Success = !r.Outcomes[0].Success
		v, err := encodeRecord(hash, r)
		if err != nil {
			return err
		}
		return tx.Bucket(c.layout.blocks).Put(numberKey(2), v)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func forgeLookup(t *testing.T, c *Chain) {
	t.Helper()
	b, _, err := c.Block(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, c, c.layout.txs, b.Receipts[0].TxHash[:], lookup{block: 3}.encode())
}

func TestReopeningFindsAStateThatIsNotTheHeads(t *testing.T) {
	s, spec := store.NewMemory(), testSpec(t, 1)
	c := openTest(t, s, spec)
	seal(t, c, pay(treasury(), addr(key(1)), 1))
	tamper(t, c, c.layout.state, nodeKey(common.Hash{}, nil), []byte("old root"))
	if _, err := Open(s, spec); !errors.Is(err, ErrDamaged) {
		t.Fatalf("error is %v", err)
	}
	tamper(t, c, c.layout.state, nodeKey(common.Hash{}, nil), nil)
	if _, err := Open(s, spec); !errors.Is(err, ErrDamaged) {
		t.Fatalf("error is %v", err)
	}
}

func TestVerifyStopsWhenAsked(t *testing.T) {
	c := memoryChain(t)
	seal(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := c.Verify(ctx); !errors.Is(err, context.Canceled) || n != 0 {
		t.Fatalf("%d, %v", n, err)
	}
}
