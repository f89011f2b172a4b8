package quote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quotestore"
)

// Network fees on Solana in lamports, at SOL's price and rounded up: every transaction has two signatures of 5 000
// lamports each, the sponsor's and that of whoever gives (protocol §3.4). The sponsor pays them, and the rent of a
// token account that a fill has to open.
const (
	SolanaSignatureFee = 5_000
	SolanaDepositFee   = 2 * SolanaSignatureFee
	SolanaReleaseFee   = 2 * SolanaSignatureFee
	SolanaFillFee      = 2 * SolanaSignatureFee
)

// tokenAccountSize is the length of an SPL token account's data in bytes.
const tokenAccountSize = 165

// lamportFee is what an amount of lamports is worth, in micro-USD, rounded up.
func (q *Quoter) lamportFee(lamports uint64, now time.Time) (*big.Int, error) {
	e, known := q.Network.Catalog.Entity(caip.SOL())
	price, priced := q.Prices.Price(e.Aggregate, now)
	if !known || !priced {
		return nil, api.NewError(api.ErrNoRoute, "no routes found: the price of SOL is unknown, so Solana's fee is too")
	}
	return ceilDiv(new(big.Int).Mul(new(big.Int).SetUint64(lamports), price), unit(e.Decimals)), nil
}

// solanaSource is what one entity on Solana can pay. An account keeps its rent minimum or nothing. While something is
// pledged it must keep it: in which order deposits land is not known, and each of them leaves one or the other.
func (q *Quoter) solanaSource(ctx context.Context, e catalog.Entity, f funds, pledged *big.Int) (source, error) {
	s := source{asset: e.Asset, decimals: e.Decimals, available: new(big.Int)}
	spendable, err := q.Network.SolanaSpendable(ctx, f.solana, e.Asset)
	if err != nil {
		return s, err
	}
	available := less(spendable, pledged)
	if e.Asset.IsNative() {
		rent := new(big.Int).SetUint64(solana.RentMinimum(0))
		if pledged.Sign() == 0 {
			s.keep = rent
		} else {
			s.rent = new(big.Int).Set(minOf(rent, available))
			available = less(available, rent)
		}
	}
	if available.Sign() == 0 {
		return s, nil
	}
	if s.own, err = q.lamportFee(SolanaDepositFee+SolanaReleaseFee, f.now); err != nil {
		return s, err
	}
	s.available = available
	return s, nil
}

// solanaLeg builds and simulates the message of one deposit into the vault (protocol §3.4).
func (q *Quoter) solanaLeg(ctx context.Context, d *draftQuote, l leg) (built, error) {
	vault, sponsor := q.Network.VaultKey, q.Network.SponsorKey
	pay, err := q.Network.SolanaTransfer(ctx, d.solana, vault, sponsor, l.asset, l.amount)
	if err != nil {
		return built{}, err
	}
	at := uint64(d.now.Unix())
	hash, lastValid, err := q.Network.Solana.Blockhash(ctx, at)
	if err != nil {
		return built{}, err
	}
	m, err := solmsg.Compose(sponsor, hash, append(pay, solmsg.Memo(d.id.Hex()))...)
	if err != nil {
		return built{}, fmt.Errorf("compose a deposit on Solana: %w", err)
	}
	why, err := q.solanaFails(ctx, at, m)
	if err != nil {
		return built{}, err
	}
	if why != "" {
		return built{}, api.NewError(api.ErrSimulationFailed, "Simulation failed: the deposit on Solana would fail: %s",
			why)
	}
	d.lastValid = lastValid
	pays := quotestore.Amount{Asset: l.asset.String(), Value: l.amount}
	return built{
		Leg: quotestore.Leg{Pays: pays, Message: m.Base64()},
		wire: api.ChainOperation{
			Type: api.AccountSolana, Instructions: m.Wire(), RecentBlockHash: hash.String(), FeePayer: sponsor.String(),
			DataToSign: m.Base64(), AssetType: pays.Asset, Amount: pays.Value.String(),
		},
	}, nil
}

// solanaFails simulates a message without signatures and tells why it would fail, "" when it would not.
func (q *Quoter) solanaFails(ctx context.Context, at uint64, m solmsg.Message) (why string, err error) {
	receipts, err := q.Network.Solana.Simulate(ctx, at, true, solana.Unsigned(m))
	var refused *solana.TxError
	if errors.As(err, &refused) {
		return refused.Error(), nil
	}
	for _, r := range receipts {
		if !r.Success {
			return r.Error, nil
		}
	}
	return "", err
}
