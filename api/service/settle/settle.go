// Package settle executes quotes: it checks everything once more, accepts, and runs the settlement as a saga that
// survives a crash at any moment (protocol §5.1, §5.2, §4.3).
//
// # Promise
//
// Execute answers 4xx and submits nothing, or commits PENDING and answers 200; one of any number of concurrent executes
// of an id wins. After that each step is sent through the outbox: on the embedded network one commit of the block and
// the record of it; on a chain where it is final only later, one commit of the signed bytes and the record
// that names the step (Quote.Sent), which nothing else passes over until its receipt is final. So no step happens twice
// and none is forgotten:
//
//	PENDING      accepted; amounts pledged, nonces claimed
//	IN_PROGRESS  with every deposit that landed in escrow on another chain, on Solana first: its block hash expires
//	EXECUTED     the target block: fill, then handleOps with the prepared operation and a same-chain deposit
//	COMPLETED    when the first release to the solver goes out, or none can now, or with the target block when
//	             nothing was deposited
//	REFUNDED     with the last refund, when a later step failed; every deposit in full, fees too
//	FAILED       when a step failed before any deposit landed
//
// The target transaction goes out only if every operation in it would succeed, and on chain all of it happens or
// nothing; an embedded chain then is as before, nonce included. A swap or a transfer has no prepared operation: its
// target is the fill to the recipient and a same-chain deposit, on the embedded Solana one commit of both. A step never
// overwrites a record that has moved on since the step was begun. Whatever the end, the signed operations are erased
// from the book with it. A fault of the database or a chain stops a saga for a bounded pause only: it goes on from what
// was really committed, and Idle tells of it meanwhile. No clock moves a status: a time that is over is found by the
// next step.
//
// Operations of role-based accounts are co-signed just before they are submitted and never stored so. An EOA's
// authorization (EIP-7702) travels with the first transaction that still needs it. When the account is no longer what
// it was at acceptance, the step is refused and what was deposited comes back.
//
// Units: times in Unix seconds, amounts in base units. Errors of Execute are *api.Error (protocol §6); anything else is
// a fault of the service.
package settle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"coffer/api/service/attest"
	"coffer/api/service/deployment"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
	"coffer/api/service/signers"
)

// Prices is the price source; *price.Table is one. Prices are micro-USD per whole unit, false means unknown.
type Prices = quote.Prices

// Deps is what a Settler stands on. ExplorerBase is put in front of /explorer/{chain}/tx/{hash}. AfterStep, when set,
// is called with the name of each step of a saga after its commit. Pause says how long a saga that a fault of the
// database or a chain has stopped waits before its next attempt (the first is number 0); nil doubles from 100 ms to
// 30 s. Faults is nil in production.
type Deps struct {
	Network      *deployment.Network
	Signers      signers.Set
	Attesters    []attest.Port // who let deposits be released; nil is the installation's own
	Book         *quotestore.Book
	Prices       Prices
	Clock        func() time.Time
	ExplorerBase string
	AfterStep    func(step string)
	Pause        func(attempt int) time.Duration
	Faults       *Faults
	Log          *slog.Logger
	Codec        *entrypoint.Codec // shared with other use cases; nil makes one
}

// Settler executes quotes. It is safe for concurrent use.
type Settler struct {
	Deps
	ctx    context.Context
	cancel context.CancelFunc

	accepting sync.Mutex // held while room is looked for and taken

	mu        sync.Mutex
	closed    bool
	searching bool                     // for deposits without a record, and for what processes leave that go
	sagas     map[string]chan struct{} // a saga's goroutine exists; a value in the channel ends its pause
	running   map[string]bool          // it is at work, not in a pause
	stalled   map[string]error
	damaged   map[string]bool // records that cannot be read, as the log says
	waiting   []chan struct{}
	workers   sync.WaitGroup
	unwatch   func() // processes that go
}

// New makes a Settler. Call Resume once before the first Execute, and Close at the end.
func New(d Deps) *Settler {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Faults == nil {
		d.Faults = &Faults{}
	}
	if d.Pause == nil {
		d.Pause = pause
	}
	if d.Attesters == nil {
		d.Attesters = []attest.Port{attest.New(d.Signers.Attester, d.Network)}
	}
	d.Codec = cmp.Or(d.Codec, entrypoint.New(d.Network.Pins.EntryPoint, d.Network.Pins.Escrow))
	s := &Settler{Deps: d, sagas: map[string]chan struct{}{}, running: map[string]bool{}, stalled: map[string]error{},
		damaged: map[string]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// ErrClosed is returned by Execute and Resume after Close.
var ErrClosed = errors.New("the settlement is closed")

// Resume sweeps what ended while nobody was there, starts the saga of every accepted quote that is not done, and
// returns; Idle waits for them. A saga that pauses after a fault tries again at once. Where several processes share the
// book, the sagas are those whose process is gone, now and from now on.
func (s *Settler) Resume(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.Book.Sweep(ctx); err != nil {
		return fmt.Errorf("resume settlement: %w", err)
	}
	if err := s.takeOver(ctx, true); err != nil {
		return fmt.Errorf("resume settlement: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.searching {
		return nil
	}
	s.searching = true
	gone := make(chan struct{}, 1)
	s.unwatch = s.Book.WatchProcesses(func() {
		select {
		case gone <- struct{}{}:
		default: // it looks anyway
		}
	})
	s.workers.Go(func() { s.follow(gone) })
	if s.operated() {
		s.workers.Go(func() { s.search(s.ctx) })
	}
	return nil
}

// takeOver starts the sagas of quotes that this process is to settle; those that pause try again when all are asked to.
func (s *Settler) takeOver(ctx context.Context, all bool) error {
	ids, err := s.Book.TakeOver(ctx)
	if !all {
		ids = slices.DeleteFunc(ids, s.knows)
		if errors.Is(err, quotestore.ErrDamaged) {
			err = nil // it was told of at the start
		}
	}
	open, err := s.open(ctx, ids, err)
	if err != nil {
		return err
	}
	for _, q := range open {
		if !s.start(q) {
			return ErrClosed
		}
	}
	return nil
}

// knows reports whether a quote has a saga here, or cannot have one.
func (s *Settler) knows(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sagas[id] != nil || s.damaged[id]
}

// follow takes over what processes leave that go, until Close.
func (s *Settler) follow(gone <-chan struct{}) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-gone:
		}
		if err := s.takeOver(s.ctx, false); err != nil && s.ctx.Err() == nil {
			s.Log.Warn("what another process left is taken over later", "error", err)
		}
	}
}

// open reads quotes that are not done. One whose record is damaged is left alone: it cannot be settled, and the others
// can.
func (s *Settler) open(ctx context.Context, ids []string, err error) (open []*quotestore.Quote, _ error) {
	if errors.Is(err, quotestore.ErrDamaged) {
		s.Log.Error("an open quote cannot be named and is not settled: restore a backup", "error", err)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		q, err := s.Book.Quote(ctx, id)
		if errors.Is(err, quotestore.ErrDamaged) {
			s.Log.Error("a quote is not settled, its record is damaged: restore a backup", "quote", id, "error", err)
			s.mu.Lock()
			s.damaged[id] = true
			s.mu.Unlock()
			continue
		}
		if err != nil {
			return nil, err
		}
		open = append(open, q)
	}
	return open, nil
}

// Close stops after the commits that are under way; what is not terminal goes on with the next Resume. The store stays
// open.
func (s *Settler) Close() error {
	s.mu.Lock()
	s.closed = true
	unwatch := s.unwatch
	s.mu.Unlock()
	if unwatch != nil {
		unwatch()
	}
	s.cancel()
	s.workers.Wait()
	return nil
}

func (s *Settler) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}
