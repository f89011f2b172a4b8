package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// transactions is the ledger's bucket of receipts, by the first signature.
const transactions = "solana/transactions"

// solana reads every receipt of the ledger, and the balances of the accounts.
func (r *reader) solana(s store.Store) error {
	var names []string
	err := s.View(func(tx store.Tx) error {
		tx.Bucket(transactions).Ascend(nil, func(k, _ []byte) bool {
			names = append(names, solmsg.FormatSignature([64]byte(k)))
			return true
		})
		return nil
	})
	if err != nil {
		return err
	}
	if uint64(len(names)) != r.in.Ledger.Transactions() {
		return fmt.Errorf("%d receipts of %d transactions on Solana", len(names), r.in.Ledger.Transactions())
	}
	for _, name := range names {
		rc, found, err := r.in.Solana.Receipt(context.Background(), name)
		if err != nil || !found {
			return fmt.Errorf("receipt %s: found %t: %w", name, found, err)
		}
		if err := r.receipt(rc); err != nil {
			return err
		}
	}
	return r.solanaHeads()
}

func (r *reader) receipt(rc solana.Receipt) error {
	m, err := solmsg.Parse(rc.Message)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(rc.Message)
	for _, k := range m.Signers() {
		if r.accounts[k.String()] {
			r.report.Ran = append(r.report.Ran, ran{
				Chain: caip.SolanaMainnet().String(), Hash: "0x" + hex.EncodeToString(sum[:]), Sender: k.String(),
				Time: rc.Time, Success: rc.Success,
			})
		}
	}
	for _, c := range rc.Changes {
		gone := new(big.Int).Sub(c.Before, c.After)
		if gone.Sign() <= 0 || c.Mint == "" && c.Account != c.Owner {
			continue
		}
		asset := caip.SOL()
		if c.Mint != "" {
			mint, err := caip.ParseSolanaKey(c.Mint)
			if err != nil {
				return err
			}
			asset = caip.SPL(mint)
		}
		r.left(c.Owner, asset, gone)
	}
	return nil
}

func (r *reader) solanaHeads() error {
	for account := range r.accounts {
		key, err := caip.ParseSolanaKey(account)
		if err != nil {
			continue // of an EVM chain
		}
		for _, e := range r.in.Catalog.On(caip.SolanaMainnet()) {
			v, err := r.in.SolanaBalance(context.Background(), solmsg.Key(key), e.Asset)
			if err != nil {
				return err
			}
			r.report.Have[account].add(e.Asset.String(), v)
		}
	}
	return nil
}
