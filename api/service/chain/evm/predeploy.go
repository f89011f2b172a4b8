package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// ErrConstructor is wrapped when a constructor reverts, runs out of gas or
// leaves code that the protocol would refuse.
var ErrConstructor = errors.New("the constructor failed")

// constructorGas is plenty: genesis pays nothing for gas.
const constructorGas = 100_000_000

// Predeploy runs a constructor (init code with its encoded arguments) on an
// empty state of the given chain, so that the contract it makes lands at a
// fixed address with its immutables and storage. It returns every account that
// is left, the contract itself first, contracts that it created after it in
// the order of their addresses: they belong into Spec.Alloc together.
//
// The constructor sees itself at that address, DeterministicDeployer as its
// caller, no value and none of the chain's other contracts. Unlike in a real
// creation its own code size is not zero while it runs.
func Predeploy(initCode []byte, at common.Address, chainID uint64) ([]Account, error) {
	s, err := newScratch(chainID)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.state.CreateAccount(at)
	s.state.SetNonce(at, 1, tracing.NonceChangeNewContract)
	s.state.SetCode(at, initCode, tracing.CodeChangeContractCreation)
	code, err := s.call(at, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConstructor, err)
	}
	if len(code) == 0 || len(code) > params.MaxCodeSize || code[0] == 0xef {
		return nil, fmt.Errorf("%w: it left no valid code", ErrConstructor)
	}
	s.state.SetCode(at, code, tracing.CodeChangeContractCreation)
	return s.accounts(at)
}

// DeployDeterministic runs init code through the deterministic deployer with
// the given salt and returns the accounts that are left as Predeploy does. The
// first account's address is the CREATE2 address, the same on every chain. The
// deployer itself is not among them. The constructor sees chain id 1.
func DeployDeterministic(initCode []byte, salt common.Hash) ([]Account, error) {
	return DeployDeterministicOn(1, initCode, salt)
}

// DeployDeterministicOn is DeployDeterministic for constructors that remember the chain's id.
func DeployDeterministicOn(chainID uint64, initCode []byte, salt common.Hash) ([]Account, error) {
	s, err := newScratch(chainID)
	if err != nil {
		return nil, err
	}
	defer s.close()
	deployer := DeterministicDeployer()
	s.state.SetNonce(deployer, 1, tracing.NonceChangeGenesis)
	s.state.SetCode(deployer, params.DeterministicFactoryCode, tracing.CodeChangeGenesis)
	s.state.Finalise(s.evm.GetRules())
	at := crypto.CreateAddress2(deployer, salt, crypto.Keccak256(initCode))
	out, err := s.call(deployer, append(salt[:], initCode...))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConstructor, err)
	}
	if !bytes.Equal(out, at[:]) {
		return nil, fmt.Errorf("%w: the deployer answered %x, expected %s", ErrConstructor, out, at)
	}
	return s.accounts(at, deployer)
}

// scratch is an empty state that is thrown away.
type scratch struct {
	db    *database
	snap  store.Snapshot
	state *state.StateDB
	evm   *vm.EVM
}

func newScratch(chainID uint64) (*scratch, error) {
	if chainID == 0 {
		return nil, errNoChainID
	}
	snap, err := store.NewMemory().Snapshot(context.Background())
	if err != nil {
		return nil, err
	}
	e := newEnv(chainID, newCaches())
	r := newReader(snap, layoutOf(chainID), e.cache)
	s := &scratch{db: &database{reader: r}, snap: snap}
	if s.state, err = state.NewWithReader(types.EmptyRootHash, s.db, r); err != nil {
		return nil, err
	}
	h := newHeader(new(big.Int), 0, new(big.Int))
	s.evm = vm.NewEVM(exec.BlockContext(h, r.blockHash), s.state, e.cfg, vm.Config{})
	return s, nil
}

func (s *scratch) close() {
	s.evm.Release()
	s.snap.Release()
}

// call calls a contract from the deterministic deployer's address.
func (s *scratch) call(to common.Address, data []byte) ([]byte, error) {
	rules, from := s.evm.GetRules(), DeterministicDeployer()
	s.state.Prepare(rules, from, common.Address{}, &to, vm.ActivePrecompiles(rules), nil)
	s.evm.SetTxContext(vm.TxContext{Origin: from, GasPrice: new(uint256.Int)})
	out, _, err := s.evm.Call(from, to, data, vm.NewGasBudget(constructorGas, 0), new(uint256.Int))
	if errors.Is(err, vm.ErrExecutionReverted) {
		return nil, fmt.Errorf("%w: %x", err, out)
	}
	return out, err
}

// accounts lists what is left, first on top, the excluded ones left out.
func (s *scratch) accounts(first common.Address, exclude ...common.Address) ([]Account, error) {
	if _, err := s.state.Commit(s.evm.GetRules(), 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConstructor, err)
	}
	u := s.db.update
	var out []Account
	for addr := range u.AccountsOrigin {
		acc := u.Accounts[crypto.Keccak256Hash(addr[:])]
		if acc == nil || slices.Contains(exclude, addr) {
			continue
		}
		out = append(out, Account{
			Address: addr, Nonce: acc.Nonce, Balance: acc.Balance.ToBig(),
			Code: common.CopyBytes(s.state.GetCode(addr)), Storage: slotsOf(u, addr),
		})
	}
	slices.SortFunc(out, func(a, b Account) int {
		if (a.Address == first) != (b.Address == first) {
			if a.Address == first {
				return -1
			}
			return 1
		}
		return bytes.Compare(a.Address[:], b.Address[:])
	})
	if len(out) == 0 || out[0].Address != first {
		return nil, fmt.Errorf("%w: nothing was left at %s", ErrConstructor, first)
	}
	return out, nil
}

// slotsOf reads the slots of an account with the keys that the contract used:
// since Cancun an update keeps those beside their hashes.
func slotsOf(u *state.StateUpdate, addr common.Address) map[common.Hash]common.Hash {
	values := u.Storages[crypto.Keccak256Hash(addr[:])]
	out := map[common.Hash]common.Hash{}
	for key := range u.StoragesOrigin[addr] {
		if v := values[crypto.Keccak256Hash(key[:])]; v != (common.Hash{}) {
			out[key] = v
		}
	}
	return out
}

// place puts contracts and slots into the state. A contract takes no place that has one.
func (b *builder) place(all []placed) error {
	for _, p := range all {
		if p.Set != nil {
			b.set(p.Address, p.Set)
		}
		if len(p.Code) > 0 {
			if b.state.GetCodeSize(p.Address) > 0 || chain.IsReservedAddress(p.Address) {
				return fmt.Errorf("%s has a contract already", p.Address)
			}
			b.state.SetNonce(p.Address, 1, tracing.NonceChangeNewContract)
			b.state.SetCode(p.Address, p.Code, tracing.CodeChangeContractCreation)
		}
		for _, s := range p.Slots {
			b.state.SetState(p.Address, s.Key, s.Value)
		}
		if p.Set != nil && b.state.Empty(p.Address) && (len(p.Slots) > 0 || b.hasStorage(p.Address)) {
			return fmt.Errorf("%s: %w", p.Address, ErrNoStorage)
		}
	}
	b.placed = all
	b.state.Finalise(b.evm.GetRules())
	return b.state.Error()
}

// set is what a development network does to an account.
func (b *builder) set(a common.Address, s *setting) {
	for _, balance := range s.Balance {
		b.state.SetBalance(a, balance, tracing.BalanceChangeUnspecified)
	}
	for _, nonce := range s.Nonce {
		b.state.SetNonce(a, nonce, tracing.NonceChangeUnspecified)
	}
	for _, code := range s.Code {
		b.state.SetCode(a, code, tracing.CodeChangeUnspecified)
	}
}

func (b *builder) hasStorage(a common.Address) bool {
	root := b.state.GetStorageRoot(a)
	return root != types.EmptyRootHash && root != (common.Hash{})
}
