package evm

import (
	"bytes"
	"math/big"
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"

	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// genesis is block 0 and its state, ready to be written.
type genesis struct {
	block *sealed
	state []entry // of the state bucket
	codes map[common.Hash][]byte
}

type entry struct{ key, value []byte }

// codeHashes hashes a code once however many chains carry the same bytes.
type codeHashes map[*byte]common.Hash

func (c codeHashes) of(code []byte) common.Hash {
	if len(code) == 0 {
		return types.EmptyCodeHash
	}
	h, ok := c[&code[0]]
	if !ok {
		h = crypto.Keccak256Hash(code)
		c[&code[0]] = h
	}
	return h
}

// hashed is a leaf of a trie.
type hashed struct {
	key   common.Hash
	value []byte
}

// storage is what an account has, hashed: its slots, and the nodes of its trie by path.
type storage struct {
	root  common.Hash
	slots []hashed
	nodes []entry
}

// storages hashes a storage once however many accounts have the same one.
type storages map[uintptr]*storage

func (c storages) of(slots map[common.Hash]common.Hash) (*storage, error) {
	at := reflect.ValueOf(slots).Pointer()
	if known := c[at]; known != nil {
		return known, nil
	}
	s := new(storage)
	leaves := make([]hashed, 0, len(slots))
	for k, v := range slots {
		if v == (common.Hash{}) {
			continue // zero is how an absent slot reads
		}
		key, value := crypto.Keccak256Hash(k[:]), encodeSlot(v)
		s.slots = append(s.slots, hashed{key, value})
		leaf, err := rlp.EncodeToBytes(value)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, hashed{key, leaf})
	}
	var err error
	s.root, err = hashTrie(leaves, func(path, blob []byte) { s.nodes = append(s.nodes, entry{path, blob}) })
	c[at] = s
	return s, err
}

// newGenesis computes block 0. Keys are known beforehand, so the tries are
// built in one pass over the sorted leaves, without a database.
func newGenesis(s Spec, hashes codeHashes, stored storages) (*genesis, error) {
	all, err := s.accounts()
	if err != nil {
		return nil, err
	}
	g := &genesis{codes: map[common.Hash][]byte{}}
	leaves := make([]hashed, 0, len(all))
	for _, a := range all {
		st, err := stored.of(a.Storage)
		if err != nil {
			return nil, err
		}
		leaf, err := g.account(a, hashes.of(a.Code), st)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf)
	}
	h := newHeader(new(big.Int), s.Time, big.NewInt(GenesisBaseFee))
	h.Root, err = hashTrie(leaves, func(path, blob []byte) {
		g.state = append(g.state, entry{nodeKey(common.Hash{}, path), blob})
	})
	if err != nil {
		return nil, err
	}
	g.block = newSealed(h, nil, nil, nil, nil, nil)
	return g, nil
}

// account adds one account and its storage; it returns the trie's leaf.
func (g *genesis) account(a Account, codeHash common.Hash, st *storage) (hashed, error) {
	balance, err := exec.Uint256(a.Balance)
	if err != nil {
		return hashed{}, err
	}
	key := crypto.Keccak256Hash(a.Address[:])
	for _, s := range st.slots {
		g.state = append(g.state, entry{slotKey(key, s.key), s.value})
	}
	for _, n := range st.nodes {
		g.state = append(g.state, entry{nodeKey(key, n.key), n.value})
	}
	acc := &types.StateAccount{Nonce: a.Nonce, Balance: balance, Root: st.root, CodeHash: codeHash[:]}
	g.state = append(g.state, entry{accountKey(key), encodeAccount(acc)})
	if len(a.Code) > 0 {
		g.codes[codeHash] = a.Code
	}
	leaf, err := rlp.EncodeToBytes(acc)
	return hashed{key, leaf}, err
}

// hashTrie hands over the nodes of one trie and returns its root.
func hashTrie(leaves []hashed, put func(path, blob []byte)) (common.Hash, error) {
	if len(leaves) == 0 {
		return types.EmptyRootHash, nil
	}
	slices.SortFunc(leaves, func(a, b hashed) int { return bytes.Compare(a.key[:], b.key[:]) })
	t := trie.NewStackTrie(func(path []byte, _ common.Hash, blob []byte) {
		put(bytes.Clone(path), bytes.Clone(blob))
	})
	for _, l := range leaves {
		if err := t.Update(l.key[:], l.value); err != nil {
			return common.Hash{}, err
		}
	}
	return t.Hash(), nil
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
	b := tx.Bucket(l.state)
	for _, e := range g.state {
		if err := b.Put(e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}
