package verify

import (
	"math/big"
	"slices"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/text"
	"coffer/wallet/intent"
)

// What counts as spent (rows Y4, Y5): every signature counts in full, as if nothing were delivered for it. A service
// that lies about balances can have a call signed that spends what is there and payments beside it for what it says is
// missing (TH-P6), and nothing that was promised has to arrive.
//
//   - a prepared call counts, by asset, the larger of what its calls visibly take and what the intent requires for
//     them, wherever it comes from;
//   - a payment counts in full, with the fee of a Solana message that its user pays, whatever it is for and to
//     whomever it goes.
//
// Values are at catalogue prices. With a cap of the user's own an unknown value refuses.

// day is the time over which MaxSpendPerDay counts.
const day = 24 * time.Hour

// counted is what a prepared call counts.
func (p Policy) counted(d intent.Draft, outflow []AmountView) []AmountView {
	out := append([]AmountView{}, outflow...)
	for _, t := range d.TokensRequired {
		a, errAsset := caip.ParseAsset(t.AssetType)
		v, err := amount.ParseBase(t.Amount)
		if errAsset != nil || err != nil {
			continue // a frozen intent has none
		}
		found := false
		for i, o := range out {
			if o.Asset == a {
				found = true
				if v.Cmp(o.Amount) > 0 {
					out[i] = p.amountView(a, v)
				}
			}
		}
		if !found && v.Sign() > 0 {
			out = append(out, p.amountView(a, v))
		}
	}
	return out
}

// worst is what can leave the account in the worst case: everything that ops can move, and what the operation sent
// before. Where the service's word proves nothing it may have taken that although it says that it did not, also after
// the window has ended. Of two signatures in one place only one can run.
func (j *judge) worst(ops ...Signing) []AmountView {
	var all []Open
	for _, s := range ops {
		m := s.summary
		x := Open{Hash: s.Hash(), Chain: m.Chain, Sender: m.Sender, Nonce: m.Nonce}
		for _, a := range m.Counts {
			x.Spend = append(x.Spend, Spend{Asset: a.Asset, Amount: a.Amount})
		}
		all = append(all, x)
	}
	if j.believes() {
		return j.openSum(all)
	}
	again := false
	for _, x := range j.h.Sent() {
		all = append(all, x)
		again = again || !slices.ContainsFunc(ops, func(s Signing) bool { return s.takes(x) })
	}
	out := j.openSum(all)
	if again {
		j.add(Warn, "J4", "Something was sent for this operation before, and only the service says that it did not "+
			"take it. With that "+j.figures(out)+" can leave in all.", "", "", "")
	}
	return out
}

// capsHold reports whether a cap on spending can be judged: a call of a listed token that is neither a transfer nor an
// approval may take what nobody can read. Other contracts take only native values, what is approved to them and what
// the intent requires, as far as anybody can tell beforehand; that is said.
func (j *judge) capsHold(chainID uint64, lines []line) bool {
	if j.Limits.MaxSpend == nil && j.Limits.MaxSpendPerDay == nil {
		return false
	}
	own := j.Limits.MaxSpend != nil || !j.softDayCap()
	var unread []string
	for _, l := range lines {
		if _, ok := decodeKnown(l.call.Data); ok || len(l.call.Data) == 0 {
			continue
		}
		where := j.describe(chainID, l.call)
		if own && !j.must(!j.isToken(chainID, l.call.To), "Y4", "what the calls spend can be read",
			"/chainOperation/userOp/callData", "transfers and approvals of tokens", where) {
			return false
		}
		unread = append(unread, where)
	}
	if len(unread) > 0 { // one reason for all of them: each of a hundred calls would leave no room on the report
		j.add(Unknown, "Y4", "Your caps count what is approved, sent and required; what else a contract may take "+
			"from earlier approvals cannot be read.",
			"/chainOperation/userOp/callData", "", text.Few(unread, 1))
	}
	return true
}

// spendLimit compares what one operation counts with its cap.
func (j *judge) spendLimit(counts []AmountView) {
	limit := j.Limits.MaxSpend
	if limit == nil {
		return
	}
	total, missing := j.inUSD(counts)
	if j.must(total != nil, "Y4", "what is spent has a known price", "", "a price", missing) {
		j.must(total.Cmp(limit) <= 0, "Y4", "what is spent is within your policy", "", "at most "+usd(limit),
			usd(total))
	}
}

// dayLimit compares what this operation and everything signed within a day count with their cap.
func (j *judge) dayLimit(counts []AmountView) {
	limit := j.Limits.MaxSpendPerDay
	if limit == nil {
		return
	}
	all := append([]AmountView{}, counts...)
	for _, s := range j.h.Spent(j.now.Add(-day)) {
		if !j.must(s.Amount != nil, "Y5", "what was spent within a day is known", "", "an amount", "unknown") {
			return
		}
		all = append(all, j.amountView(s.Asset, s.Amount))
	}
	if j.softDayCap() {
		all = j.pricedOnly(all)
	}
	total, missing := j.inUSD(all)
	if j.must(total != nil, "Y5", "what is spent within a day has a known price", "", "a price", missing) {
		j.must(total.Cmp(limit) <= 0, "Y5", "what is spent within a day is within "+j.capName(), "",
			"at most "+usd(limit), usd(total))
	}
}

// softDayCap reports whether the daily cap is this program's own, and prices may be unknown: on a network without real
// money, on own nodes, whose catalogue has none, and where they are those of a market. What has no price is then
// pointed out and not refused.
func (p Policy) softDayCap() bool {
	return p.Limits.DefaultDayCap && (p.Network.Kind == network.Lab || p.Network.Kind == network.Test ||
		p.Network.OnOwnNodes() && p.Catalog.Unpriced() || p.Catalog.IsWatched())
}

func (p Policy) capName() string {
	if p.Limits.DefaultDayCap {
		return "the default daily cap (max_spend_per_day_usd in a policy file sets your own)"
	}
	return "your policy"
}

// pricedOnly leaves out what has no price, and says so.
func (j *judge) pricedOnly(list []AmountView) []AmountView {
	var out []AmountView
	said := map[caip.Asset]bool{}
	for _, a := range list {
		if a.Micro != nil || a.Amount.Sign() == 0 {
			out = append(out, a)
		}
		if a.Micro != nil || a.Amount.Sign() == 0 || said[a.Asset] {
			continue
		}
		said[a.Asset] = true
		j.add(Warn, "Y5", "The daily cap does not count an asset without a price.", "", "a price",
			j.withoutPrice(a.Asset))
	}
	return out
}

// inUSD sums micro USD; nil and the name of the asset when a price is missing. Nothing of an asset is worth nothing.
func (p Policy) inUSD(list []AmountView) (*big.Int, string) {
	total := new(big.Int)
	for _, a := range list {
		switch {
		case a.Amount.Sign() == 0:
		case a.Micro == nil:
			return nil, p.withoutPrice(a.Asset)
		default:
			total.Add(total, a.Micro)
		}
	}
	return total, ""
}

func usd(micro *big.Int) string { return amount.USD2(micro) + " USD" }
