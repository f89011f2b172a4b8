// Package pinned knows the contracts that a network on own nodes has: where each one is on every chain, how it gets
// there, and which code is right there. All come out of the deterministic deployer, so their addresses are equal.
//
// The role-based validator alone is elsewhere than on embedded networks: those have it where others document it, and no
// init code leads there.
package pinned

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/chain/evm"
	"coffer/assets"
)

// Names of the contracts.
const (
	EntryPoint         = "EntryPoint"
	Window             = "Window"
	KernelV31          = "KernelV31"
	KernelV33          = "KernelV33"
	ECDSAValidator     = "ECDSAValidator"
	RoleBasedValidator = "RoleBasedECDSAValidator"
	Factory            = "KernelFactory"
	MetaFactory        = "MetaFactory"
	Filler             = "Filler"
	Escrow             = "Escrow"
)

// Contract is one contract. Salt and Init are what the deterministic deployer makes it of.
type Contract struct {
	Name string
	At   common.Address
	Salt common.Hash
	Init []byte
}

// CallData is what the deterministic deployer is called with.
func (c Contract) CallData() []byte { return slices.Concat(c.Salt[:], c.Init) }

// Left are the accounts that the constructor leaves on a chain: the contract itself first.
func (c Contract) Left(chainID uint64) ([]evm.Account, error) {
	left, err := evm.DeployDeterministicOn(chainID, c.Init, c.Salt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	return left, nil
}

// Hash is that of the code that the contract has on a chain.
func (c Contract) Hash(chainID uint64) (common.Hash, error) {
	left, err := c.Left(chainID)
	if err != nil {
		return common.Hash{}, err
	}
	return crypto.Keccak256Hash(left[0].Code), nil
}

// A DifferenceError says that other code than the pinned one is at a pinned address. No start and no signature is
// possible on such a chain.
type DifferenceError struct {
	Chain           uint64
	Name            string
	At              common.Address
	Expected, Found common.Hash
}

func (e *DifferenceError) Error() string {
	return fmt.Sprintf("chain %d: the code at %s is not that of %s: expected the hash %s, found %s", e.Chain,
		e.At.Hex(), e.Name, e.Expected, e.Found)
}

// Check compares the code that a chain has at the contract's address. Kernel remembers the chain's id in its code but
// trusts that at its own address alone, where no account is: the code of chain 1, which the chains inside this program
// have, is as good. No code is no difference; there tells whether there is any.
func (c Contract) Check(chainID uint64, code []byte) (there bool, err error) {
	if len(code) == 0 {
		return false, nil
	}
	e := &DifferenceError{Chain: chainID, Name: c.Name, At: c.At, Found: crypto.Keccak256Hash(code)}
	for _, id := range []uint64{1, chainID} {
		if e.Expected, err = c.Hash(id); err != nil {
			return true, err
		}
		if e.Expected == e.Found {
			return true, nil
		}
	}
	return true, e
}

// All are the contracts, in the order in which they are deployed.
func All() ([]Contract, error) {
	all, err := contracts()
	return slices.Clone(all), err
}

// Operated are the contracts of an operator on a network: the filler of its cold key, and the escrow that pays it when
// so many of the attesters, in ascending order, say that it delivered.
func Operated(n network.Descriptor, owner common.Address, attesters []common.Address, threshold int) (filler,
	escrow Contract, err error) {
	all, err := contracts()
	if err != nil {
		return filler, escrow, err
	}
	init, err := network.FillerInit(all[0].At, owner)
	if err != nil {
		return filler, escrow, err
	}
	filler = Contract{Name: Filler, At: network.Created(init), Init: init}
	if init, err = network.EscrowInit(filler.At, attesters, threshold, n.Salt()); err != nil {
		return filler, escrow, err
	}
	return filler, Contract{Name: Escrow, At: network.Created(init), Init: init}, nil
}

var contracts = sync.OnceValues(func() ([]Contract, error) {
	pins, err := assets.PinnedAddresses()
	if err != nil {
		return nil, err
	}
	var all []Contract
	for _, c := range []struct {
		name, at string
		salt     common.Hash
	}{
		{EntryPoint, pins.EntryPoint, common.HexToHash(pins.EntryPointSalt)},
		{Window, network.Window().Hex(), common.Hash{}},
		{ECDSAValidator, pins.ECDSAValidator, common.Hash{}},
		{KernelV31, pins.KernelV31Implementation, common.Hash{}},
		{Factory, pins.Factory, common.Hash{}},
		{MetaFactory, pins.MetaFactory, common.Hash{}},
		{KernelV33, pins.KernelV33Delegate, common.Hash{}},
		{RoleBasedValidator, "", common.Hash{}},
	} {
		art, err := assets.Contract(c.name)
		if err != nil {
			return nil, err
		}
		at := crypto.CreateAddress2(evm.DeterministicDeployer(), c.salt, crypto.Keccak256(art.Bytecode))
		if c.at != "" && at != common.HexToAddress(c.at) {
			return nil, fmt.Errorf("%s comes out at %s, pinned at %s", c.name, at.Hex(), c.at)
		}
		all = append(all, Contract{Name: c.name, At: at, Salt: c.salt, Init: art.Bytecode})
	}
	return all, nil
})

// Pins are the addresses and the formulas of a network on own nodes. The keys of an installation are not among them.
func Pins() (network.Pins, []network.Formula, error) {
	all, err := contracts()
	if err != nil {
		return network.Pins{}, nil, err
	}
	raw, err := assets.PinnedAddresses()
	if err != nil {
		return network.Pins{}, nil, err
	}
	at := map[string]common.Address{}
	for _, c := range all {
		at[c.Name] = c.At
	}
	var formulas []network.Formula
	for _, f := range raw.Formulas {
		validator, err := caip.ParseAddress(f.VerifyingContract)
		if err != nil {
			return network.Pins{}, nil, err
		}
		if f.VerifyingContract == raw.RoleBasedValidator {
			validator = at[RoleBasedValidator]
		}
		formulas = append(formulas, network.Formula{Name: f.Name, Version: f.Version, VerifyingContract: validator,
			Formula: f.Formula})
	}
	return network.Pins{
		EntryPoint: at[EntryPoint], Paymaster: at[Window], KernelV31: at[KernelV31], KernelV33: at[KernelV33],
		Factory: at[Factory], MetaFactory: at[MetaFactory], ECDSAValidator: at[ECDSAValidator],
		RoleBasedValidator: at[RoleBasedValidator],
	}, formulas, nil
}

// Approval is the slot of the meta factory that says that its owner approved the factory. Without it kernel-v3.1 and
// role-based accounts cannot be made.
func Approval() (metaFactory common.Address, slot common.Hash, err error) {
	pins, _, err := Pins()
	return pins.MetaFactory, crypto.Keccak256Hash(common.LeftPadBytes(pins.Factory[:], 32), make([]byte, 32)), err
}

// Approved reports whether a slot that a chain answered says so.
func Approved(slot []byte) bool { return len(bytes.TrimLeft(slot, "\x00")) > 0 }

// DeployerCode is that of the deterministic deployer.
func DeployerCode() []byte { return slices.Clone(evm.DeterministicDeployerCode()) }
