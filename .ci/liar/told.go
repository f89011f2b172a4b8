package liar

import (
	"context"
	"math/big"
	"time"

	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/verify"
)

// agreed is what the person confirmed for one operation: the worst case that the reviews stated, and the same by the
// place in the account's sequence that each signature takes. Hashes are the operations whose signatures were agreed to.
type agreed struct {
	worst  Sums
	places map[string]Sums
	hashes map[string]bool
}

func (p *Person) agreed(id string) *agreed {
	if p.Confirmed[id] == nil {
		p.Confirmed[id] = &agreed{worst: Sums{}, places: map[string]Sums{}, hashes: map[string]bool{}}
	}
	return p.Confirmed[id]
}

// place is what only one operation can take: the hash stands for a Solana message, which has no nonce.
func place(chain, nonce, hash string) string {
	if nonce == "" {
		return chain + " " + hash
	}
	return chain + " " + nonce
}

func (a *agreed) takes(place string, hash string, v Sums) {
	a.hashes[hash] = true
	if a.places[place] == nil {
		a.places[place] = Sums{}
	}
	a.places[place].atLeast(v)
}

// review1 reads the first review: signs, looks again, or leaves.
func (p *Person) review1(ctx context.Context, o *flow.Operation) {
	s := o.Snapshot()
	p.figures(s)
	switch n := p.dice.IntN(100); {
	case n < 6:
		_, _ = o.Prepare(ctx)
		return
	case n < 10:
		p.abandon(o)
		return
	}
	v := s.Review1
	a := p.agreed(s.ID)
	a.worst.atLeast(sumOf(v.Worst))
	a.takes(place(v.Chain.CAIP, v.Nonce, v.OpHash), v.OpHash, sumOf(v.Worst))
	p.pen.for_ = a
	_, _ = o.SignPrepared(ctx, consents(s, false))
	p.pen.for_ = nil
}

// review2 reads the second review: pays, asks for another quote, waits, or leaves.
func (p *Person) review2(ctx context.Context, o *flow.Operation) {
	s := o.Snapshot()
	p.figures(s)
	if s.Err != nil && p.dice.chance(40) { // the service refused: comes back later, when a new quote is needed
		p.clock.Advance(time.Duration(2+p.dice.IntN(12)) * time.Minute)
		p.requote(ctx, o)
		return
	}
	switch n := p.dice.IntN(100); {
	case n < 8:
		p.requote(ctx, o)
		return
	case n < 12:
		p.clock.Advance(time.Duration(p.dice.IntN(70)) * time.Second)
		return
	case n < 15:
		p.abandon(o)
		return
	}
	v := s.Review2
	a := p.agreed(s.ID)
	a.worst.atLeast(sumOf(v.Worst))
	for _, l := range v.Legs {
		a.takes(place(l.Chain.CAIP, l.Nonce, l.OpHash), l.OpHash, sumOf([]verify.AmountView{l.Pays}))
	}
	p.pen.for_ = a
	_, _ = o.Execute(ctx, consents(s, true), nil)
	p.pen.for_ = nil
}

// consents agrees to a review whatever it warns of and types the sentence of every gate, as the most careless person
// could.
func consents(s flow.Snapshot, quote bool) consent.Consent {
	r := s.Under(quote)
	var codes []string
	for _, x := range r.Report.Reasons {
		codes = append(codes, x.Code)
	}
	c, err := consent.ByPolicy(r, codes, []string{r.Phrase()})
	if err != nil {
		return consent.Consent{} // nothing can be signed; the flow refuses it
	}
	return c
}

// figures looks at every figure of the reviews: one without an amount is never a zero in disguise.
func (p *Person) figures(s flow.Snapshot) {
	check := func(where string, list ...verify.AmountView) {
		for _, a := range list {
			if a.Amount == nil {
				p.problem("unknown", "%s: an amount of %s that is neither known nor said to be unknown", where, a.Asset)
			}
			if a.Micro != nil && a.Micro.Sign() == 0 && a.Amount != nil && a.Amount.Cmp(big.NewInt(1e12)) > 0 {
				p.problem("unknown", "%s: %s of %s is told to be worth nothing", where, a.Amount, a.Asset)
			}
		}
	}
	if v := s.Review1; v != nil {
		check("review 1", append(append(v.Outflow, v.Requires...), v.Sources...)...)
	}
	if v := s.Review2; v != nil {
		check("review 2", append(v.Pay, v.Fees...)...)
		for _, n := range v.Needs {
			check("review 2", n.Need)
		}
		if v.CostMicro == nil && v.PayMicro != nil && v.CostBps == 0 {
			p.problem("unknown", "review 2: an unknown cost is told as 0 %%")
		}
	}
}

// look reads balances and lists as a screen does. What the checks let pass must be what the answer says; a figure that
// is not there must be told.
func (p *Person) look(ctx context.Context) {
	b, err := p.client.Balances(ctx, client.BalanceQuery{
		Accounts: p.user.Asked(), Aggregates: []string{"ob:usdc", "ob:eth"},
	})
	if err != nil {
		return
	}
	report := verify.Balances(p.catalog, b)
	for i, agg := range b.BalanceByAggregatedAsset {
		if _, ok := new(big.Int).SetString(agg.Balance, 10); !ok && !report.Refused() {
			p.problem("unknown", "balances: line %d has the figure %q and passed", i, agg.Balance)
		}
	}
	p.lists(ctx)
}

// lists reads the lists of chains and assets: what the wallet takes from them is what it knows itself.
func (p *Person) lists(ctx context.Context) {
	if assets, err := p.client.Assets(ctx); err == nil {
		list, _ := verify.Assets(p.catalog, nil, assets)
		for id := range list.First {
			if a, err := caip.ParseAsset(id); err == nil {
				if _, known := p.catalog.Entity(a); known {
					p.problem("unknown", "%s of the wallet's own list is taken from the service", id)
				}
			}
		}
	}
	if chains, err := p.client.Chains(ctx); err == nil {
		list, _ := verify.Chains(p.catalog, chains)
		for _, c := range list {
			if _, known := p.catalog.Chain(c.Chain); !known {
				p.problem("unknown", "a chain that the wallet does not know is listed: %s", c.Chain)
			}
		}
	}
}

// track is what became of one signature in the wallet's own telling. Gone is when it left the list of open signatures,
// zero while it is there.
type track struct {
	signature journal.Signature
	operation string
	state     flow.State
	gone      time.Time
}

// observe notes which of the signatures the wallet still lists.
func (p *Person) observe() {
	now := p.clock.Now()
	open := map[string]bool{}
	for _, x := range p.journal.Outstanding(now) {
		open[x.OpHash] = true
	}
	for _, rec := range p.journal.Operations() {
		for _, s := range rec.Signatures {
			t := p.watched[s.OpHash]
			if t == nil {
				t = &track{operation: rec.ID}
				p.watched[s.OpHash] = t
			}
			t.signature = s
			switch {
			case open[s.OpHash]:
				t.gone = time.Time{}
			case t.gone.IsZero():
				t.gone, t.state = now, flow.State(rec.Outcome)
			}
		}
	}
}

// pen signs and notes. A signature outside a confirmed review, or of something else than the review showed, is a
// problem.
type pen struct {
	inner  flow.Signer
	person *Person
	for_   *agreed // the review that is confirmed now
	polls  int
}

// signs notes a signature of an operation with this hash, "" when the verb does not tell it.
func (n *pen) signs(what, hash string) {
	n.person.Signed++
	switch {
	case n.for_ == nil:
		n.person.problem("unconfirmed", "%s %s was signed while no review was confirmed", what, hash)
	case hash != "" && !n.for_.hashes[hash]:
		n.person.problem("unconfirmed", "%s %s was signed, no confirmed review shows it", what, hash)
	}
}

// SignUserOp is part of flow.Signer.
func (n *pen) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error) {
	n.signs("operation", v.OpHash().Hex())
	return n.inner.SignUserOp(ctx, v)
}

// SignApprove is part of flow.Signer.
func (n *pen) SignApprove(ctx context.Context, v verify.VerifiedApprove) (sign.Signature, error) {
	n.signs("approval", "")
	return n.inner.SignApprove(ctx, v)
}

// SignDelegation is part of flow.Signer.
func (n *pen) SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	n.signs("delegation", "")
	return n.inner.SignDelegation(ctx, v)
}

// SignSolana is part of flow.Signer.
func (n *pen) SignSolana(ctx context.Context, v verify.VerifiedMessage) (sign.Signature, error) {
	n.signs("message", "")
	return n.inner.SignSolana(ctx, v)
}
