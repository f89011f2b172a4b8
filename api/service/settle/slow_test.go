package settle_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// What befalls a step on a chain that belongs to others, in this order, each durable before the next. Only what is
// final is ever told to who sent the step.
const (
	intended    = "intended" // signed, and committed with the record that says so; no byte went out
	sent        = "sent"
	replaced    = "replaced" // by bytes of another hash, because the first were not mined
	mined       = "mined"
	reorganised = "reorganised" // what was mined is gone, and waits again
	minedAgain  = "mined again"
	final       = "final"
)

func fates() []string {
	return []string{intended, sent, replaced, mined, reorganised, minedAgain, final}
}

// row is what an outbox keeps of a step, in the store of the records.
type row[T, R any] struct {
	Fate     string
	Txs      []T
	From     []common.Address // whose signatures the transactions have
	First    string           // hash of the bytes that went out first
	Receipts []R
}

// slowPort is one to a chain where nothing is final at once. try seals, or only tries when accept fails.
type slowPort[T, R any] struct {
	store   store.Store
	try     func(ctx context.Context, txs []T, accept func([]R) error, record func(store.Tx, []R) error) error
	hash    func(R) string
	pack    func(T) (T, common.Address)
	unpack  func(T, common.Address) T
	bid     func(T) T // the same with other fees, and so another hash
	failed  func() R  // of a transaction that lost its place
	between func(id, fate string)
}

const slowBucket = "slow chains"

var errTrial = errors.New("it would do")

func (p *slowPort[T, R]) Send(ctx context.Context, s outbox.Step[T, R]) (bool, error) {
	r := row[T, R]{Fate: intended}
	err := p.try(ctx, s.Txs, func(rs []R) error {
		r.First = p.hash(rs[0])
		if err := s.Check(rs); err != nil {
			return err
		}
		if s.Gate != nil {
			return cmp.Or(s.Gate(), errTrial)
		}
		return errTrial
	}, nil)
	if !errors.Is(err, errTrial) {
		return false, err
	}
	for _, t := range s.Txs {
		packed, from := p.pack(t)
		r.Txs, r.From = append(r.Txs, packed), append(r.From, from)
	}
	err = p.store.Update(func(tx store.Tx) error { return errors.Join(s.Sent(tx), p.put(tx, s.ID, r)) })
	p.told(s.ID, intended, err)
	return false, err
}

func (p *slowPort[T, R]) told(id, fate string, err error) {
	if err == nil && p.between != nil {
		p.between(id, fate)
	}
}

func (p *slowPort[T, R]) put(tx store.Tx, id string, r row[T, R]) error {
	raw, err := json.Marshal(r)
	return errors.Join(err, tx.Bucket(slowBucket).Put([]byte(id), raw))
}

func (p *slowPort[T, R]) Result(ctx context.Context, id string) ([]R, error) {
	for {
		var r row[T, R]
		err := p.store.View(func(tx store.Tx) error {
			return json.Unmarshal(tx.Bucket(slowBucket).Get([]byte(id)), &r)
		})
		if err = errors.Join(err, ctx.Err()); err != nil || r.Fate == final {
			return r.Receipts, err
		}
		r.Fate = fates()[slices.Index(fates(), r.Fate)+1]
		var txs []T
		for i, t := range r.Txs {
			if r.Fate == replaced {
				r.Txs[i] = p.bid(t)
			}
			txs = append(txs, p.unpack(r.Txs[i], r.From[i]))
		}
		keep := func(tx store.Tx, rs []R) error {
			r.Receipts = rs
			return p.put(tx, id, r)
		}
		if r.Fate == final { // also what failed by now is in a block
			err = p.try(ctx, txs, func([]R) error { return nil }, keep)
		}
		if r.Fate != final || excluded(err) {
			err = p.store.Update(func(tx store.Tx) error {
				return keep(tx, slices.Repeat([]R{p.failed()}, len(txs)))
			})
		}
		if err != nil {
			return nil, err
		}
		p.told(id, r.Fate, nil)
	}
}

func excluded(err error) bool {
	_, evm := errors.AsType[*chain.TxError](err)
	_, sol := errors.AsType[*solana.TxError](err)
	return evm || sol
}

// slowPorts makes every chain of a world slow.
func slowPorts(w *World, between func(id, fate string)) outbox.Ports {
	in, now := w.Installation, func() uint64 { return uint64(w.Clock.Now().Unix()) }
	keys := map[common.Address]signers.EVM{in.Operator.Address(): in.Operator}
	evm := map[uint64]outbox.EVM{}
	ports := outbox.Ports{EVM: func(id uint64) outbox.EVM { return evm[id] }}
	ports.Solana = &slowPort[solana.Tx, solana.Receipt]{
		store: in.Store, between: between,
		try: func(ctx context.Context, txs []solana.Tx, accept func([]solana.Receipt) error,
			record func(store.Tx, []solana.Receipt) error) error {
			_, err := in.Solana.Seal(ctx, solana.SealRequest{Time: now(), Txs: txs, Accept: accept, Record: record})
			return err
		},
		hash:   func(r solana.Receipt) string { return r.Signature },
		pack:   func(t solana.Tx) (solana.Tx, common.Address) { return t, common.Address{} },
		unpack: func(t solana.Tx, _ common.Address) solana.Tx { return t },
		bid:    func(t solana.Tx) solana.Tx { return t },
		failed: func() solana.Receipt { return solana.Receipt{Error: "its block hash is too old"} },
	}
	for id, c := range in.Chains {
		evm[id] = &slowPort[chain.Tx, chain.Receipt]{
			store: in.Store, between: between,
			try: func(ctx context.Context, txs []chain.Tx, accept func([]chain.Receipt) error,
				record func(store.Tx, []chain.Receipt) error) error {
				_, err := c.Seal(ctx, chain.SealRequest{Time: now(), Txs: txs, Accept: accept,
					Record: func(tx store.Tx, b chain.Block) error { return record(tx, b.Receipts) }})
				return err
			},
			hash: func(r chain.Receipt) string { return r.TxHash.Hex() },
			pack: func(t chain.Tx) (chain.Tx, common.Address) {
				from := t.From.Address()
				t.From = nil
				return t, from
			},
			unpack: func(t chain.Tx, from common.Address) chain.Tx {
				t.From = keys[from]
				return t
			},
			bid: func(t chain.Tx) chain.Tx {
				t.Gas = cmp.Or(t.Gas, 16_000_000) - 1
				return t
			},
			failed: func() chain.Receipt { return chain.Receipt{} },
		}
	}
	return ports
}

// slowly settles a story on slow chains, from a store on which it may have begun.
func (y story) slowly(t *testing.T, s store.Store, between func(id, fate string)) *World {
	w := y.open(t, s, nil)
	Must(t, w.Settler.Close())
	in := w.Installation
	in.Outbox = slowPorts(w, between)
	w.Settler = settle.New(settle.Deps{Network: in.Network, Signers: in.Set, Book: w.Book, Prices: w.Prices,
		Clock: w.Clock.Now, Pause: hourly, Faults: faultsFrom(t, y.faults...),
		ExplorerBase: "https://embedded.invalid/api"})
	t.Cleanup(func() { Must(t, w.Settler.Close()) })
	return w
}

// sameMoney compares the record and everybody's balances with those of another world; hashes may differ.
func (y story) sameMoney(t *testing.T, w, clean *World) {
	t.Helper()
	for _, of := range []func(*World) common.Address{
		func(w *World) common.Address { return w.User.Address }, solverOf,
		func(*World) common.Address { return payee() },
	} {
		sameBalances(t, balances(clean, of(clean)), balances(w, of(w)))
	}
	for _, k := range []solmsg.Key{w.User.Wallet, w.Vault(), w.Installation.Sponsor.Key(),
		w.Installation.SolanaSolver.Key()} {
		for _, a := range w.SolanaAssets {
			if x, y := w.SolanaBalance(k, a), clean.SolanaBalance(k, a); x.Cmp(y) != 0 {
				t.Errorf("%s holds %s of %s, expected %s", k, x, a, y)
			}
		}
	}
	if x, y := w.Installation.Ledger.Transactions(), clean.Installation.Ledger.Transactions(); x != y {
		t.Errorf("Solana has %d transactions, expected %d: a step happened twice or never", x, y)
	}
	for _, id := range w.Installation.ChainIDs {
		for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
			if x, y := w.Nonce(id, lane), clean.Nonce(id, lane); x != y {
				t.Errorf("nonce of lane %d on %d is %d, expected %d", lane, id, x, y)
			}
		}
		x, y := w.Installation.Chains[id].Head(), clean.Installation.Chains[id].Head()
		if x.Number != y.Number {
			t.Errorf("%d ends with block %d, expected %d: a step happened twice or never", id, x.Number, y.Number)
		}
	}
	nothingHeld(t, w)
	got, want := record(w, onlyRecord(t, w, y.status)), record(clean, onlyRecord(t, clean, y.status))
	if x, y := outline(got), outline(want); x != y {
		t.Errorf("record\n%s\nexpected\n%s", x, y)
	}
	erased(t, w, got.ID)
	supplies(t, w)
}

// outline is what a record says, without the hashes.
func outline(q *quotestore.Quote) string {
	out := fmt.Sprintln(q.Status, q.FailReason, q.Sent)
	for _, l := range q.Legs {
		out += fmt.Sprintln(l.Chain(), l.State, l.Deposit == common.Hash{}, l.DepositTx == "",
			l.Settled == common.Hash{})
	}
	for _, r := range slices.Concat(q.Origin, q.Destination) {
		out += fmt.Sprintln(r.Chain())
	}
	for _, f := range q.Fills {
		out += fmt.Sprintln(f.Delivers)
	}
	return out
}

// A chain that mines later, replaces and reorganises ends in the records, balances and nonces of one that is final at
// once, and the record names the transactions that are final.
func TestOnASlowChainASettlementEndsInTheSameRecord(t *testing.T) {
	t.Parallel()
	for _, y := range stories() {
		t.Run(y.name, func(t *testing.T) {
			clean := y.tell(t, storetest.New(t), nil)
			seen := map[string]int{}
			w := y.slowly(t, storetest.New(t), func(_, fate string) { seen[fate]++ })
			stock(w, w.User)
			if s := w.Settle(w.SignQuote(y.ask(w))); s.Status != y.status {
				t.Fatalf("ended with %+v", s)
			}
			for _, fate := range fates() {
				if seen[fate] == 0 && y.status != api.StatusFailed {
					t.Errorf("no step was %s", fate)
				}
			}
			y.sameMoney(t, w, clean)
			q := record(w, onlyRecord(t, w, y.status))
			first := firstHashes(t, w)
			for _, r := range slices.Concat(q.Origin, q.Destination) {
				if r.ChainID == 0 {
					continue
				}
				if got, found, err := w.Installation.Chains[r.ChainID].Receipt(t.Context(), r.Hash); err != nil ||
					!found || !got.Success || first[r.ID()] {
					t.Errorf("%s on %s is no final transaction that succeeded (%v)", r.ID(), r.Chain(), err)
				}
			}
		})
	}
}

// firstHashes are those of the bytes that went out first; on EVM chains others took their places.
func firstHashes(t *testing.T, w *World) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	Must(t, w.Installation.Store.View(func(tx store.Tx) error {
		tx.Bucket(slowBucket).Ascend(nil, func(_, v []byte) bool {
			var r struct{ First string }
			Must(t, json.Unmarshal(v, &r))
			out[r.First] = true
			return true
		})
		return nil
	}))
	return out
}

// A delivery that is final is COMPLETED: nobody waits for a release to be final, and no refund is told before it is.
func TestOnASlowChainADeliveryIsCompletedWhileItsReleaseIsUnderWay(t *testing.T) {
	t.Parallel()
	for _, y := range stories() {
		var w *World
		w = y.slowly(t, storetest.New(t), func(step, fate string) {
			id, name, _ := strings.Cut(step, " ")
			got := w.Status(id).Status
			if ended := strings.HasPrefix(name, "release"); fate == intended && ended != (got == api.StatusCompleted) {
				t.Errorf("%s: %s when the %s went out", y.name, got, name)
			}
		})
		stock(w, w.User)
		if s := w.Settle(w.SignQuote(y.ask(w))); s.Status != y.status {
			t.Errorf("ended with %+v", s)
		}
	}
}

// thief is a port whose final receipts of a target show no deposit, as if the account had run other code than in the
// trial.
type thief struct{ outbox.EVM }

func (p thief) Result(ctx context.Context, id string) ([]chain.Receipt, error) {
	rs, err := p.EVM.Result(ctx, id)
	for i := range rs {
		if strings.HasSuffix(id, " target") {
			rs[i].Logs = nil
		}
	}
	return rs, err
}

// away is a port whose chain takes no target.
type away struct {
	outbox.EVM
	meanwhile func()
}

func (p away) Send(ctx context.Context, st outbox.EVMStep) (bool, error) {
	if strings.HasSuffix(st.ID, " target") {
		p.meanwhile()
		return false, errDisk
	}
	return p.EVM.Send(ctx, st)
}

// What came of a deposit is committed with what is sent after it. When nothing can be, everybody still sees it, also
// when an epoch began meanwhile.
func TestADepositIsInTheRecordWhenNothingCanFollow(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(tx store.Tx) error{
		"": func(store.Tx) error { return nil },
		"in a new epoch": func(tx store.Tx) error {
			return quotestore.BeginEpoch(tx, time.Now(), "a backup was restored")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := story{kind: api.AccountKernelV31}.slowly(t, storetest.New(t), nil)
			ports := w.Installation.Outbox.EVM
			w.Installation.Outbox.EVM = func(id uint64) outbox.EVM {
				return away{ports(id), func() { Must(t, w.Installation.Store.Update(meanwhile)) }}
			}
			signed := w.SignQuote(w.Quote(crossChain(w), ""))
			Must(t, w.Execute(signed))
			if err := w.Settler.Idle(t.Context()); !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			q := record(w, w.Decode(signed).ID)
			if q.Status != api.StatusInProgress || q.Sent != "" || len(q.Origin) == 0 {
				t.Errorf("%s, %q, %v", q.Status, q.Sent, q.Origin)
			}
			for _, l := range q.Legs {
				if want := l.ChainID != q.ChainID; (l.State == quotestore.LegDeposited) != want {
					t.Errorf("%s is %q", l.Chain(), l.State)
				}
			}
		})
	}
}

// What is delivered cannot be taken back: the other deposits are the solver's, whatever became of the one beside it.
func TestADeliveryThatWentOutIsNoRefundWhenItsDepositIsMissing(t *testing.T) {
	for _, elsewhere := range []int64{0, 50} {
		w := story{kind: api.AccountKernelV31}.slowly(t, storetest.New(t), nil)
		ports := w.Installation.Outbox.EVM
		w.Installation.Outbox.EVM = func(id uint64) outbox.EVM { return thief{ports(id)} }
		w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 30*usdcPlain)
		need, want := int64(20), map[uint64]quotestore.LegState{Arbitrum: quotestore.LegWaiting}
		if elsewhere > 0 {
			w.Fund(w.User.Address, w.Asset("usdt", Polygon), elsewhere*usdcPlain)
			need, want[Polygon] = 60, quotestore.LegReleased
		}
		signed := w.SignQuote(w.Quote(pay(w, Arbitrum, need*usdcPlain), "ob:usdt"))
		if s := w.Settle(signed); s.Status != api.StatusCompleted {
			t.Fatalf("status %+v", s)
		}
		if got := legStates(w, w.Decode(signed).ID); !maps.Equal(got, want) {
			t.Errorf("%v, expected %v", got, want)
		}
		wantBalance(t, w, payee(), w.Asset("usdc", Arbitrum), bigOf(need*usdcPlain))
	}
}

// cut fails every Update after some have succeeded, as if the process had ended.
type cut struct {
	store.Store
	left atomic.Int64
}

func (c *cut) Update(fn func(store.Tx) error) error {
	if c.left.Add(-1) < 0 {
		return errDisk
	}
	return c.Store.Update(fn)
}

func TestCutOffAfterAnyCommitASettlementOnSlowChainsEndsTheSameWay(t *testing.T) {
	t.Parallel()
	for number, y := range stories() {
		clean := y.tell(t, storetest.New(t), nil)
		step := int64(stride(5))
		for n, ended := 1+int64(number)%step, false; !ended; n += step {
			kept := &cut{Store: storetest.New(t)}
			kept.left.Store(1 << 40)
			w := y.slowly(t, kept, nil)
			stock(w, w.User)
			signed := w.SignQuote(y.ask(w))
			kept.left.Store(n) // the first is the acceptance
			Must(t, w.Execute(signed))
			err := w.Settler.Idle(t.Context())
			if ended = err == nil; !ended && !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			Must(t, w.Settler.Close())
			kept.left.Store(1 << 40)
			w = y.slowly(t, kept, nil)
			Must(t, w.Settler.Resume(t.Context()))
			Must(t, w.Settler.Idle(t.Context()))
			y.sameMoney(t, w, clean)
			if t.Failed() {
				t.Fatalf("%s, cut off after %d commits", y.name, n)
			}
		}
	}
}

// A fill that went out is waited for, however late it is by the service's clock: a refund beside it would be the
// operator's loss.
func TestAFillThatWentOutIsNotRefundedWhenItsTimeIsOver(t *testing.T) {
	y, kept := stories()[0], &cut{Store: storetest.New(t)}
	kept.left.Store(1 << 40)
	w := y.slowly(t, kept, func(id, fate string) {
		if fate == final && strings.HasSuffix(id, " target") {
			kept.left.Store(0)
		}
	})
	stock(w, w.User)
	Must(t, w.Execute(w.SignQuote(y.ask(w))))
	if err := w.Settler.Idle(t.Context()); !errors.Is(err, errDisk) {
		t.Fatalf("idle told %v", err)
	}
	kept.left.Store(1 << 40)
	w.Clock.Advance(time.Hour)
	Must(t, w.Settler.Resume(t.Context()))
	Must(t, w.Settler.Idle(t.Context()))
	if s := w.Status(onlyRecord(t, w, y.status)); s.Status != api.StatusCompleted {
		t.Errorf("status %+v", s)
	}
	nothingHeld(t, w)
}

// What would have succeeded when it was sent, and fails when it is mined, is in a block for ever. The quote turns back
// all the same.
func TestWhatFailsOnASlowChainAfterItWentOutIsRefunded(t *testing.T) {
	var w *World
	w = story{kind: api.AccountKernelV31}.slowly(t, storetest.New(t), func(id, fate string) {
		if fate == mined && strings.HasSuffix(id, " target") { // what the calls count on leaves the account
			token, _ := w.Asset("usdc", Base).Token()
			w.RunDirect(Base, 7, false, op.Call{To: token, Value: zero(), Data: transferData(payee(),
				bigOf(20*usdcPlain))})
		}
	})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 30*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: zero()})
	signed := w.SignQuote(w.Quote(pay(w, Base, 100*usdcPlain), ""))
	sums, solver := w.Sums(payee()), w.Balance(solverOf(w), w.Asset("usdc", Base))
	if s := w.Settle(signed); s.Status != api.StatusRefunded || s.FailReason != "EXECUTION_REVERTED" {
		t.Fatalf("status %+v", s)
	}
	head := w.Installation.Chains[Base].Head().Number
	b, _, err := w.Installation.Chains[Base].Block(t.Context(), head)
	if err != nil || len(b.Receipts) != 1 || b.Receipts[0].Success {
		t.Errorf("the last block on Base has no failed fill: %d receipts, %v", len(b.Receipts), err)
	}
	wantBalance(t, w, w.User.Address, w.Asset("usdc", Arbitrum), bigOf(120*usdcPlain))
	wantBalance(t, w, solverOf(w), w.Asset("usdc", Base), solver)
	nothingHeld(t, w)
	w.SameSums(sums, w.Sums(payee()))
}
