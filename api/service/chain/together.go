package chain

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrGone is wrapped when the nodes do not have a block's state: it left the chain, or was too old.
var ErrGone = errors.New("the nodes no longer have the block: it has to be looked at again")

// Sight is what the views of one question have in common, by chain: the block that they show, and what was read of it.
// Chains behind nodes keep it here.
type Sight struct {
	mu    sync.Mutex
	seen  map[any]any
	broke error
}

type sightKey struct{}

// Together is a context for one question: all views of a chain behind nodes that are opened with it show the same
// block, and what one of them has read the others know. It must not outlive the question, as the block gets old.
func Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, sightKey{}, &Sight{seen: map[any]any{}})
}

// Broke notes that something could not be read, so that what is made of it is not believed.
func (s *Sight) Broke(err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broke == nil {
		s.broke = err
	}
}

// instead is what a question fails with: what could not be read, and not what came of that.
func (s *Sight) instead(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.broke != nil {
		return s.broke
	}
	return err
}

// How often a question is asked while blocks leave the chain under it, and how long the nodes have to agree on others.
const (
	asked      = 4
	askedAfter = 250 * time.Millisecond
)

// Question answers one question together, and begins again with the newest blocks when one that it looked at has left
// the chain. Until then the question must change nothing. The error wraps ErrGone when that goes on. Where something
// could not be read, a question that fails fails with that.
func Question(ctx context.Context, ask func(ctx context.Context) error) error {
	for n := 1; ; n++ {
		together := Together(ctx)
		err := SightOf(together).instead(ask(together))
		if n == asked || !errors.Is(err, ErrGone) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(askedAfter):
		}
	}
}

// SightOf is the sight of a context, nil when it has none.
func SightOf(ctx context.Context) *Sight {
	s, _ := ctx.Value(sightKey{}).(*Sight)
	return s
}

// Of is what a chain keeps in it; make makes that first.
func (s *Sight) Of(of any, make func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[of] == nil {
		s.seen[of] = make()
	}
	return s.seen[of]
}
