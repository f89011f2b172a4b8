package book

import (
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
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
	Gas         uint64              `json:"gas"`             // estimate of the whole handleOps
	UsedBy      string              `json:"usedBy,omitzero"` // id of the quote that was accepted with it
}

// LegState is how far the money of one funding operation has come.
type LegState string

// A leg goes from waiting to deposited, then to released or refunded.
const (
	LegWaiting   LegState = ""
	LegDeposited LegState = "deposited"
	LegReleased  LegState = "released"
	LegRefunded  LegState = "refunded"
)

// Leg is one funding operation of a quote.
type Leg struct {
	ChainID   uint64      `json:"chainId"`
	Pays      Amount      `json:"pays"`
	Op        api.UserOp  `json:"op"` // without signature
	Signature string      `json:"signature,omitzero"`
	Deploys   bool        `json:"deploys,omitzero"`
	State     LegState    `json:"state,omitzero"`
	Deposit   common.Hash `json:"deposit,omitzero"` // transaction of the deposit
	Settled   common.Hash `json:"settled,omitzero"` // transaction of the release or refund
}

// Fill is what the solver delivers for one requirement, with the prices of the quote (micro-USD per whole unit). Swapped is false when the
// paid asset belongs to the delivered one's aggregate; the price then does not matter.
type Fill struct {
	Delivers Amount   `json:"delivers"`
	Swapped  bool     `json:"swapped,omitzero"`
	PricePay *big.Int `json:"pricePay,omitzero"`
	PriceGet *big.Int `json:"priceGet,omitzero"`
}

// Ref is one transaction of a quote.
type Ref struct {
	ChainID uint64      `json:"chainId"`
	Hash    common.Hash `json:"hash"`
	URL     string      `json:"url,omitzero"` // its page on the service's explorer
}

// Quote is an issued quote and, once accepted, the saga of its settlement. Status is empty while it is only an offer.
type Quote struct {
	ID          string           `json:"id"`
	OpHash      common.Hash      `json:"opHash"`
	ChainID     uint64           `json:"chainId"`
	Accounts    []api.Account    `json:"accounts"`
	Owner       common.Address   `json:"owner"`
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
	Origin      []Ref            `json:"origin,omitempty"`
	Destination []Ref            `json:"destination,omitempty"`
	AcceptedAt  time.Time        `json:"acceptedAt,omitzero"`
	Created     uint64           `json:"created,omitzero"` // stamp
	Updated     uint64           `json:"updated,omitzero"` // stamp
	Type        string           `json:"type"`
}

// Clone returns a deep enough copy: what settlement changes step by step is the copy's own.
func (q *Quote) Clone() *Quote {
	c := *q
	c.Legs = slices.Clone(q.Legs)
	c.Origin = slices.Clone(q.Origin)
	c.Destination = slices.Clone(q.Destination)
	return &c
}

// Whole reports whether the prepared operation is all there is: no funding, no solver.
func (q *Quote) Whole() bool { return len(q.Legs) == 0 }

// Claims are what at most one executing quote may use: the nonces of its operations and the deployments they make.
func (q *Quote) Claims(prepared api.UserOp) []string {
	claims := claimsOf(q.ChainID, prepared)
	for _, l := range q.Legs {
		claims = append(claims, claimsOf(l.ChainID, l.Op)...)
	}
	return claims
}

func claimsOf(chainID uint64, o api.UserOp) []string {
	at := caip.EVM(chainID).String() + "/" + o.Sender
	claims := []string{at + "/nonce/" + o.Nonce}
	if o.Factory != "" {
		claims = append(claims, at+"/deploy")
	}
	return claims
}

// Pledges are the amounts that an executing quote will still take from its account: what each waiting deposit pays, and until the target block
// what the calls need of what is already there.
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
