package settle_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
)

// gate stops settlements in the middle, each at a moment that follows from its id.
type gate struct {
	mu      sync.Mutex
	closed  chan struct{} // closed when everything may go on; nil while nothing is stopped
	blocked int
	changed chan struct{}
}

func (g *gate) note() {
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

func (g *gate) wait(ctx context.Context, at settle.Moment, id string) error {
	g.mu.Lock()
	closed := g.closed
	moments := []settle.Moment{settle.AtDeposit, settle.AtFill, settle.AtRelease}
	if closed == nil || moments[lot(id, "gate", 3)] != at {
		g.mu.Unlock()
		return nil
	}
	g.blocked++
	g.mu.Unlock()
	g.note()
	defer func() {
		g.mu.Lock()
		g.blocked--
		g.mu.Unlock()
	}()
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lot draws below n for a quote, always the same.
func lot(id, what string, n uint32) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(what + id)) // a hash takes everything
	return h.Sum32() % n
}

// chaos is one random run.
type chaos struct {
	t          *testing.T
	w          *World
	random     *rand.Rand
	gate       *gate
	users      []*User
	operations uint64
	seen       map[string]int           // what became of requests
	final      map[string]string        // id → how it ended
	arrived    map[caip.Asset]*big.Int  // with payee and stranger
	documents  map[string]*api.Document // every signed quote
	sums       map[caip.Asset]*big.Int
}

func newChaos(t *testing.T, seed uint64) *chaos {
	g := &gate{changed: make(chan struct{}, 1)}
	c := &chaos{
		t: t, gate: g, random: rand.New(rand.NewPCG(seed, 7)), seen: map[string]int{}, final: map[string]string{},
		arrived: map[caip.Asset]*big.Int{}, documents: map[string]*api.Document{},
	}
	reasons := []string{"", "", "", "", "", "", "EXECUTION_REVERTED", "SOLVER_CAPACITY_EXCEEDED", "TRANSFER_FAILED"}
	c.w = New(t, Options{Seed: seed, AfterStep: func(string) { g.note() }, Faults: &settle.Faults{
		Wait: g.wait,
		Refuse: func(at settle.Moment, id string) string {
			switch at {
			case settle.AtFill:
				return reasons[lot(id, "fill", uint32(len(reasons)))]
			case settle.AtLastDeposit:
				if lot(id, "deposit", 12) == 0 {
					return "DEPOSIT_ADDRESS_MISMATCH"
				}
			}
			return ""
		},
		PriceJump: func(id string) int64 { return int64(lot(id, "price", 260)) },
	}})
	for i, kind := range append(Kinds(), Kinds()...) {
		c.users = append(c.users, c.w.AddUser(kind, uint64(100+i)))
	}
	for _, u := range c.users {
		c.stock(u)
	}
	c.sums = c.w.Sums(payee())
	return c
}

// stock gives a user a little of much.
func (c *chaos) stock(u *User) {
	if u.HasEVM() {
		for _, id := range []uint64{Arbitrum, Polygon, Base} {
			c.w.Fund(u.Address, c.w.Asset("usdc", id), int64(20+c.random.IntN(150))*usdcPlain)
		}
		c.w.FundBig(u.Address, c.w.Asset("eth", []uint64{Optimism, Base, Linea}[c.random.IntN(3)]),
			big.NewInt(int64(1+c.random.IntN(5))*1e16))
	}
	if u.HasSolana() {
		c.w.FundSolana(u.Wallet, c.w.Asset("sol", Solana), int64(1+c.random.IntN(3))*sol)
		c.w.FundSolana(u.Wallet, c.w.Asset("usdc", Solana), int64(20+c.random.IntN(100))*usdcPlain)
	}
}

// refusedAs counts a refusal by its name; anything else is a fault of the service.
func (c *chaos) refusedAs(err error) {
	c.t.Helper()
	var e *api.Error
	if !errors.As(err, &e) {
		c.t.Fatalf("a fault of the service: %v", err)
	}
	c.seen[e.Name]++
}

// offer asks for quotes of a random operation: one, or two that share a prepared operation.
func (c *chaos) offer(u *User) []*api.Document {
	c.w.User = u
	if u.HasEVM() && c.random.IntN(2) == 0 {
		return c.call()
	}
	return c.exchange()
}

func (c *chaos) call() (out []*api.Document) {
	chain := []uint64{Base, Arbitrum, Optimism}[c.random.IntN(3)]
	from := []string{"ob:usdc", "ob:usdc", "ob:eth"}[c.random.IntN(3)]
	r := pay(c.w, chain, int64(1+c.random.IntN(200))*usdcPlain)
	r.FromAssetID = from
	c.operations++
	prepared, err := c.w.Prepare(r)
	if err != nil {
		c.refusedAs(err)
		return nil
	}
	for range 1 + c.random.IntN(2) {
		c.operations++
		doc, err := c.w.CallQuote(prepared, from)
		if err != nil {
			c.refusedAs(err)
			continue
		}
		out = append(out, c.w.SignQuote(doc))
	}
	return out
}

func (c *chaos) exchange() []*api.Document {
	evm := []string{"ob:usdc", "ob:eth"}
	both := append(evm, "ob:sol", usdcOnSolana)
	x := Exchange{From: both[c.random.IntN(len(both))], Slippage: []int{0, 50, 300}[c.random.IntN(3)]}
	switch x.From {
	case "ob:eth":
		x.Amount = big.NewInt(int64(1+c.random.IntN(40)) * 1e15)
	case "ob:sol":
		x.Amount = big.NewInt(int64(1+c.random.IntN(30)) * sol / 20)
		if c.w.User.HasSolana() && c.random.IntN(2) == 0 { // everything, or nearly
			left := []int64{0, 0, 0, 1, 500_000, 890_880, 1_000_000}[c.random.IntN(7)]
			if all := c.w.SolanaBalance(c.w.User.Wallet, c.w.Asset("sol", Solana)); all.Int64() > left {
				x.Amount = all.Sub(all, big.NewInt(left))
			}
		}
	default:
		x.Amount = big.NewInt(int64(1+c.random.IntN(250)) * usdcPlain)
	}
	x.Get = []string{"ob:usdc", "ob:eth", "ob:sol", usdcOnSolana, caip.Native(Linea).String()}[c.random.IntN(5)]
	switch c.random.IntN(3) {
	case 0:
		x.To = payeeOn([]uint64{Base, Arbitrum, Linea}[c.random.IntN(3)])(c.w)
	case 1:
		x.To = stranger().On(Solana)
	}
	c.operations++
	doc, err := c.w.TrySwap(x)
	if err != nil {
		c.refusedAs(err)
		return nil
	}
	return []*api.Document{c.w.SignQuote(doc)}
}

// execute posts every quote up to three times at once, in random order.
func (c *chaos) execute(docs []*api.Document) {
	var posts []*api.Document
	for _, d := range docs {
		for range 1 + c.random.IntN(3) {
			posts = append(posts, d)
		}
	}
	c.random.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
	results := make([]error, len(posts))
	var group sync.WaitGroup
	for i, d := range posts {
		group.Go(func() { results[i] = c.w.Execute(d) })
	}
	group.Wait()
	accepted := map[string]int{}
	for i, err := range results {
		c.operations++
		if err != nil {
			c.refusedAs(err)
			continue
		}
		c.seen["accepted"]++
		if id := c.w.Decode(posts[i]).ID; accepted[id] > 0 || c.final[id] != "" {
			c.t.Fatalf("quote %s was accepted twice", id)
		} else {
			accepted[id]++
		}
	}
}

// open reads the records of all open quotes.
func (c *chaos) open() (out []*quotestore.Quote) {
	ids, err := c.w.Book.Open(context.Background())
	Must(c.t, err)
	for _, id := range ids {
		out = append(out, record(c.w, id))
	}
	return out
}

// halfway waits until every open settlement stands at the gate, looks at it, and opens the gate.
func (c *chaos) halfway() {
	for {
		c.gate.mu.Lock()
		blocked := c.gate.blocked
		c.gate.mu.Unlock()
		if len(c.open()) == blocked {
			break
		}
		<-c.gate.changed
	}
	c.held()
	before := fmt.Sprint(states(c.open()))
	c.w.Clock.Advance(2 * time.Second)
	if after := fmt.Sprint(states(c.open())); after != before {
		c.t.Fatalf("time alone moved %s to %s", before, after)
	}
	c.gate.mu.Lock()
	close(c.gate.closed)
	c.gate.closed = nil
	c.gate.mu.Unlock()
}

func states(qs []*quotestore.Quote) (out []string) {
	for _, q := range qs {
		out = append(out, fmt.Sprint(q.ID, q.Status, q.FailReason, q.Updated))
	}
	return out
}

// held demands that escrow and vault hold exactly what the open quotes have deposited, and that exactly they have
// pledged.
func (c *chaos) held() {
	c.t.Helper()
	deposited, escrow := map[string]*big.Int{}, c.w.Installation.Pins.Escrow
	for _, q := range c.open() {
		for _, l := range q.Legs {
			if l.State == quotestore.LegDeposited {
				v := deposited[l.Pays.Asset]
				if v == nil {
					v = new(big.Int)
					deposited[l.Pays.Asset] = v
				}
				v.Add(v, l.Pays.Value)
			}
		}
	}
	check := func(a caip.Asset, got *big.Int) {
		want := deposited[a.String()]
		if want == nil {
			want = new(big.Int)
		}
		if got.Cmp(want) != 0 {
			c.t.Fatalf("%s of %s lie in escrow, %s were deposited", got, a, want)
		}
	}
	for _, a := range c.w.Assets {
		check(a, c.w.Balance(escrow, a))
	}
	for _, a := range c.w.SolanaAssets {
		v, err := c.w.Installation.SolanaSpendable(context.Background(), c.w.Vault(), a)
		Must(c.t, err)
		check(a, v)
	}
}

// ended reads what became of the quotes of a round.
func (c *chaos) ended(docs []*api.Document) {
	for _, d := range docs {
		id := c.w.Decode(d).ID
		q := record(c.w, id)
		if q.Status == "" || c.final[id] != "" {
			continue
		}
		if !api.Terminal(q.Status) || (q.Status == api.StatusCompleted) != (q.FailReason == "") {
			c.t.Fatalf("quote %s ended with %q %q", id, q.Status, q.FailReason)
		}
		c.final[id], c.documents[id] = states([]*quotestore.Quote{q})[0], d
		c.seen[q.Status]++
		c.seen[q.FailReason]++
		if q.Status == api.StatusCompleted {
			c.count(q)
		}
	}
}

// count notes what a completed quote has brought to payee or stranger.
func (c *chaos) count(q *quotestore.Quote) {
	got := quotestore.Amount{}
	switch to := q.RecipientAccount().Address; {
	case q.HasPrepared():
		got = q.Required[0] // the calls pay it on
	case to == stranger().Wallet.String() || strings.EqualFold(to, payee().Hex()):
		got = q.Fills[0].Delivers
	default:
		return
	}
	a := got.CAIP()
	if c.arrived[a] == nil {
		c.arrived[a] = new(big.Int)
	}
	c.arrived[a].Add(c.arrived[a], got.Value)
}

func (c *chaos) round() {
	var docs []*api.Document
	for range 2 + c.random.IntN(5) {
		docs = append(docs, c.offer(c.users[c.random.IntN(len(c.users))])...)
	}
	stop := c.random.IntN(3) == 0
	if stop {
		c.gate.mu.Lock()
		c.gate.closed = make(chan struct{})
		c.gate.mu.Unlock()
	}
	c.execute(docs)
	if stop {
		c.halfway()
	}
	Must(c.t, c.w.Settler.Idle(context.Background()))
	for _, u := range c.users {
		if u.HasSolana() && c.w.SolanaBalance(u.Wallet, c.w.Asset("sol", Solana)).Sign() == 0 {
			c.seen["accounts without SOL"]++
		}
	}
	c.ended(docs)
	c.held()
	nothingLeft(c.t, c.w)
	c.w.Clock.Advance(time.Duration(c.random.IntN(4)) * time.Second)
	if c.random.IntN(4) == 0 {
		c.stock(c.users[c.random.IntN(len(c.users))])
	}
}
