package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
)

// payout are terms of nothing but a payment.
func (w *fillWorld) payout(amount int64) escrow.Terms {
	return w.terms([]escrow.Minimum{minimum(w.token.at, addressOf(key("recipient")), amount)})
}

func TestEscrowStoresWhatADepositBinds(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	u := addressOf(user)
	w.allows(user, 1000)
	for quote, token := range map[uint32]common.Address{1: w.token.at, 2: native()} {
		terms := w.payout(int64(quote))
		d := escrow.Deposit{QuoteID: quoteID(quote), Token: token, Amount: big.NewInt(400),
			RefundDeadline: terms.FillDeadline + 9}
		value := int64(0)
		if token == native() {
			value = 400
		}
		r := w.tryDeposit(user, value, d, terms)
		hash := terms.Hash(w.filler.at, d.QuoteID, u)
		if got := w.heldBy(quote, u); got != (heldDeposit{token, d.RefundDeadline, held, 400, hash}) {
			t.Fatalf("%+v %s", got, w.decode(r.Revert))
		}
		e := w.abis["Escrow"].Events["Deposited"]
		l := r.Logs[0]
		v, err := e.Inputs.NonIndexed().Unpack(l.Data)
		w.check(err)
		if l.Address != w.escrow.at || !slices.Equal(l.Topics, []common.Hash{e.ID, d.QuoteID, escrow.Padded(u),
			escrow.Padded(token)}) || v[0].(*big.Int).Int64() != 400 || v[1] != d.RefundDeadline ||
			v[2] != [32]byte(hash) {
			t.Fatalf("%v %v", l, v)
		}
	}
	w.holds(w.escrow.at, 400, 400)
}

func TestEscrowRefusesADepositThatDoesNotAddUp(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	w.allows(user, 1000)
	w.send(user, w.token, 0, "approve", w.escrow.at, big.NewInt(500))
	const day = 24 * 60 * 60
	now := w.now
	for name, c := range map[string]struct {
		want           string
		value, amount  int64
		token          common.Address
		fill, deadline uint64
		change         func(*escrow.Terms)
	}{
		"nothing":              {want: "InvalidAmount(", token: w.token.at},
		"no coin":              {want: "InvalidAmount("},
		"coins with tokens":    {want: "InvalidAmount(", value: 1, amount: 5, token: w.token.at},
		"too few coins":        {want: "InvalidAmount(", value: 4, amount: 5},
		"too many coins":       {want: "InvalidAmount(", value: 6, amount: 5},
		"coins not sent":       {want: "InvalidAmount(", amount: 5},
		"more than is allowed": {want: "ERC20InsufficientAllowance(", amount: 501, token: w.token.at},
		"no contract":          {want: "0x", amount: 5, token: common.Address{0x99}},
		"a key":                {want: "0x", amount: 5, token: addressOf(user)},
		"the escrow itself":    {want: "0x", amount: 5, token: w.escrow.at},
		"the filler":           {want: "0x", amount: 5, token: w.filler.at},
		"EntryPoint":           {amount: 5, token: w.entryPoint.at},
		"fill deadline over":   {want: "InvalidDeadlines(", amount: 5, token: w.token.at, fill: now - 1},
		"refund with the fill": {want: "InvalidDeadlines(", amount: 5, token: w.token.at, deadline: now + 600},
		"refund before the fill": {want: "InvalidDeadlines(", amount: 5, token: w.token.at,
			deadline: now + 599},
		"longer than a day": {want: "InvalidDeadlines(", amount: 5, token: w.token.at, deadline: now + day + 1},
		"for ever":          {want: "InvalidDeadlines(", amount: 5, token: w.token.at, deadline: 1<<64 - 1},
		"both for ever": {want: "InvalidDeadlines(", amount: 5, token: w.token.at, fill: 1<<64 - 2,
			deadline: 1<<64 - 1},
		"empty terms": {want: "EmptyTerms()", amount: 5, token: w.token.at,
			change: func(t *escrow.Terms) { t.Minimums = nil }},
	} {
		w.run(name, func(t *testing.T) {
			terms := w.payout(1)
			if c.fill != 0 {
				terms.FillDeadline = c.fill
			}
			if c.deadline == 0 {
				c.deadline = now + 900
			}
			if c.change != nil {
				c.change(&terms)
			}
			d := escrow.Deposit{QuoteID: [32]byte{1}, Token: c.token, Amount: big.NewInt(c.amount),
				RefundDeadline: c.deadline}
			w.refuses(c.want, w.tryDeposit(user, c.value, d, terms))
			if d := w.heldBy(1, addressOf(user)); d != (heldDeposit{}) {
				t.Fatalf("%+v", d)
			}
		})
	}
	if r := w.transact(chain.Tx{From: signers.Local(user), To: w.escrow.at, Value: big.NewInt(1)}); r.Success {
		t.Error("it takes coins for no quote")
	}
	w.holds(w.escrow.at, 0, 0)
	// The bounds themselves, and terms of an operation alone.
	for quote, c := range map[uint32]struct{ fill, deadline uint64 }{1: {now, now + 1}, 2: {now + day - 1, now + day}} {
		terms := escrow.Terms{TargetChain: 1, FillDeadline: c.fill, Operations: [][32]byte{{1}}}
		d := escrow.Deposit{QuoteID: quoteID(quote), Token: w.token.at, Amount: big.NewInt(1),
			RefundDeadline: c.deadline}
		if r := w.tryDeposit(user, 0, d, terms); !r.Success {
			t.Errorf("%+v: %s", c, w.decode(r.Revert))
		}
	}
}

// The number that the escrow stores and the digest that attesters sign are those of the codec.
func TestEscrowDigestsAreThoseOfTheCodec(t *testing.T) {
	w := newFillWorld(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	some := func() (h [32]byte) {
		for i := range h {
			h[i] = byte(rnd.Uint32())
		}
		return h
	}
	for range 20 {
		quote, who, terms := some(), common.Address(append([]byte{}, common.Hash(some()).Bytes()[:20]...)), some()
		got := get[[32]byte](w.world, w.escrow, "attestation", quote, who, terms)
		if want := w.at.Attestation(quote, who, terms).Digest(); common.Hash(got) != want {
			t.Fatalf("contract %x, codec %s", got, want)
		}
	}
	if got := get[[]common.Address](w.world, w.escrow, "attesters"); !slices.Equal(got, w.addresses()) {
		t.Error(got)
	}
	for _, k := range w.attesters {
		if !get[bool](w.world, w.escrow, "isAttester", addressOf(k)) {
			t.Error("an attester is unknown")
		}
	}
	if get[common.Address](w.world, w.escrow, "filler") != w.filler.at ||
		get[*big.Int](w.world, w.escrow, "threshold").Int64() != 2 ||
		get[[32]byte](w.world, w.escrow, "networkSalt") != w.at.Salt {
		t.Error("it was made otherwise")
	}
}

// Whoever sends what, and when: only two different attesters' signatures over exactly this deposit move it, and only to
// the filler. One of the attesters is the operator, whose key alone is worth nothing.
func TestEscrowReleasesForTwoAttestersToTheFillerOnly(t *testing.T) {
	w := newFillWorld(t)
	user, thief := key("user"), key("thief")
	u := addressOf(user)
	w.allows(user, 1000)
	terms := w.payout(90)
	w.deposits(user, 1, w.token.at, 100, terms)
	w.deposits(user, 2, w.token.at, 100, terms) // another quote with the same words
	hash := w.heldBy(1, u).terms
	a, b, c := w.attesters[0], w.attesters[1], w.attesters[2]
	good := w.attest(w.at, 1, u, hash, a, b)
	elsewhere := func(change func(*escrow.Place)) [][]byte {
		p := w.at
		change(&p)
		return w.attest(p, 1, u, hash, a, b)
	}
	personal := [][]byte{}
	for _, k := range []*ecdsa.PrivateKey{a, b} {
		personal = append(personal, signDigest(k, op.EIP191(w.at.Attestation([32]byte{1}, u, hash).Digest())))
	}
	bad := map[string][][]byte{
		"none": {}, "one": good[:1], "the operator alone": w.attest(w.at, 1, u, hash, w.operator),
		"the operator twice":  w.attest(w.at, 1, u, hash, w.operator, w.operator),
		"three of three":      w.attest(w.at, 1, u, hash, a, b, c),
		"the same twice":      {good[0], good[0]},
		"descending":          {good[1], good[0]},
		"a stranger first":    append(w.attest(w.at, 1, u, hash, thief), good[1]),
		"a stranger second":   append(good[:1:1], w.attest(w.at, 1, u, hash, thief)...),
		"two strangers":       w.attest(w.at, 1, u, hash, thief, user),
		"as messages":         personal,
		"of another quote":    w.attest(w.at, 2, u, hash, a, b),
		"of another user":     w.attest(w.at, 1, addressOf(thief), hash, a, b),
		"of other terms":      w.attest(w.at, 1, u, w.payout(1).Hash(w.filler.at, [32]byte{1}, u), a, b),
		"of another chain":    elsewhere(func(p *escrow.Place) { p.ChainID = 1 }),
		"of another escrow":   elsewhere(func(p *escrow.Place) { p.Escrow[0] ^= 1 }),
		"of another network":  elsewhere(func(p *escrow.Place) { p.Salt[0] ^= 1 }),
		"of the other half":   {good[0], w.attest(w.at, 2, u, hash, b)[0]},
		"swapped and foreign": {good[1], w.attest(w.at, 1, u, hash, thief)[0]},
	}
	for name, sig := range malformed(good[1]) {
		bad["second is "+name] = [][]byte{good[0], sig}
	}
	for name, sig := range malformed(good[0]) {
		bad["first is "+name] = [][]byte{sig, good[1]}
	}
	for _, now := range []uint64{w.now, terms.FillDeadline + 1000} {
		w.now = now
		for name, signatures := range bad {
			w.run(name, func(t *testing.T) {
				want := "NotAttested("
				if len(signatures) != 2 {
					want = "WrongSignatureCount("
				}
				for _, from := range []*ecdsa.PrivateKey{thief, w.operator} {
					w.refuses(want, w.tryRelease(from, 1, u, signatures))
				}
			})
		}
	}
	w.holds(w.escrow.at, 200, 0)
	r := w.tryRelease(thief, 1, u, good)
	if !r.Success { // long after the deadline
		t.Fatal("a stranger cannot send it")
	}
	w.logs(r, "Released", quoteID(1), u, w.token.at, 100)
	w.holds(w.escrow.at, 100, 0)
	w.holds(addressOf(thief), 0, w.wei(addressOf(thief)))
	if got := w.tokens(w.filler.at); got != stock+100 {
		t.Errorf("the filler has %d", got)
	}
	w.refuses("NotHeld(", w.tryRelease(thief, 1, u, good))
	w.refuses("NotHeld(", w.tryRelease(thief, 3, u, good))
	w.refuses("NotHeld(", w.tryRefund(thief, 1, u))
	if d := w.heldBy(1, u); d.state != released || d.terms != hash {
		t.Errorf("%+v", d)
	}
}

// What changes state takes no address to pay: the only one is the depositor, who is a key.
func TestEscrowHasNoCallThatNamesAPayee(t *testing.T) {
	w := newFillWorld(t)
	var changing []string
	c := w.abis["Escrow"]
	for _, m := range c.Methods {
		if !m.IsConstant() {
			changing = append(changing, m.Sig)
		}
	}
	slices.Sort(changing)
	want := []string{escrow.DepositSignature, escrow.RefundSignature, escrow.ReleaseSignature}
	slices.Sort(want)
	if !slices.Equal(changing, want) || c.HasFallback() || c.HasReceive() {
		t.Errorf("%v", changing)
	}
}

// logs looks at the log of a release or a refund.
func (w *fillWorld) logs(r chain.Receipt, name string, quote [32]byte, depositor, token common.Address, amount int64) {
	w.t.Helper()
	e := w.abis["Escrow"].Events[name]
	if len(r.Logs) == 0 || r.Logs[0].Address != w.escrow.at ||
		!slices.Equal(r.Logs[0].Topics, []common.Hash{e.ID, quote, escrow.Padded(depositor)}) {
		w.t.Fatalf("no log %s: %+v", name, r.Logs)
	}
	v, err := e.Inputs.NonIndexed().Unpack(r.Logs[0].Data)
	w.check(err)
	if v[0] != token || v[1].(*big.Int).Int64() != amount {
		w.t.Errorf("%s: %v", name, v)
	}
}

func TestEscrowRefundsToTheDepositorOnly(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	u := addressOf(user)
	w.allows(user, 1000)
	terms := w.payout(90)
	for quote := uint32(1); quote <= 3; quote++ {
		w.deposits(user, quote, w.token.at, 100, terms)
	}
	deadline := w.heldBy(1, u).deadline
	for _, now := range []uint64{w.now, deadline - 1, deadline} {
		w.now = now
		for _, from := range []*ecdsa.PrivateKey{user, w.operator, w.cold, key("thief")} {
			w.refuses("NotYetRefundable(", w.tryRefund(from, 1, u))
		}
	}
	// The payee gives it back at any time.
	w.refuse("NotHot()", w.cold, w.filler, 0, "refund", w.escrow.at, [32]byte{1}, u)
	w.send(w.hot, w.filler, 0, "refund", w.escrow.at, [32]byte{1}, u)
	w.refuse("NotHeld(", w.hot, w.filler, 0, "refund", w.escrow.at, [32]byte{1}, u)
	w.now = deadline + 1
	w.logs(w.tryRefund(key("thief"), 2, u), "Refunded", quoteID(2), u, w.token.at, 100)
	w.holds(u, 900, w.wei(u))
	w.holds(addressOf(key("thief")), 0, w.wei(addressOf(key("thief"))))
	w.refuses("NotHeld(", w.tryRelease(w.relayer, 2, u, w.attest(w.at, 2, u, w.heldBy(2, u).terms, w.attesters[:2]...)))
	w.releases(3, u) // after the deadline, too, until someone refunds it
	w.refuses("NotHeld(", w.tryRefund(user, 3, u))
	w.holds(w.escrow.at, 0, 0)
}

func TestEscrowUsesAKeyOnce(t *testing.T) {
	w := newFillWorld(t)
	user, other := key("user"), key("other")
	u := addressOf(user)
	w.allows(user, 1000)
	w.allows(other, 1000)
	again := func() {
		t.Helper()
		terms := w.payout(5)
		for token, value := range map[common.Address]int64{w.token.at: 0, native(): 1} {
			d := escrow.Deposit{QuoteID: [32]byte{1}, Token: token, Amount: big.NewInt(1),
				RefundDeadline: terms.FillDeadline + 1}
			w.refuses("AlreadyDeposited(", w.tryDeposit(user, value, d, terms))
		}
	}
	w.deposits(user, 1, w.token.at, 100, w.payout(90))
	again()
	w.deposits(other, 1, w.token.at, 7, w.payout(90))
	w.releases(1, u)
	again()
	w.now += 1000
	w.refuses("NotHeld(", w.tryRefund(w.relayer, 1, u))
	// Nor after a refund.
	w.deposits(user, 3, w.token.at, 5, w.payout(90))
	w.send(w.hot, w.filler, 0, "refund", w.escrow.at, quoteID(3), u)
	d := escrow.Deposit{QuoteID: quoteID(3), Token: w.token.at, Amount: big.NewInt(1), RefundDeadline: w.now + 700}
	w.refuses("AlreadyDeposited(", w.tryDeposit(user, 0, d, w.payout(5)))
	w.refuses("", w.tryRefund(w.relayer, 2, u))
	if d := w.heldBy(1, addressOf(other)); d.state != held || d.amount != 7 {
		t.Errorf("%+v", d)
	}
}

// The funding operation of protocol §3.3, deployment included, and back.
func TestEscrowTakesTheDepositsOfAnAccount(t *testing.T) {
	w := newFillWorld(t)
	terms := w.payout(90)
	for i, a := range []owned{w.ecdsaAccount(key("owner")), w.roleAccount(testRoles())} {
		w.give(a.at, 1000, 100)
		erc20, coin := quoteID(uint32(10*i+1)), quoteID(uint32(10*i+2))
		deposit := func(id [32]byte, token common.Address, amount, value int64) op.Call {
			return op.Call{To: w.escrow.at, Value: big.NewInt(value), Data: escrow.DepositCalldata(
				escrow.Deposit{QuoteID: id, Token: token, Amount: big.NewInt(amount),
					RefundDeadline: terms.FillDeadline + 60}, terms)}
		}
		r := w.tryRun(w.hot, w.now, w.op(a, op.LaneFunding,
			w.call(w.token, 0, "approve", w.escrow.at, big.NewInt(300)), deposit(erc20, w.token.at, 300, 0),
			deposit(coin, native(), 5, 5)))
		if !r.Success {
			t.Fatal(w.decode(r.Revert))
		}
		w.holds(a.at, 700, 95)
		if left := get[*big.Int](w.world, w.token, "allowance", a.at, w.escrow.at).Sign(); left != 0 {
			t.Error("an allowance is left")
		}
		// The account cannot call it back early.
		w.refuses("OperationFailed(0,[NotYetRefundable(", w.tryRun(w.hot, w.now, w.op(a, 0,
			w.call(w.escrow, 0, "refund", erc20, a.at))))
		w.send(w.hot, w.filler, 0, "refund", w.escrow.at, erc20, a.at)
		w.send(w.hot, w.filler, 0, "refund", w.escrow.at, coin, a.at)
		w.holds(a.at, 1000, 100)
	}
}

func TestEscrowIsMadeOnlyWithAttestersThatCount(t *testing.T) {
	w := newFillWorld(t)
	a := w.addresses()
	for name, args := range map[string][]any{
		"no filler":      {common.Address{}, a, big.NewInt(2), [32]byte{}},
		"no attester":    {w.filler.at, []common.Address{}, big.NewInt(0), [32]byte{}},
		"one of none":    {w.filler.at, []common.Address{}, big.NewInt(1), [32]byte{}},
		"threshold zero": {w.filler.at, a, big.NewInt(0), [32]byte{}},
		"four of three":  {w.filler.at, a, big.NewInt(4), [32]byte{}},
		"zero attester":  {w.filler.at, append([]common.Address{{}}, a...), big.NewInt(2), [32]byte{}},
		"twice":          {w.filler.at, []common.Address{a[0], a[0], a[1]}, big.NewInt(2), [32]byte{}},
		"descending":     {w.filler.at, []common.Address{a[1], a[0]}, big.NewInt(2), [32]byte{}},
	} {
		if w.constructs(w.escrow, args...) {
			t.Error(name)
		}
	}
	if !w.constructs(w.escrow, w.filler.at, a[:1], big.NewInt(1), [32]byte{}) {
		t.Error("one of one")
	}
	if w.constructs(w.filler, w.entryPoint.at, common.Address{}) {
		t.Error("a filler without an owner")
	}
}

// An embedded network has one attester, its own installation: a threshold of one takes one signature, no more.
func TestEscrowWithOneAttesterTakesOneSignature(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	u := addressOf(user)
	w.allows(user, 1000)
	init := w.creation(w.escrow, w.filler.at, w.addresses()[:1], big.NewInt(1), w.at.Salt)
	r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: evm.DeterministicDeployer(),
		Data: append(make([]byte, 32), init...)})
	if !r.Success {
		t.Fatal(w.decode(r.Revert))
	}
	w.escrow.at = crypto.CreateAddress2(evm.DeterministicDeployer(), [32]byte{}, crypto.Keccak256(init))
	elsewhere := w.at
	w.at.Escrow = w.escrow.at
	w.allows(user, 0)
	w.deposits(user, 1, w.token.at, 100, w.payout(90))
	terms, own := w.heldBy(1, u).terms, w.attesters[0]
	for name, signatures := range map[string][][]byte{
		"none": {}, "two": w.attest(w.at, 1, u, terms, w.attesters[:2]...),
		"another's":            w.attest(w.at, 1, u, terms, w.attesters[1]),
		"for the other escrow": w.attest(elsewhere, 1, u, terms, own),
	} {
		if w.tryRelease(w.relayer, 1, u, signatures).Success {
			t.Error(name)
		}
	}
	if r := w.tryRelease(w.relayer, 1, u, w.attest(w.at, 1, u, terms, own)); !r.Success {
		t.Error(w.decode(r.Revert))
	}
	w.holds(w.filler.at, stock+100, stock)
}
