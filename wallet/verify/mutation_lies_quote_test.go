package verify_test

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/verify"
)

func liesAboutQuotes() []falsehood {
	dest := func(change func(f *forged, d *api.DestinationToken) bool) func(f *forged) bool {
		return func(f *forged) bool { return f.destination() != nil && change(f, f.destination()) }
	}
	return []falsehood{
		{what: "another id in every place", tell: func(f *forged) bool {
			var other [32]byte
			f.r.Read(other[:])
			if f.id() == nil {
				return false
			}
			*f.id() = fmt.Sprintf("0x%x", other)
			for _, o := range f.payments() {
				if o.IsSolana() {
					f.solana(o, func(s *solanaForm) { s.memo(*f.id()) })
				} else {
					f.deposit(o, func(d *escrow.Deposit, _ *common.Address) { d.QuoteID = other })
				}
			}
			return true
		}, class: verify.Opaque,
			why: "the service names its quotes; the id only has to be new and the same everywhere (Q1)"},
		{what: "another recipient", tell: dest(func(f *forged, d *api.DestinationToken) bool {
			a, err := caip.ParseAccount(d.RecipientAccount)
			if err != nil {
				return false
			}
			if id, evm := a.Chain.EVMID(); evm {
				d.RecipientAccount = caip.EVMAccount(id, f.address()).Display()
			} else {
				d.RecipientAccount = caip.SolanaAccount(f.key()).String()
			}
			return true
		})},
		{what: "a recipient on another chain", tell: dest(func(f *forged, d *api.DestinationToken) bool {
			a, err := parseAccount(d.RecipientAccount)
			d.RecipientAccount = caip.EVMAccount(5, a).Display()
			return err == nil
		})},
		{what: "less is delivered, with a minimum that agrees",
			tell: dest(func(f *forged, d *api.DestinationToken) bool {
				v := bigOf(d.Amount)
				v.Div(v, big.NewInt(2+f.r.Int63n(50)))
				d.Amount = v.String()
				d.MinimumAmount = v.Div(v.Mul(v, big.NewInt(int64(10_000-f.s.in.Draft().SlippageBps))),
					big.NewInt(10_000)).String()
				return true
			})},
		{what: "a minimum beyond the tolerance", tell: dest(func(f *forged, d *api.DestinationToken) bool {
			v := bigOf(d.MinimumAmount)
			d.MinimumAmount = v.Sub(v, new(big.Int).Add(new(big.Int).Div(v, big.NewInt(100)),
				big.NewInt(1+f.r.Int63n(1000)))).String()
			return true
		})},
		{what: "a minimum above the amount", tell: dest(func(f *forged, d *api.DestinationToken) bool {
			d.MinimumAmount = plus(d.Amount, big.NewInt(1))
			return true
		})},
		{what: "the asset of another chain is delivered", tell: dest(func(f *forged, d *api.DestinationToken) bool {
			other, ok := f.sibling(f.asset(d.AssetType))
			d.AssetType = other.String()
			return ok
		})},
		{what: "another asset is delivered, by all its names",
			tell: dest(func(f *forged, d *api.DestinationToken) bool {
				all := f.s.policy.Catalog.Aggregates()
				agg := all[f.r.Intn(len(all))]
				e := agg.Entities[f.r.Intn(len(agg.Entities))]
				if e.Asset == f.asset(d.AssetType) {
					return false
				}
				d.AggregatedAssetID, d.AssetType, d.Symbol, d.Name, d.Decimals = agg.ID.String(), e.Asset.String(),
					e.Symbol, agg.Name, &e.Decimals
				return true
			})},
		{what: "an end that is past or far", tell: func(f *forged) bool {
			if f.expiry() == nil {
				return false
			}
			at, err := strconv.ParseInt(*f.expiry(), 10, 64)
			*f.expiry() = strconv.FormatInt(at+[]int64{-60, 86_400, -1_000_000_000, 1 << 40}[f.r.Intn(4)], 10)
			return err == nil
		}},
		{what: "the sum without its parts", tell: func(f *forged) bool {
			if f.origin() == nil {
				return false
			}
			f.origin().Amount = plus(f.origin().Amount, big.NewInt(1+f.r.Int63n(1e6)))
			return true
		}},
		{what: "paid with another aggregate", tell: func(f *forged) bool {
			w := f.origin()
			if w == nil {
				return false
			}
			all := f.s.policy.Catalog.Aggregates()
			id := all[f.r.Intn(len(all))].ID.String()
			same := id == w.AggregatedAssetID
			w.AggregatedAssetID = id
			return !same
		}},
		{what: "a prepared operation of another call", tell: func(f *forged) bool {
			if f.v1 == nil || f.v1.DestinationChainOperation == nil {
				return false
			}
			f.evm(f.v1.DestinationChainOperation, func(e *evmForm) {
				e.calls[0].Data = erc20.Transfer(f.address(), big.NewInt(1))
			})
			return true
		}},
		{what: "a prepared operation where there is none", tell: func(f *forged) bool {
			o := f.anEVM()
			if f.v1 == nil || f.v1.DestinationChainOperation != nil || o == nil {
				return false
			}
			c := clone(o)
			f.v1.DestinationChainOperation = &c
			return true
		}},
		{what: "more operations than a quote may have", tell: func(f *forged) bool {
			list := f.list()
			if list == nil || (*list)[0].IsSolana() {
				return false
			}
			for i := range 11 {
				c := clone(&(*list)[0])
				f.nonce(&c, func(n *op.Nonce) { n.Sequence += uint64(i) })
				*list = append(*list, c)
			}
			return true
		}},
		{what: "no operation", tell: func(f *forged) bool {
			if f.list() == nil {
				return false
			}
			*f.list() = slices.Clone(*f.list())[:0]
			return true
		}},
	}
}
