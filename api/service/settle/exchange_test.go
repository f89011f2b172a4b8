package settle_test

import (
	"context"
	"math/big"
	"testing"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
)

const sol = 1_000_000_000 // lamports

// stock gives a user of any kind money on every side: 120 USDC on Arbitrum and Polygon and 90 on Solana, 0.05 ETH on
// Optimism, 2 SOL.
func stock(w *World, u *User) {
	if u.HasEVM() {
		for _, id := range []uint64{Arbitrum, Polygon} {
			w.Fund(u.Address, w.Asset("usdc", id), 120*usdcPlain)
		}
		w.FundBig(u.Address, w.Asset("eth", Optimism), big.NewInt(5e16))
	}
	if u.HasSolana() {
		w.FundSolana(u.Wallet, w.Asset("sol", Solana), 2*sol)
		w.FundSolana(u.Wallet, w.Asset("usdc", Solana), 90*usdcPlain)
	}
}

func TestEveryAccountKindPaysForACallFromSeveralChains(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		if kind == api.AccountSolana {
			continue // it makes no EVM calls by itself
		}
		t.Run(kind, func(t *testing.T) {
			w := New(t, Options{})
			w.User = w.AddUser(kind, 7)
			stock(w, w.User)
			want, legs := int64(200), 2
			if w.User.HasSolana() {
				want, legs = 300, 3
			}
			doc := w.Quote(pay(w, Base, want*usdcPlain), "ob:usdc")
			if n := len(w.Decode(doc).OriginChainsOperations); n != legs {
				t.Fatalf("%d legs", n)
			}
			sums := w.Sums(payee())
			s := w.Settle(w.SignQuote(doc))
			if s.Status != api.StatusCompleted || len(s.OriginChainOperations) != legs {
				t.Fatalf("status %+v", s)
			}
			wantBalance(t, w, payee(), w.Asset("usdc", Base), big.NewInt(want*usdcPlain))
			w.SameSums(sums, w.Sums(payee()))
			nothingHeld(t, w)
			// again, now that the account is there
			w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
			again := w.Settle(w.SignQuote(w.Quote(pay(w, Base, 60*usdcPlain), "ob:usdc")))
			if again.Status != api.StatusCompleted {
				t.Fatalf("status %+v", again)
			}
			nothingHeld(t, w)
		})
	}
}

// nothingHeld demands that escrow and vault are empty and no quote is open, pledged or claimed.
func nothingHeld(t *testing.T, w *World) {
	t.Helper()
	for _, a := range w.Assets {
		wantBalance(t, w, w.Installation.Pins.Escrow, a, zero())
	}
	if v := w.SolanaBalance(w.Vault(), w.Asset("usdc", Solana)); v.Sign() != 0 {
		t.Errorf("the vault holds %s USDC", v)
	}
	v, err := w.Installation.SolanaSpendable(context.Background(), w.Vault(), w.Asset("sol", Solana))
	Must(t, err)
	if v.Sign() != 0 {
		t.Errorf("the vault holds %s lamports", v)
	}
	nothingLeft(t, w)
}

// direction is one swap or transfer, by the accounts that can ask for it.
type direction struct {
	name    string
	solana  bool // needs a Solana account
	evm     bool // needs an EVM account
	from    string
	amount  int64
	get     string
	to      func(w *World) string
	arrives func(w *World) *big.Int
}

func directions() []direction {
	return []direction{
		{"usdc to eth on Base", false, true, "ob:usdc", 150 * usdcPlain, "eip155:8453/slip44:60", nil,
			own("eth", Base)},
		{"eth to usdc where most is paid from", false, true, "ob:eth", 3e16,
			"eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85", nil, own("usdc", Optimism)},
		{"usdc to the payee on Base", false, true, "ob:usdc", 140 * usdcPlain, "ob:usdc", payeeOn(Base),
			func(w *World) *big.Int { return w.Balance(payee(), w.Asset("usdc", Base)) }},
		{"usdc of Arbitrum to the payee on Arbitrum", false, true,
			"eip155:42161/erc20:0xaf88d065e77c8cc2239327c5edb3a432268e5831", 50 * usdcPlain, "ob:usdc",
			payeeOn(Arbitrum),
			func(w *World) *big.Int { return w.Balance(payee(), w.Asset("usdc", Arbitrum)) }},
		{"usdc of all chains to sol", true, true, "ob:usdc", 250 * usdcPlain, "ob:sol", nil, own("sol", Solana)},
		{"eth to usdc on Solana", true, true, "ob:eth", 4e16, usdcOnSolana, nil, own("usdc", Solana)},
		{"sol to usdc on Solana", true, false, "ob:sol", sol, usdcOnSolana, nil, own("usdc", Solana)},
		{"usdc of Solana to a new account on Solana", true, false, usdcOnSolana, 40 * usdcPlain, "ob:usdc",
			strangerOnSolana,
			func(w *World) *big.Int { return w.SolanaBalance(stranger().Wallet, w.Asset("usdc", Solana)) }},
		{"sol to a new account", true, false, "ob:sol", sol, "ob:sol", strangerOnSolana,
			func(w *World) *big.Int { return w.SolanaBalance(stranger().Wallet, w.Asset("sol", Solana)) }},
		{"usdc of Solana to the payee on Base", true, false, usdcOnSolana, 60 * usdcPlain, "ob:usdc", payeeOn(Base),
			func(w *World) *big.Int { return w.Balance(payee(), w.Asset("usdc", Base)) }},
		{"sol to eth of the payee", true, false, "ob:sol", sol, "ob:eth", payeeOn(Linea),
			func(w *World) *big.Int { return w.Balance(payee(), w.Asset("eth", Linea)) }},
	}
}

const usdcOnSolana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

func stranger() *User {
	u := &User{Solana: SolanaKey(99)}
	u.Wallet = signers.LocalSolana(u.Solana).Key()
	return u
}

func strangerOnSolana(*World) string { return stranger().On(Solana) }

func payeeOn(chainID uint64) func(*World) string {
	return func(*World) string { return (&User{Address: payee()}).On(chainID) }
}

func own(symbol string, chainID uint64) func(w *World) *big.Int {
	return func(w *World) *big.Int {
		if chainID == Solana {
			return w.SolanaBalance(w.User.Wallet, w.Asset(symbol, Solana))
		}
		return w.Balance(w.User.Address, w.Asset(symbol, chainID))
	}
}

func TestSwapsAndTransfersSettleInEveryDirectionForEveryKind(t *testing.T) {
	t.Parallel()
	pins := New(t, Options{}).Installation.Pins
	for k, kind := range Kinds() {
		probe := NewUserOf(pins, kind, 7)
		for i, x := range directions() {
			if x.evm && !probe.HasEVM() || x.solana && !probe.HasSolana() || (i+k)%stride(2) != 0 {
				continue
			}
			t.Run(kind+"/"+x.name, func(t *testing.T) {
				w := New(t, Options{})
				w.User = w.AddUser(kind, 7)
				stock(w, w.User)
				ask := Exchange{From: x.from, Amount: big.NewInt(x.amount), Get: x.get}
				if x.to != nil {
					ask.To = x.to(w)
				}
				doc := w.Swap(ask)
				q := w.Decode(doc)
				had, sums := x.arrives(w), w.Sums(payee())
				s := w.Settle(w.SignQuote(doc))
				if s.Status != api.StatusCompleted || len(s.OriginChainOperations) != len(q.OriginChainsOperations) ||
					len(s.DestinationChainOperations) != 1 {
					t.Fatalf("status %+v", s)
				}
				gained := zero().Sub(x.arrives(w), had)
				if gained.String() != q.DestinationToken.Amount {
					t.Errorf("%s arrived, quoted were %s", gained, q.DestinationToken.Amount)
				}
				w.SameSums(sums, w.Sums(payee()))
				nothingHeld(t, w)
			})
		}
	}
}
