package act

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/cli/act/plan"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// difference is one line of the comparison of a plan with its answer. Same: the two are equal, or within what the plan
// allows.
type difference struct {
	What      string `json:"what"`
	Plan      string `json:"plan"`
	Operation string `json:"operation"`
	Same      bool   `json:"same"`
}

// comparison is a plan beside what came back, line by line.
type comparison []difference

func (c *comparison) add(what, plan, operation string, same bool) {
	*c = append(*c, difference{what, plan, operation, same})
}

// differences compare a plan with the operation and the quote, as far as these exist. They show a reader what
// verification decided; verification alone decides. value writes what a call on a chain sends along.
func (s *Session) differences(p plan.Plan, x flow.Snapshot, value func(chain uint64, wei string) string) []difference {
	var out comparison
	if v := x.Review1; v != nil {
		out.calls(s, x, v, value)
	}
	if v := x.Review2; v != nil {
		out.quote(s, p, x, v)
	}
	return out
}

// calls puts each call of the plan beside that of the operation, then the operation's other calls.
func (c *comparison) calls(s *Session, x flow.Snapshot, v *verify.PreparedView,
	value func(chain uint64, wei string) string) {
	words := func(to, wei, data string) string {
		parts := []string{strings.ToLower(to)}
		if wei != "" && wei != "0" {
			parts = append(parts, value(v.Chain.ID, wei))
		}
		if data = strings.ToLower(data); data != "" && data != "0x" {
			parts = append(parts, whole(data))
		}
		return strings.Join(parts, " ")
	}
	d := x.Intent
	c.add("chain", d.TargetChain, v.Chain.CAIP, d.TargetChain == v.Chain.CAIP)
	for i, asked := range d.Calls {
		is, same := "missing", false
		for _, l := range v.Lines {
			if l.Asked == i+1 {
				wei := ""
				if l.Value != nil {
					wei = l.Value.String()
				}
				is, same = words(l.To, wei, l.Data), l.AsAsked && consent.SameCall(asked, l)
			}
		}
		c.add("call "+strconv.Itoa(i+1), words(asked.To, asked.Value, asked.Data), is, same)
	}
	for i, a := range d.Allowances {
		var found []string
		for _, l := range v.Lines {
			if l.Role != verify.RoleCall && consent.Allows(a, d, l) {
				found = append(found, l.Role+" in call "+strconv.Itoa(l.Index))
			}
		}
		c.add("allowance "+strconv.Itoa(i+1), s.baseWords(a.AssetType, a.Amount),
			cmp.Or(strings.Join(found, ", "), "left out: the present one is sufficient"), true)
	}
	if consent.Faithful(d, v, x.Report1) {
		c.add("besides", "nothing", "nothing", true)
	} else {
		c.add("besides", "nothing", "something that was not asked for", false)
	}
}

// inWei writes the value of a call as --json does, inCoins in the chain's own coin as well.
func inWei(_ uint64, wei string) string { return wei + " wei" }

func (s *Session) inCoins(chain uint64, wei string) string {
	return present.Coins(s.Catalog, chain, present.BaseUnits(wei)) + " (" + inWei(chain, wei) + ")"
}

// quote puts the plan's payments beside the quote.
func (c *comparison) quote(s *Session, p plan.Plan, x flow.Snapshot, v *verify.QuoteView) {
	d := x.Intent
	if d.Exchanges() && d.Pay != nil && d.Receive != nil {
		paid := new(big.Int)
		for _, a := range consent.ByAsset(s.Catalog, v.Pay) {
			if _, n := unitOf(s.Catalog, d.Pay.Asset); n >= 0 && a.Amount != nil && a.Decimals >= 0 {
				paid.Add(paid, amount.Scale(a.Amount, a.Decimals, n))
			}
		}
		c.add("pay", s.baseWords(d.Pay.Asset, d.Pay.Amount), s.baseWords(d.Pay.Asset, paid.String()),
			paid.String() == d.Pay.Amount)
		c.add("receive", s.assetWords(d.Receive.Asset),
			present.Human(v.Delivered)+", at least "+present.Human(v.Minimum), true)
	}
	if funding := d.FundWith; funding != "" {
		same := true
		var pays []string
		for _, a := range v.Pay {
			pays = append(pays, present.Human(a))
			e, known := s.Catalog.Entity(a.Asset)
			same = same && (a.Asset.String() == funding || known && e.Aggregate == caip.AggregateID(funding))
		}
		c.add("funding", s.assetWords(funding), cmp.Or(strings.Join(pays, ", "), "nothing"), same)
	}
	c.add("slippage", present.Percent(d.SlippageBps), present.Percent(v.SlippageBps), v.SlippageBps <= d.SlippageBps)
	if l, err := p.Limits.Verify(); err == nil {
		if worst := verify.Sum(v.Worst); l.MaxSpend != nil {
			c.add("can leave at most", dollars(l.MaxSpend), dollars(worst),
				worst != nil && worst.Cmp(l.MaxSpend) <= 0)
		}
		if l.MaxCostBps > 0 && !v.SameChainOnly {
			cost := amount.Unknown
			if v.MinimumCostBps >= 0 {
				cost = present.Percent(v.MinimumCostBps)
			}
			c.add("costs at most", present.Percent(l.MaxCostBps), cost,
				v.MinimumCostBps >= 0 && v.MinimumCostBps <= l.MaxCostBps)
		}
	}
}

func differencesText(hash string, list []difference) string {
	p := &page{}
	p.Line("PLAN " + hash + " AND OPERATION")
	for _, d := range list {
		sign := "= "
		if !d.Same {
			sign = "! "
		}
		p.Row(sign+d.What, d.Plan)
		if !d.Same || d.Plan != d.Operation {
			p.Sub("", d.Operation)
		}
	}
	return p.String()
}
