package lane

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// Whatever is sent, mined, reorganised less deep than final, dropped, lost, restarted and not written, in any order:
// what a caller's record says was sent ends once, with its effect or without, and every nonce is used once.
func TestEveryStepEndsOnceWhateverHappens(t *testing.T) {
	manySeeds(t, 24, interleave)
}

// The same of several processes, which draw, judge and end in the midst of what another one does, lose their locks, and
// take each other's tasks for their own.
func TestEveryStepEndsOnceWhateverSeveralProcessesDo(t *testing.T) {
	manySeeds(t, 9, interleaveProcesses)
}

func manySeeds(t *testing.T, runs uint64, interleave func(*testing.T, uint64) string) {
	t.Helper()
	switch {
	case os.Getenv("COFFER_TEST_WHOLE") != "":
		runs *= 25
	case testing.Short():
		runs /= 3
	}
	told := ""
	for seed := range runs {
		if told += interleave(t, seed); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, event := range []string{"was not taken", "is replaced", "cancels=true", "took a transaction back",
		"is over without effect"} {
		if n := strings.Count(told, event); n < int(runs)/2 {
			t.Errorf("%q came %d times only", event, n)
		}
	}
}

// interleave returns the log.
func interleave(t *testing.T, seed uint64) string {
	b, d := newLab(t), dice(seed)
	weather(b, d)
	ended := map[string]chain.Receipt{}
	var ids []string
	for range 400 {
		act(t, b, d, d.IntN(12), &ids)
		for _, id := range ids {
			judge(t, b, id, ended)
		}
		if t.Failed() {
			return ""
		}
	}
	b.kept.fail = nil
	clearsUp(t, b, b.turn, ids, ended)
	return b.log.String()
}

func interleaveProcesses(t *testing.T, seed uint64) (log string) {
	d := dice(seed)
	chance := func(n int) bool { return d.IntN(n) == 0 }
	bs := newLabs(t, 2+int(seed)%2)
	lockless, within := seed%4 > 1, false
	var ids []string
	var ended []*Lane // of processes that do not know it
	for _, b := range bs {
		weather(b, d)
		b.at.lockless, b.at.leads = lockless, func() bool { return chance(8) }
		b.via.before = func(string) {
			other := bs[d.IntN(len(bs))]
			if within || other == b || !chance(25) {
				return
			}
			within = true
			defer func() { within = false }()
			if do := d.IntN(12); lockless || do > 1 { // who draws would wait for the lock
				act(t, other, d, do, &ids)
			}
		}
	}
	results := map[string]chain.Receipt{}
	for range 400 {
		b := bs[d.IntN(len(bs))]
		was := b.l
		act(t, b, d, d.IntN(12), &ids)
		if b.l != was {
			ended = append(ended, was)
		}
		if len(ended) > 0 && chance(10) {
			l := ended[d.IntN(len(ended))]
			_ = errors.Join(l.look(t.Context()), l.push(t.Context()))
		}
		for _, id := range ids {
			judge(t, b, id, results)
		}
		if t.Failed() {
			return ""
		}
	}
	for _, b := range bs {
		b.kept.fail, b.at.leads, b.via.before = nil, nil, nil
	}
	clearsUp(t, bs[0], func() {
		for _, b := range bs {
			b.turn()
		}
	}, ids, results)
	for _, b := range bs {
		log += b.log.String()
	}
	return log
}

// weather is how the nodes and the store of a process fail.
func weather(b *lab, d *rand.Rand) {
	chance := func(n int) bool { return d.IntN(n) == 0 }
	b.kept.fail = func() (bool, bool) { return chance(20), chance(20) }
	b.w.faulty = func(string) error {
		if chance(40) {
			return errFault
		}
		return nil
	}
	b.w.lose = func() (bool, bool) { return !chance(5), !chance(5) }
	b.w.stale = func() bool { return chance(10) }
}

// clearsUp goes on in good weather and judges everything.
func clearsUp(t *testing.T, b *lab, turn func(), ids []string, ended map[string]chain.Receipt) {
	t.Helper()
	b.w.faulty, b.w.lose, b.w.stale = nil, nil, nil
	b.w.base = big.NewInt(gwei)
	for range 200 {
		turn()
		b.w.mine(1)
		b.clock.wait(10 * time.Second)
	}
	at := b.key.Address()
	effects, lane := b.w.effects(), b.lane()
	if n := b.w.nonces(at); lane.First != lane.Next || n != lane.Next || lane.Stopped != "" {
		t.Errorf("the lane is %+v, the chain's nonce %d\n%s", lane, n, b.log.String())
	}
	happened := 0
	for _, id := range ids {
		if !b.recorded(id) {
			if effects[id] != 0 {
				t.Errorf("%s happened without a record", id)
			}
			continue
		}
		judge(t, b, id, ended)
		r, over := ended[id]
		want := 0
		if over && r.Success {
			want, happened = 1, happened+1
		}
		if !over || effects[id] != want {
			t.Errorf("%s: over %t, success %t, happened %d times", id, over, r.Success, effects[id])
		}
	}
	if happened == 0 {
		t.Error("nothing happened")
	}
}

// act does one of twelve things.
func act(t *testing.T, b *lab, d *rand.Rand, what int, ids *[]string) {
	switch what {
	case 0, 1:
		if len(b.openIDs()) >= mostOpen-4 { // some may be sent meanwhile
			return
		}
		id := fmt.Sprintf("step %d", len(*ids))
		if n := len(*ids); n > 0 && !b.recorded((*ids)[n-1]) {
			id = (*ids)[n-1] // the caller tries again what its record does not have
		} else {
			*ids = append(*ids, id)
		}
		s := b.once(id)
		s.Deadline = s.Time + uint64(d.IntN(600))
		_, err := b.l.Send(t.Context(), s)
		if err != nil && errors.Is(err, store.ErrNotWritten) && d.IntN(2) == 0 {
			b.start()
		}
	case 2, 3:
		b.w.mine(1 + d.IntN(2))
	case 4:
		b.w.reorganise(1+d.IntN(depth-1), func() bool { return d.IntN(2) == 0 })
	case 5, 6:
		_ = b.l.look(t.Context())
	case 7, 8:
		_ = b.l.push(t.Context())
	case 9:
		b.clock.wait(time.Duration(d.IntN(60)) * time.Second)
	case 10:
		b.w.mu.Lock()
		b.w.base = big.NewInt(int64(1+d.IntN(20)) * gwei)
		b.w.mu.Unlock()
	case 11:
		if d.IntN(3) == 0 {
			b.w.drop()
		} else {
			b.start()
		}
	}
}

// judge notes how a step ended and that it stays so; it never happens twice.
func judge(t *testing.T, b *lab, id string, ended map[string]chain.Receipt) {
	t.Helper()
	if !b.recorded(id) {
		return
	}
	if n := b.w.effects()[id]; n > 1 {
		t.Errorf("%s happened %d times", id, n)
	}
	r := b.result(id)
	was, over := ended[id]
	switch {
	case r == nil && over:
		t.Errorf("%s was over and is not", id)
	case r != nil && !over:
		ended[id] = *r
	case r != nil && (was.TxHash != r.TxHash || was.Success != r.Success):
		t.Errorf("%s ended twice: %+v, %+v", id, was, r)
	}
}

func (b *lab) lane() (r *laneRecord) {
	b.ok(b.kept.View(func(tx store.Tx) (err error) {
		r, err = b.l.in(tx).lane(b.key.Address())
		return err
	}))
	if r == nil {
		r = &laneRecord{}
	}
	return r
}

func (b *lab) openIDs() (out []string) {
	steps, err := b.l.openSteps(b.key.Address())
	b.ok(err)
	for _, s := range steps {
		out = append(out, s.ID)
	}
	return out
}
