package settle

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/attest"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
	"coffer/api/service/signers"
)

// payment is a transfer of the service on Solana: the sponsor pays fee and rent. The rent
// of a token account that is not there comes first, extra instructions come last.
func (s *Settler) payment(ctx context.Context, q *quotestore.Quote, from signers.Solana, to solmsg.Key,
	a quotestore.Amount, memo string, at time.Time,
	extra ...solmsg.Build) (solana.Tx, error) {
	sponsor := s.Network.SponsorKey
	builds, err := s.Network.SolanaTransfer(ctx, from.Key(), to, sponsor, a.CAIP(), a.Value)
	if err != nil {
		return solana.Tx{}, fmt.Errorf("pay %s of %s on Solana for quote %s: %w", a.Value, a.Asset, q.ID, err)
	}
	hash, _, err := s.Network.Solana.Blockhash(ctx, uint64(at.Unix()))
	if err != nil {
		return solana.Tx{}, err
	}
	m, err := solmsg.Compose(sponsor, hash, append(append(builds, extra...), solmsg.Memo(memo))...)
	if err != nil {
		return solana.Tx{}, fmt.Errorf("pay on Solana for quote %s: %w", q.ID, err)
	}
	return solana.Sign(ctx, m, s.Signers.Sponsor, from)
}

// fillSolana are the solver's transfers of what the quote delivers on Solana.
func (s *Settler) fillSolana(ctx context.Context, q *quotestore.Quote, at time.Time) ([]solana.Tx, error) {
	to, ok := q.RecipientAccount().SolanaKey()
	if !ok {
		return nil, fmt.Errorf("quote %s delivers to %q on Solana", q.ID, q.Recipient)
	}
	var out []solana.Tx
	for _, f := range q.Fills {
		tx, err := s.payment(ctx, q, s.Signers.SolanaSolver, solmsg.Key(to), f.Delivers,
			attest.Memo(common.HexToHash(q.ID), q.Owner), at)
		if err != nil {
			return nil, err
		}
		out = append(out, tx)
	}
	return out, nil
}

// simulateSolana simulates deposits on Solana after the fills.
func (s *Settler) simulateSolana(ctx context.Context, o *order, fills []solana.Tx, deposits []operation) error {
	at := uint64(o.now.Unix())
	txs := slices.Clone(fills)
	for _, d := range deposits {
		m, err := solmsg.Parse(d.tx.Message)
		if err != nil {
			return err
		}
		valid, err := s.Network.Solana.BlockhashValid(ctx, m.Blockhash, at)
		if err != nil {
			return err
		}
		if !valid {
			return expiredAt(o.body.ExpirationTimestamp)
		}
		txs = append(txs, *d.tx)
	}
	rs, err := s.Network.Solana.Simulate(ctx, at, false, txs...)
	var refused *solana.TxError
	switch {
	case errors.As(err, &refused) && errors.Is(err, solana.ErrProcessed):
		return quote.PrepareAgain("the deposit on %s has landed already", caip.SolanaMainnet())
	case errors.As(err, &refused) && errors.Is(err, solana.ErrPayer):
		return noCapacity()
	case err != nil:
		return err
	}
	for i, r := range rs {
		if r.Success {
			continue
		}
		if i < len(fills) {
			return s.fillFails(ctx, o, fmt.Sprintf("the transfer to %s cannot arrive: %s", o.RecipientAccount(),
				r.Error))
		}
		return depositFails(caip.SolanaMainnet(), entrypoint.Failure{Text: r.Error})
	}
	return nil
}

// depositSolana lands a deposit on Solana.
func (s *Settler) depositSolana(ctx context.Context, o *order, i int, name string) (*quotestore.Quote, error) {
	next, err := take(ctx, s, o.Quote, step[solana.Tx, solana.Receipt]{
		name: name, port: s.Network.Outbox.Solana, goesOn: true,
		txs:   func(*quotestore.Quote) ([]solana.Tx, error) { return []solana.Tx{*o.deposits[i].tx}, nil },
		check: func(rs []solana.Receipt) error { return s.checkSolana(rs[0], o.Legs[i]) },
		done: func(next *quotestore.Quote, rs []solana.Receipt) {
			s.landed(next, i, s.solanaRef(rs[0].Signature))
			next.Status = api.StatusInProgress
		},
	})
	return next, included(err, 0)
}

// targetSolana sends the fill and same-chain deposits together.
func (s *Settler) targetSolana(ctx context.Context, o *order) (*quotestore.Quote, error) {
	filled, fills := o.Quote, len(o.Fills)
	next, err := take(ctx, s, o.Quote, step[solana.Tx, solana.Receipt]{
		name: "target", port: s.Network.Outbox.Solana,
		txs: func(next *quotestore.Quote) (txs []solana.Tx, err error) {
			filled = next
			if next.Fills, err = s.beforeFill(ctx, o); err != nil {
				return nil, err
			}
			txs, err = s.fillSolana(ctx, next, s.Clock())
			for _, d := range o.targetOps() {
				txs = append(txs, *d.tx)
			}
			return txs, err
		},
		check: func(rs []solana.Receipt) error {
			if rs[0].Time > o.ValidUntil { // no attester would take it for a delivery in time
				return outOfTime()
			}
			for _, r := range rs[:fills] {
				if !r.Success && s.short(ctx, filled) {
					return refusal{reasonCapacity, "the solver's transfer failed: " + r.Error}
				}
				if !r.Success {
					return refusal{reasonTransfer, "the transfer to the recipient failed: " + r.Error}
				}
			}
			for i, l := range sameChain(o.Quote) {
				if err := s.checkSolana(rs[fills+i], l); err != nil {
					return err
				}
			}
			return nil
		},
		gate: func() error { return s.askedToRevert(o) },
		done: func(next *quotestore.Quote, rs []solana.Receipt) {
			next.Destination = append(next.Destination, s.solanaRef(rs[0].Signature))
			next.Status = api.StatusExecuted
			at := fills
			for i := range next.Legs {
				if next.Legs[i].ChainID == next.ChainID {
					s.landed(next, i, s.solanaRef(rs[at].Signature))
					at++
				}
			}
		},
	})
	return next, included(err, fills)
}

// included turns the settlement back when a transaction cannot be included any more. The first ones are the service's
// own.
func included(err error, own int) error {
	var refused *solana.TxError
	if !errors.As(err, &refused) {
		return err
	}
	switch {
	case errors.Is(err, solana.ErrPayer):
		return refusal{reasonCapacity, "the sponsor cannot pay the fee on Solana"}
	case errors.Is(err, solana.ErrBlockhash) && refused.Index >= own:
		return refusal{reasonExpired, "the block hash of the deposit on Solana is too old"}
	}
	return err
}

// checkSolana accepts a deposit that brought its amount to the vault.
func (s *Settler) checkSolana(r solana.Receipt, l quotestore.Leg) error {
	if !r.Success {
		return refusal{reasonTransaction, "the deposit on Solana failed: " + r.Error}
	}
	vault := s.Network.VaultKey.String()
	mint, isToken := deployment.SolanaMint(l.Pays.CAIP())
	gained := new(big.Int)
	for _, c := range r.Changes {
		if isToken && c.Mint == mint.String() && c.Owner == vault || !isToken && c.Mint == "" && c.Account == vault {
			gained.Add(gained, new(big.Int).Sub(c.After, c.Before))
		}
	}
	if gained.Cmp(l.Pays.Value) != 0 {
		return refusal{reasonMismatch, "the deposit did not reach the vault"}
	}
	return nil
}

// settleSolana pays a deposit out of the vault: to the solver, or back to the user. The record changes with it and only
// from the one that this step was begun from, so it happens once.
func (s *Settler) settleSolana(ctx context.Context, q *quotestore.Quote, i int, name string,
	how settling) (*quotestore.Quote, error) {
	return take(ctx, s, q, step[solana.Tx, solana.Receipt]{
		name: name, port: s.Network.Outbox.Solana, leg: i + 1,
		txs: func(next *quotestore.Quote) ([]solana.Tx, error) {
			next.Status = how.status(next)
			to := s.Network.SolverKey
			if how.state == quotestore.LegRefunded {
				var err error
				if to, err = solmsg.ParseKey(q.SolanaOwner); err != nil {
					return nil, fmt.Errorf("the Solana account of quote %s: %w", q.ID, err)
				}
			}
			rent, err := s.missingRent(ctx, to, q.Legs[i].Pays)
			if err != nil {
				return nil, err
			}
			tx, err := s.payment(ctx, q, s.Signers.Vault, to, q.Legs[i].Pays, q.ID, s.Clock(), rent...)
			return []solana.Tx{tx}, err
		},
		check: solana.AllSucceed,
		done: func(next *quotestore.Quote, rs []solana.Receipt) {
			settled(next, i, how, s.solanaRef(rs[0].Signature))
		},
	})
}

// missingRent is the sponsor's part of a payment in SOL to an account that would otherwise end below the rent minimum:
// whoever emptied it since his deposit could never get a small one back.
func (s *Settler) missingRent(ctx context.Context, to solmsg.Key, pays quotestore.Amount) ([]solmsg.Build, error) {
	if !pays.CAIP().IsNative() {
		return nil, nil
	}
	have, err := s.Network.SolanaBalance(ctx, to, pays.CAIP())
	if err != nil {
		return nil, err
	}
	missing := new(big.Int).SetUint64(solana.RentMinimum(0))
	if missing.Sub(missing, have.Add(have, pays.Value)); missing.Sign() <= 0 {
		return nil, nil
	}
	return []solmsg.Build{solmsg.SystemTransfer(s.Network.SponsorKey, to, missing.Uint64())}, nil
}
