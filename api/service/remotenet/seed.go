package remotenet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/networks"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

const (
	bucket     = "own nodes"
	keySeed    = "seed"    // where the key of the gas tank is not kept elsewhere
	keyTank    = "tank"    // address of the gas tank
	keyNetwork = "network" // id of the network that the data is of
)

// ErrOther says that data is of another network than the file. Nothing was changed.
var ErrOther = errors.New("the data of the service is of another network")

// TankError says that data is of another gas tank than the one whose key was given. Nothing was changed.
type TankError struct{ Data, Given common.Address }

// Error names both.
func (e *TankError) Error() string {
	return fmt.Sprintf("the gas tank of these data is %s, the key at hand is that of %s", e.Data.Hex(), e.Given.Hex())
}

// Exists reports whether a store holds the data of a network on nodes.
func Exists(s store.Store) (bool, error) {
	id, err := store.Get(s, bucket, []byte(keyNetwork))
	if err != nil || id != nil {
		return id != nil, err
	}
	seed, err := store.Get(s, bucket, []byte(keySeed)) // an operator's, before its contracts are there
	return seed != nil, err
}

// openKeys finds the keys of the data, or begins with new ones.
func (n *Network) openKeys(file *networks.File, o Options) (err error) {
	known, err := store.Get(o.Store, bucket, []byte(keyNetwork))
	if err != nil {
		return err
	}
	if known != nil && string(known) != n.ID {
		return fmt.Errorf("%w: it is %s, the file's is %s", ErrOther, known, n.ID)
	}
	if o.Tank != nil {
		n.seed = slices.Clone(o.Tank)
		n.Set, err = signers.OfTank(n.seed)
	} else if n.seed, err = seed(o); err == nil {
		var keys signers.Embedded
		keys, err = signers.Derive(n.seed)
		n.Set = signers.Set{Operator: keys.Operator, CoSigner: keys.CoSigner, TamperProof: keys.TamperProof,
			Attester: keys.Attester}
	}
	if err == nil {
		err = n.outside(file)
	}
	if err != nil {
		return err
	}
	return n.keepTank(o)
}

// keepTank writes down whose data it is, with the seed where that is kept here.
func (n *Network) keepTank(o Options) error {
	tank := n.Operator.Address()
	before, err := store.Get(o.Store, bucket, []byte(keyTank))
	switch {
	case err != nil:
		return err
	case before != nil && !bytes.Equal(before, tank[:]):
		return &TankError{Data: common.BytesToAddress(before), Given: tank}
	case before != nil:
		return nil
	}
	return o.Store.Update(func(tx store.Tx) error {
		b := tx.Bucket(bucket)
		err := errors.Join(b.Put([]byte(keyNetwork), []byte(n.ID)), b.Put([]byte(keyTank), tank[:]))
		if o.Tank == nil && !o.Kept {
			err = errors.Join(err, b.Put([]byte(keySeed), n.seed))
		}
		return err
	})
}

// seed is that of the data, the given one or a new one.
func seed(o Options) ([]byte, error) {
	found, err := store.Get(o.Store, bucket, []byte(keySeed))
	if err != nil {
		return nil, err
	}
	if o.Kept && found != nil {
		return nil, ErrTwoKeys
	}
	if found == nil {
		found = slices.Clone(o.Seed)
	}
	if found == nil {
		found = make([]byte, signers.SeedSize)
		if _, err := io.ReadFull(o.Random, found); err != nil {
			return nil, fmt.Errorf("draw the seed: %w", err)
		}
	}
	if len(found) != signers.SeedSize {
		return nil, fmt.Errorf("a seed has %d bytes, got %d", signers.SeedSize, len(found))
	}
	return found, nil
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
