// Package network says which network a service is: its chains, the addresses that everybody pins, and the id that both
// amount to. The service writes the descriptor to network.json; a profile takes it in process, from that file, or by a
// typed fingerprint, never from an answer (protocol §4.2). A key is tagged with the network id and is refused on any
// other.
package network

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Kind tells play money from real money. The user declares it; a service cannot.
type Kind string

// The kinds of networks. Every `coffer serve` is a lab.
const (
	Embedded Kind = "embedded"
	Lab      Kind = "lab"
	Real     Kind = "real"
)

// Version is the version of the descriptor's schema.
const Version = 1

// Pins are the addresses that a wallet compares answers with. EVM addresses hold on every chain of the network.
type Pins struct {
	EntryPoint         common.Address `json:"entryPoint"`
	Paymaster          common.Address `json:"paymaster"`
	Escrow             common.Address `json:"escrow"`
	KernelV31          common.Address `json:"kernelV31"`
	KernelV33          common.Address `json:"kernelV33"`
	Factory            common.Address `json:"factory"`
	MetaFactory        common.Address `json:"metaFactory"`
	ECDSAValidator     common.Address `json:"ecdsaValidator"`
	RoleBasedValidator common.Address `json:"roleBasedValidator"`
	Operator           common.Address `json:"operator"`
	Solver             common.Address `json:"solver"`
	CoSigner           common.Address `json:"coSigner"`
	TamperProof        common.Address `json:"tamperProof"`
	SolanaSponsor      string         `json:"solanaSponsor"`
	SolanaVault        string         `json:"solanaVault"`
}

// Formula names how an Approve hash is computed for one validator. Name and Version are its EIP-712 domain.
type Formula struct {
	Name              string         `json:"name"`
	Version           string         `json:"version"`
	VerifyingContract common.Address `json:"verifyingContract"`
	Formula           string         `json:"formula"`
}

// FormulaCallDataAndNonce is the only formula known: keccak256(abi.encode(sender, callData, nonce)).
const FormulaCallDataAndNonce = "keccak256(abi.encode(sender,callData,nonce))"

// Descriptor is the content of network.json. Chains are CAIP-2, Genesis maps each to the hash of its first block.
type Descriptor struct {
	Version  int               `json:"version"`
	ID       string            `json:"id"`
	Kind     Kind              `json:"kind"`
	Chains   []string          `json:"chains"`
	Genesis  map[string]string `json:"genesis"`
	Pins     Pins              `json:"pins"`
	Formulas []Formula         `json:"formulas"`
}

// ErrID says that a descriptor's id is not the hash of its content.
var ErrID = errors.New("the network id does not match the network's content")

// ComputeID returns 0x and the SHA-256 of the RFC 8785 form of the descriptor without id and kind, in hex.
func (d Descriptor) ComputeID() (string, error) {
	d.ID, d.Kind = "", ""
	b, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("network descriptor: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("network descriptor: %w", err)
	}
	sum := sha256.Sum256(v)
	return "0x" + hex.EncodeToString(sum[:]), nil
}

// WithID returns the descriptor with its computed id.
func (d Descriptor) WithID() (Descriptor, error) {
	id, err := d.ComputeID()
	d.ID = id
	return d, err
}

// Encode returns the bytes of network.json.
func (d Descriptor) Encode() ([]byte, error) {
	b, err := json.Marshal(d, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("network descriptor: %w", err)
	}
	return append(b, '\n'), nil
}

// Decode reads network.json strictly: unknown members, another version, an unknown kind or an id that is not the hash
// of the content (ErrID) are errors.
func Decode(b []byte) (Descriptor, error) {
	var d Descriptor
	if err := json.UnmarshalRead(bytes.NewReader(b), &d, json.RejectUnknownMembers(true)); err != nil {
		return Descriptor{}, fmt.Errorf("network descriptor: %w", err)
	}
	if d.Version != Version {
		return Descriptor{}, fmt.Errorf("network descriptor: version %d, expected %d", d.Version, Version)
	}
	if d.Kind != Embedded && d.Kind != Lab && d.Kind != Real {
		return Descriptor{}, fmt.Errorf("network descriptor: unknown kind %q", d.Kind)
	}
	id, err := d.ComputeID()
	if err != nil {
		return Descriptor{}, err
	}
	if id != d.ID {
		return Descriptor{}, fmt.Errorf("network descriptor: %w", ErrID)
	}
	return d, nil
}

// Fingerprint is the first 16 bytes of the id in groups of four hex digits: what a person compares and types.
func (d Descriptor) Fingerprint() string {
	s := strings.TrimPrefix(d.ID, "0x")
	if len(s) > 32 {
		s = s[:32]
	}
	var groups []string
	for len(s) > 4 {
		groups, s = append(groups, s[:4]), s[4:]
	}
	return strings.Join(append(groups, s), " ")
}
