package quote_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	. "coffer/api/service/settle/settletest"
)

// ownKeys are the service's accounts on Solana.
func ownKeys(in *devnet.Installation) map[string]solmsg.Key {
	return map[string]solmsg.Key{
		"sponsor": in.Sponsor.Key(), "vault": in.Vault.Key(),
		"solver": in.SolanaSolver.Key(),
		"faucet": in.SolanaFaucet.Key(), "treasury": in.SolanaTreasury.Key(),
	}
}

// unsignable are Solana addresses that no wallet can sign for.
func unsignable(w *World) map[string]solmsg.Key {
	w.TB.Helper()
	in := w.Installation
	mint, _ := deployment.SolanaMint(w.Asset("usdc", Solana))
	token := func(owner solmsg.Key) solmsg.Key {
		at, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
		Must(w.TB, err)
		return at
	}
	return map[string]solmsg.Key{
		"a token account":       token(in.Vault.Key()),
		"a token account to be": token(NewUserOf(in.Pins, api.AccountSolana, 9).Wallet),
		"the token program":     solmsg.TokenProgram(), "off the curve": {2},
	}
}

func TestNothingIsDeliveredWhereNobodyCouldHaveIt(t *testing.T) {
	w := funded(t)
	pins := w.Installation.Pins
	usdc, _ := w.Asset("usdc", Arbitrum).Token()
	recipients := map[string]string{}
	for name, a := range map[string]common.Address{
		"escrow": pins.Escrow, "paymaster": pins.Paymaster, "entry point": pins.EntryPoint, "solver": pins.Solver,
		"operator": pins.Operator,
		"factory":  pins.Factory, "co-signer": pins.CoSigner, "the token itself": usdc,
		"faucet": w.Installation.Faucet.Address(),
	} {
		recipients[name] = onChain(Arbitrum, a)
	}
	solana := ownKeys(w.Installation)
	for name, k := range unsignable(w) {
		solana[name] = k
	}
	solana["a mint"], _ = deployment.SolanaMint(w.Asset("usdc", Solana))
	for name, k := range solana {
		recipients[name+" on Solana"] = caip.SolanaAccount(k).String()
	}
	for name, to := range recipients {
		gets := []string{"ob:usdc", "ob:eth"}
		if strings.HasPrefix(to, "solana:") {
			gets[1] = "ob:sol"
		}
		for _, get := range gets {
			_, err := w.TrySwap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(50), Get: get, To: to})
			if e := asError(err); e == nil || e.Name != api.ErrValidation || e.Details[0].Path != "to.account" {
				t.Errorf("%s to %s: %v", get, name, err)
			}
		}
	}
}

// TestSolanaAccountThatTheUserCannotSignForIsRefused: the service's own accounts above all. With the sponsor as the
// user a deposit would have one signature, which the service gives to every deposit.
func TestSolanaAccountThatTheUserCannotSignForIsRefused(t *testing.T) {
	w := funded(t)
	user := w.User
	accounts := ownKeys(w.Installation)
	for name, k := range unsignable(w) {
		accounts[name] = k
	}
	for name, k := range accounts {
		w.User = &User{Wallet: k, Solana: SolanaKey(1)}
		_, err := w.TrySwap(Exchange{From: "ob:sol", Amount: big.NewInt(1e8), Get: "ob:eth",
			To: onChain(Arbitrum, payee())})
		if e := asError(err); e == nil || e.Name != api.ErrValidation ||
			e.Details[0].Path != "from.accounts[0].accountAddress" {
			t.Errorf("swap of the %s: %v", name, err)
		}
		w.User = user
		r := pay(w, Arbitrum, 20*usdcPlain)
		r.Accounts = append(r.Accounts, api.Account{Type: api.AccountSolana, AccountAddress: k.String()})
		_, err = w.Quoter.Prepare(context.Background(), w.Encode(r))
		if e := asError(err); e == nil || e.Name != api.ErrValidation ||
			e.Details[0].Path != "accounts[1].accountAddress" {
			t.Errorf("call with the %s: %v", name, err)
		}
	}
}

func TestEVMAccountOfTheServiceIsRefused(t *testing.T) {
	w := funded(t)
	pins := w.Installation.Pins
	for name, a := range map[string]common.Address{"solver": pins.Solver, "operator": pins.Operator,
		"co-signer": pins.CoSigner, "tamper-proof key": pins.TamperProof,
		"precompiled contract": common.HexToAddress("0x09")} {
		r := pay(w, Arbitrum, 20*usdcPlain)
		r.Accounts = []api.Account{{Type: api.AccountKernelV33, AccountAddress: a.Hex(), SignerAddress: a.Hex(),
			DeploymentType: api.DeploymentEIP7702}}
		_, err := w.Quoter.Prepare(context.Background(), w.Encode(r))
		if e := asError(err); e == nil || e.Name != api.ErrValidation ||
			e.Details[0].Path != "accounts[0].accountAddress" {
			t.Errorf("call of the %s: %v", name, err)
		}
		_, err = w.Quoter.QuoteV1(context.Background(), w.Encode(api.QuoteRequestV1{
			From: api.QuoteFromV1{Account: r.Accounts[0], Asset: api.AssetRef{AssetID: "ob:eth"},
				Amount: "1000000000000000"},
			To: api.QuoteTo{Asset: api.AssetRef{AssetID: "ob:usdc"}},
		}))
		if e := asError(err); e == nil || e.Name != api.ErrValidation ||
			e.Details[0].Path != "from.account.accountAddress" {
			t.Errorf("swap of the %s: %v", name, err)
		}
	}
}

func TestToleranceOfEverythingIsAQuoteWithoutAMinimum(t *testing.T) {
	w := funded(t)
	q := w.Decode(w.Swap(Exchange{From: "ob:usdc", Amount: plain(100), Get: "ob:eth", Slippage: 10_000}))
	if q.DestinationToken.MinimumAmount != "0" || q.Slippage.Destination.Percent != "100" {
		t.Errorf("%+v, %+v", q.DestinationToken, q.Slippage)
	}
}

// TestNoWellKnownAddressOfSolanaReceivesOrPays: programs, sysvars and mints that the ledger does not know are no
// accounts of anybody.
func TestNoWellKnownAddressOfSolanaReceivesOrPays(t *testing.T) {
	w := funded(t)
	user := w.User
	for _, k := range solmsg.WellKnown() {
		w.User = user
		_, err := w.TrySwap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(50), Get: "ob:sol",
			To: caip.SolanaAccount(k).String()})
		if e := asError(err); e == nil || e.Name != api.ErrValidation || e.Details[0].Path != "to.account" {
			t.Errorf("to %s: %v", k, err)
		}
		w.User = &User{Wallet: k, Solana: SolanaKey(1)}
		_, err = w.TrySwap(Exchange{From: "ob:sol", Amount: big.NewInt(1e8), Get: "ob:eth",
			To: onChain(Arbitrum, payee())})
		if e := asError(err); e == nil || e.Name != api.ErrValidation ||
			e.Details[0].Path != "from.accounts[0].accountAddress" {
			t.Errorf("from %s: %v", k, err)
		}
	}
	w.User = user
	ordinary := NewUserOf(w.Installation.Pins, api.AccountSolana, 9).Wallet
	w.Swap(Exchange{From: w.Asset("usdc", Polygon).String(), Amount: plain(50), Get: "ob:sol",
		To: caip.SolanaAccount(ordinary).String()})
}
