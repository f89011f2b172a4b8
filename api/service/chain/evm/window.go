package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// Window is the number of blocks whose state can be read, the head among them.
const Window = 128

// PrunedError says that the state after a block is no longer known.
type PrunedError struct{ Number, Oldest uint64 }

func (e *PrunedError) Error() string {
	return fmt.Sprintf("historical state of block %d is not available: the oldest that is known is that of block %d",
		e.Number, e.Oldest)
}

// ErrUnknownBlock says that there is no block of that number yet.
var ErrUnknownBlock = errors.New("header not found")

// undo is what a block replaced in the state bucket: by key the value before it, nil where there was none. Once a Node
// has it, it does not change.
type undo struct {
	number uint64
	hash   common.Hash
	old    map[string][]byte
}

// keep notes the undo of a block that is about to be committed. Should the commit fail, the next block of that number
// takes its place.
func (n *Node) keep(u *undo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	for len(n.undos) > 0 && n.undos[len(n.undos)-1].number >= u.number {
		n.undos = n.undos[:len(n.undos)-1]
	}
	n.undos = append(n.undos, u)
	drop := max(0, len(n.undos)-(Window-1))
	n.marks = slices.DeleteFunc(n.marks, func(m mark) bool { return u.number-m.number > keptForSnapshots })
	if len(n.marks) > 0 {
		drop = max(0, min(drop, int(n.marks[0].number+1-n.undos[0].number)))
	}
	clear(n.undos[:drop])
	n.undos = n.undos[drop:]
}

// since returns the undos of the blocks after number up to h, oldest first; ok is false when h is no longer of this
// chain.
func (n *Node) since(number uint64, h head) (list []*undo, ok bool, err error) {
	if number == h.number() {
		return nil, true, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, false, ErrClosed
	}
	oldest := h.number()
	if len(n.undos) > 0 && n.undos[0].number <= h.number() {
		first := n.undos[0].number
		last := int(h.number() - first)
		if last >= len(n.undos) || n.undos[last].hash != h.hash {
			return nil, false, nil
		}
		oldest = max(first, h.number()-min(h.number(), Window-2)) - 1
		if number >= oldest {
			return slices.Clone(n.undos[number+1-first : last+1]), true, nil
		}
	}
	return nil, true, &PrunedError{Number: number, Oldest: oldest}
}

// View is the state after one block, for reading and for execution that is thrown away. It is not safe for concurrent
// use, except that copies of its State are independent of each other. It must be closed.
type View struct {
	Header *types.Header // must not be changed
	Hash   common.Hash
	State  *state.StateDB

	node   *Node
	snap   store.Snapshot
	reader *reader
}

// View opens the state after a block. It fails with ErrUnknownBlock above the head and with a *PrunedError below the
// window.
func (n *Node) View(number uint64) (*View, error) {
	v, err := n.version(number)
	if err != nil {
		return nil, err
	}
	if v.State, err = state.NewWithReader(v.Header.Root, &database{reader: v.reader}, v.reader); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// Account is an account after a block, empty when there is none. Its errors are those of View, which takes longer.
func (n *Node) Account(number uint64, a common.Address) (types.StateAccount, error) {
	v, err := n.version(number)
	if err != nil {
		return types.StateAccount{}, err
	}
	defer v.Close()
	found, err := v.reader.Account(a)
	if err = errors.Join(err, v.snap.Err()); err != nil || found == nil {
		return *types.NewEmptyStateAccount(), err
	}
	return *found, nil
}

// version is a View without its State.
func (n *Node) version(number uint64) (*View, error) {
	for range 10 { // a head that was taken back has gone when it is looked for again
		v, err := n.view(number)
		if v != nil || err != nil {
			return v, err
		}
	}
	return nil, &PrunedError{Number: number, Oldest: n.chain.latest.Load().number()}
}

// view returns nil without error when the head went away while it was looked at.
func (n *Node) view(number uint64) (*View, error) {
	snap, h, r, err := n.chain.open(context.Background())
	if err != nil {
		return nil, err
	}
	v := &View{Header: h.header, Hash: h.hash, node: n, snap: snap, reader: r}
	ok := false
	if number > h.number() {
		err = ErrUnknownBlock
	} else {
		r.past, ok, err = n.since(number, h)
	}
	if err == nil && ok && number < h.number() {
		var rec *record
		if rec, v.Hash, err = n.chain.record(snap, number); err == nil && rec == nil {
			err = damaged("block", errors.New("it is missing"))
		} else if err == nil {
			v.Header = rec.Header
		}
	}
	if err != nil || !ok {
		snap.Release()
		return nil, err
	}
	return v, nil
}

// Context is the context of the block itself, or with child that of the block that would come next.
func (v *View) Context(child bool) vm.BlockContext {
	h := v.Header
	if child {
		h = childHeader(v.node.chain.env.cfg, h, v.Hash, uint64(v.node.clock().Unix()))
	}
	return exec.BlockContext(h, v.reader.blockHash)
}

// EVM makes a machine on st, which is the State of this view, a copy of it, or one of the two with hooks. The caller
// releases it.
func (v *View) EVM(bc vm.BlockContext, st vm.StateDB, cfg vm.Config) *vm.EVM {
	e := vm.NewEVM(bc, st, v.node.chain.env.cfg, cfg)
	e.SetJumpDestCache(v.node.chain.env.cache.jumps)
	return e
}

// Err is the fault of the store that a read met: then what was read means nothing.
func (v *View) Err() error { return errors.Join(v.State.Error(), v.snap.Err()) }

// Close ends the view; a second call does nothing.
func (v *View) Close() { v.snap.Release() }

// Proof shows by the block's state root what an account and some of its slots are. Without an account the root of its
// storage and the hash of its code are zero, as go-ethereum has it.
type Proof struct {
	Account               [][]byte
	Balance               *uint256.Int
	Nonce                 uint64
	CodeHash, StorageHash common.Hash
	Slots                 []SlotProof // in the order asked for
}

// SlotProof shows one slot.
type SlotProof struct {
	Key, Value common.Hash
	Proof      [][]byte
}

// nodes collects the nodes of a proof, the root first.
type nodes [][]byte

// Put implements ethdb.KeyValueWriter.
func (l *nodes) Put(_, blob []byte) error {
	*l = append(*l, blob)
	return nil
}

// Delete implements ethdb.KeyValueWriter; a proof takes nothing back.
func (l *nodes) Delete([]byte) error { return errors.New("a proof only grows") }

// Proof makes the proof of an account and of slots.
func (v *View) Proof(addr common.Address, slots []common.Hash) (*Proof, error) {
	db, root := &database{reader: v.reader}, v.Header.Root
	p := &Proof{
		Balance: v.State.GetBalance(addr), Nonce: v.State.GetNonce(addr), CodeHash: v.State.GetCodeHash(addr),
		StorageHash: v.State.GetStorageRoot(addr),
	}
	accounts, err := trie.NewStateTrie(trie.StateTrieID(root), db)
	if err != nil {
		return nil, err
	}
	key := crypto.Keccak256Hash(addr[:])
	if err := accounts.Prove(key[:], (*nodes)(&p.Account)); err != nil {
		return nil, err
	}
	var storage *trie.StateTrie
	if len(slots) > 0 && p.StorageHash != types.EmptyRootHash && p.StorageHash != (common.Hash{}) {
		if storage, err = trie.NewStateTrie(trie.StorageTrieID(root, key, p.StorageHash), db); err != nil {
			return nil, err
		}
	}
	for _, k := range slots {
		s := SlotProof{Key: k, Value: v.State.GetState(addr, k)}
		if storage != nil {
			if err := storage.Prove(crypto.Keccak256(k[:]), (*nodes)(&s.Proof)); err != nil {
				return nil, err
			}
		}
		p.Slots = append(p.Slots, s)
	}
	return p, v.Err()
}
