package ethrpc

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"coffer/api/service/chain/evm"
)

const (
	mostFilters  = 1000
	mostChosen   = 100_000         // addresses and topics of all filters
	filterAge    = 5 * time.Minute // without a poll
	mostOfAPoll  = 10_000          // blocks and results; the rest comes with the next poll
	errNoFilter  = constError("filter not found")
	errManyPolls = constError("too many filters: uninstall some, or wait until they expire")
)

type constError string

func (e constError) Error() string { return string(e) }

// filters are what clients poll. They are bounded in number and forgotten when they are not asked for.
type filters struct {
	mu  sync.Mutex
	all map[string]*filter
}

// filter knows how far a client has been told.
type filter struct {
	used time.Time // under filters.mu

	mu      sync.Mutex
	at      cursor
	collect func(*evm.Block) []any                // what a block has for it
	waiting func(told map[common.Hash]bool) []any // of what waits, nil unless it wants that
	told    map[common.Hash]bool                  // what waited when it polled last
	logs    *LogFilter                            // of a log filter
}

func (a *api) install(f *filter) (string, error) {
	f.at = a.here()
	a.filters.mu.Lock()
	defer a.filters.mu.Unlock()
	var raw [16]byte
	if _, err := io.ReadFull(a.o.Random, raw[:]); err != nil {
		return "", errors.New("no random bytes for an id")
	}
	id := hexutil.EncodeBig(new(big.Int).SetBytes(raw[:]))
	now := a.o.Now()
	for old, g := range a.filters.all {
		if now.Sub(g.used) > filterAge {
			delete(a.filters.all, old)
		}
	}
	chosen := f.logs.choices()
	for _, g := range a.filters.all {
		chosen += g.logs.choices()
	}
	if len(a.filters.all) >= mostFilters || chosen > mostChosen {
		return "", errManyPolls
	}
	if a.filters.all == nil {
		a.filters.all = map[string]*filter{}
	}
	f.used = now
	a.filters.all[id] = f
	return id, nil
}

// polled finds a filter and keeps it for another while.
func (a *api) polled(id string) (*filter, error) {
	a.filters.mu.Lock()
	defer a.filters.mu.Unlock()
	f, now := a.filters.all[id], a.o.Now()
	if f == nil {
		return nil, errNoFilter
	}
	if now.Sub(f.used) > filterAge {
		delete(a.filters.all, id)
		return nil, errNoFilter
	}
	f.used = now
	return f, nil
}

func (a *api) uninstall(_ context.Context, id string) (bool, error) {
	_, err := a.polled(id)
	a.filters.mu.Lock()
	defer a.filters.mu.Unlock()
	delete(a.filters.all, id)
	return err == nil, nil
}

func (a *api) newLogFilter(_ context.Context, f LogFilter) (string, error) {
	if f.from != nil && f.from.pending || f.to != nil && f.to.pending {
		return "", invalid("pending logs are not supported")
	}
	if f.from != nil && f.from.number != nil && f.to != nil && f.to.number != nil && *f.from.number > *f.to.number {
		return "", invalid("invalid block range params")
	}
	return a.install(&filter{logs: &f, collect: func(b *evm.Block) []any {
		n := b.Header.Number.Uint64()
		if n < f.from.at(n) || n > f.to.at(n) || f.blockHash != nil && *f.blockHash != b.Hash {
			return nil
		}
		return anys(f.of(b))
	}})
}

func (a *api) newBlockFilter(context.Context) (string, error) {
	return a.install(&filter{collect: func(b *evm.Block) []any { return []any{b.Hash} }})
}

// newPendingFilter tells every transaction once: when it waits, or else when it is sealed.
func (a *api) newPendingFilter(_ context.Context, full *bool) (string, error) {
	show := func(tx *types.Transaction, from common.Address) any {
		if full != nil && *full {
			return TransactionOf(tx, from)
		}
		return tx.Hash()
	}
	f := &filter{told: map[common.Hash]bool{}}
	f.collect = func(b *evm.Block) (out []any) {
		for i, tx := range b.Txs {
			if !f.told[tx.Hash()] {
				out = append(out, show(tx, b.Senders[i]))
			}
		}
		return out
	}
	f.waiting = func(now map[common.Hash]bool) (out []any) {
		for from, txs := range a.Held() {
			for _, tx := range txs {
				now[tx.Hash()] = true
				if !f.told[tx.Hash()] {
					out = append(out, show(tx, from))
				}
			}
		}
		return out
	}
	f.waiting(f.told) // only what comes later is news
	return a.install(f)
}

func (a *api) filterChanges(ctx context.Context, id string) ([]any, error) {
	f, err := a.polled(id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out, first := []any{}, f.at
	now := map[common.Hash]bool{}
	if f.waiting != nil { // before the blocks: what is sealed in between is found there
		out = append(out, f.waiting(now)...)
		maps.Copy(f.told, now)
	}
	err = a.follow(ctx, &f.at, func(b *evm.Block) error {
		out = append(out, f.collect(b)...)
		if len(out) >= mostOfAPoll || b.Header.Number.Uint64() >= first.next+mostOfAPoll {
			return errEnough
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		return out, nil
	case err != nil:
		f.at = first
		return nil, err
	}
	f.told = now
	return out, nil
}

const errEnough = constError("enough")

// cursor is how far a reader has seen the chain.
type cursor struct {
	next    uint64 // the first block that was not told
	reverts int    // those that are known
}

func (a *api) here() cursor {
	return cursor{next: a.Height() + 1, reverts: len(a.taken.to())}
}

// follow goes through the blocks from the cursor to the head, and moves it behind every block that each has seen. When
// the chain was taken back, it goes on from there.
func (a *api) follow(ctx context.Context, c *cursor, each func(*evm.Block) error) error {
	reverts, head := a.taken.to(), a.Height()
	for _, to := range reverts[c.reverts:] {
		c.next = min(c.next, to+1)
	}
	for c.reverts = len(reverts); c.next <= head; {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.yield()
		b, err := a.Block(c.next)
		if err != nil || b == nil {
			return err
		}
		c.next++
		if err := each(b); err != nil {
			return err
		}
	}
	return nil
}

func (a *api) filterLogs(ctx context.Context, id string) ([]*types.Log, error) {
	f, err := a.polled(id)
	if err != nil || f.logs == nil {
		return nil, errNoFilter
	}
	return a.logs(ctx, *f.logs)
}

// of are the logs of a block that the filter wants.
func (f *LogFilter) of(b *evm.Block) []*types.Log {
	var out []*types.Log
	for _, rc := range b.Receipts {
		for _, l := range rc.Logs {
			if f.wants(l) {
				out = append(out, l)
			}
		}
	}
	return out
}

// choices are the addresses and topics that are remembered.
func (f *LogFilter) choices() int {
	if f == nil {
		return 0
	}
	n := len(f.addresses)
	for _, t := range f.topics {
		n += len(t)
	}
	return n
}

func (f *LogFilter) wants(l *types.Log) bool {
	if !among(f.addresses, l.Address) || len(f.topics) > len(l.Topics) {
		return false
	}
	for i, t := range f.topics {
		if !among(t, l.Topics[i]) {
			return false
		}
	}
	return true
}

// among says whether x is one of the choices; no choice is any.
func among[T comparable](choices []T, x T) bool {
	return len(choices) == 0 || slices.Contains(choices, x)
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}
