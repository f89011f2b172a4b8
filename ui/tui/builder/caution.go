package builder

import (
	"math/big"
	"strconv"

	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// caution is a remark at a field that blocks nothing: its severity, Warn or Danger, and what to look at.
type caution struct {
	mean theme.Meaning
	text string
}

// cautions are the remarks on the form of calls by row id, about targets and data, values, times and recipients.
func (s *Screen) cautions() map[string]caution {
	out := map[string]caution{}
	put := func(id string, c caution) {
		if c.text != "" && out[id].text == "" {
			out[id] = c
		}
	}
	if s.form != formCalls {
		s.exchangeCautions(s.x[s.form], put)
		return out
	}
	for i, c := range s.b.calls {
		s.callCautions(i, c, put)
	}
	for i, a := range s.b.allow {
		put(idAllowRow(i, "amount"), s.allowanceCaution(a))
		if e, ok := s.b.tokenAt(s.ctx.Catalog, a.spender.Value()); ok {
			put(idAllowRow(i, "spender"), caution{theme.Warn,
				"this is the contract of " + e.Symbol + ": a token takes nothing by itself"})
		}
	}
	for i, n := range s.b.needs {
		if e, ok := s.entity(n.asset); ok {
			if v, err := quantity(n.amount.Value(), e.Decimals, e.Symbol); err == nil {
				put(idNeed(i, "amount"), wrongUnit(suspicious(v, e.Decimals, e.Symbol, true)))
			}
		}
	}
	put(s.slipID(), slipCaution(s.b.slip.bps()))
	if len(s.b.over) > 0 {
		put(idOverRow(0, "address"), caution{theme.Warn,
			"the calls are tried on this state; on the chain they may still fail"})
	}
	return out
}

func wrongUnit(text string) caution { return caution{theme.Warn, text} }

func (s *Screen) callCautions(i int, c *call, put func(string, caution)) {
	cat := s.ctx.Catalog
	native := s.b.native(cat)
	token, known := s.b.tokenAt(cat, c.to.Value())
	wei := c.wei(native)
	a, err := caip.ParseAddress(trim(c.to.Value()))
	switch {
	case err != nil:
	case a == [20]byte{}:
		put(idTo(i), caution{theme.Danger, "this is the zero address: what goes there is lost"})
	case s.own(c.to.Value()):
		put(idTo(i), caution{theme.Warn, "this is your own account: the call does nothing"})
	case known && c.fn == nil && !c.raw && wei != nil && wei.Sign() > 0:
		put(idTo(i), caution{theme.Danger, "this is the contract of " + token.Symbol +
			": it keeps the coins that are sent to it"})
	case c.fn == nil && !c.raw && !known: // at a token, choosing the function comes next
		put(idTo(i), s.recipientCaution(c.to.Value(), s.b.chain))
	}
	if n := c.paid(); n != nil {
		walk(c.args, func(path []int, x *node) {
			if x == n {
				put(idArg(i, path), s.recipientCaution(n.field.Value(), s.b.chain))
			}
		})
	}
	s.dataCautions(i, c, put)
	if wei != nil && wei.Sign() > 0 {
		if c.coin() == coinRefused {
			put(idValue(i), caution{theme.Warn, c.fn.Name() + "() takes no " + native.Symbol + ": the call would fail"})
		}
		if _, unit := splitUnit(c.value.Value()); unit == "" {
			put(idValue(i), wrongUnit(suspicious(wei, native.Decimals, native.Symbol, true)))
		}
	}
	if n := c.moved(); n != nil && known && !c.raw {
		if _, unit := splitUnit(n.field.Value()); unit == "" {
			put(idArg(i, []int{len(c.args) - 1}),
				wrongUnit(suspicious(n.amountOf(token.Decimals), token.Decimals, token.Symbol, n.units)))
		}
	}
}

// dataCautions checks raw call data: why it is raw, and whether it has the shape of a call.
func (s *Screen) dataCautions(i int, c *call, put func(string, caution)) {
	if !c.raw {
		return
	}
	data, ok := c.calldata(-1)
	switch n := len(data); {
	case !ok || n == 0:
	case n < 4:
		put(idData(i), caution{theme.Warn, present.Plural(n, "byte", "bytes") + ": too short to name a function"})
	case c.why != "":
		put(idData(i), caution{theme.None, "stays raw: " + c.why})
	case (n-4)%32 != 0:
		put(idData(i), caution{theme.Warn, strconv.Itoa(n) +
			" bytes are not four and whole words of 32: no usual arguments"})
	}
}

func (s *Screen) allowanceCaution(a *allowance) caution {
	e, ok := s.entity(a.asset)
	if !ok {
		return caution{}
	}
	v, err := quantity(a.amount.Value(), e.Decimals, e.Symbol)
	if err != nil {
		return caution{}
	}
	if v.Cmp(new(big.Int).Lsh(big.NewInt(1), 128)) > 0 {
		return caution{theme.Danger, "that is without limit: allow what the calls take"}
	}
	return wrongUnit(suspicious(v, e.Decimals, e.Symbol, true))
}

// slipCaution warns from a tenth on.
func slipCaution(bps int) caution {
	switch {
	case bps >= 2000:
		return caution{theme.Danger, "at " + bpsText(bps) + " a fifth or more may be lost to the price"}
	case bps >= 1000:
		return caution{theme.Warn, "at " + bpsText(bps) + " a tenth or more may be lost to the price"}
	}
	return caution{}
}

// slipID is the row that marks the tolerance.
func (s *Screen) slipID() string {
	if s.slip().preset == 0 {
		return idSlipBps
	}
	return idSlip
}
