package evm

import (
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/beacon"
	"github.com/ethereum/go-ethereum/consensus/ethash"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// importer is go-ethereum's own block importer on the same genesis.
func importer(t *testing.T, spec Spec) *core.BlockChain {
	t.Helper()
	all, err := spec.accounts()
	if err != nil {
		t.Fatal(err)
	}
	ga := types.GenesisAlloc{}
	for _, a := range all {
		balance := a.Balance
		if balance == nil {
			balance = new(big.Int)
		}
		ga[a.Address] = types.Account{Code: a.Code, Nonce: a.Nonce, Balance: balance, Storage: a.Storage}
	}
	g := &core.Genesis{
		Config: exec.Config(spec.ChainID, exec.Osaka), GasLimit: GasLimit, Alloc: ga, Timestamp: spec.Time,
		Difficulty: new(big.Int), BaseFee: big.NewInt(GenesisBaseFee),
	}
	bc, err := core.NewBlockChain(rawdb.NewMemoryDatabase(), g, beacon.New(ethash.NewFaker()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bc.Stop)
	return bc
}

// storedBlocks reads the sealed blocks in go-ethereum's own form.
func storedBlocks(t *testing.T, c *Chain) types.Blocks {
	t.Helper()
	var out types.Blocks
	err := c.store.View(func(tx store.Tx) error {
		for n := uint64(1); n <= c.Head().Number; n++ {
			r, _, err := c.record(tx, n)
			if err != nil {
				return err
			}
			body := types.Body{Transactions: r.Txs, Withdrawals: []*types.Withdrawal{}}
			out = append(out, types.NewBlockWithHeader(r.Header).WithBody(body))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// scenario seals blocks of every kind: empty, transfers, contract calls,
// reverts, out of gas, several senders and nonces in one block, slots that
// come and go, creation through the deployer, delegations set and removed.
func scenario(t *testing.T, c *Chain) {
	t.Helper()
	tr, a, b := treasury(), key(1), key(2)
	none := common.Address{}
	seal(t, c)
	seal(t, c, pay(tr, addr(a), 1e18), pay(tr, addr(b), 1e18), pay(a, addr(b), 5))
	seal(t, c, sendToken(t, tr, tokenAt(0), addr(a), 100), sendToken(t, a, tokenAt(0), addr(b), 100))
	seal(t, c, sendToken(t, b, tokenAt(0), addr(a), 101)) // reverts
	seal(t, c, chain.Tx{From: signers.Local(b), To: tokenAt(0), Gas: 30_000,
		Data: pack(t, "Token", "transfer", addr(a), big.NewInt(1))})
	seal(t, c, sendToken(t, b, tokenAt(0), addr(a), 100)) // b's slot is empty again
	deploy := append(common.Hash{7}.Bytes(), initCode(t, "Filler", addr(a), addr(b))...)
	seal(t, c, chain.Tx{From: signers.Local(tr), To: DeterministicDeployer(), Data: deploy})
	seal(t, c, chain.Tx{From: signers.Local(tr), To: addr(b), Authorizations: auths(authorize(t, b, c.ID(), tokenAt(1),
		c.nonce(t, addr(b))))})
	seal(t, c, chain.Tx{From: signers.Local(tr), To: addr(b), Data: pack(t, "Token", "name")})
	seal(t, c, chain.Tx{From: signers.Local(tr), To: tr2(), Value: big.NewInt(1),
		Authorizations: auths(authorize(t, b, c.ID(), none, c.nonce(t, addr(b))))})
	for i := range 20 {
		seal(t, c, sendToken(t, tr, tokenAt(i%3), addr(key(10+i)), int64(i+1)), pay(tr, addr(key(10+i)), int64(i)))
	}
	for i := range 30 {
		seal(t, c, pay(tr, addr(key(100+i)), 1))
	}
}

func tr2() common.Address { return common.Address{0x77} }

func (c *Chain) nonce(tb testing.TB, a common.Address) uint64 {
	tb.Helper()
	st, err := c.State(context.Background(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer st.Close()
	return st.Nonce(a)
}

func TestEveryBlockIsAcceptedByGoEthereumsImporter(t *testing.T) {
	c := memoryChain(t)
	scenario(t, c)
	spec, err := c.spec()
	if err != nil {
		t.Fatal(err)
	}
	bc := importer(t, spec)
	if genesis, _, err := c.Block(context.Background(), 0); err != nil || genesis.Hash != bc.Genesis().Hash() {
		t.Fatalf("genesis %s, the importer's %s, err %v", genesis.Hash, bc.Genesis().Hash(), err)
	}
	blocks := storedBlocks(t, c)
	if n, err := bc.InsertChain(blocks); err != nil {
		t.Fatalf("block %d of %d refused: %v", n+1, len(blocks), err)
	}
	if got := bc.CurrentBlock().Hash(); got != c.Head().Hash || len(blocks) < 60 {
		t.Fatalf("imported head %s after %d blocks, ours %s", got, len(blocks), c.Head().Hash)
	}
	compareReceipts(t, c, bc)
}

// compareReceipts checks what receipts say against the importer's.
func compareReceipts(t *testing.T, c *Chain, bc *core.BlockChain) {
	t.Helper()
	failed := 0
	for n := uint64(1); n <= c.Head().Number; n++ {
		ours, _, err := c.Block(context.Background(), n)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range bc.GetReceiptsByHash(ours.Hash) {
			got := ours.Receipts[i]
			if got.TxHash != want.TxHash || got.GasUsed != want.GasUsed || got.Success != (want.Status == 1) ||
				len(got.Logs) != len(want.Logs) || got.BlockHash != want.BlockHash {
				t.Fatalf("block %d transaction %d: %+v, the importer says %+v", n, i, got, want)
			}
			if !got.Success {
				failed++
			}
		}
	}
	// A transfer of too much, one out of gas, and the delegation's own call,
	// which meets a token without a fallback.
	if failed != 3 {
		t.Fatalf("%d failed transactions, the scenario has 3", failed)
	}
}

func TestSameTransactionsAndClockGiveTheSameHeadOnEveryStore(t *testing.T) {
	m, b := memoryChain(t), boltChain(t)
	scenario(t, m)
	scenario(t, b)
	if m.Head().Hash != b.Head().Hash || m.Head().Number < 60 {
		t.Fatalf("memory %+v, file %+v", m.Head(), b.Head())
	}
}

func TestReplayFromGenesisGivesTheSameState(t *testing.T) {
	for name, c := range map[string]*Chain{"memory": memoryChain(t), "file": boltChain(t)} {
		t.Run(name, func(t *testing.T) {
			scenario(t, c)
			n, err := c.Verify(context.Background())
			if err != nil || n != c.Head().Number {
				t.Fatalf("verified to %d of %d: %v", n, c.Head().Number, err)
			}
		})
	}
}

func TestFlatStateAgreesWithTheTrie(t *testing.T) {
	c := memoryChain(t)
	scenario(t, c)
	snap, h, r, err := c.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Release()
	tr, err := trie.NewStateTrie(trie.StateTrieID(h.header.Root), &database{reader: r})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := c.spec()
	if err != nil {
		t.Fatal(err)
	}
	all, _ := spec.accounts()
	for _, a := range append(all, Account{Address: addr(key(1))}, Account{Address: addr(key(2))}) {
		flat, err := r.Account(a.Address)
		if err != nil {
			t.Fatal(err)
		}
		proven, err := tr.GetAccount(a.Address)
		if err != nil {
			t.Fatal(err)
		}
		if flat.Root != proven.Root || flat.Nonce != proven.Nonce || !flat.Balance.Eq(proven.Balance) {
			t.Fatalf("%s: flat %+v, trie %+v", a.Address, flat, proven)
		}
	}
}
