package evm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/txpool/legacypool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// refusals are transactions that go-ethereum's pool refuses, each with a nonce that is the sender's next.
func refusals(t *testing.T, c *Chain) map[string]*types.Transaction {
	t.Helper()
	tr, to := treasury(), addr(key(1))
	nonce := c.nonce(t, addr(tr))
	type fields = types.DynamicFeeTx
	with := func(k *ecdsa.PrivateKey, change func(*fields)) *types.Transaction {
		d := dynamic(c, nonce, &to, 1, nil)
		d.Gas = 21_000
		change(d)
		return signed(t, c, k, d)
	}
	other := types.LatestSignerForChainID(big.NewInt(5))
	alien, err := types.SignNewTx(tr, other, &types.DynamicFeeTx{ChainID: big.NewInt(5), Nonce: nonce, Gas: 21_000,
		GasFeeCap: big.NewInt(20 * gwei), GasTipCap: big.NewInt(gwei), To: &to})
	if err != nil {
		t.Fatal(err)
	}
	unsigned := types.NewTx(dynamic(c, nonce, &to, 1, nil))
	empty := types.NewTx(&types.SetCodeTx{ChainID: uint256.NewInt(c.ID()), Nonce: nonce, Gas: 60_000,
		GasTipCap: uint256.NewInt(gwei), GasFeeCap: uint256.NewInt(20 * gwei), Value: new(uint256.Int), To: to})
	empty, err = types.SignTx(empty, c.env.signer, tr)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*types.Transaction{
		"too large": with(tr, func(d *fields) { d.Data, d.Gas = make([]byte, 128<<10), 16_000_000 }),
		"init code too large": with(tr, func(d *fields) {
			d.To, d.Data, d.Gas = nil, make([]byte, 50_000), 9_000_000
		}),
		"gas above one's limit": with(tr, func(d *fields) { d.Gas = MaxTxGas + 1; d.GasFeeCap = big.NewInt(gwei) }),
		"tip above cap":         with(tr, func(d *fields) { d.GasTipCap = big.NewInt(30 * gwei) }),
		"another chain":         alien,
		"no signature":          unsigned,
		"last nonce":            with(tr, func(d *fields) { d.Nonce = 1<<64 - 1 }),
		"too little gas":        with(tr, func(d *fields) { d.Gas = 20_999 }),
		"less than the floor":   with(tr, func(d *fields) { d.Data, d.Gas = bytes.Repeat([]byte{1}, 1000), 40_000 }),
		"no authorization":      empty,
		"nonce of the past":     with(tr, func(d *fields) { d.Nonce = nonce - 1 }),
		"no funds":              with(key(99), func(d *fields) { d.Nonce = 0 }),
		"no funds for a gap":    with(key(99), func(d *fields) { d.Nonce = 3 }),
		"value above the balance": with(tr, func(d *fields) {
			d.Value = new(big.Int).Lsh(big.NewInt(1), 130)
		}),
	}
}

func TestRefusalsAreGoEthereumsWordByWord(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	seal(t, c, pay(treasury(), addr(key(1)), 1))
	spec, _ := c.spec()
	bc := importer(t, spec)
	if _, err := bc.InsertChain(storedBlocks(t, c)); err != nil {
		t.Fatal(err)
	}
	p, err := txpool.New(0, bc, []txpool.SubPool{legacypool.New(legacypool.DefaultConfig, bc)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for name, tx := range refusals(t, c) {
		want := p.Add([]*types.Transaction{tx}, true)[0]
		sealed, got := n.Submit(context.Background(), tx)
		if want == nil || got == nil || sealed || got.Error() != want.Error() {
			t.Errorf("%s:\n%v\ngo-ethereum: %v", name, got, want)
		}
	}
	if c.Head().Number != 1 || len(n.Held()) != 0 {
		t.Fatalf("head %d, held %v", c.Head().Number, n.Held())
	}
}

func TestWhatAnEndpointRefusesByItself(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := common.Address{1}
	bare, err := types.SignNewTx(treasury(), types.HomesteadSigner{}, &types.LegacyTx{Gas: 21_000, To: &to,
		GasPrice: big.NewInt(2 * gwei)})
	if err != nil {
		t.Fatal(err)
	}
	rich := dynamic(c, 0, &to, 1, nil)
	rich.GasFeeCap, rich.Gas = big.NewInt(1001*gwei), 1_000_000
	cheap := dynamic(c, 0, &to, 1, nil)
	cheap.GasFeeCap, cheap.GasTipCap = big.NewInt(7), big.NewInt(1)
	blob := signed(t, c, treasury(), &types.BlobTx{ChainID: uint256.NewInt(c.ID()), Gas: 21_000, To: to,
		GasTipCap: uint256.NewInt(1), GasFeeCap: uint256.NewInt(20 * gwei), BlobFeeCap: uint256.NewInt(1),
		BlobHashes: []common.Hash{{1}}})
	for want, tx := range map[string]*types.Transaction{
		"only replay-protected (EIP-155) transactions allowed over RPC":         bare,
		"tx fee (1.00 ether) exceeds the configured cap (1.00 ether)":           signed(t, c, treasury(), rich),
		"transaction type not supported: this chain carries no blobs":           blob,
		"max fee per gas less than block base fee: address 0x, maxFeePerGas: 7": signed(t, c, treasury(), cheap),
	} {
		_, err := n.Submit(context.Background(), tx)
		if err == nil || !strings.HasPrefix(strings.Replace(err.Error(), addr(treasury()).Hex(), "0x", 1), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if c.Head().Number != 0 {
		t.Fatal("a block was made")
	}
}

// viem sends nonces 1, 2, 0 in parallel: the first two are held, the third brings them into one block.
func TestAGapIsHeldUntilItCloses(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	from, to := addr(treasury()), common.Address{9}
	feed := n.Accepted(t.Context())
	var sent []common.Hash
	for _, nonce := range []uint64{1, 2, 0} {
		if got, err := n.PendingNonce(from); got != 0 || err != nil {
			t.Fatalf("nonce %d is next: %v", got, err)
		}
		tx := signed(t, c, treasury(), dynamic(c, nonce, &to, 1, nil))
		sealed, err := n.Submit(context.Background(), tx)
		if err != nil || sealed != (nonce == 0) {
			t.Fatalf("nonce %d: sealed %v, %v", nonce, sealed, err)
		}
		sent = append(sent, tx.Hash())
		if nonce == 2 {
			if _, err := n.Submit(context.Background(), tx); !errors.Is(err, txpool.ErrAlreadyKnown) {
				t.Fatal(err)
			}
			held := n.Held()[from]
			if len(held) != 2 || held[0].Nonce() != 1 || held[1].Nonce() != 2 {
				t.Fatalf("held: %v", held)
			}
		}
	}
	b := blockOf(t, n, 1)
	if c.Head().Number != 1 || len(b.Txs) != 3 || len(n.Held()) != 0 {
		t.Fatalf("%d transactions in block 1 of %d", len(b.Txs), c.Head().Number)
	}
	for _, want := range sent {
		if got := <-feed; got.Hash() != want {
			t.Fatalf("the feed has %s, want %s", got.Hash(), want)
		}
	}
	if got, _ := n.PendingNonce(from); got != 3 {
		t.Fatalf("nonce %d is next", got)
	}
}

// A block of settlement closes the gap as well.
func TestSettlementClosesAGap(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := common.Address{9}
	if _, err := n.Submit(context.Background(), signed(t, c, treasury(), dynamic(c, 1, &to, 1, nil))); err != nil {
		t.Fatal(err)
	}
	if next, _ := n.PendingNonce(addr(treasury())); next != 0 {
		t.Fatal(next)
	}
	seal(t, c, pay(treasury(), to, 1))
	n.work.Wait()
	if c.Head().Number != 2 || len(n.Held()) != 0 || len(blockOf(t, n, 2).Txs) != 1 {
		t.Fatalf("head %d, held %v", c.Head().Number, n.Held())
	}
}

// What is held with a nonce that settlement has used can never be sealed.
func TestAHeldTransactionWhoseNonceIsUsedIsDropped(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := common.Address{9}
	if _, err := n.Submit(context.Background(), signed(t, c, treasury(), dynamic(c, 1, &to, 1, nil))); err != nil {
		t.Fatal(err)
	}
	seal(t, c, pay(treasury(), to, 1), pay(treasury(), to, 1))
	n.work.Wait()
	if held := n.Held(); len(held) != 0 || c.Head().Number != 1 {
		t.Fatalf("held: %v", held)
	}
}

func TestTheBoundsOfWhatIsHeld(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	now := time.Unix(0, 0)
	n.pool.now = func() time.Time { return now }
	to := common.Address{9}
	send := func(nonce uint64, change func(*types.DynamicFeeTx)) error {
		d := dynamic(c, nonce, &to, 1, nil)
		change(d)
		_, err := n.Submit(context.Background(), signed(t, c, treasury(), d))
		return err
	}
	same := func(*types.DynamicFeeTx) {}
	for i := range heldPerSender {
		if err := send(uint64(i+1), same); err != nil {
			t.Fatal(err)
		}
	}
	if err := send(heldPerSender+1, same); err == nil || err.Error() != "account limit exceeded: pooled 16 txs" {
		t.Fatal(err)
	}
	scale := func(percent int64) func(*types.DynamicFeeTx) {
		return func(d *types.DynamicFeeTx) {
			d.GasFeeCap = big.NewInt(20 * gwei * percent / 100)
			d.GasTipCap = big.NewInt(gwei * percent / 100)
		}
	}
	if err := send(5, scale(109)); !errors.Is(err, txpool.ErrReplaceUnderpriced) {
		t.Fatal(err)
	}
	if err := send(5, scale(110)); err != nil {
		t.Fatal(err)
	}
	if held := n.Held()[addr(treasury())]; len(held) != heldPerSender || held[4].GasTipCap().Int64() != gwei*110/100 {
		t.Fatalf("%d held", len(held))
	}
	now = now.Add(heldFor)
	if len(n.Held()) != 1 {
		t.Fatal("dropped too soon")
	}
	now = now.Add(1)
	if held := n.Held(); len(held) != 0 || n.pool.count != 0 {
		t.Fatalf("still held: %v", held)
	}
	n.pool.count = heldInAll
	if err := send(1, same); !errors.Is(err, errPoolFull) || err.Error() != "txpool is full" {
		t.Fatal(err)
	}
}

// What became next and cannot be paid for is dropped; what comes after it stays held.
func TestAHeldTransactionThatCannotBePaidForIsDropped(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	k, to := key(5), common.Address{9}
	seal(t, c, pay(treasury(), addr(k), 2e16))
	for _, nonce := range []uint64{1, 2, 0} {
		d := dynamic(c, nonce, &to, 1, nil)
		d.Value, d.Gas = big.NewInt(1e16), 21_000
		if nonce == 2 {
			d.Value = big.NewInt(1)
		}
		if _, err := n.Submit(context.Background(), signed(t, c, k, d)); err != nil {
			t.Fatal(err)
		}
	}
	if held := n.Held()[addr(k)]; len(held) != 1 || held[0].Nonce() != 2 || len(blockOf(t, n, 2).Txs) != 1 {
		t.Fatalf("held: %v", held)
	}
}

// However many others send, settlement waits for a few blocks of theirs at most, and they go on as well.
func TestSettlementAndOthersShareTheOrder(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	who := payers(64)
	var fund []chain.Tx
	for _, k := range who {
		fund = append(fund, pay(treasury(), addr(k), 1e18))
	}
	seal(t, c, fund...)
	ctx, stop := context.WithCancel(context.Background())
	var sent sync.WaitGroup
	var count atomic.Int64
	to := common.Address{9}
	for _, k := range who {
		sent.Go(func() {
			for nonce := uint64(0); ctx.Err() == nil; nonce++ {
				tx := signed(t, c, k, dynamic(c, nonce, &to, 1, nil))
				if _, err := n.Submit(context.Background(), tx); err != nil {
					t.Error(err)
					return
				}
				count.Add(1)
			}
		})
	}
	waited, before := uint64(0), int64(0)
	for i := range 20 {
		start := c.Head().Number
		b := seal(t, c, pay(treasury(), to, 1))
		waited = max(waited, b.Number-start)
		if i == 0 {
			before = count.Load()
		}
	}
	during := count.Load() - before
	stop()
	sent.Wait()
	if waited > 32 || during == 0 {
		t.Fatalf("settlement waited for %d blocks; %d of others meanwhile", waited, during)
	}
	if uint64(count.Load()) < 2*c.Head().Number {
		t.Logf("%d transactions in %d blocks", count.Load(), c.Head().Number)
	}
}

// A caller that hangs up while its transaction waits, or who makes the block of others, takes nothing back.
func TestAClientThatHangsUpWithdrawsNothing(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	c.sealing.Lock()
	to := common.Address{9}
	ctx, cancel := context.WithCancel(context.Background())
	answers := make(chan error)
	send := func(nonce uint64) {
		tx := signed(t, c, treasury(), dynamic(c, nonce, &to, 1, nil))
		go func() {
			_, err := n.Submit(ctx, tx)
			answers <- err
		}()
	}
	send(0)
	for len(n.turn) == 0 { // it has the turn and waits for the chain
		time.Sleep(time.Millisecond)
	}
	send(1)
	send(3)
	for queued := 0; queued < 3; {
		n.mu.Lock()
		queued = len(n.queue)
		n.mu.Unlock()
	}
	cancel()
	time.Sleep(10 * time.Millisecond)
	c.sealing.Unlock()
	for range 3 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	n.work.Wait()
	if got, err := n.PendingNonce(addr(treasury())); got != 2 || err != nil || len(n.Held()[addr(treasury())]) != 1 {
		t.Fatalf("nonce %d is next, %v; held %v", got, err, n.Held())
	}
}

// A block has room for 60 million gas; what does not fit goes into the next.
func TestWhatFindsNoRoomIsInTheNextBlock(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	n.slice = time.Hour
	who := payers(4)
	var fund []chain.Tx
	for _, k := range who {
		fund = append(fund, pay(treasury(), addr(k), 1e18))
	}
	seal(t, c, fund...)
	c.sealing.Lock()
	var sent sync.WaitGroup
	for _, k := range who {
		sent.Go(func() {
			d := dynamic(c, 0, nil, 0, common.FromHex("5b600056")) // loops until its gas is used up
			d.Gas, d.GasFeeCap = MaxTxGas, big.NewInt(2*gwei)
			sealed, err := n.Submit(context.Background(), signed(t, c, k, d))
			if err != nil || !sealed {
				t.Errorf("sealed %v: %v", sealed, err)
			}
		})
	}
	for queued := 0; queued < len(who); {
		n.mu.Lock()
		queued = len(n.queue)
		n.mu.Unlock()
	}
	c.sealing.Unlock()
	sent.Wait()
	if c.Head().Number != 3 || len(blockOf(t, n, 2).Txs) != 3 || len(blockOf(t, n, 3).Txs) != 1 {
		t.Fatalf("%d and %d transactions", len(blockOf(t, n, 2).Txs), len(blockOf(t, n, 3).Txs))
	}
}

// When its time is used up a block of others ends, also where the rest was held.
func TestABlockOfOthersEndsWhenItsTimeIsUsedUp(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	n.slice = 0
	to := common.Address{9}
	for _, nonce := range []uint64{2, 1, 0} {
		tx := signed(t, c, treasury(), dynamic(c, nonce, &to, 1, nil))
		if _, err := n.Submit(context.Background(), tx); err != nil {
			t.Fatal(err)
		}
	}
	n.work.Wait()
	if c.Head().Number != 3 || len(n.Held()) != 0 {
		t.Fatalf("head %d, held %v", c.Head().Number, n.Held())
	}
}

// A commit that fails is told to everyone whose transaction was in the block.
func TestAFailedCommitIsToldToAllOfTheBlock(t *testing.T) {
	s := &failingStore{Store: store.NewMemory()}
	c := openTest(t, s, testSpec(t, 8453))
	n := testNode(t, c)
	to := common.Address{9}
	first := signed(t, c, treasury(), dynamic(c, 0, &to, 1, nil))
	held := signed(t, c, treasury(), dynamic(c, 1, &to, 1, nil))
	if _, err := n.Submit(context.Background(), held); err != nil {
		t.Fatal(err)
	}
	s.fail = errors.New("no room")
	if sealed, err := n.Submit(context.Background(), first); !errors.Is(err, s.fail) || sealed {
		t.Fatal(err)
	}
	if len(n.Held()) != 1 || c.Head().Number != 0 {
		t.Fatal("what was held is gone")
	}
	s.fail = nil
	if sealed, err := n.Submit(context.Background(), first); err != nil || !sealed {
		t.Fatal(err)
	}
	if len(blockOf(t, n, 1).Txs) != 2 {
		t.Fatal("it was not sealed with the first")
	}
}

type failingStore struct {
	store.Store
	fail error
}

func (s *failingStore) Update(fn func(store.Tx) error) error {
	return s.Store.Update(func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return s.fail
	})
}

func TestAFeedThatNobodyReadsEnds(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	ended, slow, closed := n.Accepted(ctx), n.Accepted(context.Background()), n.Accepted(context.Background())
	cancel()
	if _, more := <-ended; more {
		t.Fatal("a feed goes on without its context")
	}
	tx := types.NewTx(&types.LegacyTx{})
	for range feedCapacity + 1 {
		n.mu.Lock()
		n.accepted(tx)
		n.mu.Unlock()
		if _, more := <-closed; !more {
			t.Fatal("a feed that is read ended")
		}
	}
	got := 0
	for range slow {
		got++
	}
	if got != feedCapacity {
		t.Fatalf("%d transactions before the end", got)
	}
	n.Close()
	if _, more := <-closed; more {
		t.Fatal("a feed outlives its node")
	}
	if _, more := <-n.Accepted(context.Background()); more {
		t.Fatal("a closed node has a feed")
	}
}

// Whatever the bytes: no panic, a transaction encodes to what it was decoded from, and what is sealed replays.
func FuzzSubmit(f *testing.F) {
	c := openTest(f, store.NewMemory(), Spec{ChainID: 10, Time: genesisTime,
		Alloc: []Account{{Address: addr(treasury()), Balance: tenToThe18(1)}}})
	n := testNode(f, c)
	to := common.Address{9}
	for _, data := range []types.TxData{
		dynamic(c, 0, &to, 1, nil), dynamic(c, 3, nil, 1, []byte{1}),
		&types.LegacyTx{GasPrice: big.NewInt(2 * gwei), Gas: 21_000, To: &to, Value: big.NewInt(1)},
		&types.AccessListTx{ChainID: c.env.cfg.ChainID, GasPrice: big.NewInt(2 * gwei), Gas: 50_000, To: &to,
			AccessList: types.AccessList{{Address: to, StorageKeys: []common.Hash{{1}}}}},
		&types.SetCodeTx{ChainID: uint256.NewInt(10), Gas: 100_000, GasTipCap: uint256.NewInt(1),
			GasFeeCap: uint256.NewInt(2 * gwei), Value: new(uint256.Int), AuthList: []types.SetCodeAuthorization{{}}},
		&types.BlobTx{ChainID: uint256.NewInt(10), BlobHashes: []common.Hash{{1}}},
	} {
		raw, err := signed(f, c, treasury(), data).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte{})
	f.Add([]byte{0x7f})
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := DecodeTx(raw)
		if err != nil {
			return
		}
		if again, err := tx.MarshalBinary(); err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%x encodes to %x: %v", raw, again, err)
		}
		sealed, err := n.Submit(context.Background(), tx)
		if sealed != (err == nil) && n.pool.count == 0 {
			t.Fatalf("sealed %v: %v", sealed, err)
		}
		if sealed {
			if _, _, found, err := n.Lookup(tx.Hash()); !found || err != nil {
				t.Fatalf("a sealed transaction is not found: %v", err)
			}
		}
	})
}

func benchSubmit(b *testing.B, c *Chain) {
	n := NewNode(c, NodeOptions{})
	defer n.Close()
	to, from := addr(key(1)), treasury()
	nonce := uint64(0)
	for b.Loop() {
		d := dynamic(c, nonce, &to, 1, nil)
		d.Gas = 21_000
		tx := signed(b, c, from, d)
		if _, err := n.Submit(context.Background(), tx); err != nil {
			b.Fatal(err)
		}
		nonce++
	}
}

func BenchmarkSubmitInMemory(b *testing.B) { benchSubmit(b, memoryChain(b)) }
func BenchmarkSubmitInFile(b *testing.B)   { benchSubmit(b, boltChain(b)) }

// Many senders at once share the wait for the disk.
func BenchmarkSubmitFrom64SendersInFile(b *testing.B) {
	c := boltChain(b)
	n := NewNode(c, NodeOptions{})
	defer n.Close()
	who, to := payers(64), addr(key(1))
	var fund []chain.Tx
	for _, k := range who {
		fund = append(fund, pay(treasury(), addr(k), 1e18))
	}
	seal(b, c, fund...)
	var next atomic.Int64
	b.SetParallelism(max(1, len(who)/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(p *testing.PB) {
		from := who[int(next.Add(1)-1)%len(who)]
		for nonce := uint64(0); p.Next(); nonce++ {
			d := dynamic(c, nonce, &to, 1, nil)
			d.Gas = 21_000
			if _, err := n.Submit(context.Background(), signed(b, c, from, d)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
