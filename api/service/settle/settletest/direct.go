package settletest

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/genesis"
	"coffer/api/service/quote/entry"
)

// RunDirect lets the user's account make calls on a chain past the service, as a wallet with another bundler could: the operator's key of the test
// sponsors and submits. deploys says that the account is not there yet.
func (w *World) RunDirect(chainID uint64, lane uint16, deploys bool, calls ...op.Call) {
	w.TB.Helper()
	pins := w.Installation.Network.Pins
	data, err := op.EncodeExecute(calls)
	Must(w.TB, err)
	nonce := op.Nonce{Validator: pins.ECDSAValidator, Key: lane, Sequence: w.Nonce(chainID, lane)}.Big()
	million := big.NewInt(1_000_000)
	o := op.UserOp{
		Sender: w.User.Address, Nonce: nonce, CallData: data, CallGasLimit: million, VerificationGasLimit: million,
		PreVerificationGas: new(big.Int), MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int),
		Paymaster: &pins.Paymaster, PaymasterVerificationGasLimit: million, PaymasterPostOpGasLimit: new(big.Int),
	}
	if deploys {
		signer := crypto.PubkeyToAddress(w.User.Key.PublicKey)
		o.Factory, o.FactoryData = &pins.MetaFactory, op.FactoryData(pins.Factory, op.InitDataECDSA(pins.ECDSAValidator, signer), new(big.Int))
	}
	id := new(big.Int).SetUint64(chainID)
	window := op.PaymasterWindow{ValidAfter: uint64(w.Clock.Now().Unix()), ValidUntil: uint64(w.Clock.Now().Unix()) + 60}
	packed, err := o.Pack()
	Must(w.TB, err)
	sig, err := op.Sign(op.EIP191(op.PaymasterHash(packed, window, id, pins.Paymaster)), w.Installation.Operator)
	Must(w.TB, err)
	o.PaymasterData = op.EncodePaymasterData(window, sig)
	hash, err := o.Hash(pins.EntryPoint, id)
	Must(w.TB, err)
	o.Signature, err = op.Sign(op.EIP191(hash), w.User.Key)
	Must(w.TB, err)
	codec, err := entry.New(pins.EntryPoint, pins.Escrow)
	Must(w.TB, err)
	handle, err := codec.HandleOps(genesis.AddressOf(w.Installation.Operator), o)
	Must(w.TB, err)
	_, err = w.Installation.Chains[chainID].Seal(chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Txs: []chain.Tx{{From: w.Installation.Operator, To: pins.EntryPoint, Data: handle}},
		Accept: func(rs []chain.Receipt) error {
			if err := genesis.AllSucceed(rs); err != nil {
				return err
			}
			out, err := codec.Outcomes(rs[0].Logs)
			if err == nil && (len(out) != 1 || !out[0].Success) {
				err = fmt.Errorf("the operation failed: %+v", out)
			}
			return err
		},
	})
	Must(w.TB, err)
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
