package deployment

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/service/chain"
)

var (
	// ErrChain says that the network has no such chain.
	ErrChain = errors.New("no such chain on this network")
	// ErrAsset says that the catalogue has no such asset.
	ErrAsset = errors.New("no such asset on this network")
)

// ChainOf returns the chain that an asset lives on, or an error that wraps ErrChain.
func (n *Network) ChainOf(c caip.Chain) (chain.Chain, error) {
	id, ok := c.EVMID()
	if ok {
		if ch := n.Chains[id]; ch != nil {
			return ch, nil
		}
	}
	return nil, fmt.Errorf("%w: %s", ErrChain, c)
}

// state opens a view of the head of a chain, in a block of the given time, or of the head's own for 0.
func (n *Network) state(ctx context.Context, c caip.Chain, at uint64) (chain.State, error) {
	ch, err := n.ChainOf(c)
	if err != nil {
		return nil, err
	}
	return ch.State(ctx, at)
}

// Balance is the account's balance of a catalogue asset at the head of its chain, in base units.
func (n *Network) Balance(ctx context.Context, account common.Address, asset caip.Asset) (*big.Int, error) {
	st, err := n.state(ctx, asset.Chain, 0)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return n.BalanceAt(st, account, asset)
}

// BalanceAt is Balance in a view of the asset's chain, which may have been changed by overlays and calls. A token whose
// place of balances in storage is not known is asked. The error wraps ErrAsset for an asset outside the catalogue.
func (n *Network) BalanceAt(st chain.State, account common.Address, asset caip.Asset) (*big.Int, error) {
	if _, known := n.Catalog.Entity(asset); !known {
		return nil, fmt.Errorf("%w: %s", ErrAsset, asset)
	}
	token, isToken := asset.Token()
	slot, placed := n.BalanceSlots[asset]
	switch {
	case placed:
		return st.Storage(token, balanceKey(slot, account)).Big(), st.Err()
	case asset.IsNative():
		return st.Balance(account), st.Err()
	case isToken:
		return ask(st, token, "balanceOf(address)", account[:])
	}
	return nil, fmt.Errorf("%w: %s", ErrAsset, asset)
}

// PrimeBalances prepares a view for BalanceAt of all catalogue assets of its chain, where that saves round trips.
func (n *Network) PrimeBalances(st chain.State, account common.Address, chainID uint64) {
	able, saves := n.Chains[chainID].(chain.Primer)
	if !saves {
		return
	}
	var asks []chain.Message
	for _, e := range n.Catalog.On(caip.EVM(chainID)) {
		if token, is := e.Asset.Token(); is {
			asks = append(asks, n.AskBalance(token, account))
		}
	}
	able.Prime(st, asks...)
}

// Reader is a chain that tells many balances of one account at once, in the order of the tokens; zero is the coin, and
// nil is what a token does not tell.
type Reader interface {
	Balances(ctx context.Context, account common.Address, tokens []common.Address) ([]*big.Int, error)
}

// Balances are the account's balances of catalogue assets of one chain at its head, in their order. A chain that is a
// Reader is asked once.
func (n *Network) Balances(ctx context.Context, account common.Address, assets []caip.Asset) ([]*big.Int, error) {
	if len(assets) == 0 {
		return nil, nil
	}
	ch, err := n.ChainOf(assets[0].Chain)
	if err != nil {
		return nil, err
	}
	tokens := make([]common.Address, len(assets))
	for i, a := range assets {
		if _, known := n.Catalog.Entity(a); !known || a.Chain != assets[0].Chain {
			return nil, fmt.Errorf("%w: %s", ErrAsset, a)
		}
		tokens[i], _ = a.Token()
	}
	if all, batches := ch.(Reader); batches {
		out, err := all.Balances(ctx, account, tokens)
		if i := slices.Index(out, nil); i >= 0 && err == nil {
			err = fmt.Errorf("%s does not tell balances", assets[i].Display())
		}
		return out, err
	}
	st, err := ch.State(ctx, ch.Head().Time)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	out := make([]*big.Int, len(assets))
	for i, a := range assets {
		if out[i], err = n.BalanceAt(st, account, a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Stock is what the solver can give of a catalogue asset at a moment, on any chain: on EVM chains no more than the
// filler's cap lets out, and nothing while it is paused.
func (n *Network) Stock(ctx context.Context, asset caip.Asset, at time.Time) (*big.Int, error) {
	if asset.Chain.IsSolana() {
		return n.SolanaSpendable(ctx, n.SolverKey, asset)
	}
	st, err := n.state(ctx, asset.Chain, uint64(at.Unix()))
	if err != nil {
		return nil, err
	}
	defer st.Close()
	have, err := n.BalanceAt(st, n.Pins.Solver, asset)
	if err != nil {
		return nil, err
	}
	if paused, err := ask(st, n.Pins.Solver, "paused()"); err != nil || paused.Sign() > 0 {
		return new(big.Int), err
	}
	token, _ := asset.Token() // zero for the coin, as the filler says it
	free, err := ask(st, n.Pins.Solver, "available(address)", token[:])
	if err == nil && free.Cmp(have) < 0 {
		have = free
	}
	return have, err
}

// question is a call of a function of words.
func question(at common.Address, signature string, words ...[]byte) chain.Message {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		data = append(data, common.LeftPadBytes(w, 32)...)
	}
	return chain.Message{To: at, Data: data}
}

// ask calls a function of words that answers one.
func ask(st chain.State, at common.Address, signature string, words ...[]byte) (*big.Int, error) {
	return answered(st, question(at, signature, words...), signature)
}

func answered(st chain.State, m chain.Message, signature string) (*big.Int, error) {
	r := st.Call(m)
	if err := st.Err(); err != nil {
		return nil, err
	}
	if r.Err != nil || len(r.Return) != 32 {
		return nil, fmt.Errorf("%s of %s: %d bytes returned: %w", signature, m.To.Hex(), len(r.Return), r.Err)
	}
	return new(big.Int).SetBytes(r.Return), nil
}

// CreditOverlay is the overlay under which the account holds exactly amount of the asset, for simulations (protocol
// §2.3). An asset that is neither native nor a token of the catalogue gives an empty overlay.
func (n *Network) CreditOverlay(asset caip.Asset, account common.Address, amount *big.Int) chain.Overlay {
	if _, known := n.Catalog.Entity(asset); !known {
		return chain.Overlay{}
	}
	if asset.IsNative() {
		return chain.Overlay{account: {Balance: new(big.Int).Set(amount)}}
	}
	slot, ok := n.BalanceSlots[asset]
	if !ok {
		return chain.Overlay{}
	}
	token, _ := asset.Token()
	return chain.Overlay{token: {Storage: map[common.Hash]common.Hash{
		balanceKey(slot, account): common.BigToHash(amount)}}}
}

// Deployed reports whether the address has code at the head of the chain.
func (n *Network) Deployed(ctx context.Context, chainID uint64, addr common.Address) (bool, error) {
	st, err := n.state(ctx, caip.EVM(chainID), 0)
	if err != nil {
		return false, err
	}
	defer st.Close()
	deployed := len(st.Code(addr)) > 0
	return deployed, st.Err()
}

// AccountNonce is the next nonce of a smart account for one 192-bit key at the head of the chain, as
// EntryPoint.getNonce tells it. Key 0 of an account that never was used gives 0.
func (n *Network) AccountNonce(ctx context.Context, chainID uint64, sender common.Address, key192 *big.Int) (*big.Int,
	error) {
	st, err := n.state(ctx, caip.EVM(chainID), 0)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return n.AccountNonceAt(st, sender, key192)
}

// AccountNonceAt is AccountNonce in a view of a chain.
func (n *Network) AccountNonceAt(st chain.State, sender common.Address, key192 *big.Int) (*big.Int, error) {
	if key192.Sign() < 0 || key192.BitLen() > 192 {
		return nil, errors.New("a nonce key has 192 bits")
	}
	return answered(st, n.AskNonce(sender, key192), "getNonce(address,uint192)")
}

// AskNonce is the question of AccountNonceAt, and AskBalance one of BalanceAt, for views that fetch ahead.
func (n *Network) AskNonce(sender common.Address, key192 *big.Int) chain.Message {
	return question(n.Pins.EntryPoint, "getNonce(address,uint192)", sender[:], key192.Bytes())
}

// AskBalance asks a token.
func (n *Network) AskBalance(token, account common.Address) chain.Message {
	return question(token, "balanceOf(address)", account[:])
}

// FactoryApproved reports whether the owner of the meta factory has approved the factory, without which no account is
// made in a view of a chain.
func (n *Network) FactoryApproved(st chain.State) bool {
	return st.Storage(n.Pins.MetaFactory, balanceKey(0, n.Pins.Factory)) != (common.Hash{})
}

// balanceKey is the storage slot of an account's entry in the mapping of balances at a slot.
func balanceKey(slot uint64, account common.Address) common.Hash {
	var b [64]byte
	copy(b[12:32], account[:])
	new(big.Int).SetUint64(slot).FillBytes(b[32:])
	return crypto.Keccak256Hash(b[:])
}
