package smartaccount_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/store"
)

const (
	now      = 1_760_000_000
	base     = 8453
	optimism = 10
	ethereum = 1
)

// world is a real installation in memory.
type world struct {
	testing.TB
	in    *devnet.Installation
	codec *entrypoint.Codec
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	in, err := devnet.Open(store.NewMemory(), devnet.Options{
		Clock: func() time.Time { return time.Unix(now, 0) }, Seed: []byte("account tests: thirty-two bytes."),
		Kind: network.Embedded,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &world{tb, in, entrypoint.New(in.Pins.EntryPoint, in.Pins.Escrow)}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func key(name string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("account tests " + name)))
	if err != nil {
		panic(err) // a hash outside the curve's order: never for the names used
	}
	return k
}

// coSigned is the co-signer's signature of an operation, whatever the operation.
func (w *world) coSigned(o op.UserOp, chainID uint64) []byte {
	sig, err := w.in.CoSigner.SignMessage(context.Background(), w.hash(o, chainID))
	w.must(err)
	return sig
}

func sign(digest common.Hash, k *ecdsa.PrivateKey) []byte {
	sig, err := op.Sign(digest, k)
	if err != nil {
		panic(err)
	}
	return sig
}

// user is an account with the keys that sign for it.
type user struct {
	smartaccount.Account
	owner, admin *ecdsa.PrivateKey
}

func (w *world) open(a api.Account) smartaccount.Account {
	w.Helper()
	out, err := smartaccount.Open(w.in.Pins, a)
	w.must(err)
	return out
}

func (w *world) roleBased() user {
	session, admin := key("session"), key("admin")
	return user{w.open(roleWire(w.in.Pins, session, admin)), session, admin}
}

func roleWire(p network.Pins, session, admin *ecdsa.PrivateKey) api.Account {
	s, a := crypto.PubkeyToAddress(session.PublicKey), crypto.PubkeyToAddress(admin.PublicKey)
	at := op.PredictAddress(p.Factory, p.KernelV31, op.InitDataRoleBased(p.RoleBasedValidator, s, a, p.CoSigner),
		new(big.Int))
	return api.Account{Type: api.AccountRoleBased, SessionAddress: s.Hex(), AdminAddress: a.Hex(),
		AccountAddress: at.Hex()}
}

func (w *world) kernelV31() user {
	p, owner := w.in.Pins, key("owner")
	at := op.PredictAddress(p.Factory, p.KernelV31, op.InitDataECDSA(p.ECDSAValidator,
		crypto.PubkeyToAddress(owner.PublicKey)),
		new(big.Int))
	return user{w.open(api.Account{Type: api.AccountKernelV31,
		SignerAddress:  crypto.PubkeyToAddress(owner.PublicKey).Hex(),
		AccountAddress: at.Hex()}), owner, nil}
}

func (w *world) kernelV33() user {
	owner := key("eoa")
	at := crypto.PubkeyToAddress(owner.PublicKey).Hex()
	return user{w.open(api.Account{Type: api.AccountKernelV33, DeploymentType: api.DeploymentEIP7702, SignerAddress: at,
		AccountAddress: at}), owner, nil}
}

// state is a view of a chain's head that the test closes.
func (w *world) state(chainID uint64) chain.State {
	w.Helper()
	st, err := w.in.Chains[chainID].State(context.Background(), now)
	w.must(err)
	return st
}

func (w *world) accountState(a smartaccount.Account, chainID uint64) (smartaccount.State, error) {
	w.Helper()
	st := w.state(chainID)
	defer st.Close()
	return a.State(st, chainID)
}

// call is an execute of one call that always succeeds; n makes it another one.
func (w *world) call(n byte) []byte {
	w.Helper()
	data, err := op.EncodeExecute([]op.Call{{To: common.Address{0xaa}, Value: new(big.Int), Data: []byte{n}}})
	w.must(err)
	return data
}

// operation is the account's next operation, unsigned.
func (w *world) operation(u user, chainID uint64, lane uint16) op.UserOp {
	w.Helper()
	nonce, err := w.in.AccountNonce(context.Background(), chainID, u.Address, u.Key192(lane))
	w.must(err)
	s, err := w.accountState(u.Account, chainID)
	w.must(err)
	o := op.UserOp{
		Sender: u.Address, Nonce: nonce, CallData: w.call(1), CallGasLimit: big.NewInt(300_000),
		VerificationGasLimit: big.NewInt(2_000_000),
		PreVerificationGas:   new(big.Int), MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int),
	}
	if s.Deploys {
		factory, data, needed := u.Deployment()
		if !needed {
			w.Fatal("nothing deploys the account")
		}
		o.Factory, o.FactoryData = &factory, data
	}
	return o
}

func (w *world) hash(o op.UserOp, chainID uint64) common.Hash {
	w.Helper()
	h, err := o.Hash(w.in.Pins.EntryPoint, new(big.Int).SetUint64(chainID))
	w.must(err)
	return h
}

func (w *world) approve(o op.UserOp, chainID uint64) common.Hash {
	return op.RoleBasedDomain(chainID, w.in.Pins.RoleBasedValidator).ApproveDigest(
		op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce))
}

// signed is the operation with the user's own signature.
func (w *world) signed(u user, o op.UserOp, chainID uint64) op.UserOp {
	w.Helper()
	if u.IsRoleBased() {
		o.Signature = sign(w.approve(o, chainID), u.owner)
	} else {
		o.Signature = sign(op.EIP191(w.hash(o, chainID)), u.owner)
	}
	return o
}

// valid reports whether the entry point takes the operation as it stands: the word of the contracts.
func (w *world) valid(u user, o op.UserOp, chainID uint64) (bool, string) {
	w.Helper()
	st := w.state(chainID)
	defer st.Close()
	s, err := u.State(st, chainID)
	w.must(err)
	u.Enter(st, s)
	data, err := op.HandleOpsCall(w.in.Operator.Address(), o)
	w.must(err)
	r := st.Call(chain.Message{From: w.in.Operator.Address(), To: w.in.Pins.EntryPoint, Data: data})
	w.must(st.Err())
	if r.Err != nil {
		return false, w.codec.Explain(r.Return).Text
	}
	out, err := w.codec.Outcomes(r.Logs)
	w.must(err)
	if len(out) != 1 || !out[0].Success {
		w.Fatalf("taken, but its call failed: %+v", out)
	}
	return true, ""
}

// seal makes a block of the operator's transactions, which must succeed.
func (w *world) seal(chainID uint64, txs ...chain.Tx) {
	w.Helper()
	for i := range txs {
		txs[i].From = w.in.Operator
	}
	_, err := w.in.Chains[chainID].Seal(context.Background(),
		chain.SealRequest{Time: now, Txs: txs, Accept: chain.AllSucceed})
	w.must(err)
}

// submit seals signed operations, and the co-signer's signature with them.
func (w *world) submit(u user, o op.UserOp, chainID uint64, auths ...op.SignedAuthorization) {
	w.Helper()
	o, err := u.CoSign(context.Background(), o, chainID, w.in.CoSigner)
	w.must(err)
	data, err := op.HandleOpsCall(w.in.Operator.Address(), o)
	w.must(err)
	w.seal(chainID, chain.Tx{To: w.in.Pins.EntryPoint, Data: data, Authorizations: auths})
}

// message puts an admin message on chain.
func (w *world) message(u user, chainID uint64, m op.AdminMessage) {
	w.Helper()
	m.Account = u.Address
	digest, err := m.Digest(op.RoleBasedDomain(chainID, w.in.Pins.RoleBasedValidator))
	w.must(err)
	data, err := m.Call(sign(digest, u.admin))
	w.must(err)
	w.seal(chainID, chain.Tx{To: w.in.Pins.RoleBasedValidator, Data: data})
}

// unserved asserts that an error is an *Unserved at the path whose words contain want.
func unserved(t *testing.T, err error, path, want string) {
	t.Helper()
	var u *smartaccount.Unserved
	if !errors.As(err, &u) || u.Path != path || !strings.Contains(u.Want, want) {
		t.Errorf("%v: want %s with %q", err, path, want)
	}
}
