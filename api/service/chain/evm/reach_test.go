package evm

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"coffer/api/service/chain"
)

// Slots that become zero and tries that shrink leave nothing behind: the state
// is exactly the one of a chain that reached it directly.
func TestPrunedTrieHoldsNothingButTheHead(t *testing.T) {
	c := memoryChain(t)
	who := payers(40)
	for round := range 3 {
		var give, back []chain.Tx
		for i, k := range who {
			give = append(give, pay(treasury(), addr(k), 1e16),
				sendToken(t, treasury(), tokenAt(0), addr(k), int64(100+i)))
			back = append(back, sendToken(t, k, tokenAt(0), addr(treasury()), int64(100+i)))
		}
		seal(t, c, give...)
		if round < 2 {
			seal(t, c, back...)
		}
	}
	if err := onlyReachable(c); err != nil {
		t.Fatal(err)
	}
	if got := tokenBalance(t, stateOf(t, c), tokenAt(0), addr(who[3])); got.Cmp(big.NewInt(103)) != 0 {
		t.Fatalf("balance is %s", got)
	}
}

// onlyReachable walks the head's tries and compares what they reach with the
// whole state bucket: a node, account or slot too many or too few is an error.
func onlyReachable(c *Chain) error {
	snap, h, r, err := c.open(context.Background())
	if err != nil {
		return err
	}
	defer snap.Release()
	want := map[string][]byte{}
	db := &database{reader: r}
	err = walk(db, trie.StateTrieID(h.header.Root), want, func(key common.Hash, blob []byte) error {
		acc := new(types.StateAccount)
		if err := rlp.DecodeBytes(blob, acc); err != nil {
			return err
		}
		want[string(accountKey(key))] = encodeAccount(acc)
		if acc.Root == types.EmptyRootHash {
			return nil
		}
		return walk(db, trie.StorageTrieID(h.header.Root, key, acc.Root), want,
			func(slot common.Hash, blob []byte) error {
				var value []byte
				if err := rlp.DecodeBytes(blob, &value); err != nil {
					return err
				}
				want[string(slotKey(key, slot))] = value
				return nil
			})
	})
	if err != nil {
		return err
	}
	snap.Bucket(c.layout.state).Ascend(nil, func(k, v []byte) bool {
		if w, ok := want[string(k)]; !ok || !bytes.Equal(w, v) {
			err = fmt.Errorf("entry %x is not what the trie says (known %v)", k, ok)
			return false
		}
		delete(want, string(k))
		return true
	})
	if err == nil && len(want) != 0 {
		err = fmt.Errorf("%d entries are missing", len(want))
	}
	return err
}

func walk(db *database, id *trie.ID, nodes map[string][]byte, leaf func(common.Hash, []byte) error) error {
	t, err := trie.New(id, db)
	if err != nil {
		return err
	}
	it, err := t.NodeIterator(nil)
	if err != nil {
		return err
	}
	for it.Next(true) {
		if it.Hash() != (common.Hash{}) {
			nodes[string(nodeKey(id.Owner, it.Path()))] = bytes.Clone(it.NodeBlob())
		}
		if it.Leaf() {
			if err := leaf(common.BytesToHash(it.LeafKey()), it.LeafBlob()); err != nil {
				return err
			}
		}
	}
	return it.Error()
}
