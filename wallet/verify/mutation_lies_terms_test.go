package verify_test

import (
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// liesAboutTerms are about what deposits are released for. Unless it says otherwise a lie is told in every deposit.
func liesAboutTerms() []falsehood {
	all := func(change func(f *forged, t *escrow.Terms) bool) func(f *forged) bool {
		return func(f *forged) bool {
			seed, told := f.r.Int63(), false
			for _, o := range f.payments() {
				if !o.IsSolana() {
					f.r.Seed(seed) // every deposit tells the same
					f.bound(o, func(_ *escrow.Deposit, t *escrow.Terms, _ *common.Address) { told = change(f, t) })
				}
			}
			return told
		}
	}
	ofCalls := func(change func(f *forged, t *escrow.Terms)) func(f *forged) bool {
		return all(func(f *forged, t *escrow.Terms) bool {
			change(f, t)
			return f.s.call
		})
	}
	minimum := func(change func(f *forged, m *escrow.Minimum)) func(f *forged) bool {
		return all(func(f *forged, t *escrow.Terms) bool {
			if len(t.Minimums) > 0 {
				change(f, &t.Minimums[f.r.Intn(len(t.Minimums))])
			}
			return len(t.Minimums) > 0
		})
	}
	word := func(f *forged) (w [32]byte) { f.r.Read(w[:]); return w }
	return []falsehood{
		{what: "an operation of the operator's", tell: ofCalls(func(f *forged, t *escrow.Terms) {
			t.Operations = [][32]byte{word(f)}
		})},
		{what: "no operation", tell: ofCalls(func(_ *forged, t *escrow.Terms) { t.Operations = nil })},
		{what: "a second operation", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.Operations = slices.Insert(t.Operations, f.r.Intn(len(t.Operations)+1), word(f))
			return true
		})},
		{what: "the operation twice", tell: ofCalls(func(_ *forged, t *escrow.Terms) {
			t.Operations = append(t.Operations, t.Operations...)
		})},
		{what: "a minimum for somebody", tell: minimum(func(f *forged, m *escrow.Minimum) {
			m.To = escrow.Padded(f.address())
		})},
		{what: "a minimum for an account of another form", tell: minimum(func(f *forged, m *escrow.Minimum) {
			m.To[f.r.Intn(12)] ^= byte(1 + f.r.Intn(255))
		})},
		{what: "a minimum of another token", tell: minimum(func(f *forged, m *escrow.Minimum) {
			m.Token = escrow.Padded(f.address())
		})},
		{what: "a minimum of one unit", tell: minimum(func(_ *forged, m *escrow.Minimum) { m.Amount = big.NewInt(1) })},
		{what: "a minimum of one unit less, where nothing else explains it", tell: all(func(f *forged,
			t *escrow.Terms) bool {
			if len(t.Minimums) == 0 || !f.exact() {
				return false
			}
			t.Minimums[0].Amount = new(big.Int).Sub(t.Minimums[0].Amount, big.NewInt(1))
			return true
		})},
		{what: "a minimum of one unit less, where fees or prices may explain it", tell: all(func(f *forged,
			t *escrow.Terms) bool {
			if len(t.Minimums) == 0 || f.exact() {
				return false
			}
			t.Minimums[0].Amount = new(big.Int).Sub(t.Minimums[0].Amount, big.NewInt(1))
			return true
		}), class: verify.Bounded, why: "what is lost is within the bounds on the cost (Q11)"},
		{what: "no minimum", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.Minimums = nil
			return true
		})},
		{what: "a minimum beside", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.Minimums = append(t.Minimums, escrow.Minimum{Token: word(f), To: word(f), Amount: big.NewInt(1)})
			slices.SortFunc(t.Minimums, func(a, b escrow.Minimum) int { return slices.Compare(a.Token[:], b.Token[:]) })
			return true
		})},
		{what: "a minimum twice", tell: all(func(_ *forged, t *escrow.Terms) bool {
			t.Minimums = append(t.Minimums, t.Minimums...)
			return len(t.Minimums) > 0
		})},
		{what: "a delivery on another chain", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.TargetChain ^= 1 + uint64(f.r.Intn(1000))
			return true
		})},
		{what: "a delivery long after the quote", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.FillDeadline += uint64(601 + f.r.Intn(2000))
			return true
		})},
		{what: "a delivery some seconds earlier", tell: all(func(f *forged, t *escrow.Terms) bool {
			t.FillDeadline -= uint64(1 + f.r.Intn(60))
			return true
		}), class: verify.Bounded, why: "the deadline is shown and bounded (Q15)"},
		{what: "other terms in one of the payments", tell: func(f *forged) bool {
			o := f.aPayment(false)
			if o == nil || len(slices.DeleteFunc(f.payments(), (*api.ChainOperation).IsSolana)) < 2 {
				return false
			}
			f.bound(o, func(_ *escrow.Deposit, t *escrow.Terms, _ *common.Address) { t.FillDeadline-- })
			return true
		}},
		{what: "a payment without terms", tell: func(f *forged) bool {
			o := f.aPayment(false)
			if o == nil {
				return false
			}
			f.evm(o, func(e *evmForm) {
				last := &e.calls[len(e.calls)-1]
				d, _, _ := escrow.DecodeDeposit(last.Data)
				last.Data = golden.EarlierDeposit(d)
			})
			return true
		}},
	}
}

// exact reports whether the quote explains its payment to the unit: that of a swap or a transfer by its minimum, that
// of a call by its fees, where it names them and pays with the asset that it requires.
func (f *forged) exact() bool {
	d := f.s.in.Draft()
	if d.Kind == intent.KindSwap || d.Kind == intent.KindTransfer {
		return true
	}
	if f.quote == nil || f.quote.Fees == nil {
		return false
	}
	paid := f.asset(f.quote.OriginChainsOperations[0].AssetType)
	e, _ := f.s.policy.Catalog.Entity(paid)
	return !slices.ContainsFunc(d.TokensRequired, func(r api.TokenRequirement) bool {
		of, _ := f.s.policy.Catalog.Entity(f.asset(r.AssetType))
		return of.Aggregate != e.Aggregate
	})
}
