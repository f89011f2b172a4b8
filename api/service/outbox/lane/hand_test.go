package lane

import (
	"context"
	"errors"
	"testing"

	"coffer/api/service/chain"
	"coffer/api/service/outbox"
)

// outcome is what somebody who asks now is told of a step; nil while it is open.
func (b *lab) outcome(id string) (*chain.Receipt, outbox.Change) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	rs, over, err := b.l.Outcome(ctx, id)
	if errors.Is(err, context.Canceled) {
		return nil, nil
	}
	if err != nil || len(rs) != 1 {
		b.t.Fatalf("outcome of %s: %v, %v", id, rs, err)
	}
	return &rs[0], over
}

// deep brings a step of a caller who asks for its outcome to where it is final on the chain.
func (b *lab) deep(id string) {
	b.t.Helper()
	s := b.step(id)
	s.Outcome = true
	b.send(s)
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
}

func TestTheEndOfAStepIsCommittedByWhoAsksForItsOutcome(t *testing.T) {
	b := newLab(t)
	b.deep("a")
	if b.stored("a").Final != nil {
		t.Fatal("the keeper did not leave it to who asks")
	}
	r, over := b.outcome("a")
	if r == nil || !r.Success || over == nil || b.stored("a").Final != nil {
		t.Fatalf("outcome %+v, %t", r, over != nil)
	}
	b.ok(b.kept.Update(over))
	if s, at := b.stored("a"), b.lane(); s.Final == nil || s.Final.TxHash != r.TxHash || s.Attempts[0].Raw != nil ||
		at.First != 1 || at.Next != 1 {
		t.Fatalf("after its commit: %+v, %+v", s, at)
	}
	b.turn()
	if k := b.l.key(b.key.Address()); len(k.handed)+len(k.waits)+len(k.sent) != 0 {
		t.Errorf("something of it stays: %+v", k)
	}
	b.ok(b.kept.Update(over)) // once more
	if again, over := b.outcome("a"); again.TxHash != r.TxHash || over != nil || b.lane().First != 1 {
		t.Error("a step that is over ended again")
	}
}

func TestWhatNobodyCommitsTheKeeperDoes(t *testing.T) {
	b := newLab(t)
	b.deep("a")
	_, over := b.outcome("a")
	b.clock.wait(handedFor / 2)
	b.turn()
	if b.stored("a").Final != nil {
		t.Fatal("the keeper did not wait")
	}
	b.clock.wait(handedFor)
	b.turn()
	end := b.stored("a").Final
	if end == nil || b.lane().First != 1 {
		t.Fatal("it stays open")
	}
	b.deep("b")
	b.ok(b.kept.Update(over)) // late, and of another step than the newest
	if b.stored("a").Final.TxHash != end.TxHash || b.stored("b").Final != nil || b.lane().First != 1 {
		t.Error("a late commit changed more than its step")
	}
}

// A process that ends between what it was told and its commit has lost nothing: the next one is told again.
func TestAnOutcomeIsToldAgainAfterACrash(t *testing.T) {
	b := newLab(t)
	b.deep("a")
	before, _ := b.outcome("a")
	b.start()
	told := make(chan outbox.Change, 1)
	go func() {
		rs, over, err := b.l.Outcome(context.Background(), "a")
		if err != nil || rs[0].TxHash != before.TxHash {
			t.Errorf("after a restart: %v, %v", rs, err)
		}
		told <- over
	}()
	for k := b.l.key(b.key.Address()); ; {
		k.mu.Lock()
		asks := len(k.waits) > 0
		k.mu.Unlock()
		if asks {
			break
		}
	}
	b.turn()
	if over := <-told; over == nil || b.stored("a").Final != nil {
		t.Fatal("it was not left to who asks")
	} else {
		b.ok(b.kept.Update(over))
	}
	if b.stored("a").Final == nil {
		t.Error("it stays open")
	}
}

// Where another process keeps the lane, that one has written down the end.
func TestTheOutcomeOfAStepThatAnotherProcessLooksAtIsInTheStore(t *testing.T) {
	bs := newLabs(t, 2)
	s := bs[1].step("a")
	s.Outcome = true
	bs[1].send(s)
	bs[0].turn()
	bs[0].w.mine(1 + depth)
	bs[0].turn()
	if r, over := bs[1].outcome("a"); r == nil || !r.Success || over != nil {
		t.Errorf("outcome %+v, %t", r, over != nil)
	}
}

// Others may have to be waited for a long time; what a step was to be committed with is not left open for that.
func TestAStepThatWaitsForOthersSaysSo(t *testing.T) {
	b := newLab(t)
	for n := range mostOpen {
		b.send(b.step(string(rune('a' + n))))
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, waits := b.step("late"), 0
	s.Waits = func() error { waits++; cancel(); return nil }
	if _, err := b.l.Send(ctx, s); !errors.Is(err, context.Canceled) || waits != 1 || b.recorded("late") {
		t.Errorf("%v, said so %d times", err, waits)
	}
	s.Waits = func() error { return errMoved }
	if _, err := b.l.Send(t.Context(), s); !errors.Is(err, errMoved) {
		t.Errorf("%v", err)
	}
}

// The next step of the same lane may be what ends the one before it.
func TestAStepEndsTheOneBeforeItInItsCommit(t *testing.T) {
	b := newLab(t)
	b.deep("a")
	_, over := b.outcome("a")
	s := b.step("b")
	s.Sent = over
	b.send(s)
	if at := b.lane(); b.stored("a").Final == nil || at.First != 1 || at.Next != 2 {
		t.Errorf("%+v", at)
	}
}
