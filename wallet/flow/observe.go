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

// observe asks the person's own nodes for the nonces of open signatures in a final block, and takes those that are used
// off the list: whatever used a nonce, nothing else can any more. Without a view, and where no node answers, all stay.
func (f *Flow) observe(ctx context.Context) error {
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
	seen, notes := map[string][]string{}, map[string]string{}
	for _, x := range f.d.Journal.Outstanding(f.earliest()) {
		p, ok := f.placeOf(x)
		i := slices.IndexFunc(reached, func(r verify.Reached) bool { return ok && r.Same(p) })
		if i < 0 || reached[i].Next == nil {
			continue
		}
		nonce, _ := new(big.Int).SetString(x.Nonce, 10) // checked when the record was taken in
		if reached[i].Next.Cmp(nonce) > 0 && !slices.Contains(seen[x.Op], x.OpHash) {
			seen[x.Op] = append(seen[x.Op], x.OpHash)
			notes[x.Op] = fmt.Sprintf("seen by your node: the nonce is used in block %d, which is final",
				reached[i].Block)
		}
	}
	for op, hashes := range seen {
		err = errors.Join(err, f.d.Journal.Saw(op, hashes, notes[op]))
	}
	return err
}

// placeOf is where the nonce of a signature is kept; false for what has none on an EVM chain of this network.
func (f *Flow) placeOf(x journal.Outstanding) (verify.Place, bool) {
	nonce, ok := new(big.Int).SetString(x.Nonce, 10)
	if !ok || x.BlockHash != "" || x.ChainID == 0 || x.Past || x.Role == journal.RoleDelegation {
		return verify.Place{}, false
	}
	return verify.Place{Chain: x.ChainID, Account: common.HexToAddress(x.Sender),
		EntryPoint: f.d.Policy.Network.Pins.EntryPoint, Key: nonce.Rsh(nonce, 64)}, true
}
