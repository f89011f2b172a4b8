package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// fillModel is the filler and the escrow in a few lines of Go. Both stand on one chain, and their tokens and coins are
// counted in one table, so that nothing can come from nowhere.
type fillModel struct {
	w        *fillWorld
	rnd      *rand.Rand
	users    []*ecdsa.PrivateKey
	tokens   []common.Address // the token, the coin
	paused   bool
	used     map[common.Hash]bool
	deposits map[fillKey]heldDeposit
	balance  map[owns]int64
	buckets  map[common.Address]*bucket
	nonces   map[op.Nonce]uint64 // of the hostile account's lanes
	quotes   uint32              // the newest; a step uses one of the last few
	offers   map[uint32]offer
	filled   map[common.Hash]int // logs of the filler, by quote
	seen     map[string]int      // what happened, so that nothing is left out
}

type fillKey struct {
	quote     uint32
	depositor common.Address
}

type owns struct{ who, token common.Address }

type bucket struct{ capacity, refill, spent, since int64 }

func (b *bucket) left(now int64) int64 {
	b.spent, b.since = max(0, b.spent-(now-b.since)*b.refill), now
	return max(0, b.capacity-b.spent)
}

// offer is what a quote promised: terms, and the operations that they name.
type offer struct {
	terms escrow.Terms
	ops   []modelOp
}

// modelOp succeeds when its sequence is the lane's next one and its call exists.
type modelOp struct {
	op.UserOp
	lane op.Nonce
	seq  uint64
	good bool
}

// The recipients of the model have no other money.
func recipients() []common.Address { return []common.Address{{0x71}, {0x72}, {0x73}} }

func newFillModel(t *testing.T, seed uint64) *fillModel {
	t.Helper()
	w := newFillWorld(t)
	m := &fillModel{
		w: w, rnd: rand.New(rand.NewPCG(seed, seed)), tokens: []common.Address{w.token.at, native()},
		used: map[common.Hash]bool{}, deposits: map[fillKey]heldDeposit{}, balance: map[owns]int64{},
		buckets: map[common.Address]*bucket{}, nonces: map[op.Nonce]uint64{}, offers: map[uint32]offer{},
		filled: map[common.Hash]int{}, seen: map[string]int{},
	}
	for _, name := range []string{"first", "second", "third"} {
		m.users = append(m.users, key(name))
		w.allows(key(name), 100_000_000)
		m.balance[owns{addressOf(key(name)), w.token.at}] = 100_000_000
	}
	for _, token := range m.tokens {
		m.balance[owns{w.filler.at, token}] = stock
		m.buckets[token] = &bucket{capacity: capacity, refill: refill}
	}
	return m
}

func (m *fillModel) chance(in int) bool { return m.rnd.IntN(in) == 0 }

func pick[T any](m *fillModel, from []T) T { return from[m.rnd.IntN(len(from))] }

// step makes one random call, predicts what it does, and compares.
func (m *fillModel) step() {
	m.w.t.Helper()
	m.w.now += m.rnd.Uint64N(8)
	if m.chance(4) {
		m.quotes++
		m.offers[m.quotes] = m.newOffer()
		delete(m.offers, m.quotes-40)
	}
	quote := m.quotes - min(m.quotes, uint32(m.rnd.IntN(8)))
	switch m.rnd.IntN(12) {
	case 0, 1, 2:
		m.deposit(quote)
	case 3, 4, 5:
		m.release(quote)
	case 6:
		m.refund(m.quotes - min(m.quotes, uint32(m.rnd.IntN(30)))) // most are due only later
	case 7, 8, 9:
		m.fill(quote)
	case 10:
		m.run()
	case 11:
		m.administer(quote)
	}
}

// ends compares the outcome with the prediction.
func (m *fillModel) ends(what string, r chain.Receipt, want bool) {
	m.w.t.Helper()
	if r.Success != want {
		m.w.t.Fatalf("%s: success %t, the model says %t: %s", what, r.Success, want, m.w.decode(r.Revert))
	}
	m.seen[what+" "+strconv.FormatBool(want)]++
	for _, l := range r.Logs {
		if l.Address != m.w.filler.at {
			continue
		}
		if id, _, ok := filler.DecodeFilled(l.Topics, l.Data); ok {
			if m.filled[id]++; m.filled[id] > 1 {
				m.w.t.Fatalf("%x was filled twice", id)
			}
		}
	}
}

func (m *fillModel) moves(token, from, to common.Address, amount int64) {
	m.balance[owns{from, token}] -= amount
	m.balance[owns{to, token}] += amount
}

// newOp is the next operation of one of the hostile account's lanes, or one that cannot run.
func (m *fillModel) newOp() modelOp {
	m.w.t.Helper()
	o := modelOp{lane: op.Nonce{Key: uint16(m.rnd.IntN(40))}, good: !m.chance(10)}
	o.seq = m.nonces[o.lane]
	if m.chance(20) {
		o.seq++
	}
	a := owned{at: m.w.hostile.at, sign: func(op.UserOp) []byte { return nil }}
	o.UserOp = m.w.unsigned(a, o.lane, op.Call{To: a.at, Value: new(big.Int)})
	o.Nonce = new(big.Int).Add(new(big.Int).Lsh(o.lane.Key192(), 64), new(big.Int).SetUint64(o.seq))
	o.CallData = m.w.pack(m.w.hostile, "work")
	if !o.good {
		o.CallData = []byte{1, 2, 3, 4} // no such function
	}
	o.UserOp = m.w.ready(a, o.UserOp)
	return o
}

func (m *fillModel) newOffer() offer {
	m.w.t.Helper()
	t := escrow.Terms{TargetChain: chainID, FillDeadline: m.w.now + m.rnd.Uint64N(300)}
	if m.chance(20) {
		t.TargetChain = 1
	}
	to := pick(m, recipients())
	for _, token := range []common.Address{native(), m.w.token.at} {
		if !m.chance(3) {
			t.Minimums = append(t.Minimums, minimum(token, to, 1+m.rnd.Int64N(900)))
		}
	}
	if len(t.Minimums) == 2 && m.chance(10) {
		t.Minimums[0], t.Minimums[1] = t.Minimums[1], t.Minimums[0]
	}
	var o offer
	for range max(0, m.rnd.IntN(4)-1) {
		next := m.newOp()
		o.ops = append(o.ops, next)
		t.Operations = append(t.Operations, m.w.opHash(next.UserOp))
	}
	o.terms = t
	return o
}

// runs predicts whether operations run, one after the other, and counts the nonces if they do.
func (m *fillModel) runs(ops []modelOp) bool {
	next := map[op.Nonce]uint64{}
	for _, o := range ops {
		if _, ok := next[o.lane]; !ok {
			next[o.lane] = m.nonces[o.lane]
		}
		if !o.good || o.seq != next[o.lane] {
			return false
		}
		next[o.lane]++
	}
	return true
}

func (m *fillModel) ran(ops []modelOp) {
	for _, o := range ops {
		m.nonces[o.lane]++
	}
}

func bare(ops []modelOp) (out []op.UserOp) {
	for _, o := range ops {
		out = append(out, o.UserOp)
	}
	return out
}

// ---- the escrow ----

func (m *fillModel) deposit(quote uint32) {
	m.w.t.Helper()
	user, terms := pick(m, m.users), m.offers[quote].terms
	k := fillKey{quote, addressOf(user)}
	d := escrow.Deposit{QuoteID: quoteID(quote), Token: pick(m, m.tokens), Amount: big.NewInt(m.rnd.Int64N(900)),
		RefundDeadline: terms.FillDeadline + m.rnd.Uint64N(60)}
	if m.chance(20) {
		d.RefundDeadline = m.w.now + 86_400 + m.rnd.Uint64N(2)
	}
	amount, value := d.Amount.Int64(), int64(0)
	if d.Token == native() {
		value = amount
	}
	if m.chance(20) {
		value++
	}
	want := amount > 0 && (value == amount) == (d.Token == native()) && (value == 0) == (d.Token != native()) &&
		len(terms.Minimums)+len(terms.Operations) > 0 && terms.FillDeadline >= m.w.now &&
		terms.FillDeadline < d.RefundDeadline && d.RefundDeadline <= m.w.now+86_400 && m.deposits[k].state == 0
	m.ends("deposit", m.w.tryDeposit(user, value, d, terms), want)
	if want {
		m.deposits[k] = heldDeposit{d.Token, d.RefundDeadline, held, amount,
			terms.Hash(m.w.filler.at, d.QuoteID, k.depositor)}
		m.moves(d.Token, k.depositor, m.w.escrow.at, amount)
	}
	m.compare(k)
}

// key is a deposit of the quote, one that is held if there is any and chance wants it.
func (m *fillModel) key(quote uint32) fillKey {
	k := fillKey{quote, addressOf(pick(m, m.users))}
	for _, u := range m.users {
		if other := (fillKey{quote, addressOf(u)}); m.deposits[other].state == held && !m.chance(3) {
			return other
		}
	}
	return k
}

// release tries every sort of signatures, a good one half of the time.
func (m *fillModel) release(quote uint32) {
	m.w.t.Helper()
	k := m.key(quote)
	d := m.deposits[k]
	place, id, who, terms, signers := m.w.at, quote, k.depositor, d.terms, m.w.attesters[:2]
	good := true
	if m.chance(2) {
		good = false
		switch m.rnd.IntN(9) {
		case 0:
			signers = signers[:1]
		case 1:
			signers = []*ecdsa.PrivateKey{signers[1], signers[0]}
		case 2:
			signers = []*ecdsa.PrivateKey{signers[0], signers[0]}
		case 3:
			signers = []*ecdsa.PrivateKey{m.w.operator, key("thief")}
		case 4:
			place.Salt[0] ^= 1
		case 5:
			place.ChainID++
		case 6:
			terms = crypto.Keccak256Hash(terms[:])
		case 7:
			id++
		case 8:
			signers, good = m.w.attesters[1:], true // another two of three
		}
	}
	want := good && d.state == held
	from := pick(m, append([]*ecdsa.PrivateKey{key("thief"), m.w.operator}, m.users...))
	r := m.w.tryRelease(from, quote, k.depositor, m.w.attest(place, id, who, terms, signers...))
	m.ends("release", r, want)
	if want {
		d.state = released
		m.deposits[k] = d
		m.moves(d.token, m.w.escrow.at, m.w.filler.at, d.amount)
	}
	m.compare(k)
}

func (m *fillModel) refund(quote uint32) {
	m.w.t.Helper()
	k := m.key(quote)
	d := m.deposits[k]
	what, want := "refund", d.state == held && m.w.now > d.deadline
	var r chain.Receipt
	switch from := pick(m, []*ecdsa.PrivateKey{m.w.hot, key("thief"), m.users[0]}); {
	case m.chance(2):
		r = m.w.tryRefund(from, quote, k.depositor)
	default:
		what, want = "refund by the filler", d.state == held && from == m.w.hot
		r = m.w.transact(chain.Tx{From: signers.Local(from), To: m.w.filler.at,
			Data: filler.RefundCalldata(m.w.escrow.at, quoteID(quote), k.depositor)})
	}
	m.ends(what, r, want)
	if want {
		d.state = refunded
		m.deposits[k] = d
		m.moves(d.token, m.w.escrow.at, k.depositor, d.amount)
	}
	m.compare(k)
}

// ---- the filler ----

func (m *fillModel) fill(quote uint32) {
	m.w.t.Helper()
	o, from := m.offers[quote], m.w.hot
	if m.chance(12) {
		from = key("thief")
	}
	ops, terms := o.ops, o.terms
	if m.chance(4) {
		ops = append(ops[:len(ops):len(ops)], m.newOp())
	}
	right := true // the operations are those of the terms
	if m.chance(12) {
		ops = append(ops[:len(ops):len(ops)], m.newOp(), m.newOp())
		right = false
	} else if len(o.ops) > 0 && m.chance(12) {
		ops, right = ops[1:], false
	}
	var pays []filler.Pay
	less := false
	spent := map[common.Address]int64{}
	for _, min := range terms.Minimums {
		p := filler.Pay{Token: common.Address(min.Token[12:]), To: common.Address(min.To[12:]),
			Amount: new(big.Int).Set(min.Amount)}
		switch m.rnd.IntN(12) {
		case 0:
			p.Amount.Sub(p.Amount, big.NewInt(1))
			less = true
		case 1:
			p.Amount.Add(p.Amount, big.NewInt(m.rnd.Int64N(20_000)))
		}
		pays = append(pays, p)
		spent[p.Token] += p.Amount.Int64()
	}
	want := from == m.w.hot && !m.paused && terms.TargetChain == chainID && m.w.now <= terms.FillDeadline &&
		!m.used[quoteID(quote)] && right && !less && terms.Ascending() && m.runs(ops)
	for token, amount := range spent {
		b := m.buckets[token]
		want = want && b.left(int64(m.w.now)) >= amount && b.capacity > 0 &&
			m.balance[owns{m.w.filler.at, token}] >= amount
	}
	m.ends("fill", m.w.tryFill(from, quote, terms, pays, bare(ops)...), want)
	if want {
		m.used[quoteID(quote)] = true
		for _, p := range pays {
			m.moves(p.Token, m.w.filler.at, p.To, p.Amount.Int64())
			m.buckets[p.Token].spent += p.Amount.Int64()
		}
		m.ran(ops)
	}
	m.compare(fillKey{quote: quote})
}

func (m *fillModel) run() {
	m.w.t.Helper()
	ops, deadline, from := []modelOp{m.newOp()}, m.w.now, m.w.hot
	if m.chance(3) {
		ops = append(ops, m.newOp())
	}
	if m.chance(10) {
		deadline--
	}
	if m.chance(10) {
		from = m.w.cold
	}
	id := m.w.opHash(ops[0].UserOp)
	want := from == m.w.hot && !m.paused && deadline >= m.w.now && !m.used[id] && m.runs(ops)
	m.ends("run", m.w.tryRun(from, deadline, bare(ops)...), want)
	if want {
		m.used[id] = true
		m.ran(ops)
	}
}

// administer voids, and lets the owner, or a stranger, change what it can.
func (m *fillModel) administer(quote uint32) {
	m.w.t.Helper()
	call := func(from *ecdsa.PrivateKey, want bool, method string, args ...any) {
		m.w.t.Helper()
		r := m.w.transact(chain.Tx{From: signers.Local(from), To: m.w.filler.at,
			Data: m.w.pack(m.w.filler, method, args...)})
		m.ends(method, r, want)
	}
	from := pick(m, []*ecdsa.PrivateKey{m.w.cold, m.w.cold, m.w.cold, m.w.hot, key("thief")})
	owner := from == m.w.cold
	switch m.rnd.IntN(6) {
	case 0, 1:
		from = pick(m, []*ecdsa.PrivateKey{m.w.hot, m.w.cold})
		want := from == m.w.hot && !m.used[quoteID(quote)]
		call(from, want, "void", quoteID(quote))
		m.used[quoteID(quote)] = m.used[quoteID(quote)] || want
	case 2:
		paused := m.chance(6)
		call(from, owner, "setPaused", paused)
		if owner {
			m.paused = paused
		}
	case 3:
		token := pick(m, m.tokens)
		size, rate := m.rnd.Int64N(2*capacity), m.rnd.Int64N(200)
		if m.chance(10) {
			size = 0
		}
		call(from, owner, "setCap", token, big.NewInt(size), big.NewInt(rate))
		if b := m.buckets[token]; owner {
			b.left(int64(m.w.now))
			b.capacity, b.refill = size, rate
		}
	case 4, 5:
		token, amount := pick(m, m.tokens), m.rnd.Int64N(2000)
		to := recipients()[0]
		want := owner && m.balance[owns{m.w.filler.at, token}] >= amount
		call(from, want, "withdraw", token, to, big.NewInt(amount))
		if want {
			m.moves(token, m.w.filler.at, to, amount)
		}
	}
}

// compare looks at one deposit, at the quote's id, and at everything that the filler, the escrow and the recipients
// own. A user's coins also pay for transactions, so only what left the escrow is counted there.
func (m *fillModel) compare(k fillKey) {
	m.w.t.Helper()
	if got := m.w.heldBy(k.quote, k.depositor); got != m.deposits[k] {
		m.w.t.Fatalf("deposit %v is %+v, want %+v", k, got, m.deposits[k])
	}
	if got := m.w.isUsed(quoteID(k.quote)); got != m.used[quoteID(k.quote)] {
		m.w.t.Fatalf("quote %d is used: %t", k.quote, got)
	}
	for _, who := range append(recipients(), m.w.filler.at, m.w.escrow.at) {
		m.w.holds(who, m.balance[owns{who, m.w.token.at}], m.balance[owns{who, native()}])
	}
	for _, u := range m.users {
		if got, want := m.w.tokens(addressOf(u)), m.balance[owns{addressOf(u), m.w.token.at}]; got != want {
			m.w.t.Fatalf("%s has %d, want %d", addressOf(u), got, want)
		}
	}
	for _, token := range m.tokens {
		var sum int64
		for k, d := range m.deposits {
			if d.state == held && d.token == token {
				sum += d.amount
			}
			if d.state != held && k.quote+40 < m.quotes {
				delete(m.deposits, k) // no step reaches it any more
			}
		}
		if got := m.balance[owns{m.w.escrow.at, token}]; got != sum {
			m.w.t.Fatalf("the escrow owns %d of %s, its deposits are %d", got, token, sum)
		}
		left := get[*big.Int](m.w.world, m.w.filler, "available", token).Int64()
		if want := m.buckets[token].left(int64(m.w.now)); left != want {
			m.w.t.Fatalf("%d of %s can leave, want %d", left, token, want)
		}
	}
}

// Whatever anybody does in any order: a deposit ends once, at the filler with two attesters' signatures over its terms
// or at its depositor; a quote is filled at most once; no more leaves than the caps allow; sums hold. 3 000 calls, and
// 100 000 with COFFER_TEST_WHOLE=1; COFFER_TEST_SEED makes other ones.
func TestFillerAndEscrowAgreeWithTheirModel(t *testing.T) {
	steps, seed := 3000, uint64(7)
	switch {
	case *anvilProgram != "":
		steps = 700 // every outcome, once at least
	case os.Getenv("COFFER_TEST_WHOLE") != "":
		steps = 100_000
	}
	if s, err := strconv.ParseUint(os.Getenv("COFFER_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	m := newFillModel(t, seed)
	for range steps {
		m.step()
	}
	for _, what := range []string{"deposit", "release", "refund", "refund by the filler", "fill", "run", "void",
		"setPaused", "setCap", "withdraw"} {
		for _, outcome := range []string{" true", " false"} {
			if m.seen[what+outcome] == 0 {
				t.Errorf("never happened: %s%s", what, outcome)
			}
		}
	}
	t.Log(m.seen, len(m.filled), "filled")
}

// The same from any seed, in short.
func FuzzFillerAndEscrow(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		m := newFillModel(t, seed)
		for range 60 {
			m.step()
		}
	})
}
