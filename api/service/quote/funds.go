package quote

import (
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/quote/account"
	"coffer/api/service/store"
)

// Gas that the network fee counts besides the prepared operation; measured on the embedded chains and rounded up
// (TestGasTableCoversMeasuredCosts). The prepared operation itself is measured in its parts, each with the fixed cost of a transaction, which
// together cover what handleOps adds around them.
const (
	GasDeposit    = 200_000 // handleOps with one funding operation of a deployed account
	GasDeployment = 160_000 // what deploying the account adds
	GasRelease    = 55_000
	GasFill       = 60_000
)

// funds is everything that deciding about money needs: who pays, on which chains he has an account, what he can spend.
type funds struct {
	now     time.Time
	account account.Account
	chainID uint64
	needs   []need
	gas     uint64 // estimate of the prepared operation
	// spent is what the simulated calls took of assets on the target chain, beside what was declared.
	spent func(caip.Asset) (*big.Int, error)
}

// readNeeds resolves the token requirements with what the account has and has not pledged.
func (q *Quoter) readNeeds(tx store.Tx, st chain.State, owner common.Address, required []book.Amount, now time.Time) ([]need, error) {
	needs := make([]need, 0, len(required))
	for _, r := range required {
		e, ok := q.Installation.Catalog.Entity(r.CAIP())
		if !ok {
			return nil, errors.New("a required asset left the catalogue: " + r.Asset)
		}
		have, err := q.Installation.BalanceAt(st, owner, e.Asset)
		if err != nil {
			return nil, err
		}
		price, _ := q.Prices.Price(e.Aggregate, now)
		needs = append(needs, need{
			asset: e.Asset, aggregate: e.Aggregate, decimals: e.Decimals, price: price, required: r.Value,
			have: less(have, q.Book.Pledged(tx, owner.Hex(), r.Asset)),
		})
	}
	return needs, nil
}

// less is a − b, at least zero.
func less(a, b *big.Int) *big.Int {
	d := new(big.Int).Sub(a, b)
	if d.Sign() < 0 {
		d.SetInt64(0)
	}
	return d
}

// paying is the asset that pays: an aggregate, or one exact asset of it.
type paying struct {
	asked     string // as the client named it, "" for the default
	aggregate catalog.Aggregate
	only      caip.Asset // zero: every entity
}

// id is how the quote names what pays (protocol §3.5).
func (p paying) id() string {
	if p.only != (caip.Asset{}) {
		return string(caip.Single)
	}
	return string(p.aggregate.ID)
}

// choose resolves the paying asset: what was asked, or the aggregate of the first required token, or that of the target chain's coin when
// nothing is required.
func (q *Quoter) choose(asked string, chainID uint64, required []book.Amount) (paying, error) {
	p := paying{asked: asked}
	id := caip.AggregateID(asked)
	if asset, err := caip.ParseAsset(asked); err == nil {
		e, ok := q.Installation.Catalog.Entity(asset)
		if !ok {
			return p, api.NewError(api.ErrNoRoute, "no routes found: %s is not supported", asset.Display())
		}
		p.only, id = asset, e.Aggregate
	}
	if asked == "" {
		first := caip.Native(chainID)
		if len(required) > 0 {
			first = required[0].CAIP()
		}
		e, _ := q.Installation.Catalog.Entity(first)
		id = e.Aggregate
	}
	var ok bool
	if p.aggregate, ok = q.Installation.Catalog.Aggregate(id); !ok {
		return p, api.NewError(api.ErrNoRoute, "no routes found: %s is not supported", id)
	}
	return p, nil
}

// market is the paying side of a route.
func (q *Quoter) market(p paying, f funds) (market, error) {
	m := market{aggregate: p.aggregate.ID, symbol: p.aggregate.Symbol, decimals: p.aggregate.Decimals, targetChain: f.chainID}
	m.price, _ = q.Prices.Price(p.aggregate.ID, f.now)
	gas := f.gas
	for _, n := range f.needs {
		if n.short().Sign() > 0 {
			gas += GasFill
		}
	}
	var ok bool
	if m.targetFee, ok = q.Prices.GasCostMicroUSD(f.chainID, gas, f.now); !ok {
		return m, api.NewError(api.ErrNoRoute, "no routes found: the gas price of eip155:%d is unknown", f.chainID)
	}
	return m, nil
}

// sources lists the balances of the paying asset that can fund, in funding order. A required token on the target chain is none of them while any
// of it is missing; otherwise what is left of it counts.
func (q *Quoter) sources(p paying, f funds) ([]source, error) {
	if q.NoRoute != nil && q.NoRoute() {
		return nil, api.NewError(api.ErrNoRoute, "no routes found")
	}
	var out []source
	reachable := false
	for _, e := range p.aggregate.Entities {
		id, evm := e.Asset.Chain.EVMID()
		if !evm || p.only != (caip.Asset{}) && e.Asset != p.only {
			continue
		}
		reachable = true
		s, err := q.source(e, id, f)
		if err != nil {
			return nil, err
		}
		if s.available.Sign() > 0 {
			out = append(out, s)
		}
	}
	if !reachable {
		return nil, api.NewError(api.ErrNoRoute, "no routes found: %s lies on no chain from which this account could pay", p.aggregate.Symbol)
	}
	order(out)
	return out, nil
}

func (q *Quoter) source(e catalog.Entity, id uint64, f funds) (source, error) {
	s := source{asset: e.Asset, chainID: id, decimals: e.Decimals, available: new(big.Int)}
	used := new(big.Int)
	if id == f.chainID {
		for _, n := range f.needs {
			if n.asset != e.Asset {
				continue
			}
			if n.short().Sign() > 0 {
				return s, nil
			}
			used = n.required
		}
		spent, err := f.spent(e.Asset)
		if err != nil {
			return s, err
		}
		if spent.Cmp(used) > 0 {
			used = spent
		}
	}
	err := q.Book.View(func(tx store.Tx) error {
		used = new(big.Int).Add(used, q.Book.Pledged(tx, f.account.Address.Hex(), e.Asset.String()))
		return nil
	})
	if err != nil {
		return s, err
	}
	balance, err := q.Installation.Balance(f.account.Address, e.Asset)
	if err != nil {
		return s, err
	}
	s.available = less(balance, used)
	if s.available.Sign() == 0 {
		return s, nil
	}
	if s.deployed, err = q.Installation.Deployed(id, f.account.Address); err != nil {
		return s, err
	}
	gas := uint64(GasDeposit + GasRelease)
	if !s.deployed && id != f.chainID {
		gas += GasDeployment
	}
	var ok bool
	if s.own, ok = q.Prices.GasCostMicroUSD(id, gas, f.now); !ok {
		s.available = new(big.Int) // a chain without a gas price cannot be charged for
	}
	return s, nil
}

// sourceBalances is what prepare shows: the required token on the target chain if it is of the paying asset, then the sources that are worth more
// than their own fee (protocol §2.9).
func (q *Quoter) sourceBalances(p paying, f funds, m market, sources []source) []api.SourceAssetBalance {
	out := []api.SourceAssetBalance{}
	add := func(asset caip.Asset, v *big.Int, decimals int) {
		out = append(out, api.SourceAssetBalance{
			AssetType: asset.String(), Balance: v.String(), Decimals: decimals, FiatValue: api.Micro(amount.Value(v, decimals, m.price)),
		})
	}
	for _, n := range f.needs {
		if n.aggregate == m.aggregate && n.have.Sign() > 0 && (p.only == (caip.Asset{}) || p.only == n.asset) {
			add(n.asset, n.have, n.decimals)
		}
	}
	for _, s := range sources {
		shown := slices.ContainsFunc(out, func(b api.SourceAssetBalance) bool { return b.AssetType == s.asset.String() })
		worth := amount.Value(s.available, s.decimals, m.price)
		if !shown && worth != nil && worth.Cmp(s.own) > 0 {
			add(s.asset, s.available, s.decimals)
		}
	}
	return out
}
