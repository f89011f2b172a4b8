package verify

import (
	"math/big"
	"slices"
	"sort"
	"strconv"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/intent"
)

// entity is what value checks need of an asset: its decimals and its price in micro USD, nil when unknown.
type entity struct {
	decimals int
	price    *big.Int
}

func parseAmount(s string) (*big.Int, error) { return amount.ParseBase(s) }

// value checks that what is taken is what was announced, and that it is explained by what is delivered and the fees
// (TH-Q5, Q6, Q11; protocol §3.5). promised is what the payments are released for, nil where they carry no terms.
func (j *judge) value(w api.Quote, legs []leg, promised map[caip.Asset]*big.Int, q *VerifiedQuote) {
	pay := paidBy(legs)
	if !j.originToken(w.OriginToken, legs, pay) {
		return
	}
	fees, ok := j.fees(w.Fees, pay)
	if !ok {
		return
	}
	j.legViews(legs, pay, fees, w, q)
	if w.Fees == nil {
		j.add(Unknown, "Q11", "The quote does not say its fees; they are part of what is paid.", "/fees", "", "")
		q.view.Fees, q.view.FeesMicro = nil, nil
	}
	paid, cost := j.sum(pay), j.sum(fees)
	if !j.must(cost.Cmp(paid) < 0, "Q11", "the fees are less than what is paid", "/fees/assets",
		"less than the payment", "more") {
		return
	}
	switch required, same := j.required(); {
	case same && w.Fees == nil:
		j.hiddenFees(paid, required, promised, q)
	case same:
		if promised != nil {
			j.allPromised(paid, cost, required, promised)
		}
		j.exactFlow(paid, cost, required, q)
	default:
		j.pricedFlow(promised, q)
	}
	// a call gets exactly what it requires
	q.view.MinimumCostMicro, q.view.MinimumCostBps = q.view.CostMicro, q.view.CostBps
	j.cost(q)
	words := j.callTypeOf(legs, promised)
	q.view.CallType, q.view.CallTypeWords = words, callTypeWords(words)
	if announced := q.prepared.prepared.callType; announced != words {
		j.add(Warn, "P4", "The way of paying differs from the one announced when the call was prepared.",
			"/originChainsOperations", announced, words)
	}
}

// paidBy sums payments by asset.
func paidBy(legs []leg) map[caip.Asset]*big.Int {
	pay := map[caip.Asset]*big.Int{}
	for _, l := range legs {
		if pay[l.asset] == nil {
			pay[l.asset] = new(big.Int)
		}
		pay[l.asset].Add(pay[l.asset], l.amount)
	}
	return pay
}

// originToken checks the announced sum against the sum of the operations (protocol §3.5).
func (j *judge) originToken(w api.OriginToken, legs []leg, pay map[caip.Asset]*big.Int) bool {
	want, decimals := j.in.Funding(), legs[0].entity.decimals
	if id, err := caip.ParseAggregate(want); err == nil {
		if agg, ok := j.Catalog.Aggregate(id); ok {
			decimals = agg.Decimals
		}
	} else {
		want = caip.Single.String()
	}
	j.must(w.AggregatedAssetID == want, "Q6", "the quote is paid with the asset that you chose",
		"/originToken/aggregatedAssetId", want, w.AggregatedAssetID)
	listed := map[caip.Asset]bool{}
	if !j.must(len(w.AssetType) <= len(legs), "Q6", "the listed assets match the operations",
		"/originToken/assetType", plural(len(pay), "asset"), plural(len(w.AssetType), "asset")) {
		return false
	}
	for i, s := range w.AssetType {
		a, err := caip.ParseAsset(s)
		j.must(err == nil && pay[a] != nil && !listed[a], "Q6", "the listed assets match the operations",
			"/originToken/assetType/"+strconv.Itoa(i), "an asset of an operation", s)
		listed[a] = true
	}
	j.must(len(listed) == len(pay), "Q6", "the listed assets match the operations", "/originToken/assetType",
		plural(len(pay), "asset"), plural(len(listed), "asset"))
	sum := amount.ScaleUp(j.sum(pay), fineDecimals, decimals)
	j.must(w.Amount == sum.String(), "Q5", "the announced payment is the sum of the operations", "/originToken/amount",
		sum.String(), w.Amount)
	return !j.refused()
}

// fees reads the announced fees; they must be in assets that pay.
func (j *judge) fees(w *api.Fees, pay map[caip.Asset]*big.Int) (map[caip.Asset]*big.Int, bool) {
	fees := map[caip.Asset]*big.Int{}
	if w == nil {
		return fees, true
	}
	for key, s := range w.Assets {
		a, err := caip.ParseAsset(key)
		v, errAmount := parseAmount(s)
		if !j.must(err == nil && errAmount == nil && pay[a] != nil &&
			fees[a] == nil, "Q11", "fees are amounts of the assets that pay", "/fees/assets",
			"an asset of an operation", key+" "+s) {
			return nil, false
		}
		fees[a] = v
	}
	return fees, true
}

// sum adds amounts of entities of one aggregate, to the unit (fine).
func (p Policy) sum(m map[caip.Asset]*big.Int) *big.Int {
	total := new(big.Int)
	for a, v := range m {
		e, _ := p.Catalog.Entity(a)
		total.Add(total, fine(v, e.Decimals))
	}
	return total
}

// required sums the requirements, to the unit, and reports false when one of them is not of the funding asset.
func (j *judge) required() (*big.Int, bool) {
	total := new(big.Int)
	for _, t := range j.in.Draft().TokensRequired {
		a, errAsset := caip.ParseAsset(t.AssetType)
		v, err := parseAmount(t.Amount)
		if err == nil && v.Sign() == 0 {
			continue // nothing of an asset needs no price
		}
		e, known := j.Catalog.Entity(a)
		same := e.Aggregate.String() == j.purpose(j.in.Funding())
		if errAsset != nil || err != nil || !known || !same {
			return nil, false
		}
		total.Add(total, fine(v, e.Decimals))
	}
	return total, true
}

// payable is the least that the funding asset can pay of a sum: where it counts coarser on one of its chains, that
// chain's next unit.
func (j *judge) payable(v *big.Int) *big.Int {
	_, coarsest, _ := j.units(j.in.Funding())
	return fine(amount.ScaleUp(v, fineDecimals, coarsest), coarsest)
}

// exactFlow: the same asset is paid and delivered, so what is taken minus the fees is what arrives and must not exceed
// what is required.
func (j *judge) exactFlow(paid, cost, required *big.Int, q *VerifiedQuote) {
	delivered := new(big.Int).Sub(paid, cost)
	j.must(delivered.Cmp(j.payable(required)) <= 0, "Q5", "no more is taken than what is required plus the fees",
		"/originToken/amount", "at most "+amount.Human(required, fineDecimals)+" plus fees",
		amount.Human(paid, fineDecimals))
	if short, known := missing(q.view.Needs); known && delivered.Cmp(j.payable(short)) > 0 {
		j.add(Warn, "Q5", "More is paid than the service said is missing.", "/originToken/amount",
			amount.Human(short, fineDecimals), amount.Human(delivered, fineDecimals))
	}
	price := j.fundingPrice()
	q.view.PayMicro = amount.Value(paid, fineDecimals, price)
	q.view.DeliverMicro = amount.Value(delivered, fineDecimals, price)
	q.view.CostMicro = amount.Value(cost, fineDecimals, price)
	q.view.CostBps = bpsOf(cost, paid)
	q.view.UnexplainedMicro, q.view.Explained = new(big.Int), true
}

// allPromised: the payments are released for all that they bring but the fees, up to what is required (TH-Q15).
func (j *judge) allPromised(paid, cost, required *big.Int, promised map[caip.Asset]*big.Int) {
	want, got := new(big.Int).Sub(paid, cost), j.sum(promised)
	if want.Cmp(required) > 0 {
		want = required // exactFlow bounds the rest
	}
	j.must(got.Cmp(want) == 0, "Q15", "all that is paid, except for the fees, is promised to arrive",
		"/originChainsOperations", amount.Human(want, fineDecimals), amount.Human(got, fineDecimals))
}

// hiddenFees: a quote of v1 names no fees, so all that is paid above what is promised is cost. Without a promise it is
// all above the requirement; whatever the account holds already makes the true cost higher, which is why it is unknown
// as soon as less is paid than required.
func (j *judge) hiddenFees(paid, required *big.Int, promised map[caip.Asset]*big.Int, q *VerifiedQuote) {
	price := j.fundingPrice()
	q.view.PayMicro, q.view.CostBps = amount.Value(paid, fineDecimals, price), -1
	switch short, known := missing(q.view.Needs); {
	case promised != nil:
		if required = j.sum(promised); required.Cmp(paid) > 0 {
			required = paid // no more than all of it can arrive of it
		}
	case known:
		required = short // what is there already need not be delivered
	}
	over := new(big.Int).Sub(paid, required)
	if over.Sign() < 0 {
		return
	}
	q.view.DeliverMicro, q.view.CostMicro = amount.Value(required, fineDecimals, price),
		amount.Value(over, fineDecimals, price)
	q.view.CostBps, q.view.UnexplainedMicro = bpsOf(over, paid), new(big.Int)
}

// missing sums what the needs lack, to the unit; false when one of them is unknown.
func missing(needs []NeedView) (*big.Int, bool) {
	total := new(big.Int)
	for _, n := range needs {
		if n.Short == nil || n.Need.Decimals < 0 {
			return nil, false
		}
		total.Add(total, fine(n.Short, n.Need.Decimals))
	}
	return total, len(needs) > 0
}

// pricedFlow: another asset is delivered, so catalogue prices have to explain the payment: by what is promised, else by
// what is required.
func (j *judge) pricedFlow(promised map[caip.Asset]*big.Int, q *VerifiedQuote) {
	// unknown fees count as none: they are part of the unexplained rest
	pay, fees := Sum(q.view.Pay), Sum(q.view.Fees)
	required := new(big.Int)
	for _, n := range q.view.Needs {
		switch {
		case n.Need.Amount.Sign() == 0 || required == nil:
		case n.Need.Micro == nil:
			required = nil
		default:
			required.Add(required, n.Need.Micro)
		}
	}
	if promised != nil {
		required = Sum(j.amounts(promised))
	}
	q.view.PayMicro, q.view.CostBps = pay, -1
	if !j.must(pay != nil && fees != nil && required != nil, "Q5", "the payment can be compared with what is delivered",
		"/originToken", "known prices", "a price is missing") {
		return
	}
	arrives := new(big.Int).Sub(pay, fees)
	q.view.UnexplainedMicro = new(big.Int)
	if arrives.Cmp(required) > 0 {
		q.view.UnexplainedMicro.Sub(arrives, required)
		arrives = required
	}
	q.view.DeliverMicro = arrives
	q.view.CostMicro = new(big.Int).Sub(pay, arrives)
	q.view.CostBps = bpsOf(q.view.CostMicro, pay)
	q.view.Explained = bpsOf(q.view.UnexplainedMicro, pay) <= j.WarnUnexplainedBps
	if !q.view.Explained {
		j.add(Warn, "Q5", "Part of the payment is explained neither by what is delivered nor by the fees.",
			"/originToken/amount", "at most "+percent(j.WarnUnexplainedBps),
			amount.USD2(q.view.UnexplainedMicro)+" USD")
	}
}

// Sum adds the values in micro USD; nil when one is unknown.
func Sum(list []AmountView) *big.Int {
	total := new(big.Int)
	for _, a := range list {
		if a.Micro == nil {
			return nil
		}
		total.Add(total, a.Micro)
	}
	return total
}

// cost compares what is lost if no more than the minimum arrives with the limits (TH-Q11). A share of the payment is
// bounded, but not below a sum that small payments cost anyway.
func (j *judge) cost(q *VerifiedQuote) {
	v := q.view
	if (v.PayMicro == nil || v.MinimumCostMicro == nil) && !j.sendsItself() { // which costs Solana's fee
		level, reason := Unknown, "a price is missing, or the fees are not named"
		if why := j.unpriced(v.valued()); why != "" {
			level, reason = Warn, why
		}
		j.add(level, "Q11", "What this costs in dollars is unknown: "+reason+".", "/fees", "", "")
	}
	above := func(bps int, floor *big.Int) bool {
		return v.MinimumCostBps > bps && (v.MinimumCostMicro == nil || floor == nil ||
			v.MinimumCostMicro.Cmp(floor) > 0)
	}
	got := percent(max(v.MinimumCostBps, 0)) + " of the payment"
	if v.MinimumCostMicro != nil {
		got += ", " + usd(v.MinimumCostMicro)
	}
	limit := max(j.RefuseCostBps, j.Limits.AllowCostBps)
	switch {
	case above(limit, j.RefuseCostFloor):
		j.add(Refuse, "Q11", "The quote costs far more than it delivers. A higher max_cost_bps of your policy file, "+
			"or --max-cost-bps, allows it on purpose.", "/fees",
			costBound(limit, j.RefuseCostFloor), got)
	case above(j.WarnCostBps, j.WarnCostFloor):
		j.add(Warn, "Q11", "The quote costs much for what it delivers.", "/fees",
			costBound(j.WarnCostBps, j.WarnCostFloor), got)
	case v.MinimumCostBps >= 0:
		j.pass("Q11", "the cost is in proportion")
	}
}

func costBound(bps int, floor *big.Int) string {
	if floor == nil {
		return "at most " + percent(bps)
	}
	return "at most " + percent(bps) + ", or " + usd(floor)
}

func (j *judge) fundingPrice() *big.Int {
	if a, err := caip.ParseAsset(j.in.Funding()); err == nil {
		return j.Catalog.Price(a)
	}
	id, err := caip.ParseAggregate(j.in.Funding())
	if err != nil {
		return nil
	}
	agg, _ := j.Catalog.Aggregate(id)
	return agg.PriceMicroUSD
}

// callTypeOf names the way of paying by the operations themselves (protocol §3.1).
func (j *judge) callTypeOf(legs []leg, promised map[caip.Asset]*big.Int) string {
	if !slices.ContainsFunc(legs, func(l leg) bool { return l.role.chainID != j.in.ChainID() }) {
		return api.CallSameChainWithSolver
	}
	if j.swaps(promised) {
		return api.CallCrossChainSwaps
	}
	return api.CallCrossChain
}

// swaps reports whether another asset than the one that pays is delivered: by what the payments are released for, as
// a required token that is on the chain already needs none, else by what is required.
func (j *judge) swaps(promised map[caip.Asset]*big.Int) bool {
	if promised == nil {
		_, same := j.required()
		return !same
	}
	for a := range promised {
		if e, known := j.Catalog.Entity(a); !known || e.Aggregate.String() != j.purpose(j.in.Funding()) {
			return true
		}
	}
	return false
}

// legViews fills the parts of the view that come from the operations and the fees.
func (j *judge) legViews(legs []leg, pay, fees map[caip.Asset]*big.Int, w api.Quote, q *VerifiedQuote) {
	for _, l := range legs {
		q.view.Legs = append(q.view.Legs, j.legView(l))
	}
	q.view.Pay, q.view.Fees = j.amounts(pay), j.amounts(fees)
	q.view.FeesMicro = Sum(q.view.Fees)
	if w.Fees != nil && reDecimal.MatchString(w.Fees.CumulativeUSD) {
		q.view.FeeUSD = w.Fees.CumulativeUSD
	}
}

// legView shows one operation that pays.
func (p Policy) legView(l leg) LegView {
	v := LegView{Pays: p.amountView(l.asset, l.amount), OpHash: l.verified.Hash(), AccountType: l.verified.summary.Kind}
	if l.solana != nil {
		info := p.Catalog.Solana()
		v.Chain = ChainLabel{CAIP: info.Chain.String(), Name: info.Name, Short: info.Short}
		v.Solana, v.Escrow, v.Until = l.solana, p.Network.Pins.SolanaVault, time.Unix(l.verified.summary.ValidUntil, 0)
		return v
	}
	v.Chain, v.Deploys, v.Nonce = p.chainLabel(l.role.chainID), l.userOp.Factory != nil, l.userOp.Nonce.String()
	v.Delegation, v.Escrow, v.Parts = p.delegationView(l.verified), l.escrow.Hex(), l.parts
	if l.deadline != 0 {
		v.RefundAfter = time.Unix(int64(l.deadline), 0)
	}
	if !l.endless {
		v.Until = l.window.view().Until
	}
	return v
}

func (p Policy) amounts(m map[caip.Asset]*big.Int) []AmountView {
	out := make([]AmountView, 0, len(m))
	for a, v := range m {
		out = append(out, p.amountView(a, v))
	}
	sort.Slice(out, func(i, k int) bool { return out[i].Asset.String() < out[k].Asset.String() })
	return out
}

// needs compares the requirements with the balances that the service named when it prepared the call.
func (p Policy) needs(d intent.Draft, prepared *PreparedOp) []NeedView {
	var out []NeedView
	for _, t := range p.listed(d) {
		a, _ := caip.ParseAsset(t.AssetType)
		v, _ := parseAmount(t.Amount) // as it was frozen
		n := NeedView{Need: p.amountView(a, v)}
		if e, ok := p.Catalog.Entity(a); ok && e.Aggregate.String() == prepared.funding {
			n.Have = new(big.Int) // the service lists every usable entity of the funding asset
		}
		for _, s := range prepared.sources {
			if s.Asset == a {
				n.Have = new(big.Int).Set(s.Amount)
			}
		}
		if n.Have != nil {
			n.Short = new(big.Int).Sub(v, n.Have)
			if n.Short.Sign() < 0 {
				n.Short.SetInt64(0)
			}
		}
		out = append(out, n)
	}
	return out
}
