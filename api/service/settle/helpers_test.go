package settle_test

import (
	"context"
	"math/big"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/api/service/quotestore"
	. "coffer/api/service/settle/settletest"
)

func transferData(to common.Address, v *big.Int) []byte { return erc20.Transfer(to, v) }

// wholeEnv set to anything runs every case of the long tests, which otherwise take a part that touches each kind, step
// and story.
const wholeEnv = "COFFER_TEST_WHOLE"

func whole() bool { return os.Getenv(wholeEnv) != "" }

// stride is how many cases a run goes on at a time: all are taken when it is whole, few when it is short.
func stride(usual int) int {
	switch {
	case whole():
		return 1
	case testing.Short():
		return 4 * usual
	}
	return usual
}

func zero() *big.Int { return new(big.Int) }

// wei is a number of whole coins with 18 decimals.
func wei(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func bigOf(v int64) *big.Int { return big.NewInt(v) }

func number64(v uint64) string { return strconv.FormatUint(v, 10) }

func solverOf(w *World) common.Address { return w.Installation.Pins.Solver }

func query(w *World) quotestore.HistoryQuery {
	return quotestore.HistoryQuery{User: w.User.Account.AccountAddress}
}

// jumpy is a price source whose ETH price the test sets; everything else costs a dollar and gas is free.
type jumpy struct{ eth atomic.Int64 }

func (j *jumpy) Price(id caip.AggregateID, _ time.Time) (*big.Int, bool) {
	if id == "ob:eth" {
		return bigOf(j.eth.Load()), true
	}
	return bigOf(1_000_000), true
}

func (j *jumpy) GasCostMicroUSD(uint64, uint64, time.Time) (*big.Int, bool) { return zero(), true }

// record is the record of a quote.
func record(w *World, id string) *quotestore.Quote {
	w.TB.Helper()
	q, err := w.Book.Quote(context.Background(), id)
	Must(w.TB, err)
	return q
}

// acceptOffer makes an offer an executing quote in the book, with its pledges, as settlement does.
func acceptOffer(w *World, id string) {
	w.TB.Helper()
	ctx := context.Background()
	q, prepared, err := w.Book.Prepared(ctx, id)
	Must(w.TB, err)
	seen, err := w.Book.Latest(ctx, q.Owner.Hex(), q.SolanaOwner)
	Must(w.TB, err)
	Must(w.TB, w.Book.Accept(ctx, q, prepared, seen))
}
