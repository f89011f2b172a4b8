package evm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/store"
)

// scanAtOnce is how many blocks are read in one view of the store, which a writer may wait for.
const scanAtOnce = 1000

// LogQuery asks for the logs of a range of blocks, or of one block by its hash.
type LogQuery struct {
	From, To  uint64 // both included; blocks above the head have no logs
	BlockHash *common.Hash
	Addresses []common.Address // one of them; none means any
	// Topics lists what may be in each place; none means any. A log has at least as many topics as there are places.
	Topics [][]common.Hash
	Limit  int // of the answer; zero means none
}

// TooManyLogsError says that a query matches more logs than its limit, and up to which block it does not: Through is
// below From when the first block alone has too many.
type TooManyLogsError struct {
	Limit   int
	From    uint64
	Through int64
}

func (e *TooManyLogsError) Error() string {
	if e.Through < int64(e.From) {
		return fmt.Sprintf("block %d alone has more than %d matching logs", e.From, e.Limit)
	}
	return fmt.Sprintf("more than %d logs match; the range from block %d to block %d works", e.Limit, e.From, e.Through)
}

// numbers are block numbers in rising order.
type numbers []uint64

// between returns those of a range.
func (l numbers) between(from, to uint64) numbers {
	i, _ := slices.BinarySearch(l, from)
	j, found := slices.BinarySearch(l, to)
	if found {
		j++
	}
	return l[i:max(i, j)]
}

// index finds blocks by what is in them. It is filled up to the head when it is asked, from the first question on.
type index struct {
	mu     sync.Mutex
	hashes map[common.Hash]uint64
	hashed uint64 // blocks below are in hashes

	any     numbers // blocks with logs
	address map[common.Address]numbers
	topic   [4]map[common.Hash]numbers
	logged  uint64 // blocks below are in the lists
}

func newIndex() *index {
	x := &index{hashes: map[common.Hash]uint64{}, address: map[common.Address]numbers{}}
	for i := range x.topic {
		x.topic[i] = map[common.Hash]numbers{}
	}
	return x
}

// scan calls fn for every stored block from number on.
func (c *Chain) scan(ctx context.Context, from *uint64, fn func(number uint64, value []byte) error) error {
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.store.View(func(tx store.Tx) (err error) {
			more = false
			left := scanAtOnce
			tx.Bucket(c.layout.blocks).Ascend(numberKey(*from), func(k, v []byte) bool {
				if left--; left < 0 {
					more = true
					return false
				}
				if err = fn(numberOf(k), v); err == nil {
					*from = numberOf(k) + 1
				}
				return err == nil
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// number finds a block by its hash.
func (x *index) number(c *Chain, hash common.Hash) (uint64, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := c.scan(context.Background(), &x.hashed, func(number uint64, v []byte) error {
		h, err := recordHash(v)
		if err == nil {
			x.hashes[h] = number
		}
		return err
	})
	number, found := x.hashes[hash]
	return number, found, err
}

// blocks lists the blocks that may have logs of a query, in rising order.
func (x *index) blocks(ctx context.Context, c *Chain, q LogQuery) (numbers, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := c.scan(ctx, &x.logged, x.addLogs); err != nil {
		return nil, err
	}
	out, whole := x.any.between(q.From, q.To), true // whole: it is still the list of the index
	narrow := func(lists ...numbers) {
		var some numbers
		for _, l := range lists {
			some = append(some, l.between(q.From, q.To)...)
		}
		slices.Sort(some)
		if whole {
			out, whole = slices.Compact(some), false
			return
		}
		out = slices.DeleteFunc(out, func(n uint64) bool {
			_, found := slices.BinarySearch(some, n)
			return !found
		})
	}
	if len(q.Addresses) > 0 {
		var lists []numbers
		for _, a := range q.Addresses {
			lists = append(lists, x.address[a])
		}
		narrow(lists...)
	}
	for i, any := range q.Topics {
		if len(any) == 0 || i >= len(x.topic) {
			continue
		}
		var lists []numbers
		for _, t := range any {
			lists = append(lists, x.topic[i][t])
		}
		narrow(lists...)
	}
	if whole {
		out = slices.Clone(out)
	}
	return out, nil
}

// addLogs enters the next block.
func (x *index) addLogs(number uint64, v []byte) error {
	r, _, err := decodeRecord(v)
	if err != nil {
		return err
	}
	add := func(l numbers) numbers {
		if len(l) > 0 && l[len(l)-1] == number {
			return l
		}
		return append(l, number)
	}
	for _, o := range r.Outcomes {
		for _, l := range o.Logs {
			x.any = add(x.any)
			x.address[l.Address] = add(x.address[l.Address])
			for i, t := range l.Topics {
				x.topic[i][t] = add(x.topic[i][t])
			}
		}
	}
	return nil
}

// cut forgets the blocks after number, which are no longer stored.
func (x *index) cut(number uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.hashes, func(_ common.Hash, n uint64) bool { return n > number })
	x.hashed, x.logged = min(x.hashed, number+1), min(x.logged, number+1)
	x.any = x.any.between(0, number)
	cutLists(x.address, number)
	for i := range x.topic {
		cutLists(x.topic[i], number)
	}
}

func cutLists[K comparable](lists map[K]numbers, number uint64) {
	for k, l := range lists {
		if lists[k] = l.between(0, number); len(lists[k]) == 0 {
			delete(lists, k)
		}
	}
}

// matches reports whether a log is one that is asked for.
func (q *LogQuery) matches(l *types.Log) bool {
	if len(q.Addresses) > 0 && !slices.Contains(q.Addresses, l.Address) || len(q.Topics) > len(l.Topics) {
		return false
	}
	for i, any := range q.Topics {
		if len(any) > 0 && !slices.Contains(any, l.Topics[i]) {
			return false
		}
	}
	return true
}

// collect adds the matching logs of a block to a list.
func (q *LogQuery) collect(out []*types.Log, r *record, hash common.Hash) []*types.Log {
	index := uint(0)
	for i, o := range r.Outcomes {
		for _, l := range o.Logs {
			if q.matches(l) {
				at(l, r.Header, hash, r.Txs[i].Hash(), i, index)
				out = append(out, l)
			}
			index++
		}
	}
	return out
}

// at fills in where a log is.
func at(l *types.Log, h *types.Header, block, tx common.Hash, txIndex int, index uint) {
	l.BlockNumber, l.BlockHash, l.BlockTimestamp = h.Number.Uint64(), block, h.Time
	l.TxHash, l.TxIndex, l.Index = tx, uint(txIndex), index
}

// Logs finds logs, in the order of the chain. It reads only blocks that the index knows to have such. It fails with
// ErrUnknownBlock for an unknown hash and with a *TooManyLogsError above the limit.
func (n *Node) Logs(ctx context.Context, q LogQuery) ([]*types.Log, error) {
	var blocks numbers
	if q.BlockHash != nil {
		number, found, err := n.NumberOf(*q.BlockHash)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, ErrUnknownBlock
		}
		q.From, blocks = number, numbers{number}
	} else {
		var err error
		if blocks, err = n.index.blocks(ctx, n.chain, q); err != nil {
			return nil, err
		}
	}
	var out []*types.Log
	for part := range slices.Chunk(blocks, scanAtOnce) {
		err := n.chain.store.View(func(tx store.Tx) error {
			for _, number := range part {
				r, hash, err := n.chain.record(tx, number)
				if err != nil {
					return err
				}
				if r == nil || q.BlockHash != nil && hash != *q.BlockHash {
					continue // it went away meanwhile
				}
				out = q.collect(out, r, hash)
				if q.Limit > 0 && len(out) > q.Limit {
					return &TooManyLogsError{Limit: q.Limit, From: q.From, Through: int64(number) - 1}
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NumberOf finds a block by its hash.
func (n *Node) NumberOf(hash common.Hash) (uint64, bool, error) {
	if h := n.chain.latest.Load(); h.hash == hash {
		return h.number(), true, nil
	}
	return n.index.number(n.chain, hash)
}
