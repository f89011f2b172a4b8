package nodes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coffer/api"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/store/storetest"
)

var (
	speed        = flag.Duration("speed", 0, "measure quotes per second of an operator's processes, for so long each")
	speedMembers = flag.Int("speed-members", 16, "how many members ask at the same time while it is measured")
	speedBlocks  = flag.Duration("speed-blocks", time.Second, "time from one block to the next while it is measured")
)

// What one, two and more processes of an operator bear is measured with -speed: quotes that are prepared and signed,
// and payments from their preparation to the end, with what everybody takes of the processors meanwhile; then what one
// payment costs the database.
func TestSpeedOfReplicasOfAnOperator(t *testing.T) {
	needsAnvil(t)
	if *speed == 0 {
		t.Skip("no -speed DURATION is given; .ci/run stores gives one")
	}
	database := storetest.NewServer(t, "alone")
	r := newReplicas(t, *processes, database.Address)
	m := r.brings(*speedMembers, r.ids)
	for _, id := range r.ids {
		r.mines(id, *speedBlocks)
	}
	all := r.all
	for _, p := range all {
		p.dies()
	}
	for n := range all {
		r.all = all[:n+1]
		r.starts(r.all[n])
		m.measures(database.Address)
	}
	for _, p := range all {
		p.dies()
	}
	watched := storetest.Watch(t, database.Address)
	for _, p := range all {
		p.args[slices.Index(p.args, "--store")+1] = watched.Address
		r.starts(p)
	}
	m.costs(watched)
}

// work is one thing that a member does again and again.
type work struct {
	name string
	do   func(dice *rand.Rand, p *traffic.Person) error
}

// measures lets every member work, and says how much was done.
func (m *members) measures(database string) {
	m.Helper()
	for _, w := range []work{{"quotes", m.quotes}, {"payments", m.completes}} {
		m.each(time.Second, w) // connections, and what is read once
		before, commits := m.usage(database), m.commits(database)
		took, each := m.each(*speed, w)
		after, ended := m.usage(database), m.commits(database)
		if len(each) == 0 {
			m.Fatalf("no %s in %s", w.name, took)
		}
		slices.Sort(each)
		text := ""
		for _, who := range []string{"processes", "nodes", "database", "clients", "all"} {
			text += fmt.Sprintf(", %s %.0f %%", who, (after[who]-before[who])/took.Seconds()*100)
		}
		m.Logf("%d processes, %d members: %.1f %s a second, half of them in %d ms, 99 %% in %d ms; %.1f transactions "+
			"of the database each; of %d00 %% of the processors%s", len(m.all), len(m.people),
			float64(len(each))/took.Seconds(), w.name, each[len(each)/2].Milliseconds(),
			each[len(each)*99/100].Milliseconds(), float64(ended-commits)/float64(len(each)), runtime.NumCPU(), text)
	}
}

// each has every member work for a while, and returns how long each piece took.
func (m *members) each(d time.Duration, w work) (took time.Duration, each []time.Duration) {
	m.Helper()
	began := time.Now()
	var all sync.WaitGroup
	for i, p := range m.people {
		dice := rand.New(rand.NewPCG(13, uint64(i)))
		all.Go(func() {
			for time.Since(began) < d && !m.Failed() {
				since := time.Now()
				err := w.do(dice, p)
				if again(err) {
					time.Sleep(tick)
					continue
				}
				if err != nil {
					m.Errorf("%s: %v", w.name, err)
					return
				}
				m.mu.Lock()
				each = append(each, time.Since(since))
				m.mu.Unlock()
			}
		})
	}
	all.Wait()
	return time.Since(began), each
}

// again reports whether a member only has to begin again: it has too little until somebody pays it, or was just paid.
func again(err error) bool {
	e, answered := errors.AsType[*api.Error](err)
	return errors.Is(err, traffic.ErrPoor) || answered && (e.Name == api.ErrPrepareAgain ||
		e.Name == api.ErrInsufficientBalance)
}

// quotes gets one quote, from preparation to signature.
func (m *members) quotes(dice *rand.Rand, p *traffic.Person) error {
	_, err := m.offer(dice, p)
	return err
}

// completes pays, and waits until that is completed.
func (m *members) completes(dice *rand.Rand, p *traffic.Person) error {
	o, err := m.offer(dice, p)
	if err == nil {
		err = m.asks(dice, func(ctx context.Context, c *traffic.Client) error { return c.Execute(ctx, o) })
	}
	var s api.ExecutionStatus
	for ; err == nil && !api.Terminal(s.Status); time.Sleep(tick) {
		err = m.asks(dice, func(ctx context.Context, c *traffic.Client) (err error) {
			s, err = c.Status(ctx, o.ID)
			return err
		})
	}
	if err == nil && s.Status != api.StatusCompleted {
		err = fmt.Errorf("quote %s is %s: %s", o.ID, s.Status, s.FailReason)
	}
	return err
}

// commits are the transactions that the database has ended.
func (m *members) commits(database string) (n int64) {
	m.Helper()
	c, err := pgx.Connect(m.Context(), database)
	m.ok(err)
	defer func() { _ = c.Close(m.Context()) }()
	m.ok(c.QueryRow(m.Context(), `select xact_commit + xact_rollback from pg_stat_database
		where datname = current_database()`).Scan(&n))
	return n
}

// costs counts what the database is asked for one payment with nothing else under way, beside what it is asked anyhow.
func (m *members) costs(w *storetest.Watched) {
	m.Helper()
	const payments = 8
	count := func() (statements, commits, ways float64) {
		made, n := w.Taken()
		for _, n := range made {
			statements += float64(n)
		}
		return statements, float64(made["commit"]), float64(n)
	}
	dice := rand.New(rand.NewPCG(17, 17))
	pay := func(i int) {
		err := traffic.ErrPoor
		for ; again(err); i++ {
			err = m.completes(dice, m.people[i%len(m.people)])
		}
		m.ok(err)
	}
	pay(0)
	time.Sleep(time.Second) // for what follows an end
	count()
	began := time.Now()
	for i := range payments {
		pay(i)
	}
	took := time.Since(began)
	statements, commits, ways := count()
	time.Sleep(took)
	restS, restC, restW := count()
	m.Logf("%d processes, %d payments one after the other: each takes %d ms; all take %.0f commits, %.0f statements "+
		"and %.0f ways to the database, of which it had %.0f, %.0f and %.0f without them", len(m.all), payments,
		took.Milliseconds()/payments, commits, statements, ways, restC, restS, restW)
}

// usage is how many seconds of a processor everybody took so far.
func (m *members) usage(database string) map[string]float64 {
	m.Helper()
	address, err := pgx.ParseConfig(database)
	m.ok(err)
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	m.ok(err)
	type process struct {
		name, args string
		parent     int
		took       float64
	}
	all, server := map[int]process{}, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		args, errArgs := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err != nil || errArgs != nil {
			continue // it has ended
		}
		name, rest, _ := strings.Cut(string(raw), ") ")
		number, name, _ := strings.Cut(name, " (")
		f := strings.Fields(rest) // from the third one on, as proc(5) counts them
		pid, _ := strconv.Atoi(number)
		p := process{name: name, args: strings.ReplaceAll(string(args), "\x00", " ")}
		p.parent, _ = strconv.Atoi(f[1])
		for _, ticks := range f[11:13] {
			n, _ := strconv.ParseFloat(ticks, 64)
			p.took += n / 100
		}
		if all[pid] = p; name == "postgres" && strings.Contains(p.args, fmt.Sprintf(" -p %d ", address.Port)) {
			server = pid
		}
	}
	sum := map[string]float64{"all": m.machine()}
	for pid, p := range all {
		switch {
		case pid == os.Getpid():
			sum["clients"] += p.took
		case pid == server || p.parent == server:
			sum["database"] += p.took
		case p.parent == os.Getpid() && p.name == "anvil":
			sum["nodes"] += p.took
		case slices.ContainsFunc(m.all, func(r *replica) bool { return r.cmd.Process.Pid == pid }):
			sum["processes"] += p.took
		}
	}
	return sum
}

// machine is how many seconds all processors were busy.
func (m *members) machine() (busy float64) {
	m.Helper()
	raw, err := os.ReadFile("/proc/stat")
	m.ok(err)
	line, _, _ := strings.Cut(string(raw), "\n")
	for i, text := range strings.Fields(line)[1:9] {
		n, err := strconv.ParseFloat(text, 64)
		m.ok(err)
		if i != 3 && i != 4 { // idle, and waiting for a disk
			busy += n / 100
		}
	}
	return busy
}
