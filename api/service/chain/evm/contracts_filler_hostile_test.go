package evm_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// Tricks of the hostile token.
const (
	noTrick = iota
	takesFee
	answersFalse
	answersNothing
	movesNothing
	takesBack
	liesAboutBalances
)

func (w *fillWorld) tricks(trick uint8) {
	w.t.Helper()
	w.send(w.relayer, w.hostileToken, 0, "setTrick", trick)
}

// truth is what an address has of the hostile token.
func (w *fillWorld) truth(of common.Address) int64 {
	w.t.Helper()
	return get[*big.Int](w.world, w.hostileToken, "truth", of).Int64()
}

// What counts is what arrived. A token that says so of every transfer it ever made is believed: whoever demands such a
// token gets what it is worth.
func TestFillerMeasuresWhatATokenDelivers(t *testing.T) {
	w := newFillWorld(t)
	to := addressOf(key("recipient"))
	for quote, c := range map[uint32]struct {
		trick   uint8
		want    string
		arrives int64
	}{
		1: {noTrick, "", 100}, 2: {takesFee, "Underpaid(0,99)", 0}, 3: {answersFalse, "SafeERC20FailedOperation(", 0},
		4: {answersNothing, "", 100}, 5: {movesNothing, "Underpaid(0,0)", 0}, 6: {takesBack, "Underpaid(0,0)", 0},
		7: {liesAboutBalances, "", 0},
	} {
		w.tricks(c.trick)
		before := w.truth(to)
		terms := w.terms([]escrow.Minimum{minimum(w.hostileToken.at, to, 100)})
		r := w.tryFill(w.hot, quote, terms, w.paysOf(terms))
		if got := w.decode(r.Revert); r.Success != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("trick %d: success %t, %s", c.trick, r.Success, got)
		}
		w.tricks(noTrick)
		if got := w.truth(to) - before; got != c.arrives {
			t.Errorf("trick %d: %d arrived", c.trick, got)
		}
	}
	// The filler can pay more so that the minimum arrives.
	w.tricks(takesFee)
	terms := w.terms([]escrow.Minimum{minimum(w.hostileToken.at, to, 99)})
	pays := w.paysOf(terms)
	pays[0].Amount = big.NewInt(100)
	if r := w.tryFill(w.hot, 9, terms, pays); !r.Success {
		t.Error(w.decode(r.Revert))
	}
	// The honest stock was never touched.
	w.holds(w.filler.at, stock, stock)
}

// calls are what is tried against the filler while it is busy, by an account that is both hot and its owner.
func (w *fillWorld) reentries() map[string][]byte {
	w.t.Helper()
	terms := w.payout(1)
	fill, err := filler.FillCalldata([32]byte{0xee}, w.payer, terms, w.paysOf(terms))
	w.check(err)
	a := w.ecdsaAccount(key("another owner"))
	run, err := filler.RunCalldata(w.now+60, w.op(a, 0, w.transfer(a.at, 0)))
	w.check(err)
	return map[string][]byte{
		"fill": fill, "run": run, "void": filler.VoidCalldata([32]byte{0xee}),
		"refund":   filler.RefundCalldata(w.escrow.at, [32]byte{0xee}, a.at),
		"withdraw": w.pack(w.filler, "withdraw", w.token.at, a.at, big.NewInt(1)),
	}
}

// Token, recipient and account, each with every right there is, meet a closed door while the filler is busy.
func TestFillerIsClosedWhileItIsBusy(t *testing.T) {
	for _, who := range []string{"HostileToken", "HostileRecipient", "HostileAccount", "HostileAccount validating"} {
		name, when, _ := strings.Cut(who, " ")
		first := newFillWorld(t)
		actor := map[string]named{"HostileToken": first.hostileToken, "HostileRecipient": first.recipient,
			"HostileAccount": first.hostile}[name]
		w := newFillWorldOwned(t, actor.at)
		w.send(w.relayer, actor, 0, "exec", w.filler.at, w.pack(w.filler, "setHot", actor.at, true))
		if when != "" {
			w.send(w.relayer, w.hostile, 0, "setWhen", true)
		}
		quote := uint32(0)
		for what, data := range w.reentries() {
			for _, mode := range []uint8{callAndGoOn, callOrFail} {
				w.run(who+" "+what, func(t *testing.T) {
					quote++
					w.behaves(actor, mode, w.filler.at, data)
					var minimums []escrow.Minimum
					var ops []op.UserOp
					switch name {
					case "HostileToken":
						minimums = []escrow.Minimum{minimum(w.hostileToken.at, addressOf(key("recipient")), 1)}
					case "HostileRecipient":
						minimums = []escrow.Minimum{minimum(native(), w.recipient.at, 1)}
					default:
						ops = []op.UserOp{w.hostileOp()}
					}
					terms := w.terms(minimums, ops...)
					r := w.tryFill(w.hot, quote, terms, w.paysOf(terms), ops...)
					if r.Success != (mode == callAndGoOn) {
						t.Fatalf("mode %d: success %t, %s", mode, r.Success, w.decode(r.Revert))
					}
					if mode == callAndGoOn {
						if got := w.answered(actor); got != "Reentered()" {
							t.Errorf("it was told %s", got)
						}
					} else if got := w.decode(r.Revert); name != "HostileRecipient" &&
						!strings.Contains(got, "Reentered()") {
						t.Error(got)
					}
				})
			}
		}
		if w.isUsed([32]byte{0xee}) || w.tokens(w.filler.at) != stock {
			t.Errorf("%s got in", who)
		}
		// Nothing but the guard stood in the way.
		w.send(w.relayer, actor, 0, "exec", w.filler.at, w.reentries()["withdraw"])
		w.send(w.relayer, actor, 0, "exec", w.filler.at, w.reentries()["fill"])
	}
}

// A recipient that is paid cannot start the operations itself: they are valid only afterwards.
func TestFillerLetsNoRecipientRunTheOperationFirst(t *testing.T) {
	w := newFillWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	to := addressOf(key("recipient"))
	w.give(a.at, 10, 0)
	work := w.op(a, 0, w.transfer(to, 10))
	p, err := work.Pack()
	w.check(err)
	w.behaves(w.recipient, callAndGoOn, w.entryPoint.at,
		w.pack(w.entryPoint, "handleOps", []op.PackedUserOp{p}, w.recipient.at))
	w.fills(1, w.terms([]escrow.Minimum{minimum(native(), w.recipient.at, 1)}, work), work)
	if got := w.answered(w.recipient); !strings.Contains(got, "AA33") || !strings.Contains(got, "NotExpected(") {
		t.Error(got)
	}
	w.holds(to, 10, 0)
}

// An account cannot run another bundle, nor tell the filler in the entry point's name that a failed operation
// succeeded.
func TestFillerBelievesNoForgedSuccess(t *testing.T) {
	w := newFillWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	failing := w.op(a, 0, w.transfer(addressOf(key("recipient")), 1)) // it has nothing
	// The entry point runs anybody's code as its own, and undoes it: here code that calls postOp.
	hash := w.opHash(failing)
	postOp := w.pack(w.filler, "postOp", uint8(0), hash[:], new(big.Int), new(big.Int))
	forgery := w.pack(w.entryPoint, "delegateAndRevert", w.recipient.at,
		w.pack(w.recipient, "exec", w.filler.at, postOp))
	p, err := failing.Pack()
	w.check(err)
	bundle := w.pack(w.entryPoint, "handleOps", []op.PackedUserOp{p}, w.hostile.at)
	for _, validating := range []bool{false, true} {
		w.send(w.relayer, w.hostile, 0, "setWhen", validating)
		for want, data := range map[string][]byte{"DelegateAndRevert(true,": forgery,
			"ReentrancyGuardReentrantCall()": bundle} {
			w.behaves(w.hostile, callAndGoOn, w.entryPoint.at, data)
			u := w.hostileOp()
			r := w.tryFill(w.hot, 1, w.terms(nil, u), nil, u, failing)
			w.refuses("OperationFailed(1,[ERC20InsufficientBalance(", r)
			r = w.tryFill(w.hot, 1, w.terms(nil, failing), nil, failing, u)
			w.refuses("OperationFailed(0,[ERC20InsufficientBalance(", r)
			// Alone it succeeds, and says what it was told.
			if r := w.tryRun(w.hot, w.now, u); !r.Success {
				t.Fatal(w.decode(r.Revert))
			}
			if got := w.answered(w.hostile); !strings.HasPrefix(got, want) {
				t.Errorf("it was told %s, want %s", got, want)
			}
		}
	}
}

// A recipient that takes nothing, or all the gas, stops its own fill and nothing else.
func TestFillerIsNotStoppedByAHostileRecipient(t *testing.T) {
	w := newFillWorld(t)
	bad := w.terms([]escrow.Minimum{minimum(native(), w.recipient.at, 1)})
	for _, mode := range []uint8{reverts, burnsGas, floods} {
		w.behaves(w.recipient, mode, common.Address{}, nil)
		w.refuses("", w.tryFill(w.hot, 1, bad, w.paysOf(bad)))
		if w.isUsed([32]byte{1}) {
			t.Error("the id is used up")
		}
	}
	// Coins that it passes on in the same moment have not arrived.
	w.behaves(w.recipient, callOrFail, w.recipient.at, w.pack(w.recipient, "pass", common.Address{0x99}))
	w.refuses("Underpaid(0,0)", w.tryFill(w.hot, 1, bad, w.paysOf(bad)))
	w.fills(2, w.payout(5))
	w.send(w.hot, w.filler, 0, "void", [32]byte{1})
}

// The escrow against the same tokens: it holds only what arrived, and pays no one from another deposit.
func TestEscrowTrustsNoToken(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	u := addressOf(user)
	w.allows(user, 1000)
	terms := w.payout(5)
	w.deposits(user, 1, w.token.at, 100, terms)
	w.send(w.relayer, w.hostileToken, 0, "mint", u, big.NewInt(1000))
	d := escrow.Deposit{QuoteID: [32]byte{2}, Token: w.hostileToken.at, Amount: big.NewInt(100),
		RefundDeadline: terms.FillDeadline + 60}
	for trick, want := range map[uint8]string{takesFee: "TransferFailed()", answersFalse: "SafeERC20FailedOperation(",
		movesNothing: "TransferFailed()", takesBack: "TransferFailed()"} {
		w.tricks(trick)
		w.refuses(want, w.tryDeposit(user, 0, d, terms))
	}
	w.tricks(noTrick)
	for mode, want := range map[uint8]string{reverts: "hostile", burnsGas: "", floods: ""} {
		w.behaves(w.hostileToken, mode, common.Address{}, nil)
		w.refuses(want, w.tryDeposit(user, 0, d, terms))
	}
	// It comes back while it is asked to move, and finds the escrow closed.
	w.now = terms.FillDeadline
	for _, data := range [][]byte{escrow.RefundCalldata([32]byte{1}, u), escrow.DepositCalldata(d, terms),
		escrow.ReleaseCalldata([32]byte{1}, u, w.attest(w.at, 1, u, w.heldBy(1, u).terms,
			w.attesters[:2]...))} {
		w.behaves(w.hostileToken, callOrFail, w.escrow.at, data)
		w.refuses("Reentered()", w.tryDeposit(user, 0, d, terms))
		w.behaves(w.hostileToken, callAndGoOn, w.escrow.at, data) // and says nothing of it
		w.tricks(movesNothing)
		w.refuses("TransferFailed()", w.tryDeposit(user, 0, d, terms))
		w.tricks(noTrick)
	}
	if d := w.heldBy(2, u); d != (heldDeposit{}) {
		t.Errorf("%+v", d)
	}
	w.behaves(w.hostileToken, peaceful, common.Address{}, nil)
	w.tricks(answersNothing)
	if r := w.tryDeposit(user, 0, d, terms); !r.Success {
		t.Error(w.decode(r.Revert))
	}
	// Once inside, a token that stops moving holds its own deposit back, and only that.
	w.tricks(answersFalse)
	w.now = d.RefundDeadline + 1
	w.refuses("SafeERC20FailedOperation(", w.tryRefund(user, 2, u))
	w.refuses("SafeERC20FailedOperation(", w.tryRelease(user, 2, u,
		w.attest(w.at, 2, u, w.heldBy(2, u).terms, w.attesters[:2]...)))
	if d := w.heldBy(2, u); d.state != held {
		t.Errorf("%+v", d)
	}
	if r := w.tryRefund(user, 1, u); !r.Success {
		t.Error(w.decode(r.Revert))
	}
	w.tricks(noTrick)
	if r := w.tryRefund(user, 2, u); !r.Success {
		t.Error(w.decode(r.Revert))
	}
	if w.truth(u) != 1000 {
		t.Errorf("%d came back", w.truth(u))
	}
}

// A depositor that is a contract: it takes its refund once, not at all, or never.
func TestEscrowPaysADepositorOnce(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	w.allows(user, 0)
	terms := w.payout(5)
	w.deposits(user, 1, native(), 100, terms) // other coins lie beside
	at := w.recipient.at
	d := escrow.Deposit{QuoteID: [32]byte{1}, Amount: big.NewInt(10), RefundDeadline: terms.FillDeadline + 60}
	w.send(w.relayer, w.recipient, 10, "exec", w.escrow.at, escrow.DepositCalldata(d, terms))
	w.now = d.RefundDeadline + 1
	refund := escrow.RefundCalldata([32]byte{1}, at)
	for mode, data := range map[uint8][]byte{reverts: nil, burnsGas: nil, floods: nil, callOrFail: refund} {
		w.behaves(w.recipient, mode, w.escrow.at, data)
		w.refuses("", w.tryRefund(w.relayer, 1, at))
		w.refuses("", w.tryRefund(w.operator, 1, at))
		if d := w.heldBy(1, at); d.state != held || w.wei(w.escrow.at) != 110 {
			t.Fatalf("mode %d: %+v", mode, d)
		}
	}
	// The guard covers every function while it pays.
	terms = w.payout(5)
	d.RefundDeadline = terms.FillDeadline + 60
	other := quoteID(9)
	u := addressOf(user)
	for i, data := range [][]byte{refund, escrow.RefundCalldata([32]byte{1}, u),
		escrow.ReleaseCalldata([32]byte{1}, u, w.attest(w.at, 1, u, w.heldBy(1, u).terms, w.attesters[:2]...)),
		escrow.DepositCalldata(escrow.Deposit{QuoteID: other, Token: w.token.at, Amount: big.NewInt(1),
			RefundDeadline: d.RefundDeadline}, terms)} {
		quote := uint32(1)
		if i > 0 {
			quote = uint32(20 + i)
			d.QuoteID = quoteID(quote)
			w.send(w.relayer, w.recipient, 10, "exec", w.escrow.at, escrow.DepositCalldata(d, terms))
		}
		w.behaves(w.recipient, callAndGoOn, w.escrow.at, data)
		r := w.transact(chain.Tx{From: signers.Local(w.hot), To: w.filler.at,
			Data: filler.RefundCalldata(w.escrow.at, quoteID(quote), at)})
		if !r.Success {
			t.Fatal(w.decode(r.Revert))
		}
		if got := w.answered(w.recipient); got != "Reentered()" {
			t.Errorf("call %d: %s", i, got)
		}
	}
	w.holds(at, 0, 40)
	w.holds(w.escrow.at, 0, 100)
	// The attested way pays the filler whatever the depositor is.
	w.behaves(w.recipient, reverts, common.Address{}, nil)
	terms = w.payout(6)
	d.QuoteID, d.RefundDeadline = [32]byte{2}, terms.FillDeadline+60
	w.send(w.relayer, w.recipient, 10, "exec", w.escrow.at, escrow.DepositCalldata(d, terms))
	w.releases(2, at)
	w.holds(w.filler.at, stock, stock+10)
}
