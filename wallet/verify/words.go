package verify

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
)

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// callTypeWords says in plain words what a call type means.
func callTypeWords(t string) string {
	switch t {
	case api.CallSameChainExcludeSolver:
		return "Everything needed is already on the target chain. This signature is the only one: with it the calls " +
			"can run."
	case api.CallSameChainWithSolver:
		return "Other tokens on the target chain will pay for what is missing. Their payment is reviewed and signed " +
			"separately."
	case api.CallCrossChain:
		return "The same asset on other chains will pay for what is missing. Those payments are reviewed and signed " +
			"separately."
	case api.CallCrossChainSwaps:
		return "Another asset, possibly on other chains, will be swapped for what is missing. Those payments are " +
			"reviewed and signed separately."
	}
	return "unknown: " + t
}

// chainLabel names an EVM chain.
func (p Policy) chainLabel(id uint64) ChainLabel {
	c := caip.EVM(id)
	l := ChainLabel{ID: id, CAIP: c.String(), Name: c.String()}
	if info, ok := p.Catalog.Chain(c); ok {
		l.Name, l.Short = info.Name, info.Short
	}
	return l
}

// amountView describes an amount with the catalogue's decimals and price.
func (p Policy) amountView(a caip.Asset, v *big.Int) AmountView {
	view := AmountView{Asset: a, Decimals: -1, Amount: new(big.Int).Set(v)}
	if info, ok := p.Catalog.Chain(a.Chain); ok {
		view.ChainName = info.Name
	}
	e, ok := p.Catalog.Entity(a)
	if !ok {
		return view
	}
	view.Symbol, view.Decimals = e.Symbol, e.Decimals
	view.Micro = amount.Value(v, e.Decimals, p.Catalog.Price(a))
	return view
}

// human writes an amount for a reason: with symbol when the asset is known, in base units otherwise.
func (p Policy) human(a caip.Asset, v *big.Int) string {
	view := p.amountView(a, v)
	if view.Decimals < 0 {
		return v.String() + " base units of " + a.Display()
	}
	return amount.Human(v, view.Decimals) + " " + view.Symbol
}

// nameOf names a known address on a chain: a token of the catalogue or one of the pins.
func (p Policy) nameOf(chainID uint64, a common.Address) string {
	if e, ok := p.Catalog.Entity(caip.ERC20(chainID, a)); ok {
		return e.Symbol
	}
	pins := p.Network.Pins
	for _, n := range []struct {
		at   common.Address
		name string
	}{
		{pins.Escrow, "escrow"}, {pins.Paymaster, "paymaster"}, {pins.EntryPoint, "entry point"},
		{pins.ECDSAValidator, "validator"},
		{pins.RoleBasedValidator, "role-based validator"}, {pins.Factory, "account factory"},
		{pins.MetaFactory, "meta factory"},
		{pins.Operator, "operator"}, {pins.Solver, "solver"},
	} {
		if n.at == a && a != (common.Address{}) {
			return n.name
		}
	}
	return ""
}

func bpsOf(part, whole *big.Int) int {
	if part == nil || whole == nil || whole.Sign() <= 0 {
		return -1
	}
	v := new(big.Int).Mul(part, big.NewInt(10_000))
	v.Add(v, new(big.Int).Sub(whole, big.NewInt(1))).Quo(v, whole) // rounded up: never looks cheaper than it is
	if !v.IsInt64() || v.Int64() > 1_000_000 {
		return 1_000_000
	}
	return int(v.Int64())
}

func percent(bps int) string { return fmt.Sprintf("%d.%02d %%", bps/100, bps%100) }

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }
