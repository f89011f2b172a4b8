package faucet

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// mostTogether bounds the addresses of one commit: so many grants fit into a block of every chain.
const mostTogether = 64

// queue is the addresses that wait for the faucet's turn.
type queue struct {
	mu      sync.Mutex
	waiting []*seat
}

// seat is one address that waits. All but to is guarded by the faucet's turn.
type seat struct {
	to     common.Address
	within []func() bool // each takes a new address out of the budget of one who named it; the first that can does
	served bool
	err    error
}

func (f *Faucet) join(a common.Address, within func() bool) *seat {
	s := &seat{to: a, within: []func() bool{within}}
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	f.queue.waiting = append(f.queue.waiting, s)
	return s
}

// take removes those who have waited longest.
func (f *Faucet) take() []*seat {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	n := min(len(f.queue.waiting), mostTogether)
	taken := slices.Clone(f.queue.waiting[:n])
	f.queue.waiting = slices.Delete(f.queue.waiting, 0, n)
	return taken
}

// serve decides about every seat and pays all grants in one commit. The turn is held. The context is that of who has
// the turn: when it ends, the others are served all the same, by their own turn. After a panic nobody waits for seats
// that were taken.
func (f *Faucet) serve(ctx context.Context, seats []*seat) {
	ctx = context.WithoutCancel(ctx)
	done := false
	defer func() {
		for _, s := range seats {
			if s.served = true; !done {
				s.err = errors.New("the turn broke down")
			}
		}
	}()
	var first, fresh []*seat // at most one of each address
	var decisions errgroup.Group
	decisions.SetLimit(4)
	seen := map[common.Address]*seat{}
	for _, s := range seats {
		if one := seen[s.to]; one != nil {
			one.within = append(one.within, s.within...)
			continue
		}
		seen[s.to] = s
		first = append(first, s)
	}
	for _, s := range first {
		decisions.Go(func() error {
			s.served, s.err = f.decide(ctx, s)
			return nil
		})
	}
	_ = decisions.Wait() // errors are in the seats
	for _, s := range first {
		if !s.served {
			fresh = append(fresh, s)
		}
	}
	f.payAll(ctx, fresh)
	for _, s := range seats {
		s.err = seen[s.to].err
	}
	done = true
}

// decide reports whether an address gets nothing, or nothing more. A new one is taken out of the budget of one of those
// who named it.
func (f *Faucet) decide(ctx context.Context, s *seat) (over bool, err error) {
	a := s.to
	d, err := f.decision(a[:])
	if err != nil || d == declined || d == funded {
		return true, err
	}
	if d == started {
		return true, f.fund(ctx, a) // what an earlier process began, it paid chain by chain
	}
	if !slices.ContainsFunc(s.within, func(within func() bool) bool { return within() }) {
		return true, nil
	}
	used, err := f.used(ctx, a)
	if err == nil && used {
		err = f.decline(a[:])
	}
	return err != nil || used, err
}

// payAll pays the grants of all seats in one commit; where a chain refuses one, each is paid by itself.
func (f *Faucet) payAll(ctx context.Context, seats []*seat) {
	err := f.together(ctx, seats)
	if err == nil {
		return
	}
	if !separable(err) {
		for _, s := range seats {
			s.err = err
		}
		return
	}
	for _, s := range seats {
		s.err = f.fund(ctx, s.to)
	}
}

// separable reports whether the error of a common commit may be that of one grant.
func separable(err error) bool {
	_, excluded := errors.AsType[*chain.TxError](err)
	return excluded || errors.Is(err, chain.ErrNotAccepted) || errors.Is(err, deployment.ErrChain)
}

// together sends the transfers of all seats, a step a chain, in one commit with the decisions about them.
func (f *Faucet) together(ctx context.Context, seats []*seat) error {
	if len(seats) == 0 {
		return nil
	}
	steps := map[uint64]outbox.EVMStep{}
	parts := map[uint64][]part{}
	grants := map[common.Address]map[uint64][]gift{}
	for _, s := range seats {
		byChain, err := f.byChain(s.to)
		if err != nil {
			return err
		}
		grants[s.to] = byChain
		for id, gifts := range byChain {
			parts[id] = append(parts[id], part{to: s.to, chain: id, gifts: gifts})
		}
	}
	for id, list := range parts {
		steps[id] = f.step(list, grants)
	}
	return f.Installation.SendAll(ctx, steps)
}

// step pays the parts of grants on one chain and notes what came of them. Judge's error is a *refusal.
func (f *Faucet) step(parts []part, of map[common.Address]map[uint64][]gift) (s outbox.EVMStep) {
	var gifts []gift
	s.Time = uint64(f.Clock().Unix())
	for _, p := range parts {
		for _, g := range p.gifts {
			gifts, s.Txs = append(gifts, g), append(s.Txs, g.transfer(f.Installation, p.to))
		}
	}
	s.Check = func(receipts []chain.Receipt) error {
		if i := slices.IndexFunc(receipts, func(r chain.Receipt) bool { return !r.Success }); i >= 0 {
			return &refusal{gifts[i].entity.Asset, chain.AllSucceed(receipts)}
		}
		return nil
	}
	s.Final = func(receipts []chain.Receipt) outbox.Change {
		return func(tx store.Tx) error {
			first := 0
			for _, p := range parts {
				if err := p.note(tx, receipts[first].TxHash[:], of[p.to]); err != nil {
					return err
				}
				first += len(p.gifts)
			}
			return nil
		}
	}
	return s
}
