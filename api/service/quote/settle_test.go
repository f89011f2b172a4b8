package quote_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/quote"
	. "coffer/api/service/settle/settletest"
)

// TestWhatIsQuotedSettles: every way to pay for a call, and swaps and transfers in every direction, end as they were
// offered, for every kind of account.
func TestWhatIsQuotedSettles(t *testing.T) {
	for n, kind := range evmKinds() {
		t.Run(kind, func(t *testing.T) {
			w := New(t, Options{})
			for i, s := range scenes() {
				if w.User = NewUserOf(w.Installation.Pins, kind, uint64(100*n+i+200)); s.solana &&
					!w.User.HasSolana() {
					continue
				}
				s.fund(w)
				before, there := w.Sums(payee()), w.Balance(payee(), w.Asset("usdc", Arbitrum))
				r := pay(w, Arbitrum, s.need*usdcPlain)
				r.FromAssetID = s.from
				_, doc := prepared(t, w, r)
				quoted, err := callQuoteAs(w, doc)
				Must(t, err)
				if got := w.Settle(w.SignQuote(quoted)); got.Status != api.StatusCompleted {
					t.Errorf("call %d: %+v", i, got)
				}
				if got := w.Balance(payee(), w.Asset("usdc", Arbitrum)); got.Sub(got,
					there).Int64() != s.need*usdcPlain {
					t.Errorf("call %d paid %s", i, got)
				}
				w.SameSums(before, w.Sums(payee()))
			}
		})
	}
}

func TestQuotedSwapsAndTransfersArriveAsOffered(t *testing.T) {
	for n, kind := range Kinds() {
		w := New(t, Options{})
		w.User = NewUserOf(w.Installation.Pins, kind, uint64(n+80))
		var exchanges []Exchange
		other := NewUserOf(w.Installation.Pins, api.AccountSolana, 79).Wallet
		if w.User.HasEVM() {
			w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
			w.Fund(w.User.Address, w.Asset("usdc", Polygon), 190*usdcPlain)
			exchanges = append(exchanges,
				Exchange{From: "ob:usdc", Amount: plain(100), Get: "ob:eth", To: onChain(Linea, payee())},
				// on one chain
				Exchange{From: "ob:usdc", Amount: plain(30), Get: w.Asset("usdc", Polygon).String(),
					To: onChain(Polygon, payee())},
				Exchange{From: "ob:usdc", Amount: plain(30), Get: w.Asset("usdc", Solana).String(),
					To: caip.SolanaAccount(other).String()},
			)
		}
		if w.User.HasSolana() {
			w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), 150*usdcPlain)
			exchanges = append(exchanges,
				Exchange{From: w.Asset("usdc", Solana).String(), Amount: plain(50), Get: "ob:eth",
					To: onChain(Linea, payee())},
				Exchange{From: w.Asset("usdc", Solana).String(), Amount: plain(50), Get: "ob:sol",
					To: caip.SolanaAccount(other).String()},
			)
		}
		for i, x := range exchanges {
			q := w.Swap(x)
			offered := w.Decode(q).DestinationToken
			asset, err := caip.ParseAsset(offered.AssetType)
			Must(t, err)
			held := func() *big.Int {
				if asset.Chain.IsSolana() {
					return w.SolanaBalance(other, asset)
				}
				return w.Balance(payee(), asset)
			}
			before := held()
			if s := w.Settle(w.SignQuote(q)); s.Status != api.StatusCompleted {
				t.Errorf("%s, exchange %d: %+v", kind, i, s)
			}
			if got := new(big.Int).Sub(held(), before); got.String() != offered.Amount {
				t.Errorf("%s, exchange %d: %s of %s arrived", kind, i, got, offered.Amount)
			}
		}
	}
}

// TestNetworkFeeCoversWhatItPaysForEveryKindOfAccount: the gas of a deposit, of what it deploys or authorizes, of
// release and fill lies within the table that the fee is made from, and not so far below it that the fee loses touch
// with the cost.
func TestNetworkFeeCoversWhatItPaysForEveryKindOfAccount(t *testing.T) {
	for n, kind := range []string{api.AccountKernelV31, api.AccountRoleBased, api.AccountKernelV33} {
		w := as(New(t, Options{}), kind, uint64(n+100), map[uint64]int64{Arbitrum: 500})
		for _, first := range []bool{true, false} {
			q := w.Swap(Exchange{From: "ob:usdc", Amount: plain(50), Get: w.Asset("usdt", Polygon).String()})
			if s := w.Settle(w.SignQuote(q)); s.Status != api.StatusCompleted {
				t.Fatalf("%s: %+v", kind, s)
			}
			r := record(w, w.Decode(q).ID)
			deposit := uint64(quote.GasDeposit)
			switch {
			case first && strings.HasPrefix(kind, api.AccountKernelV33):
				deposit += quote.GasDelegation
			case first:
				if deposit += quote.GasDeployment; kind == api.AccountRoleBased {
					deposit += quote.GasRoles
				}
			}
			for what, c := range map[string]struct {
				chainID uint64
				tx      [32]byte
				table   uint64
			}{
				"deposit": {Arbitrum, r.Legs[0].Deposit, deposit},
				"release": {Arbitrum, r.Legs[0].Settled, quote.GasRelease},
				"fill":    {Polygon, r.Destination[0].Hash, quote.GasRun + quote.GasFill},
			} {
				receipt, found, err := w.Installation.Chains[c.chainID].Receipt(context.Background(), c.tx)
				Must(t, err)
				if !found || receipt.GasUsed > c.table || receipt.GasUsed*2 < c.table {
					t.Errorf("%s, first %t, %s: %d gas used, the table says %d", kind, first, what, receipt.GasUsed,
						c.table)
				}
			}
		}
	}
}

func TestEstimateOfThePreparedOperationCoversItForEveryKindOfAccount(t *testing.T) {
	for n, kind := range []string{api.AccountKernelV31, api.AccountRoleBased, api.AccountKernelV33} {
		w := as(New(t, Options{}), kind, uint64(n+110), map[uint64]int64{Arbitrum: 500})
		for _, first := range []bool{true, false} {
			_, doc := prepared(t, w, pay(w, Base, 50*usdcPlain))
			quoted, err := callQuoteAs(w, doc)
			Must(t, err)
			id := w.Decode(quoted).ID
			estimate := contextOf(w, id).Gas
			if s := w.Settle(w.SignQuote(quoted)); s.Status != api.StatusCompleted {
				t.Fatalf("%s: %+v", kind, s)
			}
			here := record(w, id).Destination
			receipt, found, err := w.Installation.Chains[Base].Receipt(context.Background(), here[len(here)-1].Hash)
			Must(t, err)
			if !found || receipt.GasUsed > estimate || receipt.GasUsed*2 < estimate {
				t.Errorf("%s, first %t: %d gas used, estimated were %d", kind, first, receipt.GasUsed, estimate)
			}
		}
	}
}

func TestV1QuotesSettleAtTheV1Endpoint(t *testing.T) {
	for n, kind := range []string{api.AccountKernelV31, api.AccountRoleBased, api.AccountKernelV33} {
		w := as(New(t, Options{}), kind, uint64(n+120), map[uint64]int64{Arbitrum: 500})
		for name, ask := range map[string]func() *api.Document{
			"call": func() *api.Document { return w.QuoteV1(pay(w, Base, 50*usdcPlain), "ob:usdc") },
			"swap": func() *api.Document {
				return w.SwapV1(Exchange{From: w.Asset("usdc", Arbitrum).String(), Amount: plain(50),
					Get: w.Asset("usdt", Polygon).String()})
			},
		} {
			signed := w.SignQuote(ask())
			Must(t, w.ExecuteV1(signed))
			Must(t, w.Settler.Idle(context.Background()))
			if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
				t.Errorf("%s of %s: %+v", name, kind, s)
			}
		}
	}
}
