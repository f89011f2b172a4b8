package evm_test

import (
	"crypto/ecdsa"
	"math"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// States of a deposit.
const (
	held     = 1
	released = 2
	refunded = 3
)

type escrowed struct {
	token    common.Address
	deadline uint64
	state    uint8
	amount   int64
}

func (w *world) deposit(quote byte, depositor common.Address) escrowed {
	w.t.Helper()
	v := w.read(w.escrow, "deposits", [32]byte{quote}, depositor)
	return escrowed{v[0].(common.Address), v[1].(uint64), v[2].(uint8), v[3].(*big.Int).Int64()}
}

// approves lets the escrow take tokens of a user who has some of everything.
func (w *world) approves(user *ecdsa.PrivateKey, tokens int64) {
	w.t.Helper()
	w.give(addressOf(user), tokens, ether)
	w.send(user, w.token, 0, "approve", w.escrow.at, big.NewInt(math.MaxInt64))
}

func native() common.Address { return common.Address{} }

// eventOf decodes the only event of the escrow in a receipt.
func (w *world) eventOf(r chain.Receipt, name string) ([]common.Hash, []any) {
	w.t.Helper()
	e := w.abis["Escrow"].Events[name]
	for _, l := range r.Logs {
		if l.Address == w.escrow.at && l.Topics[0] == e.ID {
			v, err := e.Inputs.NonIndexed().Unpack(l.Data)
			w.check(err)
			return l.Topics[1:], v
		}
	}
	w.t.Fatalf("no event %s", name)
	return nil, nil
}

func TestEscrowHoldsADepositUntilItsRelease(t *testing.T) {
	w := newWorld(t)
	user, solver := key("user"), addressOf(key("solver"))
	u := addressOf(user)
	w.approves(user, 1000)
	quote, deadline := [32]byte{1}, w.now+100
	r := w.send(user, w.escrow, 0, "deposit", quote, w.token.at, big.NewInt(400), deadline)
	topics, data := w.eventOf(r, "Deposited")
	if topics[0] != quote || topics[1] != common.BytesToHash(u[:]) || topics[2] != common.BytesToHash(w.token.at[:]) ||
		data[0].(*big.Int).Int64() != 400 || data[1] != deadline {
		t.Fatalf("%v %v", topics, data)
	}
	if d := w.deposit(1, u); d != (escrowed{w.token.at, deadline, held, 400}) || w.tokens(w.escrow.at) != 400 ||
		w.tokens(u) != 600 {
		t.Fatalf("%+v", d)
	}
	w.now = deadline + 1000 // release has no end
	r = w.send(w.operator, w.escrow, 0, "release", quote, u, solver)
	topics, data = w.eventOf(r, "Released")
	if topics[2] != common.BytesToHash(solver[:]) || data[0] != w.token.at || data[1].(*big.Int).Int64() != 400 {
		t.Fatalf("%v %v", topics, data)
	}
	w.holds(solver, 400, 0)
	w.holds(w.escrow.at, 0, 0)
	if d := w.deposit(1, u); d.state != released {
		t.Fatalf("%+v", d)
	}
}

func TestEscrowHoldsNativeCoinsTheSameWay(t *testing.T) {
	w := newWorld(t)
	user, solver := key("user"), addressOf(key("solver"))
	u := addressOf(user)
	w.approves(user, 0)
	w.send(user, w.escrow, 70, "deposit", [32]byte{1}, native(), big.NewInt(70), w.now+100)
	w.send(user, w.escrow, 30, "deposit", [32]byte{2}, native(), big.NewInt(30), w.now+100)
	w.holds(w.escrow.at, 0, 100)
	w.send(w.operator, w.escrow, 0, "release", [32]byte{1}, u, solver)
	w.holds(solver, 0, 70)
	before := w.wei(u)
	w.send(w.operator, w.escrow, 0, "refund", [32]byte{2}, u)
	if got := w.wei(u) - before; got != 30 || w.wei(w.escrow.at) != 0 {
		t.Fatalf("%d came back", got)
	}
}

func TestEscrowRefusesADepositThatDoesNotAddUp(t *testing.T) {
	w := newWorld(t)
	user := key("user")
	w.approves(user, 1000)
	w.send(user, w.token, 0, "approve", w.escrow.at, big.NewInt(500))
	for name, c := range map[string]struct {
		value, amount int64
		token         common.Address
		deadline      uint64
		want          string
	}{
		"nothing":                {0, 0, w.token.at, w.now + 1, "InvalidAmount()"},
		"no coin":                {0, 0, native(), w.now + 1, "InvalidAmount()"},
		"coins with tokens":      {1, 5, w.token.at, w.now + 1, "InvalidAmount()"},
		"too few coins":          {4, 5, native(), w.now + 1, "InvalidAmount()"},
		"too many coins":         {6, 5, native(), w.now + 1, "InvalidAmount()"},
		"coins not sent":         {0, 5, native(), w.now + 1, "InvalidAmount()"},
		"deadline now":           {0, 5, w.token.at, w.now, "InvalidDeadline()"},
		"deadline over":          {0, 5, w.token.at, 0, "InvalidDeadline()"},
		"more than is allowed":   {0, 501, w.token.at, w.now + 1, "ERC20InsufficientAllowance("},
		"no contract":            {0, 5, common.Address{0x99}, w.now + 1, "0x"},
		"an EOA":                 {0, 5, addressOf(user), w.now + 1, "0x"},
		"a contract of no token": {0, 5, w.paymaster.at, w.now + 1, "0x"},
		"the escrow itself":      {0, 5, w.escrow.at, w.now + 1, "0x"},
		"EntryPoint's balanceOf": {0, 5, w.entryPoint.at, w.now + 1, ""},
	} {
		w.run(name, func(t *testing.T) {
			w.refuse(c.want, user, w.escrow, c.value, "deposit", [32]byte{1}, c.token, big.NewInt(c.amount), c.deadline)
			if d := w.deposit(1, addressOf(user)); d != (escrowed{}) {
				t.Fatalf("%+v", d)
			}
		})
	}
	if r := w.transact(chain.Tx{From: signers.Local(user), To: w.escrow.at, Value: big.NewInt(1)}); r.Success {
		t.Error("it takes coins for no quote")
	}
	w.holds(w.escrow.at, 0, 0)
}

// A key (quote id, depositor) is used once, for ever (protocol §3.3).
func TestEscrowUsesAKeyOnce(t *testing.T) {
	w := newWorld(t)
	user, other := key("user"), key("other")
	w.approves(user, 1000)
	w.approves(other, 1000)
	u, o := addressOf(user), addressOf(other)
	again := func() {
		t.Helper()
		w.refuse("AlreadyDeposited(", user, w.escrow, 0, "deposit", [32]byte{1}, w.token.at, big.NewInt(1), w.now+1000)
		w.refuse("AlreadyDeposited(", user, w.escrow, 1, "deposit", [32]byte{1}, native(), big.NewInt(1), w.now+1000)
	}
	w.send(user, w.escrow, 0, "deposit", [32]byte{1}, w.token.at, big.NewInt(100), w.now+100)
	again()
	// Somebody else's deposit for the same quote is another one.
	w.send(other, w.escrow, 0, "deposit", [32]byte{1}, w.token.at, big.NewInt(7), w.now+100)
	w.send(w.operator, w.escrow, 0, "refund", [32]byte{1}, u)
	again()
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "release", [32]byte{1}, u, u)
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "refund", [32]byte{1}, u)
	w.now += 101
	w.refuse("NotHeld(", user, w.escrow, 0, "refund", [32]byte{1}, u)
	if a, b := w.deposit(1, u), w.deposit(1, o); a.state != refunded || b.state != held || b.amount != 7 {
		t.Fatalf("%+v %+v", a, b)
	}
	w.send(w.operator, w.escrow, 0, "release", [32]byte{1}, o, u)
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "release", [32]byte{1}, o, u)
	w.refuse("NotHeld(", other, w.escrow, 0, "refund", [32]byte{1}, o)
	if got := w.tokens(u); got != 1007 || w.tokens(w.escrow.at) != 0 {
		t.Fatalf("the user has %d", got)
	}
}

func TestEscrowReleasesForItsOperatorOnly(t *testing.T) {
	w := newWorld(t)
	user := key("user")
	w.approves(user, 1000)
	u := addressOf(user)
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "release", [32]byte{1}, u, u)
	w.send(user, w.escrow, 0, "deposit", [32]byte{1}, w.token.at, big.NewInt(100), w.now+100)
	for _, now := range []uint64{w.now, w.now + 1000} {
		w.now = now
		for _, from := range []*ecdsa.PrivateKey{user, w.relayer, w.treasury, key("thief")} {
			w.refuse("NotOperator()", from, w.escrow, 0, "release", [32]byte{1}, u, addressOf(from))
		}
	}
	for _, to := range []common.Address{{}, w.escrow.at} {
		w.refuse("InvalidRecipient()", w.operator, w.escrow, 0, "release", [32]byte{1}, u, to)
	}
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "release", [32]byte{2}, u, u)
	w.refuse("NotHeld(", w.operator, w.escrow, 0, "release", [32]byte{1}, addressOf(w.operator), u)
	if slot := w.slot(w.escrow.at, common.Hash{}); common.BytesToAddress(slot[:]) != addressOf(w.operator) {
		t.Errorf("slot 0 is %s", slot)
	}
}

// From the second after the deadline anybody may refund, to the depositor only.
func TestEscrowRefundsForAnybodyAfterTheDeadline(t *testing.T) {
	w := newWorld(t)
	user := key("user")
	w.approves(user, 1000)
	u := addressOf(user)
	deadline := w.now + 100
	for quote := byte(1); quote <= 3; quote++ {
		w.send(user, w.escrow, 0, "deposit", [32]byte{quote}, w.token.at, big.NewInt(100), deadline)
	}
	for _, now := range []uint64{w.now, deadline - 1, deadline} {
		w.now = now
		for _, from := range []*ecdsa.PrivateKey{user, w.relayer} {
			w.refuse("NotYetRefundable(", from, w.escrow, 0, "refund", [32]byte{1}, u)
		}
	}
	w.send(w.operator, w.escrow, 0, "refund", [32]byte{1}, u) // the operator does not wait
	w.now = deadline + 1
	r := w.send(key("thief"), w.escrow, 0, "refund", [32]byte{2}, u)
	topics, data := w.eventOf(r, "Refunded")
	if topics[0] != [32]byte{2} || topics[1] != common.BytesToHash(u[:]) || data[0] != w.token.at ||
		data[1].(*big.Int).Int64() != 100 {
		t.Fatalf("%v %v", topics, data)
	}
	w.send(user, w.escrow, 0, "refund", [32]byte{3}, u)
	if w.tokens(u) != 1000 || w.tokens(addressOf(key("thief"))) != 0 || w.tokens(w.escrow.at) != 0 {
		t.Fatal("it did not come back")
	}
}

// The funding operation of protocol §3.3, deployment included, and back.
func TestFundingOperationDepositsFromAnAccount(t *testing.T) {
	w := newWorld(t)
	for i, a := range []owned{w.ecdsaAccount(key("owner")), w.roleAccount(testRoles())} {
		w.give(a.at, 1000, 100)
		erc20, coin := [32]byte{byte(i), 1}, [32]byte{byte(i), 2}
		w.runs(w.operation(a, op.LaneFunding,
			w.call(w.token, 0, "approve", w.escrow.at, big.NewInt(300)),
			w.call(w.escrow, 0, "deposit", erc20, w.token.at, big.NewInt(300), w.now+100),
			w.call(w.escrow, 5, "deposit", coin, native(), big.NewInt(5), w.now+100),
		))
		w.holds(a.at, 700, 95)
		if left := get[*big.Int](w, w.token, "allowance", a.at, w.escrow.at).Sign(); left != 0 {
			t.Error("an allowance is left")
		}
		// The account cannot call it back early, nor release it.
		w.fails(w.operation(a, 0, w.call(w.escrow, 0, "refund", erc20, a.at)), "NotYetRefundable(")
		w.fails(w.operation(a, 0, w.call(w.escrow, 0, "release", erc20, a.at, a.at)), "NotOperator()")
		w.send(w.operator, w.escrow, 0, "refund", erc20, a.at)
		w.send(w.operator, w.escrow, 0, "refund", coin, a.at)
		w.holds(a.at, 1000, 100)
	}
}
