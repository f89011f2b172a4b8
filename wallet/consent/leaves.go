package consent

import (
	"math/big"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// Leaves is all that leaves the account when a review is confirmed and everything goes as it says, by asset over all
// chains: the payments, and what the calls use of what is on their chain already. An asset of unknown value has none.
func Leaves(c *catalog.Catalog, r Review) []verify.AmountView {
	var list []verify.AmountView
	if r.Quote != nil {
		for _, l := range r.Quote.Legs {
			list = append(list, l.Pays)
		}
	}
	return ByAsset(c, append(list, There(r)...))
}

// There is what the calls take beyond what the payments bring to their chain: by the balance that the service states,
// else by what the payments are released for. Without a quote it is all that they take.
func There(r Review) []verify.AmountView {
	if r.Call == nil {
		return nil
	}
	var needs []verify.NeedView
	if r.Quote != nil {
		needs = r.Quote.Needs
	}
	var out []verify.AmountView
	for _, a := range taken(r.Call.Outflow, needs) {
		if a.Amount != nil && r.Quote != nil && !r.Quote.SameChainOnly {
			a = less(a, brought(r.Quote, a.Asset))
		}
		if a.Amount == nil || a.Amount.Sign() > 0 {
			out = append(out, a)
		}
	}
	return out
}

// brought is what the payments of a quote bring of an asset.
func brought(q *verify.QuoteView, asset caip.Asset) *big.Int {
	for _, n := range q.Needs {
		if n.Need.Asset == asset && n.Short != nil {
			return n.Short
		}
	}
	sum := new(big.Int)
	if q.Promise != nil {
		for _, m := range q.Promise.Minimums {
			if m.Asset == asset && m.Amount != nil {
				sum.Add(sum, m.Amount)
			}
		}
	}
	return sum
}

// taken is what calls take: what their bytes show, and what the intent says that they need where that is more.
func taken(outflow []verify.AmountView, needs []verify.NeedView) []verify.AmountView {
	out := append([]verify.AmountView{}, outflow...)
next:
	for _, n := range needs {
		for i, a := range out {
			if a.Asset == n.Need.Asset {
				if a.Amount != nil && n.Need.Amount != nil && n.Need.Amount.Cmp(a.Amount) > 0 {
					out[i] = n.Need
				}
				continue next
			}
		}
		out = append(out, n.Need)
	}
	return out
}

// less takes an amount off another one, down to nothing; its value shrinks with it and is rounded up.
func less(a verify.AmountView, off *big.Int) verify.AmountView {
	rest := new(big.Int).Sub(a.Amount, off)
	if rest.Sign() < 0 {
		rest.SetInt64(0)
	}
	if a.Micro != nil && a.Amount.Sign() > 0 {
		a.Micro = up(new(big.Int).Mul(a.Micro, rest), a.Amount)
	}
	a.Amount = rest
	return a
}

// Rounded writes an amount as a headline states it: up or down to a unit that is worth two cents at most, with no more
// decimals than that takes, and exactly where its value is not known or it would be nothing.
func Rounded(a verify.AmountView, upwards bool) verify.AmountView {
	if a.Amount == nil || a.Decimals < 0 || a.Micro == nil || a.Micro.Sign() <= 0 || a.Amount.Sign() <= 0 {
		return a
	}
	shown := min(cents, a.Decimals)
	for ; shown < a.Decimals; shown++ {
		step := new(big.Int).Mul(amount.One(a.Decimals-shown), a.Micro)
		if step.Cmp(new(big.Int).Mul(a.Amount, big.NewInt(2*cent))) <= 0 {
			break
		}
	}
	scale := amount.Scale
	if upwards {
		scale = amount.ScaleUp
	}
	if v := scale(a.Amount, a.Decimals, shown); v.Sign() > 0 {
		a.Amount, a.Decimals = v, shown
	}
	return a
}

// A cent in micro USD, and the decimals that it takes.
const (
	cent  = 10_000
	cents = 2
)

// up divides two numbers that are not negative and rounds up.
func up(a, b *big.Int) *big.Int {
	n := new(big.Int).Add(a, b)
	return n.Div(n.Sub(n, big.NewInt(1)), b)
}
