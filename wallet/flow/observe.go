package flow

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Observe asks the person's own nodes for the nonces of open signatures in a final block, and takes those that are used
// off the list: whatever used a nonce, nothing else can any more. Authorizations of EIP-7702 are among them, by the
// account nonce of their EOA. Without a view, and where no node answers, all stay. The error is the journal's.
func (f *Flow) Observe(ctx context.Context) error {
	if f.d.View == nil || f.d.Journal.ReadOnly() != nil {
		return nil
	}
	var places []verify.Place
	for _, x := range f.d.Journal.Outstanding(f.earliest()) {
		if p, ok := f.placeOf(x); ok && !slices.ContainsFunc(places, p.Same) {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		return nil
	}
	reached := f.d.View.Reach(ctx, places)
	release, err := f.d.Journal.Hold(ctx)
	if err != nil {
		return fmt.Errorf("note what your nodes saw: %w", err)
	}
	defer release()
	type record struct {
		op    string
		block uint64
	}
	seen := map[record][]string{}
	open := f.d.Journal.Outstanding(f.earliest())
	for _, x := range open {
		block, used := f.usedIn(x, reached)
		r := record{x.Op, block}
		// the authorizations of two EOAs can have one hash: a record is about both
		if used && !slices.Contains(seen[r], x.OpHash) && !slices.ContainsFunc(open, func(y journal.Outstanding) bool {
			_, too := f.usedIn(y, reached)
			return y.Op == x.Op && y.OpHash == x.OpHash && !too
		}) {
			seen[r] = append(seen[r], x.OpHash)
		}
	}
	for r, hashes := range seen {
		err = errors.Join(err, f.d.Journal.Saw(r.op, hashes, r.block))
	}
	return err
}

// usedIn is the final block in which own nodes saw the nonce of a signature used.
func (f *Flow) usedIn(x journal.Outstanding, reached []verify.Reached) (block uint64, used bool) {
	p, ok := f.placeOf(x)
	i := slices.IndexFunc(reached, func(r verify.Reached) bool { return ok && r.Same(p) })
	if i < 0 || reached[i].Next == nil {
		return 0, false
	}
	nonce, _ := new(big.Int).SetString(x.Nonce, 10) // checked when the record was taken in
	return reached[i].Block, reached[i].Next.Cmp(nonce) > 0
}

// placeOf is where the nonce of a signature is kept; false for what has none on an EVM chain of this network.
func (f *Flow) placeOf(x journal.Outstanding) (verify.Place, bool) {
	nonce, ok := new(big.Int).SetString(x.Nonce, 10)
	if !ok || x.BlockHash != "" || x.ChainID == 0 || x.Past {
		return verify.Place{}, false
	}
	if x.Role == journal.RoleDelegation {
		return verify.Place{Chain: x.ChainID, Account: common.HexToAddress(x.Sender)}, true
	}
	return verify.Place{Chain: x.ChainID, Account: common.HexToAddress(x.Sender),
		EntryPoint: f.d.Policy.Network.Pins.EntryPoint, Key: nonce.Rsh(nonce, 64)}, true
}
