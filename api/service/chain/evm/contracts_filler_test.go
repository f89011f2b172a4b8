package evm_test

import (
	"bytes"
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
)

// The whole way on one chain: the fill that deploys the account, pays it and runs its operation and a deposit
// behind it, and the release by attestation.
func TestFillerPaysRunsAndIsReleased(t *testing.T) {
	w := newFillWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.payer = a.at
	to := addressOf(key("recipient"))
	w.give(a.at, 50, 0)
	work := w.op(a, 0, w.transfer(to, 70), op.Call{To: to, Value: big.NewInt(3)})
	terms := w.terms([]escrow.Minimum{minimum(native(), a.at, 3), minimum(w.token.at, a.at, 70)}, work)
	// What follows is the deposit of the account itself, which does not exist yet.
	d := escrow.Deposit{QuoteID: [32]byte{1}, Token: w.token.at, Amount: big.NewInt(50),
		RefundDeadline: terms.FillDeadline + 1}
	pay := w.unsigned(a, w.lane(a, 1), w.call(w.token, 0, "approve", w.escrow.at, big.NewInt(50)),
		op.Call{To: w.escrow.at, Value: new(big.Int), Data: escrow.DepositCalldata(d, terms)})
	pay.Factory, pay.FactoryData = nil, nil
	w.fills(1, terms, work, w.ready(a, pay))
	w.holds(to, 70, 3)
	w.holds(a.at, 0, 0)
	w.holds(w.filler.at, stock-70, stock-3)
	w.releases(1, a.at)
	w.holds(w.filler.at, stock-70+50, stock-3)
	w.holds(w.escrow.at, 0, 0)
	if !w.isUsed([32]byte{1}) {
		t.Error("the id can be used again")
	}
}

// Two who were promised the same under one id: what is delivered counts for the one whom the fill names.
func TestAFillCountsForOneDepositor(t *testing.T) {
	w := newFillWorld(t)
	first, second := key("first"), key("second")
	terms := w.terms([]escrow.Minimum{minimum(w.token.at, addressOf(key("recipient")), 7)})
	for _, k := range []*ecdsa.PrivateKey{first, second} {
		w.allows(k, 1000)
		w.deposits(k, 1, w.token.at, 100, terms)
	}
	w.payer = addressOf(first)
	w.fills(1, terms)
	filled := terms.Hash(w.filler.at, [32]byte{1}, w.payer) // as the log says it
	if filled != w.heldBy(1, addressOf(first)).terms || filled == w.heldBy(1, addressOf(second)).terms {
		t.Error("the deposits of both are for one fill")
	}
	w.payer = addressOf(second)
	w.refuses("AlreadyUsed(", w.tryFill(w.hot, 1, terms, w.paysOf(terms)))
}

// A swap or a transfer has no operation.
func TestFillerPaysMoreThanTheMinimumIfItWants(t *testing.T) {
	w := newFillWorld(t)
	to := addressOf(key("recipient"))
	terms := w.terms([]escrow.Minimum{minimum(native(), to, 5), minimum(w.token.at, to, 7)})
	pays := w.paysOf(terms)
	pays[0].Amount, pays[1].Amount = big.NewInt(6), big.NewInt(8)
	if r := w.tryFill(w.hot, 1, terms, pays); !r.Success {
		t.Fatal(w.decode(r.Revert))
	}
	w.holds(to, 8, 6)
	// The same words under another id are another promise.
	w.fills(2, terms)
	w.holds(to, 15, 11)
}

func TestFillerRefusesWhatTheTermsDoNotSay(t *testing.T) {
	w := newFillWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	to := addressOf(key("recipient"))
	w.give(a.at, 100, 0)
	first, second, third := w.op(a, 0, w.transfer(to, 1)), w.op(a, 1, w.transfer(to, 2)), w.op(a, 2, w.transfer(to, 3))
	low, high := minimum(native(), to, 5), minimum(w.token.at, to, 7)
	lower := minimum(w.token.at, common.Address{1}, 7)
	foreign := high
	foreign.To[0] = 1 // no EVM address
	for name, c := range map[string]struct {
		want     string
		from     *ecdsa.PrivateKey
		minimums []escrow.Minimum
		change   func(*escrow.Terms)
		pays     func([]filler.Pay) []filler.Pay
		ops      []op.UserOp
	}{
		"a stranger":        {want: "NotHot()", from: key("thief"), ops: []op.UserOp{first, second}},
		"the owner":         {want: "NotHot()", from: w.cold, ops: []op.UserOp{first, second}},
		"another chain":     {want: "WrongChain(1)", change: func(t *escrow.Terms) { t.TargetChain = 1 }},
		"Solana":            {want: "WrongChain(0)", change: func(t *escrow.Terms) { t.TargetChain = 0 }},
		"too late":          {want: "TooLate(", change: func(t *escrow.Terms) { t.FillDeadline = w.now - 1 }},
		"one operation":     {want: "WrongOperationCount(1,2)", ops: []op.UserOp{first}},
		"no operation":      {want: "WrongOperationCount(0,2)", ops: []op.UserOp{}},
		"another operation": {want: "WrongOperation(1,", ops: []op.UserOp{first, third}},
		"swapped":           {want: "WrongOperation(0,", ops: []op.UserOp{second, first}},
		"two behind":        {want: "WrongOperationCount(4,2)", ops: []op.UserOp{first, second, third, third}},
		"one before":        {want: "WrongOperation(0,", ops: []op.UserOp{third, first, second}},
		"descending tokens": {want: "MinimumsNotAscending(1)", minimums: []escrow.Minimum{high, low}},
		"descending recipients": {want: "MinimumsNotAscending(1)",
			minimums: []escrow.Minimum{minimum(w.token.at, common.Address{0xff}, 7), lower}},
		"the same twice": {want: "MinimumsNotAscending(1)", minimums: []escrow.Minimum{high, high}},
		"no payment":     {want: "WrongPayCount(0,2)", pays: func([]filler.Pay) []filler.Pay { return nil }},
		"one payment":    {want: "WrongPayCount(1,2)", pays: func(p []filler.Pay) []filler.Pay { return p[:1] }},
		"three payments": {want: "WrongPayCount(3,2)",
			pays: func(p []filler.Pay) []filler.Pay { return append(p, p[1]) }},
		"swapped payments": {want: "WrongPay(0)",
			pays: func(p []filler.Pay) []filler.Pay { return []filler.Pay{p[1], p[0]} }},
		"too little": {want: "WrongPay(1)",
			pays: func(p []filler.Pay) []filler.Pay { p[1].Amount = big.NewInt(6); return p }},
		"another token": {want: "WrongPay(1)",
			pays: func(p []filler.Pay) []filler.Pay { p[1].Token = w.hostileToken.at; return p }},
		"another recipient": {want: "WrongPay(1)",
			pays: func(p []filler.Pay) []filler.Pay { p[1].To = addressOf(key("thief")); return p }},
		"a Solana recipient": {want: "WrongPay(1)", minimums: []escrow.Minimum{low, foreign}},
		"over the cap": {want: "OverCap(" + w.token.at.Hex() + ",500000)",
			pays: func(p []filler.Pay) []filler.Pay { p[1].Amount = big.NewInt(capacity + 1); return p }},
		"a token without a cap": {want: "OverCap(", minimums: []escrow.Minimum{minimum(w.entryPoint.at, to, 0)}},
		"more than there is": {want: "TransferFailed()",
			minimums: []escrow.Minimum{minimum(native(), to, 1)},
			pays:     func(p []filler.Pay) []filler.Pay { p[0].Amount = big.NewInt(capacity); return p },
			change:   func(*escrow.Terms) { w.leaves(native(), capacity-1) }},
		"to the filler itself": {want: "Underpaid(0,0)",
			minimums: []escrow.Minimum{minimum(w.token.at, w.filler.at, 1)}},
	} {
		w.run(name, func(t *testing.T) {
			minimums := c.minimums
			if minimums == nil {
				minimums = []escrow.Minimum{low, high}
			}
			terms := w.terms(minimums, first, second)
			if c.change != nil {
				c.change(&terms)
			}
			var pays []filler.Pay
			for _, m := range terms.Minimums {
				pays = append(pays, filler.Pay{Token: common.Address(m.Token[12:]), To: common.Address(m.To[12:]),
					Amount: m.Amount})
			}
			if c.pays != nil {
				pays = c.pays(pays)
			}
			ops := c.ops
			if ops == nil {
				ops = []op.UserOp{first, second}
			}
			from := c.from
			if from == nil {
				from = w.hot
			}
			w.refuses(c.want, w.tryFill(from, 1, terms, pays, ops...))
			if w.isUsed([32]byte{1}) {
				t.Error("the id is used up")
			}
		})
	}
	w.holds(to, 0, 0)
	w.holds(a.at, 100, 0)
	w.fills(1, w.terms([]escrow.Minimum{low, high}, first, second), first, second, third)
	w.holds(to, 13, 5)
}

// leaves withdraws all of the stock but this.
func (w *fillWorld) leaves(token common.Address, left int64) {
	w.t.Helper()
	w.send(w.cold, w.filler, 0, "withdraw", token, addressOf(w.cold), big.NewInt(stock-left))
}

// The last second counts; an id is used once, whoever asks, and by a void as well.
func TestFillerFillsOnceAndInTime(t *testing.T) {
	w := newFillWorld(t)
	to := addressOf(key("recipient"))
	terms := w.terms([]escrow.Minimum{minimum(w.token.at, to, 7)})
	other := w.terms([]escrow.Minimum{minimum(w.token.at, to, 8)})
	w.now = terms.FillDeadline
	w.fills(1, terms)
	for _, again := range []escrow.Terms{terms, other} {
		w.refuses("AlreadyUsed(", w.tryFill(w.hot, 1, again, w.paysOf(again)))
	}
	w.refuse("AlreadyUsed(", w.hot, w.filler, 0, "void", [32]byte{1})
	w.refuse("NotHot()", w.cold, w.filler, 0, "void", [32]byte{2})
	r := w.send(w.hot, w.filler, 0, "void", [32]byte{2})
	if id, ok := filler.DecodeVoided(r.Logs[0].Topics, r.Logs[0].Data); !ok || id != [32]byte{2} {
		t.Errorf("%+v", r.Logs)
	}
	w.refuses("AlreadyUsed(", w.tryFill(w.hot, 2, terms, w.paysOf(terms)))
	w.refuse("AlreadyUsed(", w.hot, w.filler, 0, "void", [32]byte{2})
	w.now++
	w.refuses("TooLate(", w.tryFill(w.hot, 3, terms, w.paysOf(terms)))
	w.holds(to, 7, 0)
}

// Who sees a fill on its way can neither repeat it nor burn the operation's nonce.
func TestFillerGivesCopycatsNothing(t *testing.T) {
	w := newFillWorld(t)
	thief := key("thief")
	a := w.deployed(w.ecdsaAccount(key("owner")))
	to := addressOf(key("recipient"))
	work := w.op(a, 0, w.transfer(to, 7))
	terms := w.terms([]escrow.Minimum{minimum(w.token.at, a.at, 7)}, work)
	w.give(a.at, 7, 0) // it would succeed without the payment
	w.refuses("NotHot()", w.tryFill(thief, 1, terms, w.paysOf(terms), work))
	w.refuses("NotHot()", w.tryRun(thief, w.now, work))
	w.refused(work, "AA33", "NotExpected(")
	// The same through its own entry: as the paymaster of a stranger's bundle.
	p, err := work.Pack()
	w.check(err)
	for _, from := range []*ecdsa.PrivateKey{thief, w.hot, w.cold} {
		w.refuse("NotEntryPoint()", from, w.filler, 0, "postOp", uint8(0), make([]byte, 32), new(big.Int),
			new(big.Int))
		w.refuse("NotEntryPoint()", from, w.filler, 0, "validatePaymasterUserOp", p, w.opHash(work), new(big.Int))
	}
	w.fills(1, terms, work)
	w.holds(to, 7, 0)
	w.refused(work, "AA25")
}

// The service's signature is not checked on the chain; the mark covers what it did, and the signature too. The
// account's owner agrees to each of these changes, so that nothing else prevents it.
func TestFillerTakesNoOperationThatIsNotInTheTerms(t *testing.T) {
	w := newFillWorld(t)
	a, b := w.ecdsaAccount(key("owner")), w.ecdsaAccount(key("other owner"))
	to := addressOf(key("recipient"))
	w.give(a.at, 100, 0)
	w.give(b.at, 100, 0)
	good := w.op(a, 0, w.transfer(to, 1))
	other, err := op.EncodeExecute([]op.Call{w.transfer(to, 2)})
	w.check(err)
	terms := w.terms(nil, good)
	flip := func(at int) func(*op.UserOp) {
		return func(u *op.UserOp) { u.PaymasterData = bytes.Clone(u.PaymasterData); u.PaymasterData[at] ^= 1 }
	}
	refused := func(t *testing.T, u op.UserOp) {
		t.Helper()
		w.refuses("WrongOperation(0,", w.tryFill(w.hot, 2, terms, nil, u))
		w.refused(u, "AA33", "NotExpected(")
	}
	for name, change := range map[string]func(*op.UserOp){
		"call data":            func(u *op.UserOp) { u.CallData = other },
		"nonce":                func(u *op.UserOp) { u.Nonce = w.lane(a, 1).Big() },
		"call gas":             func(u *op.UserOp) { u.CallGasLimit = big.NewInt(999_999) },
		"verification gas":     func(u *op.UserOp) { u.VerificationGasLimit = big.NewInt(1_499_999) },
		"pre-verification gas": func(u *op.UserOp) { u.PreVerificationGas = big.NewInt(1) },
		"paymaster gas":        func(u *op.UserOp) { u.PaymasterVerificationGasLimit = big.NewInt(199_999) },
		"post-op gas":          func(u *op.UserOp) { u.PaymasterPostOpGasLimit = big.NewInt(50_001) },
		"priority fee":         func(u *op.UserOp) { u.MaxPriorityFeePerGas = big.NewInt(1) },
		"end of the window":    flip(5),
		"begin of the window":  flip(8),
		"service's signature":  flip(12),
		"index of the account": func(u *op.UserOp) {
			u.FactoryData = op.FactoryData(w.factory.at, a.initData, big.NewInt(1))
			u.Sender = w.predict(a.initData, 1)
		},
	} {
		w.run(name, func(t *testing.T) {
			u := good
			change(&u)
			refused(t, a.signed(u))
		})
	}
	w.run("sender", func(t *testing.T) {
		u := w.unsigned(b, w.lane(b, 0), w.transfer(to, 1))
		u.PaymasterPostOpGasLimit, u.PaymasterData = good.PaymasterPostOpGasLimit, good.PaymasterData
		refused(t, b.signed(u))
	})
	w.fills(1, terms, good)
	w.holds(to, 1, 0)
	w.run("factory", func(t *testing.T) {
		u := w.op(b, 0, w.transfer(to, 1))
		terms = w.terms(nil, u)
		w.deployed(b) // by a stranger, meanwhile
		u.Factory, u.FactoryData = nil, nil
		refused(t, b.signed(u))
	})
}

// No reason is lost although the log of it is undone; and nothing is half done.
func TestFillerRevertsAsAWholeWithTheReason(t *testing.T) {
	w := newFillWorld(t)
	a, b := w.deployed(w.ecdsaAccount(key("owner"))), w.ecdsaAccount(key("other owner"))
	to := addressOf(key("recipient"))
	w.give(a.at, 100, 0)
	good := w.op(a, 0, w.transfer(to, 60))
	poor := w.op(a, 1, w.transfer(to, 60)) // enough for one of them
	w.behaves(w.recipient, reverts, common.Address{}, nil)
	refusing := w.op(a, 1, op.Call{To: w.recipient.at, Value: new(big.Int)})
	deploying := w.op(b, 0, w.transfer(to, 1))
	minimums := []escrow.Minimum{minimum(w.token.at, to, 5)}
	for name, c := range map[string]struct {
		want string
		ops  []op.UserOp
	}{
		"the second": {"OperationFailed(1,[ERC20InsufficientBalance(" + a.at.Hex() + ",40,60)])",
			[]op.UserOp{good, poor}},
		"the one behind": {"OperationFailed(1,[hostile])", []op.UserOp{good, refusing}},
		"the first":      {"OperationFailed(0,[hostile])", []op.UserOp{refusing, good}},
		"one that deploys": {"OperationFailed(0,[ERC20InsufficientBalance(",
			[]op.UserOp{deploying, good}},
		"one with a wrong signature": {"FailedOp(1,AA24 signature error)",
			[]op.UserOp{good, func() op.UserOp { u := poor; u.Signature = good.Signature; return u }()}},
		"one twice": {"FailedOp(1,AA25 invalid account nonce)", []op.UserOp{good, good}},
	} {
		w.run(name, func(t *testing.T) {
			terms := w.terms(minimums, c.ops[0])
			w.refuses(c.want, w.tryFill(w.hot, 1, terms, w.paysOf(terms), c.ops...))
			if w.isUsed([32]byte{1}) || len(w.code(b.at)) != 0 {
				t.Error("something is left of it")
			}
			w.refuses(c.want, w.tryRun(w.hot, w.now, c.ops...))
		})
	}
	w.holds(to, 0, 0)
	w.fills(1, w.terms(minimums, good), good)
	w.holds(to, 65, 0)
}

// A reason is cut, and an operation that gives none, or takes all its gas, is named all the same.
func TestFillerNamesTheFailedOperationWhateverItAnswers(t *testing.T) {
	w := newFillWorld(t)
	for mode, want := range map[uint8]string{reverts: "OperationFailed(0,[hostile])",
		burnsGas: "OperationFailed(0,[0x])",
		floods:   "OperationFailed(0,[0x000000"} {
		w.behaves(w.hostile, mode, common.Address{}, nil)
		u := w.hostileOp()
		terms := w.terms(nil, u)
		r := w.tryFill(w.hot, 1, terms, nil, u)
		w.refuses(want, r)
		if len(r.Revert) > 4+4*32+1024 {
			t.Errorf("mode %d: %d bytes", mode, len(r.Revert))
		}
	}
}

func TestFillerSponsorsExactlyItsOwnForm(t *testing.T) {
	w := newFillWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	good := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(key("recipient")), 0))
	good = w.ready(a, good)
	for name, c := range map[string]struct {
		want   string
		change func(*op.UserOp)
	}{
		"no post-op gas": {"InvalidPaymasterData()", func(u *op.UserOp) { u.PaymasterPostOpGasLimit = new(big.Int) }},
		"less post-op gas": {"InvalidPaymasterData()",
			func(u *op.UserOp) { u.PaymasterPostOpGasLimit = big.NewInt(49_999) }},
		"more post-op gas": {"InvalidPaymasterData()",
			func(u *op.UserOp) { u.PaymasterPostOpGasLimit = big.NewInt(50_001) }},
		"wide post-op gas": {"InvalidPaymasterData()", func(u *op.UserOp) {
			u.PaymasterPostOpGasLimit = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(50_000))
		}},
		"no data":    {"InvalidPaymasterData()", func(u *op.UserOp) { u.PaymasterData = nil }},
		"short data": {"InvalidPaymasterData()", func(u *op.UserOp) { u.PaymasterData = u.PaymasterData[:76] }},
		"long data": {"InvalidPaymasterData()",
			func(u *op.UserOp) { u.PaymasterData = append(bytes.Clone(u.PaymasterData), 0) }},
		"a tip":        {"HasFees()", func(u *op.UserOp) { u.MaxPriorityFeePerGas = big.NewInt(1) }},
		"a fee":        {"FailedOp(0,AA31", func(u *op.UserOp) { u.MaxFeePerGas = big.NewInt(1) }},
		"no paymaster": {"OperationFailed(0,[0x])", func(u *op.UserOp) { *u = unsponsored(*u) }},
		"another paymaster": {"OperationFailed(0,[0x])", func(u *op.UserOp) {
			u.Paymaster, u.PaymasterData = &w.window.at, windowData(w.now, 0)
		}},
	} {
		w.run(name, func(t *testing.T) {
			u := good
			c.change(&u)
			u = a.signed(u)
			r := w.tryRun(w.hot, w.now, u)
			if got := w.decode(r.Revert); r.Success || !strings.Contains(got, c.want) {
				t.Errorf("success %t, reason %s, want %s", r.Success, got, c.want)
			}
		})
	}
	// A deposit that a stranger makes for the filler pays for nothing.
	w.send(w.relayer, w.entryPoint, ether/1000, "depositTo", w.filler.at)
	u := good
	u.MaxFeePerGas, u.MaxPriorityFeePerGas = big.NewInt(1), big.NewInt(1)
	if r := w.tryRun(w.hot, w.now, a.signed(u)); !strings.Contains(w.decode(r.Revert), "HasFees()") {
		t.Error(w.decode(r.Revert))
	}
	// The signature in the data is the wallet's business.
	u = good
	u.PaymasterData = append(bytes.Clone(u.PaymasterData[:12]), make([]byte, 65)...)
	if r := w.tryRun(w.hot, w.now, a.signed(u)); !r.Success {
		t.Error(w.decode(r.Revert))
	}
}

// run and fill share one map of ids.
func TestFillerRunsOnceInTimeAndForHotKeys(t *testing.T) {
	w := newFillWorld(t)
	a, b := w.deployed(w.ecdsaAccount(key("owner"))), w.ecdsaAccount(key("other owner"))
	to := addressOf(key("recipient"))
	w.give(a.at, 100, 0)
	w.give(b.at, 100, 0)
	one, two, three := w.op(a, 0, w.transfer(to, 1)), w.op(b, 0, w.transfer(to, 2)), w.op(a, 1, w.transfer(to, 4))
	w.refuses("WrongOperationCount(0,0)", w.tryRun(w.hot, w.now))
	w.refuses("TooLate(", w.tryRun(w.hot, w.now-1, one))
	w.refuses("NotHot()", w.tryRun(w.cold, w.now, one))
	r := w.tryRun(w.hot, w.now, one, two)
	if !r.Success || !w.isUsed(w.opHash(one)) || w.isUsed(w.opHash(two)) {
		t.Fatal(w.decode(r.Revert))
	}
	for _, l := range r.Logs {
		if l.Address == w.filler.at {
			t.Error("a run is no fill")
		}
	}
	w.refuses("AlreadyUsed(", w.tryRun(w.hot, w.now, one, two))
	w.send(w.hot, w.filler, 0, "void", w.opHash(three))
	w.refuses("AlreadyUsed(", w.tryRun(w.hot, w.now, three))
	w.holds(to, 3, 0)
	w.holds(w.filler.at, stock, stock)
}

func TestFillerPaysNothingWhilePausedAndGivesDepositsBack(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	w.allows(user, 1000)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	work := w.op(a, 0, w.transfer(addressOf(key("recipient")), 0))
	terms := w.payout(5)
	w.deposits(user, 1, w.token.at, 100, terms)
	w.send(w.cold, w.filler, 0, "setPaused", true)
	w.refuses("IsPaused()", w.tryFill(w.hot, 1, terms, w.paysOf(terms)))
	w.refuses("IsPaused()", w.tryRun(w.hot, w.now, work))
	w.send(w.hot, w.filler, 0, "void", [32]byte{1})
	w.send(w.hot, w.filler, 0, "refund", w.escrow.at, [32]byte{1}, addressOf(user))
	if w.tokens(addressOf(user)) != 1000 {
		t.Error("it did not come back")
	}
	w.send(w.cold, w.filler, 0, "setPaused", false)
	w.fills(2, terms)
	if r := w.tryRun(w.hot, w.now, work); !r.Success {
		t.Error(w.decode(r.Revert))
	}
}

func TestFillerObeysItsOwnerAndAHandoverTakesTwo(t *testing.T) {
	w := newFillWorld(t)
	next := w.treasury
	calls := map[string][]any{
		"setHot": {addressOf(w.relayer), true}, "setCap": {w.token.at, big.NewInt(1), big.NewInt(1)},
		"setPaused": {true},
		"withdraw":  {w.token.at, addressOf(w.relayer), big.NewInt(1)}, "transferOwnership": {addressOf(w.relayer)},
	}
	for name, args := range calls {
		for _, from := range []*ecdsa.PrivateKey{w.hot, w.relayer, key("thief")} {
			w.refuse("NotOwner()", from, w.filler, 0, name, args...)
		}
	}
	// Nothing else changes anything.
	var changing []string
	for _, m := range w.abis["Filler"].Methods {
		if !m.IsConstant() {
			changing = append(changing, m.Name)
		}
	}
	slices.Sort(changing)
	want := []string{"acceptOwnership", "fill", "postOp", "refund", "run", "setCap", "setHot", "setPaused",
		"transferOwnership", "tryAgain", "void", "withdraw"}
	if c := w.abis["Filler"]; !slices.Equal(changing, want) || c.HasFallback() {
		t.Errorf("%v", changing)
	}
	w.refuse("NotEntryPoint()", w.hot, w.filler, 0, "tryAgain", w.token.at,
		w.pack(w.token, "transfer", addressOf(w.hot), big.NewInt(1)), big.NewInt(1_000_000))

	w.send(w.cold, w.filler, 0, "withdraw", w.token.at, addressOf(key("safe")), big.NewInt(5))
	w.send(w.cold, w.filler, 0, "withdraw", native(), addressOf(key("safe")), big.NewInt(6))
	w.holds(addressOf(key("safe")), 5, 6)
	w.refuse("TransferFailed()", w.cold, w.filler, 0, "withdraw", native(), addressOf(w.cold), big.NewInt(stock))

	w.send(w.cold, w.filler, 0, "transferOwnership", addressOf(next))
	w.refuse("NotOwner()", next, w.filler, 0, "setPaused", true)
	w.refuse("NotOwner()", key("thief"), w.filler, 0, "acceptOwnership")
	w.send(w.cold, w.filler, 0, "setPaused", true) // still the owner
	w.send(next, w.filler, 0, "acceptOwnership")
	w.refuse("NotOwner()", w.cold, w.filler, 0, "setPaused", false)
	w.refuse("NotOwner()", next, w.filler, 0, "acceptOwnership") // the offer is used up
	w.send(next, w.filler, 0, "setPaused", false)
	// A removed key can do nothing.
	w.send(next, w.filler, 0, "setHot", addressOf(w.hot), false)
	terms := w.payout(1)
	w.refuses("NotHot()", w.tryFill(w.hot, 1, terms, w.paysOf(terms)))
	w.refuse("NotHot()", w.hot, w.filler, 0, "void", [32]byte{1})
}

// What left leaks out of the bucket with time, never below empty, and a new cap changes nothing of what was spent.
func TestFillerCapsAreLeakyBuckets(t *testing.T) {
	w := newFillWorld(t)
	to := addressOf(key("recipient"))
	quote := uint32(0)
	pays := func(amount int64, want string) {
		t.Helper()
		quote++
		terms := w.terms([]escrow.Minimum{minimum(w.token.at, to, amount)})
		r := w.tryFill(w.hot, quote, terms, w.paysOf(terms))
		if got := w.decode(r.Revert); r.Success != (want == "") || !strings.HasPrefix(got, want) {
			t.Fatalf("%d: success %t, %s, want %s", amount, r.Success, got, want)
		}
	}
	left := func(want int64) {
		t.Helper()
		if got := get[*big.Int](w.world, w.filler, "available", w.token.at).Int64(); got != want {
			t.Fatalf("%d can leave, want %d", got, want)
		}
	}
	left(capacity)
	pays(capacity-100, "")
	pays(101, "OverCap("+w.token.at.Hex()+",100)")
	pays(100, "")
	pays(1, "OverCap("+w.token.at.Hex()+",0)")
	w.now += 7
	left(7 * refill)
	pays(71, "OverCap(")
	pays(70, "")
	w.now += capacity // long enough to be empty many times over
	left(capacity)
	pays(1000, "")
	w.now += 10
	// 900 are in the bucket; from now on it leaks 1 a second.
	w.send(w.cold, w.filler, 0, "setCap", w.token.at, big.NewInt(950), big.NewInt(1))
	left(50)
	w.now += 5
	left(55)
	w.send(w.cold, w.filler, 0, "setCap", w.token.at, big.NewInt(600), big.NewInt(0))
	left(0)
	w.now += 1000
	pays(1, "OverCap(")
	w.send(w.cold, w.filler, 0, "setCap", w.token.at, big.NewInt(0), big.NewInt(1000))
	w.now += 1000
	pays(0, "OverCap(") // capacity zero: not even nothing
	w.send(w.cold, w.filler, 0, "setCap", w.token.at, big.NewInt(900), big.NewInt(0))
	left(900)
	// The bucket of one token is not that of another.
	if got := get[*big.Int](w.world, w.filler, "available", native()).Int64(); got != capacity {
		t.Errorf("%d wei", got)
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 128)
	w.refuse("CapTooLarge()", w.cold, w.filler, 0, "setCap", w.token.at, huge, big.NewInt(1))
	w.refuse("CapTooLarge()", w.cold, w.filler, 0, "setCap", w.token.at, big.NewInt(1), huge)
	most := new(big.Int).Sub(huge, big.NewInt(1))
	w.send(w.cold, w.filler, 0, "setCap", w.token.at, most, most)
	w.now += 1 << 40
	if got := get[*big.Int](w.world, w.filler, "available", w.token.at); got.Cmp(most) != 0 {
		t.Error(got)
	}
}

// The wallet knows the digest that the service signs, for any operation.
func TestFillerHashesOperationsAsTheCodecDoes(t *testing.T) {
	w := newFillWorld(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	for range 40 {
		p := op.PackedUserOp{
			Sender: common.Address(some(20)), Nonce: new(big.Int).SetBytes(some(32)), InitCode: some(rnd.IntN(100)),
			CallData: some(rnd.IntN(100)), AccountGasLimits: [32]byte(some(32)),
			PreVerificationGas: new(big.Int).SetBytes(some(32)), GasFees: [32]byte(some(32)),
			PaymasterAndData: some(52 + rnd.IntN(100)), Signature: some(rnd.IntN(100)),
		}
		window := op.PaymasterWindow{ValidUntil: rnd.Uint64N(1 << 48), ValidAfter: rnd.Uint64N(1 << 48)}
		want := op.PaymasterHash(p, window, big.NewInt(chainID), w.filler.at)
		got := get[[32]byte](w.world, w.filler, "getHash", p, new(big.Int).SetUint64(window.ValidUntil),
			new(big.Int).SetUint64(window.ValidAfter))
		if common.Hash(got) != want {
			t.Fatalf("contract %x, codec %s", got, want)
		}
	}
}

// Both bounds count, zero is no end, and the filler reads them as the window does.
func TestWindowAndFillerBoundAnOperationInTime(t *testing.T) {
	w := newFillWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	relayer, start := addressOf(w.relayer), w.now
	ops := func(by named, until, after uint64) []op.PackedUserOp {
		w.paymaster = by
		u := w.unsigned(a, w.lane(a, 0), w.transfer(relayer, 0))
		u.PaymasterData = windowData(until, after)
		if by == w.filler {
			u.PaymasterPostOpGasLimit = big.NewInt(filler.PostOpGas)
		}
		p, err := a.signed(u).Pack()
		w.check(err)
		return []op.PackedUserOp{p}
	}
	for name, c := range map[string]struct {
		until, after, now uint64
		valid             bool
	}{
		"inside":              {start + 600, start, start + 300, true},
		"the first second":    {start + 600, start + 60, start + 60, true},
		"the second before":   {start + 600, start + 60, start + 59, false},
		"the last second":     {start + 600, start, start + 600, true},
		"the second after":    {start + 600, start, start + 601, false},
		"empty window":        {start + 10, start + 20, start + 15, false},
		"zero means no end":   {0, start, start + 1_000_000, true},
		"largest end":         {1<<48 - 1, 0, start + 700, true},
		"never again started": {1<<48 - 1, 1<<48 - 1, start + 700, false},
	} {
		w.run(name, func(t *testing.T) {
			// Every case on the same head: a block's time never goes back.
			free, bound := ops(w.window, c.until, c.after), ops(w.filler, c.until, c.after)
			w.now = c.now
			answers := []string{w.calls(relayer, w.entryPoint, "handleOps", free, relayer),
				w.calls(addressOf(w.hot), w.filler, "run", c.now, bound)}
			w.now = start
			want := ""
			if !c.valid {
				want = "FailedOp(0,AA32 paymaster expired or not due)"
			}
			if !slices.Equal(answers, []string{want, want}) {
				t.Errorf("%q, want %q", answers, want)
			}
		})
	}
	// And in blocks: refused before, taken at the start, the clock moving on.
	late := ops(w.window, start+600, start+60)
	w.refuse("FailedOp(0,AA32", w.relayer, w.entryPoint, 0, "handleOps", late, relayer)
	w.now = start + 60
	w.send(w.relayer, w.entryPoint, 0, "handleOps", late, relayer)
}

// Window gives unsponsored operations an end, and does nothing else.
func TestWindowTakesOneFormAndDoesNothingElse(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	good := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0))
	good.PaymasterVerificationGasLimit = big.NewInt(20_000)
	flip := func(at int) func(*op.UserOp) {
		return func(u *op.UserOp) { u.PaymasterData = bytes.Clone(u.PaymasterData); u.PaymasterData[at] ^= 1 }
	}
	for name, c := range map[string]struct {
		change func(*op.UserOp)
		want   string
	}{
		"first byte of the signature": {flip(12), "InvalidPaymasterData()"},
		"second word":                 {flip(44), "InvalidPaymasterData()"},
		"last byte":                   {flip(76), "InvalidPaymasterData()"},
		"short": {func(u *op.UserOp) { u.PaymasterData = u.PaymasterData[:76] },
			"InvalidPaymasterData()"},
		"long": {func(u *op.UserOp) { u.PaymasterData = append(bytes.Clone(u.PaymasterData), 0) },
			"InvalidPaymasterData()"},
		"none":  {func(u *op.UserOp) { u.PaymasterData = nil }, "InvalidPaymasterData()"},
		"a tip": {func(u *op.UserOp) { u.MaxPriorityFeePerGas = big.NewInt(1) }, "HasFees()"},
		"a fee": {func(u *op.UserOp) { u.MaxFeePerGas = big.NewInt(1) }, "AA31"},
	} {
		w.run(name, func(t *testing.T) {
			u := good
			c.change(&u)
			w.refused(a.signed(u), c.want)
		})
	}
	if c := w.abis["Window"]; len(c.Methods) != 1 || c.HasFallback() || c.HasReceive() {
		t.Errorf("%v", c.Methods)
	}
	w.runs(a.signed(good))
}

// A released deposit in coins reaches the filler even while it is busy.
func TestFillerTakesAReleaseWhileItIsBusy(t *testing.T) {
	w := newFillWorld(t)
	user := key("user")
	w.allows(user, 0)
	terms := w.payout(5)
	w.deposits(user, 1, native(), 100, terms)
	u := addressOf(user)
	signatures := w.attest(w.at, 1, u, w.heldBy(1, u).terms, w.attesters[:2]...)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	work := w.op(a, 0, op.Call{To: w.escrow.at, Value: new(big.Int),
		Data: escrow.ReleaseCalldata([32]byte{1}, u, signatures)})
	w.fills(2, w.terms(nil, work), work)
	w.holds(w.filler.at, stock, stock+100)
}

// A remote network gets them by CREATE2; what genesis places is the same code.
func TestFillerEscrowAndWindowDeployByTheDeterministicDeployer(t *testing.T) {
	w := newFillWorld(t)
	for c, args := range map[named][]any{
		w.filler: {w.entryPoint.at, addressOf(w.cold)}, w.window: nil,
		w.escrow: {w.filler.at, w.addresses(), big.NewInt(2), w.at.Salt},
	} {
		init := w.creation(c, args...)
		made, err := evm.DeployDeterministic(init, common.Hash{7})
		w.check(err)
		r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: evm.DeterministicDeployer(),
			Data: append(common.Hash{7}.Bytes(), init...)})
		code := w.code(made[0].Address)
		if !r.Success || !bytes.Equal(code, made[0].Code) || !bytes.Equal(code, w.code(c.at)) {
			t.Errorf("%s: success %t, %d bytes at %s", c.name, r.Success, len(code), made[0].Address)
		}
	}
}
