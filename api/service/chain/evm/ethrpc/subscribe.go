package ethrpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

const mostReceipts = 200 // transactions of one subscription to receipts

// subscribe begins to push what is sealed from now on.
func (a *api) subscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	conn, err := jsonrpc.SubscriberOf(ctx)
	if err != nil {
		return nil, err
	}
	var kind string
	if err := p.Read(0, &kind); err != nil {
		return nil, err
	}
	var run func(context.Context, func(any) error)
	switch kind {
	case "newHeads":
		err = p.AtMost(1)
		run = a.pushBlocks(func(b *evm.Block) []any { return []any{HeaderOf(b.Header, b.Hash)} })
	case "logs":
		var f *LogFilter
		if err = second(p, &f); f == nil {
			f = new(LogFilter)
		}
		run = a.pushBlocks(func(b *evm.Block) []any { return anys(f.of(b)) })
	case "transactionReceipts":
		var of *struct {
			TransactionHashes []common.Hash `json:"transactionHashes"`
		}
		var hashes []common.Hash
		if err = second(p, &of); of != nil {
			hashes = of.TransactionHashes
		}
		if err == nil && len(hashes) > mostReceipts {
			err = refuse("exceed max number of transaction hashes allowed per transactionReceipts subscription")
		}
		run = a.pushBlocks(func(b *evm.Block) []any { return receiptsAmong(b, hashes) })
	case "newPendingTransactions":
		var full *bool
		err = second(p, &full)
		return a.subscribePending(conn, full != nil && *full, err)
	default:
		return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no %q subscription in eth namespace", kind)
	}
	if err != nil {
		return nil, err
	}
	return conn.Subscribe(jsonrpc.Subscription{Method: "eth_subscription", Run: run})
}

// second reads what may follow the kind of a subscription.
func second(p jsonrpc.Params, into any) error {
	if err := p.AtMost(2); err != nil {
		return err
	}
	return p.Optional(1, into)
}

// pushBlocks pushes what every block has, from the one after the head of now.
func (a *api) pushBlocks(of func(*evm.Block) []any) func(context.Context, func(any) error) {
	at := a.here()
	return func(ctx context.Context, push func(any) error) {
		for {
			changed := a.Changed()
			err := a.follow(ctx, &at, func(b *evm.Block) error {
				for _, x := range of(b) {
					if err := push(x); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// receiptsAmong is one notification for all receipts of a block that are wanted, or none.
func receiptsAmong(b *evm.Block, hashes []common.Hash) []any {
	var out []*Receipt
	for i, tx := range b.Txs {
		if among(hashes, tx.Hash()) {
			out = append(out, ReceiptAt(b, i))
		}
	}
	if out == nil {
		return nil
	}
	return []any{out}
}

// subscribePending pushes transactions as they are accepted.
func (a *api) subscribePending(conn jsonrpc.Subscriber, full bool, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	until, end := context.WithCancel(context.Background())
	feed := a.Accepted(until) // from now on, and not from when Run begins
	id, err := conn.Subscribe(jsonrpc.Subscription{
		Method: "eth_subscription",
		Run: func(ctx context.Context, push func(any) error) {
			defer end()
			for {
				select {
				case <-ctx.Done():
					return
				case tx, ok := <-feed:
					if !ok || push(a.pending(tx, full)) != nil {
						return
					}
				}
			}
		},
	})
	if err != nil {
		end()
		return nil, err
	}
	return id, nil
}

// pending is a transaction that was accepted. Its sender is the one that the chain knows: it may be unsigned.
func (a *api) pending(tx *types.Transaction, full bool) any {
	hash := tx.Hash()
	if !full {
		return hash
	}
	if b, i, err := a.find(hash); err == nil && b != nil {
		return TransactionOf(tx, b.Senders[i])
	}
	if held, from := a.held(hash); held != nil {
		return TransactionOf(held, from)
	}
	return hash
}

func unsubscribe(ctx context.Context, p jsonrpc.Params) (any, error) {
	conn, err := jsonrpc.SubscriberOf(ctx)
	if err != nil {
		return nil, err
	}
	var id string
	if err := readAll(p, arg(&id)); err != nil {
		return nil, err
	}
	if !conn.Unsubscribe(p[0]) {
		return nil, refuse("subscription not found")
	}
	return true, nil
}
