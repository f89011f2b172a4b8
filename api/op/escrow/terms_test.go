package escrow_test

import (
	"testing"

	"coffer/api/op/escrow"
)

func TestAscendingMeansEachTokenAndRecipientOnce(t *testing.T) {
	low, high := [32]byte{1}, [32]byte{2}
	for _, c := range []struct {
		a, b escrow.Minimum
		want bool
	}{
		{escrow.Minimum{Token: low, To: high}, escrow.Minimum{Token: high, To: low}, true},
		{escrow.Minimum{Token: low, To: low}, escrow.Minimum{Token: low, To: high}, true},
		{escrow.Minimum{Token: low, To: low}, escrow.Minimum{Token: low, To: low}, false},
		{escrow.Minimum{Token: low, To: high}, escrow.Minimum{Token: low, To: low}, false},
		{escrow.Minimum{Token: high, To: low}, escrow.Minimum{Token: low, To: high}, false},
	} {
		if got := (escrow.Terms{Minimums: []escrow.Minimum{c.a, c.b}}).Ascending(); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	if !(escrow.Terms{}).Ascending() {
		t.Error("no minimums")
	}
}
