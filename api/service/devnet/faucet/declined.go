package faucet

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// refusal says that a chain does not take the faucet's transfers, as when the faucet ran dry there. Asset is what it
// could not give.
type refusal struct {
	asset caip.Asset
	why   error
}

func (r *refusal) Error() string { return fmt.Sprintf("%s cannot be given: %v", r.asset, r.why) }

func (r *refusal) Unwrap() error { return r.why }

// refused writes a refusal down and then tells of it: whoever has read the warning can rely on it that nothing more
// will come.
func (f *Faucet) refused(account string, r *refusal, note func(store.Tx) error) error {
	if err := f.Installation.Store.Update(note); err != nil {
		return err
	}
	f.Log.Warn("test funds declined: the chain refuses the faucet's transfers",
		"account", account, "chain", r.asset.Chain.String(), "asset", r.asset.String(), "error", r.why)
	return nil
}

// short reports whether an account's coin might not cover the transactions. A chain.TxError can also be a fault of the
// database, and its text is no proof of anything: the balance is. Gas counts in full, at the highest base fee that the
// next block can have (EIP-1559: an eighth more).
func short(ctx context.Context, c chain.Chain, payer common.Address, txs []chain.Tx) (bool, error) {
	st, err := c.State(ctx, c.Head().Time)
	if err != nil {
		return false, err
	}
	defer st.Close()
	now := st.Header().BaseFee
	price := new(big.Int).Quo(now, big.NewInt(8))
	price.Add(price, now).Add(price, big.NewInt(1))
	need := new(big.Int)
	for _, t := range txs {
		need.Add(need, new(big.Int).Mul(price, new(big.Int).SetUint64(t.Gas)))
		if t.Value != nil {
			need.Add(need, t.Value)
		}
	}
	return st.Balance(payer).Cmp(need) < 0, st.Err()
}
