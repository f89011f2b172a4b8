package compose

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Level is how much a remark matters.
type Level = present.Meaning

// The levels.
const (
	None   = present.None
	Good   = present.Good
	Warn   = present.Warn
	Danger = present.Danger
)

// Caution is a remark at a field that blocks nothing.
type Caution struct {
	Level Level
	Text  string
}

// Cautions are the remarks on a form by field: targets and data, values, times and recipients.
func (w *World) Cautions(f Form) map[string]Caution {
	out := map[string]Caution{}
	put := func(id string, c Caution) {
		if c.Text != "" && out[id].Text == "" {
			out[id] = c
		}
	}
	f.caution(w, put)
	t := f.Tolerance()
	put(t.field(), slipCaution(t.Bps()))
	return out
}

func (b *Calls) caution(w *World, put func(string, Caution)) {
	b.againCautions(w, put)
	for i, c := range b.Calls {
		b.callCautions(w, i, c, put)
	}
	for i, a := range b.Allow {
		put(IDAllowance(i, "amount"), w.allowanceCaution(a))
		if e, ok := w.TokenAt(b.Chain, a.Spender); ok {
			put(IDAllowance(i, "spender"), Caution{Warn,
				"this is the contract of " + e.Symbol + ": a token takes nothing by itself"})
		}
	}
	for i, n := range b.Needs {
		if e, ok := w.Entity(n.Asset); ok {
			if v, problem := Amount(n.Amount, e.Decimals, e.Symbol); problem == "" {
				put(IDNeed(i, "amount"), wrongUnit(suspicious(v, e.Decimals, e.Symbol, true)))
			}
		}
	}
	if len(b.Overrides) > 0 {
		put(IDOverride(0, "address"), Caution{Warn,
			"the calls are tried on this state; on the chain they may still fail"})
	}
}

// againCautions marks a recipient whom an earlier call pays too: in a list of payouts that is often a row copied by
// mistake.
func (b *Calls) againCautions(w *World, put func(string, Caution)) {
	first := map[string]int{}
	for i, c := range b.Calls {
		id, to := IDTo(i), c.To
		if n := c.Paid(); n != nil {
			id, to = IDArg(i, []int{slices.Index(c.Args, n)}), n.Text
		} else if c.Fn != nil || c.Raw {
			continue
		}
		to, problem := w.Recipient(b.Chain, to)
		if to = strings.ToLower(to); to == "" || problem != "" {
			continue
		}
		at, again := first[to]
		switch {
		case !again:
			first[to] = i
		case w.recipientCaution(to, b.Chain).Level != Danger: // which counts more
			put(id, Caution{Warn, "call " + strconv.Itoa(at+1) + " pays the same address"})
		}
	}
}

func wrongUnit(text string) Caution { return Caution{Warn, text} }

func (b *Calls) callCautions(w *World, i int, c *Call, put func(string, Caution)) {
	t := b.target(w, c)
	native, token, known := t.Coin(), t.Token, t.Known
	wei := c.Wei(native)
	a, err := caip.ParseAddress(trim(c.To))
	switch {
	case err != nil:
	case a == [20]byte{}:
		put(IDTo(i), Caution{Danger, "this is the zero address: what goes there is lost"})
	case w.Own(c.To):
		put(IDTo(i), Caution{Warn, "this is your own account: the call does nothing"})
	case known && c.Fn == nil && !c.Raw && wei != nil && wei.Sign() > 0:
		put(IDTo(i), Caution{Danger, "this is the contract of " + token.Symbol +
			": it keeps the coins that are sent to it"})
	case c.Fn == nil && !c.Raw && !known: // at a token, choosing the function comes next
		put(IDTo(i), w.recipientCaution(c.To, b.Chain))
	}
	if n := c.Paid(); n != nil {
		Walk(c.Args, func(path []int, x *Arg) {
			if x == n {
				put(IDArg(i, path), w.recipientCaution(n.Text, b.Chain))
			}
		})
	}
	c.dataCautions(i, put)
	if wei != nil && wei.Sign() > 0 {
		if c.coin() == coinRefused {
			put(IDValue(i), Caution{Warn, c.Fn.Name() + "() takes no " + native.Symbol + ": the call would fail"})
		}
		if _, unit := SplitUnit(c.Value); unit == "" {
			put(IDValue(i), wrongUnit(suspicious(wei, native.Decimals, native.Symbol, true)))
		}
	}
	if n := c.Moved(); n != nil && known && !c.Raw {
		if _, unit := SplitUnit(n.Text); unit == "" {
			put(IDArg(i, []int{len(c.Args) - 1}),
				wrongUnit(suspicious(n.amountOf(t), token.Decimals, token.Symbol, n.Units)))
		}
	}
}

// dataCautions checks raw call data: why it is raw, and whether it has the shape of a call.
func (c *Call) dataCautions(i int, put func(string, Caution)) {
	if !c.Raw {
		return
	}
	data, ok := c.Calldata(Target{})
	switch n := len(data); {
	case !ok || n == 0:
	case n < 4:
		put(IDData(i), Caution{Warn, present.Plural(n, "byte", "bytes") + ": too short to name a function"})
	case c.Why != "":
		put(IDData(i), Caution{None, "stays raw: " + c.Why})
	case (n-4)%32 != 0:
		put(IDData(i), Caution{Warn, strconv.Itoa(n) +
			" bytes are not four and whole words of 32: no usual arguments"})
	}
}

func (w *World) allowanceCaution(a *Allowance) Caution {
	e, ok := w.Entity(a.Asset)
	if !ok {
		return Caution{}
	}
	v, problem := Amount(a.Amount, e.Decimals, e.Symbol)
	if problem != "" {
		return Caution{}
	}
	if v.Cmp(new(big.Int).Lsh(big.NewInt(1), 128)) > 0 {
		return Caution{Danger, "that is without limit: allow what the calls take"}
	}
	return wrongUnit(suspicious(v, e.Decimals, e.Symbol, true))
}

// slipCaution warns from a tenth on.
func slipCaution(bps int) Caution {
	switch {
	case bps >= 2000:
		return Caution{Danger, "at " + present.Percent(bps) + " a fifth or more may be lost to the price"}
	case bps >= 1000:
		return Caution{Warn, "at " + present.Percent(bps) + " a tenth or more may be lost to the price"}
	}
	return Caution{}
}

// exchangeCautions are the remarks on a transfer or a swap.
func (x *Exchange) caution(w *World, put func(string, Caution)) {
	from, known := w.Side(x.Pay)
	v := w.Paying(x)
	if known && v != nil {
		w.amountCautions(x, from, v, put)
	}
	if text := trim(x.To); text != "" {
		if x.What == intent.KindSwap && w.NameOf(text) != "" && !w.Own(text) {
			put(IDTarget, Caution{Warn, "what arrives goes to someone else's account"})
		}
		put(IDTarget, w.recipientCaution(text, w.Arrives(x)))
		if to, ok := w.Side(x.Receive); ok && to.Exact && from.Exact && to.Entity.Asset == from.Entity.Asset &&
			w.Own(text) {
			put(IDTarget, Caution{Warn, "it is there already: only the fees would leave"})
		}
	}
	w.minCaution(x, put)
}

func (w *World) amountCautions(x *Exchange, from Side, v *big.Int, put func(string, Caution)) {
	if _, unit := SplitUnit(x.Amount); unit == "" {
		put(IDAmount, wrongUnit(suspicious(v, from.Decimals, from.Agg.Symbol, true)))
	}
	all := w.Everything(x)
	if all == nil || w.Hidden {
		return
	}
	switch v.Cmp(all) {
	case 1:
		put(IDAmount, Caution{Warn, "more than you have: " + amount.Human(all, from.Decimals) + " " +
			from.Agg.Symbol + " could pay"})
	case 0:
		text := "everything: the fees come off it, so less arrives"
		if x.exact(w) && w.OwnNodes {
			return // gas is paid elsewhere
		}
		if w.Itself(x) {
			if sol, _ := w.Catalog.Entity(caip.SOL()); from.Agg.ID == sol.Aggregate {
				put(IDAmount, Caution{Warn, "everything: nothing is left for Solana's fee, which comes on top"})
			}
			return
		}
		if x.Exactly {
			put(IDAmount, Caution{Warn, "everything: nothing is left for the fees, which come on top"})
			return
		}
		if n := w.parts(from); n > 1 {
			text += "; of its " + present.Plural(n, "chain", "chains") +
				", one that holds less than its own fee cannot pay, and then all of it is too much"
		}
		put(IDAmount, Caution{Warn, text})
	}
}

// parts counts the chains that hold an asset.
func (w *World) parts(x Side) int {
	if x.Exact {
		return 1
	}
	n := 0
	for _, e := range x.Agg.Entities {
		if v := w.Money.Of(e.Asset); v != nil && v.Sign() > 0 {
			n++
		}
	}
	return n
}

// minCaution compares the minimum with the catalogue's prices: a minimum above them is never delivered, one far below
// them protects little.
func (w *World) minCaution(x *Exchange, put func(string, Caution)) {
	decimals, symbol, ok := w.Delivered(x)
	want := w.Expected(x)
	v, problem := Amount(x.Minimum, decimals, symbol)
	if !ok || want == nil || problem != "" {
		return
	}
	tenth := new(big.Int).Mul(v, big.NewInt(10))
	switch {
	case v.Cmp(want) > 0:
		put(IDMin, Caution{Warn, "more than the list price gives: no quote may reach it"})
	case tenth.Cmp(new(big.Int).Mul(want, big.NewInt(9))) < 0:
		put(IDMin, Caution{Warn, "more than a tenth below the list price"})
	default:
		put(IDMin, wrongUnit(suspicious(v, decimals, symbol, true)))
	}
}
