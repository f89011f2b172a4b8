package quotestore

import (
	"bytes"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/store"
)

// Amount is an amount of an asset of one chain in base units.
type Amount struct {
	Asset string   `json:"asset"` // CAIP-19
	Value *big.Int `json:"value"`
}

// CAIP is the asset; the zero asset when the text is none, which the writer excludes.
func (a Amount) CAIP() caip.Asset {
	asset, _ := caip.ParseAsset(a.Asset)
	return asset
}

// Context is what prepare knows about an operation that call-quote needs again (protocol §2.1).
type Context struct {
	OpHash      common.Hash         `json:"opHash"`
	ChainID     uint64              `json:"chainId"`
	Accounts    []api.Account       `json:"accounts"`
	Owner       common.Address      `json:"owner"` // the EVM account
	Op          api.UserOp          `json:"op"`    // without signature
	Signature   string              `json:"signature,omitzero"`
	Deployed    bool                `json:"deployed"`
	ValidAfter  uint64              `json:"validAfter"`
	ValidUntil  uint64              `json:"validUntil"`
	Approvals   int                 `json:"approvals"` // leading calls of the batch that are not the user's
	Calls       int                 `json:"calls"`     // the user's calls
	Required    []Amount            `json:"required,omitempty"`
	Overrides   []api.StateOverride `json:"overrides,omitempty"`
	From        string              `json:"from,omitzero"` // fromAssetId as it was asked
	SlippageBps int                 `json:"slippageBps,omitzero"`
	CallType    string              `json:"callType"`
	Project     string              `json:"project,omitzero"` // of a private book: whose it is
	Gas         uint64              `json:"gas"`              // estimate of the whole handleOps
	UsedBy      string              `json:"usedBy,omitzero"`  // id of the quote that was accepted with it
	// Delegation is the authorization that the operation needs (EIP-7702), signed from call-quote on; nil when it needs
	// none.
	Delegation *api.Delegation `json:"delegation,omitzero"`
}

// same reports whether two contexts of one hash say the same, apart from a signature that came later.
func (c Context) same(other Context) bool {
	a, errA := c.unsigned()
	b, errB := other.unsigned()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (c Context) unsigned() ([]byte, error) {
	c.Signature, c.Delegation = "", c.Delegation.Unsigned()
	return json.Marshal(c, json.Deterministic(true))
}

// LegState is how far the money of one funding operation has come.
type LegState string

// A leg goes from waiting to deposited, then to released or refunded. When a quote turns back and the chain of a leg
// does not say for good whether a deposit landed, it is unread until that is known.
const (
	LegWaiting   LegState = ""
	LegUnread    LegState = "unread"
	LegDeposited LegState = "deposited"
	LegReleased  LegState = "released"
	LegRefunded  LegState = "refunded"
)

// Leg is one funding operation of a quote: a user operation on an EVM chain, or a message on Solana.
type Leg struct {
	ChainID uint64     `json:"chainId,omitzero"` // 0 on Solana
	Pays    Amount     `json:"pays"`
	Op      api.UserOp `json:"op,omitzero"` // EVM, without signature
	// EVM: the authorization that the operation needs, signed from execute on
	Delegation *api.Delegation `json:"delegation,omitzero"`
	Message    string          `json:"message,omitzero"` // Solana: base64 of what gets signed
	// Solana, on a chain of others: the last block height that takes the message
	LastHeight uint64      `json:"lastHeight,omitzero"`
	Signature  string      `json:"signature,omitzero"` // 0x hex, base58 on Solana
	Deploys    bool        `json:"deploys,omitzero"`
	State      LegState    `json:"state,omitzero"`
	Sent       bool        `json:"sent,omitzero"`    // its release or refund was sent and is not final yet
	Deposit    common.Hash `json:"deposit,omitzero"` // transaction of the deposit
	Settled    common.Hash `json:"settled,omitzero"` // transaction of the release or refund
	// DepositTx and SettledTx are the same on Solana: base58 signatures.
	DepositTx string `json:"depositTx,omitzero"`
	SettledTx string `json:"settledTx,omitzero"`
}

// Held reports whether a deposit lies in escrow, or may.
func (l Leg) Held() bool { return l.State == LegDeposited || l.State == LegUnread }

// Chain is the chain that the leg pays on.
func (l Leg) Chain() caip.Chain { return chainOf(l.ChainID) }

func chainOf(id uint64) caip.Chain {
	if id == 0 {
		return caip.SolanaMainnet()
	}
	return caip.EVM(id)
}

// Fill is what the solver delivers for one requirement, with the prices of the quote (micro-USD per whole unit).
// Swapped is false when the paid asset belongs to the delivered one's aggregate; the price then does not matter.
// Missing is what a call requires, where the smallest unit of the paid asset buys more than that.
type Fill struct {
	Delivers Amount   `json:"delivers"`
	Missing  *big.Int `json:"missing,omitzero"`
	Swapped  bool     `json:"swapped,omitzero"`
	PricePay *big.Int `json:"pricePay,omitzero"`
	PriceGet *big.Int `json:"priceGet,omitzero"`
}

// Ref is one transaction of a quote. On Solana ChainID is 0 and Signature names the transaction in place of Hash.
type Ref struct {
	ChainID   uint64      `json:"chainId,omitzero"`
	Hash      common.Hash `json:"hash,omitzero"`
	Signature string      `json:"signature,omitzero"`
	URL       string      `json:"url,omitzero"` // its page on the service's explorer
}

// Chain is the chain of the transaction.
func (r Ref) Chain() caip.Chain { return chainOf(r.ChainID) }

// ID is the transaction's name on its chain: a 0x hash, or a base58 signature.
func (r Ref) ID() string {
	if r.ChainID == 0 {
		return r.Signature
	}
	return r.Hash.Hex()
}

// Quote is an issued quote and, once accepted, the saga of its settlement. Status is empty while it is only an offer. A
// call has a prepared operation; a swap or a transfer has none (OpHash is zero) and delivers its one fill to Recipient.
// ChainID is the chain that is delivered on, 0 for Solana.
type Quote struct {
	ID          string           `json:"id"`
	Project     string           `json:"project,omitzero"` // that it was made for; "" when none was known
	Version     int              `json:"version,omitzero"` // 1 when it was answered in the v1 form
	OpHash      common.Hash      `json:"opHash,omitzero"`
	ChainID     uint64           `json:"chainId,omitzero"`
	Accounts    []api.Account    `json:"accounts"`
	Owner       common.Address   `json:"owner,omitzero"`       // the EVM account, zero when none takes part
	SolanaOwner string           `json:"solanaOwner,omitzero"` // the Solana account, "" when none takes part
	Recipient   string           `json:"recipient,omitzero"`   // CAIP-10; "" is Owner on ChainID
	Minimum     *big.Int         `json:"minimum,omitzero"`     // least delivery of an exact-input quote; nil for a call
	Expires     uint64           `json:"expires"`
	ValidAfter  uint64           `json:"validAfter"`
	ValidUntil  uint64           `json:"validUntil"`
	SlippageBps int              `json:"slippageBps,omitzero"`
	From        caip.AggregateID `json:"from,omitzero"` // aggregate that pays
	Canonical   common.Hash      `json:"canonical"`     // digest that the integrity signature covers
	Legs        []Leg            `json:"legs,omitempty"`
	Fills       []Fill           `json:"fills,omitempty"`
	Required    []Amount         `json:"required,omitempty"`
	Status      string           `json:"status,omitzero"`
	FailReason  string           `json:"failReason,omitzero"` // set with the decision to refund
	Sent        string           `json:"sent,omitzero"`       // step that was sent and is not final yet
	Gas         *big.Int         `json:"gas,omitzero"`        // what it costs an operator, in micro-USD; nil elsewhere
	// On chains of others: bytes of the delivery were signed, and the id was used up without one.
	Signed      bool      `json:"signed,omitzero"`
	Voided      bool      `json:"voided,omitzero"`
	Lapsed      bool      `json:"lapsed,omitzero"` // a final block later than the delivery's end shows the id unused
	Epoch       uint64    `json:"epoch,omitzero"`  // in which the record was made, or read from the chains again
	Origin      []Ref     `json:"origin,omitempty"`
	Destination []Ref     `json:"destination,omitempty"`
	AcceptedAt  time.Time `json:"acceptedAt,omitzero"`
	Created     uint64    `json:"created,omitzero"` // stamp
	Updated     uint64    `json:"updated,omitzero"` // stamp
	Type        string    `json:"type"`

	// What is left for the commit of the next step: what came of a step, which the book says is under way, and what
	// else goes with it.
	deferred string
	with     []func(store.Tx) error
}

// With has the next step of a record commit something beside it.
func (q *Quote) With(also func(store.Tx) error) { q.with = append(slices.Clone(q.with), also) }

// Defer leaves it to the next step of a record to commit what came of a step that was sent. Until then who reads the
// book finds that one under way.
func (q *Quote) Defer(sent string) { q.deferred = sent }

// Deferred is the step of which that is left to the next one, "" for none.
func (q *Quote) Deferred() string { return q.deferred }

// Clone returns a deep enough copy: what settlement changes step by step is the copy's own.
func (q *Quote) Clone() *Quote {
	c := *q
	c.Legs = slices.Clone(q.Legs)
	c.Fills = slices.Clone(q.Fills)
	c.Origin = slices.Clone(q.Origin)
	c.Destination = slices.Clone(q.Destination)
	return &c
}

// Whole reports whether the prepared operation is all there is: no funding, no solver.
func (q *Quote) Whole() bool { return len(q.Legs) == 0 }

// HasPrepared reports whether a prepared operation belongs to the quote: it is a call.
func (q *Quote) HasPrepared() bool { return q.OpHash != (common.Hash{}) }

// Target is the chain that is delivered on.
func (q *Quote) Target() caip.Chain { return chainOf(q.ChainID) }

// RecipientAccount is the account that gets what is delivered.
func (q *Quote) RecipientAccount() caip.Account {
	if a, err := caip.ParseAccount(q.Recipient); err == nil {
		return a
	}
	return caip.EVMAccount(q.ChainID, q.Owner)
}

// OwnerOn is the account of the quote that holds an asset of a chain, as it is looked up.
func (q *Quote) OwnerOn(c caip.Chain) string {
	if c.IsSolana() {
		return q.SolanaOwner
	}
	return q.Owner.Hex()
}

// Claims are what at most one executing quote may use: the nonces of its operations, the deployments they make and the
// authorizations they carry. Prepared is the context of its prepared operation, the zero Context for a quote without.
func (q *Quote) Claims(prepared Context) []string {
	var claims []string
	add := func(chainID uint64, o api.UserOp, d *api.Delegation) {
		for _, c := range claimsOf(chainID, o, d) {
			if !slices.Contains(claims, c) {
				claims = append(claims, c)
			}
		}
	}
	if q.HasPrepared() {
		add(q.ChainID, prepared.Op, prepared.Delegation)
	}
	for _, l := range q.Legs {
		if l.ChainID != 0 {
			add(l.ChainID, l.Op, l.Delegation)
		}
	}
	return claims
}

func claimsOf(chainID uint64, o api.UserOp, d *api.Delegation) []string {
	at := caip.EVM(chainID).String() + "/" + o.Sender
	claims := []string{at + "/nonce/" + o.Nonce}
	if o.Factory != "" || d != nil {
		claims = append(claims, at+"/deploy")
	}
	return claims
}

// Pledges are the amounts that an executing quote will still take from its account: what each waiting deposit pays, and
// until the target block what the calls need of what is already there.
func (q *Quote) Pledges() []Amount {
	if q.Status != api.StatusPending && q.Status != api.StatusInProgress || q.FailReason != "" {
		return nil
	}
	var out []Amount
	for _, l := range q.Legs {
		if l.State == LegWaiting {
			out = append(out, l.Pays)
		}
	}
	for _, r := range q.Required {
		rest := new(big.Int).Set(r.Value)
		for _, f := range q.Fills {
			if f.Delivers.Asset == r.Asset {
				rest.Sub(rest, f.Delivers.Value)
			}
		}
		if rest.Sign() > 0 {
			out = append(out, Amount{r.Asset, rest})
		}
	}
	return out
}

// Done reports whether nothing is left to do for an accepted quote: it has ended, and no deposit of it lies in escrow.
// A quote is COMPLETED with its delivery, before the deposits that paid for it are released.
func (q *Quote) Done() bool {
	return api.Terminal(q.Status) &&
		!slices.ContainsFunc(q.Legs, Leg.Held)
}
