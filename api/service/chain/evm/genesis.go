package evm

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"runtime"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"golang.org/x/sync/errgroup"

	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// genesis is block 0 and its state, ready to be written.
type genesis struct {
	block *sealed
	state store.Content
	codes map[common.Hash][]byte
}

// codeHashes hashes a code once however many chains carry the same bytes.
type codeHashes map[*byte]common.Hash

func (c codeHashes) of(a Account) common.Hash {
	if len(a.Code) == 0 {
		return types.EmptyCodeHash
	}
	if a.CodeHash != (common.Hash{}) {
		return a.CodeHash
	}
	h, ok := c[&a.Code[0]]
	if !ok {
		h = crypto.Keccak256Hash(a.Code)
		c[&a.Code[0]] = h
	}
	return h
}

// hashed is a leaf of a trie.
type hashed struct {
	key   common.Hash
	value []byte
}

// node is a node of a trie, by its path.
type node struct{ path, blob []byte }

// storage is what an account has, hashed: its slots and the nodes of its trie, both in order.
type storage struct {
	root  common.Hash
	slots []hashed
	nodes []node
}

// storages hashes a storage once however many accounts have the same one, and a slot's key however many storages.
type storages struct {
	known map[uintptr]*storage
	maps  []map[common.Hash]common.Hash // those of known
	keys  map[common.Hash]common.Hash
}

// note registers a storage that hash shall hash.
func (c *storages) note(slots map[common.Hash]common.Hash) {
	at := reflect.ValueOf(slots).Pointer()
	if c.known[at] != nil {
		return
	}
	c.known[at], c.maps = new(storage), append(c.maps, slots)
	for k := range slots {
		if _, known := c.keys[k]; !known {
			c.keys[k] = crypto.Keccak256Hash(k[:])
		}
	}
}

func (c *storages) of(slots map[common.Hash]common.Hash) *storage {
	return c.known[reflect.ValueOf(slots).Pointer()]
}

// hash hashes what was noted.
func (c *storages) hash() error {
	var group errgroup.Group
	for some := range slices.Chunk(c.maps, max(1, len(c.maps)/runtime.GOMAXPROCS(0))) {
		group.Go(func() (err error) {
			for _, slots := range some {
				err = errors.Join(err, c.of(slots).fill(slots, c.keys))
			}
			return err
		})
	}
	return group.Wait()
}

func (s *storage) fill(slots map[common.Hash]common.Hash, keys map[common.Hash]common.Hash) (err error) {
	for k, v := range slots {
		if v != (common.Hash{}) { // zero is how an absent slot reads
			s.slots = append(s.slots, hashed{keys[k], encodeSlot(v)})
		}
	}
	leaves := make([]hashed, len(s.slots))
	for i, slot := range s.slots {
		leaf, err := rlp.EncodeToBytes(slot.value)
		if err != nil {
			return err
		}
		leaves[i] = hashed{slot.key, leaf}
	}
	sortLeaves(s.slots)
	sortLeaves(leaves)
	s.root, s.nodes, err = hashTrie(leaves)
	return err
}

func sortLeaves(all []hashed) {
	slices.SortFunc(all, func(a, b hashed) int { return bytes.Compare(a.key[:], b.key[:]) })
}

// newGenesis computes block 0. Keys are known beforehand, so the tries are built in one pass over the sorted leaves,
// without a database.
func newGenesis(s Spec, all []Account, hashes codeHashes, stored *storages) (_ *genesis, err error) {
	g, state := &genesis{codes: map[common.Hash][]byte{}}, &entries{}
	leaves, has := make([]hashed, len(all)), make(map[common.Hash]*storage, len(all))
	slim := make(map[common.Hash][]byte, len(all))
	for i, a := range all {
		st, codeHash := stored.of(a.Storage), hashes.of(a)
		acc := &types.StateAccount{Nonce: a.Nonce, Root: st.root, CodeHash: codeHash[:]}
		if acc.Balance, err = exec.Uint256(a.Balance); err != nil {
			return nil, err
		}
		if len(a.Code) > 0 {
			g.codes[codeHash] = a.Code
		}
		leaf, err := rlp.EncodeToBytes(acc)
		if err != nil {
			return nil, err
		}
		key := crypto.Keccak256Hash(a.Address[:])
		leaves[i], has[key], slim[key] = hashed{key, leaf}, st, encodeAccount(acc)
	}
	sortLeaves(leaves)
	for _, l := range leaves {
		state.add(slim[l.key], []byte{prefixAccount}, l.key[:])
	}
	h := newHeader(new(big.Int), s.Time, big.NewInt(GenesisBaseFee))
	var nodes []node
	if h.Root, nodes, err = hashTrie(leaves); err != nil {
		return nil, err
	}
	for _, n := range nodes {
		state.add(n.blob, []byte{prefixAccountNode}, n.path)
	}
	for _, l := range leaves {
		for _, n := range has[l.key].nodes {
			state.add(n.blob, []byte{prefixStorageNode}, l.key[:], n.path)
		}
	}
	for _, l := range leaves {
		for _, slot := range has[l.key].slots {
			state.add(slot.value, []byte{prefixSlot}, l.key[:], slot.key[:])
		}
	}
	if g.state, err = store.NewContent(state.pairs()); err != nil {
		return nil, err
	}
	g.block = newSealed(h, nil, nil, nil, nil, nil)
	return g, nil
}

// entries collects what is stored, in the order of the keys, which lie in one piece of memory.
type entries struct {
	keys   []byte
	ends   []int // of the keys
	values [][]byte
}

// add notes a value under a key that comes in parts.
func (e *entries) add(value []byte, key ...[]byte) {
	for _, part := range key {
		e.keys = append(e.keys, part...)
	}
	e.ends, e.values = append(e.ends, len(e.keys)), append(e.values, value)
}

func (e *entries) pairs() []store.Pair {
	keys, from := string(e.keys), 0
	out := make([]store.Pair, len(e.ends))
	for i, to := range e.ends {
		out[i] = store.Pair{Key: keys[from:to], Value: e.values[i]}
		from = to
	}
	return out
}

// hashTrie returns the root of a trie with these leaves, which are in order, and its nodes in the order of their paths.
func hashTrie(leaves []hashed) (root common.Hash, nodes []node, err error) {
	if len(leaves) == 0 {
		return types.EmptyRootHash, nil, nil
	}
	t := trie.NewStackTrie(func(path []byte, _ common.Hash, blob []byte) {
		both := slices.Concat(path, blob) // the trie goes on to use both
		nodes = append(nodes, node{both[:len(path):len(path)], both[len(path):]})
	})
	for _, l := range leaves {
		if err := t.Update(l.key[:], l.value); err != nil {
			return common.Hash{}, nil, err
		}
	}
	root = t.Hash()
	slices.SortFunc(nodes, func(a, b node) int { return bytes.Compare(a.path, b.path) })
	return root, nodes, nil
}

// write stores block 0 and its state; codes are left to the caller, which
// writes those of all chains once.
func (g *genesis) write(tx store.Tx, l layout) error {
	v, err := encodeRecord(g.block.head.hash, g.block.record)
	if err != nil {
		return err
	}
	if err := tx.Bucket(l.blocks).Put(numberKey(0), v); err != nil {
		return err
	}
	return store.Fill(tx, l.state, g.state)
}
