package remotenet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/signers"
)

// Identify is the id of the network of a file: that of the descriptor beside it, or, before there is one, what the
// first blocks of its chains say.
func Identify(ctx context.Context, o Options) (string, error) {
	file, err := networks.Load(o.File)
	if err != nil {
		return "", err
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(file.Path), networks.Descriptor))
	if err == nil {
		d, err := network.Decode(raw)
		if err == nil && d.Kind != file.Kind {
			err = fmt.Errorf("%s is of another network: it is %q, the file says %q", networks.Descriptor, d.Kind,
				file.Kind)
		}
		return d.ID, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	d := network.Descriptor{Version: network.Version, Kind: file.Kind, Genesis: map[string]string{}}
	for _, c := range file.Chains {
		first, err := firstBlock(ctx, file, c, o)
		if err != nil {
			return "", fmt.Errorf("%s: its first block: %w", c.Name, err)
		}
		name := caip.EVM(c.ID).String()
		d.Chains, d.Genesis[name] = append(d.Chains, name), first.Hex()
	}
	d, err = d.WithID()
	return d.ID, err
}

func firstBlock(ctx context.Context, file *networks.File, c networks.Chain, o Options) (common.Hash, error) {
	n, err := newNode(ctx, file, c, o)
	if err != nil {
		return common.Hash{}, err
	}
	defer func() {
		n.Close()
		n.pool.Close()
	}()
	var first struct {
		Hash common.Hash `json:"hash"`
	}
	err = n.pool.Agreed(ctx, &first, "eth_getBlockByNumber", hexutil.Uint64(0), false)
	return first.Hash, err
}

// Witness is a network as an attester elsewhere sees it: chains that it reads through its own endpoints, and the
// contracts that follow from its own file. It sends nothing.
type Witness struct {
	*Network
	Attester *attest.Attester
}

// ErrNoAttester says that an attester is not one of the file's.
var ErrNoAttester = errors.New("the operator's list of attesters does not have this one")

// OpenWitness opens the network of a file for one of its attesters, whose key is given or, where the file names a
// signer outside this program, that one's. Contracts are compared as Open does.
func OpenWitness(ctx context.Context, o Options, key signers.Attester) (_ *Witness, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	file, err := networks.Load(o.File)
	if err != nil {
		return nil, err
	}
	op := file.Operator
	if op == nil {
		return nil, ErrNoOperator
	}
	n := &Network{log: o.Log}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("network of %s: %w", o.File, err), n.Close())
		}
	}()
	at := key.Address()
	if op.AttesterKey != nil {
		at = op.AttesterKey.Address
	}
	if !slices.Contains(op.Attesters, at) {
		return nil, fmt.Errorf("%s: %w: its operator writes %s into attesters, and deploys", file.Where(op.Line),
			ErrNoAttester, at.Hex())
	}
	d, all, err := describe(file)
	if err != nil {
		return nil, err
	}
	cat, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	n.Network = &deployment.Network{Descriptor: d, Catalog: cat, Chains: map[uint64]chain.Chain{}}
	if op.AttesterKey != nil {
		if key, err = signerOf(file, op.AttesterKey, d.ID); err != nil {
			return nil, err
		}
	}
	for _, c := range file.Chains {
		node, err := newNode(ctx, file, c, o)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, node)
		n.Chains[c.ID], n.ChainIDs = node, append(n.ChainIDs, c.ID)
	}
	slices.Sort(n.ChainIDs)
	if err := n.compare(ctx, all); err != nil {
		return nil, err
	}
	n.Threshold, n.EscrowSalt = op.Threshold, n.Salt()
	return &Witness{n, attest.New(key, n.Network)}, nil
}
