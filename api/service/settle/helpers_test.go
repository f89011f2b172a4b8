package settle_test

import (
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/erc20"
	"coffer/api/service/book"
	"coffer/api/service/genesis"
	. "coffer/api/service/settle/settletest"
)

func transferData(to common.Address, v *big.Int) []byte { return erc20.Transfer(to, v) }

func zero() *big.Int { return new(big.Int) }

// wei is a number of whole coins with 18 decimals.
func wei(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func bigOf(v int64) *big.Int { return big.NewInt(v) }

func number64(v uint64) string { return strconv.FormatUint(v, 10) }

func solverOf(w *World) common.Address { return genesis.AddressOf(w.Installation.Solver) }

func query(w *World) book.HistoryQuery {
	return book.HistoryQuery{User: w.User.Account.AccountAddress}
}
