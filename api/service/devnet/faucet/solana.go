package faucet

import (
	"context"
	"errors"
	"fmt"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// Test funds of a Solana account in whole units (protocol §5.4).
const (
	solanaSOL  = "5"
	solanaUSDC = "250"
)

// ConsiderSolana funds a Solana account that deserves it: 5 SOL and 250 USDC, once, when the account is first named,
// and only if it holds nothing and never did anything on the ledger. The faucet's signed transaction and the decision
// are one commit; what the ledger refuses is declined for good.
func (f *Faucet) ConsiderSolana(ctx context.Context, k solmsg.Key) error {
	if err := f.considerSolana(ctx, k); err != nil {
		return fmt.Errorf("test funds for %s: %w", k, err)
	}
	return nil
}

func (f *Faucet) considerSolana(ctx context.Context, k solmsg.Key) error {
	if d, err := f.decision(k[:]); err != nil || d != 0 || !f.May(ctx, false) {
		return err
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	if d, err := f.decision(k[:]); err != nil || d != 0 { // somebody else may have had the turn before
		return err
	}
	if !f.within(ctx, k.String()) {
		return nil
	}
	used, err := f.usedSolana(ctx, k)
	if err != nil {
		return err
	}
	if used {
		return f.decline(k[:])
	}
	return f.fundSolana(ctx, k)
}

// usedSolana reports whether the account holds or ever did anything, or is named by the history. Programs and addresses
// that no key signs for, such as token accounts, count as used.
func (f *Faucet) usedSolana(ctx context.Context, k solmsg.Key) (bool, error) {
	if !k.OnCurve() {
		return true, nil
	}
	if known, err := f.Known(ctx, k.String()); err != nil || known {
		return known, err
	}
	return f.Installation.Ledger.Used(k)
}

func (f *Faucet) fundSolana(ctx context.Context, k solmsg.Key) error {
	err := f.sealSolana(ctx, k)
	if r, ok := errors.AsType[*refusal](err); ok {
		return f.refused(k.String(), r, func(tx store.Tx) error { return decline(tx, k[:]) })
	}
	return err
}

// sealSolana includes the transaction of a grant. The error is a *refusal when the ledger does not take it.
func (f *Faucet) sealSolana(ctx context.Context, k solmsg.Key) error {
	builds, gives, err := f.solanaGrant(ctx, k)
	if err != nil {
		return err
	}
	at := uint64(f.Clock().Unix())
	hash, _, err := f.Installation.Solana.Blockhash(ctx, at)
	if err != nil {
		return err
	}
	m, err := solmsg.Compose(f.Installation.SolanaFaucet.Key(), hash, builds...)
	if err != nil {
		return err
	}
	accept := func(receipts []solana.Receipt) error {
		err := solana.AllSucceed(receipts)
		if err == nil {
			return nil
		}
		if i := receipts[0].Instruction; i >= 0 {
			return &refusal{gives[i], err}
		}
		// no single instruction failed: the faucet would fall below its own rent minimum
		return &refusal{caip.SOL(), err}
	}
	tx, err := solana.Sign(ctx, m, f.Installation.SolanaFaucet)
	if err != nil {
		return err
	}
	_, err = f.Installation.Outbox.Solana.Send(ctx, outbox.SolanaStep{
		Time: at, Txs: []solana.Tx{tx}, Check: accept,
		Final: func([]solana.Receipt) outbox.Change {
			return func(tx store.Tx) error { return tx.Bucket(bucketFunds).Put(k[:], []byte{funded}) }
		},
	})
	if errors.Is(err, solana.ErrPayer) {
		return &refusal{caip.SOL(), err}
	}
	return err
}

// solanaGrant makes the instructions of a grant, and names the asset that each takes from the faucet.
func (f *Faucet) solanaGrant(ctx context.Context, k solmsg.Key) (builds []solmsg.Build, gives []caip.Asset, err error) {
	faucet := f.Installation.SolanaFaucet.Key()
	for _, gift := range []struct {
		aggregate caip.AggregateID
		whole     string
	}{{"ob:sol", solanaSOL}, {usdc, solanaUSDC}} {
		agg, ok := f.Installation.Catalog.Aggregate(gift.aggregate)
		if !ok {
			return nil, nil, fmt.Errorf("%s is not in the catalogue", gift.aggregate)
		}
		for _, e := range agg.Entities {
			if e.Asset.Chain != caip.SolanaMainnet() {
				continue
			}
			v, err := amount.Parse(gift.whole, e.Decimals)
			if err != nil {
				return nil, nil, err
			}
			transfer, err := f.Installation.SolanaTransfer(ctx, faucet, k, faucet, e.Asset, v)
			if err != nil {
				return nil, nil, err
			}
			for range transfer[1:] {
				gives = append(gives, caip.SOL()) // the rent of a token account, which is opened before the transfer
			}
			builds, gives = append(builds, transfer...), append(gives, e.Asset)
		}
	}
	return builds, gives, nil
}
