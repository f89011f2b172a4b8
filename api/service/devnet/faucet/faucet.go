// Package faucet pays play money out of an embedded network's own stock. Source: protocol §5.4.
package faucet

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// Faucet pays test funds: an address is funded once, when it is first named, and only if it holds nothing and has no
// code, nonce or history on any chain (protocol §5.4). What was decided about an address is written down, so a
// recipient that was paid is never topped up. On each chain a grant is paid whole or declined for good: a faucet that
// ran dry there is no error of the request. Where May says no, nothing is decided and nothing written, and the address
// gets its funds when it is named again by a request that may bring them. It is safe for concurrent use.
type Faucet struct {
	Options
	seed  []byte
	turn  sync.Mutex // one funding at a time: chains seal one block at a time anyway
	queue queue
}

// Options configure a Faucet. Known reports whether the service's history names an account, an EVM address or a
// Solana one; nil means that there is no history to ask. May reports whether a request may bring test funds; it is
// asked with true once for each new address, which counts against a budget, and with false otherwise; nil means always.
// Log is told of every grant that a chain refuses and of every address that a budget leaves out; it may be nil.
type Options struct {
	Installation *devnet.Installation
	Clock        func() time.Time
	Known        func(ctx context.Context, account string) (bool, error)
	May          func(ctx context.Context, newAddress bool) bool
	Log          *slog.Logger
}

// bucketFunds holds address (20 bytes) or Solana account (32 bytes) → decision, and address ‖ chain id (28 bytes) →
// hash of the first transaction of the grant there, or declined (1 byte).
const bucketFunds = "faucet"

// Decisions about an address. A started grant that a crash cut off is finished when the address is named again; it is
// funded when every chain has paid or declined and one of them has paid.
const (
	declined = 'd'
	started  = 's'
	funded   = 'f'
)

// New makes the faucet of an installation.
func New(o Options) (*Faucet, error) {
	seed, err := o.Installation.Secret("test-funds/1", sha256.Size)
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.May == nil {
		o.May = func(context.Context, bool) bool { return true }
	}
	if o.Known == nil {
		o.Known = func(context.Context, string) (bool, error) { return false, nil }
	}
	return &Faucet{Options: o, seed: seed}, nil
}

// Consider funds an address that deserves it. It returns when the blocks are sealed.
func (f *Faucet) Consider(ctx context.Context, a common.Address) error {
	if err := f.consider(ctx, a); err != nil {
		return fmt.Errorf("test funds for %s: %w", a.Hex(), err)
	}
	return nil
}

func (f *Faucet) consider(ctx context.Context, a common.Address) error {
	if d, err := f.decision(a[:]); err != nil || d == declined || d == funded || !f.May(ctx, false) {
		return err
	}
	s := f.join(a, func() bool { return f.within(ctx, a.Hex()) })
	f.turn.Lock()
	defer f.turn.Unlock()
	for !s.served { // whoever had the turn before may have served all that waited
		f.serve(ctx, f.take())
	}
	return s.err
}

// within takes a new address out of the request's budget; false when that is used up.
func (f *Faucet) within(ctx context.Context, account string) bool {
	ok := f.May(ctx, true)
	if !ok {
		f.Log.Info("no test funds: the caller has named as many new accounts as it may", "account", account)
	}
	return ok
}

func (f *Faucet) decline(a []byte) error {
	return f.Installation.Store.Update(func(tx store.Tx) error { return decline(tx, a) })
}

func decline(tx store.Tx, a []byte) error { return tx.Bucket(bucketFunds).Put(a, []byte{declined}) }

func (f *Faucet) decision(a []byte) (d byte, err error) {
	v, err := store.Get(f.Installation.Store, bucketFunds, a)
	if len(v) > 0 {
		d = v[0]
	}
	return d, err
}

// used reports whether the address holds or ever did anything. The zero address and those of precompiled contracts
// count as used: nobody owns them.
func (f *Faucet) used(ctx context.Context, a common.Address) (bool, error) {
	if chain.IsReservedAddress(a) {
		return true, nil
	}
	if known, err := f.Known(ctx, a.Hex()); err != nil || known {
		return known, err
	}
	for _, id := range f.Installation.ChainIDs {
		if used, err := f.usedOn(ctx, id, a); err != nil || used {
			return used, err
		}
	}
	return false, nil
}

func (f *Faucet) usedOn(ctx context.Context, id uint64, a common.Address) (bool, error) {
	c := f.Installation.Chains[id]
	st, err := c.State(ctx, c.Head().Time)
	if err != nil {
		return false, err
	}
	defer st.Close()
	if used := st.Nonce(a) > 0 || st.Balance(a).Sign() > 0 || len(st.Code(a)) > 0; used || st.Err() != nil {
		return used, st.Err()
	}
	for _, e := range f.Installation.Catalog.On(caip.EVM(id)) {
		v, err := f.Installation.BalanceAt(st, a, e.Asset)
		if err != nil || v.Sign() > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// byChain is the grant of an address, chain by chain.
func (f *Faucet) byChain(a common.Address) (map[uint64][]gift, error) {
	gifts, err := f.grant(a)
	if err != nil {
		return nil, err
	}
	byChain := map[uint64][]gift{}
	for _, g := range gifts {
		id, _ := g.entity.Asset.Chain.EVMID()
		byChain[id] = append(byChain[id], g)
	}
	return byChain, nil
}

// fund pays a grant chain by chain, each in a commit of its own, so that a chain which refuses does not keep the others
// from paying. The decision is committed with the blocks and the declines.
func (f *Faucet) fund(ctx context.Context, a common.Address) error {
	byChain, err := f.byChain(a)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for id, list := range byChain {
		group.Go(func() error { return f.pay(ctx, part{to: a, chain: id, gifts: list}, byChain) })
	}
	return group.Wait()
}

// part is what a grant gives on one chain.
type part struct {
	to    common.Address
	chain uint64
	gifts []gift
}

// pay seals the block of one chain, or declines, unless either was done before a crash.
func (f *Faucet) pay(ctx context.Context, p part, all map[uint64][]gift) error {
	over, err := store.Get(f.Installation.Store, bucketFunds, onChain(p.to, p.chain))
	if err != nil || over != nil {
		return err
	}
	err = f.seal(ctx, p, all)
	if r, ok := errors.AsType[*refusal](err); ok {
		return f.refused(p.to.Hex(), r, func(tx store.Tx) error { return p.note(tx, []byte{declined}, all) })
	}
	return err
}

// seal pays on one chain. The error is a *refusal when the chain does not take the transfers.
func (f *Faucet) seal(ctx context.Context, p part, all map[uint64][]gift) error {
	step := f.step([]part{p}, map[common.Address]map[uint64][]gift{p.to: all})
	_, err := f.Installation.Outbox.EVM(p.chain).Send(ctx, step)
	t, excluded := errors.AsType[*chain.TxError](err)
	if !excluded {
		return err
	}
	broke, fault := short(ctx, f.Installation.Chains[p.chain], f.Installation.Faucet.Address(), step.Txs[:t.Index+1])
	if fault != nil || !broke {
		return errors.Join(err, fault)
	}
	return &refusal{caip.Native(p.chain), err}
}

// note writes what came of the part, and the decision about the address as far as all chains of the grant have led to
// one.
func (p part) note(tx store.Tx, outcome []byte, all map[uint64][]gift) error {
	b := tx.Bucket(bucketFunds)
	if err := b.Put(onChain(p.to, p.chain), outcome); err != nil {
		return err
	}
	d := byte(declined)
	for id := range all {
		v := b.Get(onChain(p.to, id))
		if v == nil {
			d = started
			break
		}
		if len(v) > 1 {
			d = funded
		}
	}
	return b.Put(p.to[:], []byte{d})
}

func onChain(a common.Address, id uint64) []byte {
	return binary.BigEndian.AppendUint64(slices.Clone(a[:]), id)
}
