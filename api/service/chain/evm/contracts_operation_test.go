package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// owned is an account and who signs for it.
type owned struct {
	at        common.Address
	validator common.Address
	initData  []byte // nil for an EOA
	sign      func(op.UserOp) []byte
}

func (w *world) opHash(u op.UserOp) common.Hash {
	w.t.Helper()
	h, err := u.Hash(w.entryPoint.at, new(big.Int).SetUint64(w.chain.ID()))
	w.check(err)
	return h
}

// personal signs the operation hash as a wallet does (protocol §8.2).
func (w *world) personal(k *ecdsa.PrivateKey) func(op.UserOp) []byte {
	return func(u op.UserOp) []byte { return signDigest(k, op.EIP191(w.opHash(u))) }
}

func (w *world) predict(initData []byte, index int64) common.Address {
	return op.PredictAddress(w.factory.at, w.implementation.at, initData, big.NewInt(index))
}

// ecdsaAccount is the undeployed account of an owner key.
func (w *world) ecdsaAccount(owner *ecdsa.PrivateKey) owned {
	data := op.InitDataECDSA(w.ecdsa.at, addressOf(owner))
	return owned{at: w.predict(data, 0), validator: w.ecdsa.at, initData: data, sign: w.personal(owner)}
}

// deployed makes the account exist.
func (w *world) deployed(a owned) owned {
	w.t.Helper()
	w.send(w.relayer, w.factory, 0, "createAccount", a.initData, [32]byte{})
	return a
}

// lane is the nonce of an operation's role, without its sequence.
func (w *world) lane(a owned, lane uint16) op.Nonce {
	return op.Nonce{Validator: a.validator, Key: lane}
}

// unsigned builds an operation without fees that is valid for the next ten
// minutes. An account that does not exist yet is deployed by it.
func (w *world) unsigned(a owned, n op.Nonce, calls ...op.Call) op.UserOp {
	w.t.Helper()
	data, err := op.EncodeExecute(calls)
	w.check(err)
	u := op.UserOp{
		Sender: a.at, CallData: data,
		Nonce:        get[*big.Int](w, w.entryPoint, "getNonce", a.at, n.Key192()),
		CallGasLimit: big.NewInt(1_000_000), VerificationGasLimit: big.NewInt(1_500_000),
		PreVerificationGas: new(big.Int),
		MaxFeePerGas:       new(big.Int), MaxPriorityFeePerGas: new(big.Int),
		Paymaster: &w.paymaster.at, PaymasterVerificationGasLimit: big.NewInt(200_000),
		PaymasterPostOpGasLimit: new(big.Int),
		PaymasterData:           windowData(w.now+600, w.now),
	}
	if a.initData != nil && len(w.code(a.at)) == 0 {
		u.Factory, u.FactoryData = &w.metaFactory.at, op.FactoryData(w.factory.at, a.initData, new(big.Int))
	}
	return u
}

// windowData bounds an operation in time, with no signature of a service in it.
func windowData(until, after uint64) []byte {
	return op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: until, ValidAfter: after}, make([]byte, 65))
}

// unsponsored takes the paymaster away.
func unsponsored(u op.UserOp) op.UserOp {
	u.Paymaster, u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit, u.PaymasterData = nil, nil, nil, nil
	return u
}

func (a owned) signed(u op.UserOp) op.UserOp {
	u.Signature = a.sign(u)
	return u
}

// operation is unsigned and signed.
func (w *world) operation(a owned, lane uint16, calls ...op.Call) op.UserOp {
	w.t.Helper()
	return a.signed(w.unsigned(a, w.lane(a, lane), calls...))
}

func (w *world) call(c named, value int64, method string, args ...any) op.Call {
	w.t.Helper()
	return op.Call{To: c.at, Value: big.NewInt(value), Data: w.pack(c, method, args...)}
}

func (w *world) transfer(to common.Address, amount int64) op.Call {
	w.t.Helper()
	return w.call(w.token, 0, "transfer", to, big.NewInt(amount))
}

// outcome is what handleOps did with one operation.
type outcome struct {
	refused string // why handleOps reverted; nothing happened then
	success bool
	reason  string // why the operation's call failed
}

func (w *world) submit(u op.UserOp, auths ...op.SignedAuthorization) outcome {
	w.t.Helper()
	p, err := u.Pack()
	w.check(err)
	r := w.transact(chain.Tx{
		From: signers.Local(w.relayer), To: w.entryPoint.at, Authorizations: auths,
		Data: w.pack(w.entryPoint, "handleOps", []op.PackedUserOp{p}, addressOf(w.relayer)),
	})
	if !r.Success {
		return outcome{refused: w.decode(r.Revert)}
	}
	var out outcome
	events := w.abis["EntryPoint"].Events
	hash, seen := w.opHash(u), 0
	for _, l := range r.Logs {
		if l.Address != w.entryPoint.at || len(l.Topics) < 2 || l.Topics[1] != hash {
			continue
		}
		switch l.Topics[0] {
		case events["UserOperationEvent"].ID:
			v, err := events["UserOperationEvent"].Inputs.NonIndexed().Unpack(l.Data)
			w.check(err)
			out.success, seen = v[1].(bool), seen+1
		case events["UserOperationRevertReason"].ID:
			v, err := events["UserOperationRevertReason"].Inputs.NonIndexed().Unpack(l.Data)
			w.check(err)
			out.reason = w.decode(v[1].([]byte))
		}
	}
	if seen != 1 {
		w.t.Fatalf("%d events of operation %s", seen, hash)
	}
	return out
}

func (w *world) runs(u op.UserOp, auths ...op.SignedAuthorization) {
	w.t.Helper()
	if out := w.submit(u, auths...); !out.success {
		w.t.Fatalf("the operation did not run: %+v", out)
	}
}

// refused fails the test unless handleOps reverts with a reason that has all
// the words.
func (w *world) refused(u op.UserOp, words ...string) {
	w.t.Helper()
	out := w.submit(u)
	for _, word := range words {
		if out.refused == "" || !strings.Contains(out.refused, word) {
			w.t.Fatalf("want a refusal with %q, got %+v", word, out)
		}
	}
}

// fails fails the test unless the operation is taken, its call reverts, and the
// reason begins with want.
func (w *world) fails(u op.UserOp, want string) {
	w.t.Helper()
	if out := w.submit(u); out.refused != "" || out.success || !strings.HasPrefix(out.reason, want) {
		w.t.Fatalf("want a failure with %s, got %+v", want, out)
	}
}
