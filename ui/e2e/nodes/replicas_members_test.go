//go:build unix

package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/crash/traffic"
)

// members are foreign clients of an operator that pay each other, each step through another process.
type members struct {
	*replicas
	people []*traffic.Person
	began  map[string]map[string]*big.Int // balances by account and chain

	mu       sync.Mutex
	has      map[*traffic.Person]*big.Int // that each of them had last
	orders   []*order
	ended    int            // orders of which the end is known
	refused  map[string]int // answers, by name
	silences int            // requests that nothing answered
}

// order is a quote that a member sent for execution, once.
type order struct {
	*traffic.Offer
	sent     time.Time
	accepted bool   // some process said so
	status   string // what was said last
}

// over reports whether an order has ended.
func (o *order) over() bool { return api.Terminal(o.status) }

// brings gives n members savings on the chains that pay.
func (r *replicas) brings(n int, paying []string) *members {
	r.Helper()
	m := &members{replicas: r, began: map[string]map[string]*big.Int{}, refused: map[string]int{},
		has: map[*traffic.Person]*big.Int{}}
	kinds := []string{api.AccountKernelV31, api.AccountRoleBased, api.AccountKernelV33}
	for i := range n {
		p, err := traffic.NewPerson(r.pins, kinds[i%len(kinds)], 1, i)
		r.ok(err)
		for _, id := range paying {
			r.gives(id, p.Address, savings/10)
		}
		m.people, m.has[p] = append(m.people, p), new(big.Int)
		r.at["member "+strconv.Itoa(i)] = p.Address // whose USDC is counted
	}
	for _, id := range r.ids {
		r.began[id] = r.sum(id)
	}
	for _, p := range m.people {
		m.began[traffic.Key(caip.EVMAccount(1, p.Address))] = m.balances(p.Address)
	}
	return m
}

// balances are how many millionths of a USDC an account has on each chain.
func (r *replicas) balances(who common.Address) map[string]*big.Int {
	r.Helper()
	all := map[string]*big.Int{}
	for _, id := range r.ids {
		all[id] = big.NewInt(r.owns(id, who))
	}
	return all
}

// pay has every member make one payment after the other until the end of ctx; the end of all is waited for.
func (m *members) pay(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	for i, p := range m.people {
		dice := rand.New(rand.NewPCG(11, uint64(i)))
		all.Go(func() {
			for ctx.Err() == nil && !m.Failed() {
				if err := m.pays(ctx, dice, p); err != nil {
					m.hears(err)
					time.Sleep(tick / 3)
				}
			}
		})
	}
	return all.Wait
}

// asks asks one of the processes, and gives up when it hangs.
func (m *members) asks(dice *rand.Rand, fn func(ctx context.Context, c *traffic.Client) error) error {
	ctx, stop := context.WithTimeout(m.Context(), limit)
	defer stop()
	p := m.any(dice)
	defer context.AfterFunc(p.hang.Load().begins, stop)()
	return fn(ctx, p.client)
}

// offer gets a quote for a payment to the member who has least, so that none becomes poor, and signs it. What the
// member has, the operation and the quote are asked of any process.
func (m *members) offer(dice *rand.Rand, p *traffic.Person) (offer *traffic.Offer, err error) {
	var w traffic.Wish
	var prepared *api.Document
	err = m.asks(dice, func(ctx context.Context, c *traffic.Client) error {
		have, err := p.Holdings(ctx, c, traffic.Paying)
		if err != nil {
			return err
		}
		w, err = traffic.Choose(dice, have, m.poorest(p, have))
		return err
	})
	if err == nil {
		err = m.asks(dice, func(ctx context.Context, c *traffic.Client) (err error) {
			prepared, err = p.Prepare(ctx, c, w)
			return err
		})
	}
	if err == nil {
		err = m.asks(dice, func(ctx context.Context, c *traffic.Client) (err error) {
			offer, err = p.CallQuote(ctx, c, w, prepared)
			return err
		})
	}
	return offer, err
}

// poorest notes what a member has, and returns the one of the others who had least.
func (m *members) poorest(p *traffic.Person, have []traffic.Holding) *traffic.Person {
	sum := new(big.Int)
	for _, h := range have {
		sum.Add(sum, h.Amount)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.has[p] = sum
	others := slices.DeleteFunc(slices.Clone(m.people), func(other *traffic.Person) bool { return other == p })
	return slices.MinFunc(others, func(a, b *traffic.Person) int { return m.has[a].Cmp(m.has[b]) })
}

// pays makes one payment; the execution and each question about its end go to any process, too.
func (m *members) pays(ctx context.Context, dice *rand.Rand, p *traffic.Person) error {
	offer, err := m.offer(dice, p)
	if err != nil {
		return err
	}
	o := &order{Offer: offer, sent: time.Now()}
	m.mu.Lock()
	m.orders = append(m.orders, o)
	m.mu.Unlock()
	err = m.asks(dice, func(ctx context.Context, c *traffic.Client) error { return c.Execute(ctx, o.Offer) })
	m.mu.Lock()
	o.accepted = err == nil
	m.mu.Unlock()
	if refusal, is := errors.AsType[*api.Error](err); is && refusal.Name != api.ErrUnavailable {
		return err
	}
	if err != nil {
		m.hears(err)
	}
	for asked := 0; ctx.Err() == nil && !o.over() && (o.accepted || asked < 20); asked++ {
		time.Sleep(tick / 3)
		if err := m.asks(dice, func(ctx context.Context, c *traffic.Client) error {
			return m.follows(ctx, c, o)
		}); err != nil {
			m.hears(err)
		}
	}
	return nil
}

// limit is how long any answer may take on a busy machine.
const limit = time.Minute

// follows asks what became of an order. One that was accepted may never be unknown again, nor the end of one change.
func (m *members) follows(ctx context.Context, c *traffic.Client, o *order) error {
	s, err := c.Status(ctx, o.ID)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Status == "" && (o.accepted || o.status != "") {
		m.Errorf("quote %s was accepted and is %q; now it is unknown", o.ID, o.status)
	}
	if o.over() && s.Status != o.status {
		m.Errorf("quote %s was %s and is %q", o.ID, o.status, s.Status)
	}
	if s.Status != "" {
		o.accepted = true
	}
	if !o.over() && api.Terminal(s.Status) {
		m.ended++
	}
	o.status = s.Status
	return nil
}

// hears counts what a process refused or did not answer, and ends the test with what no kill explains.
func (m *members) hears(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, answered := errors.AsType[*api.Error](err)
	switch {
	case errors.Is(err, traffic.ErrPoor):
	case errors.Is(err, context.DeadlineExceeded):
		m.Errorf("no answer: %v", err)
	case !answered:
		m.silences++
	case slices.Contains([]string{api.ErrUnavailable, api.ErrPrepareAgain, api.ErrQuoteExpired,
		api.ErrInsufficientBalance, api.ErrNoRoute}, e.Name):
		m.refused[e.Name]++
	default:
		m.Errorf("a process answers %v", err)
	}
}

// count is how many orders have ended.
func (m *members) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// open are the orders of which the end is not known.
func (m *members) open() (open []*order) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.orders {
		if !o.over() {
			open = append(open, o)
		}
	}
	return open
}

// judge waits for the end of every order, and compares it with what each process says of it and with the chains: what
// was completed was delivered once and each of its deposits released once, of all else nothing was delivered and each
// deposit was given back; every member has what that makes of its savings, to the millionth.
func (m *members) judge() {
	m.Helper()
	m.until("an end of each payment", func() bool {
		waits := false
		for _, o := range m.open() {
			ctx, stop := context.WithTimeout(m.Context(), limit)
			err := m.follows(ctx, m.all[0].client, o)
			stop()
			waits = waits || err != nil || o.accepted && !o.over() || time.Since(o.sent) < lifetime+5*time.Second
		}
		return !waits || m.Failed()
	})
	m.settled()
	c := m.counts()
	ends, lost, doubled := map[string]int{}, 0, 0
	for _, o := range m.orders {
		ends[cmp.Or(o.status, "never accepted")]++
		for _, p := range m.all {
			if s, err := p.client.Status(m.Context(), o.ID); err != nil || s.Status != o.status {
				m.Errorf("quote %s is %q, %s says %q: %v", o.ID, o.status, p.dir, s.Status, err)
			}
		}
		less, more := c.compare(o)
		if less != "" {
			lost++
		}
		if more != "" {
			doubled++
		}
		if less+more != "" {
			m.Errorf("quote %s is %q: %s%s", o.ID, o.status, less, more)
		}
		if o.status == api.StatusCompleted {
			m.moves(o)
		}
	}
	for id := range c.strange(m.orders) {
		m.Errorf("something happened for %s, which no member sent", id)
	}
	for who, chains := range m.began {
		for id, want := range chains {
			if has := m.owns(id, common.HexToAddress(who)); want.Cmp(big.NewInt(has)) != 0 {
				m.Errorf("%s has %d millionths on %s, its completed payments make it %s", who, has, id, want)
			}
		}
	}
	m.Logf("%d quotes, ended %v; lost %d, doubled %d; refused %v, unanswered %d", len(m.orders), ends, lost, doubled,
		m.refused, m.silences)
}

// moves changes what members must have by a completed order.
func (m *members) moves(o *order) {
	for _, v := range o.Effect.Moves {
		has := m.began[v.Account][strings.TrimPrefix(v.Asset.Chain.String(), "eip155:")]
		has.Add(has, v.Amount)
	}
}

// counts are how often each event happened to a quote, by chain.
type counts map[string]map[string]map[common.Hash]int

func (o *operated) counts() counts {
	o.Helper()
	c := counts{}
	for event, at := range map[string]common.Address{filled: o.filler, released: o.escrow, refunded: o.escrow,
		deposited: o.escrow} {
		c[event] = map[string]map[common.Hash]int{}
		for _, id := range o.ids {
			c[event][id] = o.logs(id, at, event)
		}
	}
	return c
}

// compare says what did not happen that the end of an order needs, and what happened that it excludes.
func (c counts) compare(o *order) (less, more string) {
	quote, completed := common.HexToHash(o.ID), o.status == api.StatusCompleted
	pays := map[string]int{} // deposits, by chain
	for _, u := range o.Effect.Uses {
		if u.Lane == op.LaneFunding {
			pays[fmt.Sprint(u.Chain)]++
		}
	}
	differs := func(what string, has, want int) {
		text := fmt.Sprintf("%d %s, not %d; ", has, what, want)
		if has < want {
			less += text
		}
		if has > want {
			more += text
		}
	}
	deliveries := 0
	for id, deposits := range c[deposited] {
		deliveries += c[filled][id][quote]
		if completed {
			differs("deposits on "+id, deposits[quote], pays[id])
			differs("releases on "+id, c[released][id][quote], pays[id])
			differs("refunds on "+id, c[refunded][id][quote], 0)
			continue
		}
		most := pays[id]
		if o.status == "" {
			most = 0
		}
		differs("deposits on "+id, deposits[quote], min(deposits[quote], most))
		differs("releases on "+id, c[released][id][quote], 0)
		differs("refunds on "+id, c[refunded][id][quote], deposits[quote])
	}
	want := 0
	if completed && len(pays) > 0 {
		want = 1
	}
	differs("deliveries", deliveries, want)
	if o.accepted && !o.over() {
		less += "no end; "
	}
	return less, more
}

// strange are quotes with events that are none of these orders.
func (c counts) strange(orders []*order) map[common.Hash]bool {
	known, strange := map[common.Hash]bool{}, map[common.Hash]bool{}
	for _, o := range orders {
		known[common.HexToHash(o.ID)] = true
	}
	for _, chains := range c {
		for _, quotes := range chains {
			for id := range quotes {
				if !known[id] {
					strange[id] = true
				}
			}
		}
	}
	return strange
}

// sendsOn demands that no transaction of the operator's key waits for one that was never sent. It returns how many
// there are, and how many of them failed.
func (m *members) sendsOn() (sent, failed int) {
	m.Helper()
	for _, id := range m.ids {
		m.until("an empty pool on "+id, func() bool {
			var pool map[string]hexutil.Uint64
			m.ask(id, &pool, "txpool_status")
			return pool["pending"]+pool["queued"] == 0
		})
		var last hexutil.Uint64
		m.ask(id, &last, "eth_blockNumber")
		here := 0
		for n := hexutil.Uint64(1); n <= last; n++ {
			var all []struct {
				From   common.Address `json:"from"`
				Status hexutil.Uint64 `json:"status"`
			}
			m.ask(id, &all, "eth_getBlockReceipts", n)
			for _, one := range all {
				if one.From != m.hot {
					continue
				}
				if here++; one.Status == 0 {
					failed++
				}
			}
		}
		if n := m.nonce(id, m.hot); n != uint64(here) {
			m.Errorf("the operator's key is at %d on %s, after %d transactions", n, id, here)
		}
		sent += here
	}
	return sent, failed
}
