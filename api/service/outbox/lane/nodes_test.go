package lane

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/chain/remote"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/outbox"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

var anvilProgram = flag.String("anvil", "", "run the tests of mempools and reorganisations on this anvil, a path")

// counter adds one to the slot that its data names and logs, so that what happens twice is seen.
var counter = common.HexToAddress("0xc0")

const counterCode = "5f3580546001019055" + "5f5fa0" + "00"

var wealth = new(big.Int).Lsh(big.NewInt(1), 100)

// embedded is the endpoint of an embedded chain.
func embedded(t *testing.T, keys ...signers.EVM) http.Handler {
	spec := evm.Spec{ChainID: chainID, Time: uint64(time.Now().Unix()),
		Alloc: []evm.Account{{Address: counter, Code: common.FromHex(counterCode), Nonce: 1}}}
	for _, k := range keys {
		spec.Alloc = append(spec.Alloc, evm.Account{Address: k.Address(), Balance: wealth})
	}
	c, err := evm.Open(store.NewMemory(), spec)
	if err != nil {
		t.Fatal(err)
	}
	n := evm.NewNode(c, evm.NodeOptions{})
	t.Cleanup(n.Close)
	s := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(s.Close)
	return s.Endpoint(ethrpc.Methods(n, ethrpc.Options{Version: "test"}))
}

// anvil starts one and returns its address.
func anvil(t *testing.T, flags ...string) string {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, *anvilProgram, append([]string{"--port", "0", "--chain-id", fmt.Sprint(chainID),
		"--accounts", "1", "--hardfork", "prague", "--slots-in-an-epoch", "1", "--cache-path", t.TempDir()},
		flags...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		stop()
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	const listening = "Listening on "
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), listening) {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + strings.TrimPrefix(lines.Text(), listening)
}

// pool asks endpoints.
func pool(t testing.TB, quorum int, urls ...string) *rpcpool.Pool {
	t.Helper()
	o := rpcpool.Options{ChainID: chainID, Quorum: quorum, Timeout: 2 * time.Second}
	for _, u := range urls {
		o.URLs = append(o.URLs, rpcpool.Endpoint{URL: u})
	}
	p, err := rpcpool.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func slot(id string) (h common.Hash) {
	copy(h[:], id)
	return h
}

// onNodes are options for lanes over endpoints.
func onNodes(t *testing.T, p *rpcpool.Pool, s store.Store, log io.Writer, keys ...signers.EVM) Options {
	c, err := remote.New(remote.Options{Node: p, ChainID: chainID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Options{Store: s, Pool: p, ChainID: chainID, FeeCap: big.NewInt(500 * gwei), Signers: keys,
		State: c.State, Prime: c.Prime, Check: c.Gate,
		Log: slog.New(slog.NewTextHandler(log, nil)), Poll: 20 * time.Millisecond, Resend: 200 * time.Millisecond,
		Patience: time.Second}
}

// counting is a step that counts.
func counting(id string, by signers.EVM) outbox.EVMStep {
	data := slot(id)
	return outbox.EVMStep{ID: id, Time: uint64(time.Now().Unix()),
		Txs:   []chain.Tx{{From: by, To: counter, Data: data[:]}},
		Check: chain.AllSucceed,
		Sent:  func(tx store.Tx) error { return tx.Bucket(callers).Put([]byte(id), []byte{1}) }}
}

func noted(s store.Store, id string) (yes bool, err error) {
	err = s.View(func(tx store.Tx) error {
		yes = tx.Bucket(callers).Get([]byte(id)) != nil
		return nil
	})
	return yes, err
}

func counted(t *testing.T, p *rpcpool.Pool, id string) uint64 {
	t.Helper()
	var v common.Hash
	if err := p.Call(t.Context(), &v, "eth_getStorageAt", counter, slot(id), "latest"); err != nil {
		t.Fatal(err)
	}
	return v.Big().Uint64()
}

// Three endpoints of the embedded chain: one delays, drops, loses answers and limits, one lies about every receipt, one
// forgets what it was sent. Commits fail, before and after they are written, and the process begins anew meanwhile.
func TestThroughEndpointsThatFailAndLieEveryStepHappensOnce(t *testing.T) {
	t.Parallel()
	keys := []signers.EVM{local(1), local(2)}
	node := embedded(t, keys...)
	bad := []faultproxy.Rule{
		{Chance: 0.05, Fault: faultproxy.Delay(30 * time.Millisecond)}, {Chance: 0.01, Fault: faultproxy.Drop()},
		{Chance: 0.3, Fault: faultproxy.Shuffle()},
		{On: "eth_sendRawTransaction", Chance: 0.2, Fault: faultproxy.Deaf()},
		{On: "eth_getTransactionReceipt", Chance: 0.02, Fault: faultproxy.Status(429, "0", "slow down")},
	}
	urls := []string{}
	for i, rules := range [][]faultproxy.Rule{bad,
		{{On: "eth_getTransactionReceipt", Fault: faultproxy.Lie("status", "0x0")}},
		{{On: "eth_sendRawTransaction", Chance: 0.3, Fault: faultproxy.Drop()}}} {
		f := faultproxy.New(node, uint64(i), rules...)
		t.Cleanup(f.Close)
		urls = append(urls, f.URL)
	}
	p := pool(t, 2, urls...)
	var mu sync.Mutex
	d := dice(5)
	kept := &brittle{Store: store.NewMemory(), fail: func() (bool, bool) {
		mu.Lock()
		defer mu.Unlock()
		return d.IntN(12) == 0, d.IntN(12) == 0
	}}
	var log safeLog
	var l atomic.Pointer[Lane]
	o := onNodes(t, p, kept, &log, keys...)
	start := func() {
		next, err := New(o)
		if err != nil {
			t.Error(err)
			return
		}
		l.Store(next)
	}
	start()
	var ids []string
	var work sync.WaitGroup
	for k, by := range keys {
		for n := range 12 {
			ids = append(ids, fmt.Sprintf("%d/%d", k, n))
		}
		work.Go(func() {
			for n := range 12 {
				if err := settle(t, &l, kept, counting(fmt.Sprintf("%d/%d", k, n), by)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all := make(chan struct{})
	go func() { work.Wait(); close(all) }()
	for over := false; !over; {
		select {
		case <-all:
			over = true
		case <-time.After(300 * time.Millisecond):
			l.Load().Close()
			start()
		}
	}
	l.Load().Close()
	for _, id := range ids {
		if n := counted(t, p, id); n != 1 {
			t.Errorf("%s happened %d times", id, n)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
}

// settle does what a saga does: it sends what its record does not have, waits for what it has, and goes on after
// faults.
func settle(t *testing.T, l *atomic.Pointer[Lane], kept store.Store, s outbox.EVMStep) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		sent, err := noted(kept, s.ID)
		if err != nil {
			return err
		}
		if !sent {
			if _, err := l.Load().Send(ctx, s); err != nil {
				last = err
				time.Sleep(10 * time.Millisecond)
			}
			continue
		}
		rs, err := l.Load().Result(ctx, s.ID)
		if errors.Is(err, store.ErrClosed) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		if !rs[0].Success || len(rs[0].Logs) != 1 {
			return fmt.Errorf("%s: %+v", s.ID, rs[0])
		}
		return nil
	}
	return fmt.Errorf("%s: %w", s.ID, errors.Join(ctx.Err(), last))
}

type safeLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// field is an anvil that mines when it is told, with a lane that works when it is told.
type field struct {
	*testing.T
	p     *rpcpool.Pool
	kept  store.Store
	clock *clock
	key   signers.EVM
	log   safeLog
	l     *Lane
}

func newField(t *testing.T) *field {
	f := &field{T: t, p: pool(t, 1, anvil(t, "--no-mining")), kept: store.NewMemory(), key: local(3),
		clock: &clock{now: time.Now()}}
	f.ask("anvil_setBalance", f.key.Address(), (*hexutil.Big)(wealth))
	f.ask("anvil_setCode", counter, hexutil.Bytes(common.FromHex(counterCode)))
	f.mine(4)
	f.start()
	return f
}

func (f *field) start() {
	o := onNodes(f.T, f.p, f.kept, &f.log, f.key)
	o.Clock, o.Patience, o.Resend = f.clock.time, 30*time.Second, 10*time.Second
	l, err := open(o)
	f.ok(err)
	f.l = l
}

func (f *field) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%v\n%s", err, f.log.String())
	}
}

func (f *field) ask(method string, params ...any) {
	f.Helper()
	f.ok(f.p.Call(f.Context(), nil, method, params...))
}

// mine makes blocks, and waits until the history of fees has them: anvil writes it a moment later.
func (f *field) mine(n int) {
	f.Helper()
	for range n {
		f.ask("evm_mine")
	}
	var newest hexutil.Uint64
	f.ok(f.p.Call(f.Context(), &newest, "eth_blockNumber"))
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		var h struct {
			Oldest hexutil.Uint64 `json:"oldestBlock"`
			Base   []*hexutil.Big `json:"baseFeePerGas"`
		}
		f.ok(f.p.Call(f.Context(), &h, "eth_feeHistory", "0xa", "latest", []float64{50}))
		if len(h.Base) > 1 && uint64(h.Oldest)+uint64(len(h.Base))-2 >= uint64(newest) {
			return
		}
		if time.Now().After(end) {
			f.Fatalf("after block %d the history of fees is %+v", newest, h)
		}
	}
}

func (f *field) turn() {
	f.Helper()
	f.ok(f.l.look(f.Context()))
	f.ok(f.l.push(f.Context()))
}

func (f *field) send(s outbox.EVMStep) {
	f.Helper()
	_, err := f.l.Send(f.Context(), s)
	f.ok(err)
	f.turn()
}

func (f *field) stored(id string) *step {
	f.Helper()
	return (&lab{t: f.T, kept: &brittle{Store: f.kept}, l: f.l}).stored(id)
}

// ends mines until a step is final, and expects it to have happened so often.
func (f *field) ends(id string, times uint64) chain.Receipt {
	f.Helper()
	for range 8 {
		f.mine(1)
		f.turn()
		if s := f.stored(id); s.Final != nil {
			if n := counted(f.T, f.p, id); n != times || s.Final.Success != (times == 1) {
				f.Errorf("%s: %+v, happened %d times", id, s.Final, n)
			}
			return *s.Final
		}
	}
	f.Fatalf("%s is not final\n%s", id, f.log.String())
	return chain.Receipt{}
}

func (f *field) base() *big.Int {
	f.Helper()
	s, err := f.l.fees(f.Context())
	f.ok(err)
	return s.base
}

// raise makes blocks of a base fee until one that is so many times higher is the newest.
func (f *field) raise(times int64, blocks int) {
	f.Helper()
	fee := new(big.Int).Mul(f.base(), big.NewInt(times))
	for range blocks {
		f.ask("anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(fee))
		f.mine(1)
	}
	f.ask("anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(fee))
}

func TestOnAnvilABaseFeeFiveTimesHigherIsPaidWithinTheCap(t *testing.T) {
	f := newField(t)
	f.send(counting("a", f.key))
	f.raise(5, stuckBlocks)
	if n := counted(t, f.p, "a"); n != 0 {
		t.Fatal("anvil mined what pays too little")
	}
	f.clock.wait(31 * time.Second)
	f.turn()
	s := f.stored("a")
	if len(s.Attempts) != 2 || s.last().tx.GasFeeCap().Cmp(f.l.FeeCap) > 0 {
		t.Fatalf("%d attempts\n%s", len(s.Attempts), f.log.String())
	}
	if r := f.ends("a", 1); r.TxHash != s.last().Hash {
		t.Errorf("%s is mined, expected the replacement %s", r.TxHash, s.last().Hash)
	}
	if strings.Contains(f.log.String(), "was not taken") {
		t.Errorf("anvil refused a replacement: %s", f.log.String())
	}
}

func TestOnAnvilAStepPastItsDeadlineIsCancelled(t *testing.T) {
	f := newField(t)
	s := counting("a", f.key)
	s.Deadline = uint64(f.clock.time().Unix()) + 60
	f.send(s)
	f.send(counting("b", f.key))
	f.clock.wait(61 * time.Second)
	f.turn()
	if !f.stored("a").last().Cancel {
		t.Fatalf("not cancelled\n%s", f.log.String())
	}
	if r := f.ends("a", 0); r.TxHash != f.stored("a").last().Hash {
		t.Errorf("%+v", r)
	}
	f.ends("b", 1)
}

func TestOnAnvilReorganisationsAboveFinalLoseAndDoubleNothing(t *testing.T) {
	f := newField(t)
	const steps = 12
	for n := range steps {
		id := fmt.Sprintf("step %d", n)
		f.send(counting(id, f.key))
		f.mine(1)
		f.turn()
		if f.stored(id).Mined == nil {
			t.Fatalf("%s is not mined\n%s", id, f.log.String())
		}
		f.ask("anvil_reorg", 1, []any{}) // the block is another one, and empty
		f.turn()
		if n%3 == 0 {
			f.start()
		}
		f.clock.wait(11 * time.Second)
		f.turn()
	}
	if n := strings.Count(f.log.String(), "took a transaction back"); n < steps/2 {
		t.Errorf("%d transactions were taken back", n)
	}
	for n := range steps {
		f.ends(fmt.Sprintf("step %d", n), 1)
	}
}

func TestOnAnvilADroppedTransactionIsSentAgain(t *testing.T) {
	f := newField(t)
	f.send(counting("a", f.key))
	f.ask("anvil_dropTransaction", f.stored("a").last().Hash)
	f.mine(1)
	f.clock.wait(11 * time.Second)
	f.turn()
	f.ends("a", 1)
	if n := len(f.stored("a").Attempts); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

func TestOnAnvilAForeignTransactionStopsTheLane(t *testing.T) {
	f := newField(t)
	f.send(counting("a", f.key))
	f.ends("a", 1)
	var n hexutil.Uint64
	f.ok(f.p.Call(t.Context(), &n, "eth_getTransactionCount", f.key.Address(), "latest"))
	tx, err := f.key.SignTx(t.Context(), types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(chainID), Nonce: uint64(n),
		GasFeeCap: big.NewInt(100 * gwei), GasTipCap: big.NewInt(gwei), Gas: 21_000, To: &target}), big.NewInt(chainID))
	f.ok(err)
	raw, err := tx.MarshalBinary()
	f.ok(err)
	_, err = f.p.Broadcast(t.Context(), raw)
	f.ok(err)
	f.mine(1)
	if _, err := f.l.Send(t.Context(), counting("b", f.key)); !errors.Is(err, ErrStopped) {
		t.Fatal(err)
	}
	f.turn()
	f.mine(4)
	f.clock.wait(2 * time.Minute)
	f.turn()
	if !strings.Contains(f.log.String(), CodeStopped) {
		t.Fatalf("not stopped\n%s", f.log.String())
	}
	f.ok(f.l.Resume(t.Context(), f.key.Address()))
	f.send(counting("b", f.key))
	f.ends("b", 1)
}

// A delegation goes out with its step, and again with its replacement.
func TestOnAnvilATransactionOfTypeFourIsReplacedAsOne(t *testing.T) {
	f := newField(t)
	s := counting("a", f.key)
	s.Txs[0].Authorizations = authorized([]types.SetCodeAuthorization{delegation(t)})
	f.send(s)
	f.raise(5, stuckBlocks)
	f.clock.wait(31 * time.Second)
	f.turn()
	if a := f.stored("a").last(); a.tx.Type() != types.SetCodeTxType || len(f.stored("a").Attempts) != 2 {
		t.Fatalf("type %d, %d attempts\n%s", a.tx.Type(), len(f.stored("a").Attempts), f.log.String())
	}
	if r := f.ends("a", 1); len(r.Authorizations) != 1 {
		t.Errorf("%+v", r)
	}
	var code hexutil.Bytes
	f.ok(f.p.Call(t.Context(), &code, "eth_getCode", delegator(), "latest"))
	if len(code) != 23 {
		t.Errorf("code of the delegator %s", code)
	}
}
