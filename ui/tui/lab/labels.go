package lab

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/ui/compose"
	"coffer/ui/present"
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
func (m *Model) moneyText(th theme.Theme, x *Money) string {
	switch {
	case x == nil:
		return present.UnknownText
	case m.hidden:
		return kit.Masked(th) + " " + unit(*x)
	}
	return figure(*x) + " " + unit(*x)
}

// figure writes an amount with all its decimals; an unknown asset in base units.
func figure(x Money) string {
	if x.Decimals < 0 {
		return amount.Group(x.Amount.String())
	}
	return amount.Human(x.Amount, x.Decimals)
}

func unit(x Money) string {
	s := x.Symbol
	if x.Decimals < 0 || s == "" {
		s = "base units of " + x.Asset
	}
	s = present.Clean(s, 120)
	if x.Chain != "" && x.Decimals >= 0 {
		s += " on " + present.Clean(x.Chain, 40)
	}
	return s
}

// usd writes micro USD, hidden while amounts are hidden.
func (m *Model) usd(th theme.Theme, micro *big.Int) string {
	if micro != nil && m.hidden {
		return kit.Masked(th)
	}
	return present.USD(micro)
}

// secs writes a lifetime.
func secs(d time.Duration) string {
	if d <= 0 {
		return present.UnknownText
	}
	return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
}

// outcome summarises the checks in a sign and a few words.
func (r Result) outcome() (theme.Meaning, string) {
	switch {
	case r.Problem != "":
		return theme.Danger, "no answer"
	case r.Refused > 0:
		return theme.Danger, fmt.Sprintf("%d refused", r.Refused)
	case r.Gated > 0:
		return theme.Warn, fmt.Sprintf("%d gated", r.Gated)
	case r.Warned > 0:
		return theme.Warn, fmt.Sprintf("%d to read", r.Warned)
	}
	return theme.Good, fmt.Sprintf("%d passed", r.Passed)
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
func lives(all []Result) []bucket {
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

// callType puts a call type into words that fit a table.
func callType(s string) string { return strings.ReplaceAll(present.Clean(s, 60), "_", " ") }
