package evm

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"
	"pgregory.net/rapid"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// randomChange makes one block, of settlement or of others, now and then one that places a contract.
func randomChange(rt *rapid.T, t *testing.T, n *Node) {
	c := n.chain
	k := key(300 + rapid.IntRange(0, 4).Draw(rt, "from"))
	switch rapid.IntRange(0, 7).Draw(rt, "block") {
	case 0:
		at := common.BigToAddress(big.NewInt(int64(1_000_000 + c.Head().Number)))
		if _, err := SealAll(context.Background(), []Sealing{{Chain: c,
			Request: chain.SealRequest{Time: c.Head().Time + 1, Txs: []chain.Tx{pay(k, at, 3)}},
			Place: []Account{{Address: at, Code: []byte{0x5b, byte(c.Head().Number)},
				Storage: map[common.Hash]common.Hash{{1}: {2}, {3}: {4}}}}}}); err != nil {
			rt.Fatal(err)
		}
	case 1:
		submit(t, n, k, dynamic(c, c.nonce(t, addr(k)), nil, 0, common.FromHex("600160005560016002556000600255")))
	case 2:
		to := addr(key(300 + rapid.IntRange(0, 9).Draw(rt, "to")))
		submit(t, n, k, dynamic(c, c.nonce(t, addr(k)), &to, rapid.Int64Range(0, 9).Draw(rt, "wei"), nil))
	default:
		var txs []chain.Tx
		nonces := map[int]uint64{}
		for i := range 5 {
			nonces[i] = c.nonce(t, addr(key(300+i)))
		}
		for range rapid.IntRange(0, 4).Draw(rt, "transactions") {
			txs = append(txs, plan(rt, t, c, nonces).tx)
		}
		seal(t, c, txs...)
	}
}

// What a view of a block says never changes while others are sealed: every account, slot and node is what a chain has
// that ends with that block.
func TestStateAtABlockIsThatOfAChainThatEndsThere(t *testing.T) {
	owner := addr(treasury())
	genesis := []Account{{Address: owner, Balance: tenToThe18(1)}}
	genesis = append(genesis, predeployed(t, initCode(t, "Token", "T", "T", uint8(6), owner, big.NewInt(supply)),
		tokenAt(0))...)
	for i := range 5 {
		genesis = append(genesis, Account{Address: addr(key(300 + i)), Balance: tenToThe18(1)})
	}
	spec := Spec{ChainID: 10, Alloc: genesis, Time: genesisTime}
	rapid.Check(t, func(rt *rapid.T) {
		c := openTest(t, store.NewMemory(), spec)
		seal(t, c, pay(treasury(), addr(key(300)), 1)) // before the window begins
		n := testNode(t, c)
		for range rapid.IntRange(1, 12).Draw(rt, "blocks") {
			randomChange(rt, t, n)
		}
		var pruned *PrunedError
		if _, err := n.View(0); !errors.As(err, &pruned) || pruned.Oldest != 1 {
			rt.Fatalf("the state before the window: %v", err)
		}
		copied := openTest(t, store.NewMemory(), spec)
		for number := uint64(1); number <= c.Head().Number; number++ {
			if err := c.replay(copied, number); err != nil {
				rt.Fatal(err)
			}
			sameVersion(rt, t, n, number, copied)
			if number > 1 {
				replayed(rt, n, number)
			}
		}
	})
}

// sameVersion compares all that the view of a block can read with the state of a chain that ends with it.
func sameVersion(rt *rapid.T, t *testing.T, n *Node, number uint64, copied *Chain) {
	v, err := n.View(number)
	if err != nil {
		rt.Fatal(err)
	}
	defer v.Close()
	keys := map[string][]byte{}
	v.snap.Bucket(n.chain.layout.state).Ascend(nil, func(k, _ []byte) bool {
		keys[string(k)] = nil
		return true
	})
	for _, u := range v.reader.past {
		for k := range u.old {
			keys[k] = nil
		}
	}
	_ = copied.store.View(func(tx store.Tx) error {
		tx.Bucket(copied.layout.state).Ascend(nil, func(k, value []byte) bool {
			keys[string(k)] = bytes.Clone(value)
			return true
		})
		return nil
	})
	for k, want := range keys {
		got, err := v.reader.version([]byte(k))
		if err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("block %d: %x is %x, want %x (%v)", number, k, got, want, err)
		}
	}
	if v.Hash != copied.latest.Load().hash || v.Header.Hash() != v.Hash {
		rt.Fatalf("block %d has hash %s", number, v.Hash)
	}
	for _, a := range []common.Address{addr(key(300)), tokenAt(0), {0xde, 0xad}} {
		proven(rt, v, a)
	}
}

// proven checks a proof against nothing but the block's state root.
func proven(rt *rapid.T, v *View, a common.Address) {
	slots := []common.Hash{{}, {31: 2}, {9}}
	p, err := v.Proof(a, slots)
	if err != nil {
		rt.Fatal(err)
	}
	prove := func(root common.Hash, key []byte, proof [][]byte) []byte {
		db := memorydb.New()
		for _, node := range proof {
			_ = db.Put(crypto.Keccak256(node), node)
		}
		value, err := trie.VerifyProof(root, crypto.Keccak256(key), db)
		if err != nil {
			rt.Fatal(err)
		}
		return value
	}
	leaf := prove(v.Header.Root, a[:], p.Account)
	if leaf == nil {
		if p.Balance.Sign() != 0 || p.Nonce != 0 || p.StorageHash != (common.Hash{}) || p.CodeHash != (common.Hash{}) {
			rt.Fatalf("%s is not there and has %+v", a, p)
		}
		return
	}
	var acc types.StateAccount
	if err := rlp.DecodeBytes(leaf, &acc); err != nil {
		rt.Fatal(err)
	}
	if !acc.Balance.Eq(p.Balance) || acc.Nonce != p.Nonce || acc.Root != p.StorageHash ||
		common.BytesToHash(acc.CodeHash) != p.CodeHash {
		rt.Fatalf("%s is %+v, proven %+v", a, p, acc)
	}
	for i, s := range p.Slots {
		var value []byte
		if acc.Root != types.EmptyRootHash {
			if leaf := prove(acc.Root, slots[i][:], s.Proof); leaf != nil {
				if err := rlp.DecodeBytes(leaf, &value); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if s.Key != slots[i] || common.BytesToHash(value) != s.Value {
			rt.Fatalf("slot %s of %s is %s, proven %x", s.Key, a, s.Value, value)
		}
	}
}

// replayed runs a block again: every transaction finds its nonce, and gives the receipt that is stored.
func replayed(rt *rapid.T, n *Node, number uint64) {
	want, at := 0, 0
	err := n.Replay(context.Background(), number, func(s *Step) error {
		if s.Index != at || s.State.GetNonce(s.Message.From) != s.Tx.Nonce() {
			rt.Fatalf("step %d of block %d: index %d, nonce %d of %d", at, number, s.Index,
				s.State.GetNonce(s.Message.From), s.Tx.Nonce())
		}
		at, want = at+1, len(s.Block.Txs)
		if s.Index%2 == 0 {
			return s.Run(vm.Config{})
		}
		return nil
	})
	if err != nil || at != want {
		rt.Fatalf("replay of block %d ended after %d of %d: %v", number, at, want, err)
	}
}

func TestReplayGivesTheGasAndLogsOfTheBlock(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	scenario(t, c)
	foreign(t, n)
	for number := uint64(1); number <= c.Head().Number; number++ {
		var gas []uint64
		var logs int
		var st interface {
			Logs() []*types.Log
		}
		err := n.Replay(context.Background(), number, func(s *Step) error {
			before := s.b.gas.Used()
			err := s.Run(vm.Config{})
			gas, st = append(gas, s.b.gas.Used()-before), s.State
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if st != nil {
			logs = len(st.Logs())
		}
		for i, r := range blockOf(t, n, number).Receipts {
			if gas[i] != r.GasUsed {
				t.Fatalf("block %d transaction %d used %d gas, replayed %d", number, i, r.GasUsed, gas[i])
			}
			logs -= len(r.Logs)
		}
		if logs != 0 {
			t.Fatalf("block %d: %d logs too many", number, logs)
		}
	}
	if err := n.Replay(context.Background(), 2, func(*Step) error { return ErrStop }); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Replay(ended, 2, func(*Step) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := n.Replay(context.Background(), 0, nil); !errors.Is(err, ErrUnknownBlock) {
		t.Fatal(err)
	}
}

func TestTheWindowHasTheLast128Blocks(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := addr(key(7))
	for range Window + 30 {
		seal(t, c, pay(treasury(), to, 1))
	}
	head := c.Head().Number
	oldest := head - Window + 1
	for _, number := range []uint64{oldest, oldest + 1, head - 1, head} {
		if got := viewAt(t, n, number).State.GetBalance(to).Uint64(); got != number {
			t.Fatalf("balance %d at block %d", got, number)
		}
	}
	var pruned *PrunedError
	if _, err := n.View(oldest - 1); !errors.As(err, &pruned) || pruned.Oldest != oldest || pruned.Number != oldest-1 {
		t.Fatal(err)
	}
	if _, err := n.View(head + 1); !errors.Is(err, ErrUnknownBlock) {
		t.Fatal(err)
	}
	if len(n.undos) != Window-1 {
		t.Fatalf("%d blocks are kept", len(n.undos))
	}
	old := viewAt(t, n, oldest) // stays what it is when the window moves on
	seal(t, c, pay(treasury(), to, 1))
	if got := old.State.GetBalance(to).Uint64(); got != oldest {
		t.Fatalf("balance %d in an open view of block %d", got, oldest)
	}
}

func TestWithoutANodeNothingIsKept(t *testing.T) {
	c := memoryChain(t)
	n := NewNode(c, NodeOptions{})
	seal(t, c, pay(treasury(), addr(key(7)), 1))
	n.Close()
	n.Close()
	seal(t, c, pay(treasury(), addr(key(7)), 1))
	if len(n.undos) != 0 {
		t.Fatal("a closed node keeps blocks")
	}
	if _, err := n.View(1); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	tx := signed(t, c, treasury(), dynamic(c, 2, &common.Address{1}, 1, nil))
	if _, err := n.Submit(context.Background(), tx); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// A block that is not committed leaves no trace in the window.
func TestABlockThatWasNotCommittedIsNotInTheWindow(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := addr(key(7))
	seal(t, c, pay(treasury(), to, 1))
	for range 3 {
		_, err := c.Seal(context.Background(), chain.SealRequest{Time: c.Head().Time + 1,
			Txs:    []chain.Tx{pay(treasury(), to, 50)},
			Record: func(store.Tx, chain.Block) error { return errors.New("no") }})
		if err == nil {
			t.Fatal("sealed")
		}
		for number := range uint64(2) {
			if got := viewAt(t, n, number).State.GetBalance(to).Uint64(); got != number {
				t.Fatalf("balance %d at block %d", got, number)
			}
		}
		seal(t, c)
	}
	for number := range uint64(5) {
		if got := viewAt(t, n, number).State.GetBalance(to).Uint64(); got != min(number, 1) {
			t.Fatalf("balance %d at block %d", got, number)
		}
	}
}

// What another writer replaces on the same store is not known, and not waited for.
func TestTheWindowEndsWhereAnotherWriterSealed(t *testing.T) {
	s := store.NewMemory()
	c := openTest(t, s, testSpec(t, 8453))
	n := testNode(t, c)
	seal(t, c, pay(treasury(), addr(key(7)), 1))
	seal(t, openTest(t, s, testSpec(t, 8453)), pay(treasury(), addr(key(7)), 1))
	var pruned *PrunedError
	if _, err := n.View(0); !errors.As(err, &pruned) {
		t.Fatal(err)
	}
	if got := viewAt(t, n, 2).State.GetBalance(addr(key(7))).Uint64(); got != 2 {
		t.Fatalf("balance %d", got)
	}
}

// Readers at any block of the window, submissions and settlement at once: at block n exactly n transfers were made.
func TestReadersSealersAndSubmissionsAtOnce(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *Chain{"memory": memoryChain, "file": boltChain} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			n := testNode(t, c)
			to, senders, each := addr(key(7)), payers(3), 40
			var fund []chain.Tx
			for _, k := range senders {
				fund = append(fund, pay(treasury(), addr(k), 1e18))
			}
			seal(t, c, fund...)
			var sent, readers sync.WaitGroup
			done := make(chan struct{})
			for _, k := range senders {
				sent.Go(func() {
					for i := range each {
						tx := signed(t, c, k, dynamic(c, uint64(i), &to, 1, nil))
						if _, err := n.Submit(context.Background(), tx); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			sent.Go(func() {
				for range each {
					if _, err := c.Seal(context.Background(), chain.SealRequest{Time: c.Head().Time + 1,
						Txs: []chain.Tx{pay(treasury(), to, 1)}}); err != nil {
						t.Error(err)
						return
					}
				}
			})
			for range 3 {
				readers.Go(func() { readAnywhere(t, n, to, done) })
			}
			sent.Wait()
			close(done)
			readers.Wait()
			v := viewAt(t, n, c.Head().Number)
			if got := v.State.GetBalance(to).Uint64(); got != uint64(4*each) {
				t.Fatalf("%d transfers arrived", got)
			}
			v.Close()
			if _, err := c.Verify(context.Background()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// readAnywhere checks the balance of an account at random blocks against the transactions up to there.
func readAnywhere(t *testing.T, n *Node, to common.Address, done <-chan struct{}) {
	known := map[uint64]uint64{1: 0}
	for {
		select {
		case <-done:
			return
		default:
		}
		n.chain.store.YieldToWriter()
		head := n.Head().Number.Uint64()
		number := head - rand.Uint64N(min(head, Window-10)) // it moves on meanwhile
		v, err := n.View(number)
		var pruned *PrunedError
		if errors.As(err, &pruned) {
			continue
		}
		if err != nil {
			t.Error(err)
			return
		}
		got := v.State.GetBalance(to).Uint64()
		if err := v.Err(); err != nil {
			t.Error(err)
		}
		v.Close()
		for at := uint64(len(known)) + 1; at <= number; at++ {
			b, err := n.Block(at)
			if err != nil {
				t.Error(err)
				return
			}
			known[at] = known[at-1] + uint64(len(b.Txs))
		}
		if got != known[number] {
			t.Errorf("balance %d at block %d, want %d", got, number, known[number])
			return
		}
	}
}

func BenchmarkViewAndBalance(b *testing.B) {
	for _, depth := range []uint64{0, Window - 1} {
		b.Run(map[bool]string{true: "head", false: "oldest"}[depth == 0], func(b *testing.B) {
			c := boltChain(b)
			n := NewNode(c, NodeOptions{Clock: time.Now})
			defer n.Close()
			for range Window {
				seal(b, c, pay(treasury(), addr(key(7)), 1))
			}
			number, who := c.Head().Number-depth, addr(treasury())
			for b.Loop() {
				v, err := n.View(number)
				if err != nil {
					b.Fatal(err)
				}
				_ = v.State.GetBalance(who)
				v.Close()
			}
		})
	}
}

// benchCall is what eth_call does.
func benchCall(b *testing.B, c *Chain) {
	n := NewNode(c, NodeOptions{})
	defer n.Close()
	for range 10 {
		seal(b, c, pay(treasury(), addr(key(7)), 1), sendToken(b, treasury(), tokenAt(0), addr(key(7)), 1))
	}
	to, data := tokenAt(0), pack(b, "Token", "balanceOf", addr(treasury()))
	for b.Loop() {
		v, err := n.View(c.Head().Number)
		if err != nil {
			b.Fatal(err)
		}
		e := v.EVM(v.Context(false), v.State, vm.Config{NoBaseFee: true})
		msg := &core.Message{To: &to, Value: new(uint256.Int), GasLimit: MaxTxGas, Data: data,
			GasPrice: new(uint256.Int), GasFeeCap: new(uint256.Int), GasTipCap: new(uint256.Int)}
		res, err := core.ApplyMessage(e, msg.SkipNonceCheck().SkipEOACheck(),
			core.NewGasPool(msg.GasLimit))
		if err != nil || res.Failed() {
			b.Fatal(err, res)
		}
		e.Release()
		v.Close()
	}
}

func BenchmarkViewAndCallInMemory(b *testing.B) { benchCall(b, memoryChain(b)) }
func BenchmarkViewAndCallInFile(b *testing.B)   { benchCall(b, boltChain(b)) }
