package remote

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/rpcpool/reads"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
)

// mostHints bounds what is fetched because a node says that a message will read it.
const mostHints = 2000

// ecrecover is the contract that no access list names and every check of a signature calls.
var ecrecover = common.BytesToAddress([]byte{1})

// view is a chain.State of one block.
type view struct {
	*exec.Fork
	chain  *Chain
	head   *head
	ctx    context.Context
	cancel context.CancelFunc
	*session
}

func (v *view) Header() chain.Header { return v.head.header() }

// Close ends what is under way; a second call does nothing.
func (v *view) Close() {
	v.cancel()
	v.Fork.Close()
}

// accessList is the answer of eth_createAccessList.
type accessList struct {
	List []struct {
		Address common.Address `json:"address"`
		Keys    []common.Hash  `json:"storageKeys"`
	} `json:"accessList"`
}

// fetch gets what is wanted in one round trip, together with the question what the next messages will read, and that in
// a second one. Where the node does not know it, there are more round trips and no other difference.
func (v *view) fetch(w exec.Want, next []chain.Message) (_ exec.Found, err error) {
	defer func() {
		if err != nil {
			chain.SightOf(v.ctx).Broke(err)
		}
	}()
	b := newBasket(v)
	for _, a := range w.Accounts {
		b.account(a)
	}
	for _, s := range w.Slots {
		b.slot(s)
	}
	var lists []*accessList
	if v.chain.noLists.Load() {
		next = nil
	}
	for _, m := range next {
		b.account(v.head.coinbase)
		b.account(ecrecover)
		b.account(m.From)
		b.account(m.To)
		list := new(accessList)
		call := args(m)
		call["gasPrice"] = "0x0"
		lists = append(lists, list)
		b.asks = append(b.asks, reads.Ask{Method: "eth_createAccessList", Params: []any{call}, Into: list, Hint: true})
	}
	if err := b.fetch(); err != nil {
		return exec.Found{}, err
	}
	for _, list := range lists {
		for _, e := range list.List {
			if len(b.asks) >= mostHints {
				break
			}
			b.account(e.Address)
			for _, k := range e.Keys {
				b.slot(exec.Slot{Account: e.Address, Key: k})
			}
		}
	}
	if err := b.fetch(); err != nil {
		return exec.Found{}, err
	}
	b.found.Blocks, err = v.hashes(w.Blocks)
	if err == nil {
		v.keep(b.found)
	}
	return b.found, err
}

// basket is what one fetch of a view collects.
type basket struct {
	v     *view
	asks  []reads.Ask
	store []func() // of what the asks brought
	found exec.Found
}

func newBasket(v *view) *basket {
	return &basket{v: v, found: exec.Found{
		Accounts: map[common.Address]exec.Account{}, Slots: map[exec.Slot]common.Hash{},
	}}
}

func (b *basket) account(a common.Address) {
	if _, known := b.found.Accounts[a]; known || b.v.Has(a) {
		return
	}
	b.found.Accounts[a] = exec.Account{} // so that it is asked for once
	var balance reads.Quantity
	var nonce hexutil.Uint64
	var code data
	b.asks = append(b.asks,
		reads.Ask{Method: "eth_getBalance", Params: []any{a}, Into: &balance},
		reads.Ask{Method: "eth_getTransactionCount", Params: []any{a}, Into: &nonce},
		reads.Ask{Method: "eth_getCode", Params: []any{a}, Into: &code})
	b.store = append(b.store, func() {
		b.found.Accounts[a] = exec.Account{Balance: balance.ToInt(), Nonce: uint64(nonce), Code: code}
	})
}

func (b *basket) slot(s exec.Slot) {
	if _, known := b.found.Slots[s]; known || b.v.HasSlot(s) {
		return
	}
	b.found.Slots[s] = common.Hash{}
	var value reads.Quantity
	b.asks = append(b.asks, reads.Ask{Method: "eth_getStorageAt", Params: []any{s.Account, s.Key}, Into: &value})
	b.store = append(b.store, func() { b.found.Slots[s] = common.BigToHash(value.ToInt()) })
}

func (b *basket) fetch() error {
	if err := b.v.chain.pinned(b.v.ctx, b.v.head, b.asks); err != nil {
		return fmt.Errorf("read the state of eip155:%d: %w", b.v.chain.o.ChainID, err)
	}
	for _, a := range b.asks {
		if e := reads.Refusal(a.Err); a.Method == "eth_createAccessList" && e != nil && e.Code == -32601 {
			b.v.chain.noLists.Store(true)
		}
	}
	for _, store := range b.store {
		store()
	}
	b.asks, b.store = nil, nil
	return nil
}

// hashes are those of blocks before the next one, all of the chain that the view's block is on.
func (v *view) hashes(numbers []uint64) (map[uint64]common.Hash, error) {
	out := map[uint64]common.Hash{}
	var asks []reads.Ask
	for _, n := range numbers {
		switch n {
		case v.head.Number:
			out[n] = v.head.Hash
		case v.head.Number - 1:
			out[n] = v.head.Parent
		default:
			asks = append(asks, reads.Ask{Method: "eth_getBlockByNumber", Params: []any{hexutil.Uint64(n), false},
				Into: new(block)})
		}
	}
	if len(asks) == 0 {
		return out, nil
	}
	var last *block
	asks = append(asks, reads.Ask{Method: "eth_getBlockByNumber", Params: []any{hexutil.Uint64(v.head.Number), false},
		Into: &last})
	if err := v.chain.send(v.ctx, asks); err != nil {
		return nil, fmt.Errorf("hashes of earlier blocks: %w", err)
	}
	if !last.is(v.head) {
		v.chain.gone(v.head)
		return nil, fmt.Errorf("block %d: %w: %w", v.head.Number, chain.ErrGone, reads.ErrReplaced)
	}
	for _, a := range asks[:len(asks)-1] {
		h, err := a.Into.(*block).head()
		if err != nil {
			return nil, err
		}
		out[h.Number] = h.Hash
	}
	return out, nil
}
