//go:build unix

package flow_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// ground is one wallet directory with a service beside it, on which children run and die.
type ground struct {
	t      testing.TB
	s      *countingService
	orders childOrders
}

// newGround prepares a ground for the golden call, or for a recorded run.
func newGround(t testing.TB, r *recorded) *ground {
	t.Helper()
	s := serveCounting(t, r)
	n, in := s.world.Network, s.world.Intent()
	o := childOrders{EVM: crypto.FromECDSA(golden.KeyOf(s.world.Key))}
	if r != nil {
		n, in = r.network, r.in
		o.EVM, o.Solana = r.keys(t)
	}
	o.Dir = filepath.Join(t.TempDir(), "wallet")
	o.Service, o.Control = s.https.URL+"/api", s.control.URL
	o.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.https.Certificate().Raw})
	var err error
	if o.Network, err = n.Encode(); err != nil {
		t.Fatal(err)
	}
	if o.Intent, err = in.MarshalJSON(); err != nil {
		t.Fatal(err)
	}
	return &ground{t, s, o}
}

// start starts a child and waits until its journal is open; it is nil when the child died before.
func (g *ground) start(o childOrders) (*exec.Cmd, *bytes.Buffer) {
	g.t.Helper()
	raw, err := json.Marshal(o)
	if err != nil {
		g.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+string(raw))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	_, _ = bufio.NewReader(out).ReadString('\n') // an early end shows when it is waited for
	return cmd, &complaint
}

// run runs a child to its end and reports whether it was killed; any other end than a good one fails the test.
func (g *ground) run(o childOrders) (killed bool) {
	g.t.Helper()
	cmd, complaint := g.start(o)
	return g.ended(cmd, complaint)
}

func (g *ground) ended(cmd *exec.Cmd, complaint *bytes.Buffer) bool {
	g.t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
			return true
		}
	}
	if err != nil {
		g.t.Errorf("a child failed: %v: %s", err, complaint)
	}
	return false
}

// recover runs a child that nothing disturbs, on a service without faults.
func (g *ground) recover(abandon bool) {
	g.t.Helper()
	g.s.setFault(noFault)
	o := g.orders
	o.Abandon = abandon
	if g.run(o) {
		g.t.Error("the last child was killed by somebody else")
	}
}

// check compares the journal with what the service saw: nothing lost, nothing double, no phantom (TH-F6).
func (g *ground) check() {
	g.t.Helper()
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	g.s.arrive(g.s.clock.Add(late)) // what is still under way arrives in the end
	var n struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(g.orders.Network, &n); err != nil {
		g.t.Fatal(err)
	}
	j, err := journal.OpenReadOnly(g.orders.Dir, journal.Options{
		Network: n.ID, Kind: network.Embedded, Clock: func() time.Time { return g.s.clock },
		Anchor: anchorOf(g.orders.Dir),
	})
	if err != nil {
		g.t.Fatal(err)
	}
	defer j.Close()
	if errors.Is(j.ReadOnly(), journal.ErrOlder) {
		g.t.Error(j.ReadOnly())
	}
	if j.Repaired() != 0 {
		g.t.Errorf("%d bytes of a torn record were left", j.Repaired())
	}
	raw, err := os.ReadFile(filepath.Join(g.orders.Dir, "journal"))
	if err != nil {
		g.t.Fatal(err)
	}
	known := map[string]journal.Operation{}
	for _, o := range j.Operations() {
		known[strings.ToLower(o.QuoteID)] = o
		switch o.State {
		case journal.Done:
			if !g.s.accepted[o.QuoteID] || o.Outcome != api.StatusCompleted {
				g.t.Errorf("phantom: %s is on record as %s and was never accepted", o.QuoteID, o.Outcome)
			}
		case journal.NotExecuted, journal.Abandoned, journal.Intent, journal.Prepared:
			if g.s.accepted[o.QuoteID] {
				g.t.Errorf("lost: %s was accepted and is on record as %s", o.QuoteID, o.State)
			}
		case journal.Quoted: // of a swap that nothing was signed for
			if len(o.Signatures) > 0 || g.s.accepted[o.QuoteID] {
				g.t.Errorf("%s was left in %s", o.QuoteID, o.State)
			}
		default:
			g.t.Errorf("%s was left in %s", o.QuoteID, o.State)
		}
	}
	for id := range g.s.accepted {
		if _, ok := known[id]; !ok {
			g.t.Errorf("lost: %s was accepted and no operation ended with it", id)
		}
	}
	for id, sent := range g.s.attempts {
		if sent > 1 {
			g.t.Errorf("double: %s was sent %d times", id, sent)
		}
	}
	for s := range g.s.seen {
		if !bytes.Contains(raw, []byte(s)) && !bytes.Contains(raw, []byte(hexOfBase58(s))) {
			g.t.Errorf("a signature was on the wire and is not on record: %.20s…", s)
		}
	}
}

// pointsOf lists the kill points that a run under a fault passes.
func pointsOf(fault string, signatures int, prepared bool) []string {
	records := []journal.State{journal.Intent, journal.Quoted, journal.QuoteSigned, journal.Executing}
	wire := []string{"quote", "execute", "status"}
	if prepared {
		records, wire = append(records, journal.Prepared, journal.Signed), append(wire, "prepare")
	}
	if fault == requestLost || fault == serverError {
		records, wire = append(records, journal.NotExecuted), append(wire, "history")
	} else {
		records = append(records, journal.Acked, journal.Done)
	}
	var out []string
	for _, r := range records {
		for _, where := range []string{"before ", "half of ", "unsynced ", "after "} {
			out = append(out, where+string(r))
		}
	}
	for _, w := range wire {
		out = append(out, "before "+w, "after "+w)
	}
	for i := range signatures {
		out = append(out, "before signature "+string(rune('1'+i)), "after signature "+string(rune('1'+i)))
	}
	return out
}

// TestF6_KillAtEveryPointUnderEveryFault kills a real process at every place of a call's way, with each fault of its
// execute request, and starts another one that reconciles and goes on, or abandons.
func TestF6_KillAtEveryPointUnderEveryFault(t *testing.T) {
	for _, fault := range []string{answerLost, requestLost, serverError, requestLate} {
		points := pointsOf(fault, 3, true)
		if len(points) < 34 {
			t.Fatalf("%d points", len(points))
		}
		for i, point := range points {
			if fault == requestLate && !strings.Contains(strings.ToLower(point), "execut") &&
				!strings.HasSuffix(point, "status") {
				continue // beyond the three: where it differs from an answer that is lost
			}
			if testing.Short() && i%5 != 0 {
				continue
			}
			t.Run(fault+", "+point, func(t *testing.T) {
				t.Parallel()
				killAndRecover(t, nil, fault, point, i%2 == 1)
			})
		}
	}
}

// TestF6_KillAroundExecuteOfEveryKindOfAccount does the same where the service first holds signatures, with
// delegations, approvals and Solana messages.
func TestF6_KillAroundExecuteOfEveryKindOfAccount(t *testing.T) {
	for _, name := range []string{"v3-eip7702-funded", "v3-role-based-funded", "v3-kernel-mixed",
		"v3-swap-several-chains", "v3-swap-from-solana"} {
		r := readRecorded(t, name)
		for _, fault := range []string{answerLost, requestLost} {
			for i, point := range []string{"half of QUOTE_SIGNED", "after QUOTE_SIGNED", "unsynced EXECUTING",
				"before execute", "after execute", "after status"} {
				if testing.Short() && i != 4 {
					continue
				}
				t.Run(name+", "+fault+", "+point, func(t *testing.T) {
					t.Parallel()
					killAndRecover(t, r, fault, point, i%2 == 0)
				})
			}
		}
	}
}

func killAndRecover(t *testing.T, r *recorded, fault, point string, abandon bool) {
	t.Helper()
	g := newGround(t, r)
	g.s.setFault(fault)
	first := g.orders
	first.Begin, first.Kill = true, point
	if !g.run(first) {
		t.Fatal("the point was not reached")
	}
	g.recover(abandon)
	g.check()
}

// TestF6_RandomKills kills processes at any moment, also while they recover from the last kill. COFFER_TEST_WHOLE=1
// makes it a thousand:
//
//	COFFER_TEST_WHOLE=1 go test ./wallet/flow -run TestF6_RandomKills -timeout 30m
func TestF6_RandomKills(t *testing.T) {
	kills, each := 6, 3
	if os.Getenv("COFFER_TEST_WHOLE") != "" {
		kills, each = 1000, 10
	}
	seed := uint64(time.Now().UnixNano())
	for n := range kills / each {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d %d", seed, n)
			randomKills(t, each, rand.New(rand.NewPCG(seed, uint64(n))))
		})
	}
}

func randomKills(t *testing.T, kills int, random *rand.Rand) {
	t.Helper()
	g := newGround(t, nil)
	faults := []string{noFault, answerLost, requestLost, serverError, errorAccepted, requestLate}
	for done := 0; done < kills; {
		g.s.setFault(faults[random.IntN(len(faults))])
		o := g.orders
		o.Begin, o.Abandon = true, random.IntN(4) == 0
		cmd, complaint := g.start(o)
		kill := time.AfterFunc(time.Duration(random.IntN(40_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		killed := g.ended(cmd, complaint)
		kill.Stop()
		if killed {
			done++
		}
		if t.Failed() {
			return
		}
	}
	g.recover(false)
	g.check()
}

// TestK8_ProcessesBesideEachOtherSendNothingTwice lets real processes work on one journal at the same time; some are
// killed. What one of them signed and left another one takes over, and one that is moved out of its operation stops.
func TestK8_ProcessesBesideEachOtherSendNothingTwice(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for n := range 3 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d %d", seed, n)
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			g := newGround(t, nil)
			for range 4 {
				crowd(g, random)
			}
			g.recover(false)
			g.check()
			if len(g.s.attempts) == 0 {
				t.Error("nothing was sent at all")
			}
		})
	}
}

// crowd runs three children at the same time and kills one of them at some moment.
func crowd(g *ground, random *rand.Rand) {
	g.t.Helper()
	type child struct {
		cmd       *exec.Cmd
		complaint *bytes.Buffer
	}
	var all []child
	for range 3 {
		o := g.orders
		o.Begin, o.Crowd = true, true
		cmd, complaint := g.start(o)
		all = append(all, child{cmd, complaint})
	}
	kill := time.AfterFunc(time.Duration(random.IntN(60_000))*time.Microsecond,
		func() { _ = all[0].cmd.Process.Kill() })
	defer kill.Stop()
	for _, c := range all {
		g.ended(c.cmd, c.complaint)
	}
}
