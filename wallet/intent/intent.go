// Package intent holds what the user asked for: calls, a swap or a transfer, what may be spent, where and for which
// accounts. An Intent is immutable, has a hash, and is the only source of expected values when an answer of the service
// is judged (docs/threats.md: nothing in a check comes from the answer itself).
//
// Promise: Freeze and Parse return an Intent only if its request passes every validation rule of the interface and of
// its kind, and every address is in lower case or carries a correct checksum (TH-L5). All broken rules are listed, each
// with its place. The JSON form has a version and one schema (Schema) for plan, template and verify files; unknown
// members, duplicate names, null and other versions are refused. A template is read with ParseDraft and completed with
// Fill; batches of the Safe Transaction Builder come in with FromSafe and go out with ToSafe.
//
// Units: amounts are base units and wei in decimal strings, slippage is in basis points, times are Unix seconds in
// decimal strings. Sources: protocol §2, §3.7 and §7, docs/interface.md#requests, Safe Transaction Builder file version
// 1.0.
package intent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
)

// Version is the version of the JSON schema.
const Version = 1

// DefaultSlippageBps is the tolerance when none is named, in basis points: on the screens, in lines, in files and in
// commands alike. Every request names its tolerance, so that the service's own default of 200 (protocol §3.7) never
// holds for this wallet.
const DefaultSlippageBps = 50

// MaxNote bounds the note of a call, in characters.
const MaxNote = 120

// Kinds of an intent.
const (
	KindCall     = "call"     // calls on a target chain
	KindSwap     = "swap"     // one asset for another
	KindTransfer = "transfer" // one asset, on the same or another chain, to an account
)

// Interfaces of the service that an intent is for. A v1 intent has exactly one account, an EVM one.
const (
	InterfaceV1 = "v1"
	InterfaceV3 = "v3"
)

// Draft is what a builder fills in and what is written to files. Network is the network id. Kind and Interface are ""
// for a call and for v3.
//
// A call has TargetChain and Calls, and may have everything down to Overrides. FundWith is an aggregated asset id or,
// for v3, a CAIP-19 asset; empty means the aggregate of the first required token. A swap or a transfer has Pay and
// Receive and nothing of a call. SlippageBps 0 means the default. Members that do not matter for the kind are absent,
// so the hash of a call is what it was before there were other kinds.
type Draft struct {
	Version        int                        `json:"version"`
	Kind           string                     `json:"kind,omitzero"`
	Interface      string                     `json:"interface,omitzero"`
	Network        string                     `json:"network,omitzero"`
	Accounts       []api.Account              `json:"accounts,omitempty"`
	TargetChain    string                     `json:"targetChain,omitzero"`
	Calls          []Call                     `json:"calls,omitempty"`
	TokensRequired []api.TokenRequirement     `json:"tokensRequired,omitempty"`
	Allowances     []api.AllowanceRequirement `json:"allowances,omitempty"`
	FundWith       string                     `json:"fundWith,omitzero"`
	SlippageBps    int                        `json:"slippageBps,omitzero"`
	ValidAfter     string                     `json:"validAfter,omitzero"`
	ValidUntil     string                     `json:"validUntil,omitzero"`
	Overrides      []api.StateOverride        `json:"overrides,omitempty"`
	Pay            *Pay                       `json:"pay,omitzero"`
	Receive        *Receive                   `json:"receive,omitzero"`
}

// Pay is the paying side of a swap or a transfer: Asset is an aggregated asset id or a CAIP-19 asset, Amount is in base
// units of that asset, more than 0 and spent in full.
type Pay struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
}

// Receive is the receiving side of a swap or a transfer: Asset as in Pay, Account the CAIP-10 account that gets it (a
// transfer needs one; for a swap "" means the own account), Minimum the smallest amount that the user takes, in base
// units of the delivered asset ("" means what the slippage allows).
type Receive struct {
	Asset   string `json:"asset"`
	Account string `json:"account,omitzero"`
	Minimum string `json:"minimum,omitzero"`
}

// Call is one call of the user. Value is wei in decimal ("" is zero), Data 0x hex ("" is none). Function is a
// human-readable signature such as "transfer(address to, uint256 amount)", and Note what the user wrote beside it, such
// as the number of an invoice; both are only ever used to show the call, never to build it.
type Call struct {
	To       string `json:"to"`
	Value    string `json:"value,omitzero"`
	Data     string `json:"data,omitzero"`
	Function string `json:"function,omitzero"`
	Note     string `json:"note,omitzero"`
}

// Intent is a frozen draft. The zero Intent is empty and is refused everywhere.
type Intent struct {
	draft   Draft
	hash    [32]byte
	funding string
	body    []byte
}

// An Error lists every rule that a draft breaks. Places are those of the file, except that a call's
// allowanceRequirements, fromAssetId and slippageTolerance have the names of the request.
type Error struct{ Failures []api.Failure }

// Error names the first failure and how many there are.
func (e *Error) Error() string {
	if len(e.Failures) == 0 {
		return "the intent is not valid"
	}
	s := e.Failures[0].String()
	if n := len(e.Failures) - 1; n > 0 {
		s = fmt.Sprintf("%s (and %d more)", s, n)
	}
	return s
}

// Freeze checks the draft against the rules and makes it immutable. Defaults become explicit, and the kind "call" and
// the interface "v3" become "", so that one intent has one hash. The error is an *Error with every failure.
func Freeze(d Draft, rules api.Rules) (Intent, error) {
	d = normal(d)
	failures := checkDraft(d)
	body, broken := checkRequest(d, rules)
	if failures = append(failures, broken...); len(failures) > 0 {
		return Intent{}, &Error{Failures: failures}
	}
	hash, err := hashDraft(d)
	if err != nil {
		return Intent{}, err
	}
	return Intent{draft: d, hash: hash, body: body.Raw(), funding: fundingAsset(d, rules)}, nil
}

// normal returns a copy of the draft with one spelling for everything that has several.
func normal(d Draft) Draft {
	d = copyDraft(d)
	if d.SlippageBps == 0 {
		d.SlippageBps = DefaultSlippageBps
	}
	if d.Kind == KindCall {
		d.Kind = ""
	}
	if d.Interface == InterfaceV3 {
		d.Interface = ""
	}
	if d.Interface == InterfaceV1 && len(d.Accounts) == 1 && d.Accounts[0].Type == "" {
		d.Accounts[0].Type = api.AccountRoleBased // what v1 takes an absent type for
	}
	return d
}

// Draft returns a deep copy of the content.
func (i Intent) Draft() Draft { return copyDraft(i.draft) }

// Hash is the SHA-256 of a tag and the RFC 8785 form of the content.
func (i Intent) Hash() [32]byte { return i.hash }

// ID is the first 8 bytes of the hash in hex.
func (i Intent) ID() string { return hex.EncodeToString(i.hash[:8]) }

// ID is the id of the intent that Freeze made d into; "" when d has no encoding. Unlike Freeze it asks no rule, so what
// was frozen once keeps its id, whatever time it is.
func (d Draft) ID() string {
	hash, err := hashDraft(normal(d))
	if err != nil {
		return ""
	}
	return Intent{hash: hash}.ID()
}

// Kind is KindCall, KindSwap or KindTransfer, also for the zero Intent, which is a call of nothing.
func (i Intent) Kind() string {
	if i.draft.Kind == "" {
		return KindCall
	}
	return i.draft.Kind
}

// V1 reports whether the intent is for the v1 interface.
func (i Intent) V1() bool { return i.draft.Interface == InterfaceV1 }

// PrepareBody returns the body of POST /v3/quote/prepare-call-quote, or for v1 of POST /quotes/prepare-call-quote; nil
// for a swap or a transfer.
func (i Intent) PrepareBody() []byte {
	if i.draft.Exchanges() {
		return nil
	}
	return bytes.Clone(i.body)
}

// QuoteBody returns the body of POST /v3/quote, or for v1 of POST /v1/quote; nil for a call.
func (i Intent) QuoteBody() []byte {
	if !i.draft.Exchanges() {
		return nil
	}
	return bytes.Clone(i.body)
}

// Funding is the asset that pays: an aggregated asset id or a CAIP-19 asset, or "" when a call requires nothing.
func (i Intent) Funding() string { return i.funding }

// IsZero reports whether the Intent was never frozen.
func (i Intent) IsZero() bool { return len(i.body) == 0 }

// MarshalJSON writes the form that Parse reads.
func (i Intent) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return nil, errors.New("an empty intent has no JSON form")
	}
	return json.Marshal(i.draft, json.Deterministic(true))
}

func hashDraft(d Draft) ([32]byte, error) {
	b, err := json.Marshal(d)
	if err != nil {
		return [32]byte{}, fmt.Errorf("hash intent: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return [32]byte{}, fmt.Errorf("hash intent: %w", err)
	}
	return sha256.Sum256(append([]byte("coffer/intent/1\n"), v...)), nil
}

// fundingAsset resolves the default of FundWith (protocol §2.9).
func fundingAsset(d Draft, rules api.Rules) string {
	if d.Exchanges() {
		return d.Pay.Asset
	}
	if d.FundWith != "" {
		return d.FundWith
	}
	for _, t := range d.TokensRequired {
		asset, _ := caip.ParseAsset(t.AssetType) // what is none is not listed
		if e, listed := rules.Catalog.Entity(asset); listed {
			return e.Aggregate.String()
		}
	}
	return ""
}

// Exchanges reports a swap or a transfer: its quote is its first review.
func (d Draft) Exchanges() bool { return d.Kind == KindSwap || d.Kind == KindTransfer }

func copyDraft(d Draft) Draft {
	d.Accounts = slices.Clone(d.Accounts)
	d.Calls = slices.Clone(d.Calls)
	d.TokensRequired = slices.Clone(d.TokensRequired)
	d.Allowances = slices.Clone(d.Allowances)
	d.Overrides = slices.Clone(d.Overrides)
	for i := range d.Overrides {
		d.Overrides[i].StateDiff = maps.Clone(d.Overrides[i].StateDiff)
	}
	d.Pay, d.Receive = clone(d.Pay), clone(d.Receive)
	return d
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// EVMAccount returns the one EVM account of the intent, and false when there is none.
func (i Intent) EVMAccount() (api.Account, bool) {
	for _, a := range i.draft.Accounts {
		if a.IsEVM() {
			return a, true
		}
	}
	return api.Account{}, false
}

// SolanaAccount returns the Solana account of the intent, and false when there is none.
func (i Intent) SolanaAccount() (api.Account, bool) {
	for _, a := range i.draft.Accounts {
		if !a.IsEVM() {
			return a, true
		}
	}
	return api.Account{}, false
}

// ChainID is the EVM id of the target chain of a call; 0 for a swap, a transfer and the zero Intent.
func (i Intent) ChainID() uint64 {
	c, err := caip.ParseChain(i.draft.TargetChain)
	if err != nil {
		return 0
	}
	id, _ := c.EVMID()
	return id
}

// Account returns the address of the EVM account; the zero address when there is none.
func (i Intent) Account() common.Address {
	a, _ := i.EVMAccount()
	return common.HexToAddress(a.AccountAddress)
}
