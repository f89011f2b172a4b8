package lane

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/api/service/store"
)

// copied is what a store holds of lanes at this moment.
func (b *lab) copied() store.Store {
	b.t.Helper()
	out := store.NewMemory()
	b.ok(out.Update(func(into store.Tx) error {
		return b.kept.View(func(from store.Tx) error {
			for _, name := range []string{bucketLanes, bucketSteps, bucketNames, callers} {
				from.Bucket(name).Ascend(nil, func(k, v []byte) bool {
					b.ok(into.Bucket(name).Put(k, v))
					return true
				})
			}
			return nil
		})
	}))
	return out
}

// restored puts a store in the place of the one that there is, in a process that can read its records again; told is
// how often it was told to.
func (b *lab) restored(from store.Store) (told *int) {
	b.t.Helper()
	told = new(int)
	b.kept = &brittle{Store: from}
	b.l.stop()
	o := b.options()
	o.Behind = func(tx store.Tx, _ string) error {
		*told++
		return tx.Bucket(callers).Put([]byte("behind"), []byte{1})
	}
	l, err := open(o)
	b.ok(err)
	b.l = l
	return told
}

// final makes what was sent final, and lets nodes catch up.
func (b *lab) final() {
	b.t.Helper()
	b.turn()
	b.w.mine(1 + depth)
	b.turn()
}

// A store of yesterday goes on from the chain's nonce once all of that is final, and says in the same commit that it
// was behind. Nothing is sent before; what is amiss afterwards stops the lane.
func TestALaneWhoseStoreIsBehindGoesOnOnceAndSaysSo(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	b.final()
	b.send(b.step("open"))
	stale := b.copied()
	b.final()
	b.send(b.step("b"))
	b.final()
	told := b.restored(stale)
	sent, key := len(b.w.seen), b.key.Address()
	if err := b.l.Explained(t.Context(), key); !errors.Is(err, ErrStopped) {
		t.Errorf("explained: %v", err)
	}
	if _, err := b.l.Send(t.Context(), b.step("c")); !errors.Is(err, ErrStopped) || b.recorded("c") {
		t.Errorf("%v", err)
	}
	b.turn()
	b.turn()
	if *told != 0 || len(b.w.seen) != sent {
		t.Fatalf("told %d times, %d sent, before a minute has passed", *told, len(b.w.seen)-sent)
	}
	b.w.mine(depth)
	b.clock.wait(2 * time.Minute)
	b.turn()
	b.turn()
	if *told != 1 || !b.recorded("behind") || !strings.Contains(b.log.String(), CodeBehind) {
		t.Fatalf("told %d times: %s", *told, b.log.String())
	}
	if r := b.result("open"); r == nil || !r.Success {
		t.Errorf("what was under way when it was copied: %+v", r)
	}
	b.ok(b.l.Explained(t.Context(), key))
	b.send(b.step("c"))
	b.final()
	if r := b.result("c"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}

	b.foreign()
	b.turn()
	if _, err := b.l.Send(t.Context(), b.step("d")); !errors.Is(err, ErrStopped) {
		t.Errorf("%v", err)
	}
	b.turn()
	b.w.mine(depth)
	b.clock.wait(2 * time.Minute)
	b.turn()
	b.turn()
	if *told != 1 || !strings.Contains(b.log.String(), CodeStopped) {
		t.Errorf("told %d times; the lane did not stop: %s", *told, b.log.String())
	}
	if err := b.l.Explained(t.Context(), key); !errors.Is(err, ErrStopped) {
		t.Errorf("explained: %v", err)
	}
}

// A step whose nonce was used by bytes that the store lost is over without success, and stops nothing.
func TestAStepWhoseBytesTheStoreLostEndsAndStopsNothing(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	stale := b.copied()
	b.foreign() // stands for a replacement that the store lost
	b.turn()
	b.w.mine(depth)
	told := b.restored(stale)
	b.turn()
	b.w.mine(depth)
	b.clock.wait(2 * time.Minute)
	b.turn()
	b.turn()
	if r := b.result("a"); r == nil || r.Success || *told != 1 {
		t.Fatalf("%+v, told %d times", r, *told)
	}
	b.turn()
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	b.send(b.step("b"))
	b.final()
	if r := b.result("b"); r == nil || !r.Success || strings.Contains(b.log.String(), CodeStopped) {
		t.Errorf("%+v: %s", r, b.log.String())
	}
}

// A key that has sent without a lane is that of a store from before its first step.
func TestAKeyWithoutALaneThatHasSentIsBehind(t *testing.T) {
	b := newLab(t)
	empty := b.copied()
	b.send(b.step("a"))
	b.final()
	told := b.restored(empty)
	if _, err := b.l.Send(t.Context(), b.step("b")); !errors.Is(err, ErrStopped) || *told != 1 || b.recorded("b") {
		t.Fatalf("%v, told %d times", err, *told)
	}
	b.ok(b.l.Explained(t.Context(), b.key.Address()))
	b.send(b.step("b"))
	b.final()
	if r := b.result("b"); r == nil || !r.Success {
		t.Errorf("%+v", r)
	}
}
