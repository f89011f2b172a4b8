package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

type escrowKey struct {
	quote     byte
	depositor common.Address
}

// escrowModel is the escrow in a few lines of Go.
type escrowModel struct {
	w        *world
	rnd      *rand.Rand
	users    []*ecdsa.PrivateKey
	deposits map[escrowKey]escrowed
	seen     [4]int // states that a release or a refund met
}

// step makes one random call, predicts what it does, and compares.
func (m *escrowModel) step() {
	m.w.t.Helper()
	m.w.now += m.rnd.Uint64N(20)
	from := append([]*ecdsa.PrivateKey{m.w.operator, m.w.operator}, m.users...)[m.rnd.IntN(len(m.users)+2)]
	k := escrowKey{byte(m.rnd.IntN(12)), addressOf(m.users[m.rnd.IntN(len(m.users))])}
	switch m.rnd.IntN(3) {
	case 0:
		m.deposit(m.users[m.rnd.IntN(len(m.users))], k.quote)
	case 1:
		m.payOut(from, k, released, addressOf(key("solver")))
	case 2:
		m.payOut(from, k, refunded, k.depositor)
	}
	m.compare()
}

func (m *escrowModel) call(from *ecdsa.PrivateKey, value int64, want bool, method string, args ...any) {
	m.w.t.Helper()
	r := m.w.transact(chain.Tx{From: signers.Local(from), To: m.w.escrow.at, Value: big.NewInt(value),
		Data: m.w.pack(m.w.escrow, method, args...)})
	if r.Success != want {
		m.w.t.Fatalf("%s %v: success %t, the model says %t: %s", method, args, r.Success, want, m.w.decode(r.Revert))
	}
}

func (m *escrowModel) deposit(from *ecdsa.PrivateKey, quote byte) {
	m.w.t.Helper()
	d := escrowed{state: held, amount: int64(m.rnd.IntN(300)), deadline: m.w.now + m.rnd.Uint64N(60)}
	value := d.amount
	if m.rnd.IntN(2) == 0 {
		d.token, value = m.w.token.at, 0
	}
	if m.rnd.IntN(20) == 0 {
		value++
	}
	k := escrowKey{quote, addressOf(from)}
	want := d.amount > 0 && d.deadline > m.w.now && m.deposits[k].state == 0
	if d.token == native() {
		want = want && value == d.amount
	} else {
		want = want && value == 0 && m.w.tokens(k.depositor) >= d.amount
	}
	m.call(from, value, want, "deposit", [32]byte{quote}, d.token, big.NewInt(d.amount), d.deadline)
	if want {
		m.deposits[k] = d
	}
}

// payOut releases or refunds.
func (m *escrowModel) payOut(from *ecdsa.PrivateKey, k escrowKey, how uint8, to common.Address) {
	m.w.t.Helper()
	d := m.deposits[k]
	m.seen[d.state]++
	operator := from == m.w.operator
	want := d.state == held && (operator || how == refunded && m.w.now > d.deadline)
	before := m.owned(to, d.token)
	if how == released {
		m.call(from, 0, want, "release", [32]byte{k.quote}, k.depositor, to)
	} else {
		m.call(from, 0, want, "refund", [32]byte{k.quote}, k.depositor)
	}
	if !want {
		return
	}
	d.state = how
	m.deposits[k] = d
	// A user who relays the own refund pays the transaction from the coins.
	if got := m.owned(to, d.token) - before; got != d.amount && (d.token != native() || addressOf(from) != to) {
		m.w.t.Fatalf("%d arrived of %d", got, d.amount)
	}
}

func (m *escrowModel) owned(who, token common.Address) int64 {
	m.w.t.Helper()
	if token == native() {
		return m.w.wei(who)
	}
	return m.w.tokens(who)
}

func (m *escrowModel) compare() {
	m.w.t.Helper()
	var tokens, wei int64
	for k, d := range m.deposits {
		if got := m.w.deposit(k.quote, k.depositor); got != d {
			m.w.t.Fatalf("deposit %v is %+v, want %+v", k, got, d)
		}
		if d.state != held {
			continue
		}
		if d.token == native() {
			wei += d.amount
		} else {
			tokens += d.amount
		}
	}
	m.w.holds(m.w.escrow.at, tokens, wei)
}
