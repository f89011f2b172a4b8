//go:build unix

package nodes

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/jackc/pgx/v5"

	"coffer/ui/e2e/rig"
)

var (
	replicaHangs = flag.Int("replica-hangs", 1,
		"how many times a process of an operator that has several hangs until others have its place")
	replicaPauses = flag.Int("replica-pauses", 3, "how many times one hangs for a short time before each of these")
)

// Members pay through the processes of one operator, one of which hangs, at a request to its nodes or at any moment.
// After a short time it goes on and serves. After a long one the others have its place and have ended what it accepted:
// it writes nothing more and ends by itself. No quote is lost, and nothing happens twice.
func TestReplicasOfAnOperatorThatHangLoseNothingAndDoubleNothing(t *testing.T) {
	needsAnvil(t)
	if *processes < 2 {
		t.Skip("needs another process: -args -replicas 2")
	}
	t.Parallel()
	k := newReplicasKilling(t, "alone")
	stop, wait := k.begin()
	for k.hangs < *replicaHangs {
		for range *replicaPauses {
			k.pause()
		}
		k.hang()
	}
	k.end(stop, wait)
}

// pause has a process hang for a short time, after which it serves as before.
func (k *replicasKilling) pause() {
	k.Helper()
	k.goOn(1 + k.dice.IntN(3))
	p := k.any(k.dice)
	life := p.cmd
	wakes := k.stops(p)
	time.Sleep(2*time.Second + time.Duration(k.dice.IntN(8000))*time.Millisecond)
	wakes()
	k.pauses++
	k.goOn(len(k.people))
	k.until("an answer of a process that hung for a short time", func() bool {
		if p.cmd != life || !p.alive() {
			k.Fatalf("%s ended after a short hang: %s", p.dir, k.tail(p))
		}
		_, err := p.client.Status(k.Context(), common.Hash{}.Hex())
		return err == nil
	})
}

// hang has a process hang until the others have ended what it accepted, and demands that it ends when it wakes.
func (k *replicasKilling) hang() {
	k.Helper()
	k.goOn(1 + k.dice.IntN(3))
	p := k.any(k.dice)
	k.hangs++
	since, before := time.Now(), k.count()
	wakes := k.stops(p)
	logged := len(k.log(p))
	k.until("an end of the place of a process that hangs", func() bool { return k.places() == len(k.all)-1 })
	gone, meanwhile := time.Since(since), k.count()
	k.goesOnWithout(p)
	k.goOn(len(k.people))
	k.Logf("the place of a process was free %s after it began to hang, what was under way had ended after %s; %d "+
		"payments ended until then, %d more before it woke", gone.Round(time.Second),
		time.Since(since).Round(time.Second), meanwhile-before, k.count()-meanwhile)
	wakes()
	select {
	case <-p.ended:
	case <-time.After(rig.Limit):
		k.Fatalf("%s goes on although others have its place: %s", p.dir, k.tail(p))
	}
	if code := p.cmd.ProcessState.ExitCode(); code < 0 ||
		!strings.Contains(k.log(p)[logged:], "another process has taken over the database") {
		k.Fatalf("%s ended with %d: %s", p.dir, code, k.tail(p))
	}
	k.starts(p)
}

// stops has a process hang at a request to a node, mostly one that sends, or some time later. What it was about to send
// arrives when it wakes.
func (k *replicasKilling) stops(p *replica) (wakes func()) {
	k.Helper()
	m := moment{at: 1 + k.dice.IntN(40), after: k.dice.IntN(2) == 0, hangs: make(chan struct{})}
	if k.dice.IntN(4) > 0 {
		m.at, m.only = 1+k.dice.IntN(2), "eth_sendRawTransaction"
	}
	wakes = sync.OnceFunc(func() {
		close(m.hangs)
		p.gate.kills(nil, moment{})
		p.reached()
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
	})
	k.Cleanup(wakes)
	p.gate.kills(p.cmd.Process, m)
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(tick / 10) {
		if shot, _ := p.gate.shot(); shot {
			k.steps++
			break
		}
	}
	k.ok(p.cmd.Process.Signal(syscall.SIGSTOP))
	p.hang.Load().begin()
	return wakes
}

// log is what a process has logged in all its lives.
func (k *replicasKilling) log(p *replica) string {
	k.Helper()
	raw, err := os.ReadFile(filepath.Join(p.dir, "log"))
	k.ok(err)
	return string(raw)
}

// places is how many processes may write.
func (k *replicasKilling) places() (n int) {
	k.Helper()
	ctx, stop := context.WithTimeout(k.Context(), limit)
	defer stop()
	c, err := pgx.Connect(ctx, k.database.Address)
	k.ok(err)
	defer func() { k.ok(c.Close(ctx)) }()
	k.ok(c.QueryRow(ctx, "select count(*) from coffer_process").Scan(&n))
	return n
}
