package liar

import (
	"maps"
	"math/big"
	"slices"

	"coffer/wallet/verify"
)

// Sums are amounts by CAIP-19 asset, in base units.
type Sums map[string]*big.Int

func (s Sums) add(asset string, v *big.Int) {
	if v == nil || v.Sign() == 0 {
		return
	}
	if s[asset] == nil {
		s[asset] = new(big.Int)
	}
	s[asset].Add(s[asset], v)
}

func (s Sums) addAll(t Sums) {
	for a, v := range t {
		s.add(a, v)
	}
}

// atLeast raises every amount to that of t.
func (s Sums) atLeast(t Sums) {
	for a, v := range t {
		if s[a] == nil || s[a].Cmp(v) < 0 {
			s[a] = new(big.Int).Set(v)
		}
	}
}

// beyond lists what of s is more than t allows.
func (s Sums) beyond(t Sums) []string {
	var out []string
	for _, a := range slices.Sorted(maps.Keys(s)) {
		most := t[a]
		if most == nil {
			most = new(big.Int)
		}
		if s[a].Cmp(most) > 0 {
			out = append(out, s[a].String()+" of "+a+", confirmed were "+most.String())
		}
	}
	return out
}

// sumOf adds amounts up. The worst case of review 1 is what can leave the account by the call alone, that of review 2
// what can leave it when everything is signed: the call of review 1 and every payment.
func sumOf(list []verify.AmountView) Sums {
	out := Sums{}
	for _, a := range list {
		out.add(a.Asset.String(), a.Amount)
	}
	return out
}
