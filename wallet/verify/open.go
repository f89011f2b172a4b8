package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/network"
	"coffer/wallet/intent"
)

// Open is a signature of an earlier operation that can still be used, as the journal has it. Chain is CAIP-2, Sender 0x
// or base58, Nonce in decimal ("" for a Solana message, whose place is Hash). Sent: it may have left this machine;
// Tried: so may a request to execute its operation. Ran and Nothing are what the service said of it, which proves
// nothing; Running: the service accepted it and has not ended it. Ends is when it certainly cannot be used any more
// (zero: no time ends it), Spend what it can move, Intent the intent of its operation as JSON.
type Open struct {
	Operation, Hash, Role, Chain, Sender, Nonce string

	Made, Ends time.Time
	Sent       bool
	Tried      bool
	Ran        bool
	Nothing    bool
	Running    bool
	// its time is over, less than a day ago: it cannot start to run any more, but nothing proves that it did not
	Past   bool
	Spend  []Spend
	Intent []byte
}

// believes reports whether the service's word ends a signature: only where service and wallet are one program.
func (p Policy) believes() bool { return p.Network.Kind == network.Embedded }

// takes reports whether an operation takes the place of an open signature, so that only one of the two can ever run.
func (s Signing) takes(x Open) bool {
	m := s.summary
	if x.Nonce == "" || m.Nonce == "" {
		return x.Nonce == m.Nonce && x.Hash == s.Hash()
	}
	return x.Chain == m.Chain && x.Nonce == m.Nonce && common.HexToAddress(x.Sender) == common.HexToAddress(m.Sender)
}

// standing is what may stand beside an operation: repeats holds what it could double, others what the service said came
// to nothing, or of which the outcome is not known. replaced are those in whose place it is signed, again those that it
// repeats and that the service says ran, past those that it repeats and whose time is over without a proof that they
// did not run.
type standing struct{ repeats, others, replaced, again, past []Open }

// stand sorts the open signatures of other operations. Payments for a call count when payments are judged: without
// their call they move nothing to anybody else, and a prepared call takes the place of an earlier one or is judged
// beside it. What the service says ran is taken to have run, as the person was told.
func (p Policy) stand(in intent.Intent, h History, now time.Time, payments bool, ops []Signing) standing {
	var out standing
	for _, x := range h.Open(now) {
		replaced := slices.ContainsFunc(ops, func(s Signing) bool { return s.takes(x) })
		switch {
		case x.Past:
			if x.Sent && !x.Ran && !replaced && p.repeats(in.Draft(), x.Intent) {
				out.past = append(out.past, x)
			}
		case replaced:
			out.replaced = append(out.replaced, x)
		case !x.Sent, x.Role == RoleFunding && !payments:
		case p.repeats(in.Draft(), x.Intent) && x.Ran:
			out.again = append(out.again, x)
		case x.Ran:
		case p.repeats(in.Draft(), x.Intent):
			out.repeats = append(out.repeats, x)
		case x.Nothing || x.Tried && !x.Running:
			out.others = append(out.others, x)
		}
	}
	return out
}

// all names what stands beside.
func (s standing) all() []string {
	var out []string
	for _, x := range slices.Concat(s.repeats, s.others) {
		out = append(out, x.Hash)
	}
	return out
}

// beside judges an operation beside the open signatures of others (TH-J4): a repeat of what may still run stands behind
// a gate, anything else is warned about. Both say the sum, and until when waiting settles it. next is what the
// operation signs, signed what was signed for it before. It returns what stood beside.
func (j *judge) beside(next []Signing, signed ...Signing) []string {
	s := j.stand(j.in, j.h, j.now, j.in.Kind() != intent.KindCall ||
		len(signed) > 0, append(slices.Clone(next), signed...))
	j.replaces(s.replaced)
	if len(s.again) > 0 {
		j.add(Show, "J4", "This repeats what you signed on "+made(s.again)+". The service says that it ran; "+
			j.figures(j.openSum(s.again))+" of it can still be taken if it did not. "+untilWhen(s.again), "", "", "")
	}
	if len(s.past) > 0 {
		j.add(Warn, "J4", "This repeats what you signed on "+made(s.past)+
			". That has ended, but it may have run before: only the service says that it did not. "+
			j.figures(j.openSum(s.past))+" may have left already; look at the chain first.", "",
			"nothing that this repeats", saidOf(s.past))
	}
	if len(s.repeats)+len(s.others) == 0 {
		return nil
	}
	open := slices.Concat(s.repeats, s.others)
	could, mine := j.openSum(open), j.signedSum(append(slices.Clone(next), signed...))
	words := fmt.Sprintf("%s can still be taken, and this can move %s: %s in all. %s", j.figures(could),
		j.figures(mine), j.figures(j.addAmounts(could, mine)), untilWhen(open))
	if len(s.repeats) > 0 {
		j.gate(GateOpenRepeat, "J4", "This repeats what you signed on "+made(s.repeats)+
			", which can still run: you could pay twice. "+words, "", "nothing open that this repeats",
			saidOf(s.repeats))
	} else {
		j.add(Warn, "J4", "What you signed on "+made(s.others)+" can still run beside this. "+words, "", "nothing open",
			saidOf(s.others))
	}
	return s.all()
}

// replaces says which open signatures lose their place. Of one that the service said had run, its two answers
// contradict each other.
func (j *judge) replaces(list []Open) {
	for i, x := range list {
		if slices.ContainsFunc(list[:i], func(y Open) bool { return y.Nonce == x.Nonce && y.Chain == x.Chain }) {
			continue
		}
		text := "This replaces the open signature of " + clockText(x.Made) +
			": both have the same nonce, so only one of them can ever run."
		if x.Ran {
			j.add(Warn, "U3", text+" The service said that the earlier one ran; then this one never can.", "", "",
				x.Chain)
			continue
		}
		j.add(Show, "U3", text, "", "", x.Chain)
	}
}

// made is when the signatures were made, the first of them.
func made(list []Open) string {
	first := list[0].Made
	for _, x := range list {
		if x.Made.Before(first) {
			first = x.Made
		}
	}
	return clockText(first)
}

func clockText(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04:05 UTC") }

// saidOf is what the service said of them.
func saidOf(list []Open) string {
	said, silent := false, false
	for _, x := range list {
		said, silent = said || x.Nothing, silent || !x.Nothing
	}
	switch {
	case said && silent:
		return "the service says that nothing came of a part; the outcome of the rest is not known"
	case said:
		return "the service says that nothing came of it; nothing on this machine proves that"
	}
	return "its outcome is not known"
}

// untilWhen says when the last of the open signatures has ended.
func untilWhen(list []Open) string {
	var last time.Time
	for _, x := range list {
		if x.Ends.IsZero() {
			return "It never expires: void it (`coffer activity void`) once you know that it cannot be used."
		}
		if x.Ends.After(last) {
			last = x.Ends
		}
	}
	return "After " + clockText(last) + " it cannot start to run any more."
}

// openSum is what open signatures can move, by asset. Of those in one place only one can run: they count with the
// largest amount of each asset.
func (p Policy) openSum(list []Open) []AmountView {
	var out []AmountView
	places := map[string][]AmountView{}
	var order []string
	for _, x := range list {
		at := x.Chain + " " + strings.ToLower(x.Sender) + " " + x.Nonce
		if x.Nonce == "" {
			at = x.Hash
		}
		if _, ok := places[at]; !ok {
			order = append(order, at)
		}
		var one []AmountView
		for _, s := range x.Spend {
			one = append(one, p.amountView(s.Asset, s.Amount))
		}
		places[at] = p.maxAmounts(places[at], one)
	}
	for _, at := range order {
		out = p.addAmounts(out, places[at])
	}
	return out
}

// signedSum is what operations can move, by asset.
func (p Policy) signedSum(list []Signing) []AmountView {
	var out []AmountView
	for _, s := range list {
		out = p.addAmounts(out, s.summary.Spend)
	}
	return out
}

// addAmounts adds amounts by asset.
func (p Policy) addAmounts(a, b []AmountView) []AmountView {
	return p.mergeAmounts(a, b, func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) })
}

// maxAmounts keeps of each asset the larger amount.
func (p Policy) maxAmounts(a, b []AmountView) []AmountView {
	return p.mergeAmounts(a, b, func(x, y *big.Int) *big.Int {
		if x.Cmp(y) < 0 {
			return y
		}
		return x
	})
}

func (p Policy) mergeAmounts(a, b []AmountView, of func(x, y *big.Int) *big.Int) []AmountView {
	out := slices.Clone(a)
	for _, v := range b {
		i := slices.IndexFunc(out, func(x AmountView) bool { return x.Asset == v.Asset })
		if i < 0 {
			out = append(out, v)
			continue
		}
		out[i] = p.amountView(v.Asset, of(out[i].Amount, v.Amount))
	}
	return out
}

// figures writes amounts in figures, those of one symbol together, with their value where every price is known.
func (p Policy) figures(list []AmountView) string {
	var order, out []string
	sums := map[string]*big.Int{}
	decimals := map[string]int{}
	for _, a := range list {
		switch at := a.Symbol; {
		case a.Amount.Sign() == 0:
		case a.Decimals < 0:
			out = append(out, p.human(a.Asset, a.Amount))
		case sums[at] == nil:
			order, sums[at], decimals[at] = append(order, at), new(big.Int).Set(a.Amount), a.Decimals
		default:
			d := max(decimals[at], a.Decimals)
			sums[at], decimals[at] = new(big.Int).Add(amount.Scale(sums[at], decimals[at], d),
				amount.Scale(a.Amount, a.Decimals, d)), d
		}
	}
	for i, at := range order {
		out = slices.Insert(out, i, amount.Human(sums[at], decimals[at])+" "+at)
	}
	if len(out) == 0 {
		return "nothing of a known value"
	}
	text := strings.Join(out, " and ")
	if total, _ := p.inUSD(list); total != nil {
		text += " ($" + amount.Group(amount.USD2(total)) + ")"
	}
	return text
}

// Unseen reports whether something could stand beside the operation now that did not when it was judged: another
// operation was signed in between.
func (p *PreparedOp) Unseen(rules Policy, in intent.Intent, h History, now time.Time) bool {
	return unseen(rules.stand(in, h, now, false, []Signing{p.signing}), p.stood)
}

// Unseen is the same for what a quote signs.
func (q *VerifiedQuote) Unseen(rules Policy, in intent.Intent, h History, now time.Time) bool {
	if len(q.operations) == 0 {
		return false
	}
	return unseen(rules.stand(in, h, now, true, q.signs()), q.stood)
}

func unseen(s standing, stood []string) bool {
	return slices.ContainsFunc(s.all(), func(hash string) bool { return !slices.Contains(stood, hash) })
}
