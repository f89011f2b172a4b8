// Package landing is the port of a Solana chain that is reached by JSON-RPC (protocol §5.10). What goes out there is
// one transaction that its owner has signed: it cannot be replaced, and its block hash ends.
//
//   - Send tries the transaction on a node, and commits its bytes with the record of its caller. Only then do they go
//     out. A crash before the commit has done nothing; after it the same bytes go out again.
//   - Result hands them to every node again and again until the last block height that takes them is finalized, and
//     looks for them at the depth of the network's file.
//   - A transaction is over without effect only when that height is finalized and it is in no history that a quorum of
//     the nodes has. Nodes that are silent, differ or keep no history are waited for.
package landing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"coffer/api/rpcpool"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// Nodes are those of the chain; *solnode.Chain are some.
type Nodes interface {
	Simulate(ctx context.Context, at uint64, unsigned bool, txs ...solana.Tx) ([]solana.Receipt, error)
	Send(context.Context, solana.Tx) error
	Landed(context.Context, solana.Tx) (r solana.Receipt, found bool, err error)
	FinalHeight(context.Context) (uint64, error)
	FinalSlot(context.Context) (uint64, error)
	Absent(ctx context.Context, tx solana.Tx, since uint64) (bool, error)
}

// Options say what a Port works with. Poll is how long it waits between two looks, 0 for the usual.
type Options struct {
	Store store.Store
	Nodes Nodes
	Log   *slog.Logger
	Poll  time.Duration
}

// usualPoll is a few slots.
const usualPoll = 2 * time.Second

// Port sends to one Solana chain. It is safe for concurrent use, and keeps nothing but what is in the store.
type Port struct{ Options }

var _ outbox.Solana = (*Port)(nil)

// New makes a Port.
func New(o Options) *Port {
	o.Poll = cmp.Or(o.Poll, usualPoll)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Port{o}
}

// bucket holds the transactions that were sent, by the id of their step.
const bucket = "solana sends"

// record is what is kept of one, for ever. Since is a slot before it could land.
type record struct {
	Tx      solana.Tx       `json:"tx"`
	Since   uint64          `json:"since"`
	Final   *solana.Receipt `json:"final,omitempty"`
	Expired bool            `json:"expired,omitempty"`
}

var errRecord = errors.New("the record of a transaction is not one that was written")

func decode(raw []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if len(r.Tx.Signatures) == 0 || len(r.Tx.Message) == 0 || r.Tx.LastHeight == 0 || r.Final != nil && r.Expired {
		return nil, errRecord
	}
	return &r, nil
}

func (p *Port) read(id string) (r *record, err error) {
	err = p.Store.View(func(tx store.Tx) error {
		raw := tx.Bucket(bucket).Get([]byte(id))
		if raw == nil {
			return tx.Err()
		}
		r, err = decode(raw)
		return err
	})
	return r, err
}

func put(tx store.Tx, id string, r *record) error {
	raw, err := json.Marshal(r)
	return errors.Join(err, tx.Bucket(bucket).Put([]byte(id), raw))
}

// Send implements outbox.Port.
func (p *Port) Send(ctx context.Context, s outbox.SolanaStep) (final bool, err error) {
	if len(s.Txs) != 1 || len(s.Txs[0].Signatures) == 0 || s.Txs[0].LastHeight == 0 {
		return false, errors.New(
			"a step on a Solana chain of others is one signed transaction with its last block height")
	}
	tx := s.Txs[0]
	if err := p.try(ctx, s); err != nil {
		return false, err
	}
	since, err := p.Nodes.FinalSlot(ctx)
	if err != nil {
		return false, err
	}
	if s.Gate != nil {
		if err := s.Gate(); err != nil {
			return false, err
		}
	}
	err = p.Store.Update(func(in store.Tx) error {
		if in.Bucket(bucket).Get([]byte(s.ID)) != nil {
			return fmt.Errorf("%q: %w", s.ID, outbox.ErrOpen)
		}
		return errors.Join(put(in, s.ID, &record{Tx: tx, Since: since}), s.Sent(in))
	})
	if err != nil {
		return false, err
	}
	p.send(ctx, tx)
	return false, nil
}

// try asks a node what the transaction would do now.
func (p *Port) try(ctx context.Context, s outbox.SolanaStep) error {
	would, err := p.Nodes.Simulate(ctx, s.Time, false, s.Txs...)
	if err != nil {
		return err
	}
	if err := s.Check(would); err != nil {
		return fmt.Errorf("%w: %w", solana.ErrNotAccepted, err)
	}
	return nil
}

// send hands the bytes out. Whether nodes take them says nothing about whether they land.
func (p *Port) send(ctx context.Context, tx solana.Tx) {
	if err := p.Nodes.Send(ctx, tx); err != nil && ctx.Err() == nil {
		p.Log.Warn("no node of Solana takes a transaction now", "transaction", tx.Name(), "error", err)
	}
}

// Result implements outbox.Port. The error is a *solana.TxError of ErrBlockhash when the transaction is over without
// effect.
func (p *Port) Result(ctx context.Context, id string) ([]solana.Receipt, error) {
	r, err := p.read(id)
	if err == nil && r == nil {
		err = fmt.Errorf("no transaction was sent for %q", id)
	}
	if err != nil {
		return nil, err
	}
	for failing := ""; ; {
		switch over, err := p.look(ctx, id, r); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, rpcpool.ErrClosed), errors.Is(err, store.ErrDamaged):
			return nil, err
		case err != nil && err.Error() != failing:
			failing = err.Error()
			p.Log.Warn("what became of a transaction on Solana cannot be told yet", "transaction", r.Tx.Name(),
				"error", err)
		case err == nil && over && r.Expired:
			return nil, &solana.TxError{Err: solana.ErrBlockhash}
		case err == nil && over:
			return []solana.Receipt{*r.Final}, nil
		}
		wait := time.NewTimer(p.Poll)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, ctx.Err()
		case <-wait.C:
		}
	}
}

// look asks once what became of a transaction, and reports whether it is over. The height is asked for before the
// transaction is looked for: what could land after that look could not land at all.
func (p *Port) look(ctx context.Context, id string, r *record) (over bool, err error) {
	if r.Final != nil || r.Expired {
		return true, nil
	}
	height, err := p.Nodes.FinalHeight(ctx)
	if err != nil {
		p.send(ctx, r.Tx) // one node of several may take it
		return false, err
	}
	next := *r
	receipt, found, err := p.Nodes.Landed(ctx, r.Tx)
	switch {
	case err != nil:
		if height <= r.Tx.LastHeight { // one node may hide it, and another take it
			p.send(ctx, r.Tx)
		}
		return false, err
	case found:
		next.Final = &receipt
	case height <= r.Tx.LastHeight:
		p.send(ctx, r.Tx)
		return false, nil
	default:
		if next.Expired, err = p.Nodes.Absent(ctx, r.Tx, r.Since); err != nil || !next.Expired {
			return false, err
		}
	}
	if err := p.Store.Update(func(tx store.Tx) error { return put(tx, id, &next) }); err != nil {
		return false, err
	}
	*r = next
	return true, nil
}
