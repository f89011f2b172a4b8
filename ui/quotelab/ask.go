package quotelab

import (
	"context"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Client is what an Asker needs of the service; *client.Client is one.
type Client interface {
	PrepareCallQuote(ctx context.Context, body []byte) (client.Answer, error)
	PrepareCallQuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	Quote(ctx context.Context, body []byte) (client.Answer, error)
	QuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	Window() client.Window
}

// Asker asks the service and judges its answers as wallet/flow does, but keeps no record and cannot sign. History is
// the journal, for reading. Sleep waits, or returns the context's error.
type Asker struct {
	Client  Client
	Policy  verify.Policy
	History verify.History
	Clock   func() time.Time
	Sleep   func(ctx context.Context, d time.Duration) error
	Budget  *Budget
}

// Ask asks for a swap or a transfer, or prepares a call and estimates what it costs; held is what the accounts have.
// The error is the client's: Failed makes an answer of it.
func (a Asker) Ask(ctx context.Context, in intent.Intent, held compose.Money) (Answer, error) {
	if in.Kind() != intent.KindCall {
		out, _, err := a.quote(ctx, in)
		return out, err
	}
	ask := a.Client.PrepareCallQuote
	if in.V1() {
		ask = a.Client.PrepareCallQuoteV1
	}
	answer, out, err := a.send(ctx, ask, in.PrepareBody())
	out.Prepared = true
	if err != nil {
		return out, err
	}
	p, report := verify.Prepared(in, a.Policy, a.History, out.At, answer.Document)
	out.count(report)
	if p == nil {
		return out, nil
	}
	out.prepared(p.View(), out.At.Add(answer.Skew))
	return out, a.estimate(ctx, in, held, &out)
}

// send makes a request within the budget and notes its answer.
func (a Asker) send(ctx context.Context, ask func(context.Context, []byte) (client.Answer, error),
	body []byte) (client.Answer, Answer, error) {
	out := Answer{At: a.Clock(), CostBps: -1}
	if err := a.spend(ctx); err != nil {
		return client.Answer{}, out, err
	}
	started := a.Clock()
	answer, err := ask(ctx, body)
	out.At = a.Clock()
	out.Latency = out.At.Sub(started)
	if err == nil {
		out.Documents = []string{string(answer.Raw())}
	}
	return answer, out, err
}

// quote asks for a swap or a transfer; view is nil for an answer that was refused.
func (a Asker) quote(ctx context.Context, in intent.Intent) (out Answer, view *verify.QuoteView, err error) {
	ask := a.Client.Quote
	if in.V1() {
		ask = a.Client.QuoteV1
	}
	answer, out, err := a.send(ctx, ask, in.QuoteBody())
	if err != nil {
		return out, nil, err
	}
	q, report := verify.Exchange(in, a.Policy, a.History, out.At, answer.Document)
	out.count(report)
	if q != nil {
		v := q.View()
		view = &v
		out.quoted(v, out.At.Add(answer.Skew))
	}
	return out, view, nil
}

// estimate prices what a prepared call lacks by quotes of it to the own account. An error is that of the end of the
// context; otherwise the answer says why nothing is estimated.
func (a Asker) estimate(ctx context.Context, in intent.Intent, held compose.Money, out *Answer) error {
	rules := api.Rules{Catalog: a.Policy.Catalog, Now: a.Clock()}
	if out.Missing, out.Why = Missing(rules, in, held); out.Why != "" {
		return nil
	}
	for _, m := range out.Missing {
		part, ok := Funding(rules, in, m)
		if !ok {
			out.drop("there is no price for an estimate")
			return nil
		}
		answer, view, err := a.quote(ctx, part)
		out.Documents, out.Latency = append(out.Documents, answer.Documents...), out.Latency+answer.Latency
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			out.drop("no estimate: " + present.ErrorText(err))
			return nil
		case view == nil:
			out.drop("no estimate: " + answer.Reason)
			return nil
		}
		out.estimated(*view)
	}
	return nil
}

// drop takes back an estimate that cannot be completed.
func (a *Answer) drop(why string) {
	a.Estimate, a.Why, a.Pays, a.Legs, a.Arriving = false, why, nil, nil, nil
	a.PayMicro, a.FeesMicro, a.CostMicro = nil, nil, nil
}

// Missing is what a call needs and its chain lacks; why says that it is not known, or that nothing is missing.
func Missing(r api.Rules, in intent.Intent, held compose.Money) (missing []Money, why string) {
	for _, need := range in.Draft().TokensRequired {
		asset, err := caip.ParseAsset(need.AssetType)
		v, bad := amount.ParseBase(need.Amount)
		e, listed := r.Catalog.Entity(asset)
		if err != nil || bad != nil || v.Sign() == 0 {
			continue
		}
		have := held.Of(asset)
		if !listed || have == nil {
			return nil, "it is not known how much of a needed token is there"
		}
		if v.Sub(v, have); v.Sign() > 0 {
			missing = append(missing, moneyOf(r, e.Asset.String(), v))
		}
	}
	if len(missing) == 0 {
		return nil, "nothing is missing on the call's chain: no other chain pays"
	}
	return missing, ""
}

// moneyOf is an amount of a listed asset.
func moneyOf(r api.Rules, asset string, v *big.Int) Money {
	m := Money{Asset: asset, Decimals: -1, Amount: v}
	w := compose.World{Catalog: r.Catalog}
	if side, ok := w.Side(asset); ok {
		m.Symbol, m.Decimals = side.Symbol, side.Decimals
		m.Micro = amount.Value(v, side.Decimals, side.Agg.PriceMicroUSD)
		if side.Exact {
			m.Chain = present.ChainName(r.Catalog, side.Entity.Asset.Chain.String())
		}
	}
	return m
}

// Funding is the transfer or the swap that would bring an amount of a token to the account of a call from where the
// call's funding comes, at the catalogue's prices; false without a price or a rule that allows it.
func Funding(r api.Rules, in intent.Intent, m Money) (intent.Intent, bool) {
	call := in.Draft()
	w := &compose.World{Catalog: r.Catalog, Network: call.Network, Accounts: call.Accounts,
		Clock: func() time.Time { return r.Now }}
	from, okFrom := w.Side(in.Funding())
	to, okTo := w.Side(m.Asset)
	if !okFrom || !okTo {
		return intent.Intent{}, false
	}
	x := &compose.Exchange{What: intent.KindSwap, Pay: in.Funding(), Receive: m.Asset, V1: in.V1(),
		Slip: compose.Choice{Preset: call.SlippageBps}}
	pay := amount.Scale(m.Amount, to.Decimals, from.Decimals)
	if from.Agg.ID == to.Agg.ID {
		x.What, x.To = intent.KindTransfer, in.Account().Hex()
	} else if m.Micro == nil || from.Agg.PriceMicroUSD == nil || from.Agg.PriceMicroUSD.Sign() <= 0 {
		return intent.Intent{}, false
	} else {
		pay = amount.One(from.Decimals)
		pay.Mul(pay, m.Micro).Quo(pay, from.Agg.PriceMicroUSD)
	}
	x.Amount = amount.Plain(pay, from.Decimals)
	out, err := w.Freeze(x.Draft(w))
	return out, err == nil
}
