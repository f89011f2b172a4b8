package settle

import (
	"context"
	"errors"

	"coffer/api"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quotestore"
)

// paysItself reports whether a quote is a transfer that its owner's own message makes: on Solana, where there is no
// solver.
func (s *Settler) paysItself(q *quotestore.Quote) bool {
	return s.Network.OnOwnNodes() && q.Target().IsSolana()
}

// sendSolana has the owner's transfer included. Once it was sent only the chain decides: it landed and succeeded, it
// landed and failed, or it can land no more.
func (s *Settler) sendSolana(ctx context.Context, o *order) (*quotestore.Quote, error) {
	sent := o.Sent != ""
	next, err := take(ctx, s, o.Quote, step[solana.Tx, solana.Receipt]{
		name: "target", port: s.Network.Outbox.Solana,
		txs: func(*quotestore.Quote) ([]solana.Tx, error) { return []solana.Tx{ownTx(o)}, nil },
		check: func(rs []solana.Receipt) error {
			if sent || rs[0].Success {
				return nil
			}
			return refusal{because(rs[0]), rs[0].Error}
		},
		done: func(next *quotestore.Quote, rs []solana.Receipt) {
			ref := s.solanaRef(rs[0].Signature)
			next.Origin, next.Destination = append(next.Origin, ref), append(next.Destination, ref)
			l := &next.Legs[0]
			l.DepositTx, l.State, next.Status = ref.Signature, quotestore.LegReleased, api.StatusCompleted
			if !rs[0].Success {
				l.State, next.Status, next.FailReason = quotestore.LegWaiting, api.StatusFailed, because(rs[0])
			}
		},
	})
	var refused *solana.TxError
	switch {
	case errors.As(err, &refused) && errors.Is(err, solana.ErrBlockhash):
		return nil, refusal{reasonExpired,
			"the block hash of the transfer on Solana has ended, and the transfer is in no history"}
	case refused != nil && !sent:
		return nil, refusal{reasonTransaction + ": " + refused.Err.Error(), refused.Error()}
	}
	return next, err
}

// ownTx is the transaction of the order's one leg.
func ownTx(o *order) solana.Tx {
	tx := *o.deposits[0].tx
	tx.LastHeight = o.Legs[0].LastHeight
	return tx
}

// because is the reason of a transfer that the chain ran and refused, with the runtime's text, and in words what a
// number of a program means.
func because(r solana.Receipt) string {
	why := reasonTransaction + ": " + r.Error
	m, err := solmsg.Parse(r.Message)
	if f := r.Fault; err == nil && f != nil && f.Instruction == solana.FaultCustom && r.Instruction >= 0 &&
		r.Instruction < len(m.Instructions) {
		why += map[solmsg.Key]map[uint32]string{
			solmsg.TokenProgram(): {1: " (insufficient tokens)", 3: " (another mint)", 4: " (another owner)",
				17: " (the token account is frozen)"},
			solmsg.SystemProgram(): {1: " (insufficient SOL)"},
		}[m.Instructions[r.Instruction].Program][f.Code]
	}
	return why
}

// trySolana is the last look at the owner's signed transfer before it is accepted.
func (s *Settler) trySolana(ctx context.Context, o *order) error {
	rs, err := s.Network.Solana.Simulate(ctx, uint64(o.now.Unix()), false, ownTx(o))
	var refused *solana.TxError
	switch {
	case errors.As(err, &refused) && errors.Is(err, solana.ErrBlockhash):
		return expiredAt(o.body.ExpirationTimestamp)
	case errors.As(err, &refused) && errors.Is(err, solana.ErrPayer):
		return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: %s cannot pay Solana's fee",
			o.SolanaOwner)
	case errors.As(err, &refused):
		return api.NewError(api.ErrSimulationFailed, "Simulation failed: Solana would not take the transfer: %s",
			refused.Err)
	case err != nil:
		return err
	case !rs[0].Success:
		return api.NewError(api.ErrSimulationFailed, "Simulation failed: Solana would refuse the transfer: %s",
			rs[0].Error)
	}
	return nil
}

// sponsored adds the sponsor's signature to a message whose fee the service pays.
func (s *Settler) sponsored(ctx context.Context, m solmsg.Message, owner solmsg.Key) (solana.Tx, error) {
	if m.FeePayer() == owner {
		return solana.Unsigned(m), nil
	}
	return solana.Sign(ctx, m, s.Signers.Sponsor)
}
