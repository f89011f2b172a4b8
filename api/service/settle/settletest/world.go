// Package settletest is a whole installation for tests: embedded chains and Solana, book, quoter and settler, with
// users of every account kind whose keys sign what the service prepares. It goes the client's way: documents are
// received, signatures spliced into the received bytes, and posted on. World.User is whose keys sign; World.AddUser
// makes more, of each of Kinds.
package settletest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/price"
	"coffer/api/service/quote"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// Chain ids of the installation.
const (
	Ethereum  = 1
	Optimism  = 10
	Polygon   = 137
	Base      = 8453
	Arbitrum  = 42161
	Avalanche = 43114
	Linea     = 59144
	Solana    = 0 // in the place of a chain id
)

// Start is the clock's first moment.
const Start = 1_760_000_000

// Clock is a clock that only moves when it is told to.
type Clock struct{ moved atomic.Int64 }

// NewClock begins at Start.
func NewClock() *Clock { return &Clock{} }

// Now is the clock's moment.
func (c *Clock) Now() time.Time { return time.Unix(Start, c.moved.Load()) }

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) { c.moved.Add(int64(d)) }

// Options of a World. Zero values give a fresh memory store, no faults and no hook.
type Options struct {
	Store     store.Store
	Clock     *Clock
	Faults    *settle.Faults
	AfterStep func(string)
	Pause     func(attempt int) time.Duration
	Lifetime  time.Duration
	Prices    quote.Prices
	Seed      uint64 // of quote ids
	OwnNodes  bool   // the network has no solver: its operations carry the Window paymaster
}

// World is one installation with one user at a time.
type World struct {
	TB           testing.TB
	Installation *devnet.Installation
	Book         *quotestore.Book
	Quoter       *quote.Quoter
	Settler      *settle.Settler
	Prices       quote.Prices
	Clock        *Clock
	User         *User                 // whose keys sign; a test may change it
	Assets       map[string]caip.Asset // "usdc/8453" → asset, EVM only
	SolanaAssets map[string]caip.Asset // "usdc" → asset
	Others       []*User               // more users whose balances count in Sums
	funded       int
	burned       map[uint64]burned
}

// New opens a world and resumes what its store holds.
func New(tb testing.TB, o Options) *World {
	tb.Helper()
	if o.Store == nil {
		o.Store = storetest.New(tb)
	}
	if o.Clock == nil {
		o.Clock = NewClock()
	}
	in, err := devnet.Open(o.Store, devnet.Options{
		Clock: o.Clock.Now, Seed: []byte("a seed of a test: thirty-two by."), Kind: network.Embedded,
	})
	Must(tb, err)
	if o.OwnNodes {
		in.Network = ownNodes(tb, in, uint64(o.Clock.Now().Unix()))
		if o.Prices == nil {
			o.Prices = unknown{}
		}
	}
	random := rand.NewChaCha8([32]byte{byte(o.Seed), 1, 2, 3})
	w := &World{TB: tb, Installation: in, Clock: o.Clock, Prices: o.Prices, Assets: map[string]caip.Asset{},
		SolanaAssets: map[string]caip.Asset{}, burned: map[uint64]burned{}}
	if w.Prices == nil {
		w.Prices, err = price.New(in.Catalog, []byte("prices of a test"))
		Must(tb, err)
	}
	w.Book, err = quotestore.Open(o.Store, quotestore.Options{Clock: o.Clock.Now, Random: random})
	Must(tb, err)
	w.Quoter = quote.New(quote.Deps{
		Network: in.Network, Operator: in.Operator, CoSigner: in.CoSigner, TamperProof: in.TamperProof,
		Book: w.Book, Prices: w.Prices, Clock: o.Clock.Now, Random: Locked(random),
		Lifetime: o.Lifetime,
	})
	w.Settler = settle.New(settle.Deps{
		Network: in.Network, Signers: in.Set, Book: w.Book, Prices: w.Prices, Clock: o.Clock.Now,
		ExplorerBase: "https://embedded.invalid/api",
		AfterStep:    o.AfterStep, Pause: o.Pause, Faults: o.Faults,
	})
	tb.Cleanup(func() { Must(tb, w.Settler.Close()) })
	for _, agg := range in.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			if id, evm := e.Asset.Chain.EVMID(); evm {
				w.Assets[fmt.Sprintf("%s/%d", agg.ID[3:], id)] = e.Asset
			} else if e.Asset.Chain.IsSolana() {
				w.SolanaAssets[string(agg.ID[3:])] = e.Asset
			}
		}
	}
	w.User = NewUser(in.Pins, 1)
	return w
}

// Locked lets several requests draw from one source.
func Locked(r io.Reader) io.Reader { return &lockedReader{r: r} }

type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// Must ends the test on an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Asset finds an asset by the words "usdc" and its chain.
func (w *World) Asset(symbol string, chainID uint64) caip.Asset {
	a, ok := w.Assets[fmt.Sprintf("%s/%d", symbol, chainID)]
	if chainID == Solana {
		a, ok = w.SolanaAssets[symbol]
	}
	if !ok {
		w.TB.Fatalf("no %s on %d", symbol, chainID)
	}
	return a
}

// Fund pays an account from the faucet.
func (w *World) Fund(to common.Address, a caip.Asset, v int64) { w.FundBig(to, a, big.NewInt(v)) }

// FundBig is Fund for large amounts.
func (w *World) FundBig(to common.Address, a caip.Asset, v *big.Int) {
	w.TB.Helper()
	tx := chain.Tx{From: w.Installation.Faucet, To: to, Value: v, Gas: 100_000}
	if token, is := a.Token(); is {
		tx.To, tx.Value, tx.Data = token, nil, erc20.Transfer(to, v)
	}
	id, _ := a.Chain.EVMID()
	w.seal(id, tx, chain.AllSucceed)
}

// seal puts a transaction into the next block of a chain.
func (w *World) seal(chainID uint64, tx chain.Tx, accept func([]chain.Receipt) error) {
	w.TB.Helper()
	_, err := w.Installation.Chains[chainID].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Txs: []chain.Tx{tx}, Accept: accept,
	})
	Must(w.TB, err)
}

// Balance reads a balance at the head.
func (w *World) Balance(of common.Address, a caip.Asset) *big.Int {
	w.TB.Helper()
	v, err := w.Installation.Balance(context.Background(), of, a)
	Must(w.TB, err)
	return v
}

// Sums adds up every asset over the holders that can hold any, by asset: on EVM chains the service, the escrow, the
// world's users and the given others; on Solana every account. To native coins the burned fees are added. All of them
// stay constant (protocol §5.3).
func (w *World) Sums(others ...common.Address) map[caip.Asset]*big.Int {
	w.TB.Helper()
	in := w.Installation
	holders := append([]common.Address{
		in.Operator.Address(), in.Pins.Solver, in.Faucet.Address(),
		in.Treasury.Address(),
		in.Pins.Escrow, w.User.Address,
	}, others...)
	for _, u := range w.Others {
		holders = append(holders, u.Address)
	}
	slices.SortFunc(holders, func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) })
	holders = slices.Compact(holders) // nobody counts twice
	out := map[caip.Asset]*big.Int{}
	for _, a := range w.Assets {
		sum := new(big.Int)
		for _, h := range holders {
			sum.Add(sum, w.Balance(h, a))
		}
		if id, _ := a.Chain.EVMID(); a.IsNative() {
			sum.Add(sum, w.Burned(id))
		}
		out[a] = sum
	}
	maps.Copy(out, w.solanaSums())
	return out
}

// burned is what a chain has burned up to and with a block.
type burned struct {
	block uint64
	sum   *big.Int
}

// Burned is the sum of all base fees of a chain.
func (w *World) Burned(chainID uint64) *big.Int {
	w.TB.Helper()
	so, known := w.burned[chainID]
	if !known {
		so.sum = new(big.Int)
	}
	for {
		b, found, err := w.Installation.Chains[chainID].Block(context.Background(), so.block+1)
		Must(w.TB, err)
		if !found {
			w.burned[chainID] = so
			return so.sum
		}
		so = burned{so.block + 1, new(big.Int).Add(so.sum,
			new(big.Int).Mul(b.BaseFee, new(big.Int).SetUint64(b.GasUsed)))}
	}
}

// SameSums compares two results of Sums.
func (w *World) SameSums(before, after map[caip.Asset]*big.Int) {
	w.TB.Helper()
	for a, v := range before {
		if after[a].Cmp(v) != 0 {
			w.TB.Errorf("%s: %s exist, %s existed", a, after[a], v)
		}
	}
}

// Nonce is the next sequence of the user's lane on a chain.
func (w *World) Nonce(chainID uint64, lane uint16) uint64 {
	w.TB.Helper()
	key := op.Nonce{Validator: w.User.Validator(w.Installation.Pins), Key: lane}.Key192()
	v, err := w.Installation.AccountNonce(context.Background(), chainID, w.User.Address, key)
	Must(w.TB, err)
	n, err := op.ParseNonce(v)
	Must(w.TB, err)
	return n.Sequence
}
