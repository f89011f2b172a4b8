//go:build unix

package crash_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/service/crash/traffic"
)

// harness is the outside process: it knows what the clients were told and nothing else.
type harness struct {
	dir        string
	seed       uint64
	begun      time.Time
	aggregates []string // every aggregated asset
	payers     []*payer
	senders    []*sender
	draining   atomic.Bool // nobody begins anything new
	lost       atomic.Int64

	// Of the one who kills.
	kills, early, starts int
	lives                int // processes that a spare stood by for
	spareKills           int
	keys                 []string // that are good in every life; none without spares
	startTime, cycles    time.Duration
	fewest, flown        int           // quotes in flight at a kill: the fewest, and all together
	caughtAt             int           // such moments
	outages, both        int           // kills of the database, and how many took the service with them
	overtakes            int           // outages after which the one that stood by was quicker
	silences             time.Duration // after starts of the database, until the service answered again
	restarts             int           // after a fail-over
	failedOver           time.Duration // after the promotion, until the service answered again
	running              *served       // the process that serves, nil after its end
	last                 *served       // the process that was started last
	spare                *served       // one that stands by
	checker              checker

	mu         sync.Mutex
	endsBefore int // quotes, until the next kill
	network    network.Descriptor
	current    *served
	changed    chan struct{}                      // closed and replaced when current changes
	born       []*traffic.Person                  // everybody who ever asked for test funds
	people     map[*traffic.Person]*member        // those who were answered
	active     map[int]*traffic.Person            // those whom the payers play now
	balances   map[string]map[caip.Asset]*big.Int // account → what it must have
	quotes     []told
	refusal    map[string]int
	problems   []string
}

// member is a person and how many of its operations have run.
type member struct {
	*traffic.Person
	uses map[traffic.Use]uint64
}

// told is a quote that has ended: what the client was told, and who was the client.
type told struct {
	id     string
	status string // "" for one that was never accepted
	member *member
	sort   string // of traffic
	gets   *traffic.Delivery
	across bool // it ran on several EVM chains
}

func newHarness(t *testing.T, dir string, seed uint64) (*harness, error) {
	t.Helper()
	h := &harness{
		dir: dir, seed: seed, begun: time.Now(), changed: make(chan struct{}),
		balances: map[string]map[caip.Asset]*big.Int{}, people: map[*traffic.Person]*member{},
		active: map[int]*traffic.Person{}, refusal: map[string]int{}, fewest: crowd,
	}
	cat, err := catalog.Load()
	if err != nil {
		return h, err
	}
	for _, a := range cat.Aggregates() {
		h.aggregates = append(h.aggregates, string(a.ID))
	}
	all := traffic.Recipes()
	for n := range crowd {
		h.payers = append(h.payers, &payer{h: h, n: n, recipe: all[n%len(all)],
			dice: rand.New(rand.NewPCG(seed, uint64(100+n)))})
	}
	h.makeSenders()
	return h, nil
}

// data is the directory of the service. Spares have two in turn.
func (h *harness) data() string { return filepath.Join(h.dir, fmt.Sprint("data", h.lives%2)) }

// alive waits for a life of the service after the given one.
func (h *harness) alive(ctx context.Context, after *served) (*served, error) {
	for {
		h.mu.Lock()
		s, changed := h.current, h.changed
		h.mu.Unlock()
		if s != nil && s != after {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// told writes down the end of a quote and what it must have done.
func (h *harness) told(r traffic.Recipe, p *traffic.Person, o *traffic.Offer, status string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := told{id: o.ID, status: status, member: h.people[p], sort: r.Name,
		across: o.Effect.CrossChain()}
	if status == api.StatusCompleted {
		t.gets = o.Effect.Gets
		for _, m := range o.Effect.Moves {
			h.move(m)
		}
		for _, u := range o.Effect.Uses {
			t.member.uses[u]++
		}
	}
	h.quotes = append(h.quotes, t)
}

// move changes what a balance must be. The lock is held.
func (h *harness) move(m traffic.Move) {
	of := h.balances[m.Account]
	if of == nil {
		of = map[caip.Asset]*big.Int{}
		h.balances[m.Account] = of
	}
	if of[m.Asset] == nil {
		of[m.Asset] = new(big.Int)
	}
	of[m.Asset].Add(of[m.Asset], m.Amount)
}

func (h *harness) refusals(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusal[name]++
}

// problem writes down what does not agree; after some, more tell nothing new.
func (h *harness) problem(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.problems) == 50 {
		return
	}
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

func (h *harness) sawFlying(n int) {
	h.caughtAt++
	h.fewest = min(h.fewest, n)
	h.flown += n
}

// figures is the line of figures: of the whole run so far.
func (h *harness) figures() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	by, sorts, across := map[string]int{}, map[string]int{}, 0
	for _, q := range h.quotes {
		if by[q.status]++; q.status == api.StatusCompleted {
			sorts[q.sort]++
			if q.across {
				across++
			}
		}
	}
	late := max(1, h.kills-h.early)
	return fmt.Sprintf("%d kills (%d while starting, %d of a spare), in flight at a kill at least %d, on average "+
		"%.1f; quotes accepted %d, completed %d (%s; of several chains %d), refunded %d, failed %d, "+
		"never accepted %d, lost %d, doubled %d; %d people; a start takes %d ms, a cycle %d ms; refused: %s; "+
		"sent by others: %s; %sduration %s",
		h.kills, h.early, h.spareKills, h.fewest, float64(h.flown)/float64(max(1, h.caughtAt)), len(h.quotes)-by[""],
		by[api.StatusCompleted], listed(sorts), across, by[api.StatusRefunded],
		by[api.StatusFailed], by[""], h.lost.Load(), h.checker.doubled, len(h.people),
		h.startTime.Milliseconds()/int64(max(1, h.starts)),
		h.cycles.Milliseconds()/int64(late), listed(h.refusal), listed(h.sent()), h.outageFigures(),
		time.Since(h.begun).Round(time.Second))
}

// listed writes counts in the order of their names.
func listed(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(out, ", ")
}
