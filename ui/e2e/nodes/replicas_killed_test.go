//go:build unix

package nodes

import (
	"context"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/store/storetest"
)

var (
	processes    = flag.Int("replicas", 3, "how many processes an operator has")
	replicaKills = flag.Int("replica-kills", 8, "how many times a process of an operator that has several is killed")
	serverKills  = flag.Int("server-kills", 2, "how many times the server of their database is")
)

// replicasKilling are processes that are killed again and again, and members that go on.
type replicasKilling struct {
	*members
	database *storetest.Server
	dice     *rand.Rand
	kills    int           // of a process
	steps    int           // of them at a request to a node that was counted
	outages  int           // kills of the database's server
	ends     int           // processes that ended because of them
	hangs    int           // of a process, for so long that others take its place
	pauses   int           // hangs for a short time
	longest  time.Duration // until payments that were under way had ended without the process that was killed
}

// Members pay each other without a pause, each step through another of the processes of one operator. Any of these is
// killed with signal 9, at requests to its nodes, at any moment or while it starts, and so is the server of the
// database: no quote is lost, nothing happens twice, and what one process accepted the others bring to its end.
func TestReplicasOfAnOperatorKilledLoseNothingAndDoubleNothing(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	k := newReplicasKilling(t, "alone")
	stop, wait := k.begin()
	for k.kills < *replicaKills || k.outages < *serverKills {
		if k.outages*max(1, *replicaKills) < *serverKills*k.kills || k.kills >= *replicaKills {
			k.outage("start")
		} else {
			k.kill()
		}
		k.restarts()
	}
	k.end(stop, wait)
}

// The server of the database is killed for ever while payments run, and its synchronous standby takes its place.
func TestReplicasOfAnOperatorGoOnWithASynchronousStandby(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	k := newReplicasKilling(t, "sync")
	stop, wait := k.begin()
	k.outage("promote")
	k.restarts()
	k.kill()
	k.restarts()
	k.end(stop, wait)
}

func newReplicasKilling(t *testing.T, kind string) *replicasKilling {
	t.Helper()
	database := storetest.NewServer(t, kind)
	r := newReplicas(t, *processes, database.Address, "--fault", "revert@6", "--fault", "deposit-missing@9", "--fault",
		"deposit-fails@11")
	return &replicasKilling{members: r.brings(6, r.ids), database: database, dice: rand.New(rand.NewPCG(7, 7))}
}

// begin has the members pay.
func (k *replicasKilling) begin() (stop, wait func()) {
	k.Helper()
	ctx, stop := context.WithCancel(k.Context())
	wait = k.pay(ctx)
	k.Cleanup(func() { stop(); wait() })
	k.goOn(len(k.people))
	return stop, wait
}

// end demands that payments go on, ends them, and judges.
func (k *replicasKilling) end(stop, wait func()) {
	k.Helper()
	k.goOn(2 * len(k.people))
	stop()
	wait()
	k.judge()
	sent, failed := k.sendsOn()
	k.Logf("%d processes: %d kills, %d long hangs and %d short ones, %d of all at a counted request; the server of "+
		"the database was killed %d times, after which %d processes ended; payments under way ended without the one "+
		"that was killed within %s; the operator's key sent %d transactions, of which %d failed", len(k.all), k.kills,
		k.hangs, k.pauses, k.steps, k.outages, k.ends, k.longest.Round(10*time.Millisecond), sent, failed)
}

// kill kills one of the processes, now and then all but one, or all, and leaves some dead until the others have ended
// what was under way.
func (k *replicasKilling) kill() {
	k.Helper()
	k.goOn(1 + k.dice.IntN(3))
	p := k.any(k.dice)
	k.endsAt(p)
	switch k.dice.IntN(6) {
	case 0:
		for _, other := range k.all {
			if other != p && (other != k.all[0] || k.dice.IntN(2) == 0) {
				other.dies()
				k.kills++
			}
		}
	case 1: // and again while it starts
		k.begins(p)
		time.Sleep(time.Duration(k.dice.IntN(1000)) * time.Millisecond)
		k.endsAt(p)
	case 2, 3:
		if len(k.all) > 1 {
			k.goesOnWithout(p)
		}
	}
}

// endsAt has a process killed at a request to a node, mostly one that sends, or some time later: one that only forwards
// asks none.
func (k *replicasKilling) endsAt(p *replica) {
	k.Helper()
	m := moment{at: 1 + k.dice.IntN(120), after: k.dice.IntN(2) == 0}
	if k.dice.IntN(2) == 0 {
		m.at, m.only = 1+k.dice.IntN(3), "eth_sendRawTransaction"
	}
	p.gate.kills(p.cmd.Process, m)
	select {
	case <-p.ended:
	case <-time.After(time.Duration(300+k.dice.IntN(2700)) * time.Millisecond):
		p.dies()
	}
	if shot, _ := p.gate.shot(); shot {
		k.steps++
	}
	if p.cmd.ProcessState.ExitCode() >= 0 {
		k.ended(p)
		return
	}
	k.kills++
}

// goOn waits until so many more orders have ended, and starts what is dead.
func (k *replicasKilling) goOn(n int) {
	k.Helper()
	n += k.count()
	k.until("an end of more payments", func() bool {
		if k.Failed() {
			k.FailNow()
		}
		k.restarts()
		return k.count() >= n
	})
}

// goesOnWithout waits until what was under way has ended while a process is dead.
func (k *replicasKilling) goesOnWithout(p *replica) {
	k.Helper()
	since, under := time.Now(), k.open()
	k.until("an end of what was under way at a process that is dead", func() bool {
		for _, o := range under {
			k.mu.Lock()
			waits := o.accepted && !o.over()
			k.mu.Unlock()
			if waits && !k.Failed() {
				return false
			}
		}
		return true
	})
	k.longest = max(k.longest, time.Since(since))
}

// outage kills the server of the database, and has it come back, or its standby take its place.
func (k *replicasKilling) outage(back string) {
	k.Helper()
	k.goOn(1 + k.dice.IntN(3))
	k.database.Do("kill")
	k.outages++
	time.Sleep(time.Duration(k.dice.IntN(1000)) * time.Millisecond)
	if p := k.any(k.dice); k.dice.IntN(3) == 0 && p.alive() {
		p.dies()
		k.kills++
	}
	k.database.Do(back)
	k.goOn(1)
}

// restarts starts what is dead, as a supervisor does. What ended by itself may have done so for the database alone.
func (k *replicasKilling) restarts() {
	k.Helper()
	for _, p := range k.all {
		if p.alive() {
			continue
		}
		if p.cmd.ProcessState.ExitCode() >= 0 {
			k.ended(p)
		}
		k.starts(p)
	}
}

// ended demands that a process had a reason to end by itself.
func (k *replicasKilling) ended(p *replica) {
	k.Helper()
	k.ends++
	raw, err := os.ReadFile(filepath.Join(p.dir, "log"))
	k.ok(err)
	if text := string(raw); k.outages == 0 || !strings.Contains(text, "the database is not the one that was opened") &&
		!strings.Contains(text, "another process has taken over the database") {
		k.Fatalf("%s ended by itself: %s", p.dir, k.tail(p))
	}
}

// What is lost or happens twice is seen, whatever the end of a quote is.
func TestWhatIsLostOrDoubledIsSeen(t *testing.T) {
	t.Parallel()
	id := common.HexToHash("0x1")
	happened := func(deposits, releases, refunds, deliveries int) counts {
		return counts{
			deposited: {"10": {id: deposits}, base: {}}, released: {"10": {id: releases}, base: {}},
			refunded: {"10": {id: refunds}, base: {}}, filled: {"10": {}, base: {id: deliveries}},
		}
	}
	across := traffic.Effect{Uses: []traffic.Use{{Chain: 8453, Lane: op.LanePrepared},
		{Chain: 10, Lane: op.LaneFunding}}}
	for _, c := range []struct {
		status        string
		has           counts
		lost, doubled bool
	}{
		{api.StatusCompleted, happened(1, 1, 0, 1), false, false},
		{api.StatusCompleted, happened(1, 1, 0, 0), true, false},
		{api.StatusCompleted, happened(1, 0, 0, 1), true, false},
		{api.StatusCompleted, happened(1, 0, 1, 1), true, true},
		{api.StatusCompleted, happened(1, 1, 0, 2), false, true},
		{api.StatusCompleted, happened(2, 2, 0, 1), false, true},
		{api.StatusRefunded, happened(1, 0, 1, 0), false, false},
		{api.StatusRefunded, happened(1, 0, 0, 0), true, false},
		{api.StatusRefunded, happened(1, 0, 1, 1), false, true},
		{api.StatusFailed, happened(0, 0, 0, 0), false, false},
		{api.StatusFailed, happened(1, 1, 0, 0), true, true},
		{api.StatusInProgress, happened(0, 0, 0, 0), true, false},
		{"", happened(0, 0, 0, 0), false, false},
		{"", happened(1, 0, 1, 0), false, true},
	} {
		o := &order{Offer: &traffic.Offer{ID: id.Hex(), Effect: across}, status: c.status, accepted: c.status != ""}
		less, more := c.has.compare(o)
		if (less != "") != c.lost || (more != "") != c.doubled {
			t.Errorf("%q with %v: it says %q and %q", c.status, c.has, less, more)
		}
		if strange := c.has.strange(nil); !strange[id] {
			t.Errorf("%v has nothing strange", c.has)
		}
	}
}
