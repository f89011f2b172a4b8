package golden

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/intent"
)

// Admin is the admin of role-based accounts.
const Admin = "0x00A813Bc170DFF7D58D70562fBe15DD012886713"

// NewOf makes the world of New for another account type and interface: api.AccountKernelV31, AccountKernelV33 or
// AccountRoleBased, asked with v1 or v3.
func NewOf(t testing.TB, kind string, v1 bool) *World {
	t.Helper()
	w := New(t)
	w.Be(kind)
	if v1 {
		w.Draft.Interface = intent.InterfaceV1
	}
	return w
}

// Be makes the world's key own an account of a type.
func (w *World) Be(kind string) {
	w.Kind = kind
	w.Signer = crypto.PubkeyToAddress(KeyOf(w.Key).PublicKey)
	a := api.Account{Type: kind, SignerAddress: w.Signer.Hex(), DeploymentType: api.DeploymentERC4337}
	switch kind {
	case api.AccountKernelV33:
		w.Account, a.DeploymentType = w.Signer, api.DeploymentEIP7702
	case api.AccountRoleBased:
		a.SignerAddress, a.SessionAddress, a.AdminAddress = "", w.Signer.Hex(), Admin
	}
	if init := w.InitData(); init != nil {
		w.Account = op.PredictAddress(w.Network.Pins.Factory, w.Network.Pins.KernelV31, init, new(big.Int))
	}
	a.AccountAddress = w.Account.Hex()
	w.Draft.Accounts = []api.Account{a}
}

// InitData is what the factory deploys for the account; nil for an EOA.
func (w *World) InitData() []byte {
	switch w.Kind {
	case api.AccountKernelV33:
		return nil
	case api.AccountRoleBased:
		return op.InitDataRoleBased(w.Network.Pins.RoleBasedValidator, w.Signer, common.HexToAddress(Admin),
			w.Network.Pins.CoSigner)
	}
	return op.InitDataECDSA(w.Network.Pins.ECDSAValidator, w.Signer)
}

// Validator is the account's validator.
func (w *World) Validator() common.Address {
	if w.Kind == api.AccountRoleBased {
		return w.Network.Pins.RoleBasedValidator
	}
	return w.Network.Pins.ECDSAValidator
}

// Domain is the domain of the account's typed data on a chain.
func (w *World) Domain(chainID uint64) op.Domain {
	d := op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: chainID, VerifyingContract: w.Validator()}
	switch w.Kind {
	case api.AccountRoleBased:
		d.Name, d.Version = "RoleBasedECDSAValidator", "1.4.3"
	case api.AccountKernelV33:
		d.Version = "0.3.3"
	}
	return d
}

// Nonce is a nonce of the account.
func (w *World) Nonce(lane uint16, sequence uint64) op.Nonce {
	return op.Nonce{Validator: w.Validator(), Key: lane, Sequence: sequence}
}

// v1 puts an answer into the form of v1: one account, no fees, no tolerances, and beside the payments of a quote the
// prepared operation once more.
func (w *World) v1(v any) any {
	switch a := v.(type) {
	case api.PrepareResponse:
		return a.V1()
	case api.Quote:
		shown := w.Shown
		if prepared := w.PreparedOperation(w.Asked()); shown == nil && !w.Alone {
			shown = &prepared
		}
		return a.V1(shown)
	}
	return v
}
