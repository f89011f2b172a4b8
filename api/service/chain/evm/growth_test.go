//go:build !race

// 20 000 transfers in one goroutine: the race detector has nothing to find here
// and takes a minute for it.

package evm

import (
	"crypto/ecdsa"
	"testing"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// stateBytes is the size of everything that is kept of the state.
func stateBytes(t *testing.T, c *Chain) (entries int, bytes int64) {
	t.Helper()
	_ = c.store.View(func(tx store.Tx) error {
		entries, bytes = store.Size(tx.Bucket(c.layout.state))
		return nil
	})
	return entries, bytes
}

// The state grows with the accounts, not with the blocks: after 20 000
// transfers among ten accounts it is at most 1.5 times what it was after 1 000.
func TestStateDoesNotGrowWithTransfers(t *testing.T) {
	c := memoryChain(t)
	who := payers(10)
	var fund []chain.Tx
	for _, k := range who {
		fund = append(fund, pay(treasury(), addr(k), 1e18), sendToken(t, treasury(), tokenAt(0), addr(k), 1e6))
	}
	seal(t, c, fund...)
	transfer := func(i int, from, to *ecdsa.PrivateKey) chain.Tx {
		if i%2 == 0 {
			return pay(from, addr(to), int64(i))
		}
		return sendToken(t, from, tokenAt(0), addr(to), 1)
	}
	const perBlock, early, all = 5, 1_000, 20_000
	var first int64
	for i := 0; i < all; i += perBlock {
		if i == early {
			_, first = stateBytes(t, c)
		}
		var txs []chain.Tx
		for j := i; j < i+perBlock; j++ {
			txs = append(txs, transfer(j, who[j%10], who[(j*7+1)%10]))
		}
		seal(t, c, txs...)
	}
	entries, last := stateBytes(t, c)
	t.Logf("state: %d bytes after %d transfers, %d bytes in %d entries after %d", first, early, last, entries, all)
	if float64(last) > 1.5*float64(first) {
		t.Fatalf("state grew from %d to %d bytes", first, last)
	}
}
