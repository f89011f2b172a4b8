package evm

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"pgregory.net/rapid"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

// devNode is a Node of a development network.
func devNode(tb testing.TB, c *Chain) *Node {
	tb.Helper()
	n := NewNode(c, NodeOptions{Dev: true,
		Clock: func() time.Time { return time.Unix(int64(c.Head().Time)+1, 0) }})
	tb.Cleanup(n.Close)
	return n
}

func sendAs(tb testing.TB, n *Node, from common.Address, data types.TxData) common.Hash {
	tb.Helper()
	hash, sealed, err := n.SendAs(context.Background(), from, types.NewTx(data))
	if err != nil || !sealed {
		tb.Fatalf("sealed %v: %v", sealed, err)
	}
	return hash
}

func verified(tb testing.TB, c *Chain) {
	tb.Helper()
	if at, err := c.Verify(context.Background()); err != nil || at != c.Head().Number {
		tb.Fatalf("verified to %d of %d: %v", at, c.Head().Number, err)
	}
}

func TestWithoutDevOnlySignedTransactionsChangeAnything(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	before := fingerprint(t, c)
	unsigned := types.NewTx(dynamic(c, 0, &common.Address{9}, 1, nil))
	_, _, sent := n.SendAs(context.Background(), addr(treasury()), unsigned)
	_, taken := n.Snapshot()
	_, reverted := n.Revert(1)
	for _, err := range []error{n.Change(chain.Overlay{{1}: {Balance: big.NewInt(1)}}),
		n.Mine(context.Background(), 1, 1), sent, taken, reverted} {
		if !errors.Is(err, ErrNotDev) {
			t.Fatal(err)
		}
	}
	// The signature that impersonates is none.
	tx, err := n.impersonated(unsigned, addr(treasury()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Submit(context.Background(), tx); err == nil {
		t.Fatal("it was taken")
	}
	if !bytes.Equal(before, fingerprint(t, c)) {
		t.Fatal("something changed")
	}
}

func TestADevelopmentNetworkSetsWhatAnAccountHas(t *testing.T) {
	c := memoryChain(t)
	n := devNode(t, c)
	seal(t, c, pay(treasury(), addr(key(1)), 5))
	at, token, nonce, slot := common.Address{0xaa}, tokenAt(0), uint64(41), common.Hash{31: 3}
	zero := uint64(0)
	for _, o := range []chain.Overlay{
		{at: {Balance: tenToThe18(3)}}, {at: {Nonce: &nonce}}, {at: {Code: []byte{0x5b}}},
		{at: {Storage: map[common.Hash]common.Hash{slot: {7}}},
			token: {Storage: map[common.Hash]common.Hash{slot: {8}}}},
		{token: {Code: []byte{0x00}}, addr(key(1)): {Balance: new(big.Int)}},
	} {
		before := c.Head()
		if err := n.Change(o); err != nil {
			t.Fatal(err)
		}
		if c.Head().Number != before.Number+1 || c.Head().Time != before.Time {
			t.Fatalf("block %d at %d after %d at %d", c.Head().Number, c.Head().Time, before.Number, before.Time)
		}
	}
	st := viewAt(t, n, c.Head().Number).State
	if st.GetBalance(at).ToBig().Cmp(tenToThe18(3)) != 0 || st.GetNonce(at) != 41 ||
		!bytes.Equal(st.GetCode(at), []byte{0x5b}) ||
		st.GetState(at, slot) != (common.Hash{7}) || st.GetState(token, slot) != (common.Hash{8}) ||
		!bytes.Equal(st.GetCode(token), []byte{0}) || st.Exist(addr(key(1))) {
		t.Fatal("something else was set")
	}
	if old := viewAt(t, n, 1).State; old.Exist(at) || old.GetBalance(addr(key(1))).Uint64() != 5 {
		t.Fatal("an older state changed")
	}
	before := fingerprint(t, c)
	for name, o := range map[string]chain.Overlay{
		"slots without an account":                  {{0xbb}: {Storage: map[common.Hash]common.Hash{{}: {1}}}},
		"an account with slots that would be empty": {at: {Balance: new(big.Int), Nonce: &zero, Code: []byte{}}},
	} {
		if err := n.Change(o); !errors.Is(err, ErrNoStorage) {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := n.Change(chain.Overlay{at: {Balance: big.NewInt(-1)}}); !errors.Is(err, exec.ErrAmount) {
		t.Fatal(err)
	}
	if !bytes.Equal(before, fingerprint(t, c)) {
		t.Fatal("a refused change left something")
	}
	seal(t, c, pay(treasury(), at, 1))
	verified(t, c)
	if err := onlyReachable(c); err != nil {
		t.Fatal(err)
	}
}

func TestImpersonatedSendersNeedNoKey(t *testing.T) {
	s := store.NewMemory()
	c := openTest(t, s, testSpec(t, 8453))
	n := devNode(t, c)
	someone, contract := common.Address{0xaa}, tokenAt(0)
	rich := chain.Override{Balance: tenToThe18(1)}
	if err := n.Change(chain.Overlay{someone: rich, contract: rich}); err != nil {
		t.Fatal(err)
	}
	to := common.Address{9}
	hash := sendAs(t, n, someone, dynamic(c, 0, &to, 5, nil))
	sendAs(t, n, someone, &types.LegacyTx{Nonce: 1, GasPrice: big.NewInt(2 * gwei), Gas: 21_000, To: &to,
		Value: big.NewInt(6)})
	sendAs(t, n, contract, dynamic(c, c.nonce(t, contract), &to, 7, nil)) // a sender with code
	if got := viewAt(t, n, c.Head().Number).State.GetBalance(to).Uint64(); got != 18 {
		t.Fatalf("%d arrived", got)
	}
	number, index, found, err := n.Lookup(hash)
	if err != nil || !found || number != 2 || index != 0 || blockOf(t, n, 2).Senders[0] != someone {
		t.Fatal("it is not found", err)
	}
	if _, _, err := n.SendAs(context.Background(), someone, types.NewTx(dynamic(c, 1, &to, 5, nil))); err == nil ||
		err.Error() != "nonce too low: next nonce 2, tx nonce 1" {
		t.Fatal(err)
	}
	for number := uint64(2); number <= 4; number++ {
		if err := n.Replay(context.Background(), number, func(*Step) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	submit(t, n, treasury(), dynamic(c, 0, &to, 1, nil))
	verified(t, c)
	n.Close()
	verified(t, openTest(t, s, testSpec(t, 8453))) // also by a program that is no development network

	for _, f := range []struct {
		name  string
		block uint64
		forge func(*record)
	}{
		{"another sender", 2, func(r *record) { r.Outcomes[0].From = contract }},
		{"a mark that is missing", 2, func(r *record) { r.Unsigned = nil }},
		{"a mark of what is not there", 2, func(r *record) { r.Unsigned = []uint64{0, 1} }},
		{"a mark twice", 2, func(r *record) { r.Unsigned = []uint64{0, 0} }},
		{"a mark where the sender has signed", 5, func(r *record) { r.Unsigned = []uint64{0} }},
	} {
		var kept []byte
		err := s.Update(func(tx store.Tx) error {
			b := tx.Bucket(c.layout.blocks)
			kept = b.Get(numberKey(f.block))
			r, hash, err := decodeRecord(kept)
			if err != nil {
				return err
			}
			f.forge(r)
			v, err := encodeRecord(hash, r)
			if err != nil {
				return err
			}
			return b.Put(numberKey(f.block), v)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Verify(context.Background()); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", f.name, err)
		}
		tamper(t, c, c.layout.blocks, numberKey(f.block), kept)
	}
	verified(t, c)
}

func TestMinedBlocksAreAsFarApartAsAsked(t *testing.T) {
	c := memoryChain(t)
	n := devNode(t, c)
	start := c.Head().Time + 1
	if err := n.Mine(context.Background(), 3, 60); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if got := blockOf(t, n, i+1).Header.Time; got != start+i*60 {
			t.Fatalf("block %d at %d, the first at %d", i+1, got, start)
		}
	}
	if err := n.Mine(context.Background(), maxMined+1, 0); err == nil || c.Head().Number != 3 {
		t.Fatal("too many were mined")
	}
	verified(t, c)
}

func TestARevertedChainIsWhatItWas(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *Chain{"memory": memoryChain, "file": boltChain} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			var told []uint64
			n := NewNode(c, NodeOptions{Dev: true, Clock: time.Now, Reverted: func(tx store.Tx, to uint64) error {
				told = append(told, to)
				return tx.Bucket("record").Put([]byte("number"), numberKey(to))
			}})
			defer n.Close()
			scenario(t, c)
			if err := n.Change(chain.Overlay{{5}: {Balance: big.NewInt(1)}}); err != nil {
				t.Fatal(err)
			}
			before, head, header := fingerprint(t, c), c.Head().Number, n.HeadHash()
			everything := LogQuery{To: 1 << 62}
			logs, err := n.Logs(context.Background(), everything)
			if err != nil {
				t.Fatal(err)
			}
			id, err := n.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			later := uint64(0)
			var gone common.Hash
			for i := range Window + 20 { // more than is kept without a snapshot
				b := seal(t, c, sendToken(t, treasury(), tokenAt(i%3), addr(key(10+i%7)), 1))
				if i == 3 {
					gone = b.Hash
				}
				if i == 5 {
					if later, err = n.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
			lost := blockOf(t, n, c.Head().Number).Txs[0].Hash()
			if _, found, _ := n.NumberOf(gone); !found {
				t.Fatal("a block is not found")
			}
			if _, err := n.Logs(context.Background(), everything); err != nil {
				t.Fatal(err)
			}
			var pruned *PrunedError
			old, err := n.View(head)
			if !errors.As(err, &pruned) || pruned.Oldest != c.Head().Number-Window+1 {
				old.Close()
				t.Fatal("a snapshot makes the window larger", err)
			}
			held := dynamic(c, c.nonce(t, addr(treasury()))+1, &common.Address{1}, 1, nil)
			if _, err := n.Submit(context.Background(), signed(t, c, treasury(), held)); err != nil {
				t.Fatal(err)
			}
			changed := n.Changed()
			if ok, err := n.Revert(id); !ok || err != nil {
				t.Fatal(ok, err)
			}
			select {
			case <-changed:
			default:
				t.Fatal("the service was not told")
			}
			if n.HeadHash() != header || len(told) != 1 || told[0] != head || len(n.Held()) != 0 {
				t.Fatalf("head %s, told %v", n.HeadHash(), told)
			}
			_ = c.store.Update(func(tx store.Tx) error { return tx.Bucket("record").Delete([]byte("number")) })
			if !bytes.Equal(before, fingerprint(t, c)) {
				t.Fatal("the store has something else")
			}
			if _, found, _ := n.NumberOf(gone); found {
				t.Fatal("a block that is gone is found by its hash")
			}
			if _, _, found, _ := n.Lookup(lost); found {
				t.Fatal("a transaction that is gone is found")
			}
			if again, err := n.Logs(context.Background(), everything); err != nil || len(again) != len(logs) {
				t.Fatalf("%d logs, there were %d: %v", len(again), len(logs), err)
			}
			for _, unknown := range []uint64{id, later, 99} {
				if ok, err := n.Revert(unknown); ok || err != nil {
					t.Fatal("a forgotten snapshot is known", err)
				}
			}
			viewAt(t, n, head).Close()
			seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 1))
			if again, err := n.Logs(context.Background(), everything); err != nil || len(again) != len(logs)+1 {
				t.Fatalf("%d logs, there were %d and one more: %v", len(again), len(logs), err)
			}
			verified(t, c)
			if err := onlyReachable(c); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What the service records ends in the same commit, or nothing is taken back.
func TestARevertThatCannotBeRecordedLeavesEverything(t *testing.T) {
	c := memoryChain(t)
	fault := errors.New("no")
	n := NewNode(c, NodeOptions{Dev: true, Reverted: func(store.Tx, uint64) error { return fault }})
	defer n.Close()
	id, _ := n.Snapshot()
	seal(t, c, pay(treasury(), addr(key(1)), 1))
	before := fingerprint(t, c)
	if ok, err := n.Revert(id); ok || !errors.Is(err, fault) {
		t.Fatal(ok, err)
	}
	if !bytes.Equal(before, fingerprint(t, c)) || c.Head().Number != 1 {
		t.Fatal("something was taken back")
	}
	if got := viewAt(t, n, 0).State.GetBalance(addr(key(1))).Uint64(); got != 0 {
		t.Fatal("the window is another")
	}
	fault = nil
	if ok, err := n.Revert(id); !ok || err != nil || c.Head().Number != 0 {
		t.Fatal(ok, err)
	}
}

func TestASnapshotTooFarBehindIsForgotten(t *testing.T) {
	c := openTest(t, store.NewMemory(), crashSpec())
	n := devNode(t, c)
	id, _ := n.Snapshot()
	if err := n.Mine(context.Background(), keptForSnapshots, 0); err != nil {
		t.Fatal(err)
	}
	if len(n.undos) != keptForSnapshots {
		t.Fatalf("%d blocks are kept", len(n.undos))
	}
	if err := n.Mine(context.Background(), 1, 0); err != nil {
		t.Fatal(err)
	}
	if ok, err := n.Revert(id); ok || err != nil || len(n.undos) != Window-1 {
		t.Fatalf("reverted %v, %d blocks are kept: %v", ok, len(n.undos), err)
	}
}

// Whatever is done, taken back and done again, the chain replays, and every state of the window is its block's.
func TestRandomSnapshotsAndRevertsLeaveAChainThatReplays(t *testing.T) {
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
		n := devNode(t, c)
		type marked struct {
			id   uint64
			hash common.Hash
		}
		var marks []marked
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0:
				id, _ := n.Snapshot()
				marks = append(marks, marked{id, n.HeadHash()})
			case 1:
				if len(marks) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(marks)-1).Draw(rt, "snapshot")
				if ok, err := n.Revert(marks[i].id); !ok || err != nil || n.HeadHash() != marks[i].hash {
					rt.Fatalf("reverted %v: %v", ok, err)
				}
				marks = marks[:i]
			case 2:
				nonce := rapid.Uint64Range(0, 1000).Draw(rt, "nonce")
				a := common.Address{byte(rapid.IntRange(1, 3).Draw(rt, "account"))}
				if err := n.Change(chain.Overlay{a: {Balance: big.NewInt(int64(nonce) + 1), Nonce: &nonce,
					Storage: map[common.Hash]common.Hash{{byte(nonce)}: {byte(nonce >> 4)}}}}); err != nil {
					rt.Fatal(err)
				}
			default:
				randomChange(rt, t, n)
			}
		}
		if at, err := c.Verify(context.Background()); err != nil || at != c.Head().Number {
			rt.Fatal(at, err)
		}
		if err := onlyReachable(c); err != nil {
			rt.Fatal(err)
		}
		copied := openTest(t, store.NewMemory(), spec)
		sameVersion(rt, t, n, 0, copied)
		for number := uint64(1); number <= c.Head().Number; number++ {
			if err := c.replay(copied, number); err != nil {
				rt.Fatal(err)
			}
			sameVersion(rt, t, n, number, copied)
		}
	})
}

// Readers, the verification and submissions go on while blocks come and go.
func TestRevertsWhileOthersReadAndVerify(t *testing.T) {
	c := openTest(t, store.NewMemory(), crashSpec())
	n := devNode(t, c)
	var others sync.WaitGroup
	done := make(chan struct{})
	until := func(do func() error) {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := do(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	until(func() error { _, err := c.Verify(context.Background()); return err })
	until(func() error { _, err := n.Logs(context.Background(), LogQuery{To: 1000}); return err })
	until(func() error {
		v, err := n.View(n.Head().Number.Uint64())
		if errors.Is(err, ErrUnknownBlock) { // it went away
			return nil
		}
		if err != nil {
			return err
		}
		defer v.Close()
		v.State.GetBalance(addr(treasury()))
		return v.Err()
	})
	for range 30 {
		id, _ := n.Snapshot()
		for range 3 {
			seal(t, c, pay(treasury(), addr(key(1)), 1))
		}
		if ok, err := n.Revert(id); !ok || err != nil {
			t.Fatal(ok, err)
		}
		seal(t, c, pay(treasury(), addr(key(1)), 1))
	}
	close(done)
	others.Wait()
	verified(t, c)
}
