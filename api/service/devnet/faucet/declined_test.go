package faucet_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/portfolio"
	"coffer/api/service/price"
	"coffer/api/service/store"
)

func TestAGrantThatOneChainRefusesIsDeclinedThereAndPaidElsewhere(t *testing.T) {
	grant := grantOf(t, someone)
	coin := coinGiven(t, grant)
	for name, empty := range map[string]struct {
		asset caip.Asset
		left  int64
	}{
		"no token": {baseUSDC(t), 0}, "not enough of a token": {baseUSDC(t), 24_999_999},
		"no coin for the gas": {coin, 0}, "coin for the gas and not for the gift": {coin, 1e16},
	} {
		t.Run(name, func(t *testing.T) {
			s, text := store.NewMemory(), new(bytes.Buffer)
			in := open(t, s)
			gone := drain(t, in, empty.asset, empty.left)
			want := without(grant, empty.asset.Chain)
			f, before := telling(t, in, text), heads(in)
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Fatal(err)
			}
			expectHoldings(t, in, want)
			if got := heads(in) - before; got != uint64(len(chainsOf(want))) {
				t.Errorf("%d blocks for funds on %d chains", got, len(chainsOf(want)))
			}
			told := warnings(t, text)
			if len(told) != 1 || told[0].Level != "WARN" || told[0].Chain != empty.asset.Chain.String() ||
				told[0].Asset != empty.asset.String() ||
				told[0].Account != someone.Hex() || told[0].Error == "" {
				t.Errorf("the log says %+v, expected one warning about %s", told, empty.asset)
			}

			lend(t, in, empty.asset, gone, true) // a decline stays though the chain could pay by now
			before = heads(in)
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Fatal(err)
			}
			again := open(t, s)
			if err := telling(t, again, text).Consider(context.Background(), someone); err != nil {
				t.Fatal(err)
			}
			if heads(again) != before || len(warnings(t, text)) != 1 {
				t.Errorf("later requests made %d blocks and %d warnings more", heads(again)-before,
					len(warnings(t, text))-1)
			}
			expectHoldings(t, again, want)
			expectDecision(t, again, someone, 'f')
		})
	}
}

func TestARefusedGrantIsDeclinedOnceUnderConcurrency(t *testing.T) {
	want := without(grantOf(t, someone), caip.EVM(base))
	in, text := open(t, store.NewMemory()), new(bytes.Buffer)
	drain(t, in, baseUSDC(t), 0)
	f, before := telling(t, in, text), heads(in)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	expectHoldings(t, in, want)
	if got := heads(in) - before; got != uint64(len(chainsOf(want))) || len(warnings(t, text)) != 1 {
		t.Errorf("%d blocks for %d chains and %d warnings", got, len(chainsOf(want)), len(warnings(t, text)))
	}
}

// The process dies before or right after any of its commits; the next one ends in one grant or one decline on every
// chain.
func TestACutOffGrantWithARefusingChainIsFinished(t *testing.T) {
	want := without(grantOf(t, someone), caip.EVM(base))
	commits := len(chainsOf(want)) + 1
	for n := range 2 * commits {
		in, weak := openWeak(t)
		drain(t, in, baseUSDC(t), 0)
		before := heads(in)
		weak.left, weak.late = n/2, n%2 == 1
		if err := newFaucet(t, in).Consider(context.Background(), someone); !errors.Is(err, errCut) {
			t.Fatalf("cut at commit %d: %v", n/2, err)
		}
		again, text := open(t, weak.Store), new(bytes.Buffer)
		f := telling(t, again, text)
		for range 2 {
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Fatal(err)
			}
		}
		expectHoldings(t, again, want)
		if got := heads(again) - before; got != uint64(len(chainsOf(want))) || len(warnings(t, text)) > 1 {
			t.Errorf("cut at commit %d: %d blocks for %d chains and %d warnings", n/2, got, len(chainsOf(want)),
				len(warnings(t, text)))
		}
	}
}

// Before declines were written down, a refusal left the address started, with the chains noted that had paid.
func TestAGrantThatWasLeftStartedIsFinishedOrDeclined(t *testing.T) {
	grant := grantOf(t, someone)
	for _, filled := range []bool{true, false} {
		in := open(t, store.NewMemory())
		gone := drain(t, in, baseUSDC(t), 0)
		if err := newFaucet(t, in).Consider(context.Background(), someone); err != nil {
			t.Fatal(err)
		}
		err := in.Store.Update(func(tx store.Tx) error {
			b := tx.Bucket("faucet")
			onBase := append(someone.Bytes(), 0, 0, 0, 0, 0, 0, 0x21, 0x05)
			if b.Get(onBase) == nil {
				t.Fatal("the decline is not where the old format has its hash")
			}
			return errors.Join(b.Delete(onBase), b.Put(someone[:], []byte{'s'}))
		})
		if err != nil {
			t.Fatal(err)
		}
		want, blocks := without(grant, caip.EVM(base)), uint64(0)
		if filled {
			lend(t, in, baseUSDC(t), gone, true)
			want, blocks = grant, 1
		}
		text, before := new(bytes.Buffer), heads(in)
		f := telling(t, in, text)
		for range 2 {
			if err := f.Consider(context.Background(), someone); err != nil {
				t.Fatal(err)
			}
		}
		expectHoldings(t, in, want)
		if got := heads(in) - before; got != blocks || len(warnings(t, text)) != 1-int(blocks) {
			t.Errorf("filled %t: %d blocks and %d warnings", filled, got, len(warnings(t, text)))
		}
	}
}

// A coin transfer carries no gas for a contract, and a started address is not asked again whether it was used.
func TestAStartedAccountThatCannotTakeCoinIsDeclined(t *testing.T) {
	in, text := open(t, store.NewMemory()), new(bytes.Buffer)
	contract := in.Pins.EntryPoint
	err := in.Store.Update(func(tx store.Tx) error { return tx.Bucket("faucet").Put(contract[:], []byte{'s'}) })
	if err != nil {
		t.Fatal(err)
	}
	f := telling(t, in, text)
	for range 2 {
		if err := f.Consider(context.Background(), contract); err != nil {
			t.Fatal(err)
		}
	}
	told := warnings(t, text)
	if len(told) == 0 {
		t.Fatal("no chain refused")
	}
	held := chainsOf(balances(t, in, contract))
	for _, w := range told {
		c, err := caip.ParseChain(w.Chain)
		if err != nil || held[c] || w.Asset != nativeOf(t, c).String() {
			t.Errorf("%+v, where the contract holds something: %t (%v)", w, held[c], err)
		}
	}
}

func nativeOf(t testing.TB, c caip.Chain) caip.Asset {
	t.Helper()
	id, evm := c.EVMID()
	if !evm {
		t.Fatalf("%s is no EVM chain", c)
	}
	return caip.Native(id)
}

func TestADeclineThatCannotBeWrittenIsAnError(t *testing.T) {
	in, weak := openWeak(t)
	for _, id := range in.ChainIDs {
		drain(t, in, caip.Native(id), 0)
	}
	emptySolana(t, in, 0)
	text := new(bytes.Buffer)
	f := telling(t, in, text)
	weak.left = 0
	if err := f.Consider(context.Background(), someone); !errors.Is(err, errCut) {
		t.Errorf("%v, expected the cut", err)
	}
	if err := f.ConsiderSolana(context.Background(), solanaKey(t)); !errors.Is(err, errCut) {
		t.Errorf("%v, expected the cut", err)
	}
	if text.Len() > 0 {
		t.Errorf("a decline was told and not written: %s", text)
	}
}

// faulty is a chain whose database fails while a transaction runs, which reaches Seal's caller as the refusal of that
// transaction.
type faulty struct{ chain.Chain }

var errDisk = errors.New("the disk cannot be read")

func (faulty) Seal(context.Context, chain.SealRequest) (chain.Block, error) {
	return chain.Block{}, &chain.TxError{Index: 0, Err: errDisk}
}

func TestAFaultOfTheDatabaseIsNoRefusal(t *testing.T) {
	grant := grantOf(t, someone)
	in, text := open(t, store.NewMemory()), new(bytes.Buffer)
	whole := in.Chains[base]
	in.Chains[base] = faulty{whole}
	f := telling(t, in, text)
	if err := f.Consider(context.Background(), someone); !errors.Is(err, errDisk) {
		t.Errorf("%v, expected the fault", err)
	}
	in.Chains[base] = whole
	if err := f.Consider(context.Background(), someone); err != nil {
		t.Fatal(err)
	}
	expectHoldings(t, in, grant)
	if text.Len() > 0 {
		t.Errorf("the log says %s", text)
	}
}

func TestRequestsAreAnsweredWithWhatIsThereWhileTheFaucetIsEmpty(t *testing.T) {
	in := open(t, store.NewMemory())
	prices, err := price.New(in.Catalog, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := portfolio.New(portfolio.Deps{Network: in.Network, Prices: prices, Faucet: newFaucet(t, in), Clock: now})
	for _, id := range in.ChainIDs {
		drain(t, in, caip.Native(id), 0)
	}
	emptySolana(t, in, 0)
	before, count := heads(in), in.Ledger.Transactions()
	q, failures := portfolio.ParseQuery(in.Catalog, "eip155:1:"+someone.Hex()+",solana:"+solanaAddress,
		"ob:usdc,ob:sol", "")
	if len(failures) > 0 {
		t.Fatal(failures)
	}
	out, err := p.Balances(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range out.BalanceByAggregatedAsset {
		if micro, known := line.FiatValue.Micro(); line.Balance != "0" || !known || micro.Sign() != 0 {
			t.Errorf("%s: %s worth %q, expected zero and nothing unknown", line.AggregatedAssetID, line.Balance,
				line.FiatValue)
		}
	}
	doc, err := api.Encode(api.PredictRequest{Type: api.AccountKernelV31, SignerAddress: someone.Hex()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.PredictAddress(context.Background(), doc); err != nil {
		t.Error(err)
	}
	err = p.FundAccounts(context.Background(), []api.Account{
		{Type: api.AccountKernelV31, AccountAddress: "0x000000000000000000000000000000000000bEEF"},
		{Type: api.AccountSolana, AccountAddress: wallet(9).String()},
	})
	if err != nil {
		t.Error(err)
	}
	if heads(in) != before || in.Ledger.Transactions() != count {
		t.Error("something was sealed for a grant that cannot be paid")
	}
	expectDecision(t, in, someone, 'd')
}
