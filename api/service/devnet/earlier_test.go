package devnet_test

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// otherGeneration makes the network of another generation with the seed of the tests.
func otherGeneration(t *testing.T, s store.Store) *devnet.Installation {
	t.Helper()
	o := options()
	o.Time = devnet.Time + 1
	in, err := devnet.Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAnotherGenerationIsAnotherNetworkWithTheSameKeys(t *testing.T) {
	s := store.NewMemory()
	old, now := otherGeneration(t, s), open(t, store.NewMemory())
	if old.ID == now.ID || old.Ledger.Genesis() == now.Ledger.Genesis() {
		t.Error("two generations are one network")
	}
	if old.Installation != now.Installation || old.Pins != now.Pins {
		t.Error("the same seed gave other keys or another installation")
	}
	if _, err := devnet.Open(s, options()); !errors.Is(err, devnet.ErrVersion) {
		t.Errorf("%v, expected ErrVersion", err)
	}
}

func TestAnEarlierNetworkIsOpenedAsItIs(t *testing.T) {
	s := store.NewMemory()
	old := otherGeneration(t, s)
	again, err := devnet.OpenEarlier(s, old.Descriptor, "")
	if err != nil {
		t.Fatal(err)
	}
	operator, tx := again.Operator.Address(), chain.Tx{From: again.Faucet, To: again.Operator.Address(),
		Value: big.NewInt(7), Gas: 21_000}
	had, err := again.Balance(t.Context(), operator, caip.Native(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Chains[1].Seal(t.Context(), chain.SealRequest{Time: again.Chains[1].Head().Time + 1,
		Txs: []chain.Tx{tx}, Accept: chain.AllSucceed}); err != nil {
		t.Fatal(err)
	}
	has, err := again.Balance(t.Context(), operator, caip.Native(1))
	if err != nil || has.Sub(has, had).Int64() != 7 {
		t.Errorf("the operator gained %s (%v)", has, err)
	}
	if again.Ledger.Genesis() != old.Ledger.Genesis() ||
		balance(t, again, again.SolanaSolver.Key(), caip.SOL()) == 0 {
		t.Error("the ledger is another one")
	}
}

func TestAnEarlierNetworkIsThatOfItsDescriptorAlone(t *testing.T) {
	s := store.NewMemory()
	otherGeneration(t, s)
	for name, d := range map[string]network.Descriptor{
		"another genesis": open(t, store.NewMemory()).Descriptor,
		"no chain":        {Chains: []string{"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"}},
	} {
		if _, err := devnet.OpenEarlier(s, d, ""); !errors.Is(err, devnet.ErrDescriptor) {
			t.Errorf("%s: %v, expected ErrDescriptor", name, err)
		}
	}
	if _, err := devnet.OpenEarlier(store.NewMemory(), network.Descriptor{}, ""); !errors.Is(err, devnet.ErrNoSeed) {
		t.Errorf("an empty store: %v, expected ErrNoSeed", err)
	}
}

// TestDataWithoutSolanaIsReadWithoutIt: the first programs knew no ledger.
func TestDataWithoutSolanaIsReadWithoutIt(t *testing.T) {
	s := store.NewMemory()
	d := otherGeneration(t, s).Descriptor
	withoutSolana(t, s)
	in, err := devnet.OpenEarlier(s, d, "")
	if err != nil {
		t.Fatal(err)
	}
	v, err := in.SolanaBalance(context.Background(), in.Vault.Key(), caip.SOL())
	if in.Solana != nil || !errors.Is(err, deployment.ErrChain) {
		t.Errorf("a balance of %s (%v) on no ledger", v, err)
	}
}
