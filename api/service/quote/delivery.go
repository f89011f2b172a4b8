package quote

import (
	"context"
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
)

// fillLimit is the gas that the solver's transfer may use; a recipient that needs more cannot be paid.
const fillLimit = 150_000

// fillFee is the network fee of the delivery, in micro-USD.
func (q *Quoter) fillFee(ctx context.Context, x *trade) (*big.Int, error) {
	if x.chainID != 0 {
		return q.gasFee(x.chainID, GasRun+GasFill, x.now)
	}
	lamports := uint64(SolanaFillFee)
	key, _ := x.recipient.SolanaKey()
	if _, token := deployment.SolanaMint(x.gives.asset); token {
		there, err := q.Network.SolanaExists(ctx, solmsg.Key(key), x.gives.asset)
		if err != nil {
			return nil, err
		}
		if !there {
			lamports += solana.RentMinimum(tokenAccountSize)
		}
	}
	return q.lamportFee(lamports, x.now)
}

// settleable simulates the delivery and builds the funding operations.
func (q *Quoter) settleable(ctx context.Context, x *trade, t escrow.Terms) ([]built, error) {
	if x.chainID == 0 {
		if err := q.solanaFill(ctx, x); err != nil {
			return nil, err
		}
		return q.legs(ctx, nil, &x.draftQuote, t)
	}
	st, err := q.state(ctx, x.chainID, x.now)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := q.fuelled(ctx, st, x.chainID, GasRun+GasFill, q.usual(GasRun+GasFill)); err != nil {
		return nil, err
	}
	if err := q.fillWorks(st, x); err != nil {
		return nil, err
	}
	return q.legs(ctx, st, &x.draftQuote, t)
}

// fillWorks simulates the solver's transfer.
func (q *Quoter) fillWorks(st chain.State, x *trade) (err error) {
	defer chain.Faulty(st, &err)
	d := x.delivery()
	to, _ := x.recipient.EVM()
	m := chain.Message{From: q.Network.Pins.Solver, To: to, Value: d.amount, Gas: fillLimit}
	if token, isToken := d.asset.Token(); isToken {
		m.To, m.Value, m.Data = token, new(big.Int), erc20.Transfer(to, d.amount)
	}
	if r := st.Call(m); r.Err != nil {
		return refusedDelivery(q.Codec.Failed(r).Text)
	}
	return nil
}

// solanaFill simulates the solver's transfer on Solana. A recipient of coins must end with the rent minimum of an
// account even after the largest slippage, and when quotes in execution have taken theirs.
func (q *Quoter) solanaFill(ctx context.Context, x *trade) error {
	d := x.delivery()
	key, _ := x.recipient.SolanaKey()
	if _, token := deployment.SolanaMint(d.asset); !token {
		have, err := q.Network.SolanaBalance(ctx, solmsg.Key(key), d.asset)
		if err != nil {
			return err
		}
		pledged, err := q.Book.Pledged(ctx, x.recipient.Address)
		if err != nil {
			return err
		}
		have = less(have, pledged.Of(d.asset.String()))
		rent := new(big.Int).SetUint64(solana.RentMinimum(0))
		if have.Add(have, least(d.amount, x.slippage)).Cmp(rent) < 0 {
			return refusedDelivery("an account on Solana must hold at least " +
				amount.Trim(amount.Format(rent, d.decimals)) + " SOL")
		}
	}
	solver, sponsor := q.Network.SolverKey, q.Network.SponsorKey
	pay, err := q.Network.SolanaTransfer(ctx, solver, solmsg.Key(key), sponsor, d.asset, d.amount)
	if err != nil {
		return err
	}
	at := uint64(x.now.Unix())
	hash, _, err := q.Network.Solana.Blockhash(ctx, at)
	if err != nil {
		return err
	}
	m, err := solmsg.Compose(sponsor, hash, pay...)
	if err != nil {
		return refusedDelivery("the recipient cannot be paid: " + err.Error())
	}
	why, err := q.solanaFails(ctx, at, m)
	if err == nil && why != "" {
		err = refusedDelivery(why)
	}
	return err
}

func refusedDelivery(why string) error {
	return api.NewError(api.ErrNoRoute, "no routes found: the recipient would not get what is delivered: %s", why)
}
