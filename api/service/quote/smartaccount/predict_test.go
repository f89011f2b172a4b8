package smartaccount_test

import (
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/quote/smartaccount"
)

// Prediction and every other request judge keys alike, in the same words.
func TestAPredictedAddressIsOneThatOpens(t *testing.T) {
	w := newWorld(t)
	pins := w.in.Pins
	for _, a := range []api.Account{w.kernelV31().Wire(), w.roleBased().Wire()} {
		at, err := smartaccount.Predict(pins, a)
		if err != nil || !strings.EqualFold(at.Hex(), a.AccountAddress) {
			t.Errorf("%s: %s, %v", a.Type, at.Hex(), err)
		}
	}
	coSigner, zero := w.in.CoSigner.Address().Hex(), common.Address{}.Hex()
	for _, kind := range []string{api.AccountKernelV31, api.AccountRoleBased} {
		for _, first := range []string{coSigner, zero, w.roleBased().Wire().AdminAddress, ""} {
			a := w.roleBased().Wire()
			a.Type, a.SignerAddress, a.SessionAddress = kind, first, first
			_, opened := smartaccount.Open(pins, a)
			at, err := smartaccount.Predict(pins, a)
			if kind == api.AccountKernelV31 && err == nil {
				a.AccountAddress = at.Hex()
				_, opened = smartaccount.Open(pins, a)
			}
			if (err == nil) != (opened == nil) || err != nil && err.Error() != opened.Error() {
				t.Errorf("%s %q: predicted %v, opened %v", kind, first, err, opened)
			}
		}
	}
}

func TestAnAccountThatNoFactoryDeploysHasNoPredictedAddress(t *testing.T) {
	w := newWorld(t)
	_, err := smartaccount.Predict(w.in.Pins, w.kernelV33().Wire())
	unserved(t, err, "type", "follows from its keys")
	_, err = smartaccount.Predict(w.in.Pins, api.Account{Type: api.AccountSolana})
	unserved(t, err, "type", api.AccountKernelV31)
}
