// Package feeds is the price source of real assets, for a service on nodes and for a wallet with nodes of its own:
// Chainlink aggregators, read by eth_call in one HTTP body a chain, in the background. Prices are read from memory.
//
// Promise: a price is one that an aggregator's newest round has, above its lower and below its upper bound, no older
// than its heartbeat, and looked at within the last minutes. Where a chain has a feed of its sequencer's uptime, its
// prices count from an hour after the sequencer works again. Aggregators of several chains must agree within 5 %.
// Anything else is no price: it never becomes an old one, or zero.
//
// Units: micro-USD for one whole unit. The gas price of a chain is what its node suggests, with the base fee of the
// newest block that anything here saw since; what a rollup takes for data on its layer 1 is added to the worth of gas.
package feeds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/networks"
	"coffer/api/rpcpool"
)

const (
	// Unseen is how long a price counts without another look at its feed.
	Unseen = 5 * time.Minute
	// lag is how long after its heartbeat a round may take to be on chain.
	lag = 2 * time.Minute
	// ahead is how far the chain's clock may be before that of this machine.
	ahead = 2 * time.Minute
	// grace is how long a sequencer has to work again before prices count.
	grace = time.Hour
	// apart is how much feeds of one asset may differ, in percent.
	apart = 5

	every = time.Minute     // between two looks while prices are read
	idle  = 4 * time.Minute // otherwise
	least = 2 * time.Second // even when the last one failed
)

// Nodes asks the nodes of one chain; *rpcpool.Pool is one.
type Nodes interface {
	Batch(ctx context.Context, calls []rpcpool.Call) error
}

// Chain is a chain with feeds. Sequencer is the feed of its sequencer's uptime, zero when there is none. Agreed asks a
// quorum of the nodes; nil where one node is enough. DataFee is what a usual transaction costs beside its execution
// (chain.Charger); nil where that is nothing. BaseFee is the next block's as it was seen last, and when; it asks
// nothing, and nil knows none.
type Chain struct {
	ID        uint64
	Name      string
	Nodes     Nodes
	Agreed    func(ctx context.Context, result any, method string, params ...any) error
	Feeds     []networks.Feed
	Sequencer common.Address
	DataFee   func(context.Context) (wei *big.Int, gas uint64, err error)
	BaseFee   func() (wei *big.Int, at time.Time)
}

// Sequencer is Chainlink's feed of the uptime of a main network's sequencer, zero when it has none.
func Sequencer(chainID uint64) common.Address {
	switch chainID {
	case 10:
		return common.HexToAddress("0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389")
	case 8453:
		return common.HexToAddress("0xBCF85224fc0756B9Fa45aA7892530B47e10b6433")
	case 42161:
		return common.HexToAddress("0xFdB631F5EE196F0ed6FAa767959853A9F217697D")
	}
	return common.Address{}
}

// Options configure Feeds. The catalogue names the coin that pays gas on each chain.
type Options struct {
	Catalog *catalog.Catalog
	Chains  []Chain
	Clock   func() time.Time
	Log     *slog.Logger
}

// Feeds is safe for concurrent use. Close it at the end.
type Feeds struct {
	o      Options
	chains []*watched
	asked  atomic.Bool
	wake   chan struct{}
	first  chan struct{} // closed after the first look of Run
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// watched is a chain and what was last seen of it.
type watched struct {
	Chain
	looking sync.Mutex // held during a look

	mu   sync.RWMutex
	seen seen
}

// seen is one look at a chain. It does not change.
type seen struct {
	at        time.Time // zero before the first
	problem   string    // why the last look failed
	rounds    map[common.Address]round
	facts     map[common.Address]facts
	sequencer string // why its prices do not count
	gasPrice  *big.Int
	tip       *big.Int // what of the gas price is not the base fee; nil when unknown
	dataFee   *big.Int // wei, of a usual transaction
	dataGas   uint64
}

// New makes a price source. It knows nothing before the first look, which Run or Refresh takes.
func New(o Options) *Feeds {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Feeds{o: o, wake: make(chan struct{}, 1), first: make(chan struct{}), cancel: func() {}}
	for _, c := range o.Chains {
		f.chains = append(f.chains, &watched{Chain: c})
	}
	return f
}

// Run looks at the feeds in the background until Close: every minute while prices are read, else every four.
func (f *Feeds) Run() {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.work.Go(func() {
		var last time.Time
		var looked sync.Once
		for {
			if f.asked.Swap(false) || time.Since(last) >= idle {
				last = time.Now()
				if err := f.Refresh(ctx); err != nil && ctx.Err() == nil {
					f.o.Log.Warn("prices could not be read", "error", err)
				}
				looked.Do(func() { close(f.first) })
			}
			if !f.wait(ctx, least, nil) || !f.wait(ctx, every-least, f.wake) {
				return
			}
		}
	})
}

// Ready waits for the first look of Run, so that what asks right after the start finds prices.
func (f *Feeds) Ready(ctx context.Context) {
	select {
	case <-f.first:
	case <-ctx.Done():
	}
}

// wait is false when the context ends first.
func (f *Feeds) wait(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-t.C:
	}
	return true
}

// Close ends Run.
func (f *Feeds) Close() {
	f.cancel()
	f.work.Wait()
}

// Refresh looks at all chains now. Its error names the chains that could not be read; what is known of them stays until
// it is too old.
func (f *Feeds) Refresh(ctx context.Context) error {
	errs := make([]error, len(f.chains))
	var all sync.WaitGroup
	for i, c := range f.chains {
		all.Go(func() {
			if err := c.look(ctx, f.o.Clock); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Name, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Price is the price of an aggregated asset, and false when it has none at that moment.
func (f *Feeds) Price(id caip.AggregateID, at time.Time) (*big.Int, bool) {
	s := f.State(id, at)
	return s.MicroUSD, s.MicroUSD != nil
}

// Stated is a price with where it comes from. MicroUSD is nil when there is none; Problem says why then. Updated is
// when the round of the price came on chain, and the zero time when no round is known.
type Stated struct {
	MicroUSD *big.Int
	Source   string
	Updated  time.Time
	Problem  string
}

// Now is State by the own clock.
func (f *Feeds) Now(id caip.AggregateID) Stated { return f.State(id, f.o.Clock()) }

// State is the price of an aggregated asset with its source, for a screen. It waits for nothing.
func (f *Feeds) State(id caip.AggregateID, at time.Time) Stated {
	f.ask(at)
	var good, bad []Stated
	for _, c := range f.chains {
		for _, e := range c.Feeds {
			if e.Aggregate != id {
				continue
			}
			if s := c.state(e, at); s.MicroUSD != nil {
				good = append(good, s)
			} else {
				bad = append(bad, s)
			}
		}
	}
	newest := func(a, b Stated) int { return b.Updated.Compare(a.Updated) }
	slices.SortStableFunc(good, newest)
	slices.SortStableFunc(bad, newest)
	switch {
	case len(good) > 0:
		if problem := differ(good); problem != "" {
			return Stated{Source: good[0].Source, Updated: good[0].Updated, Problem: problem}
		}
		return good[0]
	case len(bad) > 0:
		return bad[0]
	}
	return Stated{Problem: "no price feed is named for it"}
}

// differ says which feeds are too far apart.
func differ(all []Stated) string {
	low, high := all[0], all[0]
	for _, s := range all[1:] {
		if s.MicroUSD.Cmp(low.MicroUSD) < 0 {
			low = s
		}
		if s.MicroUSD.Cmp(high.MicroUSD) > 0 {
			high = s
		}
	}
	limit := new(big.Int).Mul(low.MicroUSD, big.NewInt(100+apart))
	if new(big.Int).Mul(high.MicroUSD, big.NewInt(100)).Cmp(limit) <= 0 {
		return ""
	}
	return fmt.Sprintf("%s and %s differ by more than %d %%", low.Source, high.Source, apart)
}

// ask notes that prices are used, and has Run look again when they are not fresh.
func (f *Feeds) ask(at time.Time) {
	f.asked.Store(true)
	for _, c := range f.chains {
		if c.last().at.Add(every).Before(at) {
			select {
			case f.wake <- struct{}{}:
			default:
			}
			return
		}
	}
}

// transactions is how many a quote sends on one chain: a deposit and its release, or one that delivers and at most one
// that settles.
const transactions = 2

// gasNow is the gas price of a look, moved by what the base fee has moved since.
func (c *watched) gasNow(s seen) *big.Int {
	if c.BaseFee == nil || s.gasPrice == nil {
		return s.gasPrice
	}
	base, at := c.BaseFee()
	switch {
	case base == nil || !at.After(s.at):
		return s.gasPrice
	case s.tip != nil:
		return base.Add(base, s.tip)
	case base.Cmp(s.gasPrice) > 0:
		return base
	}
	return s.gasPrice
}

// GasCostMicroUSD is the worth of an amount of gas on a chain at the gas price that its node suggests, with the newest
// base fee that was seen, and with what two transactions take for their data, rounded up, and false when gas price or
// coin price is unknown.
func (f *Feeds) GasCostMicroUSD(chainID, gas uint64, at time.Time) (*big.Int, bool) {
	i := slices.IndexFunc(f.chains, func(c *watched) bool { return c.ID == chainID })
	coin, ok := f.o.Catalog.NativeOf(chainID)
	if i < 0 || !ok {
		return nil, false
	}
	s := f.chains[i].last()
	price, ok := f.Price(coin.Aggregate, at)
	if !ok || s.gasPrice == nil || s.old(at) {
		return nil, false
	}
	cost := new(big.Int).SetUint64(gas + transactions*s.dataGas)
	cost.Mul(cost, f.chains[i].gasNow(s))
	if s.dataFee != nil {
		cost.Add(cost, new(big.Int).Mul(s.dataFee, big.NewInt(transactions)))
	}
	cost.Mul(cost, price)
	return amount.ScaleUp(cost, coin.Decimals, 0), true
}

func (c *watched) last() seen {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.seen
}

// old reports whether too much time has passed since the look, or whether the look is later than the moment.
func (s seen) old(at time.Time) bool {
	return s.at.IsZero() || at.Sub(s.at) > Unseen || s.at.Sub(at) > Unseen
}

// state judges one feed at a moment.
func (c *watched) state(e networks.Feed, at time.Time) Stated {
	s := c.last()
	short := e.Address.Hex()
	out := Stated{Source: fmt.Sprintf("Chainlink on %s, %s…%s", c.Name, short[:6], short[len(short)-4:])}
	r, read := s.rounds[e.Address]
	out.Updated = r.updated
	facts, known := s.facts[e.Address]
	switch {
	case s.old(at):
		out.Problem = "no node of " + c.Name + " answered for " + Unseen.String()
		if s.problem != "" {
			out.Problem += ": " + s.problem
		}
	case s.sequencer != "":
		out.Problem = s.sequencer
	case !read, !known && r.problem == "":
		out.Problem = "its feed on " + c.Name + " was not read yet"
	case r.problem != "":
		out.Problem = r.problem
	case facts.decimals != e.Decimals:
		out.Problem = fmt.Sprintf("its feed on %s has %d decimals, and the networks file says %d", c.Name,
			facts.decimals, e.Decimals)
	default:
		out.MicroUSD, out.Problem = r.price(facts, e, at)
	}
	return out
}

// price is a round's price, or why it is none.
func (r round) price(k facts, e networks.Feed, at time.Time) (*big.Int, string) {
	switch {
	case r.answer.Sign() <= 0:
		return nil, "its feed has no price"
	case r.answeredIn.Cmp(r.id) < 0:
		return nil, "its feed repeats the answer of an earlier round"
	case at.Sub(r.updated) > e.Heartbeat+lag:
		return nil, fmt.Sprintf("its price is %s old, and the feed has to give one every %s",
			span(at.Sub(r.updated)), span(e.Heartbeat))
	case r.updated.Sub(at) > ahead:
		return nil, "its price is of the future: check the clock of this machine"
	case k.min != nil && r.answer.Cmp(k.min) <= 0, k.max != nil && r.answer.Cmp(k.max) >= 0:
		return nil, "its feed has reached the bound of what it can say"
	}
	micro := new(big.Int).Mul(r.answer, big.NewInt(1_000_000))
	if micro = amount.Scale(micro, e.Decimals, 0); micro.Sign() <= 0 {
		return nil, "its price is below a millionth of a dollar"
	}
	return micro, ""
}

// span writes a time without what is too small to matter.
func span(d time.Duration) string {
	s := d.Round(time.Minute).String()
	if s = strings.TrimSuffix(s, "0s"); strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
