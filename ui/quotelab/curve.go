package quotelab

import (
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/compose"
	"coffer/wallet/intent"
)

// Point is one amount of a curve with its answer; Asked is false while the answer is missing.
type Point struct {
	Of     Money
	Intent intent.Intent
	Answer Answer
	Asked  bool
}

// Points are the six amounts around that of a variant: a quarter of it to eight times as much, the smallest first. Its
// own answer is one of them. For a call the amounts are those of what it lacks: none when nothing is estimated.
func Points(r api.Rules, in intent.Intent, own Answer) []Point {
	var of Money
	switch d := in.Draft(); {
	case d.Exchanges():
		side, ok := (&compose.World{Catalog: r.Catalog}).Side(d.Pay.Asset)
		v, err := amount.ParseBase(d.Pay.Amount)
		if !ok || err != nil {
			return nil
		}
		of = moneyOf(r, d.Pay.Asset, v)
		of.Symbol = side.Symbol
	case own.Estimate && len(own.Missing) == 1:
		of = own.Missing[0]
	default:
		return nil
	}
	var out []Point
	for _, quarters := range []int64{1, 2, 4, 8, 16, 32} {
		p := Point{Of: of, Intent: in}
		p.Of.Amount = new(big.Int).Mul(of.Amount, big.NewInt(quarters))
		p.Of.Amount.Quo(p.Of.Amount, big.NewInt(4))
		if of.Micro != nil {
			p.Of.Micro = new(big.Int).Mul(of.Micro, big.NewInt(quarters))
			p.Of.Micro.Quo(p.Of.Micro, big.NewInt(4))
		}
		ok := p.Of.Amount.Sign() > 0
		if quarters == 4 {
			p.Answer, p.Asked = own, true
		} else if in.Kind() == intent.KindCall {
			p.Intent, ok = Funding(r, in, p.Of)
		} else {
			d := in.Draft()
			d.Pay.Amount, d.Receive.Minimum = p.Of.Amount.String(), ""
			var err error
			p.Intent, err = intent.Freeze(d, r)
			ok = err == nil && ok
		}
		if ok {
			out = append(out, p)
		}
	}
	return out
}

// share is the cost of an answer in millionths of what is paid; nil when it is unknown.
func (a Answer) share() *big.Int {
	if !a.Figures() || a.CostMicro == nil || a.PayMicro == nil || a.PayMicro.Sign() <= 0 {
		return nil
	}
	v := new(big.Int).Mul(a.CostMicro, big.NewInt(1_000_000))
	return v.Quo(v, a.PayMicro)
}

// CostsOver are the costs of points in millionths of what is paid, nil where one is unknown.
func CostsOver(points []Point) []*big.Int {
	out := make([]*big.Int, len(points))
	for i, p := range points {
		if p.Asked {
			out[i] = p.Answer.share()
		}
	}
	return out
}

// CostsOf are the costs of answers over time, as those of CostsOver.
func CostsOf(answers []Answer) []*big.Int {
	out := make([]*big.Int, len(answers))
	for i, a := range answers {
		out[i] = a.share()
	}
	return out
}

// Columns spreads values over n columns, with straight lines between neighbours; nothing between an unknown one and its
// neighbours.
func Columns(values []*big.Int, n int) []*big.Int {
	out := make([]*big.Int, n)
	last := int64(len(values) - 1)
	if last == 0 && n > 0 {
		out[n/2] = values[0]
	}
	if last < 1 || n < 2 {
		return out
	}
	for x := range out {
		at := int64(x) * last
		i, rest := at/int64(n-1), at%int64(n-1)
		a, b := values[i], values[min(i+1, last)]
		if rest == 0 {
			out[x] = a
		} else if a != nil && b != nil {
			d := new(big.Int).Sub(b, a)
			d.Mul(d, big.NewInt(rest)).Quo(d, big.NewInt(int64(n-1)))
			out[x] = d.Add(d, a)
		}
	}
	return out
}

// ShareText writes millionths as a percentage.
func ShareText(v *big.Int) string {
	if v == nil {
		return Bps(-1)
	}
	return amount.Format(v, 4)[:len(amount.Format(v, 4))-2] + " %"
}
