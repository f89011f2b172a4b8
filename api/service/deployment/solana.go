package deployment

import (
	"context"
	"fmt"
	"math/big"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
)

// solanaEntity checks that an asset is one of the catalogue on Solana; the error wraps ErrChain or ErrAsset.
func (n *Network) solanaEntity(asset caip.Asset) (decimals uint8, err error) {
	if asset.Chain != caip.SolanaMainnet() {
		return 0, fmt.Errorf("%w: %s is not Solana", ErrChain, asset.Chain)
	}
	e, known := n.Catalog.Entity(asset)
	if !known {
		return 0, fmt.Errorf("%w: %s", ErrAsset, asset)
	}
	return uint8(e.Decimals), nil
}

// SolanaMint is the mint of an SPL token; false for SOL and for assets of other chains.
func SolanaMint(asset caip.Asset) (solmsg.Key, bool) {
	mint, ok := asset.Mint()
	return solmsg.Key(mint), ok
}

// SolanaBalance is what an owner has of a catalogue asset on Solana: the lamports of its account, or what its
// associated token account holds, 0 when there is none. The error wraps ErrChain or ErrAsset for anything else.
func (n *Network) SolanaBalance(ctx context.Context, owner solmsg.Key, asset caip.Asset) (*big.Int, error) {
	if n.Solana == nil {
		return nil, fmt.Errorf("%w: %s", ErrChain, asset.Chain)
	}
	st, err := n.Solana.State(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return n.SolanaBalanceAt(st, owner, asset)
}

// Holder is a Solana chain that says at once what an owner has of SOL and of mints.
type Holder interface {
	Holdings(ctx context.Context, owner solmsg.Key, mints []solmsg.Key) (lamports uint64, held []uint64, err error)
}

// SolanaBalances is SolanaBalance of several assets at once, on a chain that is a Holder.
func (n *Network) SolanaBalances(ctx context.Context, owner solmsg.Key, assets []caip.Asset) ([]*big.Int, error) {
	at, able := n.Solana.(Holder)
	if !able {
		return nil, fmt.Errorf("%w: %s", ErrChain, caip.SolanaMainnet())
	}
	var mints []solmsg.Key
	for _, a := range assets {
		if _, err := n.solanaEntity(a); err != nil {
			return nil, err
		}
		if mint, token := SolanaMint(a); token {
			mints = append(mints, mint)
		}
	}
	lamports, held, err := at.Holdings(ctx, owner, mints)
	if err != nil {
		return nil, err
	}
	out := make([]*big.Int, len(assets))
	for i, a := range assets {
		v := lamports
		if !a.IsNative() {
			v, held = held[0], held[1:]
		}
		out[i] = new(big.Int).SetUint64(v)
	}
	return out, nil
}

// SolanaBalanceAt is SolanaBalance in a view of the ledger.
func (n *Network) SolanaBalanceAt(st solana.State, owner solmsg.Key, asset caip.Asset) (*big.Int, error) {
	if _, err := n.solanaEntity(asset); err != nil {
		return nil, err
	}
	var v uint64
	var err error
	if mint, token := SolanaMint(asset); token {
		v, _, err = st.Tokens(owner, mint)
	} else {
		v, err = st.Lamports(owner)
	}
	if err != nil {
		return nil, err
	}
	return new(big.Int).SetUint64(v), nil
}

// SolanaSpendable is the part of SolanaBalance that can be moved away. That is everything, as an account may end with
// nothing (with less than the rent minimum it may not), but the service's own accounts stay: they keep the rent minimum
// in SOL.
func (n *Network) SolanaSpendable(ctx context.Context, owner solmsg.Key, asset caip.Asset) (*big.Int, error) {
	v, err := n.SolanaBalance(ctx, owner, asset)
	if err != nil || !asset.IsNative() || n.Keys[owner] == "" {
		return v, err
	}
	if v.Sub(v, new(big.Int).SetUint64(solana.RentMinimum(0))); v.Sign() < 0 {
		v.SetUint64(0)
	}
	return v, nil
}

// SolanaExists reports whether the account that holds an asset for an owner exists: the owner's own for SOL, the
// associated one for a token.
func (n *Network) SolanaExists(ctx context.Context, owner solmsg.Key, asset caip.Asset) (bool, error) {
	if _, err := n.solanaEntity(asset); err != nil {
		return false, err
	}
	st, err := n.Solana.State(ctx)
	if err != nil {
		return false, err
	}
	defer st.Close()
	if mint, token := SolanaMint(asset); token {
		_, exists, err := st.Tokens(owner, mint)
		return exists, err
	}
	lamports, err := st.Lamports(owner)
	return lamports > 0, err
}

// SolanaTransfer is the instructions that move an amount of a catalogue asset between the accounts of two owners. From
// signs. A token account that `to` does not have yet is created first; payer signs and pays its rent.
func (n *Network) SolanaTransfer(ctx context.Context, from, to, payer solmsg.Key, asset caip.Asset,
	amount *big.Int) ([]solmsg.Build, error) {
	decimals, err := n.solanaEntity(asset)
	if err != nil {
		return nil, err
	}
	if amount == nil || amount.Sign() < 0 || !amount.IsUint64() {
		return nil, fmt.Errorf("an amount of %s must fit into 64 bits, got %v", asset, amount)
	}
	mint, token := SolanaMint(asset)
	if !token {
		return []solmsg.Build{solmsg.SystemTransfer(from, to, amount.Uint64())}, nil
	}
	source, err := solmsg.AssociatedTokenAccount(from, mint, solmsg.TokenProgram())
	if err != nil {
		return nil, err
	}
	destination, err := solmsg.AssociatedTokenAccount(to, mint, solmsg.TokenProgram())
	if err != nil {
		return nil, err
	}
	exists, err := n.SolanaExists(ctx, to, asset)
	if err != nil {
		return nil, err
	}
	var out []solmsg.Build
	if !exists {
		out = append(out, solmsg.CreateATAIdempotent(payer, to, mint))
	}
	return append(out, solmsg.TokenTransferChecked(source, mint, destination, from, amount.Uint64(), decimals)), nil
}
