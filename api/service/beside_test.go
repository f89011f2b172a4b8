package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/quotestore"
)

// beside is a service at work while others send to its chains and read them.
type beside struct {
	t      *testing.T
	s      *service.Service
	list   []service.Node
	nodes  traffic.Nodes
	client *traffic.Client
	born   []*traffic.Person

	mu       sync.Mutex
	balances map[string]map[caip.Asset]*big.Int // account → what it must have
	quotes   map[string]string                  // what became of them
}

func newBeside(t *testing.T, s *service.Service, n *service.Nodes) *beside {
	b := &beside{t: t, s: s, list: n.List[:len(n.List)-1], nodes: traffic.Nodes{}, quotes: map[string]string{},
		balances: map[string]map[caip.Asset]*big.Int{}}
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(c.CloseIdleConnections)
	for _, e := range n.List {
		b.nodes[e.ID] = traffic.Endpoint{URL: e.HTTP, HTTP: c}
	}
	b.client = traffic.NewClient("https://coffer.internal/api", key, service.RoundTripper(s.Handler()))
	return b
}

// person makes somebody with test funds.
func (b *beside) person(kind string) (*traffic.Person, []traffic.Holding) {
	b.t.Helper()
	p, err := traffic.NewPerson(b.s.Network().Pins, kind, 5, len(b.born))
	if err != nil {
		b.t.Fatal(err)
	}
	have, err := p.Holdings(b.t.Context(), b.client, traffic.Paying, "ob:eth", "ob:sol")
	if err != nil {
		b.t.Fatal(err)
	}
	b.born = append(b.born, p)
	for _, h := range have {
		b.move(traffic.Move{Account: p.Name(h.Asset.Chain), Asset: h.Asset, Amount: h.Amount})
	}
	return p, have
}

// move changes what a balance must be.
func (b *beside) move(moves ...traffic.Move) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range moves {
		of := b.balances[m.Account]
		if of == nil {
			of = map[caip.Asset]*big.Int{}
			b.balances[m.Account] = of
		}
		if of[m.Asset] == nil {
			of[m.Asset] = new(big.Int)
		}
		of[m.Asset].Add(of[m.Asset], m.Amount)
	}
}

// pay makes one payment to somebody and waits for its end.
func (b *beside) pay(ctx context.Context, r traffic.Recipe, p *traffic.Person, dice *rand.Rand) error {
	have, err := p.Holdings(ctx, b.client, traffic.Paying)
	if err != nil {
		return err
	}
	offer, err := r.Offer(ctx, b.client, dice, p, have, b.born[dice.IntN(len(b.born))])
	if err == nil {
		err = b.client.Execute(ctx, offer)
	}
	if err != nil {
		return err
	}
	for {
		s, err := b.client.Status(ctx, offer.ID)
		if err != nil || s.Status == "" {
			return fmt.Errorf("quote %s: %+v, %w", offer.ID, s, err)
		}
		if !api.Terminal(s.Status) {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		b.mu.Lock()
		b.quotes[offer.ID] = s.Status
		b.mu.Unlock()
		if s.Status == api.StatusCompleted {
			b.move(offer.Effect.Moves...)
		}
		return nil
	}
}

// payers make so many payments each, with every kind of account.
func (b *beside) payers(ctx context.Context, all *errgroup.Group, each int, mayFail func(error) bool) {
	b.t.Helper()
	calls := traffic.Recipes()[:4] // their effect is known to the last unit
	var people []*traffic.Person
	for _, r := range calls {
		p, _ := b.person(r.Kind)
		people = append(people, p)
	}
	for i, r := range calls {
		p := people[i]
		dice := rand.New(rand.NewPCG(7, uint64(i)))
		all.Go(func() error {
			for range each {
				if err := b.pay(ctx, r, p, dice); err != nil && !mayFail(err) {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
			}
			return nil
		})
	}
}

// send lets outsiders send until done is closed.
func (b *beside) send(ctx context.Context, all *errgroup.Group, done <-chan struct{}, outsiders ...traffic.Outsider) {
	for i, o := range outsiders {
		dice := rand.New(rand.NewPCG(8, uint64(i)))
		all.Go(func() error {
			for over := false; !over || !o.Idle(); {
				moves, err := o.Step(ctx, b.nodes, b.born[dice.IntN(len(b.born))])
				if err != nil {
					return err
				}
				b.move(moves...)
				over = over || closed(done)
			}
			_, err := o.Recall(ctx, b.nodes, 0)
			return err
		})
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// read calls and traces on a chain until done is closed.
func (b *beside) read(ctx context.Context, all *errgroup.Group, done <-chan struct{}, chain uint64,
	mayFail func(error) bool) {
	b.t.Helper()
	e := b.nodes[chain]
	first := b.head(chain)
	all.Go(func() error {
		for from := ""; !closed(done); {
			var head hexutil.Uint64
			var block struct {
				Number       hexutil.Uint64
				Transactions []common.Hash
			}
			var word hexutil.Bytes
			var logs, trace json.RawMessage
			errs := []error{e.Call(ctx, &head, "eth_blockNumber"),
				e.Call(ctx, &block, "eth_getBlockByNumber", "latest", false),
				e.Call(ctx, &word, "eth_call", map[string]any{"to": b.s.Network().Pins.EntryPoint,
					"data": "0x70a08231" + strings.Repeat("0", 64)}, "latest")}
			if from != "" {
				errs = append(errs, e.Call(ctx, &logs, "eth_getLogs", map[string]any{"fromBlock": from}))
			}
			for _, h := range block.Transactions {
				if block.Number <= first {
					continue // the state before it is from before the endpoint
				}
				errs = append(errs, e.Call(ctx, &trace, "debug_traceTransaction", h,
					map[string]string{"tracer": "callTracer"}))
			}
			from = hexutil.EncodeUint64(uint64(head))
			time.Sleep(2 * time.Millisecond)
			if err := errors.Join(errs...); err != nil && !mayFail(err) {
				return err
			}
		}
		return nil
	})
}

// head asks for the number of the latest block.
func (b *beside) head(chain uint64) (n hexutil.Uint64) {
	b.t.Helper()
	if err := b.nodes[chain].Call(b.t.Context(), &n, "eth_blockNumber"); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// follow subscribes to the heads of a chain, each of which must be the child of the one before, or of another that was
// seen where the chain may be taken back. What it returns waits for the last one.
func (b *beside) follow(chain service.Node, back bool) (stop func()) {
	b.t.Helper()
	c, res, err := websocket.DefaultDialer.DialContext(b.t.Context(), chain.WebSocket, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = res.Body.Close()
	if err := c.WriteMessage(websocket.TextMessage, []byte(
		`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`)); err != nil {
		b.t.Fatal(err)
	}
	if _, _, err := c.ReadMessage(); err != nil {
		b.t.Fatal(err)
	}
	var last struct {
		sync.Mutex
		number hexutil.Uint64
	}
	last.number = b.head(chain.ID)
	known := map[common.Hash]bool{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var item struct {
				Params struct {
					Result struct {
						Number           hexutil.Uint64
						Hash, ParentHash common.Hash
					}
				}
			}
			if c.ReadJSON(&item) != nil {
				return
			}
			h := item.Params.Result
			if len(known) > 0 && !known[h.ParentHash] {
				b.t.Errorf("%s: block %d has a parent that was not shown", chain.Name, h.Number)
			}
			if !back {
				clear(known)
			}
			known[h.Hash], known[h.ParentHash] = true, back
			last.Lock()
			last.number = h.Number
			last.Unlock()
		}
	}()
	return func() {
		want, until := b.head(chain.ID), time.Now().Add(10*time.Second)
		for got := want + 1; got != want && !back; time.Sleep(2 * time.Millisecond) {
			last.Lock()
			got = last.number
			last.Unlock()
			if time.Now().After(until) {
				b.t.Errorf("%s: the last head shown is %d of %d", chain.Name, got, want)
				break
			}
		}
		_ = c.Close()
		<-ended
	}
}

// check compares every balance with what completed quotes and transactions of others make it, and executes every block
// anew.
func (b *beside) check() {
	b.t.Helper()
	for account, assets := range b.balances {
		for asset, want := range assets {
			if !common.IsHexAddress(account) {
				continue // the sums of Solana are compared below
			}
			if got := service.Held(b.t, b.s, common.HexToAddress(account), asset); got.Cmp(want) != 0 {
				b.t.Errorf("%s has %s of %s, expected %s", account, got, asset, want)
			}
		}
	}
	service.Replay(b.t, b.s)
}

func never(error) bool { return false }

// Settlement pays across chains while others send to the same chains, read, trace and follow them: every quote
// completes, every transaction is there once, and every balance is what both make it.
func TestQuotesAreSettledBesideOthersWhoSendAndRead(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	b := newBeside(t, s, n)
	strangers := b.outsiders()
	senders, ctx := errgroup.WithContext(t.Context())
	payers, _ := errgroup.WithContext(ctx)
	done := make(chan struct{})
	b.payers(ctx, payers, 2, never)
	b.send(ctx, senders, done, strangers...)
	var stops []func()
	for i, e := range b.list {
		stops = append(stops, b.follow(e, false))
		if i%3 == 0 || e.ID == 8453 {
			b.read(ctx, senders, done, e.ID, never)
		}
	}
	err := payers.Wait()
	close(done)
	if err = errors.Join(err, senders.Wait()); err != nil {
		t.Fatal(err)
	}
	for _, stop := range stops {
		stop()
	}
	for id, status := range b.quotes {
		if status != api.StatusCompleted {
			t.Errorf("quote %s is %s", id, status)
		}
	}
	if len(b.quotes) != 8 {
		t.Errorf("%d quotes", len(b.quotes))
	}
	b.check()
}

// outsiders are two strangers, a smart account of another library, and somebody on Solana.
func (b *beside) outsiders() (all []traffic.Outsider) {
	b.t.Helper()
	for _, kind := range []string{traffic.StrangerKind, traffic.StrangerKind} {
		o, err := traffic.NewStranger(b.person(kind))
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, o)
	}
	p, have := b.person(traffic.OperatorKind)
	o, err := traffic.NewOperator(p, have)
	if err != nil {
		b.t.Fatal(err)
	}
	delete(b.balances[p.Name(o.Coin().Chain)], o.Coin()) // its deposit belongs to it as well: Recall knows
	payer, err := traffic.NewPayer(b.person(traffic.PayerKind))
	if err != nil {
		b.t.Fatal(err)
	}
	return append(all, o, payer)
}

// On a development network one chain is taken back to snapshots again and again while quotes are settled and others
// send: every quote ends, the one chain has nothing of what was taken back, the others lose nothing, and in the end
// the service works as before.
func TestQuotesEndBesideReverts(t *testing.T) {
	s, n, _ := withDev(t)
	b := newBeside(t, s, n)
	senders, ctx := errgroup.WithContext(t.Context())
	payers, _ := errgroup.WithContext(ctx)
	done := make(chan struct{})
	outsiders := b.outsiders()
	taken := b.unusedBy(outsiders)
	var stops []func()
	for _, e := range b.list {
		stops = append(stops, b.follow(e, e == taken))
	}
	var answered *api.Error
	b.payers(ctx, payers, 2, func(err error) bool { // what was taken back is no longer as it was quoted
		return errors.As(err, &answered) && (answered.Name == api.ErrPrepareAgain ||
			answered.Name == api.ErrInsufficientBalance || answered.Name == api.ErrNoRoute)
	})
	b.send(ctx, senders, done, outsiders...)
	b.read(ctx, senders, done, taken.ID, func(err error) bool { // a block or a transaction that is gone meanwhile
		var r *traffic.Refusal
		return errors.As(err, &r)
	})
	senders.Go(func() error { return b.takeBack(ctx, done, taken.ID) })
	err := payers.Wait()
	close(done)
	if err = errors.Join(err, senders.Wait()); err != nil {
		t.Fatal(err)
	}
	for _, stop := range stops {
		stop()
	}
	for id := range b.quotes {
		q, err := b.client.Status(t.Context(), id)
		if err != nil || !api.Terminal(q.Status) ||
			q.Status == api.StatusFailed && q.FailReason != quotestore.ReasonReset {
			t.Errorf("quote %s: %+v, %v", id, q, err)
		}
	}
	if len(b.quotes) == 0 {
		t.Error("no quote ended")
	}
	clear(b.quotes)
	p, _ := b.person(api.AccountKernelV31)
	if err := b.pay(t.Context(), traffic.Recipes()[0], p, rand.New(rand.NewPCG(9, 9))); err != nil {
		t.Error(err)
	}
	for id, status := range b.quotes {
		if status != api.StatusCompleted {
			t.Errorf("after it quote %s is %s", id, status)
		}
	}
	service.Replay(t, s)
}

// unusedBy is a chain on which people hold USDC and no outsider sends.
func (b *beside) unusedBy(outsiders []traffic.Outsider) service.Node {
	b.t.Helper()
	used := map[uint64]bool{56: true} // people hold nothing there
	for _, o := range outsiders {
		used[o.Chain()] = true
	}
	for _, e := range append([]service.Node{b.list[4]}, b.list...) { // Base, where everybody holds some, if it can be
		if !used[e.ID] {
			return e
		}
	}
	b.t.Fatal("every chain is used")
	return service.Node{}
}

// takeBack sends on a chain as an account without a key, and takes that back, until done is closed.
func (b *beside) takeBack(ctx context.Context, done <-chan struct{}, chain uint64) error {
	e, who := b.nodes[chain], common.Address{0xaa, 1}
	var nothing any
	if err := errors.Join(e.Call(ctx, &nothing, "anvil_impersonateAccount", who),
		e.Call(ctx, &nothing, "anvil_setBalance", who, "0xde0b6b3a7640000")); err != nil {
		return err
	}
	for round := 0; round < 3 || !closed(done); round++ {
		var id string
		var hash common.Hash
		var back bool
		err := e.Call(ctx, &id, "evm_snapshot")
		for range 4 {
			err = errors.Join(err, e.Call(ctx, &hash, "eth_sendTransaction", map[string]any{"from": who, "to": who}))
			time.Sleep(5 * time.Millisecond)
		}
		var nonce hexutil.Uint64
		var receipt any
		err = errors.Join(err, e.Call(ctx, &back, "evm_revert", id),
			e.Call(ctx, &nonce, "eth_getTransactionCount", who, "latest"),
			e.Call(ctx, &receipt, "eth_getTransactionReceipt", hash))
		if err != nil {
			return err
		}
		if !back || nonce != 0 || receipt != nil {
			return fmt.Errorf("after a revert (%t) the nonce is %d, and the transaction has %v", back, nonce, receipt)
		}
	}
	return nil
}
