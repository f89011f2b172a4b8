package evm

import (
	"errors"
	"fmt"
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api/service/store"
)

// GenesisError says that the chain in the store began with something else than
// this program's specification: other contracts, other allocation or another
// program version. The stored chain is left alone.
type GenesisError struct {
	ChainID      uint64
	Stored, Want common.Hash
}

func (e *GenesisError) Error() string {
	return fmt.Sprintf("chain %d was created with another genesis: stored %s, expected %s", e.ChainID, e.Stored, e.Want)
}

// Exists reports whether a store holds chains: each has the code of a contract.
func Exists(s store.Store) (found bool, err error) {
	err = s.View(func(tx store.Tx) error {
		tx.Bucket(codeBucket).Ascend(nil, func(_, _ []byte) bool {
			found = true
			return false
		})
		return nil
	})
	return found, err
}

// Open creates the chain from genesis, or reopens it where it stopped. It
// fails with a *GenesisError, or wraps ErrSpec or ErrDamaged.
func Open(s store.Store, spec Spec) (*Chain, error) {
	all, err := OpenAll(s, []Spec{spec})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// OpenAll opens several chains at once, in the order of specs: genesis blocks
// are computed in parallel and those that are missing are written in one
// commit. After an error nothing was written.
func OpenAll(s store.Store, specs []Spec) ([]*Chain, error) {
	geneses, err := computeAll(specs)
	if err != nil {
		return nil, err
	}
	ids := make([]uint64, len(specs))
	for i, spec := range specs {
		ids[i] = spec.ChainID
	}
	chains := newChains(s, ids, func() ([]Spec, error) { return specs, nil })
	missing, err := reopen(s, chains, geneses)
	if err != nil {
		return nil, err
	}
	if err := create(s, chains, geneses, missing); err != nil {
		return nil, err
	}
	return chains, nil
}

// Reopen is OpenAll for chains that exist and are known to begin with their specifications, in the order of the ids. It
// computes no genesis; the specifications are asked for when a chain is verified. A chain that is not there is
// ErrDamaged.
func Reopen(s store.Store, ids []uint64, specs func() ([]Spec, error)) ([]*Chain, error) {
	chains := newChains(s, ids, specs)
	missing, err := reopen(s, chains, nil)
	if err == nil && len(missing) > 0 {
		err = damaged("chain", fmt.Errorf("%d has no genesis", chains[missing[0]].id))
	}
	return chains, err
}

func newChains(s store.Store, ids []uint64, specs func() ([]Spec, error)) []*Chain {
	shared := newCaches()
	chains := make([]*Chain, len(ids))
	for i, id := range ids {
		spec := func() (Spec, error) {
			all, err := specs()
			if err != nil {
				return Spec{}, err
			}
			return all[i], nil
		}
		chains[i] = &Chain{id: id, spec: spec, env: newEnv(id, shared), store: s, layout: layoutOf(id)}
	}
	return chains
}

// computeAll checks the specs and computes every genesis. Codes and storages are hashed
// beforehand because the chains share most of them.
func computeAll(specs []Spec) ([]*genesis, error) {
	hashes, seen := codeHashes{}, map[uint64]bool{}
	stored := &storages{known: map[uintptr]*storage{}, keys: map[common.Hash]common.Hash{}}
	accounts := make([][]Account, len(specs))
	for i, s := range specs {
		if seen[s.ChainID] {
			return nil, fmt.Errorf("%w: chain %d is specified twice", ErrSpec, s.ChainID)
		}
		seen[s.ChainID] = true
		var err error
		if accounts[i], err = s.accounts(); err != nil {
			return nil, err
		}
		for _, a := range accounts[i] {
			hashes.of(a)
			stored.note(a.Storage)
		}
	}
	if err := stored.hash(); err != nil {
		return nil, err
	}
	out := make([]*genesis, len(specs))
	var group errgroup.Group
	for i, s := range specs {
		group.Go(func() (err error) {
			out[i], err = newGenesis(s, accounts[i], hashes, stored)
			return err
		})
	}
	return out, group.Wait()
}

// reopen sets the head of every chain that exists and returns the indexes of
// the others. A stored genesis is compared where one was computed.
func reopen(s store.Store, chains []*Chain, geneses []*genesis) (missing []int, err error) {
	err = s.View(func(tx store.Tx) error {
		for i, c := range chains {
			tip, found, err := c.tip(tx)
			if err != nil {
				return fmt.Errorf("chain %d: %w", c.id, err)
			}
			if !found {
				missing = append(missing, i)
				continue
			}
			stored, err := recordHash(tx.Bucket(c.layout.blocks).Get(numberKey(0)))
			if err != nil {
				return fmt.Errorf("chain %d: genesis: %w", c.id, err)
			}
			if geneses != nil {
				if want := geneses[i].block.head.hash; stored != want {
					return &GenesisError{ChainID: c.id, Stored: stored, Want: want}
				}
			}
			if err := c.checkState(tx, tip); err != nil {
				return fmt.Errorf("chain %d: %w", c.id, err)
			}
			c.latest.Store(&tip)
		}
		return nil
	})
	return missing, err
}

// checkState checks that the stored state is the one of the head: its root
// node must hash to the header's state root.
func (c *Chain) checkState(tx store.Tx, tip head) error {
	root, err := newReader(tx, c.layout, c.env.cache).Node(common.Hash{}, nil, tip.header.Root)
	if err != nil {
		return err
	}
	if root == nil {
		return damaged("state", errors.New("root is missing"))
	}
	return nil
}

func create(s store.Store, chains []*Chain, geneses []*genesis, missing []int) error {
	if len(missing) == 0 {
		return nil
	}
	err := s.Update(func(tx store.Tx) error {
		codes := map[common.Hash][]byte{}
		for _, i := range missing {
			if err := geneses[i].write(tx, chains[i].layout); err != nil {
				return err
			}
			maps.Copy(codes, geneses[i].codes)
		}
		b := tx.Bucket(codeBucket)
		for h, code := range codes {
			if err := putCode(b, h, code); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write genesis: %w", err)
	}
	for _, i := range missing {
		chains[i].latest.Store(&geneses[i].block.head)
	}
	return nil
}
