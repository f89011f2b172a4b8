package builder

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// exchangeMistakes are the problems of a transfer or a swap that the builder finds itself.
func (s *Screen) exchangeMistakes(x *exchange, put func(id, problem string)) {
	from, okFrom := s.side(x.pay)
	_, okTo := s.side(x.receive)
	switch {
	case x.pay == "" && s.tried:
		put(idPay, "choose what is paid")
	case x.pay != "" && !okFrom:
		put(idPay, "this asset is not known here")
	case from.exact && !s.holds(from.entity.Asset.Chain):
		put(idPay, "none of your accounts is on "+s.chainName(from.entity.Asset.Chain))
	}
	if okFrom {
		put(idAmount, s.amountMistake(x.amount.Value(), from.decimals, from.agg.Symbol))
	}
	switch {
	case x.receive == "" && s.tried:
		put(idReceive, "choose what arrives, and where")
	case x.receive != "" && !okTo:
		put(idReceive, "this asset is not known here")
	case okFrom && okTo:
		s.pairMistakes(x, put)
	}
	s.targetMistakes(x, put)
	if least := trim(x.min.Value()); least != "" && okTo {
		if decimals, symbol, one := s.delivered(x); !one {
			put(idMin, "its units differ by chain: choose the chain above, then the minimum means something")
		} else {
			put(idMin, s.amountMistake(least, decimals, symbol))
		}
	}
}

// pairMistakes checks both assets together.
func (s *Screen) pairMistakes(x *exchange, put func(id, problem string)) {
	from, _ := s.side(x.pay)
	to, _ := s.side(x.receive)
	switch {
	case x.kind == formTransfer && from.agg.ID != to.agg.ID:
		put(idReceive, "a transfer delivers what it sends: choose a chain that has "+from.agg.Symbol)
	case x.kind == formSwap && from.agg.ID == to.agg.ID:
		put(idReceive, "both sides are "+to.agg.Symbol+": t makes a transfer of it")
	}
}

func (s *Screen) amountMistake(text string, decimals int, symbol string) string {
	if text = trim(text); text == "" {
		if s.tried {
			return "an amount is needed"
		}
		return ""
	}
	v, err := quantity(text, decimals, symbol)
	switch {
	case err != nil:
		return plain(err)
	case v.Sign() == 0:
		return "more than 0"
	}
	return ""
}

// targetMistakes checks the recipient. Only a transfer must name one.
func (s *Screen) targetMistakes(x *exchange, put func(id, problem string)) {
	text, at := trim(x.to.Value()), s.arrives(x)
	switch {
	case text == "" && x.kind == formSwap:
		if at != (caip.Chain{}) && !s.holds(at) {
			put(idTarget, "none of your accounts is on "+s.chainName(at)+": name who gets it")
		}
		return
	case text == "":
		if s.tried {
			put(idTarget, "an address is needed")
		}
		return
	case at == (caip.Chain{}) && x.receive != "":
		put(idReceive, "choose the chain on which somebody else gets it")
	}
	if s.person(text) != "" {
		return // leaving the field turns it into an address
	}
	if at.IsSolana() {
		if _, err := caip.ParseSolanaKey(text); err != nil {
			put(idTarget, "a Solana address is 32 to 44 letters and digits")
		}
		return
	}
	if s.named(text) != "" {
		put(idTarget, "that is a token: name who gets it")
	}
	put(idTarget, s.addressMistake(text))
	if a, err := caip.ParseAddress(text); err == nil && a == [20]byte{} {
		put(idTarget, "this is the zero address: what goes there is lost")
	}
}

// exchangeCautions are the remarks on a transfer or a swap.
func (s *Screen) exchangeCautions(x *exchange, put func(string, caution)) {
	from, known := s.side(x.pay)
	v := s.paying(x)
	if known && v != nil {
		s.amountCautions(x, from, v, put)
	}
	if text := trim(x.to.Value()); text != "" {
		if x.kind == formSwap && s.known(text) != "" && !s.own(text) {
			put(idTarget, caution{theme.Warn, "what arrives goes to somebody else"})
		}
		put(idTarget, s.recipientCaution(text, s.arrives(x)))
		if to, ok := s.side(x.receive); ok && to.exact && from.exact && to.entity.Asset == from.entity.Asset &&
			s.own(text) {
			put(idTarget, caution{theme.Warn, "it is there already: only the fees would leave"})
		}
	}
	put(s.slipID(), slipCaution(x.slip.bps()))
	s.minCaution(x, put)
}

func (s *Screen) amountCautions(x *exchange, from side, v *big.Int, put func(string, caution)) {
	if _, unit := splitUnit(x.amount.Value()); unit == "" {
		put(idAmount, wrongUnit(suspicious(v, from.decimals, from.agg.Symbol, true)))
	}
	all := s.everything(x)
	if all == nil || s.hidden {
		return
	}
	switch v.Cmp(all) {
	case 1:
		put(idAmount, caution{theme.Warn, "more than you have: " + amount.Human(all, from.decimals) + " " +
			from.agg.Symbol + " could pay"})
	case 0:
		text := "everything: the fees come off it, so less arrives"
		if n := s.parts(from); n > 1 {
			text += "; of its " + present.Plural(n, "chain", "chains") +
				", one that holds less than its own fee cannot pay, and then all of it is too much"
		}
		put(idAmount, caution{theme.Warn, text})
	}
}

// parts counts the chains that hold an asset.
func (s *Screen) parts(x side) int {
	if x.exact {
		return 1
	}
	n := 0
	for _, e := range x.agg.Entities {
		if v := s.money.of(e.Asset); v != nil && v.Sign() > 0 {
			n++
		}
	}
	return n
}

// minCaution compares the minimum with the catalogue's prices: a minimum above them is never delivered, one far below
// them protects little.
func (s *Screen) minCaution(x *exchange, put func(string, caution)) {
	decimals, symbol, ok := s.delivered(x)
	want := s.expected(x)
	v, err := quantity(x.min.Value(), decimals, symbol)
	if !ok || want == nil || err != nil || strings.TrimSpace(x.min.Value()) == "" {
		return
	}
	tenth := new(big.Int).Mul(v, big.NewInt(10))
	switch {
	case v.Cmp(want) > 0:
		put(idMin, caution{theme.Warn, "more than the list price gives: no quote may reach it"})
	case tenth.Cmp(new(big.Int).Mul(want, big.NewInt(9))) < 0:
		put(idMin, caution{theme.Warn, "more than a tenth below the list price"})
	default:
		put(idMin, wrongUnit(suspicious(v, decimals, symbol, true)))
	}
}
