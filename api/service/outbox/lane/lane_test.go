package lane

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

func TestAStepIsSentMinedAndFinalAtDepth(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	if !b.recorded("a") || len(b.w.seen) != 0 {
		t.Fatal("the bytes went out before, or without, the record of their caller")
	}
	b.turn()
	if b.w.waiting(b.key.Address(), 0) == nil {
		t.Fatal("nothing went out")
	}
	b.w.mine(1)
	b.turn()
	if m := b.stored("a").Mined; m == nil || m.Block != 1 || b.result("a") != nil {
		t.Fatalf("mined %+v, result %v", m, b.result("a"))
	}
	b.w.mine(depth - 1)
	b.turn()
	if b.result("a") != nil {
		t.Fatal("final one block too early")
	}
	b.w.mine(1)
	b.turn()
	r := b.result("a")
	if r == nil || !r.Success || r.Block != 1 || r.Time != 12 || r.To != target || r.From != b.key.Address() ||
		len(r.Logs) != 1 || string(r.Logs[0].Data) != "a" || r.Value == nil || r.GasUsed != 21_000 ||
		r.BlockHash != b.w.blocks[1].hash || r.TxHash != b.w.blocks[1].txs[0].Hash() {
		t.Errorf("receipt %+v", r)
	}
	b.start()
	if again := b.result("a"); again == nil || again.TxHash != r.TxHash || again.Value.Sign() != 0 {
		t.Errorf("after a restart: %+v", again)
	}
}

func TestACrashBeforeTheCommitDidNothingAndAfterItTheSameBytesGoOut(t *testing.T) {
	b := newLab(t)
	b.kept.fail = func() (bool, bool) { return true, false }
	if _, err := b.l.Send(t.Context(), b.step("a")); !errors.Is(err, store.ErrNotWritten) {
		t.Fatal(err)
	}
	b.kept.fail = nil
	b.start()
	b.turn()
	if b.recorded("a") || len(b.w.seen) != 0 {
		t.Fatal("something happened before the commit")
	}
	b.kept.fail = func() (bool, bool) { return false, true }
	if _, err := b.l.Send(t.Context(), b.step("a")); !errors.Is(err, store.ErrNotWritten) {
		t.Fatal(err)
	}
	b.kept.fail = nil
	if !b.recorded("a") {
		t.Fatal("the commit is lost")
	}
	want := b.stored("a").Attempts[0].Hash
	b.start()
	b.turn()
	if tx := b.w.waiting(b.key.Address(), 0); tx == nil || tx.Hash() != want {
		t.Errorf("%v went out, expected %s", tx, want)
	}
	if _, err := b.l.Send(t.Context(), b.step("a")); !errors.Is(err, ErrOpen) {
		t.Errorf("the same step again: %v", err)
	}
}

func TestALostAnswerIsFoundByTheHash(t *testing.T) {
	b := newLab(t)
	b.w.lose = func() (bool, bool) { return true, false }
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}
}

func TestWhatANodeForgetsIsSentAgain(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.drop()
	b.turn()
	if b.w.waiting(b.key.Address(), 0) != nil {
		t.Fatal("sent again at once")
	}
	b.clock.wait(11 * time.Second)
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || !r.Success || len(b.w.seen) != 1 {
		t.Errorf("%+v after %d transactions", r, len(b.w.seen))
	}
}

// What was not handed to any node goes out at the next look, and not when it would have been sent again.
func TestWhatNoNodeTookGoesOutAtTheNextLook(t *testing.T) {
	b := newLab(t)
	b.w.lose = func() (bool, bool) { return false, false }
	b.send(b.step("a"))
	b.turn()
	b.w.lose = nil
	b.turn()
	if b.w.waiting(b.key.Address(), 0) == nil {
		t.Error("it waits")
	}
}

// With the base fee at five times its value the first transaction is stuck until it is replaced; the second waits
// behind it and offers too little as well.
func TestStuckTransactionsAreReplacedWithinTheCap(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.send(b.step("b"))
	b.turn()
	first := b.stored("a").Attempts[0].tx
	b.w.base = big.NewInt(5 * gwei)
	b.w.mine(stuckBlocks)
	b.turn()
	if n := len(b.stored("a").Attempts); n != 1 {
		t.Fatalf("%d attempts before patience is over", n)
	}
	b.clock.wait(31 * time.Second)
	b.turn()
	second := b.stored("a").last().tx
	for _, of := range []func(*types.Transaction) *big.Int{(*types.Transaction).GasFeeCap,
		(*types.Transaction).GasTipCap} {
		if least := raised(of(first)); of(second).Cmp(least) < 0 || of(second).Cmp(b.l.stepCap()) > 0 {
			t.Errorf("%v takes the place of %v", of(second), of(first))
		}
	}
	if second.Nonce() != first.Nonce() || string(second.Data()) != "a" || second.Gas() != first.Gas() {
		t.Error("the replacement is another transaction")
	}
	b.w.mine(1 + depth)
	b.turn()
	r, other := b.result("a"), b.result("b")
	if r == nil || other == nil || r.TxHash != second.Hash() || !other.Success {
		t.Errorf("%+v\n%+v", r, other)
	}
}

// A client that suggests gwei where others pay a fraction of it does not empty the tank.
func TestASuggestedTipIsBoundedByWhatIsPaid(t *testing.T) {
	b := newLab(t)
	b.w.tip = big.NewInt(40 * gwei)
	b.send(b.step("a"))
	if tip := b.stored("a").last().tx.GasTipCap(); tip.Cmp(big.NewInt(gwei/10)) != 0 {
		t.Errorf("the tip is %s", tip)
	}
}

// A node that once named a block far ahead keeps nothing from being replaced.
func TestAFalseHeadDoesNotStopReplacements(t *testing.T) {
	for _, head := range []uint64{1 << 60, math.MaxUint64} {
		b := newLab(t)
		b.send(b.step("a"))
		b.turn()
		_, err := b.l.change(b.stored("a"), func(_ store.Tx, s *step, _ *laneRecord) error {
			s.Attempts[0].Head = head
			return nil
		})
		b.ok(err)
		b.w.base = big.NewInt(5 * gwei)
		b.w.mine(stuckBlocks)
		b.clock.wait(46 * time.Second)
		b.turn()
		if n := len(b.stored("a").Attempts); n != 2 {
			t.Errorf("head %d: %d attempts", head, n)
		}
	}
}

// On a chain that began anew, or whose nodes are far behind, the next nonce leaves a gap.
func TestNothingIsSentToAChainThatLacksWhatWasFinal(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if b.result("a") == nil {
		t.Fatal("it is not final")
	}
	kept := b.w.blocks
	b.w.blocks = b.w.blocks[:1]
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) || b.recorded("b") {
		t.Errorf("%v", err)
	}
	b.w.blocks = kept
	b.send(b.step("b"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("b"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}
}

// A reorganisation below the final depth leaves a gap of nonces that no node has bytes for. The lane stops once that
// is final itself, after a restart too. The operator's decision uses the nonces up; what is sent then is mined once.
func TestAReorganisationBelowFinalStopsTheLaneUntilAnOperatorDecides(t *testing.T) {
	b := newLab(t)
	for _, id := range []string{"a", "b"} {
		b.send(b.step(id))
		b.turn()
		b.w.mine(1 + depth)
		b.turn()
		if b.result(id) == nil {
			t.Fatalf("%s is not final", id)
		}
	}
	b.w.blocks = b.w.blocks[:1]
	b.w.drop()
	refused := func(what string) {
		t.Helper()
		if _, err := b.l.Send(t.Context(), b.step("c")); !errors.Is(err, ErrStopped) || b.recorded("c") {
			t.Fatalf("%s: %v", what, err)
		}
	}
	b.w.mine(1)
	refused("while other blocks may come")
	if strings.Contains(b.log.String(), CodeStopped) || b.l.Resume(t.Context(), b.key.Address()) == nil {
		t.Fatal("it stopped before that was final")
	}
	b.w.mine(4 * depth)
	refused("once it is final")
	s, err := b.l.Status(t.Context(), b.key.Address())
	if err != nil || !strings.Contains(s.Stopped, "of 2 transactions of the key it has 0") ||
		!strings.Contains(b.log.String(), CodeStopped) {
		t.Fatalf("%+v %v", s, err)
	}
	b.start()
	refused("after a restart")
	b.ok(b.l.Resume(t.Context(), b.key.Address()))
	b.send(b.step("c"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("c"); r == nil || !r.Success || b.w.effects()["c"] != 1 {
		t.Errorf("%+v, %v", r, b.w.effects())
	}
	if s, err := b.l.Status(t.Context(), b.key.Address()); err != nil || s.Stopped != "" || s.Used != 3 {
		t.Errorf("%+v %v", s, err)
	}
}

// A lane with nothing under way looks once a minute, and stops by itself at what stops it at its next step: what was
// final is gone, or another has the key. A look is one question.
func TestAnIdleLaneNoticesWhatTheChainTookBackOrHasOfOthers(t *testing.T) {
	for name, happens := range map[string]func(*lab){
		"of 1 transactions of the key it has 0": func(b *lab) {
			b.w.blocks = b.w.blocks[:1]
			b.w.drop()
		},
		"the chain has seen 2 transactions of the key, the lane sent 1": (*lab).foreign,
	} {
		t.Run(name, func(t *testing.T) {
			b := newLab(t)
			b.send(b.step("a"))
			b.final()
			b.turn()
			asked := 0
			b.w.faulty = func(string) error { asked++; return nil }
			for range 20 {
				b.clock.wait(2 * time.Second)
				b.turn()
			}
			if asked > 1 {
				t.Errorf("it asked %d times in 40 seconds", asked)
			}
			happens(b)
			b.w.mine(4 * depth)
			sent := len(b.w.seen)
			for range 4 {
				b.clock.wait(time.Minute)
				b.turn()
				b.w.mine(depth)
			}
			s, err := b.l.Status(t.Context(), b.key.Address())
			if err != nil || !strings.Contains(s.Stopped, name) || strings.Count(b.log.String(), CodeStopped) != 1 {
				t.Errorf("%+v %v\n%s", s, err, b.log.String())
			}
			asked = 0
			b.clock.wait(time.Hour)
			b.turn()
			if asked != 0 || len(b.w.seen) != sent {
				t.Error("a lane that has stopped asks or sends")
			}
		})
	}
}

func TestAboveTheCapNothingIsReplacedAndNothingBegins(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.base = big.NewInt(1000 * gwei)
	for range 60 { // each replacement pays an eighth more
		b.w.mine(stuckBlocks)
		b.clock.wait(31 * time.Second)
		b.turn()
	}
	s := b.stored("a")
	for _, a := range s.Attempts {
		if a.tx.GasFeeCap().Cmp(b.l.stepCap()) > 0 || a.Cancel {
			t.Errorf("%v offered, cancelling %t", a.tx.GasFeeCap(), a.Cancel)
		}
	}
	if !strings.Contains(b.log.String(), "cannot be replaced") {
		t.Error("the log does not say why it waits")
	}
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrFees) || b.recorded("b") {
		t.Errorf("with the base fee above the cap: %v", err)
	}
	b.w.base = big.NewInt(gwei)
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}
}

// A chain that stands still is no reason to pay more.
func TestWithoutBlocksNothingIsReplaced(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	for range 10 {
		b.clock.wait(time.Minute)
		b.turn()
	}
	if n := len(b.stored("a").Attempts); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

func TestPastItsDeadlineAStepIsOverWithoutEffect(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Deadline = s.Time + 60
	s.Txs[0].Authorizations = []op.SignedAuthorization{{R: [32]byte{1}, S: [32]byte{2},
		Authorization: op.Authorization{ChainID: big.NewInt(chainID), Address: target, Nonce: 7}}}
	b.send(s)
	b.send(b.step("b"))
	b.turn()
	b.w.base = big.NewInt(50 * gwei)
	b.clock.wait(61 * time.Second)
	b.turn()
	last := b.stored("a").last()
	if !last.Cancel || *last.tx.To() != b.key.Address() || len(last.tx.Data()) != 0 || last.tx.Value().Sign() != 0 {
		t.Fatalf("%+v", last)
	}
	b.w.base = big.NewInt(gwei)
	b.w.mine(1 + depth)
	b.turn()
	r := b.result("a")
	if r == nil || r.Success || r.TxHash != last.Hash || len(r.Logs) != 0 || len(r.Authorizations) != 1 ||
		r.Authorizations[0].Nonce != 7 {
		t.Errorf("%+v", r)
	}
	if b.w.effects()["a"] != 0 || !b.result("b").Success {
		t.Errorf("effects %v", b.w.effects())
	}
	late := b.step("c")
	late.Deadline = late.Time - 1
	if _, err := b.l.Send(t.Context(), late); err == nil || b.recorded("c") {
		t.Error("a step was sent past its deadline")
	}
}

// Whichever attempt is mined counts, also one that others took the place of.
func TestAReplacedTransactionThatIsMinedAfterAllIsTheResult(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	first := b.stored("a").Attempts[0]
	b.clock.wait(2 * time.Hour) // past its deadline
	b.turn()
	if !b.stored("a").last().Cancel {
		t.Fatal("not cancelled")
	}
	b.w.pool[b.key.Address()][0] = first.tx // of the node that makes the next block
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || !r.Success || r.TxHash != first.Hash {
		t.Errorf("%+v", r)
	}
}

func TestAReorganisationStepsBack(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1)
	b.turn()
	b.w.reorganise(1, func() bool { return false })
	b.turn()
	if s := b.stored("a"); s.Mined != nil || b.w.waiting(b.key.Address(), 0) == nil {
		t.Fatalf("%+v is not sent again", s.Mined)
	}
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || !r.Success || b.w.effects()["a"] != 1 {
		t.Errorf("%+v", r)
	}
}

// turning reorganises deeper than final after a receipt was read.
type turning struct{ *world }

func (w turning) Agreed(ctx context.Context, result any, method string, params ...any) error {
	err := w.world.Agreed(ctx, result, method, params...)
	if method == "eth_getTransactionReceipt" {
		w.reorganise(1+depth, func() bool { return true })
	}
	return err
}

func TestAReceiptOfABlockThatIsGoneEndsNothing(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.l.Pool = turning{b.w}
	b.turn()
	b.l.Pool = b.w
	if b.result("a") != nil {
		t.Fatal("final in a block that is gone")
	}
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("a"); r == nil || r.BlockHash != b.w.blocks[r.Block].hash {
		t.Errorf("%+v", r)
	}
}

// foreign uses a nonce of the lane's key for something else.
func (b *lab) foreign() {
	b.foreignWaits()
	b.w.mine(1)
}

func (b *lab) foreignWaits() {
	at := b.key.Address()
	tx, err := b.key.SignTx(b.t.Context(), types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(chainID),
		Nonce: b.w.nonces(at), GasFeeCap: big.NewInt(100 * gwei), GasTipCap: big.NewInt(50 * gwei), Gas: 21_000,
		To: &target}), big.NewInt(chainID))
	b.ok(err)
	b.w.mu.Lock()
	if b.w.pool[at] == nil {
		b.w.pool[at] = map[uint64]*types.Transaction{}
	}
	b.w.pool[at][tx.Nonce()] = tx
	b.w.mu.Unlock()
}

// What another process has sent, and what is not mined yet, is as foreign as what is.
func TestBesideAForeignTransactionThatWaitsNothingIsSigned(t *testing.T) {
	b := newLab(t)
	b.foreignWaits()
	if _, err := b.l.Send(t.Context(), b.step("a")); !errors.Is(err, ErrStopped) || b.recorded("a") {
		t.Fatalf("a key's first step: %v", err)
	}
	b.w.mine(1)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	b.foreignWaits()
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) || b.recorded("b") {
		t.Fatal(err)
	}
}

func TestANonceBeyondTheLanesStopsItUntilAnOperatorDecides(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	b.foreign()
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) || b.recorded("b") {
		t.Fatal(err)
	}
	b.turn()
	b.clock.wait(2 * time.Minute)
	b.turn()
	if !strings.Contains(b.log.String(), CodeHeld) || strings.Contains(b.log.String(), CodeStopped) {
		t.Fatalf("before it is final: %s", b.log.String())
	}
	b.w.mine(depth)
	b.turn()
	if !strings.Contains(b.log.String(), CodeStopped) {
		t.Fatalf("not stopped: %s", b.log.String())
	}
	b.start()
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) {
		t.Fatalf("after a restart: %v", err)
	}
	b.ok(b.l.Resume(t.Context(), b.key.Address()))
	if err := b.l.Resume(t.Context(), b.key.Address()); err == nil {
		t.Error("a lane that did not stop goes on")
	}
	b.send(b.step("b"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("b"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}
}

func TestUnknownBytesAtAUsedNonceEndTheStepWithoutSuccess(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.send(b.step("b"))
	b.foreign()
	sent := len(b.w.seen)
	b.turn()
	b.w.mine(depth)
	b.turn()
	if len(b.w.seen) != sent {
		t.Error("something was sent beside bytes that nobody knows")
	}
	if b.result("a") != nil {
		t.Fatal("lost without a doubt")
	}
	b.clock.wait(2 * time.Minute)
	b.turn()
	if r := b.result("a"); r == nil || r.Success || r.TxHash != (common.Hash{}) || r.Value == nil {
		t.Fatalf("%+v", r)
	}
	if b.result("b") != nil || !strings.Contains(b.log.String(), CodeStopped) {
		t.Error("the lane did not stop")
	}
	b.ok(b.l.Resume(t.Context(), b.key.Address()))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	if r := b.result("b"); r == nil || !r.Success {
		t.Errorf("what was under way when the operator decided: %+v", r)
	}
}

// Two stores with one key, or a store of yesterday: the nonces of the other are found before anything is sent.
func TestARestoredStoreSendsNothing(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	stale := b.copied()
	b.send(b.step("b"))
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
	b.kept = &brittle{Store: stale}
	b.start()
	sent := len(b.w.seen)
	if _, err := b.l.Send(t.Context(), b.step("c")); !errors.Is(err, ErrStopped) || b.recorded("c") {
		t.Errorf("%v", err)
	}
	b.turn()
	if len(b.w.seen) != sent {
		t.Error("a store of yesterday has sent something")
	}
}

func TestWhatIsRefusedLeavesNothing(t *testing.T) {
	errNo := errors.New("no")
	says := func(err error) func(*lab) {
		return func(b *lab) { b.check = func(context.Context, chain.Message) error { return err } }
	}
	for name, c := range map[string]struct {
		change func(*lab)
		want   error
	}{
		"the trial":  {nil, chain.ErrNotAccepted},
		"the gate":   {nil, errNo},
		"last check": {says(chain.ErrReverted), chain.ErrNotAccepted},
		"node":       {says(errNo), errNo},
	} {
		b := newLab(t)
		s := b.step("a")
		if c.change != nil {
			c.change(b)
		}
		switch name {
		case "the trial":
			s.Txs[0].Data = []byte("fail now")
		case "the gate":
			s.Gate = func() error { return errNo }
		}
		if final, err := b.l.Send(t.Context(), s); final || !errors.Is(err, c.want) || b.recorded("a") {
			t.Errorf("%s: final %t, %v", name, final, err)
		}
		b.turn()
		if len(b.w.seen) != 0 {
			t.Errorf("%s: something was sent", name)
		}
		b.check = nil
		b.send(b.step("b")) // no nonce was used up
		if n := b.stored("b").Nonce; n != 0 {
			t.Errorf("%s: nonce %d", name, n)
		}
	}
}

func TestTheLastCheckIsOfTheExactTransactionAndTheGateComesAfterIt(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Txs[0].Value = big.NewInt(5)
	var order []string
	var asked chain.Message
	b.check = func(_ context.Context, m chain.Message) error {
		asked, order = m, append(order, "check")
		return nil
	}
	s.Gate = func() error { order = append(order, "gate"); return nil }
	b.send(s)
	tx := b.stored("a").last().tx
	if asked.From != b.key.Address() || asked.To != *tx.To() || asked.Gas != tx.Gas() ||
		asked.Value.Cmp(tx.Value()) != 0 || string(asked.Data) != string(tx.Data()) {
		t.Errorf("asked about %+v, signed %+v", asked, tx)
	}
	if strings.Join(order, " ") != "check gate" {
		t.Errorf("%v", order)
	}
}

// A step whose outcome only the chain's own nodes could tell is neither sent nor over.
func TestWhatCannotBeTriedIsNotSent(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Txs[0].Data = []byte("precompiled")
	_, err := b.l.Send(t.Context(), s)
	if !errors.Is(err, chain.ErrUnchecked) || errors.Is(err, chain.ErrNotAccepted) || b.recorded("a") {
		t.Error(err)
	}
}

func TestGasAndFundsAreBounded(t *testing.T) {
	b := newLab(t)
	s := b.step("a") // takes 21 100
	s.Txs[0].Gas = 21_099
	_, err := b.l.Send(t.Context(), s)
	if _, refused := errors.AsType[*chain.TxError](err); !refused {
		t.Errorf("above the caller's limit: %v", err)
	}
	s.Txs[0].Gas = 25_000
	b.send(s)
	if g := b.stored("a").last().tx.Gas(); g != 25_000 {
		t.Errorf("gas limit %d", g)
	}
	b.send(b.step("b"))
	if g := b.stored("b").last().tx.Gas(); g != 31_650 {
		t.Errorf("gas limit %d", g)
	}
	b.w.balance = new(big.Int).Add(b.stored("a").last().tx.Cost(), b.stored("b").last().tx.Cost())
	_, err = b.l.Send(t.Context(), b.step("c"))
	if _, refused := errors.AsType[*chain.TxError](err); !refused || b.recorded("c") {
		t.Errorf("without money: %v", err)
	}
}

// liar signs something else.
type liar struct{ signers.EVM }

func (k liar) SignTx(ctx context.Context, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	return k.EVM.SignTx(ctx, types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: tx.Nonce(), Gas: tx.Gas(),
		GasFeeCap: tx.GasFeeCap(), GasTipCap: tx.GasTipCap(), To: tx.To(), Value: big.NewInt(1)}), id)
}

func TestWhatASignerAltersIsNotSent(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Txs[0].From = liar{b.key}
	if _, err := b.l.Send(t.Context(), s); err == nil || b.recorded("a") {
		t.Errorf("%v", err)
	}
}

func TestAStepHasOneTransaction(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Txs = append(s.Txs, s.Txs[0])
	if _, err := b.l.Send(t.Context(), s); err == nil {
		t.Error("two were sent")
	}
	s.Txs = []chain.Tx{{To: target}}
	if _, err := b.l.Send(t.Context(), s); err == nil {
		t.Error("one without a signer was sent")
	}
	if _, err := b.l.Result(t.Context(), "a"); err == nil {
		t.Error("a result of what was never sent")
	}
}

// The keeper does by itself what the other tests do step by step, and a full lane waits for room.
func TestTheKeeperWorksUntilClose(t *testing.T) {
	b := newLab(t)
	o := b.options()
	o.Poll = time.Millisecond
	l, err := New(o)
	b.ok(err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for l.ctx.Err() == nil {
			b.w.mine(1)
			time.Sleep(2 * time.Millisecond)
		}
	}()
	ids := strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z")
	for _, id := range ids {
		if _, err := l.Send(t.Context(), b.step(id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range ids {
		if rs, err := l.Result(t.Context(), id); err != nil || !rs[0].Success {
			t.Errorf("%s: %v, %v", id, rs, err)
		}
	}
	waits := make(chan error)
	b.w.lose = func() (bool, bool) { return false, true }
	if _, err := l.Send(t.Context(), b.step("last")); err != nil {
		t.Fatal(err)
	}
	go func() { _, err := l.Result(context.Background(), "last"); waits <- err }()
	l.Close()
	if err := <-waits; !errors.Is(err, store.ErrClosed) {
		t.Errorf("whoever waited was told %v", err)
	}
	<-ended
}

// What a chain takes for publishing the data is beside the limit of a step, and has to be there for all that is under
// way.
func TestWhatPublishingCostsIsPartOfTheLimitAndOfWhatTheKeyMustHave(t *testing.T) {
	b := newLab(t)
	s := b.step("a")
	s.Txs[0].Gas = 21_050 // the node says 21 100
	var refused *chain.TxError
	if _, err := b.l.Send(t.Context(), s); !errors.As(err, &refused) {
		t.Fatalf("it is within its limit: %v", err)
	}
	wei := new(big.Int)
	b.l.DataFee = func(_ context.Context, m chain.Message) (*big.Int, uint64, error) {
		if string(m.Data) != "a" && string(m.Data) != "b" {
			t.Errorf("it was asked about %q", m.Data)
		}
		return wei, 100, nil
	}
	b.send(s)
	if gas := b.stored("a").last().tx.Gas(); gas != 21_200 {
		t.Errorf("the limit is %d", gas)
	}
	wei.Rsh(b.w.balance, 1) // once with half more is within what it has, twice is not
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.As(err, &refused) ||
		!strings.Contains(err.Error(), "what is under way and this may take") {
		t.Errorf("it can be paid for: %v", err)
	}
	wei.SetInt64(1)
	b.send(b.step("b"))
	b.l.DataFee = func(context.Context, chain.Message) (*big.Int, uint64, error) { return nil, 0, errors.New("silent") }
	if _, err := b.l.Send(t.Context(), b.step("c")); err == nil {
		t.Error("what it costs is unknown, and it goes out")
	}
}

// crooked has one endpoint that lies about fees, and others that agree on the truth, or on the base fee alone.
type crooked struct {
	*world
	apart bool
}

func (c crooked) Call(ctx context.Context, result any, method string, params ...any) error {
	switch method {
	case "eth_feeHistory":
		return json.Unmarshal([]byte(`{"oldestBlock":"0x0","baseFeePerGas":["0x1","0x174876e800"],`+
			`"reward":[["0x174876e800"]]}`), result) // 100 gwei
	case "eth_maxPriorityFeePerGas":
		return json.Unmarshal([]byte(`"0x174876e800"`), result)
	}
	return c.world.Call(ctx, result, method, params...)
}

func (c crooked) Agreed(ctx context.Context, result any, method string, params ...any) error {
	if percentiles, is := params[len(params)-1].([]float64); is && c.apart && len(percentiles) > 0 {
		return &rpcpool.NoQuorumError{Method: method}
	}
	return c.world.Agreed(ctx, result, method, params...)
}

func TestFeesAreWhatSeveralEndpointsAgreeOn(t *testing.T) {
	for _, apart := range []bool{false, true} {
		b := newLab(t)
		b.l.Quorum, b.l.Pool = 2, crooked{b.w, apart}
		s, err := b.l.fees(t.Context())
		if err != nil || s.base.Cmp(b.w.base) != 0 || s.head != b.w.head().number {
			t.Fatalf("apart %t: %+v, %v", apart, s, err)
		}
		most := new(big.Int).Set(b.w.base)
		if !apart {
			most = big.NewInt(gwei / 10) // twice what is usual
		}
		if s.tip.Cmp(most) > 0 {
			t.Errorf("apart %t: one endpoint makes the tip %d", apart, s.tip)
		}
		b.l.Quorum = 1
		if s, err := b.l.fees(t.Context()); err != nil || s.base.Cmp(b.w.base) == 0 {
			t.Errorf("the lie is none: %+v %v", s, err)
		}
	}
}
