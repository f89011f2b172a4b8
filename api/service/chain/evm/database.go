package evm

import (
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"
	triedatabase "github.com/ethereum/go-ethereum/triedb/database"

	"coffer/api/service/store"
)

// caches holds what depends on a code hash only and never becomes stale. It is
// shared by the chains that are opened together.
type caches struct {
	codes *lru.SizeConstrainedCache[common.Hash, []byte]
	jumps vm.JumpDestCache
}

const codeCacheBytes = 8 << 20

func newCaches() *caches {
	return &caches{
		codes: lru.NewSizeConstrainedCache[common.Hash, []byte](codeCacheBytes),
		jumps: core.NewJumpDestCache(),
	}
}

// reader reads one frozen version of a chain from a store transaction. It is a
// state.Reader and a node reader for tries; both are used by several
// goroutines of go-ethereum at once, a store transaction is not, hence the
// lock.
type reader struct {
	mu     sync.Mutex
	tx     store.Tx
	state  store.Bucket
	blocks store.Bucket
	codes  store.Bucket
	cache  *caches
	past   []*undo // of the blocks after this version, oldest first; none for the head
}

func newReader(tx store.Tx, l layout, c *caches) *reader {
	return &reader{
		tx: tx, state: tx.Bucket(l.state), blocks: tx.Bucket(l.blocks), codes: tx.Bucket(codeBucket), cache: c,
	}
}

// get returns nil without error for what was never written: once the transaction has met damage, nothing counts as
// that.
func (r *reader) get(b store.Bucket, key []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := b.Get(key)
	if v == nil {
		return nil, r.tx.Err()
	}
	return v, nil
}

// version returns what the state bucket had under a key.
func (r *reader) version(key []byte) ([]byte, error) {
	for _, u := range r.past {
		if v, ok := u.old[string(key)]; ok {
			return v, nil
		}
	}
	return r.get(r.state, key)
}

// Account returns nil for an account that does not exist.
func (r *reader) Account(addr common.Address) (*types.StateAccount, error) {
	v, err := r.version(accountKey(crypto.Keccak256Hash(addr[:])))
	if v == nil {
		return nil, err
	}
	return decodeAccount(v)
}

// Storage returns zero for a slot that was never written.
func (r *reader) Storage(addr common.Address, slot common.Hash) (common.Hash, error) {
	v, err := r.version(slotKey(crypto.Keccak256Hash(addr[:]), crypto.Keccak256Hash(slot[:])))
	if v == nil {
		return common.Hash{}, err
	}
	return decodeSlot(v)
}

// Code returns nil when there is no such code, which StateDB reports as an
// error of its own.
func (r *reader) Code(_ common.Address, hash common.Hash) []byte {
	if code, ok := r.cache.codes.Get(hash); ok {
		return code
	}
	code, err := r.get(r.codes, hash[:])
	if err != nil || len(code) == 0 || crypto.Keccak256Hash(code) != hash {
		return nil
	}
	r.cache.codes.Add(hash, code)
	return code
}

func (r *reader) CodeSize(addr common.Address, hash common.Hash) int { return len(r.Code(addr, hash)) }

func (r *reader) Has(addr common.Address, hash common.Hash) bool { return r.Code(addr, hash) != nil }

// Node returns a node of the one trie that this version has.
func (r *reader) Node(owner common.Hash, path []byte, hash common.Hash) ([]byte, error) {
	blob, err := r.version(nodeKey(owner, path))
	if blob == nil {
		return nil, err // without an error the trie makes its MissingNodeError
	}
	if crypto.Keccak256Hash(blob) != hash {
		return nil, damaged("trie node", errors.New("hash differs"))
	}
	return blob, nil
}

// blockHash returns the hash of a sealed block, zero when there is none.
func (r *reader) blockHash(n uint64) common.Hash {
	v, err := r.get(r.blocks, numberKey(n))
	if err != nil || v == nil {
		return common.Hash{}
	}
	h, err := recordHash(v)
	if err != nil {
		return common.Hash{}
	}
	return h
}

// database gives go-ethereum's StateDB one version to start from and keeps in
// memory what it commits; nothing is written here.
type database struct {
	*reader
	update *state.StateUpdate

	faulty sync.Mutex
	fault  error // of a storage trie
}

// fails keeps the first fault of a storage trie.
func (d *database) fails(err error) {
	d.faulty.Lock()
	defer d.faulty.Unlock()
	if d.fault == nil {
		d.fault = err
	}
}

// failed is what makes a state root that was computed mean nothing.
func (d *database) failed() error {
	d.faulty.Lock()
	defer d.faulty.Unlock()
	return d.fault
}

func (d *database) Type() state.DatabaseType { return state.TypeMPT }

// Reader serves the only version there is. StateDB asks once more with the
// new root after a commit, when it is no longer read.
func (d *database) Reader(common.Hash) (state.Reader, error) { return d.reader, nil }

func (d *database) NodeReader(common.Hash) (triedatabase.NodeReader, error) { return d.reader, nil }

// Iteratee would be needed to destroy an account that has storage, which no
// transaction can do since Cancun.
func (d *database) Iteratee(common.Hash) (state.Iteratee, error) {
	return nil, errors.New("state cannot be iterated")
}

func (d *database) OpenTrie(root common.Hash) (state.Trie, error) {
	return openTrie(trie.StateTrieID(root), d)
}

func (d *database) OpenStorageTrie(stateRoot common.Hash, addr common.Address, root common.Hash,
	_ state.Trie) (state.Trie, error) {
	owner := crypto.Keccak256Hash(addr[:])
	t, err := openTrie(trie.StorageTrieID(stateRoot, owner, root), d)
	if err != nil {
		d.fails(err)
		t, err = openTrie(trie.StorageTrieID(stateRoot, owner, types.EmptyRootHash), d) // reads nothing
	}
	return storageTrie{t, d}, err
}

// storageTrie keeps its faults for the end of a block: go-ethereum computes the storage roots of several accounts at
// once, and notes what fails in them without a lock.
type storageTrie struct {
	state.Trie
	db *database
}

// UpdateStorage implements state.Trie.
func (t storageTrie) UpdateStorage(addr common.Address, key, value []byte) error {
	if err := t.Trie.UpdateStorage(addr, key, value); err != nil {
		t.db.fails(err)
	}
	return nil
}

// DeleteStorage implements state.Trie.
func (t storageTrie) DeleteStorage(addr common.Address, key []byte) error {
	if err := t.Trie.DeleteStorage(addr, key); err != nil {
		t.db.fails(err)
	}
	return nil
}

func openTrie(id *trie.ID, d *database) (state.Trie, error) {
	t, err := trie.NewStateTrie(id, d)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// TrieDB is only used inside the databases of go-ethereum itself.
func (d *database) TrieDB() *triedb.Database { return nil }

func (d *database) Commit(u *state.StateUpdate) error {
	d.update = u
	return nil
}

// writeUpdate replaces the stored version by the one that u leads to, and
// copies what it replaces into old unless that is nil. Trie nodes are keyed by
// path, so a new node takes its predecessor's place and one that went away is
// deleted: the older trie is gone with this commit.
func writeUpdate(tx store.Tx, l layout, u *state.StateUpdate, old map[string][]byte) error {
	b := replacing{tx.Bucket(l.state), old}
	for h, a := range u.Accounts {
		if err := b.putOrDelete(accountKey(h), a != nil, func() []byte { return encodeAccount(a) }); err != nil {
			return err
		}
	}
	for h, slots := range u.Storages {
		for k, v := range slots {
			if err := b.putOrDelete(slotKey(h, k), v != common.Hash{},
				func() []byte { return encodeSlot(v) }); err != nil {
				return err
			}
		}
	}
	for owner, set := range u.Nodes.Sets {
		for path, n := range set.Nodes {
			if err := b.putOrDelete(nodeKey(owner, []byte(path)), !n.IsDeleted(),
				func() []byte { return n.Blob }); err != nil {
				return err
			}
		}
	}
	codes := tx.Bucket(codeBucket)
	for _, c := range u.Codes {
		if err := putCode(codes, c.Hash, c.Blob); err != nil {
			return err
		}
	}
	return nil
}

// replacing is a bucket that copies what it replaces.
type replacing struct {
	store.Bucket
	old map[string][]byte
}

func (b replacing) putOrDelete(key []byte, put bool, value func() []byte) error {
	if b.old != nil {
		b.old[string(key)] = b.Get(key)
	}
	if put {
		return b.Put(key, value())
	}
	return b.Delete(key)
}

// putCode stores a code once; removing a delegation leaves an empty one.
func putCode(b store.Bucket, hash common.Hash, code []byte) error {
	if len(code) == 0 || b.Get(hash[:]) != nil {
		return nil
	}
	return b.Put(hash[:], code)
}
