package evm

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/holiman/uint256"

	"coffer/api/service/chain"
)

// testNode attaches a Node whose clock is a second after the head at every block.
func testNode(tb testing.TB, c *Chain) *Node {
	tb.Helper()
	n := NewNode(c, NodeOptions{Clock: func() time.Time { return time.Unix(int64(c.Head().Time)+1, 0) }})
	tb.Cleanup(n.Close)
	return n
}

const gwei = 1_000_000_000

// dynamic is a transaction of type 2 with plenty of fee.
func dynamic(c *Chain, nonce uint64, to *common.Address, value int64, data []byte) *types.DynamicFeeTx {
	return &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(c.ID()), Nonce: nonce, GasTipCap: big.NewInt(gwei),
		GasFeeCap: big.NewInt(20 * gwei), Gas: 1_000_000, To: to, Value: big.NewInt(value), Data: data,
	}
}

func signed(tb testing.TB, c *Chain, k *ecdsa.PrivateKey, data types.TxData) *types.Transaction {
	tb.Helper()
	tx, err := types.SignNewTx(k, c.env.signer, data)
	if err != nil {
		tb.Fatal(err)
	}
	return tx
}

// submit sends a transaction that is sealed.
func submit(tb testing.TB, n *Node, k *ecdsa.PrivateKey, data types.TxData) *types.Transaction {
	tb.Helper()
	tx := signed(tb, n.chain, k, data)
	if sealed, err := n.Submit(context.Background(), tx); err != nil || !sealed {
		tb.Fatalf("sealed %v: %v", sealed, err)
	}
	return tx
}

// foreign submits a transaction of every type, creations and failures among them.
func foreign(t *testing.T, n *Node) {
	t.Helper()
	c, tr := n.chain, treasury()
	next := func() uint64 { return c.nonce(t, addr(tr)) }
	to, token := addr(key(1)), tokenAt(0)
	transfer := pack(t, "Token", "transfer", to, big.NewInt(7))
	submit(t, n, tr, dynamic(c, next(), &to, 1e18, nil))
	submit(t, n, tr, &types.LegacyTx{Nonce: next(), GasPrice: big.NewInt(3 * gwei), Gas: 90_000, To: &token,
		Value: new(big.Int), Data: transfer})
	submit(t, n, tr, &types.AccessListTx{ChainID: c.env.cfg.ChainID, Nonce: next(), GasPrice: big.NewInt(2 * gwei),
		Gas: 90_000, To: &token, Value: new(big.Int), Data: transfer,
		AccessList: types.AccessList{{Address: token, StorageKeys: []common.Hash{{1}}}}})
	create := dynamic(c, next(), nil, 0, initCode(t, "Token", "New", "NEW", uint8(6), to, big.NewInt(9)))
	create.Gas = 3_000_000
	submit(t, n, tr, create)
	submit(t, n, tr, dynamic(c, next(), &token, 1, transfer)) // it takes no coins: reverts
	auth, err := types.SignSetCode(key(1), types.SetCodeAuthorization{ChainID: *uint256.NewInt(c.ID()), Address: token})
	if err != nil {
		t.Fatal(err)
	}
	submit(t, n, tr, &types.SetCodeTx{ChainID: uint256.NewInt(c.ID()), Nonce: next(), GasTipCap: uint256.NewInt(1),
		GasFeeCap: uint256.NewInt(20 * gwei), Gas: 200_000, To: tr2(), Value: new(uint256.Int),
		AuthList: []types.SetCodeAuthorization{auth}})
}

func TestForeignTransactionsPassGoEthereumsImporterWithTheSameReceipts(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	scenario(t, c)
	foreign(t, n)
	scenario2 := c.Head().Number
	seal(t, c, pay(treasury(), addr(key(5)), 1))
	spec, _ := c.spec()
	bc := importer(t, spec)
	blocks := storedBlocks(t, c)
	if i, err := bc.InsertChain(blocks); err != nil {
		t.Fatalf("block %d of %d refused: %v", i+1, len(blocks), err)
	}
	if bc.CurrentBlock().Hash() != n.HeadHash() || n.Head().Hash() != n.HeadHash() {
		t.Fatal("the heads differ")
	}
	seen := map[uint8]bool{}
	for number := uint64(0); number <= scenario2+1; number++ {
		got, err := n.Block(number)
		if err != nil || got == nil {
			t.Fatal(number, err)
		}
		want := bc.GetBlockByNumber(number)
		if got.Hash != want.Hash() || got.Size != want.Size() {
			t.Fatalf("block %d: %s of %d bytes, the importer's %s of %d", number, got.Hash, got.Size, want.Hash(),
				want.Size())
		}
		receipts := bc.GetReceiptsByHash(want.Hash())
		for i, tx := range got.Txs {
			seen[tx.Type()] = true
			from, _ := types.Sender(c.env.signer, tx)
			if got.Senders[i] != from {
				t.Fatalf("block %d: sender %s, want %s", number, got.Senders[i], from)
			}
			if got, want := *got.Receipts[i], *receipts[i]; !sameReceipt(got, want) {
				t.Fatalf("block %d transaction %d:\n%+v\n%+v", number, i, got, want)
			}
			block, index, found, err := n.Lookup(tx.Hash())
			if block != number || index != i || !found || err != nil {
				t.Fatalf("%s is found in %d at %d (%v): %v", tx.Hash(), block, index, found, err)
			}
		}
		if byHash, err := n.BlockByHash(got.Hash); err != nil || !reflect.DeepEqual(byHash.Header, got.Header) {
			t.Fatalf("block %d by its hash: %v", number, err)
		}
	}
	if len(seen) != 4 {
		t.Fatalf("types %v", seen)
	}
	if b, err := n.Block(scenario2 + 2); b != nil || err != nil {
		t.Fatal("a block above the head", err)
	}
	if b, err := n.BlockByHash(common.Hash{1}); b != nil || err != nil {
		t.Fatal("a block of an unknown hash", err)
	}
	if _, _, found, err := n.Lookup(common.Hash{1}); found || err != nil {
		t.Fatal("an unknown transaction", err)
	}
	if _, err := c.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// sameReceipt compares all that a receipt says; no logs are no logs.
func sameReceipt(a, b types.Receipt) bool {
	if len(a.Logs) != len(b.Logs) {
		return false
	}
	for i := range a.Logs {
		if !reflect.DeepEqual(*a.Logs[i], *b.Logs[i]) {
			return false
		}
	}
	a.Logs, b.Logs = nil, nil
	ja, _ := a.MarshalJSON()
	jb, _ := b.MarshalJSON()
	return bytes.Equal(ja, jb)
}

func TestAForeignTipGoesToTheCoinbase(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	to := addr(key(1))
	tx := dynamic(c, c.nonce(t, addr(treasury())), &to, 5, nil)
	submit(t, n, treasury(), tx)
	b, err := n.Block(n.Head().Number.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	v := viewAt(t, n, n.Head().Number.Uint64())
	want := new(big.Int).Mul(big.NewInt(gwei), big.NewInt(21_000))
	if got := v.State.GetBalance(common.Address{}).ToBig(); got.Cmp(want) != 0 || b.Receipts[0].GasUsed != 21_000 {
		t.Fatalf("the coinbase has %s after %d gas", got, b.Receipts[0].GasUsed)
	}
}

func viewAt(tb testing.TB, n *Node, number uint64) *View {
	tb.Helper()
	v, err := n.View(number)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(v.Close)
	return v
}

func TestTheHeadChangesOnceForEveryBlock(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	for _, made := range []func(){
		func() { seal(t, c) },
		func() { submit(t, n, treasury(), dynamic(c, 0, &common.Address{9}, 1, nil)) },
		func() {
			if _, err := SealAll(context.Background(), []Sealing{{Chain: c,
				Request: chain.SealRequest{Time: c.Head().Time + 1}}}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		changed, before := n.Changed(), n.Head().Number.Uint64()
		select {
		case <-changed:
			t.Fatal("changed without a block")
		default:
		}
		made()
		select {
		case <-changed:
		default:
			t.Fatal("a block was not told")
		}
		if n.Head().Number.Uint64() != before+1 {
			t.Fatal("the head is another")
		}
	}
}

// A call on a view sees the block's own context, or the next one's.
func TestACallOnAViewSeesItsBlock(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	for range 5 {
		seal(t, c, pay(treasury(), addr(key(1)), 1))
	}
	// number, time, hash of block 3
	code := common.FromHex("436000524260205260034060405260606000f3")
	for _, number := range []uint64{3, 5} {
		v := viewAt(t, n, number)
		for _, child := range []bool{false, true} {
			st := v.State.Copy()
			e := v.EVM(v.Context(child), st, vm.Config{NoBaseFee: true})
			msg := &core.Message{To: nil, Value: new(uint256.Int), GasLimit: 1_000_000, Data: code,
				GasPrice: new(uint256.Int), GasFeeCap: new(uint256.Int), GasTipCap: new(uint256.Int)}
			res, err := core.ApplyMessage(e, msg.SkipNonceCheck().SkipEOACheck(), core.NewGasPool(msg.GasLimit))
			if err != nil || res.Failed() && !errors.Is(res.Err, vm.ErrCodeStoreOutOfGas) {
				t.Fatal(err, res)
			}
			e.Release()
			out := res.ReturnData
			wantNumber, wantTime, wantHash := number, v.Header.Time, common.Hash{}
			if child {
				wantNumber, wantTime = number+1, max(n.Head().Time+1, wantTime)
			}
			if wantNumber > 3 {
				wantHash = blockOf(t, n, 3).Hash
			}
			if new(big.Int).SetBytes(out[:32]).Uint64() != wantNumber ||
				new(big.Int).SetBytes(out[32:64]).Uint64() != wantTime || common.Hash(out[64:]) != wantHash {
				t.Fatalf("at %d, child %v: %x", number, child, out)
			}
		}
		if v.Err() != nil {
			t.Fatal(v.Err())
		}
	}
}

func blockOf(tb testing.TB, n *Node, number uint64) *Block {
	tb.Helper()
	b, err := n.Block(number)
	if err != nil || b == nil {
		tb.Fatalf("block %d: %v", number, err)
	}
	return b
}
