// Package quote prepares calls and prices calls, swaps and transfers: it builds the user operation of a call, simulates
// it, finds the funding, and issues signed quotes, in the forms of v1 and v3 (protocol §2, §3 and §4.1).
//
// # Prepare
//
// A prepared operation is one batch: approve(spender, amount) for every declared allowance that the chain does not
// already hold, the user's calls, and approve(spender, 0) for the same allowances; a declared amount of 0 is one
// approve(spender, 0) in front. It is simulated from the EntryPoint's address with max(0, required − balance) credited;
// what is not declared must be covered by what is already there.
//
// # Accounts
//
// A request has an EVM account, a Solana account, or both; calls need the EVM one. How the account stands on a chain
// decides what an operation carries: factory and factoryData, or a delegation to be signed (EIP-7702). Prepared and
// funding operation of one chain ask for the same authorization. On the target chain an account that cannot be served
// there is an error; elsewhere its chain is no source, and only where that one asset alone was named to pay does the
// refusal say why.
//
// # Call quote
//
// The signed operation runs through the real handleOps on the same overlay, co-signed and with its authorization where
// the account needs them. Sources are the entities of one aggregate (or one exact asset) on all chains of the accounts,
// Solana among them, largest value first, ties by CAIP-19; amounts pledged to executing quotes, amounts that the calls
// themselves use, what an account on Solana must keep, and dust below its own fee do not count. The required token on
// the target chain counts first and is never a source. What the calls took of the target chain's assets, declared or
// not and with or without overrides, is pledged when the quote executes, and must not be pledged to another one.
//
// # Swaps and transfers
//
// Exact input: the sources pay the amount in the same order, and what is left after all fees buys what is delivered,
// rounded down. With both sides in one aggregate it is a transfer, which must name its recipient; a swap goes to the
// own account unless it names one. What is delivered of an aggregate is, in this order, the entity on the recipient's
// chain; the one on the chain that most is paid from; the first one that the catalogue lists. An asset that is
// delivered to its own account does not pay. The solver's transfer is simulated too. Nothing is delivered to the
// service itself, to a token, or to a Solana address that no wallet's key signs for; nor does such a Solana address
// pay.
//
// # Fees
//
// All in the paid asset and inside the deposits (protocol §3.3): the network fee, [SolverBps] of what is delivered, and
// [SpreadBps] of what is delivered in another asset than the paid one. The network fee is the estimated gas of deposit
// and release on each origin chain, of fill and operation on the target chain, at the gas price table, rounded up; on
// Solana the signatures of deposit, release and fill, and the rent of a token account that a fill opens. So Σ deposits
// = Σ cost + Σ fees exactly. For calls the cost of another asset is rounded up to the paid asset's unit and the
// delivery is floor(cost × price), which is never less than what is required; for swaps the delivery is floor((Σ
// deposits − Σ fees) × price).
//
// Units: amounts in base units, money in micro-USD, times in Unix seconds, slippage in basis points. Errors are
// *api.Error with the names of protocol §6; anything else is a fault of the service.
package quote

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
	"coffer/api/service/signers"
)

// Parts of the fee in basis points of what is delivered.
const (
	SolverBps = 5
	SpreadBps = 10
)

// DefaultSlippageBps is the tolerance when neither prepare nor call-quote names one (protocol §3.7).
const DefaultSlippageBps = 200

// Window is how long a prepared operation and its funding operations stay sponsored (protocol §2.2).
const Window = api.Validity

// MaxLegs bounds the funding operations of one quote (protocol §3.2).
const MaxLegs = 10

// DefaultLifetime is the life of a quote when Deps name none.
const DefaultLifetime = 30 * time.Second

// Prices is the price source; *price.Table is one. Prices are micro-USD per whole unit, false means unknown.
type Prices interface {
	Price(id caip.AggregateID, at time.Time) (*big.Int, bool)
	GasCostMicroUSD(chainID, gas uint64, at time.Time) (*big.Int, bool)
}

// Deps is what a Quoter stands on. Fund gives test funds to the accounts that a request names (protocol §5.4), who
// receives not among them; nil gives none. Random gives quote ids. NoRoute is a fault for tests and developers: when it
// returns true, no funding is found; nil in production.
type Deps struct {
	Network     *deployment.Network
	Operator    signers.EVM    // sponsors operations
	CoSigner    signers.EVM    // for simulations of role-based accounts
	TamperProof signers.Digest // signs what is answered
	Fund        func(context.Context, []api.Account) error
	Book        *quotestore.Book
	Prices      Prices
	Clock       func() time.Time
	Random      io.Reader
	Lifetime    time.Duration
	NoRoute     func() bool
	Codec       *entrypoint.Codec // shared with other use cases; nil makes one
}

// Quoter prepares and quotes. It is safe for concurrent use.
type Quoter struct {
	Deps
	randomLock sync.Mutex
}

// New makes a Quoter.
func New(d Deps) *Quoter {
	if d.Lifetime <= 0 {
		d.Lifetime = DefaultLifetime
	}
	d.Codec = cmp.Or(d.Codec, entrypoint.New(d.Network.Pins.EntryPoint, d.Network.Pins.Escrow))
	return &Quoter{Deps: d}
}

// answer has one of the questions below answered from one block of each chain behind nodes.
func (q *Quoter) answer(ctx context.Context, doc *api.Document, f form,
	ask func(context.Context, *api.Document, form) (*api.Document, error)) (out *api.Document, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f.by = q.Book.Reader(ctx)
	err = chain.Question(ctx, func(ctx context.Context) error {
		out, err = ask(ctx, doc, f)
		return err
	})
	return out, err
}

// Prepare answers POST /v3/quote/prepare-call-quote. Without fromAssetId the aggregate of the first required token
// pays; if it cannot, the answer is InsufficientBalance.
func (q *Quoter) Prepare(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{}, q.prepare)
}

// PrepareV1 answers POST /quotes/prepare-call-quote. As v1 has no way to name the paying asset before call-quote, a
// call that the aggregate of the first required token cannot cover may be covered by any other single aggregate.
func (q *Quoter) PrepareV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{v1: true}, q.prepare)
}

// CallQuote answers POST /v3/quote/call-quote: it checks the prepared operation and its signature, runs it, finds the
// funding and issues a signed quote.
func (q *Quoter) CallQuote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{}, q.callQuote)
}

// CallQuoteV1 answers POST /quotes/call-quote. The paying asset must be named when anything is missing.
func (q *Quoter) CallQuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{v1: true}, q.callQuote)
}

// Quote answers POST /v3/quote: a swap, or a transfer when both sides are of one aggregate.
func (q *Quoter) Quote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{prefix: "from."}, q.swap)
}

// QuoteV1 answers POST /v1/quote: the same for one EVM account.
func (q *Quoter) QuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return q.answer(ctx, doc, form{v1: true, prefix: "from."}, q.swap)
}
