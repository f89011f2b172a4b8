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
func (o Options) describe(ctx context.Context, file *networks.File, all []*node) (network.Descriptor, error) {
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
	if err := o.solana(ctx, file, func(n *solanaNode) error {
		first, err := n.Genesis(ctx)
		if err != nil {
			return fmt.Errorf("%s: its first block: %w", n.Name, err)
		}
		name := caip.SolanaMainnet().String()
		d.Chains, d.Genesis[name] = append(d.Chains, name), first.String()
		return nil
	}); err != nil {
		return d, err
	}
	return d.WithID()
}

// plan is the descriptor that the network will have. Of a network that is there already, chains are added to; the
// others, the kind and the first blocks stay, because the id of the network follows from them.
func (o Options) plan(ctx context.Context, file *networks.File, all []*node) (path string, d network.Descriptor,
	err error) {
	path = filepath.Join(filepath.Dir(o.File), networks.Descriptor)
	if d, err = o.describe(ctx, file, all); err != nil {
		return path, d, err
	}
	var earlier []network.Deployment
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	case err != nil:
		return path, d, err
	default:
		was, err := network.Decode(raw)
		if err != nil {
			return path, d, fmt.Errorf("%s: %w", path, err)
		}
		if d, err = extended(was, d); err != nil {
			return path, d, fmt.Errorf("%s is of another network: %w; put it aside to begin a new one, whose keys are "+
				"other keys", path, err)
		}
		if earlier = was.Deployments; len(earlier) > 0 && file.Operator == nil {
			return path, d, fmt.Errorf("%s has an operator, which %s does not have any more", path, o.File)
		}
	}
	if file.Operator != nil {
		d, err = o.operated(d, earlier, file, all)
	}
	return path, d, err
}

// operated is the descriptor of a network with an operator, whose contracts every chain should have then. The latest
// deployment begins now, unless it is the one before.
func (o Options) operated(d network.Descriptor, earlier []network.Deployment, file *networks.File,
	all []*node) (network.Descriptor, error) {
	op := file.Operator
	if len(op.Attesters) == 0 {
		return d, fmt.Errorf("%s: no attester is named: coffer serve --networks %s says which address its own is",
			file.Where(op.Line), o.File)
	}
	filler, escrow, err := pinned.Operated(d, op.Owner, op.Attesters, op.Threshold)
	if err != nil {
		return d, err
	}
	for _, n := range all {
		n.wanted = append(slices.Clone(n.wanted), filler, escrow)
	}
	d.Pins.Paymaster, d.Pins.Solver, d.Pins.Escrow = filler.At, filler.At, escrow.At
	d.Deployments = slices.Clone(earlier)
	if n := len(earlier); n == 0 || earlier[n-1].Escrow != escrow.At {
		from := o.Clock().Unix()
		if n > 0 {
			from = max(from, earlier[n-1].From+1)
		}
		d.Deployments = append(d.Deployments, network.Deployment{From: from, Filler: filler.At, Escrow: escrow.At,
			Attesters: op.Attesters, Threshold: op.Threshold})
	}
	return d, nil
}

// write writes the descriptor of a network.
func write(path string, d network.Descriptor) error {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := d.Encode()
	if err != nil || bytes.Equal(next, raw) {
		return err
	}
	if err := files.Replace(path, ".network-*", next); err != nil {
		return err
	}
	return files.SyncDir(filepath.Dir(path))
}

// extended is d as what became of the network was.
func extended(was, d network.Descriptor) (network.Descriptor, error) {
	if was.Kind != d.Kind || !was.OnNodes() {
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
