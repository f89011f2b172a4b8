package flow_test

import (
	"math/big"
	"testing"

	"coffer/wallet/flow"
)

// The terms in the journal are the figures that the two reviews showed, and stay when the operation has ended.
func TestD3_TheJournalKeepsWhatWasReviewed(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	first, v := *o.Snapshot().Review1, *o.Snapshot().Review2
	if _, known := b.j.Terms(v.ID); known {
		t.Error("terms of a quote that was not signed")
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
	got, known := b.j.Terms(v.ID)
	if !known || len(got.Payees) != len(first.Lines) || len(got.Paid) != len(v.Pay) || len(got.Fees) != len(v.Fees) ||
		len(got.There) != len(v.Needs) || !got.FeesNamed {
		t.Fatalf("%+v of %+v", got, v)
	}
	for i, l := range first.Lines {
		if p := got.Payees[i]; p.To != l.Recipient || p.Amount != l.Amount.Amount.String() ||
			p.Asset != l.Amount.Asset.String() {
			t.Errorf("payee %+v of %+v", p, l)
		}
	}
	for i, a := range v.Pay {
		if got.Paid[i].Asset != a.Asset.String() || got.Paid[i].Amount != a.Amount.String() {
			t.Errorf("paid %+v, reviewed %+v", got.Paid[i], a)
		}
	}
	for i, n := range v.Needs {
		if used := new(big.Int).Sub(n.Need.Amount, n.Short); got.There[i].Amount != used.String() {
			t.Errorf("there %+v, reviewed %+v", got.There[i], n)
		}
	}
	if got.FeesMicro != v.FeesMicro.String() {
		t.Errorf("fees of %s micro USD, reviewed %s", got.FeesMicro, v.FeesMicro)
	}
}
