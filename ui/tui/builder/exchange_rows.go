package builder

import (
	"math/big"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The rows of a transfer or a swap.
const (
	idPay     = "pay"
	idAmount  = "amount"
	idReceive = "receive"
	idTarget  = "target"
	idMin     = "min"
)

// exchangeRows lists the form of a transfer or a swap from top to bottom.
func (s *Screen) exchangeRows(x *exchange) []row {
	from, known := s.side(x.pay)
	pay := row{id: idPay, label: "send", text: s.sideText(x.pay, "choose an asset"), value: x.pay, call: -1,
		title: "What to send", items: s.payItems, take: s.takePay,
		help: "what you pay with; enter chooses, on any chain or on one"}
	if x.kind == formSwap {
		pay.label, pay.title = "pay", "What to pay with"
	}
	if known {
		pay.aside = "you have " + s.held(s.everything(x), from.decimals)
		if from.agg.PriceMicroUSD == nil {
			pay.aside, pay.mean = "it has no price, so it cannot pay", theme.Warn
		}
	}
	sum := row{id: idAmount, label: "amount", field: x.amount, call: -1, title: "How much", items: s.amountItems,
		take: s.setText(x.amount), help: "in whole tokens; the word max takes everything"}
	if v := s.paying(x); v != nil {
		symbol := from.agg.Symbol
		if micro := amount.Value(v, from.decimals, from.agg.PriceMicroUSD); micro != nil {
			symbol += ", about " + present.USD(micro)
		}
		sum.aside = symbol + " = " + spaced(v) + " base units"
	}
	out := []row{pay, sum}
	if x.kind == formSwap {
		out = append(out, s.receiveRow(x), s.targetRow(x), s.minRow(x))
	} else {
		out = append(out, s.targetRow(x), s.receiveRow(x))
		if x.min.Value() != "" {
			out = append(out, s.minRow(x))
		}
	}
	out = append(out, s.slipRows()...)
	if x.v1 {
		out = append(out, s.v1Row())
	}
	out = append(out, row{heading: true, label: "What happens", call: -1})
	for _, text := range s.story(x) {
		out = append(out, row{text: text, call: -1})
	}
	return append(out, row{id: idReview, text: "Review", call: -1, press: s.review,
		help: "enter asks for a quote and shows it; nothing is signed yet"})
}

func (s *Screen) receiveRow(x *exchange) row {
	if x.kind == formTransfer {
		text := "choose a chain"
		if at := s.arrives(x); at != (caip.Chain{}) {
			text = s.chainName(at)
		}
		return row{id: idReceive, label: "on", text: text, value: x.receive, call: -1,
			title: "The chain on which it arrives", items: s.arriveItems, take: s.takeReceive,
			help: "the chain on which it arrives; enter chooses"}
	}
	r := row{id: idReceive, label: "receive", text: s.sideText(x.receive, "choose an asset"), value: x.receive,
		call: -1, title: "What to receive", items: s.receiveItems, take: s.takeReceive,
		help: "what you get for it; one chain's asset lets you name a minimum"}
	if v := s.expected(x); v != nil {
		decimals, symbol, _ := s.delivered(x)
		r.aside = "about " + kit.Short(v, decimals, 6, "").Main + " " + symbol + " at list prices, less fees"
	}
	return r
}

func (s *Screen) targetRow(x *exchange) row {
	r := row{id: idTarget, label: "to", field: x.to, address: true, call: -1, title: "Who gets it",
		items: s.targetPeople, take: s.setText(x.to), help: "who gets it: a full address or a name; enter lists"}
	if x.kind == formSwap {
		r.optional = true
		r.help = "empty: your own account; else a full address or a name"
	}
	r.aside, r.mean = s.whose(x.to.Value())
	return r
}

func (s *Screen) minRow(x *exchange) row {
	r := row{id: idMin, label: "at least", field: x.min, call: -1, optional: true, title: "The least that you take",
		items: s.minItems, take: s.setText(x.min), help: "the smallest amount that you take; less is never signed"}
	if decimals, symbol, ok := s.delivered(x); ok {
		r.aside = symbol
		if v, err := quantity(x.min.Value(), decimals, symbol); err == nil {
			r.aside = baseNote(v, decimals, symbol)
		}
	}
	return r
}

func (s *Screen) v1Row() row {
	return row{id: idInterface, label: "interface", text: "the service's older one (v1)", call: -1,
		help: "it came with what was loaded; x takes the present one"}
}

// story describes the request in sentences, as far as it is chosen.
func (s *Screen) story(x *exchange) []string {
	from, okFrom := s.side(x.pay)
	v := s.paying(x)
	if !okFrom || v == nil || v.Sign() == 0 {
		return []string{"Choose an asset and an amount: nothing is sent from here."}
	}
	where := ", from the chains where it lies"
	if from.exact {
		where = " from " + s.chainName(from.entity.Asset.Chain)
	}
	out := []string{"You pay exactly " + amount.Human(v, from.decimals) + " " + from.agg.Symbol + where +
		". The fees come off it."}
	return append(out, "The quote says what arrives. You see it, and its minimum, before anything is signed.")
}

// sideText names an asset, with its chain when it belongs to one.
func (s *Screen) sideText(asset, none string) string {
	x, ok := s.side(asset)
	switch {
	case asset == "":
		return none
	case !ok:
		return present.Clean(asset, 120)
	case x.exact:
		return x.entity.Symbol + " on " + s.chainName(x.entity.Asset.Chain)
	}
	return x.agg.Symbol + " on any chain"
}

// payItems lists the assets with a balance, each on any chain and on each one; all assets while balances are unknown.
func (s *Screen) payItems() []kit.Item {
	var out []kit.Item
	for _, agg := range s.ctx.Catalog.Aggregates() {
		total := s.money.total(agg)
		if s.money.known && (total == nil || total.Sign() == 0) {
			continue
		}
		out = append(out, kit.Item{Value: agg.ID.String(), Label: agg.Symbol + " on any chain",
			Note: s.held(total, agg.Decimals)})
		for _, e := range agg.Entities {
			v := s.money.of(e.Asset)
			if s.holds(e.Asset.Chain) && (!s.money.known || v != nil && v.Sign() > 0) {
				out = append(out, kit.Item{Value: e.Asset.String(),
					Label: "  " + e.Symbol + " on " + s.chainName(e.Asset.Chain), Note: s.held(v, e.Decimals)})
			}
		}
	}
	return out
}

// takePay changes the paid asset. The typed amount stays; a transfer keeps its chain of arrival when that has the
// asset.
func (s *Screen) takePay(v string) tea.Cmd {
	x := s.x[s.form]
	x.pay, s.focus = v, idAmount
	if x.kind != formTransfer {
		return nil
	}
	at := s.arrives(x)
	x.receive, x.at = "", caip.Chain{}
	from, ok := s.side(v)
	if !ok {
		return nil
	}
	if at == (caip.Chain{}) {
		at = s.richest(from.agg.ID.String())
		if from.exact {
			at = from.entity.Asset.Chain
		}
	}
	if asset, ok := s.tokenOn(at, from.agg.ID.String()); ok {
		x.receive = asset.String()
		return nil
	}
	return screen.Toast(theme.Warn, from.agg.Symbol+" is not on "+s.chainName(at)+": choose where it arrives")
}

// arriveItems lists the chains that have the asset of a transfer.
func (s *Screen) arriveItems() []kit.Item {
	from, ok := s.side(s.x[s.form].pay)
	if !ok {
		return []kit.Item{{Value: "", Label: "choose what to send first", Off: "choose what to send first"}}
	}
	var out []kit.Item
	for _, e := range from.agg.Entities {
		note := ""
		if from.exact && from.decimals != e.Decimals || !from.exact && e.Decimals != from.agg.Decimals {
			note = present.Plural(e.Decimals, "decimal", "decimals") + " there"
		}
		out = append(out, kit.Item{Value: e.Asset.String(), Label: s.chainName(e.Asset.Chain), Note: note})
	}
	return out
}

// receiveItems lists every asset but the paid one, on any chain and on each one.
func (s *Screen) receiveItems() []kit.Item {
	from, _ := s.side(s.x[s.form].pay)
	var out []kit.Item
	for _, agg := range s.ctx.Catalog.Aggregates() {
		if agg.ID == from.agg.ID && from.agg.ID != "" {
			continue
		}
		off := ""
		if agg.PriceMicroUSD == nil {
			off = agg.Symbol + " has no price, so it cannot be delivered"
		}
		out = append(out, kit.Item{Value: agg.ID.String(), Label: agg.Symbol + " on any chain", Note: agg.Name,
			Off: off})
		for _, e := range agg.Entities {
			out = append(out, kit.Item{Value: e.Asset.String(),
				Label: "  " + e.Symbol + " on " + s.chainName(e.Asset.Chain), Off: off})
		}
	}
	return out
}

func (s *Screen) takeReceive(v string) tea.Cmd {
	x := s.x[s.form]
	before := s.arrives(x)
	x.receive, x.at = v, caip.Chain{}
	if at := s.arrives(x); before != (caip.Chain{}) && at.IsSolana() != before.IsSolana() && x.to.Value() != "" {
		x.to.Set("")
		return screen.Toast(theme.Warn, "the address was for the other kind of chain and was taken away")
	}
	s.step(1, false)
	return nil
}

func (s *Screen) targetPeople() []kit.Item {
	return append([]kit.Item{typeAddress()}, s.bookItems(s.arrives(s.x[s.form]).IsSolana())...)
}

// amountItems offers parts of the balance.
func (s *Screen) amountItems() []kit.Item {
	x := s.x[s.form]
	from, _ := s.side(x.pay)
	all := s.everything(x)
	out := []kit.Item{typeAmount()}
	if all == nil || all.Sign() == 0 || s.hidden {
		return out
	}
	for _, part := range []struct {
		words string
		of    int64
	}{{"everything", 1}, {"a half", 2}, {"a quarter", 4}} {
		v := new(big.Int).Quo(all, big.NewInt(part.of))
		text := amount.Trim(amount.Format(v, from.decimals))
		out = append(out, kit.Item{Value: text, Label: part.words, Note: amount.Group(text) + " " + from.agg.Symbol})
	}
	return out
}

// minItems offers minimums near what the catalogue's prices give.
func (s *Screen) minItems() []kit.Item {
	x := s.x[s.form]
	out := []kit.Item{typeAmount(), {Value: "", Label: "none of my own: what the slippage leaves"}}
	v := s.expected(x)
	decimals, symbol, ok := s.delivered(x)
	if v == nil || !ok {
		return out
	}
	for _, bps := range presets() {
		least := new(big.Int).Mul(v, big.NewInt(int64(10_000-bps)))
		least = roundDown(least.Quo(least, big.NewInt(10_000)), decimals)
		text := amount.Trim(amount.Format(least, decimals))
		out = append(out, kit.Item{Value: text, Label: "list price less " + bpsText(bps),
			Note: amount.Group(text) + " " + symbol})
	}
	return out
}

// roundDown keeps eight decimals of an amount.
func roundDown(v *big.Int, decimals int) *big.Int {
	keep := min(decimals, 8)
	return amount.Scale(amount.Scale(v, decimals, keep), keep, decimals)
}

// takeMax sets the amount to everything, and warns of reasons against that.
func (s *Screen) takeMax() tea.Cmd {
	x := s.x[s.form]
	from, ok := s.side(x.pay)
	all := s.everything(x)
	switch {
	case !ok:
		return screen.Toast(theme.Warn, "choose an asset first")
	case all == nil:
		return screen.Toast(theme.Warn, "the balance is not known, so everything is not known either")
	case all.Sign() == 0:
		return screen.Toast(theme.Warn, "there is nothing of it that could be sent")
	}
	s.touched()
	x.amount.Set(amount.Trim(amount.Format(all, from.decimals)))
	return nil
}

// richest is the chain with the largest balance of an aggregate; its first chain when no balance is known.
func (s *Screen) richest(aggregate string) caip.Chain {
	best := s.richestOf(aggregate, func(c catalog.Entity) bool { return s.holds(c.Asset.Chain) })
	return best.Chain
}
