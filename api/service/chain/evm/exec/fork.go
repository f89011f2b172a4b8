package exec

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain"
)

// maxRounds bounds how often one call is tried: each time it comes at least one read further.
const maxRounds = 128

// Account is an account that was read. One that does not exist has nothing.
type Account struct {
	Balance *big.Int
	Nonce   uint64
	Code    []byte
}

// Slot names a slot of an account.
type Slot struct {
	Account common.Address
	Key     common.Hash
}

// Want is what a Fork lacks: accounts, slots, and the hashes of blocks.
type Want struct {
	Accounts []common.Address
	Slots    []Slot
	Blocks   []uint64
}

// Found is what was fetched.
type Found struct {
	Accounts map[common.Address]Account
	Slots    map[Slot]common.Hash
	Blocks   map[uint64]common.Hash
}

// Source fetches what is wanted, all of it or an error. It may bring more: next are the messages that will want it.
type Source func(w Want, next []chain.Message) (Found, error)

// Block is the block in which a Fork executes.
type Block struct {
	Number, Time, GasLimit uint64
	BaseFee, BlobBaseFee   *big.Int
	Coinbase               common.Address
	Random                 common.Hash
	// Shown is the number that code sees, on chains whose own blocks it does not count.
	Shown *uint64
}

// Chain is what the Forks of one chain have in common.
type Chain struct {
	ID    uint64
	Fork  Hardfork
	Jumps vm.JumpDestCache
	// Foreign are the precompiled contracts that only the chain's own nodes have. A message that calls one fails with
	// chain.ErrUnchecked.
	Foreign []common.Address
}

// NewJumps makes the cache of what code says about jumps, for all Forks of all chains.
func NewJumps() vm.JumpDestCache { return core.NewJumpDestCache() }

// Fork executes on a state that lies elsewhere. What it meets for the first time it takes for empty and notes, goes on
// to the end, fetches all that it noted in one go, and begins again: a message is done when it met nothing new. So its
// outcome is the true one, and a chain of reads takes as many fetches as it has links, however many reads it has.
//
// It is a chain.State without its head, not safe for concurrent use.
type Fork struct {
	source  Source
	machine *Machine
	open    func(*state.StateDB) *vm.EVM
	later   []chain.Overlay // applied with the next read
	err     error

	accounts map[common.Address]*types.StateAccount // nil for one that does not exist
	codes    map[common.Hash][]byte
	slots    map[Slot]common.Hash
	blocks   map[uint64]common.Hash
	lacks    struct {
		accounts map[common.Address]bool
		slots    map[Slot]bool
		blocks   map[uint64]bool
	}
	unknown string // why the message under way has no known outcome
}

// NewFork makes a Fork for a block.
func NewFork(c Chain, b Block, source Source) (*Fork, error) {
	f := &Fork{
		source: source, accounts: map[common.Address]*types.StateAccount{}, codes: map[common.Hash][]byte{},
		slots: map[Slot]common.Hash{}, blocks: map[uint64]common.Hash{},
	}
	f.forget()
	st, err := state.NewWithReader(types.EmptyRootHash, database{}, (*forkReader)(f))
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	cfg := Config(c.ID, c.Fork)
	bc := BlockContext(&types.Header{
		Number: new(big.Int).SetUint64(b.Number), Time: b.Time, GasLimit: b.GasLimit, BaseFee: b.BaseFee,
		Coinbase: b.Coinbase, MixDigest: b.Random,
	}, f.hashOf)
	bc.BlobBaseFee = new(big.Int).Set(b.BlobBaseFee)
	if b.Shown != nil {
		bc.BlockNumber.SetUint64(*b.Shown)
		bc.GetHash = func(uint64) common.Hash {
			f.unknown = "it asks for the hash of a block, which only this chain's own nodes say"
			return common.Hash{}
		}
	}
	precompiles := vm.ActivePrecompiledContracts(cfg.Rules(bc.BlockNumber, true, b.Time))
	for _, a := range c.Foreign {
		precompiles[a] = foreign{f, a}
	}
	f.open = func(st *state.StateDB) *vm.EVM {
		e := vm.NewEVM(bc, st, cfg, vm.Config{NoBaseFee: true})
		e.SetPrecompiles(precompiles)
		e.SetJumpDestCache(c.Jumps)
		return e
	}
	f.machine = f.over(st, 0)
	return f, nil
}

func (f *Fork) over(st *state.StateDB, calls uint64) *Machine {
	m := NewMachine(st, f.open(st), func() error { return nil })
	m.halt, m.calls = f.unchecked, calls
	return m
}

// unchecked is why the message that was executed has no known outcome.
func (f *Fork) unchecked() error {
	if f.unknown == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", chain.ErrUnchecked, f.unknown)
}

// run does something when everything is there that it reads. False says that Err has become an error.
func (f *Fork) run(next []chain.Message, do func(*Machine)) bool {
	for range maxRounds {
		if f.err != nil {
			return false
		}
		f.unknown = ""
		try := f.over(f.machine.state.Copy(), f.machine.calls)
		for _, o := range f.later {
			try.Apply(o)
		}
		do(try)
		w := f.forget()
		if len(w.Accounts)+len(w.Slots)+len(w.Blocks) == 0 {
			f.machine.Close()
			f.machine, f.later = try, nil
			f.err = try.Err()
			return f.err == nil
		}
		try.Close()
		f.err = f.fetch(w, next)
		next = nil
	}
	f.err = errors.Join(f.err, errors.New("the state that is needed is read one slot after the other: too many reads"))
	return false
}

// forget returns what is lacking, and begins to note anew.
func (f *Fork) forget() (w Want) {
	for a := range f.lacks.accounts {
		w.Accounts = append(w.Accounts, a)
	}
	for s := range f.lacks.slots {
		w.Slots = append(w.Slots, s)
	}
	for n := range f.lacks.blocks {
		w.Blocks = append(w.Blocks, n)
	}
	f.lacks.accounts, f.lacks.slots = map[common.Address]bool{}, map[Slot]bool{}
	f.lacks.blocks = map[uint64]bool{}
	return w
}

func (f *Fork) fetch(w Want, next []chain.Message) error {
	found, err := f.source(w, next)
	if err == nil {
		err = f.Load(found)
	}
	if err != nil {
		return err
	}
	for _, a := range w.Accounts {
		if _, ok := f.accounts[a]; !ok {
			return fmt.Errorf("account %s was not fetched", a)
		}
	}
	for _, s := range w.Slots {
		if _, ok := f.slots[s]; !ok {
			return fmt.Errorf("slot %s of %s was not fetched", s.Key, s.Account)
		}
	}
	for _, n := range w.Blocks {
		if _, ok := f.blocks[n]; !ok {
			return fmt.Errorf("the hash of block %d was not fetched", n)
		}
	}
	return nil
}

// Load takes what was fetched before it was wanted. What is known already stays.
func (f *Fork) Load(found Found) error {
	for a, v := range found.Accounts {
		if _, known := f.accounts[a]; known {
			continue
		}
		balance, err := Uint256(v.Balance)
		if err != nil {
			return fmt.Errorf("balance of %s: %w", a, err)
		}
		f.accounts[a] = nil
		if v.Nonce != 0 || !balance.IsZero() || len(v.Code) > 0 {
			hash := crypto.Keccak256Hash(v.Code)
			f.codes[hash] = v.Code
			f.accounts[a] = &types.StateAccount{
				Nonce: v.Nonce, Balance: balance, Root: types.EmptyRootHash, CodeHash: hash[:],
			}
		}
	}
	for s, v := range found.Slots {
		if _, known := f.slots[s]; !known {
			f.slots[s] = v
		}
	}
	maps.Copy(f.blocks, found.Blocks)
	return nil
}

// Prime fetches in one go what messages are going to read, as far as the source knows it.
func (f *Fork) Prime(next ...chain.Message) {
	if f.err == nil && len(next) > 0 {
		f.err = f.fetch(Want{}, next)
	}
}

// Has reports whether an account or a slot was fetched.
func (f *Fork) Has(a common.Address) bool {
	_, ok := f.accounts[a]
	return ok
}

// HasSlot reports whether a slot was fetched.
func (f *Fork) HasSlot(s Slot) bool {
	_, ok := f.slots[s]
	return ok
}

func read[T any](f *Fork, do func(*Machine) T) (out T) {
	var v T
	if f.run(nil, func(m *Machine) { v = do(m) }) {
		out = v
	}
	return out
}

// Balance is what the account has.
func (f *Fork) Balance(a common.Address) *big.Int {
	if v := read(f, func(m *Machine) *big.Int { return m.Balance(a) }); v != nil {
		return v
	}
	return new(big.Int)
}

// Nonce is that of the account's next transaction.
func (f *Fork) Nonce(a common.Address) uint64 {
	return read(f, func(m *Machine) uint64 { return m.Nonce(a) })
}

// Code is the account's code.
func (f *Fork) Code(a common.Address) []byte {
	return read(f, func(m *Machine) []byte { return m.Code(a) })
}

// Storage is a slot of the account.
func (f *Fork) Storage(a common.Address, k common.Hash) common.Hash {
	return read(f, func(m *Machine) common.Hash { return m.Storage(a, k) })
}

// Apply changes accounts as Machine.Apply does; what that reads is fetched with the next read.
func (f *Fork) Apply(o chain.Overlay) {
	for addr, a := range o {
		if _, err := Uint256(a.Balance); err != nil {
			f.err = errors.Join(f.err, fmt.Errorf("overlay of %s: balance: %w", addr, err))
		}
	}
	f.later = append(f.later, clone(o))
}

// clone is the overlay as it is now, whatever its owner does with it.
func clone(o chain.Overlay) chain.Overlay {
	o = maps.Clone(o)
	for addr, a := range o {
		if a.Balance != nil {
			a.Balance = new(big.Int).Set(a.Balance)
		}
		if a.Nonce != nil {
			nonce := *a.Nonce
			a.Nonce = &nonce
		}
		a.Code, a.Storage = bytes.Clone(a.Code), maps.Clone(a.Storage)
		o[addr] = a
	}
	return o
}

// Call executes a message at gas price zero.
func (f *Fork) Call(m chain.Message) (out chain.Result) {
	if !f.run([]chain.Message{m}, func(on *Machine) { out = on.Call(m) }) {
		return chain.Result{Err: f.err}
	}
	return out
}

// Err is a fault of the source, or an overlay that cannot be.
func (f *Fork) Err() error { return f.err }

// Close ends the fork; a second call does nothing.
func (f *Fork) Close() { f.machine.Close() }

// hashOf is BLOCKHASH.
func (f *Fork) hashOf(n uint64) common.Hash {
	h, ok := f.blocks[n]
	if !ok {
		f.lacks.blocks[n] = true
	}
	return h
}

// forkReader is the state.Reader of a Fork's StateDB, which starts no goroutines.
type forkReader Fork

// Account returns nil for an account that does not exist, or is not known yet.
func (r *forkReader) Account(a common.Address) (*types.StateAccount, error) {
	v, ok := r.accounts[a]
	if !ok {
		r.lacks.accounts[a] = true
	}
	if v == nil {
		return nil, nil
	}
	return v.Copy(), nil
}

// Storage returns zero for a slot that is not known yet.
func (r *forkReader) Storage(a common.Address, k common.Hash) (common.Hash, error) {
	s := Slot{a, k}
	v, ok := r.slots[s]
	if !ok && !r.isNew(a) {
		r.lacks.slots[s] = true
	}
	return v, nil
}

// isNew reports whether an account was read and never had code or sent anything: then no slot of it was ever written.
func (r *forkReader) isNew(a common.Address) bool {
	v, known := r.accounts[a]
	return known && (v == nil || v.Nonce == 0 && common.BytesToHash(v.CodeHash) == types.EmptyCodeHash)
}

func (r *forkReader) Code(_ common.Address, hash common.Hash) []byte  { return r.codes[hash] }
func (r *forkReader) CodeSize(_ common.Address, hash common.Hash) int { return len(r.codes[hash]) }
func (r *forkReader) Has(_ common.Address, hash common.Hash) bool     { return r.codes[hash] != nil }

// database is all that a StateDB which is never committed asks of one.
type database struct{ state.Database }

func (database) Type() state.DatabaseType { return state.TypeMPT }

// foreign is a precompiled contract of which only the address is known.
type foreign struct {
	in *Fork
	at common.Address
}

func (foreign) RequiredGas([]byte) uint64 { return 0 }
func (foreign) Name() string              { return "foreign" }

func (p foreign) Run([]byte) ([]byte, error) {
	p.in.unknown = fmt.Sprintf("it calls %s, a contract of this chain's own nodes", p.at)
	return nil, vm.ErrExecutionReverted
}
