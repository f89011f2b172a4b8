package lab

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"coffer/api/amount"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// asks describes the draft in one line.
func (m *Model) asks() string {
	d, c := m.draft, m.ctx.Catalog
	if d.Pay != nil && d.Receive != nil {
		pays := present.AssetName(c, d.Pay.Asset)
		if x, ok := (&compose.World{Catalog: c}).Side(d.Pay.Asset); ok {
			if v, err := amount.ParseBase(d.Pay.Amount); err == nil {
				pays = amount.Human(v, x.Decimals) + " " + pays
			}
		}
		if m.hidden {
			pays = present.AssetName(c, d.Pay.Asset)
		}
		if d.Kind == intent.KindTransfer {
			return "transfer of " + pays
		}
		return "swap of " + pays + " for " + present.AssetName(c, d.Receive.Asset)
	}
	return present.Plural(len(d.Calls), "call", "calls") + " on " + present.ChainName(c, d.TargetChain)
}

// moneyText writes an amount in full with its unit.
func (m *Model) moneyText(th theme.Theme, x *quotelab.Money) string {
	switch {
	case x == nil:
		return present.UnknownText
	case m.hidden:
		return kit.Masked(th) + " " + x.Unit()
	}
	return x.Text()
}

// usd writes micro USD, hidden while amounts are hidden.
func (m *Model) usd(th theme.Theme, micro *big.Int) string {
	if micro != nil && m.hidden {
		return kit.Masked(th)
	}
	return present.USD(micro)
}

// look is how the outcome of an answer is drawn.
func look(t present.Tone) theme.Meaning {
	switch t {
	case present.ToneGood:
		return theme.Good
	case present.ToneWarn:
		return theme.Warn
	}
	return theme.Danger
}

// spread is the smallest, the middle and the largest of the known values; all nil without any.
func spread(values []*big.Int) (lo, mid, hi *big.Int) {
	var known []*big.Int
	for _, v := range values {
		if v != nil {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return nil, nil, nil
	}
	slices.SortFunc(known, (*big.Int).Cmp)
	return known[0], known[(len(known)-1)/2], known[len(known)-1]
}

// bucket is a range of lifetimes.
type bucket struct {
	words string
	n     int
}

// lives counts lifetimes in ranges and ignores unknown ones.
func lives(all []quotelab.Answer) []bucket {
	bounds := []int{10, 20, 30, 45, 60, 120}
	out := make([]bucket, len(bounds)+1)
	from := 0
	for i, b := range bounds {
		out[i].words = fmt.Sprintf("%d-%d s", from, b)
		from = b
	}
	out[len(bounds)].words = fmt.Sprintf("over %d s", from)
	for _, r := range all {
		if r.Lifetime <= 0 {
			continue
		}
		i := 0
		for i < len(bounds) && r.Lifetime > time.Duration(bounds[i])*time.Second {
			i++
		}
		out[i].n++
	}
	return out
}
