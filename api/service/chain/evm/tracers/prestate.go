package tracers

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
)

// prestateOptions are those of prestateTracer: what the transaction changed in place of what it found, and what to
// leave out or put in.
type prestateOptions struct {
	DiffMode       bool `json:"diffMode"`
	DisableCode    bool `json:"disableCode"`
	DisableStorage bool `json:"disableStorage"`
	IncludeEmpty   bool `json:"includeEmpty"`
}

// account is one account before or after a transaction; what is nil or zero is left out. Code that was removed is
// "0x".
type account struct {
	Balance  *hexutil.Big                `json:"balance,omitempty"`
	Code     *hexutil.Bytes              `json:"code,omitempty"`
	CodeHash *common.Hash                `json:"codeHash,omitempty"`
	Nonce    uint64                      `json:"nonce,omitempty"`
	Storage  map[common.Hash]common.Hash `json:"storage,omitempty"`
}

// seen is an account as the transaction found it.
type seen struct {
	balance *big.Int
	nonce   uint64
	code    []byte
	slots   map[common.Hash]common.Hash
}

func (s *seen) empty() bool { return s.nonce == 0 && s.balance.Sign() == 0 && len(s.code) == 0 }

// prestate is prestateTracer: every account and slot that the transaction may have read, as it was when the
// transaction first came to it, which is before it could change it.
type prestate struct {
	options prestateOptions
	env     *tracing.VMContext
	found   map[common.Address]*seen
	made    map[common.Address]bool // created by the transaction
	gone    map[common.Address]bool // created and destroyed by it
	before  map[common.Address]*account
	after   map[common.Address]*account
}

func newPrestate(o prestateOptions) *tracer {
	p := &prestate{
		options: o, found: map[common.Address]*seen{}, made: map[common.Address]bool{}, gone: map[common.Address]bool{},
		before: map[common.Address]*account{}, after: map[common.Address]*account{},
	}
	return &tracer{
		hooks:  &tracing.Hooks{OnTxStart: p.start, OnTxEnd: p.end, OnOpcode: p.step},
		result: p.result,
	}
}

// start notes who every transaction touches: the sender, the recipient, who gets the tip, and who signed an
// authorization.
func (p *prestate) start(env *tracing.VMContext, tx *types.Transaction, from common.Address) {
	p.env = env
	to := crypto.CreateAddress(from, env.StateDB.GetNonce(from))
	if tx.To() != nil {
		to = *tx.To()
	} else {
		p.made[to] = true
	}
	p.note(from)
	p.noteTarget(to)
	p.note(env.Coinbase)
	for _, a := range tx.SetCodeAuthorizations() {
		if who, err := a.Authority(); err == nil {
			p.note(who)
		}
	}
}

// note keeps an account as it is now, unless it was kept before.
func (p *prestate) note(a common.Address) *seen {
	if s, ok := p.found[a]; ok {
		return s
	}
	s := &seen{
		balance: p.env.StateDB.GetBalance(a).ToBig(), nonce: p.env.StateDB.GetNonce(a),
		code: bytes.Clone(p.env.StateDB.GetCode(a)), slots: map[common.Hash]common.Hash{},
	}
	p.found[a] = s
	return s
}

// noteTarget keeps an account whose code will run, and the one that it delegates to (EIP-7702).
func (p *prestate) noteTarget(a common.Address) {
	p.note(a)
	if to, ok := types.ParseDelegation(p.env.StateDB.GetCode(a)); ok {
		p.note(to)
	}
}

// step notes what the next instruction reads. The top of the stack comes last.
func (p *prestate) step(_ uint64, opcode byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, err error) {
	if err != nil {
		return
	}
	stack, self := scope.StackData(), scope.Address()
	top := func(i int) [32]byte { return stack[len(stack)-1-i].Bytes32() }
	address := func(i int) common.Address { word := top(i); return common.Address(word[12:]) }
	switch op := vm.OpCode(opcode); op {
	case vm.SLOAD, vm.SSTORE:
		if len(stack) > 0 && !p.options.DisableStorage {
			s, key := p.note(self), common.Hash(top(0))
			if _, known := s.slots[key]; !known {
				s.slots[key] = p.env.StateDB.GetState(self, key)
			}
		}
	case vm.BALANCE, vm.EXTCODESIZE, vm.EXTCODECOPY, vm.EXTCODEHASH, vm.SELFDESTRUCT:
		if len(stack) > 0 {
			p.note(address(0))
			if op == vm.SELFDESTRUCT && p.made[self] { // otherwise it only moves the balance (EIP-6780)
				p.gone[self] = true
			}
		}
	case vm.CALL, vm.CALLCODE, vm.DELEGATECALL, vm.STATICCALL:
		if len(stack) > 1 {
			p.noteTarget(address(1))
		}
	case vm.CREATE:
		p.create(crypto.CreateAddress(self, p.env.StateDB.GetNonce(self)))
	case vm.CREATE2:
		if len(stack) > 3 {
			code, ok := memory(scope.MemoryData(), top(1), top(2))
			if ok {
				p.create(crypto.CreateAddress2(self, top(3), crypto.Keccak256(code)))
			}
		}
	}
}

func (p *prestate) create(a common.Address) {
	p.note(a)
	p.made[a] = true
}

// memory reads a stretch of memory, with zeros where it was not written yet; false when it is longer than any init
// code.
func memory(all []byte, offset, size [32]byte) ([]byte, bool) {
	from, n := new(big.Int).SetBytes(offset[:]), new(big.Int).SetBytes(size[:])
	if !n.IsInt64() || n.Int64() > 1<<20 {
		return nil, false
	}
	out := make([]byte, n.Int64())
	if from.IsInt64() && from.Int64() < int64(len(all)) {
		copy(out, all[from.Int64():])
	}
	return out, true
}

// end writes the answer while the state after the transaction can be read.
func (p *prestate) end(_ *types.Receipt, err error) {
	if err != nil {
		return
	}
	for a, s := range p.found {
		before := p.shown(s)
		if p.options.DiffMode {
			after, changed := p.changed(a, s, before)
			if !changed {
				continue
			}
			if after != nil {
				p.after[a] = after
			}
		}
		if !s.empty() || p.options.IncludeEmpty {
			p.before[a] = before
		}
	}
}

// shown is an account as it was found.
func (p *prestate) shown(s *seen) *account {
	a := &account{Balance: (*hexutil.Big)(s.balance), Nonce: s.nonce}
	if len(s.code) > 0 {
		hash := crypto.Keccak256Hash(s.code)
		a.CodeHash = &hash
		if !p.options.DisableCode {
			a.Code = (*hexutil.Bytes)(&s.code)
		}
	}
	if len(s.slots) > 0 {
		a.Storage = s.slots
	}
	return a
}

// changed is what the transaction left of an account: only what differs; nil when it destroyed the account. It takes
// the slots that are the same, or were empty, out of before.
func (p *prestate) changed(a common.Address, s *seen, before *account) (after *account, changed bool) {
	if p.gone[a] {
		return nil, true
	}
	after, db := new(account), p.env.StateDB
	if balance := db.GetBalance(a).ToBig(); balance.Cmp(s.balance) != 0 {
		after.Balance, changed = (*hexutil.Big)(balance), true
	}
	if nonce := db.GetNonce(a); nonce != s.nonce {
		after.Nonce, changed = nonce, true
	}
	if code := bytes.Clone(db.GetCode(a)); !bytes.Equal(code, s.code) {
		hash := crypto.Keccak256Hash(code)
		after.CodeHash, changed = &hash, true
		if !p.options.DisableCode {
			if code == nil {
				code = []byte{}
			}
			after.Code = (*hexutil.Bytes)(&code)
		}
	}
	before.Storage = map[common.Hash]common.Hash{}
	for key, was := range s.slots {
		now := db.GetState(a, key)
		if now == was {
			continue
		}
		changed = true
		if was != (common.Hash{}) {
			before.Storage[key] = was
		}
		if now != (common.Hash{}) {
			if after.Storage == nil {
				after.Storage = map[common.Hash]common.Hash{}
			}
			after.Storage[key] = now
		}
	}
	return after, changed
}

func (p *prestate) result() (any, error) {
	if p.options.DiffMode {
		return struct {
			Post map[common.Address]*account `json:"post"`
			Pre  map[common.Address]*account `json:"pre"`
		}{p.after, p.before}, nil
	}
	return p.before, nil
}
