package compose

import (
	"cmp"
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Exchange is the form of a transfer or a swap: one asset is paid in full, the same or another one arrives. Assets are
// aggregate ids or CAIP-19; Amount and Minimum are typed in whole tokens.
type Exchange struct {
	What    string     `json:"kind"` // intent.KindTransfer or intent.KindSwap
	Pay     string     `json:"pay,omitzero"`
	Amount  string     `json:"amount,omitzero"`
	Receive string     `json:"receive,omitzero"`
	At      caip.Chain `json:"at,omitzero"` // of arrival when Receive is an aggregate; zero: the service chooses
	To      string     `json:"to,omitzero"` // "" is the own account (swap)
	Minimum string     `json:"minimum,omitzero"`
	Slip    Choice     `json:"slip"`
	V1      bool       `json:"v1,omitzero"`      // it was drafted for the older interface
	Exactly bool       `json:"exactly,omitzero"` // of a transfer: Amount is what arrives, the cost comes on top
}

// NewExchange is the empty form of a kind.
func NewExchange(kind string) *Exchange {
	return &Exchange{What: kind, Slip: Choice{Preset: intent.DefaultSlippageBps}}
}

// Arrives is the chain of arrival: that of the asset, else the chosen one, else the only one that has the asset, else
// Solana for a Solana address; the zero chain when the service chooses.
func (w *World) Arrives(x *Exchange) caip.Chain {
	to, _ := w.Side(x.Receive)
	switch {
	case to.Exact:
		return to.Entity.Asset.Chain
	case x.At != (caip.Chain{}):
		return x.At
	}
	_, notSolana := caip.ParseSolanaKey(cmp.Or(w.Person(x.To), trim(x.To)))
	for _, e := range to.Agg.Entities {
		if len(to.Agg.Entities) == 1 || notSolana == nil && e.Asset.Chain.IsSolana() {
			return e.Asset.Chain
		}
	}
	return caip.Chain{}
}

// OwnReceiver names the account that receives a swap when no recipient is named; "" when none is on the chain of
// arrival.
func (w *World) OwnReceiver(x *Exchange) string {
	switch at := w.Arrives(x); {
	case at != (caip.Chain{}) && !w.Holds(at):
		return ""
	case at.IsSolana():
		return "your own Solana account"
	}
	return "your own account"
}

// Delivered are the decimals and the symbol of what arrives; ok is false while they depend on the chain.
func (w *World) Delivered(x *Exchange) (decimals int, symbol string, ok bool) {
	to, known := w.Side(x.Receive)
	if !known {
		return 0, "", false
	}
	if to.Exact {
		return to.Decimals, to.Entity.Symbol, true
	}
	at := w.Arrives(x)
	seen := map[int]bool{}
	for _, e := range to.Agg.Entities {
		if at == (caip.Chain{}) || e.Asset.Chain == at {
			seen[e.Decimals] = true
			decimals = e.Decimals
		}
	}
	return decimals, to.Agg.Symbol, len(seen) == 1
}

// Paying is the amount in base units of the paid asset; nil while it cannot be read.
func (w *World) Paying(x *Exchange) *big.Int {
	from, ok := w.Side(x.Pay)
	if !ok {
		return nil
	}
	v, _ := Amount(x.Amount, from.Decimals, from.Agg.Symbol)
	return v
}

// Everything is the most that can be paid: the whole balance of the asset, less the part that is on the chain of
// arrival in the own account already. nil: unknown.
func (w *World) Everything(x *Exchange) *big.Int {
	from, ok := w.Side(x.Pay)
	switch {
	case !ok || !w.Money.Known:
		return nil
	case from.Exact:
		return w.Money.Of(from.Entity.Asset)
	}
	sum, at := new(big.Int), w.Arrives(x)
	stays := x.What == intent.KindSwap && x.To == "" || w.Own(x.To)
	to, _ := w.Side(x.Receive)
	for _, e := range from.Agg.Entities {
		v := w.Money.Of(e.Asset)
		if v == nil || stays && e.Asset.Chain == at && e.Aggregate == to.Agg.ID || !w.Holds(e.Asset.Chain) {
			continue
		}
		sum.Add(sum, amount.Scale(v, e.Decimals, from.Decimals))
	}
	return sum
}

// account is the CAIP-10 account that receives; "" is the own one.
func (x *Exchange) account(w *World) string {
	at := w.Arrives(x)
	if trim(x.To) == "" || at == (caip.Chain{}) {
		return ""
	}
	address, _ := w.Recipient(at, x.To)
	return AccountOn(at, address)
}

// AccountOn is the CAIP-10 account of an address on a chain.
func AccountOn(chain caip.Chain, address string) string {
	if a, err := caip.ParseAccount(chain.String() + ":" + address); err == nil && addressMistake(chain, address) == "" {
		return a.Display()
	}
	return chain.String() + ":" + address
}

// payment is the call that delivers an exact amount: the interface deducts the cost of a transfer from what arrives,
// while a call gets what it needs. What is held on its chain pays first, for the network fee alone.
func (x *Exchange) payment(w *World) *Calls {
	b := w.NewCalls(w.Arrives(x))
	b.Slip, b.V1 = x.Slip, x.V1
	to, ok := w.Side(x.Receive)
	if !ok || !to.Exact {
		return b
	}
	if from, _ := w.Side(x.Pay); from.Exact && from.Entity.Asset != to.Entity.Asset {
		b.Fund = x.Pay
	}
	address, _ := w.Recipient(b.Chain, x.To)
	if v, problem := Amount(x.Amount, to.Decimals, to.Entity.Symbol); problem == "" {
		b.Calls[0].Pay(to.Entity.Asset, address, amount.Plain(v, to.Decimals))
	}
	return b
}

// exact reports that the form makes a call which delivers its amount: on own nodes every transfer on an EVM chain does.
func (x *Exchange) exact(w *World) bool {
	return !w.Itself(x) && (x.Exactly || w.OwnNodes && x.What == intent.KindTransfer)
}

// Itself reports that the form makes a transfer whose message pays the recipient itself: on Solana, on own nodes.
func (w *World) Itself(x *Exchange) bool {
	return w.OwnNodes && x.What == intent.KindTransfer && w.Arrives(x).IsSolana()
}

// Draft turns a transfer or a swap into a draft. It is only meaningful without mistakes.
func (x *Exchange) Draft(w *World) intent.Draft {
	if x.exact(w) {
		return x.payment(w).Draft(w)
	}
	d := intent.Draft{Version: intent.Version, Kind: x.What, Network: w.Network, Accounts: w.Accounts,
		SlippageBps: x.Slip.Bps()}
	d.Pay, d.Receive = &intent.Pay{Asset: x.Pay}, &intent.Receive{Asset: x.Receive, Account: x.account(w)}
	if to, ok := w.Side(x.Receive); w.Itself(x) && ok && to.Exact { // it is paid where it arrives
		v, _ := Amount(x.Amount, to.Decimals, to.Entity.Symbol)
		if d.Pay.Asset = to.Entity.Asset.String(); v != nil {
			d.Pay.Amount = v.String()
		}
		return w.older(d, x.V1)
	}
	if v := w.Paying(x); v != nil {
		d.Pay.Amount = v.String()
	}
	if decimals, symbol, ok := w.Delivered(x); ok {
		if v, problem := Amount(x.Minimum, decimals, symbol); problem == "" {
			d.Receive.Minimum = v.String()
		}
	}
	return w.older(d, x.V1)
}

// ArriveOn lets the paid asset arrive on a chain, or says that it does not exist there.
func (x *Exchange) ArriveOn(w *World, chain caip.Chain) (problem string) {
	from, _ := w.Side(x.Pay)
	e, ok := w.AssetOn(chain, from.Agg.ID.String())
	if !ok {
		return "a transfer delivers what it sends: choose a chain that has " + from.Agg.Symbol
	}
	x.Receive, x.At = e.Asset.String(), caip.Chain{}
	return ""
}

// Expected is the amount at the catalogue's prices, in base units of what arrives, before fees; nil when a price is
// unknown.
func (w *World) Expected(x *Exchange) *big.Int {
	from, okFrom := w.Side(x.Pay)
	to, okTo := w.Side(x.Receive)
	decimals, _, ok := w.Delivered(x)
	v := w.Paying(x)
	if !okFrom || !okTo || !ok || v == nil {
		return nil
	}
	if from.Agg.ID == to.Agg.ID {
		return amount.Scale(v, from.Decimals, decimals)
	}
	if to.Agg.PriceMicroUSD == nil || to.Agg.PriceMicroUSD.Sign() == 0 {
		return nil
	}
	micro := amount.Value(v, from.Decimals, from.Agg.PriceMicroUSD)
	if micro == nil {
		return nil
	}
	one := amount.One(decimals)
	return one.Mul(one, micro).Quo(one, to.Agg.PriceMicroUSD)
}

// ExchangeOf is the form of a draft of a transfer or a swap.
func (w *World) ExchangeOf(d intent.Draft) *Exchange {
	x := NewExchange(d.Kind)
	x.V1 = d.Interface == intent.InterfaceV1
	if d.Pay != nil {
		x.Pay = d.Pay.Asset
		if from, ok := w.Side(x.Pay); ok {
			x.Amount = Whole(d.Pay.Amount, from.Decimals)
		}
	}
	if d.Receive != nil {
		x.Receive, x.To = d.Receive.Asset, d.Receive.Account
		if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			x.At, x.To = a.Chain, present.Checksummed(a.Address)
		}
		if decimals, _, ok := w.Delivered(x); ok {
			x.Minimum = Whole(d.Receive.Minimum, decimals)
		}
	}
	x.Slip = slippageOf(d.SlippageBps)
	return x
}

// Empty reports whether nothing is typed.
func (x *Exchange) Empty() bool {
	return x.Pay == "" && x.Receive == "" && x.Amount == "" && x.To == "" && x.Minimum == ""
}

// Kind is the kind of intent that the form makes.
func (x *Exchange) Kind() string { return x.What }

// Tolerance is how far the price may move.
func (x *Exchange) Tolerance() *Choice { return &x.Slip }

// Clone is a copy that shares nothing.
func (x *Exchange) Clone() *Exchange { return shallow(x) }
