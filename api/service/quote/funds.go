package quote

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/chain"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/quotestore"
)

// Gas that the network fee counts besides the prepared operation; measured on the embedded chains and rounded up
// (TestGasTableCoversMeasuredCosts). The prepared operation itself is measured in its parts, each with the fixed cost
// of a transaction, which together cover what handleOps adds around them.
const (
	GasDeposit    = 300_000 // the filler running one funding operation of a deployed account
	GasDeployment = 175_000 // what deploying the account adds
	GasRoles      = 75_000  // what the three keys of a role-based account add to that
	GasDelegation = 40_000  // what an EIP-7702 authorization adds
	GasRelease    = 60_000
	GasFill       = 60_000  // each delivery
	GasRun        = 100_000 // what the filler adds around an operation: sponsoring it, marking it, using up its id
)

// funds is everything that deciding about money needs: who pays, on which chain it is spent, what is needed and taken
// there.
type funds struct {
	payer
	now     time.Time
	chainID uint64 // of the calls; 0 when there are none
	needs   []need
	gas     uint64 // estimate of the prepared operation
	// delegation is the authorization that the prepared operation brings along.
	delegation *api.Delegation
	// spent is what the simulated calls took of assets on the target chain, beside what was declared; nil without
	// calls.
	spent func(caip.Asset) (*big.Int, error)
}

// readNeeds resolves the token requirements with what the account has and has not pledged.
func (q *Quoter) readNeeds(ctx context.Context, st chain.State, owner common.Address, required []quotestore.Amount,
	now time.Time) ([]need, error) {
	pledged, err := q.Book.Pledged(ctx, owner.Hex())
	if err != nil {
		return nil, err
	}
	needs := make([]need, 0, len(required))
	for _, r := range required {
		e, ok := q.Network.Catalog.Entity(r.CAIP())
		if !ok {
			return nil, errors.New("a required asset left the catalogue: " + r.Asset)
		}
		have, err := q.Network.BalanceAt(st, owner, e.Asset)
		if err != nil {
			return nil, err
		}
		price, _ := q.Prices.Price(e.Aggregate, now)
		needs = append(needs, need{
			asset: e.Asset, aggregate: e.Aggregate, decimals: e.Decimals, price: price, required: r.Value,
			have: less(have, pledged.Of(r.Asset)),
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

// paying is the asset that pays: an aggregate, or one exact asset of it, in whose decimals the aggregate then counts.
type paying struct {
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

// choose resolves the paying asset: what was asked, or the aggregate of the first required token, or that of the target
// chain's coin when nothing is required.
func (q *Quoter) choose(asked string, chainID uint64, required []quotestore.Amount) (paying, error) {
	var p paying
	id := caip.AggregateID(asked)
	if asset, err := caip.ParseAsset(asked); err == nil {
		e, ok := q.Network.Catalog.Entity(asset)
		switch {
		case !ok && asset.Chain.IsSolana() && q.Network.Solana == nil:
			return p, q.withoutSolana()
		case !ok:
			return p, api.NewError(api.ErrNoRoute, "no routes found: %s is not supported", asset.Display())
		}
		p.only, id = asset, e.Aggregate
	}
	if asked == "" {
		first := caip.Native(chainID)
		if len(required) > 0 {
			first = required[0].CAIP()
		}
		e, _ := q.Network.Catalog.Entity(first)
		id = e.Aggregate
	}
	var ok bool
	if p.aggregate, ok = q.Network.Catalog.Aggregate(id); !ok {
		return p, api.NewError(api.ErrNoRoute, "no routes found: %s is not supported", id)
	}
	if e, exact := q.Network.Catalog.Entity(p.only); exact {
		p.aggregate.Decimals = e.Decimals
	}
	return p, nil
}

// market is the paying side of a call's route.
func (q *Quoter) market(p paying, f funds) (market, error) {
	m := market{aggregate: p.aggregate.ID, symbol: p.aggregate.Symbol, decimals: p.aggregate.Decimals,
		targetChain: f.chainID}
	m.price, _ = q.Prices.Price(p.aggregate.ID, f.now)
	gas := f.gas
	for _, n := range f.needs {
		if n.short().Sign() > 0 {
			gas += GasFill
		}
	}
	var err error
	m.targetFee, err = q.gasFee(f.chainID, gas, f.now)
	return m, err
}

// gasFee is what gas costs on a chain, in micro-USD.
func (q *Quoter) gasFee(chainID, gas uint64, now time.Time) (*big.Int, error) {
	if err := Sendable(q.Network, chainID); err != nil {
		return nil, err
	}
	fee, ok := q.Prices.GasCostMicroUSD(chainID, gas, now)
	if !ok {
		return nil, api.NewError(api.ErrNoRoute, "no routes found: the gas price of eip155:%d is unknown", chainID)
	}
	return fee, nil
}

// sources lists the balances of the paying asset that can fund, in funding order. A required token on the target chain
// is none of them while any of it is missing; otherwise what is left of it counts. What lies on a chain where the
// account cannot be served is no source either; when nothing else was named to pay, the refusal tells why.
func (q *Quoter) sources(ctx context.Context, p paying, f funds) (out []source, held withheld, err error) {
	if q.NoRoute != nil && q.NoRoute() {
		return nil, held, api.NewError(api.ErrNoRoute, "no routes found")
	}
	var entities []catalog.Entity
	for _, e := range p.aggregate.Entities {
		_, has := f.on(e.Asset.Chain)
		if has && (p.only == (caip.Asset{}) || e.Asset == p.only) {
			entities = append(entities, e)
		}
	}
	if len(entities) == 0 {
		return nil, held, api.NewError(api.ErrNoRoute,
			"no routes found: %s lies on no chain from which these accounts could pay", p.aggregate.Symbol)
	}
	all, err := q.Book.Pledged(ctx, f.owner().Hex(), f.solanaOwner())
	if err != nil {
		return nil, held, err
	}
	for _, e := range entities {
		if reached, err := q.reached(ctx, e.Asset.Chain, f); err != nil {
			return nil, held, err
		} else if !reached {
			on, _ := q.Network.Catalog.Chain(e.Asset.Chain)
			held.unserved = append(held.unserved, "the nodes of "+on.Name+" do not answer now, so nothing there "+
				"can pay")
			continue
		}
		if id, evm := e.Asset.Chain.EVMID(); evm && id != f.chainID {
			if err := dear(q.Network, id); err != nil {
				held.unserved = append(held.unserved, err.Error()+", so nothing there can pay")
				continue
			}
		}
		pledged := all.Of(e.Asset.String())
		s, err := q.source(ctx, e, f, pledged)
		if err == nil && s.available.Sign() > 0 && s.chainID != f.chainID {
			err = q.shallow(ctx, s.chainID)
		}
		if refusal := f.unusable(err); refusal != nil {
			if p.only != (caip.Asset{}) {
				return nil, held, refusal
			}
			if err := q.leaveOut(ctx, &held, e, f, refusal); err != nil {
				return nil, held, err
			}
			continue
		}
		if err != nil {
			return nil, held, err
		}
		held.add(pledged, s.rent, e.Decimals, p.aggregate.Decimals)
		if s.available.Sign() > 0 {
			out = append(out, s)
		}
	}
	order(out)
	return out, held, nil
}

// reachedWithin is how long a question waits for the nodes of a chain that may not be needed.
const reachedWithin = 4 * time.Second

// reached reports whether a chain that could pay answers. If so, the question goes on with the block that was found.
func (q *Quoter) reached(ctx context.Context, c caip.Chain, f funds) (bool, error) {
	id, evm := c.EVMID()
	if !evm || id == f.chainID || !q.Network.OnOthers() {
		return true, nil
	}
	soon, cancel := context.WithTimeout(ctx, reachedWithin)
	defer cancel()
	st, err := q.state(soon, id, f.now)
	if err != nil {
		return false, ctx.Err()
	}
	st.Close()
	return true, nil
}

// leaveOut notes what lies on a chain where the account cannot pay, and why.
func (q *Quoter) leaveOut(ctx context.Context, held *withheld, e catalog.Entity, f funds, refusal error) error {
	balance, err := q.Network.Balance(ctx, f.evm.Address, e.Asset)
	if err != nil || balance.Sign() == 0 {
		return err
	}
	held.unserved = append(held.unserved, amount.Trim(amount.Format(balance, e.Decimals))+" "+e.Symbol+" on "+
		place(e.Asset)+" cannot pay: "+strings.TrimPrefix(refusal.Error(), "Validation failed: Validation error: "))
	return nil
}

// unusable tells an account that cannot be served on a chain from a fault: the refusal for the former, nil for the
// latter.
func (p payer) unusable(err error) error {
	var refusal *api.Error
	if err = p.refused(err); errors.As(err, &refusal) {
		return refusal
	}
	return nil
}

// source is what one entity can pay.
func (q *Quoter) source(ctx context.Context, e catalog.Entity, f funds, pledged *big.Int) (source, error) {
	id, evm := e.Asset.Chain.EVMID()
	if !evm {
		return q.solanaSource(ctx, e, f, pledged)
	}
	s := source{asset: e.Asset, chainID: id, decimals: e.Decimals, available: new(big.Int)}
	used := new(big.Int)
	prepared := f.spent != nil && id == f.chainID
	if prepared {
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
	st, err := q.state(ctx, id, f.now)
	if err != nil {
		return s, err
	}
	defer st.Close()
	balance, err := q.Network.BalanceAt(st, f.evm.Address, e.Asset)
	if err != nil {
		return s, err
	}
	available := less(balance, new(big.Int).Add(used, pledged))
	if available.Sign() == 0 {
		return s, nil
	}
	gas := uint64(GasDeposit + GasRelease)
	if prepared { // by then the prepared operation has brought what the account needs
		s.state = smartaccount.State{Deployed: true, Delegation: f.delegation}
	} else if s.state, err = f.evm.State(st, id); err != nil {
		return s, err
	} else if s.state.Deploys {
		if gas += GasDeployment; f.evm.IsRoleBased() {
			gas += GasRoles
		}
	} else if s.state.Delegation != nil {
		gas += GasDelegation
	}
	var priced bool
	// a chain without a gas price cannot be charged for
	if s.own, priced = q.Prices.GasCostMicroUSD(id, gas, f.now); priced {
		s.available = available
	}
	return s, nil
}

// sourceBalances is what prepare shows: the required token on the target chain if it is of the paying asset, then the
// sources that are worth more than their own fee (protocol §2.9).
func (q *Quoter) sourceBalances(p paying, f funds, m market, sources []source) []api.SourceAssetBalance {
	out := []api.SourceAssetBalance{}
	add := func(asset caip.Asset, v *big.Int, decimals int) {
		out = append(out, api.SourceAssetBalance{
			AssetType: asset.String(), Balance: v.String(), Decimals: decimals,
			FiatValue: api.Micro(amount.Value(v, decimals, m.price)),
		})
	}
	for _, n := range f.needs {
		if n.aggregate == m.aggregate && n.have.Sign() > 0 && (p.only == (caip.Asset{}) || p.only == n.asset) {
			add(n.asset, n.have, n.decimals)
		}
	}
	for _, s := range sources {
		shown := slices.ContainsFunc(out, func(b api.SourceAssetBalance) bool {
			return b.AssetType ==
				s.asset.String()
		})
		worth := amount.Value(s.available, s.decimals, m.price)
		if !shown && worth != nil && worth.Cmp(s.own) > 0 {
			add(s.asset, s.available, s.decimals)
		}
	}
	return out
}
