// Package feeds_test has api/feeds read feeds on the chains of a service.
package feeds_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"go.uber.org/goleak"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/feeds"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service"
	"coffer/api/service/devclock"
	"coffer/api/service/portfolio"
	"coffer/api/service/quote"
	"coffer/api/service/settle"
	"coffer/api/service/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.opencensus.io/stats/view.(*worker).start"))
}

var start = time.Unix(1_760_000_000, 0)

// The methods of an aggregator and the storage slots whose words they return.
var (
	rounds = map[string][]byte{"latestRoundData()": {0, 1, 2, 3, 4}}
	proxy  = map[string][]byte{"latestRoundData()": {0, 1, 2, 3, 4}, "decimals()": {5}, "aggregator()": {6},
		"getRoundData(uint80)": {0, 1, 2, 3, 4}}
	bounds   = map[string][]byte{"minAnswer()": {7}, "maxAnswer()": {8}}
	withSelf = map[string][]byte{"latestRoundData()": {0, 1, 2, 3, 4}, "decimals()": {5}, "minAnswer()": {7},
		"maxAnswer()": {8}}
)

// program is EVM code that answers methods with words of its storage and reverts otherwise.
func program(methods map[string][]byte) []byte {
	const head, entry, tail = 6, 11, 5
	code := []byte{0x60, 0x00, 0x35, 0x60, 0xe0, 0x1c} // the selector
	var bodies []byte
	at := head + entry*len(methods) + tail
	for name, slots := range methods {
		code = append(code, 0x80, 0x63) // dup, push the method's selector
		code = append(code, crypto.Keccak256([]byte(name))[:4]...)
		code = append(code, 0x14, 0x61) // eq, push where its body is
		code = binary.BigEndian.AppendUint16(code, uint16(at+len(bodies)))
		code = append(code, 0x57) // jumpi
		bodies = append(bodies, 0x5b)
		for i, slot := range slots {
			bodies = append(bodies, 0x60, slot, 0x54, 0x60, byte(32*i), 0x52) // mstore(32i, sload(slot))
		}
		bodies = append(bodies, 0x60, byte(32*len(slots)), 0x60, 0x00, 0xf3)
	}
	code = append(code, 0x60, 0x00, 0x60, 0x00, 0xfd)
	return append(code, bodies...)
}

// world is an embedded chain with feeds.
type world struct {
	t     *testing.T
	pool  *rpcpool.Pool
	clock *devclock.Clock
	id    uint64
}

func newWorlds(t *testing.T, ids ...uint64) []*world {
	t.Helper()
	clock := devclock.New(func() time.Time { return start })
	s, err := service.Open(service.Options{Store: store.NewMemory(), Clock: clock.Now,
		Seed: []byte("an installation seed of 32 bytes")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0", Dev: &service.Dev{Clock: clock}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	var list []*world
	for _, id := range ids {
		for _, at := range n.List {
			if at.ID != id {
				continue
			}
			p, err := rpcpool.New(rpcpool.Options{ChainID: id, URLs: []rpcpool.Endpoint{{URL: at.HTTP}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			list = append(list, &world{t, p, clock, id})
		}
	}
	return list
}

func (w *world) do(method string, params ...any) {
	w.t.Helper()
	if err := w.pool.Call(w.t.Context(), nil, method, params...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) set(at common.Address, slot int64, v *big.Int) {
	w.t.Helper()
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	w.do("anvil_setStorageAt", at, hexutil.EncodeBig(big.NewInt(slot)), common.BigToHash(v))
}

// round gives a feed a round; answers are in its decimals.
func (w *world) round(at common.Address, id, answer int64, updated time.Time) {
	w.t.Helper()
	for slot, v := range []int64{id, answer, updated.Unix(), updated.Unix(), id} {
		w.set(at, int64(slot), big.NewInt(v))
	}
}

// feed puts a feed with eight decimals behind a proxy on the chain.
func (w *world) feed(at common.Address, answer int64) {
	w.t.Helper()
	behind := crypto.CreateAddress(at, 1)
	w.do("anvil_setBalance", at, "0x1") // it stays an account when its code goes
	w.do("anvil_setCode", at, hexutil.Bytes(program(proxy)))
	w.do("anvil_setCode", behind, hexutil.Bytes(program(bounds)))
	w.round(at, 1, answer, w.clock.Now())
	w.set(at, 5, big.NewInt(8))
	w.set(at, 6, behind.Big())
	w.set(behind, 7, big.NewInt(1_000_000))
	w.set(behind, 8, big.NewInt(1e15))
}

func (w *world) chain(f ...networks.Feed) feeds.Chain {
	return feeds.Chain{ID: w.id, Name: map[uint64]string{1: "Ethereum", 8453: "Base"}[w.id], Nodes: w.pool, Feeds: f}
}

func source(t *testing.T, clock *devclock.Clock, chains ...feeds.Chain) *feeds.Feeds {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return feeds.New(feeds.Options{Catalog: cat, Chains: chains, Clock: clock.Now})
}

var ethFeed = common.HexToAddress("0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70")

func eth() networks.Feed {
	return networks.Feed{Aggregate: "ob:eth", Address: ethFeed, Heartbeat: 20 * time.Minute, Decimals: 8}
}

func TestAPriceComesFromItsFeed(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500_12345678)
	weth := eth()
	weth.Aggregate = "ob:weth"
	f := source(t, w.clock, w.chain(eth(), weth))
	if s := f.State("ob:eth", w.clock.Now()); s.MicroUSD != nil || s.Problem == "" {
		t.Errorf("before the first look: %+v", s)
	}
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []caip.AggregateID{"ob:eth", "ob:weth"} {
		if v, ok := f.Price(id, w.clock.Now()); !ok || v.Int64() != 2_500_123456 {
			t.Errorf("%s: %v, %+v", id, v, f.State(id, w.clock.Now()))
		}
	}
	s := f.State("ob:eth", w.clock.Now())
	if !s.Updated.Equal(start) || s.Source != "Chainlink on Base, 0x7104…Bb70" || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	if s := f.State("ob:usdc", w.clock.Now()); s.MicroUSD != nil || s.Problem != "no price feed is named for it" {
		t.Errorf("%+v", s)
	}
	var gas hexutil.Big
	if err := w.pool.Call(t.Context(), &gas, "eth_gasPrice"); err != nil {
		t.Fatal(err)
	}
	cost := new(big.Int).Mul(gas.ToInt(), big.NewInt(21_000*2_500_123456))
	cost, rest := cost.QuoRem(cost, big.NewInt(1e18), new(big.Int))
	if rest.Sign() > 0 {
		cost.Add(cost, common.Big1)
	}
	if v, ok := f.GasCostMicroUSD(8453, 21_000, w.clock.Now()); !ok || v.Cmp(cost) != 0 {
		t.Errorf("gas costs %v, expected %v", v, cost)
	}
	if _, ok := f.GasCostMicroUSD(1, 21_000, w.clock.Now()); ok {
		t.Error("gas of a chain without nodes has a price")
	}
}

// A quote sends two transactions on a chain, and what the chain takes for their data is part of what they cost.
func TestTheWorthOfGasHasWhatIsTakenForData(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500_12345678)
	var fail error
	plain, charged := w.chain(eth()), w.chain(eth())
	charged.DataFee = func(context.Context) (*big.Int, uint64, error) { return big.NewInt(3e12), 4_000, fail }
	before, f := source(t, w.clock, plain), source(t, w.clock, charged)
	if err := errors.Join(before.Refresh(t.Context()), f.Refresh(t.Context())); err != nil {
		t.Fatal(err)
	}
	price, _ := f.Price("ob:eth", w.clock.Now())
	want, _ := before.GasCostMicroUSD(8453, 21_000+2*4_000, w.clock.Now())
	data := new(big.Int).Mul(big.NewInt(2*3e12), price) // with 18 decimals
	want = new(big.Int).Add(want, data.Quo(data, big.NewInt(1e18)))
	v, ok := f.GasCostMicroUSD(8453, 21_000, w.clock.Now())
	if !ok || new(big.Int).Sub(v, want).CmpAbs(common.Big1) > 0 {
		t.Errorf("it costs %v, expected %v", v, want)
	}
	fail = errors.New("the oracle is silent")
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, ok := f.GasCostMicroUSD(8453, 21_000, w.clock.Now()); ok {
		t.Errorf("it costs %v without what is taken for data", v)
	}
}

// Between two looks the worth of gas follows the base fee of every block that was seen, up and down, and the node is
// not asked for it.
func TestTheWorthOfGasFollowsEachBlock(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500_12345678)
	var next *big.Int
	var at time.Time
	c := w.chain(eth())
	c.BaseFee = func() (*big.Int, time.Time) {
		if next == nil {
			return nil, at
		}
		return new(big.Int).Set(next), at
	}
	f := source(t, w.clock, c)
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var gas hexutil.Big
	var fees struct {
		Base []*hexutil.Big `json:"baseFeePerGas"`
	}
	err := errors.Join(w.pool.Call(t.Context(), &gas, "eth_gasPrice"),
		w.pool.Call(t.Context(), &fees, "eth_feeHistory", "0x1", "latest", []any{}))
	if err != nil || len(fees.Base) != 2 {
		t.Fatal(err, fees.Base)
	}
	now, base := w.clock.Now(), fees.Base[1].ToInt()
	tip := new(big.Int).Sub(gas.ToInt(), base)
	price, _ := f.Price("ob:eth", now)
	costs := func(each *big.Int) *big.Int {
		cost := new(big.Int).Mul(each, big.NewInt(21_000))
		cost.Mul(cost, price).Add(cost, big.NewInt(1e18-1))
		return cost.Quo(cost, big.NewInt(1e18))
	}
	dear, cheap := new(big.Int).Lsh(base, 3), new(big.Int).Rsh(base, 1)
	for name, seen := range map[string]struct {
		next, each *big.Int
		at         time.Time
	}{
		"no block":          {nil, gas.ToInt(), time.Time{}},
		"a block before it": {dear, gas.ToInt(), now.Add(-time.Second)},
		"a dearer block":    {dear, new(big.Int).Add(dear, tip), now.Add(time.Second)},
		"a cheaper block":   {cheap, new(big.Int).Add(cheap, tip), now.Add(time.Second)},
	} {
		next, at = seen.next, seen.at
		if v, ok := f.GasCostMicroUSD(8453, 21_000, now); !ok || v.Cmp(costs(seen.each)) != 0 {
			t.Errorf("after %s it costs %v, expected %v", name, v, costs(seen.each))
		}
	}
}

// Every way in which a feed can be wrong leaves the price unknown, and says why.
func TestABadRoundIsNoPrice(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	behind := crypto.CreateAddress(ethFeed, 1)
	for _, tc := range []struct {
		name, problem string
		spoil         func()
	}{
		{"zero", "its feed has no price", func() { w.set(ethFeed, 1, common.Big0) }},
		{"negative", "its feed has no price", func() { w.set(ethFeed, 1, big.NewInt(-5)) }},
		{"stale", "its price is 23m old, and the feed has to give one every 20m",
			func() { w.round(ethFeed, 2, 2_500e8, w.clock.Now().Add(-23*time.Minute)) }},
		{"of the future", "its price is of the future",
			func() { w.round(ethFeed, 2, 2_500e8, w.clock.Now().Add(time.Hour)) }},
		{"never updated", "its feed has no round", func() { w.set(ethFeed, 3, common.Big0) }},
		{"no round", "its feed has no round", func() { w.set(ethFeed, 0, common.Big0) }},
		{"carried over", "repeats the answer of an earlier round", func() { w.set(ethFeed, 4, common.Big0) }},
		{"at the lower bound", "has reached the bound", func() { w.set(ethFeed, 1, big.NewInt(1_000_000)) }},
		{"at the upper bound", "has reached the bound", func() { w.set(ethFeed, 1, big.NewInt(1e15)) }},
		{"other decimals", "has 18 decimals, and the networks file says 8",
			func() { w.set(ethFeed, 5, big.NewInt(18)) }},
		{"absurd decimals", "does not say how many decimals", func() { w.set(ethFeed, 5, big.NewInt(1000)) }},
		{"no contract", "at its address there is no price feed", func() { w.do("anvil_setCode", ethFeed, "0x") }},
		{"reverts", "its feed has no round", func() { w.do("anvil_setCode", ethFeed, hexutil.Bytes(program(bounds))) }},
		{"without decimals", "does not say how many decimals",
			func() { w.do("anvil_setCode", ethFeed, hexutil.Bytes(program(rounds))) }},
		{"a smaller range", "has reached the bound", func() { w.set(behind, 8, big.NewInt(2_000e8)) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w.feed(ethFeed, 2_500e8)
			good := source(t, w.clock, w.chain(eth()))
			if err := good.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, ok := good.Price("ob:eth", w.clock.Now()); !ok {
				t.Fatal(good.State("ob:eth", w.clock.Now()).Problem)
			}
			tc.spoil()
			f := source(t, w.clock, w.chain(eth()))
			if err := f.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			s := f.State("ob:eth", w.clock.Now())
			if s.MicroUSD != nil || !strings.Contains(s.Problem, tc.problem) {
				t.Errorf("%v, %q", s.MicroUSD, s.Problem)
			}
			if _, ok := f.GasCostMicroUSD(8453, 1, w.clock.Now()); ok {
				t.Error("gas has a price without its coin's")
			}
		})
	}
}

func TestAnAggregatorWithoutAProxyHasBoundsToo(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.do("anvil_setCode", ethFeed, hexutil.Bytes(program(withSelf)))
	w.round(ethFeed, 1, 500, w.clock.Now())
	for slot, v := range map[int64]int64{5: 8, 7: 500, 8: 1e15} {
		w.set(ethFeed, slot, big.NewInt(v))
	}
	f := source(t, w.clock, w.chain(eth()))
	_ = f.Refresh(t.Context())
	if s := f.State("ob:eth", w.clock.Now()); !strings.Contains(s.Problem, "bound") {
		t.Errorf("%+v", s)
	}
}

// A proxy that gets another aggregator has other bounds.
func TestBoundsAreReadAgainWithANewPhase(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500e8)
	count := &counted{Nodes: w.pool}
	chain := w.chain(eth())
	chain.Nodes = count
	f := source(t, w.clock, chain)
	look := func(want bool, bodies int) {
		t.Helper()
		before := count.bodies
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, ok := f.Price("ob:eth", w.clock.Now()); ok != want {
			t.Errorf("priced: %v: %s", ok, f.State("ob:eth", w.clock.Now()).Problem)
		}
		if count.bodies-before != bodies {
			t.Errorf("%d bodies, expected %d", count.bodies-before, bodies)
		}
	}
	look(true, 3)
	w.set(crypto.CreateAddress(ethFeed, 1), 8, big.NewInt(2_000e8))
	look(true, 1) // one body a look, and no promise is read twice
	phase := new(big.Int).Lsh(common.Big2, 64)
	w.set(ethFeed, 0, phase)
	w.set(ethFeed, 4, phase)
	look(false, 3)
}

// One node of several may lie about the newest round: it counts when a quorum knows it, and is asked about once.
func TestAPriceIsWhatAQuorumKnows(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500_00000000)
	c := w.chain(eth())
	asked, apart := 0, true
	c.Agreed = func(ctx context.Context, result any, method string, params ...any) error {
		if asked++; apart {
			return &rpcpool.NoQuorumError{Method: method}
		}
		return w.pool.Agreed(ctx, result, method, params...)
	}
	f := source(t, w.clock, c)
	look := func(known bool, asks int) {
		t.Helper()
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		v, ok := f.Price("ob:eth", w.clock.Now())
		if ok != known || asked != asks {
			t.Errorf("%v %t after %d questions: %+v", v, ok, asked, f.State("ob:eth", w.clock.Now()))
		}
	}
	look(false, 1)
	if s := f.State("ob:eth", w.clock.Now()); !strings.Contains(s.Problem,
		"the nodes of Base do not agree on its price") {
		t.Errorf("%+v", s)
	}
	apart = false
	look(true, 2)
	look(true, 2)
	w.round(ethFeed, 2, 2_600_00000000, w.clock.Now())
	look(true, 3)
	apart = true
	w.round(ethFeed, 3, 9_900_00000000, w.clock.Now())
	look(false, 4)
}

type counted struct {
	feeds.Nodes
	bodies int
}

func (c *counted) Batch(ctx context.Context, calls []rpcpool.Call) error {
	c.bodies++
	return c.Nodes.Batch(ctx, calls)
}

func TestAPriceCountsWithItsSequencerOnly(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500e8)
	uptime := feeds.Sequencer(8453)
	chain := w.chain(eth())
	chain.Sequencer = uptime
	f := source(t, w.clock, chain)
	w.do("anvil_setBalance", uptime, "0x1")
	w.do("anvil_setCode", uptime, hexutil.Bytes(program(rounds)))
	for _, tc := range []struct {
		answer  int64
		since   time.Duration
		problem string
	}{
		{0, 2 * time.Hour, ""}, {1, 2 * time.Hour, "the sequencer of Base does not work"},
		{0, 59 * time.Minute, "works again since"}, {0, 61 * time.Minute, ""},
		{0, time.Duration(start.Unix()) * time.Second, "is unknown"}, {7, 2 * time.Hour, "does not work"},
	} {
		w.round(uptime, 1, tc.answer, w.clock.Now().Add(-tc.since))
		w.set(uptime, 3, big.NewInt(1))
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := f.State("ob:eth", w.clock.Now())
		if !strings.Contains(s.Problem, tc.problem) || (s.MicroUSD != nil) != (tc.problem == "") {
			t.Errorf("%+v: %+v", tc, s)
		}
	}
	w.do("anvil_setCode", uptime, "0x")
	_ = f.Refresh(t.Context())
	if s := f.State("ob:eth", w.clock.Now()); s.MicroUSD != nil || !strings.Contains(s.Problem, "is unknown") {
		t.Errorf("%+v", s)
	}
}

func TestFeedsOfTwoChainsMustAgree(t *testing.T) {
	w := newWorlds(t, 1, 8453)
	other := eth()
	other.Address = common.Address{9}
	w[0].feed(ethFeed, 2_500e8)
	w[1].feed(other.Address, 2_600e8)
	w[1].round(other.Address, 1, 2_600e8, start.Add(-time.Minute))
	f := source(t, w[0].clock, w[0].chain(eth()), w[1].chain(other))
	look := func() feeds.Stated {
		t.Helper()
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		return f.State("ob:eth", start)
	}
	if s := look(); s.MicroUSD == nil || s.MicroUSD.Int64() != 2_500e6 {
		t.Errorf("the newer of two that agree: %+v", s)
	}
	w[1].set(other.Address, 1, big.NewInt(2_630e8))
	if s := look(); s.MicroUSD != nil || !strings.Contains(s.Problem, "differ by more than 5 %") {
		t.Errorf("%+v", s)
	}
	w[0].round(ethFeed, 2, 2_500e8, start.Add(-time.Hour)) // a stale one has no say
	if s := look(); s.MicroUSD == nil || s.MicroUSD.Int64() != 2_630e6 {
		t.Errorf("%+v", s)
	}
}

func TestAPriceThatIsNotLookedAtGetsUnknown(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500e8)
	broken := &breakable{Nodes: w.pool}
	chain := w.chain(eth())
	chain.Nodes = broken
	f := source(t, w.clock, chain)
	if err := f.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	broken.err = errors.New("no endpoint answers eth_call: https://a.example: it limits requests")
	if err := f.Refresh(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "Base: ") {
		t.Error(err)
	}
	if _, ok := f.Price("ob:eth", start.Add(feeds.Unseen)); !ok {
		t.Error("one failure took the price away")
	}
	s := f.State("ob:eth", start.Add(feeds.Unseen+time.Second))
	if s.MicroUSD != nil || !strings.Contains(s.Problem, "it limits requests") {
		t.Errorf("%+v", s)
	}
	if _, ok := f.GasCostMicroUSD(8453, 1, start.Add(feeds.Unseen+time.Second)); ok {
		t.Error("gas has an old price")
	}
}

type breakable struct {
	feeds.Nodes
	err error
}

func (b *breakable) Batch(ctx context.Context, calls []rpcpool.Call) error {
	if b.err != nil {
		return b.err
	}
	return b.Nodes.Batch(ctx, calls)
}

func TestPricesAreReadInTheBackground(t *testing.T) {
	w := newWorlds(t, 8453)[0]
	w.feed(ethFeed, 2_500e8)
	f := source(t, w.clock, w.chain(eth()))
	f.Run()
	defer f.Close()
	f.Ready(t.Context())
	if _, ok := f.Price("ob:eth", start); !ok {
		t.Fatal(f.State("ob:eth", start))
	}
	// one that is older than a minute is looked at when someone reads it
	w.round(ethFeed, 2, 2_600e8, w.clock.Now())
	for until := time.Now().Add(10 * time.Second); ; {
		if v, ok := f.Price("ob:eth", start.Add(2*time.Minute)); ok && v.Int64() == 2_600e6 {
			break
		}
		if time.Now().After(until) {
			t.Fatal(f.State("ob:eth", start))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// What the use cases ask of prices.
var (
	_ quote.Prices     = (*feeds.Feeds)(nil)
	_ portfolio.Prices = (*feeds.Feeds)(nil)
	_ settle.Prices    = (*feeds.Feeds)(nil)
)
