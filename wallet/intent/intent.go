// Package intent holds what the user asked for: the calls, what they may spend, where and for which account. An Intent is immutable, has
// a hash, and is the only source of expected values when an answer of the service is judged (threats part (a): nothing in a check may come
// from the answer itself).
//
// Promise: Freeze and Parse return an Intent only if its prepare request passes every validation rule of the interface and every address is
// in lower case or carries a correct checksum (TH-L5). The JSON form has a version; unknown members, duplicate names and other versions are
// refused.
//
// Units: amounts are base units and wei in decimal strings, slippage is in basis points, times are Unix seconds in decimal strings. Sources:
// protocol §2, §3.7 and §7, service-spec "Prepare call quote (v3)".
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

// DefaultSlippageBps is used when a draft names no tolerance (protocol §3.7).
const DefaultSlippageBps = 200

// Draft is what a builder fills in and what is written to files. Network is the network id, FundWith an aggregated asset id or a CAIP-19
// asset; empty means the aggregate of the first required token. SlippageBps 0 means the default.
type Draft struct {
	Version        int                        `json:"version"`
	Network        string                     `json:"network"`
	Accounts       []api.Account              `json:"accounts"`
	TargetChain    string                     `json:"targetChain"`
	Calls          []Call                     `json:"calls"`
	TokensRequired []api.TokenRequirement     `json:"tokensRequired,omitempty"`
	Allowances     []api.AllowanceRequirement `json:"allowances,omitempty"`
	FundWith       string                     `json:"fundWith,omitzero"`
	SlippageBps    int                        `json:"slippageBps,omitzero"`
	ValidAfter     string                     `json:"validAfter,omitzero"`
	ValidUntil     string                     `json:"validUntil,omitzero"`
	Overrides      []api.StateOverride        `json:"overrides,omitempty"`
}

// Call is one call of the user. Value is wei in decimal ("" is zero), Data 0x hex ("" is none). Function is a human-readable signature such as
// "transfer(address to, uint256 amount)"; it is only ever used to show the call, never to build it.
type Call struct {
	To       string `json:"to"`
	Value    string `json:"value,omitzero"`
	Data     string `json:"data,omitzero"`
	Function string `json:"function,omitzero"`
}

// Intent is a frozen draft. The zero Intent is empty and is refused everywhere.
type Intent struct {
	draft   Draft
	hash    [32]byte
	funding string
	body    []byte
}

// An Error lists every rule that a draft breaks, with its place in the prepare request.
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

// Freeze checks the draft against the rules and makes it immutable. The error is an *Error with every failure.
func Freeze(d Draft, rules api.Rules) (Intent, error) {
	d = copyDraft(d)
	if d.SlippageBps == 0 {
		d.SlippageBps = DefaultSlippageBps
	}
	failures := checkDraft(d)
	body, err := api.Encode(prepareRequest(d))
	if err != nil {
		return Intent{}, fmt.Errorf("freeze intent: %w", err)
	}
	if failures = append(failures, rules.Prepare(body)...); len(failures) > 0 {
		return Intent{}, &Error{Failures: failures}
	}
	i := Intent{draft: d, body: body.Raw(), funding: fundingAsset(d, rules)}
	if i.hash, err = hashDraft(d); err != nil {
		return Intent{}, err
	}
	return i, nil
}

// Parse reads the JSON form strictly and freezes it.
func Parse(b []byte, rules api.Rules) (Intent, error) {
	if _, err := api.ParseDocument(b, api.DefaultLimits()); err != nil {
		return Intent{}, fmt.Errorf("intent: %w", err)
	}
	var d Draft
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return Intent{}, fmt.Errorf("intent: %w", err)
	}
	return Freeze(d, rules)
}

// Draft returns a deep copy of the content.
func (i Intent) Draft() Draft { return copyDraft(i.draft) }

// Hash is the SHA-256 of a tag and the RFC 8785 form of the content.
func (i Intent) Hash() [32]byte { return i.hash }

// ID is the first 8 bytes of the hash in hex.
func (i Intent) ID() string { return hex.EncodeToString(i.hash[:8]) }

// PrepareBody returns the body of POST /v3/quote/prepare-call-quote.
func (i Intent) PrepareBody() []byte { return bytes.Clone(i.body) }

// Funding is the asset that pays: an aggregated asset id or a CAIP-19 asset, or "" when nothing is required.
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

func prepareRequest(d Draft) api.PrepareRequest {
	r := api.PrepareRequest{
		Accounts: d.Accounts, TargetChain: d.TargetChain, TokensRequired: d.TokensRequired, AllowanceRequirements: d.Allowances,
		Overrides: d.Overrides, ValidAfter: d.ValidAfter, ValidUntil: d.ValidUntil, FromAssetID: d.FundWith, SlippageTolerance: d.SlippageBps,
	}
	for _, c := range d.Calls {
		call := api.Call{To: c.To, Data: c.Data, Value: c.Value}
		if call.Data == "" {
			call.Data = "0x"
		}
		if call.Value == "" {
			call.Value = "0"
		}
		r.Calls = append(r.Calls, call)
	}
	return r
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
	if d.FundWith != "" || len(d.TokensRequired) == 0 {
		return d.FundWith
	}
	asset, err := caip.ParseAsset(d.TokensRequired[0].AssetType)
	if err != nil {
		return ""
	}
	e, ok := rules.Catalog.Entity(asset)
	if !ok {
		return ""
	}
	return e.Aggregate.String()
}

func copyDraft(d Draft) Draft {
	d.Accounts = slices.Clone(d.Accounts)
	d.Calls = slices.Clone(d.Calls)
	d.TokensRequired = slices.Clone(d.TokensRequired)
	d.Allowances = slices.Clone(d.Allowances)
	d.Overrides = slices.Clone(d.Overrides)
	for i := range d.Overrides {
		d.Overrides[i].StateDiff = maps.Clone(d.Overrides[i].StateDiff)
	}
	return d
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

// ChainID is the EVM id of the target chain; 0 for the zero Intent.
func (i Intent) ChainID() uint64 {
	c, err := caip.ParseChain(i.draft.TargetChain)
	if err != nil {
		return 0
	}
	id, _ := c.EVMID()
	return id
}

// Account returns the address of the EVM account; the zero address for the zero Intent.
func (i Intent) Account() common.Address {
	a, _ := i.EVMAccount()
	return common.HexToAddress(a.AccountAddress)
}
