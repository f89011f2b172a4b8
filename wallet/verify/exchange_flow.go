package verify

import (
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/intent"
)

// fineDecimals is a number of decimals that every asset of the catalogue can be written in exactly.
const fineDecimals = 18

// fine writes an amount in fineDecimals, so that amounts of one asset on several chains can be added and compared to
// the unit.
func fine(v *big.Int, decimals int) *big.Int { return amount.Scale(v, decimals, fineDecimals) }

// trade checks that exactly what the user chose is paid, and that it is explained by what arrives and the fees (TH-Q5,
// Q6, Q11; protocol §3.5, §3.7).
func (j *judge) trade(w api.Quote, legs []leg, q *VerifiedQuote) {
	pay := paidBy(legs)
	if !j.originToken(w.OriginToken, legs, pay) {
		return
	}
	fees, ok := j.fees(w.Fees, pay)
	if !ok {
		return
	}
	j.legViews(legs, pay, fees, w, q)
	paid := j.sum(pay)
	if !j.chosen(paid, q.view.Delivered.Decimals) {
		return
	}
	if !j.must(j.sum(fees).Cmp(paid) < 0, "Q11", "the fees are less than what is paid", "/fees/assets",
		"less than the payment", "more") {
		return
	}
	if w.Fees == nil {
		j.add(Unknown, "Q11", "The quote does not say its fees; they are part of what is paid.", "/fees", "", "")
		fees, q.view.Fees, q.view.FeesMicro = nil, nil, nil
	}
	if j.in.Kind() == intent.KindTransfer {
		j.sent(paid, fees, q)
	} else {
		j.swapped(fees, q)
	}
	j.cost(q)
}

// chosen: a swap or a transfer pays exactly what the user named. What the coarsest chain cannot express stays where it
// is; a transfer also has to arrive to the unit, in the given decimals.
func (j *judge) chosen(paid *big.Int, arrives int) bool {
	pay := j.in.Draft().Pay
	v, err := parseAmount(pay.Amount)
	units, coarsest, ok := j.units(pay.Asset)
	if !j.must(err == nil && ok, "Q5", "what you pay can be compared", "/originToken/amount", pay.Amount, "unknown") {
		return false
	}
	if j.in.Kind() == intent.KindTransfer {
		coarsest = min(coarsest, arrives)
	}
	rest := new(big.Int).Sub(fine(v, units), paid)
	grain := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(fineDecimals-min(units, coarsest))), nil)
	exact := rest.Sign() == 0 || (coarsest < units && rest.Sign() > 0 && rest.Cmp(grain) < 0)
	return j.must(exact, "Q5", "exactly what you chose is paid", "/originToken/amount",
		amount.Human(fine(v, units), fineDecimals), amount.Human(paid, fineDecimals))
}

// units are the decimals in which an amount of a named asset is written, and the fewest that any of its chains has.
func (p Policy) units(name string) (units, coarsest int, ok bool) {
	if a, err := caip.ParseAsset(name); err == nil {
		e, known := p.Catalog.Entity(a)
		return e.Decimals, e.Decimals, known
	}
	id, _ := caip.ParseAggregate(name) // what is none is unknown to the catalogue
	aggregate, known := p.Catalog.Aggregate(id)
	coarsest = aggregate.Decimals
	for _, e := range aggregate.Entities {
		coarsest = min(coarsest, e.Decimals)
	}
	return aggregate.Decimals, coarsest, known
}

// sent: the same asset is paid and delivered, so what is paid arrives, except for the fees. Without named fees, as in
// v1, all that does not arrive is cost.
func (j *judge) sent(paid *big.Int, fees map[caip.Asset]*big.Int, q *VerifiedQuote) {
	const title = "what is paid arrives, except for the fees"
	to := q.view.Delivered
	arrives := fine(to.Amount, to.Decimals)
	cost := new(big.Int).Sub(paid, arrives)
	named := cost
	if fees != nil {
		named = j.sum(fees)
	}
	ok := cost.Sign() >= 0 && named.Cmp(cost) == 0
	if !j.must(ok, "Q5", title, "/destinationToken/amount", amount.Human(new(big.Int).Sub(paid, named), fineDecimals),
		amount.Human(arrives, fineDecimals)) {
		return
	}
	price := j.fundingPrice()
	v := &q.view
	v.PayMicro, v.DeliverMicro, v.CostMicro = amount.Value(paid, fineDecimals, price),
		amount.Value(arrives, fineDecimals, price), amount.Value(cost, fineDecimals, price)
	v.CostBps, v.UnexplainedMicro, v.Explained = bpsOf(cost, paid), new(big.Int), fees != nil
	atMinimum := new(big.Int).Sub(paid, fine(v.Minimum.Amount, v.Minimum.Decimals))
	v.MinimumCostMicro, v.MinimumCostBps = amount.Value(atMinimum, fineDecimals, price), bpsOf(atMinimum, paid)
}

// swapped: another asset is delivered, so catalogue prices have to explain the payment. Where one is missing only the
// user's own minimum protects, and without that nothing does.
func (j *judge) swapped(fees map[caip.Asset]*big.Int, q *VerifiedQuote) {
	v := &q.view
	v.PayMicro, v.DeliverMicro, v.CostBps, v.MinimumCostBps = Sum(v.Pay), v.Delivered.Micro, -1, -1
	feesMicro := Sum(j.amounts(fees)) // fees that nobody names are part of the unexplained rest
	if v.PayMicro == nil || v.DeliverMicro == nil || feesMicro == nil {
		v.Explained = false
		bounded := j.in.Draft().Receive.Minimum != ""
		j.must(bounded, "Q5", "the payment can be compared with what is delivered", "/originToken",
			"known prices, or your own minimum", "a price is missing")
		return
	}
	v.CostMicro = atLeastZero(new(big.Int).Sub(v.PayMicro, v.DeliverMicro))
	v.CostBps = bpsOf(v.CostMicro, v.PayMicro)
	// of the same asset as what is delivered, so its price is known, too
	v.MinimumCostMicro = atLeastZero(new(big.Int).Sub(v.PayMicro, v.Minimum.Micro))
	v.MinimumCostBps = bpsOf(v.MinimumCostMicro, v.PayMicro)
	v.UnexplainedMicro = atLeastZero(new(big.Int).Sub(v.CostMicro, feesMicro))
	v.Explained = bpsOf(v.UnexplainedMicro, v.PayMicro) <= j.WarnUnexplainedBps
	if !v.Explained {
		j.add(Warn, "Q5", "Part of the payment is explained neither by what is delivered nor by the fees.",
			"/originToken/amount", "at most "+percent(j.WarnUnexplainedBps), amount.USD2(v.UnexplainedMicro)+" USD")
	}
}

func atLeastZero(v *big.Int) *big.Int {
	if v.Sign() < 0 {
		v.SetInt64(0)
	}
	return v
}
