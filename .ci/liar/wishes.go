package liar

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/wallet/intent"
)

// holding is what the person's account had of an asset when the session began.
type holding struct {
	asset     caip.Asset
	aggregate string
	amount    *big.Int
}

// wish makes up something to do.
func (p *Person) wish() (intent.Draft, bool) {
	d := intent.Draft{Version: intent.Version, Network: p.network.ID, Accounts: p.user.Accounts(),
		SlippageBps: 50 + p.dice.IntN(400)}
	if p.v1 {
		d.Interface, d.Accounts = intent.InterfaceV1, d.Accounts[:1]
	}
	h := pick(p.dice, p.holdings)
	switch n := p.dice.IntN(100); {
	case n < 60:
		return p.call(d, h)
	case n < 80:
		return p.swap(d, h)
	}
	return p.transfer(d, h)
}

// some is an amount of a holding: mostly what is there, now and then more, so that other chains must help.
func (p *Person) some(h holding) *big.Int {
	if p.dice.chance(35) {
		return new(big.Int).Add(h.amount, p.dice.part(h.amount, 60))
	}
	return p.dice.part(h.amount, 40)
}

// call makes a call on the chain of the holding.
func (p *Person) call(d intent.Draft, h holding) (intent.Draft, bool) {
	token, isToken := h.asset.Token()
	if h.asset.Chain.IsSolana() || !isToken && !h.asset.IsNative() {
		return d, false
	}
	d.TargetChain = h.asset.Chain.String()
	v, to := p.some(h), pick(p.dice, friends()).address
	d.TokensRequired = []api.TokenRequirement{{AssetType: h.asset.String(), Amount: v.String()}}
	pay := func(v *big.Int) intent.Call {
		if isToken {
			return intent.Call{To: token.Hex(), Data: "0x" + common.Bytes2Hex(erc20.Transfer(to, v))}
		}
		return intent.Call{To: to.Hex(), Value: v.String()}
	}
	switch n := p.dice.IntN(10); {
	case n == 6, n == 7:
		half := new(big.Int).Rsh(v, 1)
		d.Calls = []intent.Call{pay(half), pay(new(big.Int).Sub(v, half))}
	case n == 8 && isToken:
		d.Calls = []intent.Call{{To: token.Hex(), Data: "0x" + common.Bytes2Hex(erc20.Approve(to, v))}}
	case n == 9 && isToken:
		d.Allowances = []api.AllowanceRequirement{{AssetType: h.asset.String(), Amount: v.String(), Spender: to.Hex()}}
		d.Calls = []intent.Call{{To: to.Hex(), Data: fmt.Sprintf("0x%08x", p.dice.Uint32())}}
	default:
		d.Calls = []intent.Call{pay(v)}
	}
	if p.dice.chance(30) {
		d.FundWith = h.aggregate
	}
	return d, true
}

// swap pays one aggregate for another.
func (p *Person) swap(d intent.Draft, h holding) (intent.Draft, bool) {
	get := pick(p.dice, []string{"ob:usdc", "ob:eth", "ob:usdt", "ob:dai"})
	if get == h.aggregate {
		return d, false
	}
	d.Kind = intent.KindSwap
	d.Pay = &intent.Pay{Asset: p.source(h), Amount: p.dice.part(h.amount, 40).String()}
	d.Receive = &intent.Receive{Asset: get}
	if p.dice.chance(40) {
		d.Receive.Account = p.own(pick(p.dice, p.holdings).asset.Chain)
	}
	return d, true
}

// transfer pays a friend, there or on another chain.
func (p *Person) transfer(d intent.Draft, h holding) (intent.Draft, bool) {
	d.Kind = intent.KindTransfer
	there := pick(p.dice, p.holdings)
	if there.aggregate != h.aggregate {
		there = h
	}
	f := pick(p.dice, friends())
	account := "eip155:" + there.asset.Chain.Reference + ":" + f.address.Hex()
	if there.asset.Chain.IsSolana() {
		account = there.asset.Chain.String() + ":" + f.solana
	}
	d.Pay = &intent.Pay{Asset: p.source(h), Amount: p.dice.part(h.amount, 40).String()}
	d.Receive = &intent.Receive{Asset: there.asset.String(), Account: account}
	return d, true
}

// source names what pays: the holding itself, or its aggregate when the decimals are the same.
func (p *Person) source(h holding) string {
	agg, ok := p.catalog.Aggregate(caip.AggregateID(h.aggregate))
	e, known := p.catalog.Entity(h.asset)
	if ok && known && agg.Decimals == e.Decimals && p.dice.chance(50) {
		return h.aggregate
	}
	return h.asset.String()
}

// own is the person's account on a chain, CAIP-10.
func (p *Person) own(c caip.Chain) string {
	for _, a := range p.user.Accounts() {
		if a.IsEVM() != c.IsSolana() {
			return c.String() + ":" + a.AccountAddress
		}
	}
	return ""
}
