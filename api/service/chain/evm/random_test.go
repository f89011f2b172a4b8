package evm

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// ledger is what balances must be: amounts move, fees are burned.
type ledger struct{ native, token map[common.Address]*big.Int }

func (l ledger) move(of map[common.Address]*big.Int, from, to common.Address, amount *big.Int) {
	of[from] = new(big.Int).Sub(of[from], amount)
	of[to] = new(big.Int).Add(of[to], amount)
}

// planned is a transaction and what it does when it succeeds.
type planned struct {
	tx     chain.Tx
	effect func(ledger)
}

// plan draws a transfer of coins, of tokens (too many now and then, which
// reverts), or a delegation that is set or removed.
func plan(t *rapid.T, tb testing.TB, c *Chain, nonces map[int]uint64) planned {
	n := rapid.IntRange(0, 4).Draw(t, "from")
	from, to := key(300+n), addr(key(300+rapid.IntRange(0, 4).Draw(t, "to")))
	amount := big.NewInt(rapid.Int64Range(0, 1200).Draw(t, "amount"))
	nonces[n]++
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		target := rapid.SampledFrom([]common.Address{{}, tokenAt(0)}).Draw(t, "delegate")
		a := authorize(tb, from, c.ID(), target, nonces[n])
		nonces[n]++
		return planned{chain.Tx{From: signers.Local(from), To: common.Address{0x77}, Gas: 100_000,
			Authorizations: auths(a)},
			func(ledger) {}}
	case 1, 2:
		return planned{sendToken(tb, from, tokenAt(0), to, amount.Int64()),
			func(l ledger) { l.move(l.token, addr(from), to, amount) }}
	}
	// Enough gas for a receiver that is delegated to a token; that reverts.
	return planned{chain.Tx{From: signers.Local(from), To: to, Value: amount, Gas: 60_000},
		func(l ledger) { l.move(l.native, addr(from), to, amount) }}
}

// Random blocks of settlement and of others, some of them refused, lead to balances that follow from the
// receipts, to a state without leftovers, and to a chain that go-ethereum's
// importer accepts.
func TestRandomBlocksAgreeWithALedgerAndTheImporter(t *testing.T) {
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
		n := testNode(t, c)
		l := ledger{native: map[common.Address]*big.Int{{}: new(big.Int), {0x99}: new(big.Int)},
			token: map[common.Address]*big.Int{owner: big.NewInt(supply)}}
		var gifts []chain.Tx
		for i := range 5 {
			a := addr(key(300 + i))
			l.native[a], l.token[a] = tenToThe18(1), new(big.Int)
			l.move(l.token, owner, a, big.NewInt(1000))
			gifts = append(gifts, sendToken(t, treasury(), tokenAt(0), a, 1000))
		}
		seal(t, c, gifts...)
		nonces := map[int]uint64{}
		for range rapid.IntRange(1, 6).Draw(rt, "blocks") {
			if rapid.IntRange(0, 2).Draw(rt, "whose") == 0 {
				foreignBlock(rt, t, n, l, nonces)
			} else {
				randomBlock(rt, t, c, l, nonces)
			}
		}
		checkLedger(rt, t, c, l)
		if err := onlyReachable(c); err != nil {
			rt.Fatal(err)
		}
		bc := importer(t, spec)
		if n, err := bc.InsertChain(storedBlocks(t, c)); err != nil || bc.CurrentBlock().Hash() != c.Head().Hash {
			rt.Fatalf("block %d: %v", n+1, err)
		}
		bc.Stop()
	})
}

// foreignBlock submits a transfer with a tip.
func foreignBlock(rt *rapid.T, t *testing.T, n *Node, l ledger, nonces map[int]uint64) {
	from, c := rapid.IntRange(0, 4).Draw(rt, "from"), n.chain
	a, to := addr(key(300+from)), common.Address{0x99}
	tip, wei := rapid.Int64Range(0, 3*gwei).Draw(rt, "tip"), rapid.Int64Range(0, 9).Draw(rt, "wei")
	tx := dynamic(c, nonces[from], &to, wei, nil)
	tx.Gas, tx.GasTipCap, tx.GasFeeCap = 21_000, big.NewInt(tip), big.NewInt(max(tip, 2*gwei))
	submit(t, n, key(300+from), tx)
	nonces[from]++
	b := blockOf(t, n, c.Head().Number)
	paid := new(big.Int).Mul(b.Receipts[0].EffectiveGasPrice, big.NewInt(21_000))
	burned := new(big.Int).Mul(b.Header.BaseFee, big.NewInt(21_000))
	l.move(l.native, a, to, big.NewInt(wei))
	l.move(l.native, a, common.Address{}, new(big.Int).Sub(paid, burned))
	l.native[a] = new(big.Int).Sub(l.native[a], burned)
}

func randomBlock(rt *rapid.T, t *testing.T, c *Chain, l ledger, nonces map[int]uint64) {
	kept := map[int]uint64{}
	for k, v := range nonces {
		kept[k] = v
	}
	var plans []planned
	var txs []chain.Tx
	for range rapid.IntRange(0, 5).Draw(rt, "transactions") {
		p := plan(rt, t, c, kept)
		plans, txs = append(plans, p), append(txs, p.tx)
	}
	req := chain.SealRequest{Time: c.Head().Time + 1, Txs: txs}
	fate := rapid.SampledFrom([]string{"sealed", "sealed", "not accepted", "not recorded", "refused"}).Draw(rt, "fate")
	why := errors.New(fate)
	switch fate {
	case "not accepted":
		req.Accept = func([]chain.Receipt) error { return why }
	case "not recorded":
		req.Record = func(store.Tx, chain.Block) error { return why }
	case "refused":
		req.Txs = append(req.Txs, pay(key(999), common.Address{1}, 1)) // owns nothing
	}
	b, err := c.Seal(context.Background(), req)
	if fate != "sealed" {
		if err == nil {
			rt.Fatalf("a block that must be %s was sealed", fate)
		}
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	for k, v := range kept {
		nonces[k] = v
	}
	for i, r := range b.Receipts {
		l.native[r.From] = new(big.Int).Sub(l.native[r.From],
			new(big.Int).Mul(b.BaseFee, new(big.Int).SetUint64(r.GasUsed)))
		if r.Success {
			plans[i].effect(l)
		}
	}
}

func checkLedger(rt *rapid.T, t *testing.T, c *Chain, l ledger) {
	st, err := c.State(context.Background(), 0)
	if err != nil {
		rt.Fatal(err)
	}
	defer st.Close()
	for a, want := range l.native {
		if got := st.Balance(a); got.Cmp(want) != 0 {
			rt.Fatalf("%s has %s, want %s", a, got, want)
		}
	}
	sum := new(big.Int)
	for a, want := range l.token {
		got := tokenBalance(t, st, tokenAt(0), a)
		if got.Cmp(want) != 0 {
			rt.Fatalf("%s has %s tokens, want %s", a, got, want)
		}
		sum.Add(sum, got)
	}
	if sum.Int64() != supply {
		rt.Fatalf("the tokens sum up to %s", sum)
	}
}
