package review

import (
	"strings"
	"testing"
)

// TestL1_Review1NamesTheSlippage expects it where payments follow this signature, and not where the signature is the
// whole consent.
func TestL1_Review1NamesTheSlippage(t *testing.T) {
	r := newRig(t)
	r.h = 60
	if v := r.open().settle().view(); !strings.Contains(v, "the price may move by at most 0.50 %") {
		t.Errorf("%s", v)
	}
	r = newRig(t)
	r.h = 60
	r.op.view1.WholeConsent = true
	if v := r.open().settle().view(); strings.Contains(v, "the price may move") {
		t.Errorf("%s", v)
	}
}
