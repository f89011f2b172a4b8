package adminrelay_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/adminrelay"
	"coffer/api/service/chain"
	"coffer/api/service/outbox"
)

// Rotate on two chains, one where the account is not deployed yet: there and only there the new key counts and the old
// one does not.
func TestRotationChangesTheSessionKeyOnEachChainThatWasNamed(t *testing.T) {
	w := newWorld(t)
	fresh := key("new session")
	to := crypto.PubkeyToAddress(fresh.PublicKey)
	w.done(optimism, w.message(optimism, api.AdminCancelExit, 0, common.Address{})) // deploys it with its first key
	old, err := w.accountState(optimism, w.session)
	if err != nil || !w.runs(optimism, w.session, old) {
		t.Fatalf("the first key: %v", err)
	}
	for id, nonce := range map[uint64]int64{base: 0, optimism: 1} {
		before := w.heads()[id]
		r := w.done(id, w.message(id, api.AdminRotateSession, nonce, to))
		if w.heads()[id] != before+1 {
			t.Errorf("%d blocks for one message", w.heads()[id]-before)
		}
		if deploys := id == base; deploys != (r.Index == 1) {
			t.Errorf("the message is transaction %d of its block", r.Index)
		}
		roles := w.roles(id)
		if !roles.Deployed || roles.SessionAddress != to.Hex() || roles.AdminAddress != w.wire.AdminAddress ||
			roles.AdminNonce != big.NewInt(nonce+1).String() ||
			roles.CoSigner != w.in.Pins.CoSigner.Hex() || roles.ExitAvailableAt != 0 {
			t.Errorf("%+v", roles)
		}
		if _, err := w.accountState(id, w.session); err == nil || !strings.Contains(err.Error(), "replaced") {
			t.Errorf("the old key on %d: %v", id, err)
		}
		if w.runs(id, w.session, old) {
			t.Errorf("the contract on %d takes the old key", id)
		}
		a, err := w.accountState(id, fresh)
		if err != nil || !w.runs(id, fresh, a) {
			t.Errorf("the new key on %d: %v", id, err)
		}
	}
	if _, err := w.accountState(1, w.session); err != nil {
		t.Errorf("a chain that was not named: %v", err)
	}
}

// Announce; before the delay the admin is refused, after it everything leaves.
func TestExitSweepsAfterItsDelayAndNotBefore(t *testing.T) {
	w := newWorld(t)
	w.fund(1_000, 500)
	safe := common.Address{0x5a, 0xfe}
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	if r := w.roles(base); r.ExitAvailableAt != start+86_400 || r.AdminNonce != "1" {
		t.Fatalf("%+v", r)
	}
	if _, err := w.accountState(base, w.session); err == nil {
		t.Error("the co-signer still signs")
	}
	sweep := w.operate(base, w.operation(base, w.sweep(safe, 1_000, 500)...), w.admin)
	w.refused(sweep, api.ErrSimulationFailed, "", "AA22")
	w.advance(day - time.Second)
	w.refused(sweep, api.ErrSimulationFailed, "", "opens at 2025-10-10T08:53:20Z")
	w.advance(2 * time.Second)
	w.done(base, sweep)
	w.holds(safe, 1_000, 500)
	w.holds(w.at, 0, 0)
	w.refused(sweep, api.ErrValidation, "userOp.nonce", "next nonce")
	w.fund(70, 7)
	w.done(base, w.operate(base, w.operation(base, w.sweep(safe, 70, 7)...), w.admin))
	w.holds(safe, 1_070, 507)
}

func TestCancelledExitStopsTheAdmin(t *testing.T) {
	w := newWorld(t)
	w.fund(1_000, 500)
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	w.advance(day + time.Second)
	sweep := w.operate(base, w.operation(base, w.sweep(common.Address{1}, 1_000, 500)...), w.admin)
	w.done(base, w.message(base, api.AdminCancelExit, 1, common.Address{}))
	w.refused(sweep, api.ErrValidation, "action", "exit was announced")
	w.holds(w.at, 1_000, 500)
	if a, err := w.accountState(base, w.session); err != nil || !w.runs(base, w.session, a) {
		t.Errorf("the session key after it: %v", err)
	}
	// Announced again the delay begins anew.
	w.done(base, w.message(base, api.AdminAnnounceExit, 2, common.Address{}))
	w.refused(sweep, api.ErrSimulationFailed, "", "AA22")
}

func TestMessagesThatTheContractWouldRefuseAreRefusedInPlainWords(t *testing.T) {
	w := newWorld(t)
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	to := common.Address{0x11}
	forged := func(r api.RelayRequest, f func(*api.RelayRequest)) api.RelayRequest { f(&r); return r }
	good := w.message(base, api.AdminRotateSession, 1, to)
	for name, c := range map[string]struct {
		r          api.RelayRequest
		path, want string
	}{
		"old nonce": {w.message(base, api.AdminRotateSession, 0, to), "nonce",
			"next admin nonce on eip155:8453, 1"},
		"later nonce": {w.message(base, api.AdminCancelExit, 2, common.Address{}), "nonce",
			"next admin nonce on eip155:8453, 1"},
		"announced twice": {w.message(base, api.AdminAnnounceExit, 1, common.Address{}), "action",
			"an exit announced, open from 2025-10-10T08:53:20Z"},
		"another key": {w.messageBy(key("thief"), base, api.AdminRotateSession, 1, to), "signature",
			"the account's admin, " + w.wire.AdminAddress},
		"for another chain": {forged(w.message(optimism, api.AdminRotateSession, 1, to),
			func(r *api.RelayRequest) { r.Chain = "eip155:8453" }), "signature", "admin"},
		"another session": {forged(good, func(r *api.RelayRequest) { r.NewSession = common.Address{0x12}.Hex() }),
			"signature", "admin"},
		"another action": {forged(w.message(base, api.AdminAnnounceExit, 1, common.Address{}),
			func(r *api.RelayRequest) { r.Action = api.AdminCancelExit }), "signature", "admin"},
		"session is admin": {w.message(base, api.AdminRotateSession, 1, crypto.PubkeyToAddress(w.admin.PublicKey)),
			"newSession",
			"neither"},
		"session is co-signer": {w.message(base, api.AdminRotateSession, 1, w.in.Pins.CoSigner), "newSession",
			"neither"},
		"zero session": {forged(good, func(r *api.RelayRequest) { r.NewSession = common.Address{}.Hex() }),
			"newSession", "0x address"},
		"no session": {forged(good, func(r *api.RelayRequest) { r.NewSession = "" }), "newSession",
			"0x address"},
		"session with cancel": {forged(w.message(base, api.AdminCancelExit, 1, common.Address{}),
			func(r *api.RelayRequest) { r.NewSession = to.Hex() }), "newSession", "nothing"},
		"nonce in hex": {forged(good, func(r *api.RelayRequest) { r.Nonce = "0x1" }), "nonce", "decimal"},
		"short signature": {forged(good, func(r *api.RelayRequest) { r.Signature = r.Signature[:130] }),
			"signature", "65 bytes"},
		"signature without 0x": {forged(good, func(r *api.RelayRequest) { r.Signature = r.Signature[2:] }), "signature",
			"65 bytes"},
		"unknown action": {forged(good, func(r *api.RelayRequest) { r.Action = "upgrade" }), "action",
			"rotate-session"},
		"unknown chain": {forged(good, func(r *api.RelayRequest) { r.Chain = "eip155:5" }), "chain",
			"a supported chain"},
		"solana": {forged(good, func(r *api.RelayRequest) { r.Chain = caip.SolanaMainnet().String() }),
			"chain", "a CAIP-2 chain such as eip155:8453"},
		"an operation too": {forged(good, func(r *api.RelayRequest) { r.UserOp = &api.UserOp{} }), "userOp", "nothing"},
		"another account": {forged(good, func(r *api.RelayRequest) {
			r.Account.AccountAddress = common.Address{
				9}.Hex()
		}), "account.accountAddress", "of these keys"},
		"a contract": {forged(good, func(r *api.RelayRequest) {
			r.Account.AccountAddress =
				w.in.Pins.Escrow.Hex()
		}), "account.accountAddress", "role-based"},
		"a kernel account": {forged(good, func(r *api.RelayRequest) { r.Account = w.kernel() }), "account.type",
			"role-based"},
		"a solana account": {forged(good, func(r *api.RelayRequest) {
			r.Account = api.Account{Type: api.AccountSolana,
				AccountAddress: "1"}
		}), "account.type", "type"},
	} {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			w.refused(c.r, api.ErrValidation, c.path, c.want)
		})
	}
	w.TB = t
	w.done(base, good)
}

func (w *world) kernel() api.Account {
	p, owner := w.in.Pins, crypto.PubkeyToAddress(key("owner").PublicKey)
	at := op.PredictAddress(p.Factory, p.KernelV31, op.InitDataECDSA(p.ECDSAValidator, owner), new(big.Int))
	return api.Account{Type: api.AccountKernelV31, SignerAddress: owner.Hex(), AccountAddress: at.Hex()}
}

func TestOperationsThatAreNotTheAdminsAloneAreRefused(t *testing.T) {
	w := newWorld(t)
	w.fund(1_000, 500)
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	w.advance(day + time.Second)
	call := op.Call{To: common.Address{1}, Value: big.NewInt(1)}
	good := w.operation(base, call)
	with := func(f func(*op.UserOp)) op.UserOp { o := good; f(&o); return o }
	pay, make := w.in.Pins.Paymaster, w.in.Pins.MetaFactory
	other := op.Nonce{Validator: w.in.Pins.ECDSAValidator}.Big()
	for name, c := range map[string]struct {
		o          op.UserOp
		path, want string
	}{
		"another sender": {with(func(o *op.UserOp) { o.Sender = common.Address{7} }), "userOp.sender",
			"the account"},
		"another validator": {with(func(o *op.UserOp) { o.Nonce = other }), "userOp.nonce", "role-based validator"},
		"mode that enables": {with(func(o *op.UserOp) { o.Nonce = new(big.Int).SetBit(o.Nonce, 248, 1) }),
			"userOp.nonce", "mode 00"},
		"a later nonce": {with(func(o *op.UserOp) { o.Nonce = new(big.Int).Add(o.Nonce, big.NewInt(1)) }),
			"userOp.nonce", "next nonce"},
		"fees": {with(func(o *op.UserOp) { o.MaxFeePerGas = big.NewInt(1) }), "userOp.maxFeePerGas", "no fees"},
		"priority fee": {with(func(o *op.UserOp) { o.MaxPriorityFeePerGas = big.NewInt(1) }), "userOp.maxFeePerGas",
			"no fees"},
		"paymaster": {with(func(o *op.UserOp) {
			o.Paymaster, o.PaymasterVerificationGasLimit, o.PaymasterPostOpGasLimit = &pay, new(big.Int), new(big.Int)
			o.PaymasterData = []byte{1}
		}), "userOp.paymaster", "nothing"},
		"factory": {with(func(o *op.UserOp) { o.Factory, o.FactoryData = &make, []byte{1} }), "userOp.factory",
			"nothing"},
		"call gas": {with(func(o *op.UserOp) { o.CallGasLimit = big.NewInt(8_000_001) }), "userOp.callGasLimit",
			"at most"},
		"verification gas": {with(func(o *op.UserOp) { o.VerificationGasLimit = big.NewInt(1_000_001) }),
			"userOp.verificationGasLimit", "at most"},
		"a call to itself": {with(func(o *op.UserOp) {
			self, err := op.EncodeExecute([]op.Call{call, {To: o.Sender, Value: new(big.Int)}})
			w.must(err)
			o.CallData = self
		}), "userOp.callData", "others"},
		"another function": {with(func(o *op.UserOp) { o.CallData = []byte{1, 2, 3, 4} }), "userOp.callData",
			"execute"},
	} {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			w.refused(w.operate(base, c.o, w.admin), api.ErrValidation, c.path, c.want)
		})
	}
	w.TB = t
	for _, who := range []string{"session", "thief"} {
		w.refused(w.operate(base, good, key(who)), api.ErrValidation, "userOp.signature", "admin")
	}
	w.refused(w.operate(optimism, w.operation(optimism, call), w.admin), api.ErrValidation, "action",
		"no announced exit on eip155:10")
	foreign := w.operate(base, good, w.admin)
	foreign.Account = w.kernel()
	w.refused(foreign, api.ErrValidation, "account.type", "role-based")
	extra := w.operate(base, good, w.admin)
	extra.Nonce, extra.Signature = "1", "0x"
	w.refused(extra, api.ErrValidation, "nonce", "nothing: operate takes no nonce")
	none := w.operate(base, good, w.admin)
	none.UserOp = nil
	w.refused(none, api.ErrValidation, "userOp", "an object")
	w.done(base, w.operate(base, good, w.admin))
}

func TestOperationWhoseCallsFailIsNotSealed(t *testing.T) {
	w := newWorld(t)
	w.fund(1_000, 500)
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	w.advance(day + time.Second)
	calls := w.sweep(common.Address{1}, 1_000, 501)
	calls[0], calls[1] = calls[1], calls[0]
	w.refused(w.operate(base, w.operation(base, calls...), w.admin), api.ErrSimulationFailed, "",
		"call 1 of the operation would revert: ERC20InsufficientBalance")
	w.holds(w.at, 1_000, 500)
}

// Many clients send the same message, and another one with the same nonce: one wins.
func TestOneOfManyMessagesWithOneNonceWins(t *testing.T) {
	w := newWorld(t)
	rotate, announce := w.message(base, api.AdminRotateSession, 0, common.Address{0x11}),
		w.message(base, api.AdminAnnounceExit, 0, common.Address{})
	before := w.heads()[base]
	errs := make([]error, 12)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			r := rotate
			if i%2 == 1 {
				r = announce
			}
			_, errs[i] = w.send(r)
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !strings.Contains(err.Error(), "next admin nonce on eip155:8453, 1") {
			t.Error(err)
		}
	}
	if won != 1 || w.heads()[base] != before+1 || w.roles(base).AdminNonce != "1" {
		t.Errorf("%d won in %d blocks", won, w.heads()[base]-before)
	}
}

// A commit that fails leaves nothing behind, deployment included, and the same message works afterwards.
func TestFailedCommitLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	r := w.message(base, api.AdminAnnounceExit, 0, common.Address{})
	full := errors.New("the disk is full")
	w.fails.set(full)
	before := w.heads()[base]
	var answered *api.Error
	if _, err := w.send(r); !errors.Is(err, full) || errors.As(err, &answered) {
		t.Fatalf("%v", err)
	}
	if roles := w.roles(base); roles.Deployed || w.heads()[base] != before {
		t.Errorf("%+v at block %d", roles, w.heads()[base])
	}
	w.fails.set(nil)
	w.done(base, r)
}

// Somebody else deploys the account, or relays the message, between the look and the commit: Seal judges by what is
// true then.
func TestAccountThatSomebodyElseDeployedTakesTheMessage(t *testing.T) {
	w := newWorld(t)
	p := w.in.Pins
	init := op.InitDataRoleBased(p.RoleBasedValidator, crypto.PubkeyToAddress(w.session.PublicKey),
		crypto.PubkeyToAddress(w.admin.PublicKey),
		p.CoSigner)
	deploy := chain.Tx{From: w.in.Operator, To: p.MetaFactory, Data: op.FactoryData(p.Factory, init, new(big.Int))}
	_, err := w.in.Chains[base].Seal(context.Background(), chain.SealRequest{Time: start, Accept: chain.AllSucceed,
		Txs: []chain.Tx{deploy}})
	w.must(err)
	if r := w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{})); r.Index != 0 {
		t.Errorf("transaction %d", r.Index)
	}
}

func TestRolesOfWhatIsNoRoleBasedAccount(t *testing.T) {
	w := newWorld(t)
	if r := w.roles(base); r.Deployed || r.AdminNonce != "0" || r.SessionAddress != "" {
		t.Errorf("%+v", r)
	}
	ask := func(ctx context.Context, on caip.Chain, at common.Address) error {
		_, err := w.relay.Roles(ctx, on, at)
		return err
	}
	var e *api.Error
	if err := ask(t.Context(), caip.EVM(base), w.in.Pins.Escrow); !errors.As(err, &e) ||
		e.Name != api.ErrValidation || e.Details[0].Path != "account" {
		t.Errorf("a contract: %v", err)
	}
	for _, on := range []caip.Chain{caip.EVM(5), caip.SolanaMainnet()} {
		if err := ask(t.Context(), on, w.at); !errors.As(err, &e) || e.Name != api.ErrValidation {
			t.Errorf("%s: %v", on, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(over, caip.EVM(base), w.at); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	doc, err := api.Encode(w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	w.must(err)
	if _, err := w.relay.Relay(over, doc); !errors.Is(err, context.Canceled) || w.roles(base).Deployed {
		t.Errorf("%v", err)
	}
}

// Whatever comes in is answered with an error of the interface, and an account of these keys changes by its admin's
// signature alone.
func FuzzRelay(f *testing.F) {
	w := newWorld(f)
	w.done(base, w.message(base, api.AdminAnnounceExit, 0, common.Address{}))
	for _, r := range []api.RelayRequest{
		w.message(base, api.AdminRotateSession, 7, common.Address{1}),
		w.message(optimism, api.AdminCancelExit, 7, common.Address{}),
		w.operate(base, w.operation(base, op.Call{To: common.Address{1}, Value: new(big.Int)}), key("thief")), {},
	} {
		doc, err := api.Encode(r)
		w.must(err)
		f.Add(doc.Raw())
	}
	f.Add([]byte(`{"account":null,"userOp":{}}`))
	before := w.roles(base)
	f.Fuzz(func(t *testing.T, raw []byte) {
		w.TB = t
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		var e *api.Error
		if _, err := w.relay.Relay(t.Context(), doc); !errors.As(err, &e) {
			t.Errorf("%v", err)
		}
		if now := w.roles(base); now != before {
			t.Errorf("%+v, it was %+v", now, before)
		}
	})
}

// racing lets something else happen on the chain just before a block is sealed.
type racing struct {
	chain.Chain
	first func()
}

// Seal runs first once.
func (r *racing) Seal(ctx context.Context, s chain.SealRequest) (chain.Block, error) {
	if f := r.first; f != nil {
		r.first = nil
		f()
	}
	return r.Chain.Seal(ctx, s)
}

func TestMessageOvertakenBeforeItsCommitIsToldTheNonce(t *testing.T) {
	w := newWorld(t)
	overtaker, late := w.message(base, api.AdminAnnounceExit, 0, common.Address{}),
		w.message(base, api.AdminRotateSession, 0, common.Address{0x11})
	c := &racing{Chain: w.in.Chains[base]}
	w.in.Chains[base] = c
	other := adminrelay.New(w.relay.Deps)
	c.first = func() {
		doc, err := api.Encode(overtaker)
		w.must(err)
		_, err = other.Relay(t.Context(), doc)
		w.must(err)
	}
	if _, err := w.send(late); err == nil || !strings.Contains(err.Error(), "next admin nonce on eip155:8453, 1") {
		t.Errorf("%v", err)
	}
	if r := w.roles(base); r.AdminNonce != "1" || r.SessionAddress != w.wire.SessionAddress {
		t.Errorf("%+v", r)
	}
}

// delayed is a port whose steps are final only once a test waits for them.
type delayed struct {
	outbox.EVM
	receipts map[string][]chain.Receipt
}

func (d delayed) Send(ctx context.Context, s outbox.EVMStep) (bool, error) {
	s.Final = func(rs []chain.Receipt) outbox.Change {
		d.receipts[s.ID] = rs
		return nil
	}
	_, err := d.EVM.Send(ctx, s)
	return false, err
}

func (d delayed) Result(_ context.Context, id string) ([]chain.Receipt, error) {
	return d.receipts[id], nil
}

func TestAMessageOnASlowChainIsToldWhenItIsFinal(t *testing.T) {
	w := newWorld(t)
	sent := map[string][]chain.Receipt{}
	slow := delayed{w.in.Outbox.EVM(base), sent}
	w.in.Outbox.EVM = func(uint64) outbox.EVM { return slow }
	for nonce, action := range []string{api.AdminAnnounceExit, api.AdminCancelExit} {
		out, err := w.send(w.message(base, action, int64(nonce), common.Address{}))
		w.must(err)
		if r, found, err := w.in.Chains[base].Receipt(t.Context(), common.HexToHash(out.Hash)); err != nil || !found ||
			!r.Success || len(sent) != nonce+1 {
			t.Errorf("%s: %s is no transaction that succeeded (%v), %d steps", action, out.Hash, err, len(sent))
		}
	}
}
