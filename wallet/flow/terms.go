package flow

import (
	"math/big"

	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// terms is what review 2, and review 1 of a call, said about who gets what and what it costs.
func (o *Operation) terms(v verify.QuoteView) *journal.Terms {
	t := &journal.Terms{Paid: spends(v.Pay), There: there(v.Needs), Fees: spends(v.Fees), FeesNamed: len(v.Fees) > 0 ||
		v.FeesMicro != nil}
	if v.FeesMicro != nil {
		t.FeesMicro = v.FeesMicro.String()
	}
	if o.signed != nil {
		t.Payees = payees(o.signed.Prepared().View())
	} else if v.Recipient != "" {
		t.Payees = []journal.Payee{{To: v.Recipient}} // what arrives is known when it has
	}
	return t
}

// there is what the calls use of what was on their chain, by the balances that the service named; nil as soon as one of
// them is not known.
func there(needs []verify.NeedView) []journal.Spend {
	var out []journal.Spend
	for _, n := range needs {
		switch {
		case n.Need.Amount == nil || n.Short == nil:
			return nil
		case n.Need.Amount.Sign() > 0:
			out = append(out, journal.Spend{Asset: n.Need.Asset.String(),
				Amount: new(big.Int).Sub(n.Need.Amount, n.Short).String()})
		}
	}
	return out
}

// payees are the accounts that the calls pay, and the contracts of which the bytes do not say whom they pay.
func payees(v verify.PreparedView) []journal.Payee {
	var out []journal.Payee
	for _, x := range v.Payees() {
		p := journal.Payee{To: x.To}
		if x.Amount != nil && x.Amount.Amount != nil {
			p.Asset, p.Amount = x.Amount.Asset.String(), x.Amount.Amount.String()
		}
		out = append(out, p)
	}
	return out
}
