// Package compose turns what a person typed into an intent.Draft, and says per field what is wrong with it: chains,
// assets, accounts, contacts and addresses, amounts with units, functions and their arguments, allowances, required
// tokens, overrides, slippage and validity. The screens, the lines and the commands ask in their own way and read the
// answers here, so that the same text gives the same draft or the same mistake in all three.
//
// Promise: typed text is kept as text until a draft is made, and nothing is corrected silently. The fields and the call
// data are one: decoding what they encode gives them again, and call data that would not encode to the same bytes stays
// raw and says why. approve() is never a call. Foreign bytes pass strict parsers (intent.ParseDraft, intent.FromSafe,
// ParseDesk, ParseTemplates, ReadABI). Nothing here draws, asks or uses the network.
//
// Units: amounts of a known asset are typed in whole tokens ("250.5"), or with a unit ("20 gwei"), and drafted in base
// units; slippage in basis points or percent; times in minutes. An unknown balance is unknown, never zero. Sources:
// docs/interface.md#requests, protocol §2 and §3.7.
package compose

import (
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Contact is a named address; the name can be typed in its place. Own: the person gave the name.
type Contact struct {
	Name, Address string
	Own           bool
	Account       bool // another account of the person's profile
}

// World is what typed text refers to: the assets of a catalogue, the accounts of a profile on a network, and the
// addresses that have a name. Money is the balance of the accounts. Paid lists the addresses that were paid before;
// without PaidKnown new recipients cannot be told from old ones.
type World struct {
	Catalog   *catalog.Catalog
	Network   string
	Accounts  []api.Account
	Clock     func() time.Time
	Book      []Contact
	Paid      []string
	PaidKnown bool
	Money     Money
	Hidden    bool // amounts outside a review are hidden
	OwnNodes  bool // the network has no solver: what arrives on a chain is paid there, and nothing is swapped
}

// Rules are the validation rules, as of now.
func (w *World) Rules() api.Rules { return api.Rules{Catalog: w.Catalog, Now: w.Clock()} }

// Chain finds a chain by its name, its short name, its CAIP-2 id or its EVM number.
func (w *World) Chain(text string) (chain caip.Chain, problem string) {
	for _, k := range append(w.Catalog.Chains(), w.Catalog.Solana()) {
		_, number, _ := strings.Cut(k.Chain.String(), ":")
		if strings.EqualFold(text, k.Name) || strings.EqualFold(text, k.Short) ||
			strings.EqualFold(text, k.Chain.String()) || text == number && !k.Chain.IsSolana() {
			return k.Chain, ""
		}
	}
	if id, err := caip.ParseChain(text); err == nil {
		if k, ok := w.Catalog.Chain(id); ok {
			return k.Chain, ""
		}
	}
	return caip.Chain{}, w.unknownChain(text, "there is no chain \""+present.Clean(text, 60)+"\"")
}

// ChainName is the name of a chain, or its id.
func (w *World) ChainName(c caip.Chain) string { return present.ChainName(w.Catalog, c.String()) }

// Asset finds an asset by its symbol, its ob: id or its CAIP-19 id; symbol@chain is the one of a chain. The result is
// the id for an intent.
func (w *World) Asset(text string) (id, problem string) {
	name, on, onChain := strings.Cut(text, "@")
	if onChain {
		chain, problem := w.Chain(on)
		if problem != "" {
			return "", problem
		}
		if e, ok := w.AssetOn(chain, name); ok {
			return e.Asset.String(), ""
		}
		return "", noAsset(name)
	}
	for _, a := range w.Catalog.Aggregates() {
		if strings.EqualFold(text, a.Symbol) || strings.EqualFold(text, a.ID.String()) {
			return a.ID.String(), ""
		}
	}
	a, err := caip.ParseAsset(text)
	if why := w.unknownAsset(text, ""); why != "" {
		return "", why
	}
	if err == nil {
		return a.String(), ""
	}
	return "", "there is no asset \"" + present.Clean(text, 120) + "\""
}

func noAsset(name string) string {
	return "there is no asset \"" + present.Clean(name, 120) + "\" on that chain"
}

// AssetOn finds the asset of a chain by its own symbol, the symbol of its aggregate or the aggregate's id.
func (w *World) AssetOn(chain caip.Chain, name string) (catalog.Entity, bool) {
	for _, a := range w.Catalog.Aggregates() {
		for _, e := range a.Entities {
			if e.Asset.Chain == chain && (strings.EqualFold(name, e.Symbol) || strings.EqualFold(name, a.Symbol) ||
				strings.EqualFold(name, a.ID.String())) {
				return e, true
			}
		}
	}
	return catalog.Entity{}, false
}

// AssetsOn lists the assets of a chain, its coin only with coin set.
func (w *World) AssetsOn(chain caip.Chain, coin bool) []catalog.Entity {
	var out []catalog.Entity
	for _, a := range w.Catalog.Aggregates() {
		for _, e := range a.Entities {
			if e.Asset.Chain == chain && (coin || !e.Asset.IsNative()) {
				out = append(out, e)
			}
		}
	}
	return out
}

// Entity is a known asset by its CAIP-19 id.
func (w *World) Entity(asset string) (catalog.Entity, bool) {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return catalog.Entity{}, false
	}
	return w.Catalog.Entity(a)
}

// Coin is the chain's own coin.
func (w *World) Coin(chain caip.Chain) catalog.Entity {
	id, _ := chain.EVMID()
	e, _ := w.Catalog.NativeOf(id)
	return e
}

// TokenAt is the known token at an address of an EVM chain.
func (w *World) TokenAt(chain caip.Chain, address string) (catalog.Entity, bool) {
	a, err := caip.ParseAddress(trim(address))
	id, ok := chain.EVMID()
	if err != nil || !ok {
		return catalog.Entity{}, false
	}
	return w.Catalog.Entity(caip.ERC20(id, a))
}

// Side is an asset of an intent as the catalogue knows it.
type Side struct {
	Agg      catalog.Aggregate
	Entity   catalog.Entity // zero when the asset of any chain will do
	Exact    bool
	Decimals int
	Symbol   string
}

// Side resolves an aggregate id or a CAIP-19 asset.
func (w *World) Side(asset string) (Side, bool) {
	if agg, ok := w.Catalog.Aggregate(caip.AggregateID(asset)); ok {
		return Side{Agg: agg, Decimals: agg.Decimals, Symbol: agg.Symbol}, true
	}
	e, ok := w.Entity(asset)
	if !ok {
		return Side{}, false
	}
	agg, ok := w.Catalog.Aggregate(e.Aggregate)
	return Side{agg, e, true, e.Decimals, e.Symbol}, ok
}

// Own reports whether an address is one of the person's accounts.
func (w *World) Own(address string) bool {
	return slices.ContainsFunc(w.Accounts,
		func(a api.Account) bool { return strings.EqualFold(a.AccountAddress, trim(address)) })
}

// Holds reports whether one of the accounts can hold assets of a chain.
func (w *World) Holds(c caip.Chain) bool {
	return slices.ContainsFunc(w.Accounts, func(a api.Account) bool { return a.IsEVM() != c.IsSolana() })
}

// older sets the older interface, which takes one EVM account only.
func (w *World) older(d intent.Draft, v1 bool) intent.Draft {
	for _, a := range w.Accounts {
		if v1 && a.IsEVM() {
			d.Interface, d.Accounts = intent.InterfaceV1, []api.Account{a}
			break
		}
	}
	return d
}

func trim(s string) string { return strings.TrimSpace(s) }
