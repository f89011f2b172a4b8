package quote

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/quotestore"
)

// ownTransfer is the quote of a transfer on a network without a solver: on Solana its owner's message pays the
// recipient, and nothing is charged but what Solana takes (protocol §5.10). On EVM chains a call sends an amount.
func (q *Quoter) ownTransfer(ctx context.Context, x *trade) (*api.Document, error) {
	chain, able := q.Network.Solana.(solana.Others)
	e, err := q.sentOnSolana(x)
	if err != nil {
		return nil, err
	}
	if !able {
		return nil, noSolver("send the amount on its own chain")
	}
	x.now, x.slippage = q.Clock(), 0
	x.window = window(x.now, "", "")
	if err := q.random(x.id[:]); err != nil {
		return nil, err
	}
	price, _ := q.Prices.Price(e.Aggregate, x.now)
	v := amount.Scale(x.give, x.paying.aggregate.Decimals, e.Decimals)
	x.gives = need{asset: e.Asset, aggregate: e.Aggregate, decimals: e.Decimals, have: new(big.Int), price: price}
	x.market = market{aggregate: x.paying.aggregate.ID, symbol: e.Symbol, decimals: x.paying.aggregate.Decimals,
		price: price}
	l := leg{source: source{asset: e.Asset, decimals: e.Decimals, available: v}, amount: v, fee: new(big.Int)}
	x.plan = plan{legs: []leg{l}, fills: []fill{{need: x.gives, amount: v}}}
	x.plan.fills[0].required = v
	pays, err := q.ownMessage(ctx, chain, x, e, v)
	if err != nil {
		return nil, err
	}
	return q.issueSwap(ctx, x, x.offered(), []built{pays})
}

// sentOnSolana is the asset of a transfer within Solana; anything else takes a solver.
func (q *Quoter) sentOnSolana(x *trade) (catalog.Entity, error) {
	to, err := q.destination(x, nil)
	if err != nil {
		return to, err
	}
	only := x.paying.only
	same := x.paying.aggregate.ID == to.Aggregate && (only == (caip.Asset{}) || only == to.Asset)
	switch {
	case same && to.Asset.Chain.IsSolana() && x.hasSolana:
	case to.Asset.Chain.IsSolana() || only.Chain.IsSolana() || !x.hasEVM:
		return to, overSolana()
	default:
		return to, noSolver("send the amount on its own chain")
	}
	if fine := amount.Scale(x.give, x.paying.aggregate.Decimals, to.Decimals); amount.Scale(fine, to.Decimals,
		x.paying.aggregate.Decimals).Cmp(x.give) != 0 {
		return to, api.Invalid("from.amount", fmt.Sprintf("an amount that %d decimals can express, as the asset has "+
			"on Solana", to.Decimals), x.From.Amount)
	}
	if to := x.recipient; to.Address == x.solana.String() {
		return catalog.Entity{}, api.Invalid("to.account", "another account: the money is there already", to.Address)
	}
	return to, nil
}

// ownMessage makes the message of a transfer, whose fee its owner pays, and tries it.
func (q *Quoter) ownMessage(ctx context.Context, chain solana.Others, x *trade, e catalog.Entity, v *big.Int) (built,
	error) {
	key, _ := x.recipient.SolanaKey()
	to := solmsg.Key(key)
	st, err := chain.State(ctx)
	if err != nil {
		return built{}, err
	}
	defer st.Close()
	if err := primeSolana(st, x.solana, to, e.Asset); err != nil {
		return built{}, err
	}
	if err := q.receives(st, to); err != nil {
		return built{}, err
	}
	moves, err := q.Network.SolanaTransfer(ctx, x.solana, to, x.solana, e.Asset, v)
	if err != nil {
		return built{}, err
	}
	hash, height, lastValid, err := chain.Recent(ctx, uint64(x.now.Unix()))
	if err != nil {
		return built{}, err
	}
	moves = append(moves, solmsg.Memo(x.id.Hex()))
	m, fee, err := q.priced(ctx, chain, x, hash, moves)
	if err != nil {
		return built{}, err
	}
	if err := q.affordsSolana(ctx, st, x, e, v, fee, len(moves) > 2); err != nil {
		return built{}, err
	}
	why, err := q.solanaFails(ctx, uint64(x.now.Unix()), m)
	if err != nil {
		return built{}, err
	}
	if why != "" {
		return built{}, api.NewError(api.ErrSimulationFailed, "Simulation failed: Solana would refuse the transfer: %s",
			why)
	}
	x.lastValid = lastValid
	pays := quotestore.Amount{Asset: e.Asset.String(), Value: v}
	return built{
		Leg: quotestore.Leg{Pays: pays, Message: m.Base64(), LastHeight: height},
		wire: api.ChainOperation{
			Type: api.AccountSolana, Instructions: m.Wire(), RecentBlockHash: hash.String(),
			FeePayer: x.solana.String(), DataToSign: m.Base64(), AssetType: pays.Asset, Amount: v.String(),
		},
	}, nil
}

// primeSolana reads what a transfer looks at in one round trip, where that saves some.
func primeSolana(st solana.State, from, to solmsg.Key, asset caip.Asset) error {
	able, saves := st.(solana.Primer)
	if !saves {
		return nil
	}
	keys := []solmsg.Key{from, to}
	if mint, token := deployment.SolanaMint(asset); token {
		at, err := solmsg.AssociatedTokenAccount(from, mint, solmsg.TokenProgram())
		if err != nil {
			return err
		}
		keys = append(keys, at)
	}
	return able.Prime(keys...)
}

// receives refuses a recipient whose account a program has: what is sent there is the program's to keep.
func (q *Quoter) receives(st solana.State, to solmsg.Key) error {
	a, err := st.Account(to)
	if err != nil {
		return err
	}
	if a.Lamports > 0 && a.Owner != solmsg.SystemProgram() {
		return api.Invalid("to.account", wantWallet, to.String()+", which belongs to program "+a.Owner.String())
	}
	return nil
}

// Bounds of a limit of compute units: what a message has while it is measured, and what is added to what it used.
const (
	measuredUnits = 400_000
	spareUnits    = 1_000
	microLamports = 1_000_000
)

// priced puts a limit and a price of computing before instructions: a fifth more than they use, and what others pay, as
// far as the cap on fees lets it.
func (q *Quoter) priced(ctx context.Context, chain solana.Others, x *trade, hash solmsg.Key, moves []solmsg.Build) (
	m solmsg.Message, fee uint64, err error) {
	compose := func(units uint32, price uint64) (solmsg.Message, error) {
		return solmsg.Compose(x.solana, hash, append([]solmsg.Build{solmsg.ComputeUnitLimit(units),
			solmsg.ComputeUnitPrice(price)}, moves...)...)
	}
	if m, err = compose(measuredUnits, 0); err != nil {
		return m, 0, fmt.Errorf("compose a transfer on Solana: %w", err)
	}
	var writable []solmsg.Key
	for _, a := range m.Accounts() {
		if a.Writable {
			writable = append(writable, a.Key)
		}
	}
	price, err := chain.UnitPrice(ctx, writable...)
	if err != nil {
		return m, 0, err
	}
	units := uint64(measuredUnits)
	tried, err := chain.Simulate(ctx, uint64(x.now.Unix()), true, solana.Unsigned(m))
	var refused *solana.TxError
	if err != nil && !errors.As(err, &refused) { // what is refused is refused once more, with words
		return m, 0, err
	}
	if len(tried) == 1 && tried[0].Success && tried[0].Units > 0 {
		units = min(tried[0].Units+tried[0].Units/5+spareUnits, solmsg.MaxUnits)
	}
	free := chain.FeeCap() - SolanaSignatureFee
	price = min(price, free*microLamports/units)
	fee = SolanaSignatureFee + (price*units+microLamports-1)/microLamports
	m, err = compose(uint32(units), price)
	return m, fee, err
}

// affordsSolana says what SOL an account lacks: for the amount, Solana's fee, and the rent of a token account that the
// recipient does not have. What stays is the rent minimum of the account, or nothing.
func (q *Quoter) affordsSolana(ctx context.Context, st solana.State, x *trade, e catalog.Entity, v *big.Int, fee uint64,
	opens bool) error {
	pledged, err := q.Book.Pledged(ctx, x.solana.String())
	if err != nil {
		return err
	}
	have, err := st.Lamports(x.solana)
	if err != nil {
		return err
	}
	free := less(new(big.Int).SetUint64(have), pledged.Of(caip.SOL().String()))
	costs := new(big.Int).SetUint64(fee)
	parts := lamports(costs) + " for Solana's fee"
	if opens {
		rent := new(big.Int).SetUint64(solana.RentMinimum(tokenAccountSize))
		costs.Add(costs, rent)
		parts += " and " + lamports(rent) + " of rent for the recipient's token account, which it does not have yet"
	}
	if e.Asset.IsNative() {
		costs.Add(costs, v)
	} else if held, err := q.Network.SolanaBalanceAt(st, x.solana, e.Asset); err != nil {
		return err
	} else if held = less(held, pledged.Of(e.Asset.String())); held.Cmp(v) < 0 {
		return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: needed %s %s, available %s %s",
			amount.Trim(amount.Format(v, e.Decimals)), e.Symbol, amount.Trim(amount.Format(held, e.Decimals)), e.Symbol)
	}
	stays := new(big.Int).Sub(free, costs)
	minimum := new(big.Int).SetUint64(solana.RentMinimum(0))
	switch {
	case stays.Sign() < 0:
		return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: this takes %s in all (%s), and %s has "+
			"%s: send it %s more", lamports(costs), parts, x.solana, lamports(free), lamports(stays.Neg(stays)))
	case stays.Sign() > 0 && stays.Cmp(minimum) < 0:
		return api.NewError(api.ErrInsufficientBalance, "Insufficient balance: an account on Solana keeps at least %s "+
			"or nothing, and %s would keep %s of %s (this takes %s in all, with %s)", lamports(minimum), x.solana,
			lamports(stays), lamports(free), lamports(costs), parts)
	}
	there, err := st.Lamports(toKey(x.recipient))
	if err == nil && e.Asset.IsNative() && there == 0 && v.Cmp(minimum) < 0 {
		err = api.NewError(api.ErrSimulationFailed, "Simulation failed: the recipient has no account yet, and one "+
			"begins with at least %s", lamports(minimum))
	}
	return err
}

func toKey(a caip.Account) solmsg.Key {
	k, _ := a.SolanaKey()
	return solmsg.Key(k)
}

func lamports(v *big.Int) string { return amount.Trim(amount.Format(v, 9)) + " SOL" }
