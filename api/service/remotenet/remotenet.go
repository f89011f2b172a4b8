// Package remotenet opens a network on nodes of others: the chains of networks.toml behind JSON-RPC endpoints, with the
// contracts of the descriptor beside it and keys that the data of the service keeps.
//
// Promise: nothing is opened before the descriptor was found to name the contracts of this program. No chain is used
// before it was found to begin with its block and to have the pinned code at every pinned address: at the start, or,
// when it cannot be asked then, before its first use. A difference stops all chains; of code it is a
// *pinned.DifferenceError. Data of one network is refused for another one. No endpoint is asked but those of the file.
// The keys are the same at every opening and never leave the process.
//
// Without an operator in the file the network has no solver (network.Descriptor.OnOwnNodes): the key that sends is the
// gas tank, which a person funds. With one it is a hot key of the operator's filler, and nothing is opened before the
// filler knows it. Units: amounts in wei. Sources: protocol §5.5 to §5.7.
package remotenet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"coffer/api/caip"
	"coffer/api/feeds"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/api/service/attest"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/outbox/lane"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// Options say how a network is opened. File is networks.toml; its descriptor lies beside it. Credential finds what an
// endpoint names as ${vault:NAME}. Tank is the key of the gas tank, 32 bytes, which is not stored; where it is nil, and
// no real money is at stake, the keys come from a seed in the store: that of the first opening is Seed, or drawn from
// Random. Poll is how often lanes look at a chain while something is under way, 0 for the usual. Operator says that
// the service settles payments as the operator whom the file names; without it the file may name none. Kept says that
// Seed is kept elsewhere, so that the store gets none; an operator's of real money must be. Anyone says that
// every account is meant to be served with real money. PingEvery is how often attesters elsewhere are asked whether
// they are there, and Gone after how long without an answer one counts as gone, 0 for the usual.
type Options struct {
	File       string
	Store      store.Store
	Credential networks.Credential
	Clock      func() time.Time
	Random     io.Reader
	Seed, Tank []byte
	Log        *slog.Logger
	Poll       time.Duration
	Operator   bool
	// Behind is told when a lane finds that the store is behind its chain (lane.Options.Behind); nil stops the lane.
	Behind    func(tx store.Tx, why string) error
	Kept      bool
	Anyone    bool
	PingEvery time.Duration
	Gone      time.Duration
}

// Network is an opened network. Its methods are safe for concurrent use; its fields must not be changed.
type Network struct {
	*deployment.Network
	signers.Set

	Prices      *feeds.Feeds  // unknown where the file names no feed
	Panel       *attest.Panel // who releases deposits; nil without an operator
	Withdrawals *Withdrawals  // from the gas tank; nil where an operator's key pays for gas

	seed   []byte
	nodes  []*node
	ledger *ledger // nil without a Solana chain
	log    *slog.Logger
	lanes  map[uint64]*lane.Lane
}

// ErrReal says that a network of real money was to be opened without the key of its gas tank: what the store keeps, it
// keeps in the clear.
var ErrReal = errors.New("a network of kind real is opened by a profile, whose vault keeps the key of its gas tank")

// ErrMissing says that a chain lacks a pinned contract.
var ErrMissing = errors.New("contracts are missing: coffer network deploy puts them there")

// firstPrices is how long an opening may take for prices. A command that asked before the first look would find none,
// and its limits would not count.
const firstPrices = 2 * time.Second

// Open opens the network of a file. It asks every chain, and goes on without those that are silent.
func Open(ctx context.Context, o Options) (_ *Network, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	file, err := networks.Load(o.File)
	if err != nil {
		return nil, err
	}
	n := &Network{log: o.Log, lanes: map[uint64]*lane.Lane{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("network of %s: %w", o.File, err), n.Close())
		}
	}()
	if err := introduce(file, o); err != nil {
		return nil, err
	}
	if file.Kind == network.Real && o.Tank == nil && file.Operator == nil {
		return nil, ErrReal
	}
	d, all, err := describe(file)
	if err != nil {
		return nil, err
	}
	cat, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	n.Network = &deployment.Network{Descriptor: d, Catalog: cat, Chains: map[uint64]chain.Chain{}, Dear: n.dear}
	for _, c := range file.Chains {
		node, err := newNode(ctx, file, c, o)
		if err != nil {
			return nil, err
		}
		n.nodes = append(n.nodes, node)
		n.Chains[c.ID], n.ChainIDs = node, append(n.ChainIDs, c.ID)
	}
	if err := n.openSolana(ctx, file, o); err != nil {
		return nil, err
	}
	n.openPrices(file, o) // they are read meanwhile
	priced, cancel := context.WithTimeout(ctx, firstPrices)
	defer cancel()
	slices.Sort(n.ChainIDs)
	if err := n.compare(ctx, all); err != nil {
		return nil, err
	}
	if err := n.openKeys(file, o); err != nil {
		return nil, err
	}
	n.Pins.Operator, n.Pins.CoSigner = n.Operator.Address(), n.CoSigner.Address()
	n.Pins.TamperProof = n.TamperProof.Address()
	if err := n.operate(ctx, file, o); err != nil {
		return nil, err
	}
	if err := n.openLanes(o); err != nil {
		return nil, err
	}
	if file.Operator == nil {
		n.Withdrawals = &Withdrawals{n, o.Store, o.Clock, o.Random}
	}
	n.Prices.Ready(priced)
	return n, nil
}

// describe reads the descriptor beside a file, and says which contracts every chain must have.
func describe(file *networks.File) (d network.Descriptor, all []pinned.Contract, err error) {
	path := filepath.Join(filepath.Dir(file.Path), networks.Descriptor)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return d, nil, fmt.Errorf("%s: %w", path, ErrMissing)
	}
	if err != nil {
		return d, nil, err
	}
	if d, err = network.Decode(raw); err != nil {
		return d, nil, fmt.Errorf("%s: %w", path, err)
	}
	if d.Kind != file.Kind || !d.OnNodes() && !d.OnOwnNodes() {
		return d, nil, fmt.Errorf("%s is of another network: it is %q, the file says %q", path, d.Kind, file.Kind)
	}
	if all, err = pinned.All(); err != nil {
		return d, nil, err
	}
	return d, all, named(path, d, file, &all)
}

// named demands that a descriptor names the contracts of this program, those of the file's operator among them, and the
// chains of the file.
func named(path string, d network.Descriptor, file *networks.File, all *[]pinned.Contract) error {
	pins, formulas, err := pinned.Pins()
	if err != nil {
		return err
	}
	if op := file.Operator; op != nil {
		filler, escrow, err := pinned.Operated(d, op.Owner, op.Attesters, op.Threshold)
		if err != nil {
			return err
		}
		pins.Paymaster, pins.Solver, pins.Escrow = filler.At, filler.At, escrow.At
		*all = append(*all, filler, escrow)
	}
	keys := d.Pins // of an opening of it
	pins.Operator, pins.CoSigner, pins.TamperProof = keys.Operator, keys.CoSigner, keys.TamperProof
	if d.Pins != pins || !slices.Equal(d.Formulas, formulas) || (len(d.Deployments) > 0) != (file.Operator != nil) {
		return fmt.Errorf("%s names other contracts than this program: coffer network deploy writes it anew", path)
	}
	for _, c := range file.Chains {
		if name := caip.EVM(c.ID).String(); d.Genesis[name] == "" {
			return fmt.Errorf("%s: %s does not have %s: %w", file.Where(c.Line), path, name, ErrMissing)
		}
	}
	if s, name := file.Solana, caip.SolanaMainnet().String(); s != nil && d.Genesis[name] == "" {
		return fmt.Errorf("%s: %s does not have %s: %w", file.Where(s.Line), path, s.Name, ErrMissing)
	}
	for _, name := range d.Chains {
		if c, err := caip.ParseChain(name); err != nil || !has(file, c) {
			return fmt.Errorf("%s has %s, which %s does not have any more", path, name, file.Path)
		}
	}
	return nil
}

func has(file *networks.File, c caip.Chain) bool {
	id, evm := c.EVMID()
	if !evm {
		return file.Solana != nil && c == caip.SolanaMainnet()
	}
	_, found := file.Chain(id)
	return found
}

// openLanes opens the ways out.
func (n *Network) openLanes(o Options) error {
	n.Outbox = outbox.Ports{EVM: func(id uint64) outbox.EVM { return n.lanes[id] }}
	for _, node := range n.nodes {
		l, err := lane.New(lane.Options{
			Store: o.Store, Pool: node.pool, ChainID: node.ID(), Final: node.final, FeeCap: node.feeCap,
			Quorum: node.quorum,
			State:  node.State, Check: node.Gate, DataFee: node.DataFee, Signers: []signers.EVM{n.Operator},
			Clock: o.Clock, Log: o.Log,
			Poll: o.Poll, Behind: o.Behind,
		})
		if err != nil {
			return err
		}
		n.lanes[node.ID()] = l
	}
	n.openLanding(o)
	return nil
}

// openPrices begins to read the price feeds of a file. Those of sequencers are known of main networks alone.
func (n *Network) openPrices(file *networks.File, o Options) {
	from := feeds.Options{Catalog: n.Catalog, Clock: o.Clock, Log: o.Log}
	for i, c := range file.Chains {
		watched := feeds.Chain{ID: c.ID, Name: c.Name, Nodes: n.nodes[i].pool, Feeds: c.Feeds}
		watched.DataFee = func(ctx context.Context) (*big.Int, uint64, error) {
			return n.nodes[i].DataFee(ctx, n.usual())
		}
		watched.BaseFee = n.nodes[i].NextBaseFee
		if c.Quorum > 1 {
			watched.Agreed = n.nodes[i].pool.Agreed
		}
		if file.Kind == network.Real {
			watched.Sequencer = feeds.Sequencer(c.ID)
		}
		from.Chains = append(from.Chains, watched)
	}
	n.Prices = feeds.New(from)
	n.Prices.Run()
}

// Secret derives n bytes for another purpose of the service from the seed.
func (n *Network) Secret(label string, size int) ([]byte, error) {
	return signers.Secret(n.seed, "coffer/secret/"+label, size)
}

// Close ends what goes on in this process. What was sent is found again by the next opening.
func (n *Network) Close() error {
	var closing sync.WaitGroup
	for _, l := range n.lanes {
		closing.Go(l.Close)
	}
	closing.Wait()
	if n.Panel != nil {
		n.Panel.Close()
	}
	if n.Prices != nil {
		n.Prices.Close()
	}
	for _, node := range n.nodes {
		node.Close()
		node.pool.Close()
	}
	if n.ledger != nil {
		n.ledger.Close()
	}
	return nil
}

// newNode makes the client of one chain.
func newNode(ctx context.Context, file *networks.File, c networks.Chain, o Options) (*node, error) {
	urls := make([]rpcpool.Endpoint, len(c.RPC))
	var err error
	for i, url := range c.RPC {
		urls[i].URL, urls[i].Secrets, err = file.Expand(ctx, c, url, o.Credential)
		if err != nil {
			return nil, err
		}
	}
	pool, err := rpcpool.New(rpcpool.Options{URLs: urls, ChainID: c.ID, Quorum: c.Quorum, Log: o.Log})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Where(c.Line), err)
	}
	n := &node{name: c.Name, coin: c.Coin.Symbol, pool: pool, final: c.Final, feeCap: c.FeeCap,
		quorum: c.Quorum, dear: func(base *big.Int) error { return file.Dear(c, base) }}
	n.Chain, err = remote.New(remote.Options{Node: pool, ChainID: c.ID, Final: c.Final, Clock: o.Clock})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return n, nil
}
