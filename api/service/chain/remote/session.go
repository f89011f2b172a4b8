package remote

import (
	"context"
	"maps"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
)

// session is what the views of one question have in common (chain.Together): the block, and what was read of it. A view
// of its own has one of its own.
type session struct {
	looking sync.Mutex // held while the block is asked for
	head    *head

	mu    sync.Mutex
	found exec.Found
}

func (c *Chain) session(ctx context.Context) *session {
	make := func() any {
		return &session{found: exec.Found{Accounts: map[common.Address]exec.Account{},
			Slots: map[exec.Slot]common.Hash{}, Blocks: map[uint64]common.Hash{}}}
	}
	if s := chain.SightOf(ctx); s != nil {
		return s.Of(c, make).(*session)
	}
	return make().(*session)
}

// look is the block of the session, the newest one when it began.
func (s *session) look(ctx context.Context, c *Chain) (*head, error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.head != nil {
		return s.head, nil
	}
	h, err := c.look(ctx)
	if err == nil {
		s.head = h
	}
	return h, err
}

// preload gives a new view what others have read.
func (s *session) preload(f *exec.Fork) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f.Load(s.found)
}

// keep notes what a view has read.
func (s *session) keep(found exec.Found) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.found.Accounts, found.Accounts)
	maps.Copy(s.found.Slots, found.Slots)
	maps.Copy(s.found.Blocks, found.Blocks)
}
