package faucet

import (
	"coffer/api/caip"

	"context"
	"errors"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// Waiting counts the addresses that wait for the faucet's turn.
func Waiting(f *Faucet) int {
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	return len(f.queue.waiting)
}

// ServeTogether serves one address that callers name in one turn; each says whether its budget allows it.
func ServeTogether(f *Faucet, a common.Address, budgets ...bool) (err error) {
	var seats []*seat
	for _, ok := range budgets {
		seats = append(seats, f.join(a, func() bool { return ok }))
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	f.serve(context.Background(), f.take())
	for _, s := range seats {
		err = errors.Join(err, s.err)
	}
	return err
}

// ServeBroken serves an address in a turn that panics, and returns what those who wait are told.
func ServeBroken(f *Faucet, a common.Address) error {
	s := f.join(a, func() bool { return true })
	clock := f.Clock
	func() {
		defer func() { _, f.Clock = recover(), clock }()
		f.Clock = func() time.Time { panic("broken") }
		f.turn.Lock()
		defer f.turn.Unlock()
		f.serve(context.Background(), f.take())
	}()
	if !s.served {
		return nil
	}
	return s.err
}

// ShareAssets are the assets that test funds share out.
func ShareAssets() (all []caip.AggregateID) {
	for _, s := range shares() {
		all = append(all, s.asset)
	}
	return all
}
