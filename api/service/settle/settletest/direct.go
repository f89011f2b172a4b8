package settletest

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/smartaccount"
)

// RunDirect lets the user's account make calls on a chain past the service, as a wallet with another bundler could: the
// operator's key of the test sponsors and submits. deploys says that the account is not there yet; for an EOA it then
// carries the authorization.
func (w *World) RunDirect(chainID uint64, lane uint16, deploys bool, calls ...op.Call) {
	w.TB.Helper()
	pins, now := w.Installation.Pins, uint64(w.Clock.Now().Unix())
	a, err := smartaccount.Open(pins, w.User.Account)
	Must(w.TB, err)
	data, err := op.EncodeExecute(calls)
	Must(w.TB, err)
	nonce := op.Nonce{Validator: w.User.Validator(pins), Key: lane, Sequence: w.Nonce(chainID, lane)}.Big()
	million := big.NewInt(1_000_000)
	o := op.UserOp{
		Sender: w.User.Address, Nonce: nonce, CallData: data, CallGasLimit: million, VerificationGasLimit: million,
		PreVerificationGas: new(big.Int), MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int),
		Paymaster: &pins.Paymaster, PaymasterVerificationGasLimit: million,
		PaymasterPostOpGasLimit: big.NewInt(filler.PostOpGas),
	}
	tx := chain.Tx{From: w.Installation.Operator}
	if factory, initData, needed := a.Deployment(); deploys && needed {
		o.Factory, o.FactoryData = &factory, initData
	} else if deploys {
		tx.Authorizations = []op.SignedAuthorization{w.Authorize(chainID, pins.KernelV33.Hex())}
	}
	window := op.PaymasterWindow{ValidAfter: now, ValidUntil: now + 60}
	if w.Installation.OnOwnNodes() {
		o.Limit(window)
	} else {
		Must(w.TB, o.Sponsor(context.Background(), window, chainID, w.Installation.Operator))
	}
	wire, typed := o.Wire(), a.TypedData(o, chainID)
	o.Signature, err = w.User.Signature(pins, api.ChainOperation{UserOp: &wire, TypedDataToSign: &typed})
	Must(w.TB, err)
	o, err = a.CoSign(context.Background(), o, chainID, w.Installation.CoSigner)
	Must(w.TB, err)
	codec := entrypoint.New(pins.EntryPoint, pins.Escrow)
	m, err := quote.Run(w.Installation.Network, now+60, o)
	Must(w.TB, err)
	tx.To, tx.Data = m.To, m.Data
	w.seal(chainID, tx, func(rs []chain.Receipt) error {
		if err := chain.AllSucceed(rs); err != nil {
			return err
		}
		out, err := codec.Outcomes(rs[0].Logs)
		if err == nil && (len(out) != 1 || !out[0].Success) {
			err = fmt.Errorf("the operation failed: %+v", out)
		}
		return err
	})
}

// Authorize is the user's authorization for a contract on a chain, for the EOA's nonce of this moment; the zero address
// undoes another one.
func (w *World) Authorize(chainID uint64, contract string) op.SignedAuthorization {
	w.TB.Helper()
	st, err := w.Installation.Chains[chainID].State(context.Background(), uint64(w.Clock.Now().Unix()))
	Must(w.TB, err)
	defer st.Close()
	at, err := caip.ParseAddress(contract)
	Must(w.TB, err)
	a := op.Authorization{ChainID: new(big.Int).SetUint64(chainID), Address: at, Nonce: st.Nonce(w.User.Address)}
	sig, err := op.Sign(a.Hash(), w.User.Key) // a.Sign refuses the zero address
	Must(w.TB, err)
	return a.With(sig)
}

// Delegate lets the user's EOA run the code of a contract on a chain, past the service.
func (w *World) Delegate(chainID uint64, contract string) {
	w.TB.Helper()
	w.seal(chainID, chain.Tx{
		From: w.Installation.Operator, To: w.Installation.Faucet.Address(), Gas: 200_000,
		Authorizations: []op.SignedAuthorization{w.Authorize(chainID, contract)},
	}, chain.AllSucceed)
}

// Refused demands an *api.Error of the given name and returns it.
func Refused(tb testing.TB, err error, name string) *api.Error {
	tb.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Name != name {
		tb.Fatalf("expected %s, got %v", name, err)
	}
	return e
}
