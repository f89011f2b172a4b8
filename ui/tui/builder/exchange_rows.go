package builder

import (
	"math/big"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// exchangeRows lists the form of a transfer or a swap from top to bottom.
func (s *Screen) exchangeRows(x *compose.Exchange) []row {
	from, known := s.Side(x.Pay)
	pay := row{id: compose.IDPay, label: "send", text: s.sideText(x.Pay, "choose an asset"), value: x.Pay,
		title: "What to send", items: s.payItems, take: s.takePay,
		help: "what you pay with; enter chooses, on any chain or on one"}
	if x.What == intent.KindSwap {
		pay.label, pay.title = "pay", "What to pay with"
	}
	if known {
		pay.aside = "you have " + s.held(s.Everything(x), from.Decimals)
		if !from.Agg.Priced && !s.OwnNodes {
			pay.aside, pay.mean = "it has no price, so it cannot pay", theme.Warn
		}
	}
	sum := row{id: compose.IDAmount, label: "amount", field: &x.Amount, limit: 100, empty: "how much, or max",
		title: "How much", items: s.amountItems, help: "in whole tokens; the word max takes everything"}
	if v := s.Paying(x); v != nil {
		symbol := from.Agg.Symbol
		if micro := amount.Value(v, from.Decimals, from.Agg.PriceMicroUSD); micro != nil {
			symbol += ", about " + present.USD(micro)
		}
		sum.aside = symbol + " = " + compose.Spaced(v) + " base units"
	}
	out := []row{pay, sum}
	if x.What == intent.KindSwap {
		out = append(out, s.receiveRow(x), s.targetRow(x), s.minRow(x))
	} else {
		out = append(out, s.targetRow(x), s.receiveRow(x))
		if x.Minimum != "" {
			out = append(out, s.minRow(x))
		}
	}
	if x.What == intent.KindTransfer && !s.OwnNodes {
		out = append(out, s.exactRow(x))
	}
	if !s.OwnNodes {
		out = append(out, s.dialRows(s.slip())...)
	}
	if x.V1 {
		out = append(out, s.v1Row())
	}
	if len(s.panes()) > 1 {
		return out // the summary says it
	}
	out = append(out, row{heading: true, label: "What happens"})
	for _, text := range s.story(x) {
		out = append(out, row{text: text})
	}
	return out
}

func (s *Screen) receiveRow(x *compose.Exchange) row {
	if x.What == intent.KindTransfer {
		text := "choose a chain"
		if at := s.Arrives(x); at != (caip.Chain{}) {
			text = s.ChainName(at)
		}
		return row{id: compose.IDReceive, label: "on", text: text, value: x.Receive,
			title: "The chain on which it arrives", items: s.arriveItems, take: s.takeReceive,
			help: "the chain on which it arrives; enter chooses"}
	}
	r := row{id: compose.IDReceive, label: "receive", text: s.sideText(x.Receive, "choose an asset"), value: x.Receive,
		title: "What to receive", items: s.receiveItems, take: s.takeReceive,
		help: "what you get for it; one chain's asset lets you name a minimum"}
	if v := s.Expected(x); v != nil {
		decimals, symbol, _ := s.Delivered(x)
		r.aside = "about " + kit.Short(v, decimals, 6, "").Main + " " + symbol + " at list prices, less fees"
	}
	return r
}

// exactRow says what the amount of a transfer is.
func (s *Screen) exactRow(x *compose.Exchange) row {
	r := row{id: compose.IDExact, label: "cost", text: costDeducted, title: "What it costs",
		help: "the cost is deducted from the amount, or added to it; enter chooses",
		items: func() []kit.Item {
			return []kit.Item{{Label: costDeducted, Note: "one signature for each chain"},
				{Value: "exactly", Label: costOnTop, Note: "two reviews; on EVM chains"}}
		},
		take: func(v string) tea.Cmd { x.Exactly = v != ""; return nil }}
	if x.Exactly {
		r.text, r.value = costOnTop, "exactly"
	} else if s.plain(x) {
		r.aside = "you have it there: on top, only the network fee is paid"
	}
	return r
}

const (
	costDeducted = "deducted from the amount"
	costOnTop    = "on top: exactly the amount arrives"
)

// plain reports whether what a transfer delivers is held where it arrives, so that a payment there is enough.
func (s *Screen) plain(x *compose.Exchange) bool {
	to, ok := s.Side(x.Receive)
	_, evm := s.Arrives(x).EVMID()
	if v := s.Paying(x); ok && evm && to.Exact && v != nil {
		from, _ := s.Side(x.Pay)
		held := s.Money.Of(to.Entity.Asset)
		return held != nil && amount.Scale(held, to.Decimals, from.Decimals).Cmp(v) >= 0
	}
	return false
}

func (s *Screen) targetRow(x *compose.Exchange) row {
	r := row{id: compose.IDTarget, label: "to", field: &x.To, limit: 160, empty: "an address or a name; enter lists",
		address: true, title: "Who gets it",
		items: s.targetPeople, help: "who gets it: a full address or a name; enter lists"}
	if x.What != intent.KindSwap {
		return r
	}
	switch own, at := s.OwnReceiver(x), s.Arrives(x); {
	case own != "":
		r.optional, r.empty, r.help = true, own, "empty: "+own+"; else a full address or a name"
	case at.IsSolana():
		r.empty = "a Solana address"
	default:
		r.empty = "an address on " + s.ChainName(at)
	}
	return r
}

func (s *Screen) minRow(x *compose.Exchange) row {
	r := row{id: compose.IDMin, label: "minimum", field: &x.Minimum, limit: 100, empty: "set by slippage",
		optional: true, title: "Minimum received",
		items: s.minItems, help: "the smallest amount that you take; less is never signed"}
	if decimals, symbol, ok := s.Delivered(x); ok {
		r.aside = symbol
		if v, problem := compose.Amount(x.Minimum, decimals, symbol); problem == "" {
			r.aside = compose.BaseNote(v, decimals, symbol)
		}
	}
	return r
}

func (s *Screen) v1Row() row {
	return row{id: compose.IDInterface, label: "interface", text: "the service's older one (v1)",
		help: "it came with what was loaded; x takes the present one"}
}

// story describes the request in sentences, as far as it is chosen.
func (s *Screen) story(x *compose.Exchange) []string {
	from, okFrom := s.Side(x.Pay)
	v := s.Paying(x)
	if !okFrom || v == nil || v.Sign() == 0 {
		return []string{"Choose an asset and an amount. You review before anything is sent."}
	}
	where := ", from the chains where you hold it"
	if from.Exact {
		where = " from " + s.ChainName(from.Entity.Asset.Chain)
	}
	if s.Itself(x) {
		return []string{"Exactly " + amount.Human(v, from.Decimals) + " " + from.Agg.Symbol +
			" arrives, by one message that your Solana account signs. It pays Solana's fee."}
	}
	if s.OwnNodes && x.What == intent.KindTransfer {
		return []string{"Exactly " + amount.Human(v, from.Decimals) + " " + from.Agg.Symbol +
			" arrives, by one call on its chain. Your gas tank pays for it."}
	}
	if x.Exactly {
		return []string{"Exactly " + amount.Human(v, from.Decimals) + " " + from.Agg.Symbol +
			" arrives; what it costs comes on top" + where + ".", "You see the cost before a payment is signed."}
	}
	out := []string{"You pay exactly " + amount.Human(v, from.Decimals) + " " + from.Agg.Symbol + where +
		"; fees are deducted."}
	return append(out, "The quote says what arrives. You see it, and its minimum, before anything is signed.")
}

// sideText names an asset, with its chain when it belongs to one.
func (s *Screen) sideText(asset, none string) string {
	x, ok := s.Side(asset)
	switch {
	case asset == "":
		return none
	case !ok:
		return present.Clean(asset, 120)
	case x.Exact:
		return x.Entity.Symbol + " on " + s.ChainName(x.Entity.Asset.Chain)
	}
	return x.Agg.Symbol + " on any chain"
}

// anywhere is the choice of an asset without a chain, and beside how many of its chains that stands: an asset on one
// chain is that chain's.
func (s *Screen) anywhere(a catalog.Aggregate) (choice kit.Item, chains []catalog.Entity) {
	if len(a.Entities) == 1 {
		id := a.Entities[0].Asset.String()
		return kit.Item{Value: id, Label: s.sideText(id, "")}, nil
	}
	return kit.Item{Value: a.ID.String(), Label: a.Symbol + " on any chain"}, a.Entities
}

// payItems lists the assets with a balance, each on any chain and on each one; all assets while balances are unknown.
func (s *Screen) payItems() []kit.Item {
	var out []kit.Item
	for _, agg := range s.Catalog.Aggregates() {
		total := s.Money.Total(agg)
		if s.Money.Known && total.Sign() == 0 {
			continue
		}
		any, chains := s.anywhere(agg)
		any.Note = s.held(total, agg.Decimals)
		out = append(out, any)
		for _, e := range chains {
			v := s.Money.Of(e.Asset)
			if s.Holds(e.Asset.Chain) && (!s.Money.Known || v != nil && v.Sign() > 0) {
				out = append(out, kit.Item{Value: e.Asset.String(),
					Label: "  " + e.Symbol + " on " + s.ChainName(e.Asset.Chain), Note: s.held(v, e.Decimals)})
			}
		}
	}
	return out
}

// takePay changes the paid asset. The typed amount stays; a transfer keeps its chain of arrival when that has the
// asset.
func (s *Screen) takePay(v string) tea.Cmd {
	x := s.x[s.form]
	x.Pay, s.focus = v, compose.IDAmount
	if x.What != intent.KindTransfer {
		return nil
	}
	at := s.Arrives(x)
	x.Receive, x.At = "", caip.Chain{}
	from, ok := s.Side(v)
	if !ok {
		return nil
	}
	if at == (caip.Chain{}) {
		at = s.richest(from.Agg.ID.String())
		if from.Exact {
			at = from.Entity.Asset.Chain
		}
	}
	if x.ArriveOn(&s.World, at) == "" {
		return nil
	}
	return screen.Toast(theme.Warn, from.Agg.Symbol+" is not on "+s.ChainName(at)+": choose where it arrives")
}

// arriveItems lists the chains that have the asset of a transfer.
func (s *Screen) arriveItems() []kit.Item {
	from, ok := s.Side(s.x[s.form].Pay)
	if !ok {
		return []kit.Item{{Value: "", Label: "choose what to send first", Off: "choose what to send first"}}
	}
	var out []kit.Item
	for _, e := range from.Agg.Entities {
		note := ""
		if from.Exact && from.Decimals != e.Decimals || !from.Exact && e.Decimals != from.Agg.Decimals {
			note = present.Plural(e.Decimals, "decimal", "decimals") + " there"
		}
		out = append(out, kit.Item{Value: e.Asset.String(), Label: s.ChainName(e.Asset.Chain), Note: note})
	}
	return out
}

// receiveItems lists every asset but the paid one, on any chain and on each one.
func (s *Screen) receiveItems() []kit.Item {
	from, _ := s.Side(s.x[s.form].Pay)
	var out []kit.Item
	for _, agg := range s.Catalog.Aggregates() {
		if agg.ID == from.Agg.ID && from.Agg.ID != "" {
			continue
		}
		off := ""
		if !agg.Priced {
			off = agg.Symbol + " has no price, so it cannot be delivered"
		}
		any, chains := s.anywhere(agg)
		any.Note, any.Off = agg.Name, off
		out = append(out, any)
		for _, e := range chains {
			out = append(out, kit.Item{Value: e.Asset.String(),
				Label: "  " + e.Symbol + " on " + s.ChainName(e.Asset.Chain), Off: off})
		}
	}
	return out
}

func (s *Screen) takeReceive(v string) tea.Cmd {
	x := s.x[s.form]
	before := s.Arrives(x)
	x.Receive, x.At = v, caip.Chain{}
	if at := s.Arrives(x); before != (caip.Chain{}) && at.IsSolana() != before.IsSolana() && x.To != "" {
		x.To = ""
		return screen.Toast(theme.Warn, "the address was for the other kind of chain and was taken away")
	}
	s.step(1, false)
	return nil
}

func (s *Screen) targetPeople() []kit.Item {
	return append([]kit.Item{typeAddress()}, s.bookItems(s.Arrives(s.x[s.form]).IsSolana())...)
}

// amountItems offers parts of the balance.
func (s *Screen) amountItems() []kit.Item {
	x := s.x[s.form]
	from, _ := s.Side(x.Pay)
	all := s.Everything(x)
	out := []kit.Item{typeAmount()}
	if all == nil || all.Sign() == 0 || s.Hidden {
		return out
	}
	for _, part := range []struct {
		words string
		of    int64
	}{{"everything", 1}, {"a half", 2}, {"a quarter", 4}} {
		v := new(big.Int).Quo(all, big.NewInt(part.of))
		text := amount.Plain(v, from.Decimals)
		out = append(out, kit.Item{Value: text, Label: part.words, Note: amount.Group(text) + " " + from.Agg.Symbol})
	}
	return out
}

// minItems offers minimums near what the catalogue's prices give.
func (s *Screen) minItems() []kit.Item {
	x := s.x[s.form]
	out := []kit.Item{typeAmount(), {Value: "", Label: "none: slippage sets the minimum received"}}
	v := s.Expected(x)
	decimals, symbol, ok := s.Delivered(x)
	if v == nil || !ok {
		return out
	}
	for _, bps := range compose.Slippages() {
		least := new(big.Int).Mul(v, big.NewInt(int64(10_000-bps)))
		least = roundDown(least.Quo(least, big.NewInt(10_000)), decimals)
		text := amount.Plain(least, decimals)
		out = append(out, kit.Item{Value: text, Label: "list price less " + present.Percent(bps),
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
	from, ok := s.Side(x.Pay)
	all := s.Everything(x)
	switch {
	case !ok:
		return screen.Toast(theme.Warn, "choose an asset first")
	case all == nil:
		return screen.Toast(theme.Warn, "the balance is not known, so everything is not known either")
	case all.Sign() == 0:
		return screen.Toast(theme.Warn, "there is nothing of it that could be sent")
	}
	s.touched()
	x.Amount = amount.Plain(all, from.Decimals)
	return nil
}

// richest is the chain with the largest balance of an aggregate; its first chain when no balance is known.
func (s *Screen) richest(aggregate string) caip.Chain {
	best := s.richestOf(aggregate, func(c catalog.Entity) bool { return s.Holds(c.Asset.Chain) })
	return best.Chain
}
