package portfolio

import (
	"cmp"
	"context"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/text"
)

// Balances answers GET /v3/balances/aggregated-balance. The named addresses get test funds first, if the request may
// bring them. All prices are of one moment, so fiat values add up.
func (p *Portfolio) Balances(ctx context.Context, q Query) (out api.AggregatedBalance, err error) {
	if out, err = p.sums(ctx, q); err != nil {
		return out, err
	}
	out.Accounts = &api.BalanceAccounts{Solana: q.Solana}
	if q.EVM != nil {
		out.Accounts.EVM = q.EVM.Hex()
	}
	return out, nil
}

// BalancesV2 answers GET /v2/balances/aggregated-balance: every aggregated asset in the order of the catalogue, the
// further assets asked for, and no accounts. An EVM address holds nothing on Solana, whose entities are listed with
// zero. The address gets test funds first, if the request may bring them.
func (p *Portfolio) BalancesV2(ctx context.Context, address common.Address, assets []Asked) (api.AggregatedBalance,
	error) {
	q := Query{EVM: &address, Assets: assets}
	for _, a := range p.Network.Catalog.Aggregates() {
		q.Aggregates = append(q.Aggregates, a.ID)
	}
	return p.sums(ctx, q)
}

// sums gives test funds and makes all lines of an answer.
func (p *Portfolio) sums(ctx context.Context, q Query) (out api.AggregatedBalance, err error) {
	unlisted, err := p.unlisted(ctx, q) // before the funds: a request that is refused brings none
	if err != nil {
		return out, err
	}
	if err := p.fund(ctx, q); err != nil {
		return out, err
	}
	s := &sheet{p: p, q: q, at: p.Clock(), counted: map[caip.Asset]bool{}}
	if err := s.read(ctx); err != nil {
		return out, err
	}
	defer s.close()
	out = api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{},
		BalanceBySpecificAsset: []api.AssetBalance{}}
	for _, id := range q.Aggregates {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		line, err := s.aggregate(ctx, id)
		if err != nil {
			return out, err
		}
		out.BalanceByAggregatedAsset = append(out.BalanceByAggregatedAsset, line)
	}
	for _, asked := range q.Assets {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if s.silent[asked.Asset.Chain] != nil {
			s.total.add(nil)
			continue
		}
		line, known := unlisted[asked.Asset]
		if !known {
			if line, err = s.specific(ctx, asked); err != nil {
				return out, err
			}
		} else if line.FiatValue == "" {
			s.total.add(nil)
		}
		out.BalanceBySpecificAsset = append(out.BalanceBySpecificAsset, line)
	}
	out.TotalBalance.FiatValue = api.Micro(s.total.worth())
	for _, info := range append(p.Network.Catalog.Chains(), p.Network.Catalog.Solana()) {
		if err := s.silent[info.Chain]; err != nil {
			out.Unreachable = append(out.Unreachable, api.UnreachableChain{Chain: info.Chain.String(),
				Message: text.Clean(strings.ReplaceAll(err.Error(), "\n", "; "), 300)})
		}
	}
	return out, nil
}

func (p *Portfolio) fund(ctx context.Context, q Query) error {
	if q.EVM != nil {
		if err := p.Faucet.Consider(ctx, *q.EVM); err != nil {
			return err
		}
	}
	if owner, ok := q.solanaKey(); ok {
		return p.Faucet.ConsiderSolana(ctx, owner)
	}
	return nil
}

// sheet collects the figures of one answer but those of tokens outside the catalogue: one head of each chain, one
// moment of prices, and a total that counts each asset once however often it is listed.
type sheet struct {
	p       *Portfolio
	q       Query
	at      time.Time
	held    map[caip.Asset]*big.Int // on EVM chains, and on a Solana of own nodes
	silent  map[caip.Chain]error    // chains of others that could not be asked
	solana  solana.State            // nil while nothing on Solana was read
	counted map[caip.Asset]bool
	total   tally
}

func (s *sheet) close() {
	if s.solana != nil {
		s.solana.Close()
	}
}

func (s *sheet) openSolana(ctx context.Context) (err error) {
	if s.solana == nil {
		s.solana, err = s.p.Network.Solana.State(ctx)
	}
	return err
}

func (s *sheet) aggregate(ctx context.Context, id caip.AggregateID) (api.AggregateBalance, error) {
	agg, _ := s.p.Network.Catalog.Aggregate(id)
	line := api.AggregateBalance{AggregatedAssetID: id.String(), IndividualAssetBalances: []api.AssetBalance{}}
	sum := new(big.Int)
	var fiat tally
	for _, e := range agg.Entities {
		if s.silent[e.Asset.Chain] != nil { // no line, as a zero would be a lie
			fiat.add(nil)
			s.total.add(nil)
			continue
		}
		v, worth, err := s.entity(ctx, e)
		if err != nil {
			return line, err
		}
		line.IndividualAssetBalances = append(line.IndividualAssetBalances, api.AssetBalance{
			AssetType: e.Asset.String(), Balance: v.String(), FiatValue: api.Micro(worth),
		})
		sum.Add(sum, amount.Scale(v, e.Decimals, agg.Decimals))
		fiat.add(worth)
	}
	line.Balance, line.FiatValue = sum.String(), api.Micro(fiat.worth())
	return line, nil
}

// specific is the balance of an asset that was asked for by its own id.
func (s *sheet) specific(ctx context.Context, asked Asked) (api.AssetBalance, error) {
	e, _ := s.p.Network.Catalog.Entity(asked.Asset)
	v, worth, err := s.entity(ctx, e)
	return api.AssetBalance{AssetType: asked.As, Balance: v.String(), FiatValue: api.Micro(worth)}, err
}

// entity is the balance of one entity and its worth in micro-USD, nil when something is held that has no price.
func (s *sheet) entity(ctx context.Context, e catalog.Entity) (v, worth *big.Int, err error) {
	if v, err = s.balance(ctx, e.Asset); err != nil {
		return nil, nil, err
	}
	price, _ := s.p.Prices.Price(e.Aggregate, s.at)
	worth = amount.Value(v, e.Decimals, price)
	if !s.counted[e.Asset] {
		s.counted[e.Asset] = true
		s.total.add(worth)
	}
	return v, worth, nil
}

// atOnce reports whether a chain is asked once for everything, before the lines are made: the EVM chains, and Solana on
// own nodes.
func (s *sheet) atOnce(c caip.Chain) bool {
	if id, evm := c.EVMID(); evm {
		return s.q.EVM != nil && s.p.Network.Chains[id] != nil
	}
	_, holder := s.p.Network.Solana.(deployment.Holder)
	_, named := s.q.solanaKey()
	return holder && named && c == caip.SolanaMainnet()
}

// read asks these chains, all at the same time, for what the query wants of them.
func (s *sheet) read(ctx context.Context) error {
	s.held, s.silent = map[caip.Asset]*big.Int{}, map[caip.Chain]error{}
	var chains []caip.Chain
	wanted := map[caip.Chain][]caip.Asset{}
	want := func(a caip.Asset) {
		if !s.atOnce(a.Chain) || slices.Contains(wanted[a.Chain], a) {
			return
		}
		if wanted[a.Chain] == nil {
			chains = append(chains, a.Chain)
		}
		wanted[a.Chain] = append(wanted[a.Chain], a)
	}
	for _, id := range s.q.Aggregates {
		agg, _ := s.p.Network.Catalog.Aggregate(id)
		for _, e := range agg.Entities {
			want(e.Asset)
		}
	}
	for _, asked := range s.q.Assets {
		if !asked.Unlisted {
			want(asked.Asset)
		}
	}
	found, failed := make([][]*big.Int, len(chains)), make([]error, len(chains))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range chains {
		group.Go(func() (err error) {
			if err = ctx.Err(); err == nil {
				found[i], err = s.balances(ctx, c, wanted[c])
			}
			if err != nil && ctx.Err() == nil && s.p.Network.OnOthers() {
				failed[i], err = err, nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, c := range chains {
		if failed[i] != nil {
			s.silent[c] = failed[i]
			continue
		}
		for k, a := range wanted[c] {
			s.held[a] = found[i][k]
		}
	}
	return nil
}

// chainWithin is how long the others wait for one chain whose nodes are silent.
const chainWithin = 4 * time.Second

// balances asks one chain.
func (s *sheet) balances(ctx context.Context, c caip.Chain, wanted []caip.Asset) (held []*big.Int, err error) {
	if s.p.Network.OnOthers() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, chainWithin)
		defer cancel()
	}
	if owner, named := s.q.solanaKey(); named && c.IsSolana() {
		return s.p.Network.SolanaBalances(ctx, owner, wanted)
	}
	err = chain.Question(ctx, func(ctx context.Context) error {
		held, err = s.p.Network.Balances(ctx, *s.q.EVM, wanted)
		return err
	})
	return held, err
}

// balance is zero where the query names no account, and on a chain that this network does not run: nobody can hold
// anything there.
func (s *sheet) balance(ctx context.Context, a caip.Asset) (*big.Int, error) {
	if a.Chain != caip.SolanaMainnet() || s.atOnce(a.Chain) {
		return cmp.Or(s.held[a], new(big.Int)), nil
	}
	owner, ok := s.q.solanaKey()
	if !ok || s.p.Network.Solana == nil {
		return new(big.Int), nil
	}
	if err := s.openSolana(ctx); err != nil {
		return nil, err
	}
	return s.p.Network.SolanaBalanceAt(s.solana, owner, a)
}

// tally sums figures in micro-USD of which some may be unknown, nil.
type tally struct {
	known   big.Int
	unknown bool
}

func (t *tally) add(v *big.Int) {
	if v == nil {
		t.unknown = true
		return
	}
	t.known.Add(&t.known, v)
}

// worth is the sum of what is known; nil when that is nothing and something is unknown: unknown is never zero.
func (t *tally) worth() *big.Int {
	if t.unknown && t.known.Sign() == 0 {
		return nil
	}
	return &t.known
}
