//go:build unix

package nodes

import (
	"bytes"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
)

// manyKills are those of the long run.
const manyKills = 1000

var killed = flag.Int("kills", 10, "how many times the program is killed")

// gate lets requests through to a node, and kills a process at one of them.
type gate struct {
	URL string

	mu     sync.Mutex
	victim *os.Process
	moment
	seen int
}

// moment is a request, counted from the last arming, 0 for never.
type moment struct {
	at    int
	after bool   // the node has it, and its answer is lost with the process
	only  string // what is counted: requests with this method
	// where it is set, the process only stops at the request, which the node has at once (after), or when it is closed
	hangs chan struct{}
}

func newGate(t *testing.T, node string) *gate {
	t.Helper()
	g := new(gate)
	g.URL = g.front(t, node)
	return g
}

// front is where a node is reached through the gate.
func (g *gate) front(t *testing.T, node string) string {
	t.Helper()
	to := through(t, node)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // it is killed in the middle of a request
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.mu.Lock()
		counts := bytes.Contains(body, []byte(g.only))
		if counts {
			g.seen++
		}
		now := counts && g.at > 0 && g.seen == g.at
		after, hangs := g.after, g.hangs
		switch {
		case now && hangs != nil:
			_ = g.victim.Signal(syscall.SIGSTOP)
		case now && !after:
			_ = g.victim.Kill()
		}
		g.mu.Unlock()
		if now && hangs != nil {
			if !after {
				<-hangs
			}
			now = false
		}
		if now && !after {
			panic(http.ErrAbortHandler)
		}
		if !now {
			to.ServeHTTP(w, r)
			return
		}
		to.ServeHTTP(httptest.NewRecorder(), r)
		g.mu.Lock()
		_ = g.victim.Kill()
		g.mu.Unlock()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// kills arms the gate for a process that has just begun.
func (g *gate) kills(victim *os.Process, m moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.victim, g.moment, g.seen = victim, m, 0
}

// soon kills at the next request of any kind, if none was the last one yet.
func (g *gate) soon() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen < g.at {
		g.only, g.at = "", g.seen+1
	}
}

// shot reports whether a request was the last one, and whether it was one of those that were to be counted.
func (g *gate) shot() (shot, counted bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.at > 0 && g.seen >= g.at, g.only != ""
}

// passed is how many requests there were since then.
func (g *gate) passed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

// attempt is a payment that a person wanted to make, and what the program says of it.
type attempt struct {
	on string // the chain, where there are several
	to common.Address
	id string // of the operation, "" when nothing was signed, or nothing can be done with the signature any more
	// it came to its end with fewer requests than usual: nodes that answer late are asked more often
	completed bool
}

// The program is killed with signal 9 at every request that it makes to its node while it pays, before the node has it
// or when its answer is lost with the process, and again while it looks what became of the payment. What was signed is
// paid once or never, and the program says which.
func TestKilledAtEveryStepAPaymentHappensOnceOrNever(t *testing.T) {
	t.Parallel()
	for worker := range 2 {
		t.Run(strconv.Itoa(worker), func(t *testing.T) {
			t.Parallel()
			kills, tries := 0, 0
			for kills < *killed/2 && !t.Failed() {
				t.Run("after "+strconv.Itoa(kills), func(t *testing.T) {
					k := newKilling(t, rand.New(rand.NewPCG(uint64(worker), uint64(tries))))
					order := rand.New(rand.NewPCG(1, 1)).Perm(2 * k.steps) // the same for both, who share it
					for kills+k.kills < *killed/2 && len(k.tries) < mostTries {
						moment := order[(2*(tries+len(k.tries))+worker)%len(order)]
						k.attempt(1+moment/2, moment%2 == 1)
					}
					kills, tries = kills+k.kills, tries+len(k.tries)
					k.judge()
				})
			}
		})
	}
}

// mostTries is how many payments a person tries: the gas tank pays for 100 operations of an account in a day.
const mostTries = 90

func newKilling(t *testing.T, dice *rand.Rand) *killing {
	t.Helper()
	w := newWorld(t, base)
	g := newGate(t, w.url[base])
	p := w.person(w.names(func(string) []string { return []string{g.URL} }))
	p.completes(p.pays("daily", payee(0), "1")...)
	g.kills(nil, moment{})
	p.completes(p.pays("daily", payee(0), "1")...)
	return &killing{person: p, gate: g, dice: dice, steps: g.passed(), known: p.signed()}
}

// killing is a person whose program is killed again and again.
type killing struct {
	*person
	gate  *gate
	dice  *rand.Rand
	steps int // requests of one payment
	kills int
	known map[string]bool // operations
	tries []attempt
}

// run runs a command that is killed at a request, and reports whether it was.
func (k *killing) run(at int, after bool, args ...string) (out string, code int, dead bool) {
	k.Helper()
	cmd, o, e := k.script().Starts(args...)
	k.gate.kills(cmd.Process, moment{at: at, after: after})
	_ = cmd.Wait()
	k.gate.kills(nil, moment{})
	if dead = cmd.ProcessState.ExitCode() < 0; dead {
		k.kills++
	}
	if strings.Contains(e.String(), "panic") {
		k.Errorf("%v: %s", args, e)
	}
	return o.String(), cmd.ProcessState.ExitCode(), dead
}

// attempt has one payment killed, and then, now and then, what looks after it.
func (k *killing) attempt(at int, after bool) {
	k.Helper()
	a := attempt{to: payee(int64(len(k.tries)) + 1)}
	_, code, dead := k.run(at, after, k.goesOn(a.to)...)
	a.completed = !dead && code == 0
	for id := range k.signed() {
		if !k.known[id] {
			k.known[id], a.id = true, id
		}
	}
	k.tries = append(k.tries, a)
	if a.id == "" {
		return
	}
	for k.dice.IntN(2) == 0 {
		k.run(1+k.dice.IntN(k.steps), k.dice.IntN(2) == 0, "status", a.id, "--watch", "--wait", "1s")
	}
	k.run(0, false, "status", a.id, "--watch", "--wait", "1s") // without its word the next payment may be refused
}

// goesOn is a payment in spite of earlier ones that may still run.
func (k *killing) goesOn(to common.Address) []string {
	args := k.pays("daily", to, "1")
	args[slices.Index(args, "V4,Y5")] += ",J4"
	return args
}

// signed are the operations of which a signature can still be used.
func (p *person) signed() map[string]bool {
	p.Helper()
	out, _ := p.runs(0, "activity", "--json")
	var told struct {
		Open []struct {
			Operation string `json:"operation"`
		} `json:"open"`
	}
	p.ok(json.Unmarshal([]byte(out), &told, json.RejectUnknownMembers(false)))
	all := map[string]bool{}
	for _, o := range told.Open {
		all[o.Operation] = true
	}
	return all
}

// judge pays once more, which uses the nonce of what was never sent, and compares what the program says of each attempt
// with the chain.
func (k *killing) judge() {
	k.Helper()
	k.completes(k.goesOn(payee(0))...)
	paid, unsigned, ends := int64(0), 0, map[int]int{}
	for i, a := range k.tries {
		has := k.holds(base, a.to)
		paid += has
		switch {
		case a.completed:
			if ends[0]++; has != 1_000_000 {
				k.Errorf("payment %d completed, and %d millionths arrived", i, has)
			}
			continue
		case a.id == "":
			if unsigned++; has != 0 {
				k.Errorf("payment %d was not signed, and %d millionths arrived", i, has)
			}
			continue
		}
		out, code, _ := k.run(0, false, "status", a.id, "--watch", "--wait", "1s")
		ends[code]++
		if has != 0 && has != 1_000_000 || (has != 0) != (code == 0) {
			k.Errorf("payment %d, %s: %d millionths arrived; exit code %d, %s", i, a.id, has, code, out)
		}
	}
	if left := k.holds(base, k.at["daily"]); left != 997_000_000-paid {
		k.Errorf("%d millionths are left, %d were paid", left, paid)
	}
	k.Logf("%d kills of %d payments with %d requests: %d were not signed, the others ended with %v", k.kills,
		len(k.tries), k.steps, unsigned, ends)
	if len(k.tries) > k.steps && (unsigned == 0 || ends[0] == 0 || len(ends) == 1) {
		k.Error("these kills say nothing")
	}
}
