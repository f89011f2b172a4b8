package operator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/api/networks"
	"coffer/api/service/chain/evm"
	"coffer/api/service/pinned"
	"coffer/assets"
)

// GenesisOptions say which private chain begins. Fund are accounts with a million coins each, of which the chain has no
// others. With PlayMoney it is like the chain of its number: the known tokens that have a price feed are there, a
// million of each for every account, and the feeds have the prices of the catalogue.
type GenesisOptions struct {
	ChainID   uint64
	Fund      []common.Address
	PlayMoney bool
	Time      uint64 // of the first block, in Unix seconds
	Out       io.Writer
}

// funds are what each account of a private chain begins with, of coins and of every token.
const funds = 1_000_000

// whole is so many of an asset in base units.
func whole(n, decimals int) *big.Int { return amount.Scale(big.NewInt(int64(n)), 0, decimals) }

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
	o.Fund = slices.Compact(slices.SortedFunc(slices.Values(o.Fund), common.Address.Cmp))
	for _, at := range o.Fund {
		spec.Alloc = append(spec.Alloc, evm.Account{Address: at, Balance: whole(funds, 18)})
	}
	if o.PlayMoney {
		money, err := o.playMoney()
		if err != nil {
			return err
		}
		spec.Alloc = append(spec.Alloc, money...)
	}
	raw, err := evm.GenesisFile(spec)
	if err != nil {
		return err
	}
	_, err = o.Out.Write(raw)
	return err
}

// playMoney makes tokens and price feeds.
func (o GenesisOptions) playMoney() ([]evm.Account, error) {
	known, err := networks.Shipped()
	if err != nil {
		return nil, err
	}
	prices, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(known, func(c networks.Chain) bool { return c.ID == o.ChainID })
	if i < 0 {
		return nil, &InputError{fmt.Sprintf("Coffer knows no tokens of chain %d", o.ChainID),
			"--play-money is for the chains that coffer network init knows, such as 8453"}
	}
	if len(o.Fund) == 0 {
		return nil, &InputError{"play money needs an account that has it", "name it with --fund"}
	}
	chain, made := withTokens(known[i], TokensPriced), map[common.Address]bool{}
	var all []evm.Account
	for _, t := range chain.Tokens {
		token, err := o.token(t)
		if err != nil {
			return nil, err
		}
		all = append(all, token...)
	}
	for _, f := range chain.Feeds {
		asset, _ := prices.Aggregate(f.Aggregate)
		if made[f.Address] || asset.PriceMicroUSD == nil {
			continue // one feed is for a coin and what wraps it
		}
		made[f.Address] = true
		feed, err := construct("Feed", f.Address, uint8(f.Decimals), amount.Scale(asset.PriceMicroUSD, 6, f.Decimals))
		if err != nil {
			return nil, err
		}
		all = append(all, feed...)
	}
	return all, nil
}

// token is one whose whole supply the funded accounts have.
func (o GenesisOptions) token(t networks.Token) ([]evm.Account, error) {
	left, err := construct("Token", t.Address, t.Name, t.Symbol, uint8(t.Decimals), o.Fund[0],
		whole(funds*len(o.Fund), t.Decimals))
	if err != nil {
		return nil, err
	}
	for _, at := range o.Fund { // the compiler keeps balances in slot 0
		slot := crypto.Keccak256Hash(common.LeftPadBytes(at[:], 32), make([]byte, 32))
		left[0].Storage[slot] = common.BigToHash(whole(funds, t.Decimals))
	}
	return left, nil
}

// construct is what the constructor of a contract leaves at an address.
func construct(name string, at common.Address, args ...any) ([]evm.Account, error) {
	contract, err := assets.Contract(name)
	if err != nil {
		return nil, err
	}
	parsed, err := abi.JSON(bytes.NewReader(contract.ABI))
	if err != nil {
		return nil, err
	}
	packed, err := parsed.Pack("", args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return evm.Predeploy(append(contract.Bytecode, packed...), at, 1)
}
