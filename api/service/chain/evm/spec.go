package evm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"

	"coffer/api/service/chain/evm/exec"
)

// Spec is what a chain begins with. Two specs with the same contents have the
// same genesis hash.
type Spec struct {
	ChainID uint64
	// Alloc lists the accounts of block 0, each address once. What the
	// protocol itself needs is added: the request queues of EIP-7002 and
	// EIP-7251 and the deterministic deployer; they must not be listed.
	Alloc []Account
	// Time of block 0, Unix seconds.
	Time uint64
}

// Account is one account of block 0, or one that a constructor left behind.
type Account struct {
	Address  common.Address
	Code     []byte
	CodeHash common.Hash // of Code, or zero: it is computed then
	Nonce    uint64
	Balance  *big.Int // wei, nil means zero
	Storage  map[common.Hash]common.Hash
}

// ErrSpec is wrapped when a spec cannot be a chain.
var ErrSpec = errors.New("the chain specification is not usable")

var errNoChainID = fmt.Errorf("%w: no chain id", ErrSpec)

func systemAccounts() []Account {
	return []Account{
		{Address: params.WithdrawalQueueAddress, Nonce: 1, Code: params.WithdrawalQueueCode},
		{Address: params.ConsolidationQueueAddress, Nonce: 1, Code: params.ConsolidationQueueCode},
		{Address: params.DeterministicFactoryAddress, Nonce: 1, Code: params.DeterministicFactoryCode},
	}
}

// accounts returns the complete genesis allocation, sorted by address.
func (s Spec) accounts() ([]Account, error) {
	if s.ChainID == 0 {
		return nil, errNoChainID
	}
	all := append(systemAccounts(), s.Alloc...)
	slices.SortStableFunc(all, func(a, b Account) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	for i, a := range all {
		if i > 0 && a.Address == all[i-1].Address {
			return nil, fmt.Errorf("%w: chain %d: account %s is listed twice", ErrSpec, s.ChainID, a.Address)
		}
		if _, err := exec.Uint256(a.Balance); err != nil {
			return nil, fmt.Errorf("%w: chain %d: balance of %s: %w", ErrSpec, s.ChainID, a.Address, err)
		}
		if a.empty() {
			return nil, fmt.Errorf("%w: chain %d: account %s is empty", ErrSpec, s.ChainID, a.Address)
		}
	}
	return all, nil
}

// empty reports an account that the first touch would remove (EIP-161), which
// would make its storage impossible to clean up.
func (a Account) empty() bool {
	return a.Nonce == 0 && len(a.Code) == 0 && (a.Balance == nil || a.Balance.Sign() == 0)
}
