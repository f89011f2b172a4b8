package remotenet

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"coffer/api/service/signers"
	"coffer/api/service/store"
)

const (
	bucket     = "own nodes"
	keySeed    = "seed"
	keyNetwork = "network" // id of the network that the data is of
)

// ErrOther says that data is of another network than the file. Nothing was changed.
var ErrOther = errors.New("the data of the service is of another network")

// Exists reports whether a store holds the keys of a network on nodes.
func Exists(s store.Store) (bool, error) {
	seed, err := store.Get(s, bucket, []byte(keySeed))
	return seed != nil, err
}

// seed finds the seed of the data, or makes it.
func seed(o Options, id string) (found []byte, err error) {
	known, err := store.Get(o.Store, bucket, []byte(keyNetwork))
	if err == nil {
		found, err = store.Get(o.Store, bucket, []byte(keySeed))
	}
	switch {
	case err != nil:
		return nil, err
	case found != nil && string(known) != id:
		return nil, fmt.Errorf("%w: it is %s, the file's is %s", ErrOther, known, id)
	case found != nil && len(found) != signers.SeedSize:
		return nil, fmt.Errorf("the stored seed has %d bytes, expected %d", len(found), signers.SeedSize)
	case found != nil:
		return found, nil
	}
	made := slices.Clone(o.Seed)
	if made == nil {
		made = make([]byte, signers.SeedSize)
		if _, err := io.ReadFull(o.Random, made); err != nil {
			return nil, fmt.Errorf("draw the seed: %w", err)
		}
	}
	if len(made) != signers.SeedSize {
		return nil, fmt.Errorf("a seed has %d bytes, got %d", signers.SeedSize, len(made))
	}
	return made, o.Store.Update(func(tx store.Tx) error {
		b := tx.Bucket(bucket)
		return errors.Join(b.Put([]byte(keySeed), made), b.Put([]byte(keyNetwork), []byte(id)))
	})
}

// each does something with all chains at once.
func (n *Network) each(do func(int, *node)) {
	var all sync.WaitGroup
	for i, node := range n.nodes {
		all.Go(func() { do(i, node) })
	}
	all.Wait()
}

// collect keeps what was found.
func collect[T any](found []*T, problems []error) (out []T, err error) {
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out, errors.Join(problems...)
}
