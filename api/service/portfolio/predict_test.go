package portfolio_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"coffer/api"
)

// An address is told only for keys that every other request accepts: what is sent to another one is stuck.
func TestNoAddressIsPredictedForKeysThatNoAccountCanHave(t *testing.T) {
	in, p := world(t)
	const one, other = "0x1cBFbFd62a276BF6D79d504eA4CA75a7baDcf5b1", "0xc162a3cE45ad151eeCd0a5532D6E489D034aB3B8"
	const zero = "0x0000000000000000000000000000000000000000"
	coSigner := in.CoSigner.Address().Hex()
	for name, c := range map[string]struct {
		req        api.PredictRequest
		path, want string
	}{
		"session is the co-signer": {api.PredictRequest{SessionAddress: coSigner, AdminAddress: other},
			"sessionAddress", "co-signer"},
		"admin is the co-signer": {api.PredictRequest{SessionAddress: one, AdminAddress: coSigner}, "adminAddress",
			"co-signer"},
		"co-signer in lower case": {api.PredictRequest{SessionAddress: one,
			AdminAddress: strings.ToLower(coSigner)}, "adminAddress", "co-signer"},
		"typed, session is co-signer": {api.PredictRequest{Type: api.AccountRoleBased, SessionAddress: coSigner,
			AdminAddress: other}, "sessionAddress", "co-signer"},
		"session zero": {api.PredictRequest{SessionAddress: zero, AdminAddress: other}, "sessionAddress",
			api.WantKeyAddress},
		"admin zero": {api.PredictRequest{SessionAddress: one, AdminAddress: zero}, "adminAddress",
			api.WantKeyAddress},
		"admin is the session": {api.PredictRequest{SessionAddress: one, AdminAddress: one}, "adminAddress", "differs"},
		"signer zero": {api.PredictRequest{Type: api.AccountKernelV31, SignerAddress: zero}, "signerAddress",
			api.WantKeyAddress},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := api.Encode(c.req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.PredictAddress(context.Background(), doc)
			var e *api.Error
			if !errors.As(err, &e) || e.Name != api.ErrValidation || len(e.Details) != 1 ||
				e.Details[0].Path != c.path || !strings.Contains(e.Details[0].Expected, c.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
