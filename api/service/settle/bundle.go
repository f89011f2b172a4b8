package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/filler"
	"coffer/api/service/chain"
	"coffer/api/service/quote"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/quotestore"
)

// unchanged checks that nonces, deployments and delegations are as they were signed for (protocol §2.6, §2.12).
func (s *Settler) unchanged(ctx context.Context, o *order) error {
	seen := map[uint64]bool{}
	if o.HasPrepared() {
		seen[o.ChainID] = true
		if err := s.unchangedOn(ctx, o, o.ChainID); err != nil {
			return err
		}
	}
	for _, l := range o.Legs {
		if l.ChainID == 0 || seen[l.ChainID] {
			continue
		}
		seen[l.ChainID] = true
		if err := s.unchangedOn(ctx, o, l.ChainID); err != nil {
			return err
		}
	}
	return nil
}

// unchangedOn checks every operation of one chain. The first of them is the one that deploys.
func (s *Settler) unchangedOn(ctx context.Context, o *order, chainID uint64) error {
	st, err := s.Network.Chains[chainID].State(ctx, uint64(o.now.Unix()))
	if err != nil {
		return err
	}
	defer st.Close()
	state, err := o.account.State(st, chainID)
	if err != nil {
		return unservedNow(err)
	}
	first := true
	check := func(signed operation, d *api.Delegation, lane uint16) error {
		nonce, err := s.Network.AccountNonceAt(st, o.Owner, o.account.Key192(lane))
		if err != nil {
			return err
		}
		deploys := signed.op.Factory != nil
		if nonce.Cmp(signed.op.Nonce) != 0 || deploys != (state.Deploys && first) ||
			!covers(d, state.Delegation) && first {
			return quote.PrepareAgain("the account on %s has changed since the operation was signed", caip.EVM(chainID))
		}
		first = false
		return nil
	}
	if o.HasPrepared() && chainID == o.ChainID {
		if err := check(o.prepared, o.context.Delegation, op.LanePrepared); err != nil {
			return err
		}
	}
	for i, l := range o.Legs {
		if l.ChainID != chainID {
			continue
		}
		if err := check(o.deposits[i], l.Delegation, op.LaneFunding); err != nil {
			return err
		}
	}
	return nil
}

// covers reports whether a signed delegation gives what the account still needs. One that is no longer needed does no
// harm: it landed with another operation that shares it.
func covers(signed, needed *api.Delegation) bool {
	return needed == nil ||
		signed != nil && signed.Nonce == needed.Nonce &&
			strings.EqualFold(signed.ContractAddress, needed.ContractAddress)
}

// unservedNow is the answer when an account cannot be served on a chain any more, although it could when the quote was
// made.
func unservedNow(err error) error {
	var u *smartaccount.Unserved
	if errors.As(err, &u) {
		return quote.PrepareAgain("the account has changed: expected %s, got %s", u.Want, u.Got)
	}
	return err
}

// encoder makes the operator's call that runs operations.
type encoder func(ops ...op.UserOp) (chain.Message, error)

// plainly runs operations that need no delivery.
func (s *Settler) plainly(o *order) encoder {
	return func(ops ...op.UserOp) (chain.Message, error) { return quote.Run(s.Network, o.ValidUntil, ops...) }
}

// filling delivers what the quote promises, and what it delivers now, and runs the operations after it.
func (s *Settler) filling(o *order, now []quotestore.Fill) encoder {
	return func(ops ...op.UserOp) (m chain.Message, err error) {
		terms := o.Terms()
		pays, ok := filler.Pays(terms.Minimums)
		if !ok || len(pays) != len(now) {
			return m, fmt.Errorf("quote %s delivers %d assets to %q", o.ID, len(now), o.Recipient)
		}
		for i, m := range terms.Minimums {
			for _, f := range now {
				if f.Delivers.CAIP().Word() == m.Token {
					pays[i].Amount = f.Delivers.Value
				}
			}
		}
		m.To = s.Network.Pins.Paymaster
		m.Data, err = filler.FillCalldata(common.HexToHash(o.ID), o.Owner, terms, pays, ops...)
		return m, err
	}
}

// bundle is the operator's transaction that runs operations as the chain needs it now: co-signed, and with the
// authorization that the account still needs. The error is a refusal when the world has changed so that the operations
// cannot run.
func (s *Settler) bundle(ctx context.Context, st chain.State, o *order, chainID uint64, ops []operation,
	encode encoder) (tx chain.Tx, err error) {
	tx.From = s.Signers.Operator
	if len(ops) == 0 {
		m, err := encode()
		tx.To, tx.Data = m.To, m.Data
		return tx, err
	}
	state, err := o.account.State(st, chainID)
	var u *smartaccount.Unserved
	var refused *api.Error
	if errors.As(err, &u) || errors.As(err, &refused) {
		return tx, refusal{reasonSignature, err.Error()}
	}
	if err != nil {
		return tx, err
	}
	if needed := state.Delegation; needed != nil {
		for _, one := range ops {
			if one.auth != nil && one.auth.Nonce == needed.Nonce && len(tx.Authorizations) == 0 {
				tx.Authorizations = []op.SignedAuthorization{*one.auth}
			}
		}
		if len(tx.Authorizations) == 0 {
			return tx, refusal{reasonNonce, "the account's authorization no longer fits its nonce"}
		}
	}
	signed := make([]op.UserOp, len(ops))
	for i, one := range ops {
		if signed[i], err = o.account.CoSign(ctx, one.op, chainID, s.Signers.CoSigner); err != nil {
			return tx, err
		}
	}
	m, err := encode(signed...)
	tx.To, tx.Data, tx.Gas = m.To, m.Data, m.Gas
	return tx, err
}

// prime has the views of a context (chain.Together) know what the operations of the target chain are going to read,
// where that saves round trips.
func (s *Settler) prime(ctx context.Context, o *order) error {
	able, saves := s.Network.Chains[o.ChainID].(chain.Primer)
	if !saves || !o.HasPrepared() || !s.Network.OnOwnNodes() {
		return nil
	}
	st, err := s.Network.Chains[o.ChainID].State(ctx, uint64(s.Clock().Unix()))
	if err != nil {
		return err
	}
	defer st.Close()
	signed, err := o.account.CoSign(ctx, o.prepared.op, o.ChainID, s.Signers.CoSigner)
	if err != nil {
		return err
	}
	run, err := s.plainly(o)(signed)
	if err != nil {
		return err
	}
	if o.prepared.auth != nil {
		run.Authorizations = []op.SignedAuthorization{*o.prepared.auth}
	}
	able.Prime(st, s.Network.AskNonce(o.Owner, o.account.Key192(op.LanePrepared)), run)
	return st.Err()
}

// bundleNow is bundle for what is about to be sent.
func (s *Settler) bundleNow(ctx context.Context, o *order, chainID uint64, ops []operation,
	encode encoder) ([]chain.Tx, error) {
	st, err := s.Network.Chains[chainID].State(ctx, uint64(s.Clock().Unix()))
	if err != nil {
		return nil, err
	}
	defer st.Close() // before it is sent
	tx, err := s.bundle(ctx, st, o, chainID, ops, encode)
	return []chain.Tx{tx}, err
}

// stillServed looks once more at a co-signed account when its operation is about to go out, on an embedded chain in the
// turn of its block: keys that were replaced and an exit that was announced since the bundle was made stop it. Other
// accounts need no second look, as their chain enforces what matters.
func (s *Settler) stillServed(ctx context.Context, o *order, chainID uint64) error {
	if !o.account.CoSigned() {
		return nil
	}
	st, err := s.Network.Chains[chainID].State(ctx, 0)
	if err != nil {
		return err
	}
	defer st.Close()
	_, err = o.account.State(st, chainID)
	var u *smartaccount.Unserved
	if errors.As(err, &u) {
		return refusal{reasonSignature, err.Error()}
	}
	return err
}

// targetOps are the operations of the target block: the prepared one, then a deposit on the same chain.
func (o *order) targetOps() []operation {
	var ops []operation
	if o.HasPrepared() {
		ops = append(ops, o.prepared)
	}
	for i, l := range o.Legs {
		if l.ChainID == o.ChainID {
			ops = append(ops, o.deposits[i])
		}
	}
	return ops
}

// sameChain lists the deposits that the target block makes itself.
func sameChain(q *quotestore.Quote) []quotestore.Leg {
	return slices.DeleteFunc(slices.Clone(q.Legs), func(l quotestore.Leg) bool { return l.ChainID != q.ChainID })
}
