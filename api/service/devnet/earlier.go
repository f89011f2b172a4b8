package devnet

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// ErrDescriptor says that a descriptor is not that of the chains of a store.
var ErrDescriptor = errors.New("network.json does not describe the network of this data")

// OpenEarlier opens the installation of another generation as it is: its chains with the contracts that they began
// with, and its ledger, nil where the program that made it knew none. Its descriptor names the contracts; one of other
// chains is ErrDescriptor. Assets that the catalogue of today, with what the file adds, does not have cannot be read by
// name.
func OpenEarlier(s store.Store, d network.Descriptor, file string) (*Installation, error) {
	seed, err := storedSeed(s)
	if err == nil && seed == nil {
		err = ErrNoSeed
	}
	if err != nil {
		return nil, fmt.Errorf("earlier network: %w", err)
	}
	in, err := newInstallation(s, file, seed)
	if err != nil {
		return nil, fmt.Errorf("earlier network: %w", err)
	}
	in.Descriptor = d
	if err := in.openEarlier(s); err != nil {
		return nil, fmt.Errorf("earlier network: %w", err)
	}
	return in, nil
}

func (in *Installation) openEarlier(s store.Store) error {
	in.ChainIDs = nil
	for _, name := range in.Descriptor.Chains {
		c, err := caip.ParseChain(name)
		id, isEVM := c.EVMID()
		if err != nil || !isEVM {
			return fmt.Errorf("%w: chain %q", ErrDescriptor, name)
		}
		in.ChainIDs = append(in.ChainIDs, id)
	}
	unknown := func() ([]evm.Spec, error) { return nil, ErrVersion }
	if err := in.reopen(s, unknown); err != nil {
		return err
	}
	for _, id := range in.ChainIDs {
		first, found, err := in.Chains[id].Block(context.Background(), 0)
		if err != nil || !found {
			return fmt.Errorf("first block of eip155:%d (found: %t): %w", id, found, err)
		}
		if name := caip.EVM(id).String(); common.HexToHash(in.Genesis[name]) != first.Hash {
			return fmt.Errorf("%w: %s began with %s", ErrDescriptor, name, first.Hash)
		}
		in.time = first.Time
	}
	found, err := solana.Exists(s)
	if err == nil && found {
		in.Ledger, err = solana.Reopen(s, in.time)
		in.Solana = in.Ledger
	}
	in.Outbox = outbox.Embedded(in.Chains, in.Solana)
	return err
}

// Again makes the installation of this program with the seed of an earlier one in another store: the same keys on a new
// network.
func (in *Installation) Again(s store.Store, o Options) (*Installation, error) {
	o.Seed = in.seed
	return Open(s, o)
}
