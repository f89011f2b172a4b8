package portfolio

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/text"
)

// MaxQuery bounds each query parameter of a balance request in bytes.
const MaxQuery = 16 << 10

// Query is a parsed balance request. EVM is nil and Solana empty when no account of that kind was named.
type Query struct {
	EVM        *common.Address
	Solana     string
	Aggregates []caip.AggregateID
	Assets     []Asked
}

// solanaKey is the Solana account of the query; false when none was named.
func (q Query) solanaKey() (solmsg.Key, bool) {
	k, err := solmsg.ParseKey(q.Solana)
	return k, err == nil
}

// Asked is a specific asset together with the spelling in which it was asked for, which the answer repeats, and its
// place in the request.
type Asked struct {
	Asset    caip.Asset
	As, At   string
	Unlisted bool // a token that the catalogue does not have
}

// ParseQuery reads the query parameters account, aggregatedAssetId and assetId, comma-separated lists all. It returns
// every failure. An EVM account may be named for several chains, as the chain does not restrict the answer, but only
// one address of each kind may appear. An id that appears twice counts once.
func ParseQuery(cat *catalog.Catalog, account, aggregates, assets string) (Query, []api.Failure) {
	p := queryParser{cat: cat}
	p.accounts(account)
	if aggregates == "" && assets == "" {
		p.fail("aggregatedAssetId", "aggregatedAssetId or assetId", "nothing")
	}
	p.list("aggregatedAssetId", aggregates, p.aggregate)
	p.list("assetId", assets, p.asset)
	return p.q, p.failures
}

// ParseQueryV2 reads the query parameters address and assetId of the second version: one 0x address, and further assets
// as a comma-separated list that may be absent. It returns every failure.
func ParseQueryV2(cat *catalog.Catalog, address, assets string) (common.Address, []Asked, []api.Failure) {
	p := queryParser{cat: cat}
	a, err := caip.ParseAddress(address)
	if err != nil {
		p.fail("address", "a 0x address with 40 hexadecimal digits", text.Named(address))
	}
	p.list("assetId", assets, p.asset)
	return a, p.q.Assets, p.failures
}

type queryParser struct {
	cat      *catalog.Catalog
	q        Query
	failures []api.Failure
}

func (p *queryParser) fail(path, expected, got string) {
	p.failures = append(p.failures, api.Failure{Path: path, Expected: expected, Got: got})
}

// list hands each element of a parameter to one with a path such as assetId[2]. An absent parameter has no elements.
func (p *queryParser) list(name, value string, one func(path, item string)) {
	if value == "" {
		return
	}
	if len(value) > MaxQuery {
		p.fail(name, "at most "+strconv.Itoa(MaxQuery)+" bytes", strconv.Itoa(len(value))+" bytes")
		return
	}
	for i, item := range strings.Split(value, ",") {
		// a plus sign at the end, as ob:eth+ has one, comes as a blank when it was not escaped
		one(name+"["+strconv.Itoa(i)+"]", strings.TrimLeft(item, " "))
	}
}

func (p *queryParser) accounts(value string) {
	if value == "" {
		p.fail("account", "one or more accounts such as eip155:1:0x…, comma-separated", "nothing")
	}
	p.list("account", value, func(path, item string) {
		a, err := caip.ParseBalanceAccount(item)
		if err != nil {
			p.fail(path, "a CAIP-10 account such as eip155:1:0x…, or solana:<address>", text.Named(item))
			return
		}
		if evm, ok := a.EVM(); ok {
			if p.q.EVM != nil && *p.q.EVM != evm {
				p.fail(path, "one EVM address in all", "another one")
				return
			}
			p.q.EVM = &evm
			return
		}
		if a.Chain != caip.SolanaMainnet() {
			p.fail(path, "an account on an eip155 chain or on Solana", text.Named(item))
			return
		}
		if p.q.Solana != "" && p.q.Solana != a.Address {
			p.fail(path, "one Solana address in all", "another one")
			return
		}
		p.q.Solana = a.Address
	})
}

func (p *queryParser) aggregate(path, item string) {
	id, err := caip.ParseAggregate(item)
	if err != nil {
		expected := "an aggregated asset id such as ob:usdc"
		if strings.HasSuffix(item, " ") {
			expected += " (in a query a plus sign is written %2B)"
		}
		p.fail(path, expected, text.Named(item))
		return
	}
	if _, known := p.cat.Aggregate(id); !known {
		p.fail(path, "a known aggregated asset id", text.Named(item))
		return
	}
	if !slices.Contains(p.q.Aggregates, id) {
		p.q.Aggregates = append(p.q.Aggregates, id)
	}
}

func (p *queryParser) asset(path, item string) {
	a, err := caip.ParseAsset(item)
	if err != nil {
		p.fail(path, "an asset type as /assets/list has it, such as eip155:8453/slip44:60", text.Named(item))
		return
	}
	unlisted := 0
	for _, have := range p.q.Assets {
		if have.Asset == a {
			return
		}
		if have.Unlisted {
			unlisted++
		}
	}
	_, known := p.cat.Entity(a)
	_, served := p.cat.Chain(a.Chain)
	switch {
	case !known && (!served || a.IsNative()):
		p.fail(path, "an asset of /assets/list, or a token of a supported chain", text.Named(item))
		return
	case !known && unlisted == MaxUnlisted:
		p.fail(path, "at most "+strconv.Itoa(MaxUnlisted)+" tokens that are not in /assets/list", text.Named(item))
		return
	}
	p.q.Assets = append(p.q.Assets, Asked{Asset: a, As: item, At: path, Unlisted: !known})
}
