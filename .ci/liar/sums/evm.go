package main

import (
	"context"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/service/chain"
)

// events are the topics of what is counted.
type events struct{ transferred, refunded, paid, operated common.Hash }

func countedEvents() events {
	topic := func(signature string) common.Hash { return crypto.Keccak256Hash([]byte(signature)) }
	return events{
		transferred: topic("Transfer(address,address,uint256)"),
		refunded:    topic("Refunded(bytes32,address,address,uint256)"),
		paid:        topic("Paid(bytes32,address,address,uint256)"),
		operated:    topic("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"),
	}
}

// chain reads every block of one chain, and the balances at its head.
func (r *reader) chain(id uint64) error {
	arrived := sums{} // of the native coin
	for n := uint64(1); ; n++ {
		b, found, err := r.in.Chains[id].Block(context.Background(), n)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		for _, rc := range b.Receipts {
			if to := lower(rc.To); rc.Success && r.accounts[to] {
				arrived.add(to, rc.Value)
			}
			for _, l := range rc.Logs {
				r.event(id, b.Time, l, arrived)
			}
		}
	}
	return r.heads(id, arrived)
}

func (r *reader) event(id, at uint64, l chain.Log, arrived sums) {
	if len(l.Topics) == 0 {
		return
	}
	address := func(i int) string { return lower(common.BytesToAddress(l.Topics[i][:])) }
	switch {
	case l.Topics[0] == r.events.transferred && len(l.Topics) == 3 && len(l.Data) == 32:
		r.left(address(1), caip.ERC20(id, l.Address), new(big.Int).SetBytes(l.Data))
	case l.Topics[0] == r.events.refunded && len(l.Topics) == 3 && len(l.Data) == 64 &&
		l.Address == r.in.Pins.Escrow:
		if to := address(2); r.accounts[to] && common.BytesToAddress(l.Data[:32]) == (common.Address{}) {
			arrived.add(to, new(big.Int).SetBytes(l.Data[32:]))
		}
	case l.Topics[0] == r.events.paid && len(l.Topics) == 4 && len(l.Data) == 32 && l.Address == r.in.Pins.Paymaster:
		if to := address(3); r.accounts[to] && l.Topics[2] == (common.Hash{}) {
			arrived.add(to, new(big.Int).SetBytes(l.Data))
		}
	case l.Topics[0] == r.events.operated && len(l.Topics) == 4 && len(l.Data) == 4*32 &&
		l.Address == r.in.Pins.EntryPoint:
		if who := address(2); r.accounts[who] {
			r.report.Ran = append(r.report.Ran, ran{
				Chain: caip.EVM(id).String(), Hash: l.Topics[1].Hex(), Sender: who,
				Nonce: new(big.Int).SetBytes(l.Data[:32]).String(), Time: at, Success: l.Data[63] == 1,
			})
		}
	}
}

// heads reads what is still there, and how much of the native coin has left.
func (r *reader) heads(id uint64, arrived sums) error {
	for account := range r.accounts {
		if !strings.HasPrefix(account, "0x") {
			continue
		}
		for _, e := range r.in.Catalog.On(caip.EVM(id)) {
			v, err := r.in.Balance(context.Background(), common.HexToAddress(account), e.Asset)
			if err != nil {
				return err
			}
			r.report.Have[account].add(e.Asset.String(), v)
			if !e.Asset.IsNative() {
				continue
			}
			came := arrived[account]
			if came == nil {
				came = new(big.Int)
			}
			gone := new(big.Int).Sub(came, v)
			if gone.Sign() < 0 {
				r.odd("%s holds %s of %s and got %s", account, v, e.Asset, came)
			}
			r.left(account, e.Asset, gone)
		}
	}
	return nil
}
