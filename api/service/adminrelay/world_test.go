package adminrelay_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/adminrelay"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/store"
)

const (
	start    = 1_760_000_000
	day      = 24 * time.Hour
	base     = 8453
	optimism = 10
	usdcBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
)

// world is a real installation with one role-based account.
type world struct {
	testing.TB
	in    *devnet.Installation
	relay *adminrelay.Relay
	fails *failing

	mu  sync.Mutex
	now time.Time

	session, admin *ecdsa.PrivateKey
	wire           api.Account
	at             common.Address
}

// failing is a store whose commits can be made to fail.
type failing struct {
	store.Store
	mu  sync.Mutex
	err error
}

func (f *failing) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

// Update runs fn and then fails, as a disk does that is full at the end.
func (f *failing) Update(fn func(store.Tx) error) error {
	f.mu.Lock()
	err := f.err
	f.mu.Unlock()
	return f.Store.Update(func(tx store.Tx) error { return errors.Join(fn(tx), err) })
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{TB: tb, now: time.Unix(start, 0), fails: &failing{Store: store.NewMemory()}, session: key("session"),
		admin: key("admin")}
	in, err := devnet.Open(w.fails, devnet.Options{Clock: w.clock, Seed: []byte("relay tests: a seed of 32 bytes."),
		Kind: network.Embedded})
	w.must(err)
	w.in = in
	w.relay = adminrelay.New(adminrelay.Deps{Network: in.Network, Operator: in.Operator, Clock: w.clock,
		ExplorerBase: func() string { return "https://here.example/api" }})
	p, s, a := in.Pins, crypto.PubkeyToAddress(w.session.PublicKey), crypto.PubkeyToAddress(w.admin.PublicKey)
	w.at = op.PredictAddress(p.Factory, p.KernelV31, op.InitDataRoleBased(p.RoleBasedValidator, s, a, p.CoSigner),
		new(big.Int))
	w.wire = api.Account{Type: api.AccountRoleBased, SessionAddress: s.Hex(), AdminAddress: a.Hex(),
		AccountAddress: w.at.Hex()}
	return w
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func key(name string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("relay tests " + name)))
	if err != nil {
		panic(err) // a hash outside the curve's order: never for the names used
	}
	return k
}

func sign(digest common.Hash, k *ecdsa.PrivateKey) []byte {
	sig, err := op.Sign(digest, k)
	if err != nil {
		panic(err)
	}
	return sig
}

// message is a relay request as a wallet sends it.
func (w *world) message(chainID uint64, action string, nonce int64, session common.Address) api.RelayRequest {
	w.Helper()
	return w.messageBy(w.admin, chainID, action, nonce, session)
}

func (w *world) messageBy(k *ecdsa.PrivateKey, chainID uint64, action string, nonce int64,
	session common.Address) api.RelayRequest {
	w.Helper()
	m := op.AdminMessage{Action: action, Account: w.at, NewSession: session, Nonce: big.NewInt(nonce)}
	digest, err := m.Digest(op.RoleBasedDomain(chainID, w.in.Pins.RoleBasedValidator))
	w.must(err)
	r := api.RelayRequest{
		Account: w.wire, Chain: caip.EVM(chainID).String(), Action: action, Nonce: m.Nonce.String(),
		Signature: fmt.Sprintf("0x%x", sign(digest, k)),
	}
	if session != (common.Address{}) {
		r.NewSession = session.Hex()
	}
	return r
}

// operation is the admin's unsigned operation of the given calls.
func (w *world) operation(chainID uint64, calls ...op.Call) op.UserOp {
	w.Helper()
	data, err := op.EncodeExecute(calls)
	w.must(err)
	nonce, ok := new(big.Int).SetString(w.roles(chainID).OperationNonce, 10)
	if !ok {
		w.Fatal("no operation nonce")
	}
	return op.UserOp{
		Sender: w.at, Nonce: nonce, CallData: data, CallGasLimit: big.NewInt(500_000),
		VerificationGasLimit: big.NewInt(200_000),
		PreVerificationGas:   new(big.Int), MaxFeePerGas: new(big.Int), MaxPriorityFeePerGas: new(big.Int),
	}
}

// operate is the relay request of an operation that k signs.
func (w *world) operate(chainID uint64, o op.UserOp, k *ecdsa.PrivateKey) api.RelayRequest {
	w.Helper()
	hash, err := o.Hash(w.in.Pins.EntryPoint, new(big.Int).SetUint64(chainID))
	w.must(err)
	o.Signature = sign(op.EIP191(hash), k)
	wire := o.Wire()
	return api.RelayRequest{Account: w.wire, Chain: caip.EVM(chainID).String(), Action: api.AdminOperate, UserOp: &wire}
}

// send posts a request.
func (w *world) send(r api.RelayRequest) (api.RelayResponse, error) {
	w.Helper()
	doc, err := api.Encode(r)
	w.must(err)
	answer, err := w.relay.Relay(w.Context(), doc)
	if err != nil {
		return api.RelayResponse{}, err
	}
	var out api.RelayResponse
	w.must(answer.Decode(&out))
	return out, nil
}

// done posts a request that must succeed and returns its receipt.
func (w *world) done(chainID uint64, r api.RelayRequest) chain.Receipt {
	w.Helper()
	out, err := w.send(r)
	w.must(err)
	if out.Chain != r.Chain || out.ExplorerURL != "https://here.example/api/explorer/"+r.Chain+"/tx/"+out.Hash {
		w.Fatalf("%+v", out)
	}
	receipt, found, err := w.in.Chains[chainID].Receipt(context.Background(), common.HexToHash(out.Hash))
	w.must(err)
	if !found || !receipt.Success {
		w.Fatalf("found %t, %+v", found, receipt)
	}
	return receipt
}

// refused posts a request that must fail with a name, at a path when it is a validation error, in words that contain
// want. Nothing is sealed.
func (w *world) refused(r api.RelayRequest, name, path, want string) {
	w.Helper()
	heads := w.heads()
	_, err := w.send(r)
	var e *api.Error
	if !errors.As(err, &e) || e.Name != name || !strings.Contains(e.Message, want) ||
		path != "" && (len(e.Details) == 0 || e.Details[0].Path != path) {
		w.Errorf("%v: want %s at %q with %q", err, name, path, want)
	}
	for id, n := range w.heads() {
		if heads[id] != n {
			w.Errorf("a block was sealed on %d", id)
		}
	}
}

func (w *world) heads() map[uint64]uint64 {
	out := map[uint64]uint64{}
	for id, c := range w.in.Chains {
		out[id] = c.Head().Number
	}
	return out
}

func (w *world) roles(chainID uint64) api.RolesResponse {
	w.Helper()
	r, err := w.relay.Roles(w.Context(), caip.EVM(chainID), w.at)
	w.must(err)
	return r
}

func (w *world) state(chainID uint64) chain.State {
	w.Helper()
	st, err := w.in.Chains[chainID].State(context.Background(), uint64(w.clock().Unix()))
	w.must(err)
	return st
}

// accountState is what quote and settlement make of the account with a session key.
func (w *world) accountState(chainID uint64, session *ecdsa.PrivateKey) (smartaccount.Account, error) {
	w.Helper()
	wire := w.wire
	wire.SessionAddress = crypto.PubkeyToAddress(session.PublicKey).Hex()
	a, err := smartaccount.Open(w.in.Pins, wire)
	w.must(err)
	st := w.state(chainID)
	defer st.Close()
	_, err = a.State(st, chainID)
	return a, err
}

// runs reports whether the entry point takes an operation of the session key and the co-signer.
func (w *world) runs(chainID uint64, session *ecdsa.PrivateKey, a smartaccount.Account) bool {
	w.Helper()
	o := w.operation(chainID, op.Call{To: common.Address{0xaa}, Value: new(big.Int)})
	d := op.RoleBasedDomain(chainID, w.in.Pins.RoleBasedValidator)
	o.Signature = sign(d.ApproveDigest(op.CallDataAndNonceHash(o.Sender, o.CallData, o.Nonce)), session)
	o, err := a.CoSign(context.Background(), o, chainID, w.in.CoSigner)
	w.must(err)
	data, err := op.HandleOpsCall(w.in.Operator.Address(), o)
	w.must(err)
	st := w.state(chainID)
	defer st.Close()
	return st.Call(chain.Message{From: w.in.Operator.Address(), To: w.in.Pins.EntryPoint,
		Data: data}).Err == nil
}

// fund pays the account coins and USDC on Base.
func (w *world) fund(wei, usdc int64) {
	w.Helper()
	_, err := w.in.Chains[base].Seal(context.Background(),
		chain.SealRequest{Time: uint64(w.clock().Unix()), Accept: chain.AllSucceed,
			Txs: []chain.Tx{
				{From: w.in.Faucet, To: w.at, Value: big.NewInt(wei)},
				{From: w.in.Faucet, To: common.HexToAddress(usdcBase), Data: erc20.Transfer(w.at, big.NewInt(usdc))},
			}})
	w.must(err)
}

func (w *world) holds(who common.Address, wei, usdc int64) {
	w.Helper()
	asset, err := caip.ParseAsset("eip155:8453/erc20:" + usdcBase)
	w.must(err)
	tokens, err := w.in.Balance(context.Background(), who, asset)
	w.must(err)
	st := w.state(base)
	defer st.Close()
	if st.Balance(who).Int64() != wei || tokens.Int64() != usdc {
		w.Errorf("%s holds %s wei and %s USDC, want %d and %d", who, st.Balance(who), tokens, wei, usdc)
	}
}

// sweep is everything that the account has on Base.
func (w *world) sweep(to common.Address, wei, usdc int64) []op.Call {
	return []op.Call{
		{To: common.HexToAddress(usdcBase), Value: new(big.Int), Data: erc20.Transfer(to, big.NewInt(usdc))},
		{To: to, Value: big.NewInt(wei)},
	}
}
