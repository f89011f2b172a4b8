package chain

import (
	"context"
	"sync"
)

// Sight is what the views of one question have in common, by chain: the block that they show, and what was read of it.
// Chains behind nodes keep it here.
type Sight struct {
	mu   sync.Mutex
	seen map[any]any
}

type sightKey struct{}

// Together is a context for one question: all views of a chain behind nodes that are opened with it show the same
// block, and what one of them has read the others know. It must not outlive the question, as the block gets old.
func Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, sightKey{}, &Sight{seen: map[any]any{}})
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
