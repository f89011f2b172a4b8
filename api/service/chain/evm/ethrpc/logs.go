package ethrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

const (
	mostTopics  = 4    // of a log
	mostChoices = 1000 // addresses, or topics at one place
	// Bounds of one question: the blocks of a range when any log will do, and the logs of an answer.
	mostBlocks = 10_000
	mostLogs   = 10_000
)

func (a *api) logMethods() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_getLogs":                     one(a.logs),
		"eth_newFilter":                   one(a.newLogFilter),
		"eth_newBlockFilter":              none(a.newBlockFilter),
		"eth_newPendingTransactionFilter": one(a.newPendingFilter),
		"eth_getFilterChanges":            one(a.filterChanges),
		"eth_getFilterLogs":               one(a.filterLogs),
		"eth_uninstallFilter":             one(a.uninstall),
		"eth_subscribe":                   a.subscribe,
		"eth_unsubscribe":                 unsubscribe,
	}
}

// LogFilter says which logs are wanted: of one block or of a range, of any of the addresses, with any of the topics at
// every place that has some.
type LogFilter struct {
	blockHash *common.Hash
	from, to  *blockNumber
	addresses []common.Address
	topics    [][]common.Hash
}

// UnmarshalJSON reads the object that tools send.
func (f *LogFilter) UnmarshalJSON(data []byte) error {
	var o struct {
		BlockHash *common.Hash         `json:"blockHash"`
		FromBlock *blockNumber         `json:"fromBlock"`
		ToBlock   *blockNumber         `json:"toBlock"`
		Address   some[common.Address] `json:"address"`
		Topics    []some[common.Hash]  `json:"topics"`
	}
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	if o.BlockHash != nil && (o.FromBlock != nil || o.ToBlock != nil) {
		return errors.New("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other")
	}
	if len(o.Topics) > mostTopics {
		return errors.New("exceed max topics")
	}
	*f = LogFilter{blockHash: o.BlockHash, from: o.FromBlock, to: o.ToBlock, addresses: o.Address}
	for _, t := range o.Topics {
		f.topics = append(f.topics, t)
	}
	return nil
}

// some is one value or a list of them; null, alone or in a list, is any.
type some[T any] []T

func (s *some[T]) UnmarshalJSON(data []byte) error {
	*s = nil
	if len(data) == 0 || data[0] != '[' {
		var one *T
		if err := json.Unmarshal(data, &one); err != nil || one == nil {
			return err
		}
		*s = []T{*one}
		return nil
	}
	var list []*T
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) > mostChoices {
		return errors.New("exceed max addresses or topics per search position")
	}
	for _, x := range list {
		if x == nil {
			*s = nil
			return nil
		}
		*s = append(*s, *x)
	}
	return nil
}

// query is the filter with the head that is known now.
func (f *LogFilter) query(n *evm.Node) (evm.LogQuery, error) {
	q := evm.LogQuery{BlockHash: f.blockHash, Addresses: f.addresses, Topics: f.topics, Limit: mostLogs}
	if q.BlockHash != nil {
		if _, found, err := n.NumberOf(*q.BlockHash); err != nil || !found {
			return q, errors.Join(err, errors.New("unknown block"))
		}
		return q, nil
	}
	if f.from != nil && f.from.pending || f.to != nil && f.to.pending {
		return q, invalid("pending logs are not supported")
	}
	head := n.Height()
	q.From, q.To = f.from.at(head), f.to.at(head)
	switch {
	case q.From > q.To:
		return q, invalid("invalid block range params")
	case q.To > head:
		return q, invalid("block range extends beyond current head block")
	case q.To-q.From >= mostBlocks && !f.narrow():
		return q, invalid("query without address and topics exceeds %d blocks, %s", mostBlocks,
			works(q.From, q.From+mostBlocks-1))
	}
	return q, nil
}

func (a *api) logs(ctx context.Context, f LogFilter) ([]*types.Log, error) {
	q, err := f.query(a.Node)
	if err != nil {
		return nil, err
	}
	logs, err := a.Logs(ctx, q)
	var many *evm.TooManyLogsError
	if errors.As(err, &many) {
		if many.Through < int64(many.From) {
			return nil, invalid("query returned more than %d results in block %#x", many.Limit, many.From)
		}
		return nil, invalid("query returned more than %d results, %s", many.Limit,
			works(many.From, uint64(many.Through)))
	}
	return logsOf(logs), err
}

// works tells tools which range to ask for, in the words that they look for.
func works(from, to uint64) string {
	return fmt.Sprintf("this block range should work: [%#x, %#x]", from, to)
}

// narrow reports whether not any log will do.
func (f *LogFilter) narrow() bool {
	return len(f.addresses) > 0 || slices.ContainsFunc(f.topics, func(t []common.Hash) bool { return len(t) > 0 })
}
