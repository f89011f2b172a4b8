package evm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// Sealing is a block to be made on a chain. Place lists what is put into the state before its transactions: new
// contracts, and, without code, slots of contracts that are there.
type Sealing struct {
	Chain   *Chain
	Request chain.SealRequest
	Place   []Account
}

// SealAll makes one block on each of several chains of one store, all in one commit: one wait for the disk however many
// chains there are. It is all or nothing; errors are those of Seal, and say which chain. No chain may be named twice.
// The blocks come in the order of the sealings; Record functions run in that order too.
func SealAll(ctx context.Context, sealings []Sealing) ([]chain.Block, error) {
	if len(sealings) == 0 {
		return nil, nil
	}
	order := slices.Clone(sealings) // everybody locks in this order, so nobody waits in a circle
	slices.SortFunc(order, func(a, b Sealing) int { return cmp.Compare(a.Chain.id, b.Chain.id) })
	for i, s := range order {
		if s.Chain.store != order[0].Chain.store || i > 0 && s.Chain == order[i-1].Chain {
			return nil, errors.New("blocks of one commit are of different chains in one store")
		}
	}
	for _, s := range order {
		s.Chain.sealing.Lock()
		defer s.Chain.sealing.Unlock()
	}
	built := make([]*sealed, len(sealings))
	var group errgroup.Group
	for i, s := range sealings {
		group.Go(func() (err error) {
			built[i], err = s.Chain.accepted(ctx, s.Request, s.Place)
			return s.Chain.named(err)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	blocks := make([]chain.Block, len(sealings))
	for i, b := range built {
		blocks[i] = b.block()
	}
	err := sealings[0].Chain.store.Update(func(tx store.Tx) error {
		for i, s := range sealings {
			if err := s.Chain.write(tx, built[i], s.Request, blocks[i]); err != nil {
				return s.Chain.named(err)
			}
		}
		return nil
	})
	if err != nil {
		for _, s := range sealings {
			s.Chain.catchUp()
		}
		return nil, err
	}
	for i, s := range sealings {
		s.Chain.publish(&built[i].head)
	}
	return blocks, nil
}

func (c *Chain) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("eip155:%d: %w", c.id, err)
}

// accepted builds a block that the request accepts. The chain's turn to seal is held.
func (c *Chain) accepted(ctx context.Context, req chain.SealRequest, place []Account) (*sealed, error) {
	s, err := c.build(ctx, req, place)
	if err != nil {
		return nil, err
	}
	if req.Accept != nil {
		if err := req.Accept(s.block().Receipts); err != nil {
			return nil, fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
		}
	}
	return s, nil
}

// commit stores a block.
func (c *Chain) commit(s *sealed) error {
	err := c.store.Update(func(tx store.Tx) error { return c.put(tx, s) })
	if err != nil {
		c.catchUp()
	}
	return err
}

// put stores the next block.
func (c *Chain) put(tx store.Tx, s *sealed) error {
	if tx.Bucket(c.layout.blocks).Get(numberKey(s.head.number())) != nil {
		return ErrConflict
	}
	var old map[string][]byte
	n := c.node.Load()
	if n != nil {
		old = map[string][]byte{}
	}
	if err := s.write(tx, c.layout, old); err != nil {
		return fmt.Errorf("write block: %w", err)
	}
	if n != nil {
		n.keep(&undo{number: s.head.number(), hash: s.head.hash, old: old})
	}
	return nil
}

// write stores a block, and what the request records with it.
func (c *Chain) write(tx store.Tx, s *sealed, req chain.SealRequest, block chain.Block) error {
	if err := c.put(tx, s); err != nil {
		return err
	}
	if req.Record != nil {
		return req.Record(tx, block)
	}
	return nil
}
