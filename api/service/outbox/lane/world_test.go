package lane

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/outbox"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

const (
	chainID = 8453
	gwei    = 1_000_000_000
	depth   = 3
)

var errFault = errors.New("a fault")

// world is a model of a chain of others: a mempool that takes a tenth more for a replacement, blocks that may be
// reorganised, and nodes that fail, forget and lag. A transaction does what its data says, each time that it is mined;
// data that begins with "fail" reverts.
type world struct {
	mu      sync.Mutex
	blocks  []*block
	pool    map[common.Address]map[uint64]*types.Transaction
	base    *big.Int
	tip     *big.Int // that its nodes suggest
	balance *big.Int
	forks   int
	seen    map[common.Hash]bool // every transaction that a node ever took

	faulty func(method string) error // before a call is answered
	// lose decides what becomes of a send: taken, and answered.
	lose  func() (taken, answered bool)
	stale func() bool // a node that lacks the newest block answers
}

type block struct {
	number uint64
	hash   common.Hash
	time   uint64
	base   *big.Int
	txs    types.Transactions
}

func newWorld() *world {
	w := &world{pool: map[common.Address]map[uint64]*types.Transaction{}, base: big.NewInt(gwei),
		tip:     big.NewInt(gwei / 10),
		balance: new(big.Int).Lsh(big.NewInt(1), 80), seen: map[common.Hash]bool{}}
	w.blocks = []*block{{hash: common.Hash{1}, base: w.base}}
	return w
}

func (w *world) head() *block { return w.blocks[len(w.blocks)-1] }

func nonceIn(blocks []*block, at common.Address) (n uint64) {
	for _, b := range blocks {
		for _, t := range b.txs {
			if sender(t) == at {
				n++
			}
		}
	}
	return n
}

var senders sync.Map // by hash: to recover one takes long

func sender(t *types.Transaction) common.Address {
	if at, known := senders.Load(t.Hash()); known {
		return at.(common.Address)
	}
	at, err := types.Sender(types.LatestSignerForChainID(t.ChainId()), t)
	if err != nil {
		panic(err)
	}
	senders.Store(t.Hash(), at)
	return at
}

// mine makes a block of what the mempool has and pays enough for.
func (w *world) mine(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		w.forks++
		parent := w.head()
		b := &block{number: parent.number + 1, time: parent.time + 12, base: new(big.Int).Set(w.base)}
		b.hash = crypto.Keccak256Hash(parent.hash[:], binary.BigEndian.AppendUint64(nil, uint64(w.forks)))
		for at, of := range w.pool {
			for nonce := nonceIn(w.blocks, at); of[nonce] != nil && of[nonce].GasFeeCap().Cmp(w.base) >= 0; nonce++ {
				b.txs = append(b.txs, of[nonce])
				delete(of, nonce)
			}
		}
		w.blocks = append(w.blocks, b)
	}
}

// reorganise throws blocks away; what was in them goes back to the mempool if back says so. As many blocks and one more
// take their place.
func (w *world) reorganise(blocks int, back func() bool) {
	w.mu.Lock()
	blocks = min(blocks, len(w.blocks)-1)
	at := len(w.blocks) - blocks
	gone := w.blocks[at:]
	w.blocks = w.blocks[:at:at]
	for _, b := range gone {
		for _, t := range b.txs {
			if of := w.pool[sender(t)]; back() && of[t.Nonce()] == nil {
				of[t.Nonce()] = t
			}
		}
	}
	w.mu.Unlock()
	w.mine(blocks + 1)
}

func (w *world) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.pool {
		clear(of)
	}
}

// effects are how often each data was mined with success.
func (w *world) effects() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]int{}
	for _, b := range w.blocks {
		for _, t := range b.txs {
			if s := string(t.Data()); s != "" && !strings.HasPrefix(s, "fail") {
				out[s]++
			}
		}
	}
	return out
}

func (w *world) nonces(at common.Address) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return nonceIn(w.blocks, at)
}

func (w *world) waiting(at common.Address, nonce uint64) *types.Transaction {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pool[at][nonce]
}

// Broadcast implements Pool.
func (w *world) Broadcast(_ context.Context, raw []byte) (common.Hash, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := new(types.Transaction)
	if err := t.UnmarshalBinary(raw); err != nil {
		return common.Hash{}, err
	}
	taken, answered := true, true
	if w.lose != nil {
		taken, answered = w.lose()
	}
	if taken {
		if err := w.take(t); err != nil {
			return common.Hash{}, err
		}
	}
	if !answered {
		return common.Hash{}, errFault
	}
	return t.Hash(), nil
}

func (w *world) take(t *types.Transaction) error {
	at := sender(t)
	if t.Nonce() < nonceIn(w.blocks, at) {
		return &rpcpool.Error{Code: -32000, Message: "nonce too low"}
	}
	if w.pool[at] == nil {
		w.pool[at] = map[uint64]*types.Transaction{}
	}
	if old := w.pool[at][t.Nonce()]; old != nil && old.Hash() != t.Hash() {
		tenth := func(now, before *big.Int) bool {
			return new(big.Int).Mul(now, big.NewInt(10)).Cmp(new(big.Int).Mul(before, big.NewInt(11))) >= 0 &&
				now.Cmp(before) > 0
		}
		if !tenth(t.GasFeeCap(), old.GasFeeCap()) || !tenth(t.GasTipCap(), old.GasTipCap()) {
			return &rpcpool.Error{Code: -32000, Message: "replacement transaction underpriced"}
		}
	}
	w.pool[at][t.Nonce()] = t
	w.seen[t.Hash()] = true
	return nil
}

// Call implements Pool.
func (w *world) Call(_ context.Context, result any, method string, params ...any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faulty != nil {
		if err := w.faulty(method); err != nil {
			return err
		}
	}
	blocks := w.blocks
	if w.stale != nil && len(blocks) > 1 && w.stale() {
		blocks = blocks[:len(blocks)-1]
	}
	return w.answer(blocks, result, method, params)
}

// Agreed implements Pool.
func (w *world) Agreed(_ context.Context, result any, method string, params ...any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faulty != nil {
		if err := w.faulty(method); err != nil {
			return err
		}
	}
	return w.answer(w.blocks, result, method, params)
}

// AgreedBlock implements Pool.
func (w *world) AgreedBlock(ctx context.Context, result any, tag string) error {
	return w.Agreed(ctx, result, "eth_getBlockByNumber", tag, false)
}

func (w *world) answer(blocks []*block, result any, method string, params []any) error {
	head := blocks[len(blocks)-1]
	at := func(p any) []*block {
		switch p {
		case "latest", "pending":
			return blocks
		case "finalized":
			return blocks[:max(1, len(blocks)-depth)]
		}
		return blocks[:min(uint64(p.(hexutil.Uint64))+1, uint64(len(blocks)))]
	}
	var out any
	switch method {
	case "eth_getTransactionCount":
		n := nonceIn(at(params[1]), params[0].(common.Address))
		if params[1] == "pending" {
			for w.pool[params[0].(common.Address)][n] != nil {
				n++
			}
		}
		out = hexutil.Uint64(n)
	case "eth_getBalance":
		out = (*hexutil.Big)(w.balance)
	case "eth_maxPriorityFeePerGas":
		out = (*hexutil.Big)(w.tip)
	case "eth_feeHistory":
		out = map[string]any{"oldestBlock": hexutil.Uint64(head.number),
			"baseFeePerGas": []*hexutil.Big{(*hexutil.Big)(head.base), (*hexutil.Big)(w.base)},
			"reward":        [][]*hexutil.Big{{(*hexutil.Big)(big.NewInt(gwei / 20))}}}
	case "eth_estimateGas":
		out = hexutil.Uint64(21_000 + 100*len(params[0].(map[string]any)["data"].(hexutil.Bytes)))
	case "eth_getBlockByNumber":
		if n, ok := params[0].(hexutil.Uint64); !ok || uint64(n) <= head.number {
			some := at(params[0])
			b := some[len(some)-1]
			out = map[string]any{"number": hexutil.Uint64(b.number), "hash": b.hash,
				"timestamp": hexutil.Uint64(b.time)}
		}
	case "eth_getTransactionReceipt":
		for _, b := range blocks {
			for i, t := range b.txs {
				if t.Hash() == params[0].(common.Hash) {
					status := 1
					if bytes.HasPrefix(t.Data(), []byte("fail")) {
						status = 0
					}
					out = map[string]any{"transactionHash": t.Hash(), "blockNumber": hexutil.Uint64(b.number),
						"blockHash": b.hash, "transactionIndex": hexutil.Uint64(i), "status": hexutil.Uint64(status),
						"gasUsed": hexutil.Uint64(21_000), "logs": []any{map[string]any{"address": t.To(),
							"topics": []common.Hash{}, "data": hexutil.Bytes(t.Data())}}}
				}
			}
		}
	default:
		return fmt.Errorf("the method %s does not exist", method)
	}
	raw, err := json.Marshal(out)
	return errors.Join(err, json.Unmarshal(raw, result))
}

// trial is a view in which every call does what its data says.
type trial struct{ chain.State }

func (trial) Header() chain.Header { return chain.Header{} }
func (trial) Err() error           { return nil }
func (trial) Close()               {}
func (trial) Call(m chain.Message) chain.Result {
	if strings.HasPrefix(string(m.Data), "fail now") {
		return chain.Result{Err: chain.ErrReverted, Return: []byte{1}}
	}
	if string(m.Data) == "precompiled" {
		return chain.Result{Err: chain.ErrUnchecked}
	}
	return chain.Result{GasUsed: 21_000, Logs: []chain.Log{{Address: m.To, Data: m.Data}}}
}

// brittle is a store whose commits fail: before them, or after them as if their answer were lost.
type brittle struct {
	store.Store
	fail func() (before, after bool)
}

func (b *brittle) Update(fn func(store.Tx) error) error {
	var before, after bool
	if b.fail != nil {
		before, after = b.fail()
	}
	if before {
		return fmt.Errorf("%w: before", store.ErrNotWritten)
	}
	err := b.Store.Update(fn)
	if err == nil && after {
		return fmt.Errorf("%w: after", store.ErrNotWritten)
	}
	return err
}

// clock is what a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// lab is a world with the lanes of one process after another, which may share the store with others (replica).
type lab struct {
	t     *testing.T
	w     *world
	kept  *brittle
	clock *clock
	log   bytes.Buffer
	key   signers.EVM
	check func(context.Context, chain.Message) error
	l     *Lane

	behind func(tx store.Tx, why string) error
	db     *storetest.Database // that several processes share, nil for none
	at     *replica
	via    *route
}

func newLab(t *testing.T) *lab {
	b := &lab{t: t, w: newWorld(), kept: &brittle{Store: store.NewMemory()}, key: local(0),
		clock: &clock{now: time.Unix(1_790_000_000, 0)}}
	b.start()
	return b
}

// start is a process that begins; the one before it is gone.
func (b *lab) start() {
	b.t.Helper()
	if b.l != nil {
		b.l.stop()
	}
	if b.db != nil {
		b.join()
	}
	l, err := open(b.options())
	if err != nil {
		b.t.Fatal(err)
	}
	b.l = l
}

func (b *lab) options() Options {
	o := Options{Store: b.kept, Pool: b.w, ChainID: chainID, Behind: b.behind,
		Final:   networks.Finality{Counted: true, Blocks: depth},
		FeeCap:  big.NewInt(90 * gwei),
		State:   func(context.Context, uint64) (chain.State, error) { return trial{}, nil },
		Signers: []signers.EVM{b.key}, Clock: b.clock.time,
		Check: func(ctx context.Context, m chain.Message) error {
			if b.check != nil {
				return b.check(ctx, m)
			}
			return nil
		},
		Log: slog.New(slog.NewTextHandler(&b.log, nil)), Patience: 30 * time.Second, Resend: 10 * time.Second}
	if b.at != nil {
		o.Store, o.Pool = b.at, b.via
	}
	return o
}

var target = common.HexToAddress("0x7000")

const callers = "records of the caller"

// step is one whose record is written with it.
func (b *lab) step(id string) outbox.EVMStep {
	return outbox.EVMStep{ID: id, Time: uint64(b.clock.time().Unix()),
		Txs:   []chain.Tx{{From: b.key, To: target, Data: []byte(id)}},
		Check: chain.AllSucceed,
		Sent:  func(tx store.Tx) error { return tx.Bucket(callers).Put([]byte(id), []byte{1}) },
		Final: func([]chain.Receipt) outbox.Change { b.t.Error("a lane called Final"); return nil }}
}

// once is a step of a caller that compares its record.
func (b *lab) once(id string) outbox.EVMStep {
	s := b.step(id)
	write := s.Sent
	s.Sent = func(tx store.Tx) error {
		if tx.Bucket(callers).Get([]byte(id)) != nil {
			return errors.New("it was sent already")
		}
		return write(tx)
	}
	return s
}

// recorded reports whether the caller's record says that a step was sent.
func (b *lab) recorded(id string) (yes bool) {
	b.ok(b.kept.View(func(tx store.Tx) error {
		yes = tx.Bucket(callers).Get([]byte(id)) != nil
		return nil
	}))
	return yes
}

func (b *lab) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *lab) send(s outbox.EVMStep) {
	b.t.Helper()
	if final, err := b.l.Send(b.t.Context(), s); final || err != nil {
		b.t.Fatalf("final %t, %v", final, err)
	}
}

// turn is what the keeper does on a tick.
func (b *lab) turn() {
	b.t.Helper()
	b.ok(b.l.look(b.t.Context()))
	b.ok(b.l.push(b.t.Context()))
}

// result is that of a step, or nil while it is open.
func (b *lab) result(id string) *chain.Receipt {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	rs, err := b.l.Result(ctx, id)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil || len(rs) != 1 {
		b.t.Fatalf("result of %s: %v, %v", id, rs, err)
	}
	return &rs[0]
}

func (b *lab) stored(id string) (s *step) {
	b.t.Helper()
	b.ok(b.kept.View(func(tx store.Tx) (err error) {
		s, err = b.l.in(tx).byID(id)
		return err
	}))
	return s
}

func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func secret(n int) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte(fmt.Sprint("lane ", n))))
	if err != nil {
		panic(err)
	}
	return key
}

func local(n int) signers.EVM { return signers.Local(secret(n)) }

func delegator() common.Address { return local(9).Address() }

// delegation is of an account that is no lane's.
func delegation(t *testing.T) types.SetCodeAuthorization {
	t.Helper()
	a, err := types.SignSetCode(secret(9),
		types.SetCodeAuthorization{ChainID: *uint256.NewInt(chainID), Address: counter})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
