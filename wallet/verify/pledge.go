package verify

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
)

// Pledge is what one signature of a quote under way takes of an asset: a payment, or what a call uses of what is on its
// chain already. All of it is from what the wallet itself signed and recorded. Nonce is the full one of the operation;
// nil and no time of signing for the call under review.
type Pledge struct {
	Account common.Address
	Asset   caip.Asset
	Amount  *big.Int
	Nonce   *big.Int
	Signed  time.Time
}

// SeenPledged begins the note about a difference that pledges explain. Figures follow the colon.
const SeenPledged = "Your node sees another balance than the service states, and your own operations explain it: "

// mostSums bounds in how many ways pledges are added up. Beyond it they explain nothing.
const mostSums = 4096

// Promised is what is delivered to an account on the target chain before the calls of a quote run, by the terms that
// its deposits were signed with. quote is the document as it was received and signed; one that cannot be read promises
// nothing.
func Promised(quote []byte, account common.Address, target caip.Asset) *big.Int {
	none := new(big.Int)
	var q api.Quote
	doc, err := api.ParseDocument(quote, api.DefaultLimits())
	if err != nil || doc.Decode(&q) != nil {
		return none
	}
	for _, o := range q.OriginChainsOperations {
		if o.UserOp == nil {
			continue
		}
		calls, err := op.DecodeExecute(common.FromHex(o.UserOp.CallData))
		if err != nil {
			continue
		}
		for _, c := range calls {
			if _, t, ok := escrow.DecodeDeposit(c.Data); ok && caip.EVM(t.TargetChain) == target.Chain {
				return promised(t, account, target) // the terms are the same in every deposit
			}
		}
	}
	return none
}

func promised(t escrow.Terms, account common.Address, target caip.Asset) *big.Int {
	sum := new(big.Int)
	for _, m := range t.Minimums {
		if m.Token == target.Word() && m.To == escrow.Padded(account) {
			sum.Add(sum, m.Amount)
		}
	}
	return sum
}

// explanation is which pledges make up a difference, and their sum: what the service states less, or, below zero, more.
type explanation struct {
	sum *big.Int
	of  []Pledge
}

// explanations are the ways in which quotes under way can make a service state another balance of an asset than the
// nodes see, one for each sum. The service leaves out what is pledged until it knows that it was taken, and may learn
// that before the nodes do or after: each pledge is counted once or not at all. One whose nonce the nodes see used has
// left the balance that they see, and a service that has not seen it yet states it on top.
func explanations(s Sight, a caip.Asset, pledges []Pledge) []explanation {
	out := []explanation{{sum: new(big.Int)}}
	known := map[string]bool{"0": true}
	for _, p := range pledges {
		if p.Asset != a || p.Account != s.Account || p.Amount.Sign() <= 0 {
			continue
		}
		steps := []*big.Int{p.Amount}
		if used(s, p.Nonce) {
			steps = append(steps, new(big.Int).Neg(p.Amount))
		}
		for _, e := range out { // those before this pledge
			for _, step := range steps {
				sum := new(big.Int).Add(e.sum, step)
				if !known[sum.String()] {
					known[sum.String()] = true
					out = append(out, explanation{sum, append(slices.Clone(e.of), p)})
				}
			}
		}
		if len(out) > mostSums {
			return nil
		}
	}
	return out[1:]
}

// used reports whether the nodes see that the operation with a nonce has run, or another one in its place.
func used(s Sight, nonce *big.Int) bool {
	if nonce == nil {
		return false
	}
	n, err := op.ParseNonce(nonce)
	i := slices.IndexFunc(s.Keys, func(k *big.Int) bool { return err == nil && k.Cmp(n.Key192()) == 0 })
	return i >= 0 && i < len(s.Next) && s.Next[i] != nil && s.Next[i].Cmp(nonce) > 0
}

// exactly is how quotes under way explain that a balance is stated as said where the nodes see has.
func exactly(s Sight, a caip.Asset, has, said *big.Int, pledges []Pledge) (explanation, bool) {
	less := new(big.Int).Sub(has, said)
	for _, e := range explanations(s, a, pledges) {
		if e.sum.Cmp(less) == 0 {
			return e, true
		}
	}
	return explanation{}, false
}

// leavesLittle is how quotes under way explain that a balance is left out where the nodes see has: what they leave of
// it may be left out. The one with the smallest sum counts.
func (p Policy) leavesLittle(s Sight, a caip.Asset, has *big.Int, pledges []Pledge) (least explanation, ok bool) {
	for _, e := range explanations(s, a, pledges) {
		rest := new(big.Int).Sub(has, e.sum)
		if rest.Sign() >= 0 && Slight(p.amountView(a, rest)) && (!ok || e.sum.Cmp(least.sum) < 0) {
			least, ok = e, true
		}
	}
	return least, ok
}

// because says what an explanation is made of.
func (p Policy) because(e explanation, a caip.Asset) string {
	what := " of it is kept for "
	if e.sum.Sign() < 0 {
		what = " was just taken by "
	}
	var by []string
	for _, x := range e.of {
		words := "what you signed at " + clockText(x.Signed)
		if x.Signed.IsZero() {
			words = "this call"
		}
		if !slices.Contains(by, words) {
			by = append(by, words)
		}
	}
	return p.human(a, new(big.Int).Abs(e.sum)) + what + strings.Join(by, " and ")
}

// takes are what the calls under review take of what they do not require: a service that lets the same asset pay for
// them leaves that out of what can pay.
func (v PreparedView) takes() (out []Pledge) {
	for _, a := range v.Outflow {
		if !slices.ContainsFunc(v.Requires, func(r AmountView) bool { return r.Asset == a.Asset }) {
			out = append(out, Pledge{Account: common.HexToAddress(v.Sender), Asset: a.Asset, Amount: a.Amount})
		}
	}
	return out
}
