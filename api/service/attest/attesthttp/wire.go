// Package attesthttp is how an attester elsewhere is asked: what goes over the wire, the handler of `coffer attest`,
// and the client of an operator.
//
// Promise: the handler asks its authenticator before it reads a body, reads no more than MaxRequest bytes, works on a
// bounded number of requests at once, each for a bounded time, and keeps nothing. What it signs is what package attest
// found on the chain. The client follows no redirect, reads no more than MaxAnswer bytes, and gives no signature that
// is not the attester's for the claim. No key reaches an error or a log line.
//
// Sources: docs/protocol.md#59-attesters-elsewhere.
package attesthttp

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/escrow"
	"coffer/api/service/attest"
)

// The paths of an attester.
const (
	InfoPath   = "/attester"
	AttestPath = "/attest"
)

// Bounds of what goes over the wire, in bytes. The largest terms take 9 KiB.
const (
	MaxRequest = 16 << 10
	MaxAnswer  = 16 << 10
)

// Names of what an attester refuses, beside those of package api.
const (
	errNotFilled = "NotFilled"
	errNotYet    = "NotYet"
)

// wireVersion is that of requests.
const wireVersion = 1

// Info is what an attester says of itself: whose contracts and chains it reads.
type Info struct {
	Attester common.Address `json:"attester"`
	Network  string         `json:"network"`
	Filler   common.Address `json:"filler"`
	Escrow   common.Address `json:"escrow"`
	Chains   []string       `json:"chains"`
}

// request is a claim in JSON. Terms are in their ABI form.
type request struct {
	Version   int            `json:"version"`
	Network   string         `json:"network"`
	Chain     string         `json:"chain"`
	Escrow    common.Address `json:"escrow"`
	QuoteID   common.Hash    `json:"quoteId"`
	Depositor common.Address `json:"depositor"`
	Terms     hexutil.Bytes  `json:"terms"`
	Fill      common.Hash    `json:"fill"`
}

// answer is a signature.
type answer struct {
	Signature hexutil.Bytes `json:"signature"`
}

// EncodeRequest writes a claim about an EVM chain of a network, whose id is named.
func EncodeRequest(networkID string, c attest.Claim) ([]byte, error) {
	terms := c.Terms.Encode()
	if terms == nil {
		return nil, errors.New("the amounts of the terms do not fit")
	}
	return json.Marshal(request{Version: wireVersion, Network: networkID, Chain: caip.EVM(c.Escrow.ChainID).String(),
		Escrow: c.Escrow.Escrow, QuoteID: c.QuoteID, Depositor: c.Depositor, Terms: terms,
		Fill: common.HexToHash(c.Fill)}, json.Deterministic(true))
}

// ParseRequest reads a claim and the id of the network that it is about. The salt of the escrow is not in it: an
// attester knows that of its network. The error is an *api.Error.
func ParseRequest(raw []byte) (networkID string, c attest.Claim, err error) {
	doc, err := api.ParseDocument(raw, api.Limits{Bytes: MaxRequest, Depth: 2, Elements: 16, Values: 32})
	if err != nil {
		return "", c, api.Invalid("", "a JSON document", err.Error())
	}
	var r request
	if err := json.Unmarshal(doc.Raw(), &r, json.RejectUnknownMembers(true)); err != nil {
		return "", c, api.Invalid("", "a claim", "something else")
	}
	if r.Version != wireVersion {
		return "", c, api.Invalid("version", fmt.Sprint(wireVersion), fmt.Sprint(r.Version))
	}
	at, err := caip.ParseChain(r.Chain)
	id, evm := at.EVMID()
	if err != nil || !evm {
		return "", c, api.Invalid("chain", "an EVM chain such as eip155:10", r.Chain)
	}
	terms, ok := escrow.DecodeTerms(r.Terms)
	if !ok {
		return "", c, api.Invalid("terms", "terms in their one ABI form", "something else")
	}
	return r.Network, attest.Claim{Escrow: escrow.Place{ChainID: id, Escrow: r.Escrow}, QuoteID: r.QuoteID,
		Depositor: r.Depositor, Terms: terms, Fill: r.Fill.Hex()}, nil
}
