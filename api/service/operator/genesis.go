package operator

import (
	"errors"
	"io"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain/evm"
	"coffer/api/service/pinned"
)

// GenesisOptions say which private chain begins. Fund are accounts with a million coins each, of which the chain has no
// others.
type GenesisOptions struct {
	ChainID uint64
	Fund    []common.Address
	Time    uint64 // of the first block, in Unix seconds
	Out     io.Writer
}

// funds are what each account of a private chain begins with: a million coins.
var funds = new(big.Int).Mul(big.NewInt(1_000_000), big.NewInt(1e18))

// Genesis prints the first block of a private chain, as geth and anvil take it (`geth init`, `anvil --init`). It has
// every pinned contract, and the meta factory's approval, which on other chains its owner alone can give.
func Genesis(o GenesisOptions) error {
	if o.ChainID == 0 {
		return errors.New("a chain has a number")
	}
	all, err := pinned.All()
	if err != nil {
		return err
	}
	spec := evm.Spec{ChainID: o.ChainID, Time: o.Time}
	meta, slot, err := pinned.Approval()
	if err != nil {
		return err
	}
	for _, c := range all {
		left, err := c.Left(o.ChainID)
		if err != nil {
			return err
		}
		if c.At == meta {
			left[0].Storage[slot] = common.Hash{31: 1}
		}
		spec.Alloc = append(spec.Alloc, left...)
	}
	for _, at := range o.Fund {
		spec.Alloc = append(spec.Alloc, evm.Account{Address: at, Balance: funds})
	}
	raw, err := evm.GenesisFile(spec)
	if err != nil {
		return err
	}
	_, err = o.Out.Write(raw)
	return err
}
