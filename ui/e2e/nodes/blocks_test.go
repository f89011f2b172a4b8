//go:build unix

package nodes

import (
	"context"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/ui/e2e/rig"
)

// While payments are made, blocks above the final ones are taken back again and again, and what was in them with them:
// every payment happens once, and the program says so when it does.
func TestReorganisationsAboveFinalLoseAndDoubleNothing(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	w := newWorld(t, base)
	file := w.names(w.direct)
	w.edits(file, "final = 1\n", "final = 8\n")
	p := w.person(file)
	ctx, stop := context.WithCancel(t.Context())
	var reorganising sync.WaitGroup
	var taken, back atomic.Int64
	reorganising.Go(func() {
		for depth := 1; ctx.Err() == nil; depth = depth%5 + 1 {
			time.Sleep(7 * tick)
			var before, after hexutil.Uint64
			_ = w.call(ctx, base, &before, "eth_getTransactionCount", p.tank, "latest")
			if w.call(ctx, base, nil, "anvil_reorg", depth, []any{}) == nil {
				taken.Add(1)
			}
			_ = w.call(ctx, base, &after, "eth_getTransactionCount", p.tank, "latest")
			if after < before {
				back.Add(1)
			}
			_ = w.call(ctx, base, nil, "evm_setTime", time.Now().Unix()) // which it had set back with the blocks
		}
	})
	least, most, payments := int64(2), int64(8), int64(0)
	if *killed >= manyKills {
		least = 6
	}
	for payments < least || payments < most && back.Load() == 0 {
		payments++
		p.paysOnce(payments)
	}
	stop()
	reorganising.Wait()
	time.Sleep(10 * tick)
	for n := int64(1); n <= payments; n++ {
		if has := w.holds(base, payee(n)); has != 2_000_000 {
			t.Errorf("payment %d: %d millionths are there in the end", n, has)
		}
	}
	if back.Load() == 0 {
		t.Error("no reorganisation took a payment back")
	}
	t.Logf("%d payments, %d reorganisations, %d took one back", payments, taken.Load(), back.Load())
}

// The base fee rises to five times what it was right after a payment was sent: it is replaced by one that pays more,
// within the cap of the file, and happens once. A fee above the cap is not paid.
func TestABaseFeeFiveTimesHigherIsPaidWithinTheCap(t *testing.T) {
	needsAnvil(t)
	t.Parallel()
	w := newWorld(t, base)
	p := w.person(w.names(w.direct))
	p.paysOnce(1)
	w.mines(base, 0)
	before := big.NewInt(10e9)
	w.ask(base, nil, "anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(before))
	w.ask(base, nil, "evm_mine")
	cmd, o, e := p.script().Starts(p.pays("daily", payee(2), "2")...)
	nonce := w.nonce(base, p.tank)
	w.until("a transaction that waits", func() bool {
		var n hexutil.Uint64
		w.ask(base, &n, "eth_getTransactionCount", p.tank, "pending")
		return uint64(n) > nonce
	})
	dear := new(big.Int).Mul(before, big.NewInt(5))
	rises := func() { // blocks of that fee
		w.ask(base, nil, "anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(dear))
		w.ask(base, nil, "evm_mine")
	}
	for range 4 {
		rises()
	}
	if w.holds(base, payee(2)) != 0 {
		t.Fatal("it is mined with a fee that is too low")
	}
	for end := time.Now().Add(rig.Limit); w.nonce(base, p.tank) == nonce && time.Now().Before(end); {
		time.Sleep(tick)
		rises()
	}
	w.mines(base, tick)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || w.holds(base, payee(2)) != 2_000_000 {
		t.Errorf("exit code %d, %d millionths arrived\n%s\n%s", code, w.holds(base, payee(2)), o, e)
	}
	hash := rig.ResultOf(t, o.String()).Status.DestinationChainOperations[0].Hash
	var tx struct {
		Cap hexutil.Big `json:"maxFeePerGas"`
	}
	w.ask(base, &tx, "eth_getTransactionByHash", hash)
	if paid := tx.Cap.ToInt(); paid.Cmp(dear) < 0 || paid.Cmp(big.NewInt(100e9)) > 0 {
		t.Errorf("the transaction that was mined pays up to %s, the base fee is %s, the cap 100 gwei", paid, dear)
	}
	t.Logf("base fee %s, then %s; paid up to %s", before, dear, tx.Cap.ToInt())
}
