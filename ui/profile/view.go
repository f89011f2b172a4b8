package profile

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/feeds"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/rpcpool"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/chainview"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// View is what the person's own nodes see; nil where the profile names none, and for guests and replays. No answer of a
// service has a part in which nodes these are.
func (o *Opened) View() flow.View {
	if o.view == nil {
		return nil
	}
	return o.view
}

// Nodes are the person's own nodes, for what else they see than a review needs; nil like View.
func (o *Opened) Nodes() *chainview.View { return o.view }

// openView makes the view of a profile that names nodes, or is on own nodes. Nothing is asked yet. A key that a node
// needs comes out of the vault, which is unlocked for it.
func (o *Opened) openView(ctx context.Context) error {
	if o.guest != nil || o.player != nil {
		return nil
	}
	file, err := o.viewed(o.Profile.OwnView())
	if err != nil || len(file.Chains) == 0 {
		return err
	}
	credential, err := o.keysOf(ctx, file)
	if err != nil {
		return err
	}
	var nodes []chainview.Node
	for _, c := range file.Chains {
		n := chainview.Node{Chain: c.ID, Quorum: c.Quorum, Final: c.Final}
		if o.Profile.OwnNodes() { // elsewhere gas is the service's
			n.Dear = func(base *big.Int) error { return file.Dear(c, base) }
		}
		if o.Network.PricedByMarket() {
			if err := market(&n, o.Network.Kind); err != nil {
				return err
			}
		}
		for _, url := range c.RPC {
			e := rpcpool.Endpoint{}
			if e.URL, e.Secrets, err = file.Expand(ctx, c, url, credential); err != nil {
				return err
			}
			n.Endpoints = append(n.Endpoints, e)
		}
		nodes = append(nodes, n)
	}
	if file.Solana != nil {
		n := chainview.Node{Solana: file.Solana.ID.Reference, Quorum: file.Solana.Quorum}
		for _, url := range file.Solana.RPC {
			e := rpcpool.Endpoint{}
			if e.URL, e.Secrets, err = file.ExpandSolana(ctx, url, credential); err != nil {
				return err
			}
			n.Endpoints = append(n.Endpoints, e)
		}
		nodes = append(nodes, n)
	}
	if o.view, err = chainview.New(nodes); err != nil {
		return &cli.UsageError{Problem: fmt.Sprintf("the nodes of profile %q: %s", o.Profile.Name, err)}
	}
	o.close = append(o.close, func() error { o.view.Close(); return nil })
	return nil
}

// market names the price feeds of a chain, as this program was built with them. None comes from a service: what it says
// of a price must not count.
func market(n *chainview.Node, kind network.Kind) error {
	shipped, err := networks.Shipped()
	if err != nil {
		return err
	}
	for _, c := range shipped {
		if c.ID == n.Chain {
			n.Name, n.Feeds = c.Name, c.Feeds
		}
	}
	if kind != network.Test { // a test network has no sequencer that is known
		n.Sequencer = feeds.Sequencer(n.Chain)
	}
	return nil
}

// marketPrice is what an asset costs on a network of real assets, as the person's own nodes read it.
func (o *Opened) marketPrice(id caip.AggregateID) catalog.Market {
	if o.view == nil {
		return catalog.Market{Problem: verify.NoMarket}
	}
	return o.view.Price(id)
}

// viewed are the nodes of the view, in the form of a networks.toml: those of that file, or those that the profile
// names. Nodes of a chain that the network does not have are an error.
func (o *Opened) viewed(named []config.Node) (*networks.File, error) {
	if o.Profile.OwnNodes() {
		file, err := networks.Load(o.Profile.Networks)
		return file, cli.InFile(err)
	}
	file := &networks.File{Path: o.Paths.Config}
	for _, n := range named {
		id, err := o.chainOf(n.Chain)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(file.Chains, func(c networks.Chain) bool { return c.ID == id })
		if i < 0 {
			i = len(file.Chains)
			file.Chains = append(file.Chains, networks.Chain{ID: id})
		}
		file.Chains[i].RPC = append(file.Chains[i].RPC, n.URL)
	}
	return file, nil
}

// chainOf finds the chain of the network that a node was named for.
func (o *Opened) chainOf(name string) (uint64, error) {
	id, found := ChainNamed(o.Catalog, name)
	if !found || !slices.Contains(o.Network.Chains, caip.EVM(id).String()) {
		return 0, &cli.UsageError{Problem: fmt.Sprintf("profile %q names a node of %q, which its network does not have",
			o.Profile.Name, name), Hint: "coffer profile nodes --profile " + o.Profile.Name + " --remove " + name}
	}
	return id, nil
}

// ChainNamed finds an EVM chain by its number, name or short name.
func ChainNamed(c *catalog.Catalog, name string) (uint64, bool) {
	if id, err := strconv.ParseUint(name, 10, 63); err == nil {
		return id, true
	}
	for _, x := range c.Chains() {
		if strings.EqualFold(x.Short, name) || strings.EqualFold(x.Name, name) {
			return x.ID, x.ID != 0
		}
	}
	return 0, false
}

// SameChain reports whether two names are of one chain.
func SameChain(c *catalog.Catalog, a, b string) bool {
	x, known := ChainNamed(c, a)
	y, both := ChainNamed(c, b)
	return known && both && x == y || strings.EqualFold(a, b)
}

// NodeState is what one node answers now: its newest block, or why there is none. Err wraps rpcpool.ErrOtherChain where
// it serves another chain than the one that it was named for.
type NodeState struct {
	Chain uint64
	Host  string
	Block uint64
	Err   error
}

// TryNodes asks each node of the view for its newest block, or each of those named in place of them. A key that one
// needs comes out of the vault.
func (o *Opened) TryNodes(ctx context.Context, named []config.Node) ([]NodeState, error) {
	file, err := o.viewed(named)
	if err != nil {
		return nil, err
	}
	credential, err := o.keysOf(ctx, file)
	if err != nil {
		return nil, err
	}
	return tryNodes(ctx, file, credential), nil
}

// TryNodes asks each named node of a profile that is not there yet for its newest block. One that needs a key is left
// out, as there is no vault to take it from.
func TryNodes(ctx context.Context, c *catalog.Catalog, named []config.Node) ([]NodeState, error) {
	file := &networks.File{}
	for _, n := range named {
		id, found := ChainNamed(c, n.Chain)
		if !found {
			return nil, &cli.UsageError{Problem: fmt.Sprintf("%q is no chain that this program knows", n.Chain),
				Hint: "name any other chain by its number, such as 84532"}
		}
		one := &networks.File{Chains: []networks.Chain{{ID: id, RPC: []string{n.URL}}}}
		if len(one.Needs()) == 0 {
			file.Chains = append(file.Chains, one.Chains...)
		}
	}
	return tryNodes(ctx, file, nil), nil
}

func tryNodes(ctx context.Context, file *networks.File, credential networks.Credential) (all []NodeState) {
	for _, c := range file.Chains {
		for _, url := range c.RPC {
			all = append(all, NodeState{Chain: c.ID, Host: networks.Host(url)})
			s, e := &all[len(all)-1], rpcpool.Endpoint{}
			if e.URL, e.Secrets, s.Err = file.Expand(ctx, c, url, credential); s.Err != nil {
				continue
			}
			var v *chainview.View
			v, s.Err = chainview.New([]chainview.Node{{Chain: c.ID, Endpoints: []rpcpool.Endpoint{e}}})
			if s.Err == nil {
				s.Block, s.Err = v.Probe(ctx, c.ID)
				v.Close()
			}
		}
	}
	return all
}

// Wrong is the error of a node that serves another chain, nil where none does: such a node is not written down.
func Wrong(all []NodeState) error {
	for _, s := range all {
		if errors.Is(s.Err, rpcpool.ErrOtherChain) {
			return &cli.UsageError{Problem: s.Err.Error() + "; nothing was written"}
		}
	}
	return nil
}

// HasChains refuses nodes of chains that the network does not have.
func (o *Opened) HasChains(named []config.Node) error {
	_, err := o.viewed(named)
	return err
}
