package builder

import (
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
)

// The forms of the screen: calls, or a ready-made form, named after the kind of intent that it makes.
const (
	formCalls    = ""
	formTransfer = intent.KindTransfer
	formSwap     = intent.KindSwap
)

// exchange is the form of a transfer or a swap: one asset is paid in full, the same or another one arrives. Assets are
// aggregate ids or CAIP-19; amount and min are typed in whole tokens.
type exchange struct {
	kind    string
	pay     string
	amount  *kit.Field
	receive string
	at      caip.Chain // the chain of arrival when receive is an aggregate; zero: the service chooses
	to      *kit.Field // "" is the own account (swap)
	min     *kit.Field
	slip    tolerance
	v1      bool // it was drafted for the older interface
}

func newExchange(kind string) *exchange {
	x := &exchange{kind: kind, amount: kit.NewField("", 100), to: kit.NewField("", 160), min: kit.NewField("", 100),
		slip: newTolerance()}
	x.amount.Empty, x.min.Empty = "how much, or max", "what the slippage leaves"
	x.to.Empty = "an address or a name; enter lists"
	if kind == formSwap {
		x.to.Empty = "your own account"
	}
	return x
}

func (x *exchange) empty() bool {
	return x.pay == "" && x.receive == "" && x.amount.Value() == "" && x.to.Value() == "" && x.min.Value() == ""
}

// side is one asset of an exchange as the catalogue knows it.
type side struct {
	agg      catalog.Aggregate
	entity   catalog.Entity // zero when the asset of any chain will do
	exact    bool
	decimals int
}

// side resolves an aggregate id or a CAIP-19 asset.
func (s *Screen) side(asset string) (side, bool) {
	if id, err := caip.ParseAggregate(asset); err == nil {
		agg, ok := s.ctx.Catalog.Aggregate(id)
		return side{agg: agg, decimals: agg.Decimals}, ok
	}
	e, ok := s.entity(asset)
	if !ok {
		return side{}, false
	}
	agg, ok := s.ctx.Catalog.Aggregate(e.Aggregate)
	return side{agg: agg, entity: e, exact: true, decimals: e.Decimals}, ok
}

// entity is a known CAIP-19 asset.
func (s *Screen) entity(asset string) (catalog.Entity, bool) {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return catalog.Entity{}, false
	}
	return s.ctx.Catalog.Entity(a)
}

// arrives is the chain of arrival; the zero chain when the service chooses.
func (s *Screen) arrives(x *exchange) caip.Chain {
	if e, ok := s.entity(x.receive); ok {
		return e.Asset.Chain
	}
	return x.at
}

// delivered are the decimals and the symbol of what arrives; ok is false while they depend on the chain.
func (s *Screen) delivered(x *exchange) (decimals int, symbol string, ok bool) {
	to, known := s.side(x.receive)
	if !known {
		return 0, "", false
	}
	if to.exact {
		return to.decimals, to.entity.Symbol, true
	}
	at := s.arrives(x)
	seen := map[int]bool{}
	for _, e := range to.agg.Entities {
		if at == (caip.Chain{}) || e.Asset.Chain == at {
			seen[e.Decimals] = true
			decimals = e.Decimals
		}
	}
	return decimals, to.agg.Symbol, len(seen) == 1
}

// paying is the amount in base units of the paid asset; nil while it cannot be read.
func (s *Screen) paying(x *exchange) *big.Int {
	from, ok := s.side(x.pay)
	if !ok {
		return nil
	}
	v, err := quantity(x.amount.Value(), from.decimals, from.agg.Symbol)
	if err != nil {
		return nil
	}
	return v
}

// everything is the most that can be paid: the whole balance of the asset, less the part that is on the chain of
// arrival in the own account already. nil: unknown.
func (s *Screen) everything(x *exchange) *big.Int {
	from, ok := s.side(x.pay)
	switch {
	case !ok || !s.money.known:
		return nil
	case from.exact:
		return s.money.of(from.entity.Asset)
	}
	sum, at := new(big.Int), s.arrives(x)
	stays := x.kind == formSwap && x.to.Value() == "" || s.own(x.to.Value())
	to, _ := s.side(x.receive)
	for _, e := range from.agg.Entities {
		v := s.money.of(e.Asset)
		if v == nil || stays && e.Asset.Chain == at && e.Aggregate == to.agg.ID || !s.holds(e.Asset.Chain) {
			continue
		}
		sum.Add(sum, amount.Scale(v, e.Decimals, from.decimals))
	}
	return sum
}

// holds reports whether one of the accounts can hold assets of a chain.
func (s *Screen) holds(c caip.Chain) bool {
	for _, a := range s.ctx.Accounts {
		if a.IsEVM() != c.IsSolana() {
			return true
		}
	}
	return false
}

// account is the CAIP-10 account that receives; "" is the own one.
func (s *Screen) account(x *exchange) string {
	text := trim(x.to.Value())
	at := s.arrives(x)
	if text == "" || at == (caip.Chain{}) {
		return ""
	}
	if a, err := caip.ParseAccount(at.String() + ":" + text); err == nil {
		if address, ok := a.EVM(); ok && caip.CheckEIP55(text) == nil {
			id, _ := at.EVMID()
			return caip.EVMAccount(id, address).Display()
		}
	}
	return at.String() + ":" + text
}

// exchangeDraft turns a transfer or a swap into a draft. It is only meaningful without mistakes.
func (s *Screen) exchangeDraft(x *exchange) intent.Draft {
	d := intent.Draft{Version: intent.Version, Kind: x.kind, Network: s.ctx.Network.ID, Accounts: s.ctx.Accounts,
		SlippageBps: x.slip.bps()}
	d.Pay, d.Receive = &intent.Pay{Asset: x.pay}, &intent.Receive{Asset: x.receive, Account: s.account(x)}
	if v := s.paying(x); v != nil {
		d.Pay.Amount = v.String()
	}
	if decimals, symbol, ok := s.delivered(x); ok {
		if v, err := quantity(x.min.Value(), decimals, symbol); err == nil {
			d.Receive.Minimum = v.String()
		}
	}
	return d
}

// expected is the amount at the catalogue's prices, in base units of what arrives, before fees; nil when a price is
// unknown.
func (s *Screen) expected(x *exchange) *big.Int {
	from, okFrom := s.side(x.pay)
	to, okTo := s.side(x.receive)
	decimals, _, ok := s.delivered(x)
	v := s.paying(x)
	if !okFrom || !okTo || !ok || v == nil {
		return nil
	}
	if from.agg.ID == to.agg.ID {
		return amount.Scale(v, from.decimals, decimals)
	}
	if to.agg.PriceMicroUSD == nil || to.agg.PriceMicroUSD.Sign() == 0 {
		return nil
	}
	micro := amount.Value(v, from.decimals, from.agg.PriceMicroUSD)
	if micro == nil {
		return nil
	}
	one := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return one.Mul(one, micro).Quo(one, to.agg.PriceMicroUSD)
}

// fillExchange makes the form of a draft of a transfer or a swap.
func (s *Screen) fillExchange(d intent.Draft) *exchange {
	x := newExchange(d.Kind)
	x.v1 = d.Interface == intent.InterfaceV1
	if d.Pay != nil {
		x.pay = d.Pay.Asset
		if from, ok := s.side(x.pay); ok {
			x.amount.Set(wholeOf(d.Pay.Amount, from.decimals))
		}
	}
	if d.Receive != nil {
		x.receive = d.Receive.Asset
		if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			x.at = a.Chain
			x.to.Set(a.Address)
			if e, ok := a.EVM(); ok {
				x.to.Set(e.Hex())
			}
		} else {
			x.to.Set(d.Receive.Account)
		}
		if decimals, _, ok := s.delivered(x); ok {
			x.min.Set(wholeOf(d.Receive.Minimum, decimals))
		}
	}
	x.slip.set(d.SlippageBps)
	return x
}

// wholeOf writes base units in whole tokens, "" for text that is no amount.
func wholeOf(base string, decimals int) string {
	v, err := amount.ParseBase(base)
	if err != nil {
		return ""
	}
	return amount.Trim(amount.Format(v, decimals))
}
