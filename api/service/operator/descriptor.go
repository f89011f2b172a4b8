package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/caip"
	"coffer/api/files"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/pinned"
)

// describe is the descriptor of a network: its chains with their first blocks, and the pinned contracts.
func describe(ctx context.Context, file *networks.File, all []*node) (network.Descriptor, error) {
	pins, formulas, err := pinned.Pins()
	if err != nil {
		return network.Descriptor{}, err
	}
	d := network.Descriptor{Version: network.Version, Kind: file.Kind, Genesis: map[string]string{}, Pins: pins,
		Formulas: formulas}
	for _, n := range all {
		var first block
		if err := n.pool.Agreed(ctx, &first, "eth_getBlockByNumber", hexutil.Uint64(0), false); err != nil {
			return d, fmt.Errorf("%s: its first block: %w", n.Name, err)
		}
		name := caip.EVM(n.ID).String()
		d.Chains = append(d.Chains, name)
		d.Genesis[name] = first.Hash.Hex()
	}
	return d.WithID()
}

// write writes the descriptor of a network and returns it. Of a network that is there already, chains are added to; the
// others, the kind and the first blocks stay, because the id of the network follows from them.
func write(path string, d network.Descriptor) (network.Descriptor, error) {
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return d, err
	default:
		was, err := network.Decode(raw)
		if err != nil {
			return d, fmt.Errorf("%s: %w", path, err)
		}
		if d, err = extended(was, d); err != nil {
			return d, fmt.Errorf("%s is of another network: %w; put it aside to begin a new one, whose keys are other "+
				"keys", path, err)
		}
	}
	next, err := d.Encode()
	if err != nil || bytes.Equal(next, raw) {
		return d, err
	}
	if err := files.Replace(path, ".network-*", next); err != nil {
		return d, err
	}
	return d, files.SyncDir(filepath.Dir(path))
}

// extended is d as what became of the network was.
func extended(was, d network.Descriptor) (network.Descriptor, error) {
	if was.Kind != d.Kind || !was.OnOwnNodes() {
		return d, fmt.Errorf("it is %q, the file says %q", was.Kind, d.Kind)
	}
	chains, genesis, added := slices.Clone(was.Chains), maps.Clone(was.Genesis), slices.Clone(was.Added)
	for _, c := range was.Chains {
		if !slices.Contains(d.Chains, c) {
			return d, fmt.Errorf("it has the chain %s, which the file does not have any more", c)
		}
	}
	for _, c := range d.Chains {
		switch first, known := was.Genesis[c]; {
		case known && first != d.Genesis[c]:
			return d, fmt.Errorf("there the chain %s begins with the block %s, the node says %s", c, first,
				d.Genesis[c])
		case !known:
			chains, added = append(chains, c), append(added, c)
			genesis[c] = d.Genesis[c]
		}
	}
	d.Chains, d.Genesis, d.Added = chains, genesis, added
	return d.WithID()
}
