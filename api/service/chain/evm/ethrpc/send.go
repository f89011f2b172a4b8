package ethrpc

import (
	"context"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

const (
	// What eth_sendRawTransactionSync waits: unless the caller says otherwise, and at most.
	syncTimeout = 20 * time.Second
	mostSync    = time.Minute

	codeSyncTimeout = 4 // EIP-7966
)

func (a *api) sendMethods() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_sendRawTransaction":     one(a.sendRaw),
		"eth_sendRawTransactionSync": two(a.sendRawSync),
		"eth_fillTransaction":        one(a.fill),
	}
}

// sendRaw answers when the transaction is sealed, or held because one before it is missing.
func (a *api) sendRaw(ctx context.Context, raw hexutil.Bytes) (common.Hash, error) {
	tx, err := evm.DecodeTx(raw)
	if err != nil {
		return common.Hash{}, err
	}
	_, err = a.Submit(ctx, tx)
	return tx.Hash(), err
}

func (a *api) sendRawSync(ctx context.Context, raw hexutil.Bytes, milliseconds *math.HexOrDecimal64) (*Receipt, error) {
	wait := syncTimeout
	if milliseconds != nil && *milliseconds > 0 {
		wait = time.Duration(min(uint64(*milliseconds), uint64(mostSync/time.Millisecond))) * time.Millisecond
	}
	hash, err := a.sendRaw(ctx, raw)
	if err != nil {
		return nil, err
	}
	jsonrpc.Sent(ctx)
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		changed := a.Changed()
		if rc, err := a.receipt(ctx, hash); err != nil || rc != nil {
			return rc, err
		}
		select {
		case <-changed:
		case <-until.Done():
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &jsonrpc.Error{
				Code: codeSyncTimeout, Data: hash, Message: fmt.Sprintf(
					"The transaction was added to the transaction pool but wasn't processed in %v", wait),
			}
		}
	}
}

// Filled is the answer of eth_fillTransaction: an unsigned transaction.
type Filled struct {
	Raw hexutil.Bytes      `json:"raw"`
	Tx  *types.Transaction `json:"tx"`
}

func (a *api) fill(ctx context.Context, args CallArgs) (*Filled, error) {
	tx, err := a.complete(ctx, args)
	if err != nil {
		return nil, err
	}
	raw, err := tx.MarshalBinary()
	return &Filled{raw, tx}, err
}

// complete adds what a transaction lacks: nonce, fees and gas.
func (a *api) complete(ctx context.Context, args CallArgs) (*types.Transaction, error) {
	id := a.Config().ChainID
	if err := args.checkTransaction(id); err != nil {
		return nil, err
	}
	if err := args.setFees(a.Head().BaseFee, tip()); err != nil {
		return nil, err
	}
	if args.Nonce == nil {
		n, err := a.PendingNonce(args.Sender())
		if err != nil {
			return nil, err
		}
		args.Nonce = (*hexutil.Uint64)(&n)
	}
	if args.Gas == nil {
		gas, err := a.estimateGas(ctx, args, nil, nil, nil)
		if err != nil {
			return nil, err
		}
		args.Gas = &gas
	}
	return args.transaction(id), nil
}
