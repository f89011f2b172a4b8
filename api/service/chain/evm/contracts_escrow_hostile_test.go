package evm_test

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
)

// reentering is code that calls the target with the data and then answers 1.
// When strict, a failure of that call is its own failure, reason included;
// otherwise it goes on as if nothing had happened. With a selector it does so
// in that function only and answers 1 in every other.
func reentering(target common.Address, data []byte, strict bool, selector []byte) []byte {
	answer := common.FromHex("60015f5260205ff3") // mstore(0, 1) return(0, 32)
	push2 := func(n int) []byte { return binary.BigEndian.AppendUint16([]byte{0x61}, uint16(n)) }
	join := func(parts ...[]byte) []byte {
		var out []byte
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	var head []byte
	if selector != nil {
		// if selector == calldata[0:4] jump behind the answer
		head = join(common.FromHex("5f3560e01c63"), selector, []byte{0x14}, push2(15+len(answer)), []byte{0x57}, answer,
			[]byte{0x5b})
	}
	var tail []byte
	if strict {
		// success: jump over the revert with the same data
		tail = join(common.FromHex("3d5f5f3e3d5ffd"), []byte{0x5b})
	}
	const body = 3 + 3 + 1 + 1 + 2 + 3 + 2 + 21 + 2
	after := len(head) + body
	if strict {
		after += 3 + 1 + len(tail)
	} else {
		after++
	}
	code := join(head,
		push2(len(data)), push2(after+len(answer)), common.FromHex("5f39"), // codecopy(0, data, len)
		common.FromHex("5f5f"), push2(len(data)), common.FromHex("5f5f73"), target[:], common.FromHex("5af1"), // call
	)
	if strict {
		code = join(code, push2(after-1), []byte{0x57}, tail)
	} else {
		code = append(code, 0x50)
	}
	return join(code, answer, data)
}

// works shows that hostile code does what it should when the escrow is not busy.
func (w *world) works(code common.Address, data []byte) {
	w.t.Helper()
	if res := w.simulate(chain.Message{From: addressOf(w.relayer), To: code, Data: data}); res.Err != nil ||
		len(res.Logs) == 0 {
		w.t.Fatalf("the hostile code does not work: %v %s", res.Err, w.decode(res.Return))
	}
}

// A depositor whose code calls the escrow again while it is paid: a delegated
// EOA, so that the deposit is its own transaction.
func TestEscrowPaysOnceWhenTheDepositorCallsItAgain(t *testing.T) {
	attacker := key("attacker")
	at := addressOf(attacker)
	plain := newWorld(t)
	refund := plain.pack(plain.escrow, "refund", [32]byte{1}, at)
	strict := evm.Account{Address: common.Address{0xe1}, Nonce: 1, Code: reentering(plain.escrow.at, refund, true, nil)}
	silent := evm.Account{Address: common.Address{0xe2}, Nonce: 1,
		Code: reentering(plain.escrow.at, refund, false, nil)}
	w := newWorld(t, strict, silent)
	user := key("user")
	w.approves(user, 0)
	w.send(user, w.escrow, 100, "deposit", [32]byte{1}, native(), big.NewInt(100), w.now+10)
	w.give(at, 0, ether)
	w.send(attacker, w.escrow, 10, "deposit", [32]byte{1}, native(), big.NewInt(10), w.now+10)
	w.now += 11

	w.delegateTo(attacker, strict.Address)
	w.refuse("TransferFailed()", w.relayer, w.escrow, 0, "refund", [32]byte{1}, at)
	if d := w.deposit(1, at); d.state != held || w.wei(w.escrow.at) != 110 {
		t.Fatalf("%+v", d)
	}
	w.delegateTo(attacker, silent.Address)
	w.works(at, nil)
	before := w.wei(at)
	w.send(w.relayer, w.escrow, 0, "refund", [32]byte{1}, at)
	if got := w.wei(at) - before; got != 10 || w.wei(w.escrow.at) != 100 {
		t.Fatalf("%d came back, %d are left", got, w.wei(w.escrow.at))
	}
	w.refuse("NotHeld(", w.relayer, w.escrow, 0, "refund", [32]byte{1}, at)
	w.send(w.relayer, w.escrow, 0, "refund", [32]byte{1}, addressOf(user))
	w.holds(w.escrow.at, 0, 0)
}

// The guard covers every function: while one deposit is paid, the depositor can
// neither refund another one nor make a new one.
func TestEscrowIsClosedWhileItPays(t *testing.T) {
	attacker := key("attacker")
	at := addressOf(attacker)
	plain := newWorld(t)
	calls := map[string][]byte{
		"another refund": plain.pack(plain.escrow, "refund", [32]byte{2}, at),
		"a new deposit": plain.pack(plain.escrow, "deposit", [32]byte{3}, plain.token.at, big.NewInt(1),
			uint64(startTime+1000)),
	}
	for name, data := range calls {
		t.Run(name, func(t *testing.T) {
			hostile := evm.Account{Address: common.Address{0xe1}, Nonce: 1,
				Code: reentering(plain.escrow.at, data, true, nil)}
			w := newWorld(t, hostile)
			w.approves(attacker, 10)
			w.send(attacker, w.escrow, 10, "deposit", [32]byte{1}, native(), big.NewInt(10), w.now+10)
			w.send(attacker, w.escrow, 0, "deposit", [32]byte{2}, w.token.at, big.NewInt(5), w.now+10)
			w.now += 11
			w.delegateTo(attacker, hostile.Address)
			w.works(at, nil)
			w.refuse("TransferFailed()", w.relayer, w.escrow, 0, "refund", [32]byte{1}, at)
			// Nothing but the guard stood in the way.
			w.delegateTo(attacker, w.delegate.at)
			w.send(w.relayer, w.escrow, 0, "refund", [32]byte{1}, at)
			w.send(w.relayer, w.escrow, 0, "refund", [32]byte{2}, at)
		})
	}
}

// A token is foreign code: it cannot call the escrow while it is deposited, and
// what it did not deliver is not held.
func TestEscrowTrustsNoToken(t *testing.T) {
	plain := newWorld(t)
	user := key("user")
	u := addressOf(user)
	transferFrom := plain.abis["Token"].Methods["transferFrom"].ID
	refund := plain.pack(plain.escrow, "refund", [32]byte{1}, u)
	alloc := func(n byte, code []byte) evm.Account {
		return evm.Account{Address: common.Address{0x70, n}, Nonce: 1, Code: code}
	}
	tokens := map[string]struct {
		evm.Account
		want string
	}{
		"calls again":       {alloc(1, reentering(plain.escrow.at, refund, true, transferFrom)), "Reentered()"},
		"calls silently":    {alloc(2, reentering(plain.escrow.at, refund, false, transferFrom)), "TransferFailed()"},
		"delivers nothing":  {alloc(3, common.FromHex("60015f5260205ff3")), "TransferFailed()"}, // 1 to every question
		"answers no":        {alloc(4, common.FromHex("60205ff3")), "SafeERC20FailedOperation("},
		"answers nothing":   {alloc(5, common.FromHex("00")), "0x"},
		"reverts":           {alloc(6, common.FromHex("5f5ffd")), "0x"},
		"takes all the gas": {alloc(7, common.FromHex("5b5f56")), ""},
	}
	var more []evm.Account
	for _, c := range tokens {
		more = append(more, c.Account)
	}
	w := newWorld(t, more...)
	w.approves(user, 100)
	// Due for a refund, if only the escrow could be called.
	w.send(user, w.escrow, 0, "deposit", [32]byte{1}, w.token.at, big.NewInt(100), w.now+10)
	w.now += 11
	w.works(tokens["calls again"].Address, transferFrom)
	for name, c := range tokens {
		w.run(name, func(t *testing.T) {
			w.refuse(c.want, user, w.escrow, 0, "deposit", [32]byte{2}, c.Address, big.NewInt(1), w.now+10)
			if d := w.deposit(2, u); d != (escrowed{}) {
				t.Fatalf("%+v", d)
			}
		})
	}
	w.holds(w.escrow.at, 100, 0)
	w.send(user, w.escrow, 0, "refund", [32]byte{1}, u)
}

// A depositor that takes no coins keeps them in the escrow; the operator can
// still release them.
func TestRefundThatIsNotTakenStaysHeld(t *testing.T) {
	refuses := evm.Account{Address: common.Address{0xe3}, Nonce: 1, Code: common.FromHex("5f5ffd")}
	burns := evm.Account{Address: common.Address{0xe4}, Nonce: 1, Code: common.FromHex("5b5f56")}
	w := newWorld(t, refuses, burns)
	user := key("user")
	w.approves(user, 0)
	w.send(user, w.escrow, 10, "deposit", [32]byte{1}, native(), big.NewInt(10), w.now+10)
	for _, code := range []evm.Account{refuses, burns} {
		w.delegateTo(user, code.Address)
		w.refuse("", w.operator, w.escrow, 0, "refund", [32]byte{1}, addressOf(user))
		if d := w.deposit(1, addressOf(user)); d.state != held {
			t.Fatalf("%+v", d)
		}
	}
	w.send(w.operator, w.escrow, 0, "release", [32]byte{1}, addressOf(user), addressOf(key("solver")))
	w.holds(addressOf(key("solver")), 0, 10)
}

// Whatever anybody does in any order, the escrow holds exactly what its held
// deposits say, and money only goes where the rules send it.
func TestEscrowAgreesWithItsModel(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	m := &escrowModel{w: w, rnd: rnd, deposits: map[escrowKey]escrowed{}}
	for _, name := range []string{"first", "second", "third"} {
		m.users = append(m.users, key(name))
		w.approves(key(name), 1000)
	}
	for range 250 {
		m.step()
	}
	for state := range uint8(4) {
		if m.seen[state] == 0 {
			t.Errorf("no step met a deposit in state %d", state)
		}
	}
}
