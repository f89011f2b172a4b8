//go:build unix

package nodes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/store/storetest"
	"coffer/ui/e2e/rig"
)

// replicas are the processes of one operator, which have one database. Each has its own directories, its own way to the
// nodes, and its own port for good.
type replicas struct {
	*operated
	all  []*replica
	pins network.Pins
	key  string // of members who pay without a wallet
}

// replica is one of the processes, in all its lives.
type replica struct {
	dir    string
	listen string
	args   []string
	gate   *gate
	client *traffic.Client
	at     traffic.Served // what this life said when it began
	hang   atomic.Pointer[hang]

	cmd   *exec.Cmd
	first *firstLine
	ended chan struct{} // closed when this life is over
}

// hang is a time in which nobody asks a process anything.
type hang struct {
	begins context.Context // done once it has begun: who waits for an answer gives up
	begin  context.CancelFunc
}

// firstLine is standard output of which only the first line matters.
type firstLine struct {
	text chan string
	all  bytes.Buffer
	told bool
}

// Write implements io.Writer.
func (f *firstLine) Write(p []byte) (int, error) {
	if f.told {
		return len(p), nil
	}
	f.all.Write(p)
	var line string
	if line, _, f.told = strings.Cut(f.all.String(), "\n"); f.told {
		f.text <- line
	}
	return len(p), nil
}

// newReplicas makes the operator's network as newOperated does, with its records in a database, and starts n processes.
// They have more flags, if any.
func newReplicas(t *testing.T, n int, database string, more ...string) *replicas {
	t.Helper()
	ids := []string{"10", base, "42161"}
	o := newOperatedBy(t, running{flags: []string{"--store", database, "--replica"}}, (*world).direct,
		[]string{"10", "42161"}, ids...)
	r := &replicas{operated: o, key: o.adds("--limit", "60000")}
	for _, id := range ids { // payments among members go in all directions, and come back
		token := o.tokens[id]
		o.owner(id, "setCap(address,uint256,uint256)", token[:], common.FromHex("0x0de0b6b3a7640000"), nil)
	}
	raw, err := os.ReadFile(filepath.Join(o.data, "network.json"))
	o.ok(err)
	d, err := network.Decode(raw)
	o.ok(err)
	r.pins = d.Pins
	o.dies()
	o.edits(o.file, "sponsor_usd_per_day = 5\n", "sponsor_usd_per_day = 10000000\n")
	o.edits(o.file, "exposure_cap_usd = 10000\n", "exposure_cap_usd = 1000000\n")
	t.Cleanup(func() {
		for _, p := range r.all {
			if t.Failed() {
				t.Log(p.dir + ":\n" + r.tail(p))
			}
		}
	})
	for i := range n {
		r.all = append(r.all, r.makes(i, more))
	}
	for _, p := range r.all {
		r.starts(p)
	}
	return r
}

// makes writes the directories of a process: its network file names a gate of its own in front of each node.
func (r *replicas) makes(i int, more []string) *replica {
	r.Helper()
	p := &replica{dir: filepath.Join(r.dir, fmt.Sprint("replica-", i)), listen: r.free(), gate: new(gate)}
	p.reached()
	data, file := filepath.Join(p.dir, "data"), filepath.Join(p.dir, filepath.Base(r.file))
	r.ok(os.MkdirAll(data, 0o700))
	for from, to := range map[string]string{
		r.file: file,
		filepath.Join(filepath.Dir(r.file), "network.json"): filepath.Join(p.dir, "network.json"),
		filepath.Join(r.data, "ca.pem"):                     filepath.Join(data, "ca.pem"),
		filepath.Join(r.data, "ca-key.pem"):                 filepath.Join(data, "ca-key.pem"),
	} {
		raw, err := os.ReadFile(from)
		r.ok(err)
		r.writes(to, string(raw))
	}
	for _, id := range r.ids {
		r.edits(file, `"`+r.url[id]+`"`, `"`+p.gate.front(r.T, r.url[id])+`"`)
	}
	p.args = slices.Concat([]string{"serve", "--networks", file, "--data", data, "--listen", p.listen, "--host",
		"127.0.0.2", "--json", "--lifetime", lifetime.String()}, r.flags, more)
	return p
}

// lifetime is how long a quote may be accepted.
const lifetime = 20 * time.Second

// free is an address that nobody listens on; where that can be, one of a machine on which nobody else takes ports.
func (r *replicas) free() string {
	r.Helper()
	host, _, _ := strings.Cut(r.listen, ":")
	l, err := net.Listen("tcp", host+":0")
	r.ok(err)
	r.ok(l.Close())
	return l.Addr().String()
}

// begins starts the next life of a process, and does not wait for it.
func (r *replicas) begins(p *replica) {
	r.Helper()
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	r.ok(err)
	defer func() { _ = log.Close() }() // the process has it
	p.first = &firstLine{text: make(chan string, 1)}
	p.cmd = exec.Command(rig.Program(), p.args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = r.env, p.first, log
	cmd, ended := p.cmd, make(chan struct{})
	p.ended = ended
	p.gate.kills(nil, moment{})
	r.ok(cmd.Start())
	r.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	go func() { _ = cmd.Wait(); close(ended) }()
}

// starts starts a process and waits until it says how it is reached.
func (r *replicas) starts(p *replica) {
	r.Helper()
	r.begins(p)
	if !r.said(p) {
		r.Fatalf("%s ended: %s", p.dir, r.tail(p))
	}
}

// said waits until a process has said how it is reached; false when it ended before that.
func (r *replicas) said(p *replica) bool {
	r.Helper()
	var line string
	select {
	case line = <-p.first.text:
	case <-p.ended:
		return false
	case <-time.After(rig.Limit):
		r.Fatalf("%s says nothing: %s", p.dir, r.tail(p))
	}
	p.at = traffic.Served{}
	r.ok(json.Unmarshal([]byte(line), &p.at, json.RejectUnknownMembers(false)))
	if p.client == nil { // it is good for all lives
		p.client = r.with(p, r.key)
	}
	return true
}

// with is a client of a process that has a key.
func (r *replicas) with(p *replica, key string) *traffic.Client {
	r.Helper()
	at := p.at
	at.APIKey = key
	c, err := at.Client(64)
	r.ok(err)
	return c
}

// alive reports whether this life of a process goes on.
func (p *replica) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// dies kills a process with signal 9, if it lives, and waits until it is gone.
func (p *replica) dies() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// tail is the end of what a process has logged in all its lives, without requests.
func (r *replicas) tail(p *replica) string {
	raw, err := os.ReadFile(filepath.Join(p.dir, "log"))
	lines := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(line string) bool {
		return strings.Contains(line, " msg=request ")
	})
	return fmt.Sprint(strings.Join(lines[max(0, len(lines)-40):], "\n"), errors.Join(err))
}

// balanced is a balancer at an address that knows nothing of the processes: each connection goes to the next one, or to
// the one after it where that refuses. It counts those of each.
func (r *replicas) balanced(address string) []atomic.Int64 {
	r.Helper()
	l, err := net.Listen("tcp", address)
	r.ok(err)
	taken := make([]atomic.Int64, len(r.all))
	var all sync.WaitGroup
	r.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for next := 0; ; next++ {
			in, err := l.Accept()
			if err != nil {
				return
			}
			turn := next
			all.Go(func() {
				defer func() { _ = in.Close() }()
				for i := range r.all {
					at := (turn + i) % len(r.all)
					out, err := net.Dial("tcp", r.all[at].listen)
					if err != nil {
						continue
					}
					defer func() { _ = out.Close() }()
					taken[at].Add(1)
					go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
					_, _ = io.Copy(in, out)
					return
				}
			})
		}
	})
	return taken
}

// reached is that a process does not hang.
func (p *replica) reached() {
	h := new(hang)
	h.begins, h.begin = context.WithCancel(context.Background())
	p.hang.Store(h)
}

// any is one of the processes that do not hang, also one that is down.
func (r *replicas) any(dice *rand.Rand) *replica {
	for {
		if p := r.all[dice.IntN(len(r.all))]; p.hang.Load().begins.Err() == nil {
			return p
		}
	}
}

// Each member comes through another process of one operator, and a wallet through a balancer that takes the next one
// for each connection, also while one is dead: whatever was begun at one goes on at any other, every payment completes
// once, and all processes tell the same. A key that is made at one is good at all, and at none once it was revoked.
func TestMembersReachAnOperatorThroughAnyOfItsReplicas(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	r := newReplicas(t, 2, storetest.NewServer(t, "alone").Address)
	m := r.brings(len(r.all), r.ids)
	taken := r.balanced(r.listen) // where the wallet looks for the service
	for i, p := range m.people {
		w := traffic.Wish{Asset: caip.ERC20(8453, r.tokens[base]), Amount: big.NewInt(600e6),
			To: m.people[(i+1)%len(m.people)].Address}
		c := r.all[i].client
		prepared, err := p.Prepare(t.Context(), c, w)
		r.ok(err)
		offer, err := p.CallQuote(t.Context(), c, w, prepared)
		r.ok(err)
		m.orders = append(m.orders, &order{Offer: offer, sent: time.Now()})
		r.ok(c.Execute(t.Context(), offer))
		r.until("an end of a payment", func() bool {
			r.ok(m.follows(t.Context(), c, m.orders[i]))
			return m.orders[i].over()
		})
		if m.orders[i].status != api.StatusCompleted {
			t.Errorf("the payment of member %d is %s", i, m.orders[i].status)
		}
	}
	m.judge()
	r.changesKeys()

	to := payee(1)
	for range 2 {
		r.completes(r.calls(base, to, "130")...)
	}
	r.all[0].dies()
	r.completes(r.calls(base, to, "130")...)
	r.starts(r.all[0])
	r.completes(r.calls(base, to, "130")...)
	if has := r.owns(base, to); has != 4*130e6 {
		t.Errorf("%d millionths arrived", has)
	}
	r.settled(to)
	for i := range taken {
		if taken[i].Load() == 0 {
			t.Errorf("no connection went to process %d", i)
		}
	}
}

// changesKeys makes a key at a process that serves, and revokes it.
func (r *replicas) changesKeys() {
	r.Helper()
	at := slices.IndexFunc(r.all, func(p *replica) bool { return p.at.Role == "serving" })
	data := filepath.Join(r.all[at].dir, "data")
	var made struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	rig.KeysOf(r.T, r.env, &made, "add", "--data", data, "--company", "lab", "--project", "morning", "--limit",
		"60000")
	var clients []*traffic.Client
	for _, p := range r.all {
		clients = append(clients, r.with(p, made.Key))
	}
	good := func(good bool) func() bool {
		return func() bool {
			for i, c := range clients {
				_, err := c.Status(r.Context(), common.Hash{}.Hex())
				refusal, is := errors.AsType[*api.Error](err)
				if err != nil && (!is || refusal.Name != api.ErrUnauthorized) {
					r.Fatalf("%s answers %v", r.all[i].dir, err)
				}
				if (err == nil) != good {
					return false
				}
			}
			return true
		}
	}
	r.until("a key that is good everywhere", good(true))
	rig.KeysOf(r.T, r.env, &struct{}{}, "revoke", made.ID, "--data", data)
	r.until("an end of the key everywhere", good(false))
}
