// Package networks reads and writes networks.toml: the chains of a network on a person's own nodes, with their
// endpoints, tokens and price feeds.
//
// Promise: Load returns a file without a fault, or all faults at once, each with its line, chain and endpoint; unknown
// keys are faults. An error never repeats more of an endpoint than scheme and host, because the rest may be a
// credential. A file cannot hold a credential in the clear: it names one that a vault keeps, as ${vault:NAME}.
//
// Units: fee caps are wei per gas.
package networks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/files"
	"coffer/api/network"
	"coffer/assets"
)

// Name is the usual name of the file. The descriptor of the network lies beside it.
const (
	Name       = "networks.toml"
	Descriptor = "network.json"
)

// maxFile bounds the file, in bytes.
const maxFile = 1 << 20

// File is what a file says. Chains are the EVM chains with an endpoint, in the order of the file; Idle are those
// without one, which the network does not have. Of Solana and IdleSolana one is nil at least: a network has one Solana
// chain, with an endpoint or without. Operator is nil where no one settles payments between chains.
type File struct {
	Path       string
	Kind       network.Kind
	Operator   *Operator
	Chains     []Chain
	Idle       []Chain
	Solana     *Solana
	IdleSolana *Solana
}

// Chain is one chain. RPC are its endpoints as the file has them (Expand puts credentials in). Quorum is how many of
// them must give the same answer to what money hangs on. FinalWorst is how long a block takes at worst to become final.
type Chain struct {
	ID         uint64
	Name       string
	Short      string
	RPC        []string
	Quorum     int
	Final      Finality
	FinalWorst time.Duration
	FeeCap     *big.Int
	Coin       Token // the native coin; its address is zero
	Tokens     []Token
	Feeds      []Feed
	Explorer   string
	Line       int
}

// Finality says when a block is final: when the node calls it `finalized`, or, Counted, with so many blocks above it.
type Finality struct {
	Counted bool
	Blocks  uint64
}

// finalized is the block tag, and the word in the file.
const finalized = "finalized"

func (f Finality) String() string {
	if f.Counted {
		return strconv.FormatUint(f.Blocks, 10)
	}
	return finalized
}

// Token is an asset of a chain. Powers are what its issuer can do with the tokens of others.
type Token struct {
	Address   common.Address
	Symbol    string
	Name      string
	Decimals  int
	Aggregate caip.AggregateID
	Powers    []string
	Line      int
}

// Feed is a Chainlink aggregator with the price of an aggregated asset in USD. An answer older than Heartbeat is none.
type Feed struct {
	Aggregate caip.AggregateID
	Address   common.Address
	Heartbeat time.Duration
	Decimals  int
	Line      int
}

// Powers lists what an issuer can be said to be able to do: keep an address from sending and receiving, take a share of
// each transfer, stop all transfers, replace the code.
func Powers() []string { return []string{"blocklist", "fee", "pause", "upgrade"} }

// Load reads a file. It refuses one that other users may change. Its error joins a *files.Fault for each fault.
func Load(path string) (*File, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &files.Fault{Path: path, Problem: "this is no regular file"}
	case info.Size() > maxFile:
		return nil, &files.Fault{Path: path, Problem: "this is larger than 1 MiB"}
	}
	if why := files.Changeable(path, info); why != "" {
		return nil, &files.Fault{Path: path, Problem: why}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile)) // the file that was looked at, whatever its name means by now
	if err != nil {
		return nil, err
	}
	return Parse(path, raw)
}

// Missing reports that a file is not there.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Chain finds a chain of the network.
func (f *File) Chain(id uint64) (Chain, bool) {
	i := slices.IndexFunc(f.Chains, func(c Chain) bool { return c.ID == id })
	if i < 0 {
		return Chain{}, false
	}
	return f.Chains[i], true
}

// Where says which place in the file a line is of.
func (f *File) Where(line int) string { return fmt.Sprintf("%s:%d", f.Path, line) }

// FirstOffer is what a transaction may offer for a unit of gas under a cap: the rest is kept for the one that may have
// to take its place.
func FirstOffer(feeCap *big.Int) *big.Int {
	c := new(big.Int).Mul(feeCap, big.NewInt(8))
	return c.Div(c, big.NewInt(9))
}

// Dear is an error while nothing can be sent on a chain of the file because of its cap, with what helps. base is the
// base fee of the next block; nil, when it is not known, is no error.
func (f *File) Dear(c Chain, base *big.Int) error {
	if base == nil || c.FeeCap == nil || base.Cmp(FirstOffer(c.FeeCap)) < 0 {
		return nil
	}
	return fmt.Errorf("%s asks for %s gwei for gas now, and fee_cap_gwei is %s, of which a ninth is kept for "+
		"replacing what hangs: wait, or allow more at %s", c.Name, Gwei(base), Gwei(c.FeeCap), f.Where(c.Line))
}

// Catalog is the registry of the file's chains and tokens. It has no prices: those of real assets come from feeds.
func (f *File) Catalog() (*catalog.Catalog, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	var d assets.Catalog
	tokens := map[caip.AggregateID]int{}
	add := func(asset caip.Asset, t Token) {
		at, twice := tokens[t.Aggregate]
		if !twice {
			at = len(d.Tokens)
			tokens[t.Aggregate] = at
			agg := assets.Token{AggregatedAssetID: string(t.Aggregate), Symbol: t.Symbol, Name: t.Name,
				Decimals: &t.Decimals}
			if k, ok := known.Aggregate(t.Aggregate); ok {
				agg.Symbol, agg.Name, agg.Decimals = k.Symbol, k.Name, &k.Decimals
			}
			d.Tokens = append(d.Tokens, agg)
		}
		d.Tokens[at].AggregatedEntities = append(d.Tokens[at].AggregatedEntities, assets.Entity{
			AssetType: asset.Display(), Decimals: &t.Decimals, Name: t.Name, Symbol: t.Symbol})
	}
	for _, c := range f.Chains {
		gas := c.FeeCap
		if k, ok := known.Chain(caip.EVM(c.ID)); ok {
			gas = k.GasPriceWei
		}
		d.Chains = append(d.Chains, assets.Chain{Chain: caip.EVM(c.ID).String(), Name: c.Name, Short: c.Short,
			NativeSymbol: c.Coin.Symbol, BlockExplorer: c.Explorer, GasPriceWei: gas.String()})
		add(caip.Native(c.ID), c.Coin)
	}
	if s := f.Solana; s != nil {
		d.Chains = append(d.Chains, assets.Chain{Chain: caip.SolanaMainnet().String(), Name: s.Name, Short: s.Short,
			NativeSymbol: s.Coin.Symbol, BlockExplorer: s.Explorer})
		add(caip.SOL(), s.Coin)
	}
	for _, c := range f.Chains {
		for _, t := range c.Tokens {
			add(caip.ERC20(c.ID, t.Address), t)
		}
	}
	if f.Solana != nil {
		for _, m := range f.Solana.Mints {
			add(caip.SPL(m.Key), Token{Symbol: m.Symbol, Name: m.Name, Decimals: m.Decimals, Aggregate: m.Aggregate})
		}
	}
	c, err := catalog.New(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return c, nil
}

// gwei is the number of decimals in which the file writes what gas may cost.
const gwei = 9

// Gwei writes wei per gas as the file does.
func Gwei(wei *big.Int) string { return amount.Trim(amount.Plain(wei, gwei)) }
