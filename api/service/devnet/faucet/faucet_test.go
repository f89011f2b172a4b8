package faucet_test

import (
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/devnet/faucet"
	"coffer/api/service/store"
)

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

func heads(in *devnet.Installation) (n uint64) {
	for _, c := range in.Chains {
		n += c.Head().Number
	}
	return n
}

func TestTestFundsFollowTheProtocol(t *testing.T) {
	in := open(t, store.NewMemory())
	f := newFaucet(t, in)
	if err := f.Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	got := balances(t, in, someone)
	usdc, _ := in.Catalog.Aggregate("ob:usdc")
	elsewhere := 0
	for _, e := range usdc.Entities {
		v := got[e.Asset]
		if v == nil {
			continue
		}
		if e.Asset.Chain == caip.EVM(8453) {
			if v.String() != "25000000" {
				t.Errorf("USDC on Base: %s, expected 25000000", v)
			}
			continue
		}
		elsewhere++
		if v.Cmp(big.NewInt(400e6)) < 0 || v.Cmp(big.NewInt(1500e6)) > 0 {
			t.Errorf("USDC on %s: %s, expected 400 to 1500", e.Asset.Chain, amount.Human(v, 6))
		}
	}
	if elsewhere < 3 {
		t.Errorf("USDC on %d chains beside Base, expected 3 or more", elsewhere)
	}
	for _, id := range []caip.AggregateID{"ob:eth", "ob:usdt", "ob:dai", "ob:weth", "ob:wbtc"} {
		agg, _ := in.Catalog.Aggregate(id)
		held := 0
		for _, e := range agg.Entities {
			if got[e.Asset] != nil {
				held++
			}
		}
		if held == 0 {
			t.Errorf("no %s among the test funds", id)
		}
	}
}

func TestTestFundsDependOnSeedAndAddressAlone(t *testing.T) {
	a, b := open(t, store.NewMemory()), open(t, store.NewMemory())
	other := common.HexToAddress("0xbeef")
	for _, who := range []common.Address{other, someone} {
		if err := newFaucet(t, a).Consider(context.Background(), who); err != nil {
			t.Fatal(err)
		}
	}
	if err := newFaucet(t, b).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	first, second := balances(t, a, someone), balances(t, b, someone)
	if len(first) != len(second) {
		t.Fatalf("%d and %d assets", len(first), len(second))
	}
	same := true
	for asset, v := range first {
		if second[asset] == nil || v.Cmp(second[asset]) != 0 {
			t.Errorf("%s: %s and %v", asset, v, second[asset])
		}
	}
	for asset, v := range balances(t, a, other) {
		same = same && first[asset] != nil && v.Cmp(first[asset]) == 0
	}
	if same {
		t.Error("two addresses got the same funds")
	}
}

func TestAnAddressIsFundedOnceUnderConcurrency(t *testing.T) {
	in := open(t, store.NewMemory())
	f := newFaucet(t, in)
	before := heads(in)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	chains := map[caip.Chain]bool{}
	for asset := range balances(t, in, someone) {
		chains[asset.Chain] = true
	}
	if got := heads(in) - before; got != uint64(len(chains)) {
		t.Errorf("%d blocks were sealed for funds on %d chains", got, len(chains))
	}
}

func TestARecipientThatWasPaidIsNeverToppedUp(t *testing.T) {
	in := open(t, store.NewMemory())
	f := newFaucet(t, in)
	c := in.Chains[10]
	_, err := c.Seal(context.Background(), chain.SealRequest{Time: uint64(now().Unix()),
		Txs: []chain.Tx{{From: in.Operator, To: someone, Value: big.NewInt(1), Gas: 21_000}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	if got := balances(t, in, someone); len(got) != 1 || got[caip.Native(10)].String() != "1" {
		t.Errorf("the recipient holds %v, expected the one wei it was paid", got)
	}
}

func TestAddressesWithHistoryCodeOrNonceGetNothing(t *testing.T) {
	in := open(t, store.NewMemory())
	known := common.HexToAddress("0x4157")
	f, err := faucet.New(faucet.Options{Installation: in, Clock: now,
		Known: func(_ context.Context, a string) (bool, error) { return a == known.Hex(), nil }})
	if err != nil {
		t.Fatal(err)
	}
	before := heads(in)
	for name, a := range map[string]common.Address{
		"history": known, "code": in.Pins.EntryPoint, "nonce": in.Treasury.Address(), "nobody's": {},
		"a precompiled contract": common.HexToAddress("0x01"), "another": common.HexToAddress("0x100"),
	} {
		if err := f.Consider(context.Background(), a); err != nil {
			t.Fatal(err)
		}
		if heads(in) != before {
			t.Errorf("an address with %s was funded", name)
		}
	}
}

func TestFundsAreNotPaidAgainAfterARestart(t *testing.T) {
	s := store.NewMemory()
	in := open(t, s)
	if err := newFaucet(t, in).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	again := open(t, s)
	before := heads(again)
	if err := newFaucet(t, again).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	if heads(again) != before {
		t.Error("a second grant was sealed")
	}
}

func BenchmarkFundMemory(b *testing.B) { benchmarkFund(b, store.NewMemory()) }

func BenchmarkFundBolt(b *testing.B) {
	s, err := store.OpenBolt(b.TempDir()+"/coffer.db", store.BoltOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	benchmarkFund(b, s)
}

func benchmarkFund(b *testing.B, s store.Store) {
	in := open(b, s)
	f := newFaucet(b, in)
	n := int64(0)
	for b.Loop() {
		n++
		if err := f.Consider(context.Background(), common.BigToAddress(big.NewInt(1_000_000+n))); err != nil {
			b.Fatal(err)
		}
	}
}

// Where chains are paid one by one, a crash between two of them leaves a grant started; the next request finishes it
// and pays no chain twice.
func TestACutOffGrantIsFinished(t *testing.T) {
	whole := open(t, store.NewMemory())
	if err := newFaucet(t, whole).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	want := balances(t, whole, someone)

	weak := &dying{Store: store.NewMemory(), left: -1}
	in, err := devnet.Open(weak, devnet.Options{Clock: now, Seed: []byte("an installation seed of 32 bytes"),
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range in.Chains {
		in.Chains[id] = apart{c}
	}
	weak.left = 2
	if err := newFaucet(t, in).Consider(context.Background(), someone); !errors.Is(err, errCut) {
		t.Fatalf("%v, expected the cut", err)
	}
	if got := len(balances(t, in, someone)); got == 0 || got >= len(want) {
		t.Fatalf("%d of %d assets arrived before the cut", got, len(want))
	}
	weak.left = -1
	if err := newFaucet(t, in).Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	got := balances(t, in, someone)
	for asset, v := range want {
		if got[asset] == nil || got[asset].Cmp(v) != 0 {
			t.Errorf("%s: %v, expected %s", asset, got[asset], v)
		}
	}
}

var errCut = errors.New("the process was killed")

// dying commits a number of times more and then no longer; -1 is for ever. With late, one more commit happens and is
// reported as failed.
type dying struct {
	store.Store
	left int
	late bool
}

func (d *dying) Update(fn func(store.Tx) error) error {
	unheard := false
	err := d.Store.Update(func(tx store.Tx) error {
		if d.left == 0 && !d.late {
			return errCut
		}
		if d.left == 0 {
			d.late, unheard = false, true
		}
		if d.left > 0 {
			d.left--
		}
		return fn(tx)
	})
	if err == nil && unheard {
		return errCut
	}
	return err
}
