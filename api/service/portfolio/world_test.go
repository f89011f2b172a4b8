package portfolio_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/portfolio"
	"coffer/api/service/price"
	"coffer/api/service/store"
)

const solanaAddress = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"

func now() time.Time { return time.Unix(1_760_000_000, 0) }

func open(t testing.TB, s store.Store) *devnet.Installation {
	t.Helper()
	in, err := devnet.Open(s, devnet.Options{Clock: now, Seed: []byte("an installation seed of 32 bytes"),
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func newFaucet(t testing.TB, in *devnet.Installation) *faucet.Faucet {
	t.Helper()
	f, err := faucet.New(faucet.Options{Installation: in, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func world(t testing.TB) (*devnet.Installation, *portfolio.Portfolio) {
	in := open(t, store.NewMemory())
	return in, portfolio.New(portfolio.Deps{Network: in.Network, Prices: prices(t, in), Faucet: newFaucet(t, in),
		Clock: now})
}

func prices(t testing.TB, in *devnet.Installation) *price.Table {
	t.Helper()
	seed, err := in.Secret("prices/1", 32)
	if err != nil {
		t.Fatal(err)
	}
	table, err := price.New(in.Catalog, seed)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var someone = common.HexToAddress("0x00000000000000000000000000000000000c0ffe")

func balances(t testing.TB, in *devnet.Installation, a common.Address) map[caip.Asset]*big.Int {
	t.Helper()
	out := map[caip.Asset]*big.Int{}
	for _, agg := range in.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			if _, evm := e.Asset.Chain.EVMID(); !evm {
				continue
			}
			v, err := in.Balance(context.Background(), a, e.Asset)
			if err != nil {
				t.Fatal(err)
			}
			if v.Sign() > 0 {
				out[e.Asset] = v
			}
		}
	}
	return out
}

func solanaKey(t testing.TB) solmsg.Key {
	t.Helper()
	k, err := solmsg.ParseKey(solanaAddress)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// onSolana is what an account has, in base units.
func onSolana(t testing.TB, in *devnet.Installation, k solmsg.Key) (sol, usdc string) {
	t.Helper()
	agg, _ := in.Catalog.Aggregate("ob:usdc")
	for _, e := range agg.Entities {
		if e.Asset.Chain != caip.SolanaMainnet() {
			continue
		}
		v, err := in.SolanaBalance(context.Background(), k, e.Asset)
		if err != nil {
			t.Fatal(err)
		}
		usdc = v.String()
	}
	v, err := in.SolanaBalance(context.Background(), k, caip.SOL())
	if err != nil {
		t.Fatal(err)
	}
	return v.String(), usdc
}
