package devnet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// sponsorPercent is the part of all SOL that the sponsor gets for fees and rent.
const sponsorPercent = 1

// openSolana opens the ledger.
func (in *Installation) openSolana(s store.Store) error {
	spec, err := in.solanaSpec()
	if err != nil {
		return err
	}
	in.Ledger, err = solana.Open(s, spec)
	var other *solana.GenesisError
	if errors.As(err, &other) {
		return fmt.Errorf("%w: %w", ErrVersion, err)
	}
	in.Solana, in.Outbox = in.Ledger, outbox.Embedded(in.Chains, in.Ledger)
	return err
}

// solanaSpec is the genesis of the ledger: the treasury has all SOL but the rent of the mints and of its token
// accounts, and all tokens.
func (in *Installation) solanaSpec() (solana.Spec, error) {
	treasury := in.SolanaTreasury.Key()
	spec := solana.Spec{Time: in.time}
	coin, known := in.Catalog.Entity(caip.SOL())
	if !known {
		return spec, fmt.Errorf("%w: %s", deployment.ErrAsset, caip.SOL())
	}
	lamports := supply(coin.Decimals).Uint64()
	for _, t := range in.solanaTokens() {
		mint, _ := t.Asset.Mint()
		at, err := solmsg.AssociatedTokenAccount(treasury, mint, solmsg.TokenProgram())
		if err != nil {
			return spec, err
		}
		total := supply(t.Decimals).Uint64()
		accounts := []solana.Allocation{
			{Key: mint, Account: solana.MintAccount(total, uint8(t.Decimals))},
			{Key: at, Account: solana.TokenAccount(treasury, mint, total)},
		}
		for _, a := range accounts {
			lamports -= a.Lamports
		}
		spec.Accounts = append(spec.Accounts, accounts...)
	}
	spec.Accounts = append(spec.Accounts, solana.Allocation{Key: treasury, Account: solana.SystemAccount(lamports)})
	return spec, nil
}

// solanaTokens lists the SPL tokens of the catalogue.
func (in *Installation) solanaTokens() []catalog.Entity {
	return slices.DeleteFunc(in.Catalog.On(caip.SolanaMainnet()), func(e catalog.Entity) bool {
		_, token := e.Asset.Mint()
		return !token
	})
}

// createSolana makes a ledger in a store that has none and stocks it with the treasury's signed transactions: SOL for
// solver, faucet and sponsor, the rent minimum for the vault, and for each token the accounts of solver, faucet and
// vault with the shares of the first two.
func (in *Installation) createSolana(s store.Store, now uint64) error {
	spec, err := in.solanaSpec()
	if err != nil {
		return err
	}
	ledger, err := solana.Open(s, spec)
	if err != nil {
		return err
	}
	coin, _ := in.Catalog.Entity(caip.SOL())
	all := supply(coin.Decimals)
	treasury, vault := in.SolanaTreasury.Key(), in.Vault.Key()
	solver, faucet := in.SolanaSolver.Key(), in.SolanaFaucet.Key()
	transactions := [][]solmsg.Build{{
		solmsg.SystemTransfer(treasury, solver, percent(all, solverPercent).Uint64()),
		solmsg.SystemTransfer(treasury, faucet, percent(all, faucetPercent).Uint64()),
		solmsg.SystemTransfer(treasury, in.Sponsor.Key(), percent(all, sponsorPercent).Uint64()),
		solmsg.SystemTransfer(treasury, vault, solana.RentMinimum(0)),
	}}
	for _, t := range in.solanaTokens() {
		stock, err := in.stockToken(t)
		if err != nil {
			return err
		}
		transactions = append(transactions, stock)
	}
	ctx := context.Background()
	hash, _, err := ledger.Blockhash(ctx, now)
	if err != nil {
		return err
	}
	req := solana.SealRequest{Time: now, Accept: solana.AllSucceed}
	for _, builds := range transactions {
		m, err := solmsg.Compose(treasury, hash, builds...)
		if err != nil {
			return err
		}
		tx, err := solana.Sign(ctx, m, in.SolanaTreasury)
		if err != nil {
			return err
		}
		req.Txs = append(req.Txs, tx)
	}
	_, err = ledger.Seal(ctx, req)
	return err
}

// stockToken creates the token accounts of solver, faucet and vault and gives the first two their shares.
func (in *Installation) stockToken(t catalog.Entity) ([]solmsg.Build, error) {
	mint, _ := t.Asset.Mint()
	treasury := in.SolanaTreasury.Key()
	source, err := solmsg.AssociatedTokenAccount(treasury, mint, solmsg.TokenProgram())
	if err != nil {
		return nil, err
	}
	var out []solmsg.Build
	for _, share := range []struct {
		owner   solmsg.Key
		percent int64
	}{{in.SolanaSolver.Key(), solverPercent}, {in.SolanaFaucet.Key(), faucetPercent}, {in.Vault.Key(), 0}} {
		at, err := solmsg.AssociatedTokenAccount(share.owner, mint, solmsg.TokenProgram())
		if err != nil {
			return nil, err
		}
		out = append(out, solmsg.CreateATAIdempotent(treasury, share.owner, mint))
		if share.percent > 0 {
			amount := percent(supply(t.Decimals), share.percent).Uint64()
			out = append(out, solmsg.TokenTransferChecked(source, mint, at, treasury, amount, uint8(t.Decimals)))
		}
	}
	return out, nil
}
