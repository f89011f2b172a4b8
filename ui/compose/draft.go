package compose

import (
	"errors"
	"strconv"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// FormOf is the form of a draft.
func (w *World) FormOf(d intent.Draft) Form {
	if d.Pay != nil || d.Receive != nil {
		if d.Kind != intent.KindSwap {
			d.Kind = intent.KindTransfer
		}
		return w.ExchangeOf(d)
	}
	return w.CallsOf(d)
}

// CallsOf is the form of a draft of calls.
func (w *World) CallsOf(d intent.Draft) *Calls {
	chain, _ := caip.ParseChain(d.TargetChain)
	b := w.NewCalls(chain)
	b.Calls = nil
	var plain []api.Call
	for _, x := range d.Calls {
		b.Calls = append(b.Calls, w.callOf(b.Chain, x))
		plain = append(plain, api.Call{To: x.To})
	}
	if len(b.Calls) == 0 {
		b.Calls = []*Call{{}}
	}
	b.Own, b.Fund = true, d.FundWith
	for _, r := range d.TokensRequired {
		b.Needs = append(b.Needs, &Need{r.AssetType, w.whole(r.AssetType, r.Amount)})
	}
	for _, a := range d.Allowances {
		if spender, ok := api.SpenderOf(a, plain); ok && a.Spender == "" {
			a.Spender = present.Checksummed(spender)
		}
		b.Allow = append(b.Allow, &Allowance{a.AssetType, a.Spender, w.whole(a.AssetType, a.Amount)})
	}
	b.Slip = slippageOf(d.SlippageBps)
	b.Valid = ChoiceOf(minutesLeft(d.ValidUntil, w.Clock()), OwnMinutes, Validities())
	b.After, b.V1 = d.ValidAfter, d.Interface == intent.InterfaceV1
	for _, o := range d.Overrides {
		b.Overrides = append(b.Overrides, overrideOf(o, w.Coin(b.Chain)))
	}
	return b
}

// callOf makes the form of one call.
func (w *World) callOf(chain caip.Chain, x intent.Call) *Call {
	c := &Call{To: x.To, Note: x.Note}
	if v, ok := api.ParseWei(x.Value); !ok {
		c.Value = x.Value // shows as a mistake at its field
	} else if v.Sign() > 0 {
		c.Value = amount.Plain(v, w.Coin(chain).Decimals)
	}
	if fn, err := abicall.ParseSignature(x.Function); err == nil {
		c.Fn = &fn
	}
	data, problem := Bytes(x.Data)
	switch {
	case problem != "" && x.Data != "":
		c.Raw, c.Fn = true, nil
		c.Data = x.Data
	case len(data) > 0:
		c.TakeData(data, w.Target(chain, c.To))
	default:
		c.Fn = nil
	}
	return c
}

// minutesLeft converts the validity of a draft for the form: the time that is left when the form can ask for that, else
// the default.
func minutesLeft(validUntil string, now time.Time) int {
	n, err := strconv.ParseInt(validUntil, 10, 64)
	if err != nil {
		return DefaultMinutes
	}
	left := time.Unix(n, 0).Sub(now).Round(time.Minute)
	if m := int(left / time.Minute); m >= MinMinutes && m <= MaxMinutes {
		return m
	}
	return DefaultMinutes
}

// whole writes base units of a known asset in whole units; "" for anything that cannot be converted, which becomes a
// mistake at its field.
func (w *World) whole(asset, base string) string {
	e, ok := w.Entity(asset)
	if !ok {
		return ""
	}
	return Whole(base, e.Decimals)
}

// Decode reads the call data of a function that is known here and fits exactly.
func Decode(data string) (fn abicall.Function, values []abicall.Value, ok bool) {
	b, problem := Bytes(data)
	if problem != "" || len(b) < 4 {
		return fn, nil, false
	}
	fn, ok = abicall.Lookup(abicall.Known(), [4]byte(b))
	if !ok {
		return fn, nil, false
	}
	values, err := fn.Decode(b)
	return fn, values, err == nil
}

// Draft turns the form into a draft. It is only meaningful without mistakes.
func (b *Calls) Draft(w *World) intent.Draft {
	d := intent.Draft{
		Version: intent.Version, Network: w.Network, Accounts: w.Accounts, TargetChain: b.Chain.String(),
		FundWith: b.Fund, SlippageBps: b.Slip.Bps(), ValidAfter: b.After,
	}
	for _, c := range b.Calls {
		d.Calls = append(d.Calls, c.Intent(b.target(w, c)))
	}
	for _, a := range b.Allow {
		spender, _ := w.Address(b.Chain, a.Spender)
		d.Allowances = append(d.Allowances,
			api.AllowanceRequirement{AssetType: a.Asset, Amount: w.base(a.Asset, a.Amount), Spender: spender})
	}
	for _, n := range b.Needs {
		if b.Own {
			d.TokensRequired = append(d.TokensRequired,
				api.TokenRequirement{AssetType: n.Asset, Amount: w.base(n.Asset, n.Amount)})
		}
	}
	if !b.Own {
		d.TokensRequired = b.Spent(w)
	}
	for _, o := range b.Overrides {
		d.Overrides = append(d.Overrides, o.state(w.Coin(b.Chain)))
	}
	now := w.Clock()
	if n, problem := b.Start.Minutes(0, MaxMinutes); problem == "" && n > 0 && b.After == "" {
		d.ValidAfter = unixText(now.Add(time.Duration(n) * time.Minute))
	}
	if n, problem := b.Valid.Minutes(MinMinutes, MaxMinutes); problem == "" {
		d.ValidUntil = Until(n, now)
	}
	return w.older(d, b.V1)
}

// base turns whole units of a known asset into base units; "" when they cannot be read.
func (w *World) base(asset, text string) string {
	e, ok := w.Entity(asset)
	if !ok {
		return ""
	}
	v, problem := Amount(text, e.Decimals, e.Symbol)
	if problem != "" {
		return ""
	}
	return v.String()
}

// ErrNetwork refuses a draft of another network.
var ErrNetwork = errors.New("the profile is on another network")

// Freeze makes the intent of a draft for the profile.
func (w *World) Freeze(d intent.Draft) (intent.Intent, error) {
	d = d.Fill(w.Network, w.Accounts)
	if d.Network != w.Network {
		return intent.Intent{}, ErrNetwork
	}
	return intent.Freeze(d, w.Rules())
}
