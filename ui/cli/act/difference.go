package act

import (
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

// differences compare a plan with the operation and the quote, as far as these exist. They show a reader what
// verification decided; verification alone decides.
func (s *Session) differences(p plan.Plan, x flow.Snapshot) []difference {
	var out []difference
	if v := x.Review1; v != nil {
		out = append(out, s.callDifferences(x, v)...)
	}
	if v := x.Review2; v != nil {
		out = append(out, s.quoteDifferences(p, x, v)...)
	}
	return out
}

// callDifferences put each call of the plan beside that of the operation, then the operation's other calls.
func (s *Session) callDifferences(x flow.Snapshot, v *verify.PreparedView) []difference {
	var out []difference
	d := x.Intent
	out = append(out, difference{"chain", d.TargetChain, v.Chain.CAIP, d.TargetChain == v.Chain.CAIP})
	for i, c := range d.Calls {
		row := difference{What: "call " + strconv.Itoa(i+1), Plan: callWords(c.To, c.Value, c.Data),
			Operation: "missing"}
		for _, l := range v.Lines {
			if l.Asked == i+1 {
				value := ""
				if l.Value != nil {
					value = l.Value.String()
				}
				row.Operation, row.Same = callWords(l.To, value, l.Data), l.AsAsked && consent.SameCall(c, l)
			}
		}
		out = append(out, row)
	}
	for i, a := range d.Allowances {
		row := difference{What: "allowance " + strconv.Itoa(i+1), Plan: s.baseWords(a.AssetType, a.Amount),
			Operation: "left out: the present one is sufficient", Same: true}
		var found []string
		for _, l := range v.Lines {
			if l.Role != verify.RoleCall && consent.Allows(a, d, l) {
				found = append(found, l.Role+" in call "+strconv.Itoa(l.Index))
			}
		}
		if len(found) > 0 {
			row.Operation = strings.Join(found, ", ")
		}
		out = append(out, row)
	}
	besides := "nothing"
	as := consent.Faithful(x.Intent, x.Review1, x.Report1)
	if !as {
		besides = "something that was not asked for"
	}
	return append(out, difference{"besides", "nothing", besides, as})
}

func callWords(to, value, data string) string {
	parts := []string{strings.ToLower(to)}
	if value != "" && value != "0" {
		parts = append(parts, value+" wei")
	}
	if data = strings.ToLower(data); data != "" && data != "0x" {
		parts = append(parts, whole(data))
	}
	return strings.Join(parts, " ")
}

// quoteDifferences put the plan's payments beside the quote.
func (s *Session) quoteDifferences(p plan.Plan, x flow.Snapshot, v *verify.QuoteView) []difference {
	var out []difference
	d := x.Intent
	if isExchange(d) && d.Pay != nil && d.Receive != nil {
		paid := new(big.Int)
		for _, a := range consent.ByAsset(s.Catalog, v.Pay) {
			if _, n := unitOf(s.Catalog, d.Pay.Asset); n >= 0 && a.Amount != nil && a.Decimals >= 0 {
				paid.Add(paid, amount.Scale(a.Amount, a.Decimals, n))
			}
		}
		out = append(out, difference{"pay", s.baseWords(d.Pay.Asset, d.Pay.Amount),
			s.baseWords(d.Pay.Asset, paid.String()), paid.String() == d.Pay.Amount})
		out = append(out, difference{"receive", s.assetWords(d.Receive.Asset),
			present.Human(v.Delivered) + ", at least " + present.Human(v.Minimum), true})
	}
	funding := d.FundWith
	if funding != "" {
		same := true
		var pays []string
		for _, a := range v.Pay {
			pays = append(pays, present.Human(a))
			e, known := s.Catalog.Entity(a.Asset)
			same = same && (a.Asset.String() == funding || known && e.Aggregate == caip.AggregateID(funding))
		}
		out = append(out, difference{"funding", s.assetWords(funding), orElse(strings.Join(pays, ", "), "nothing"),
			same})
	}
	out = append(out, difference{"slippage", present.Percent(d.SlippageBps), present.Percent(v.SlippageBps),
		v.SlippageBps <= d.SlippageBps})
	if l, err := p.Limits.Verify(); err == nil {
		if worst := consent.Sum(v.Worst); l.MaxSpend != nil {
			out = append(out, difference{"can leave at most", dollars(l.MaxSpend), dollars(worst), worst != nil &&
				worst.Cmp(l.MaxSpend) <= 0})
		}
		if l.MaxCostBps > 0 && !v.SameChainOnly {
			out = append(out, difference{"costs at most", present.Percent(l.MaxCostBps), costWords(v),
				v.MinimumCostBps >= 0 &&
					v.MinimumCostBps <= l.MaxCostBps})
		}
	}
	return out
}

func costWords(v *verify.QuoteView) string {
	if v.MinimumCostBps < 0 {
		return amount.Unknown
	}
	return present.Percent(v.MinimumCostBps)
}

func differencesText(hash string, list []difference) string {
	p := &page{}
	p.line("PLAN " + hash + " AND OPERATION")
	for _, d := range list {
		sign := "= "
		if !d.Same {
			sign = "! "
		}
		p.row(sign+d.What, d.Plan)
		if !d.Same || d.Plan != d.Operation {
			p.sub("", d.Operation)
		}
	}
	return p.b.String()
}
