// Package network says which network a service is: its chains, the addresses that everybody pins, the contracts that it
// deployed, and its id. The service writes the descriptor to network.json; a profile takes it in process, from that
// file, or by a typed fingerprint, never from an answer (protocol §4.2). A key is tagged with the network id and is
// refused on any other.
//
// The id of version 1 covers everything but the kind. That of version 2 covers what never changes in the life of a
// network: kind, chains, genesis hashes and, of an embedded one, the installation. What an operator may replace (pins,
// formulas, deployments) or add (chains) has a digest of its own, which a person confirms (Digest); the fingerprint
// covers both.
package network

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/pattern"
)

// Kind tells play money from real money. The user declares it; a service cannot.
type Kind string

// The kinds of networks. Every `coffer serve` is a lab. Test is a public one whose coins are worth nothing.
const (
	Embedded Kind = "embedded"
	Lab      Kind = "lab"
	Test     Kind = "test"
	Real     Kind = "real"
)

// Version is the version of the descriptor's schema. Version 1 is read for ever.
const Version = 2

// Window is where the paymaster that belongs to nobody is on every chain: a contract without a constructor's
// arguments, through the deterministic deployer with salt zero.
func Window() common.Address {
	return common.HexToAddress("0xafA8eAbff85d8831F62306Fd5cC16039D759f2d4")
}

// RoleBasedValidator is where the validator of role-based accounts is on networks of own nodes, through the same
// deployer. Other networks have it where the service of others documents it, and no init code leads there.
func RoleBasedValidator() common.Address {
	return common.HexToAddress("0x14725fBA0F374c869d1cd993A37557055560CA3d")
}

// Deployment is one generation of the contracts that payments go through. From (Unix seconds) is when quotes began to
// use them; each lasts until the next begins, and its deposits stay refundable. Filler alone takes deposits out of
// Escrow, after Threshold of the Attesters said that it delivered. Attesters ascend.
type Deployment struct {
	From      int64            `json:"from"`
	Filler    common.Address   `json:"filler"`
	Escrow    common.Address   `json:"escrow"`
	Attesters []common.Address `json:"attesters"`
	Threshold int              `json:"threshold"`
}

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
// Version 2 has Deployments, oldest first, of an embedded network Installation, 0x and 64 hex digits that only this
// installation has, and Added, those of Chains that the operator may add to. A network on own nodes (OnOwnNodes) has no
// deployment.
type Descriptor struct {
	Version  int               `json:"version"`
	ID       string            `json:"id"`
	Kind     Kind              `json:"kind"`
	Chains   []string          `json:"chains"`
	Genesis  map[string]string `json:"genesis"`
	Pins     Pins              `json:"pins"`
	Formulas []Formula         `json:"formulas"`

	Installation string       `json:"installation,omitzero"`
	Deployments  []Deployment `json:"deployments,omitempty"`
	Added        []string     `json:"added,omitempty"`
}

// ErrID says that a descriptor's id is not the hash of its content.
var ErrID = errors.New("the network id does not match the network's content")

// ComputeID returns 0x and the SHA-256, in hex, of the RFC 8785 form of what the id covers: in version 1 the descriptor
// without id and kind, in version 2 version, kind, chains and genesis without what was added, and installation.
func (d Descriptor) ComputeID() (string, error) {
	if d.Version == 1 {
		d.ID, d.Kind = "", ""
		return digest(d)
	}
	chains, genesis := slices.Clone(d.Chains), maps.Clone(d.Genesis)
	for _, c := range d.Added {
		chains = slices.DeleteFunc(chains, func(other string) bool { return other == c })
		delete(genesis, c)
	}
	return digest(struct {
		Version      int               `json:"version"`
		Kind         Kind              `json:"kind"`
		Chains       []string          `json:"chains"`
		Genesis      map[string]string `json:"genesis"`
		Installation string            `json:"installation,omitzero"`
	}{d.Version, d.Kind, chains, genesis, d.Installation})
}

// Digest returns 0x and the SHA-256, in hex, of the RFC 8785 form of what the operator of a network may replace without
// making another network: pins, formulas, deployments and the added chains. It is "" in version 1, whose id covers
// them.
func (d Descriptor) Digest() (string, error) {
	if d.Version == 1 {
		return "", nil
	}
	added := map[string]string{}
	for _, c := range d.Added {
		added[c] = d.Genesis[c]
	}
	return digest(struct {
		Pins        Pins         `json:"pins"`
		Formulas    []Formula    `json:"formulas"`
		Deployments []Deployment `json:"deployments"`

		Added map[string]string `json:"added,omitempty"`
	}{d.Pins, d.Formulas, d.Deployments, added})
}

// digest returns 0x and the SHA-256 of the RFC 8785 form of v in hex.
func digest(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("network descriptor: %w", err)
	}
	canonical := jsontext.Value(b)
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("network descriptor: %w", err)
	}
	sum := sha256.Sum256(canonical)
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

// Decode reads network.json strictly: unknown members, members of another version, an unknown version or kind,
// deployments out of order or without the pinned escrow, or an id that is not the hash of the content (ErrID) are
// errors.
func Decode(b []byte) (Descriptor, error) {
	var d Descriptor
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return Descriptor{}, fmt.Errorf("network descriptor: %w", err)
	}
	if err := d.check(); err != nil {
		return Descriptor{}, fmt.Errorf("network descriptor: %w", err)
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

var reInstallation = pattern.New(`^0x[0-9a-f]{64}$`)

func (d Descriptor) check() error {
	switch {
	case d.Version < 1 || d.Version > Version:
		return fmt.Errorf("version %d, this program reads 1 to %d: it needs a newer program", d.Version, Version)
	case !slices.Contains([]Kind{Embedded, Lab, Test, Real}, d.Kind):
		return fmt.Errorf("unknown kind %q", d.Kind)
	case d.Version == 1 && (d.Installation != "" || d.Deployments != nil || d.Added != nil):
		return errors.New("version 1 has neither an installation nor deployments nor added chains")
	case d.Version == 1:
		return nil
	case d.Kind == Embedded && !reInstallation.MatchString(d.Installation),
		d.Kind != Embedded && d.Installation != "":
		return errors.New("an embedded network has an installation, 0x and 64 hex digits, and no other has one")
	case len(d.Deployments) == 0 && !d.OnOwnNodes():
		return errors.New("it names no deployment")
	case len(d.Deployments) > 0 && d.Pins.Paymaster == Window():
		return errors.New("it names a deployment, and the paymaster of a network without one")
	}
	for _, c := range d.Added {
		if d.Genesis[c] == "" || !slices.Contains(d.Chains, c) {
			return fmt.Errorf("it adds %q, which is none of its chains", c)
		}
	}
	for i, n := range d.Deployments {
		if i > 0 && n.From <= d.Deployments[i-1].From {
			return fmt.Errorf("deployment %d begins no later than the one before", i+1)
		}
		if err := n.check(); err != nil {
			return fmt.Errorf("deployment %d: %w", i+1, err)
		}
	}
	if n := len(d.Deployments); n > 0 && d.Deployments[n-1].Escrow != d.Pins.Escrow {
		return fmt.Errorf("it pins the escrow %s, the latest deployment has %s", d.Pins.Escrow.Hex(),
			d.Deployments[n-1].Escrow.Hex())
	}
	return nil
}

// OnOwnNodes reports whether a person's own nodes are all there is of the network: without a solver and an escrow
// nothing is paid on another chain, and operations carry the paymaster Window.
func (d Descriptor) OnOwnNodes() bool {
	none := common.Address{}
	return d.Version > 1 && d.Kind != Embedded && len(d.Deployments) == 0 && d.Pins.Solver == none &&
		d.Pins.Escrow == none && d.Pins.Paymaster == Window()
}

// PricedByMarket reports whether a service runs real assets, or such as a test network has: what this program was built
// with says nothing about their prices. An unknown kind counts as real. On own nodes the file of the person has none.
func (d Descriptor) PricedByMarket() bool {
	return d.Kind != Embedded && d.Kind != Lab && !d.OnOwnNodes()
}

// HasSolana reports whether a Solana chain is one of the network's.
func (d Descriptor) HasSolana() bool {
	return slices.ContainsFunc(d.Chains, func(c string) bool { return strings.HasPrefix(c, "solana:") })
}

func (n Deployment) check() error {
	for i := 1; i < len(n.Attesters); i++ {
		if bytes.Compare(n.Attesters[i-1][:], n.Attesters[i][:]) >= 0 {
			return errors.New("its attesters do not ascend")
		}
	}
	if n.From < 0 || n.Threshold < 1 || n.Threshold > len(n.Attesters) {
		return fmt.Errorf("%d of %d attesters from second %d", n.Threshold, len(n.Attesters), n.From)
	}
	return nil
}

// Fingerprint is what a person compares and types: 16 bytes in groups of four hex digits, of the id in version 1, in
// version 2 of the SHA-256 of id and digest, so that it also shows replaced contracts.
func (d Descriptor) Fingerprint() string {
	s := strings.TrimPrefix(d.ID, "0x")
	if d.Version > 1 {
		rest, _ := d.Digest() // fails only for a descriptor that cannot be encoded, and Decode returns none
		sum := sha256.Sum256([]byte(d.ID + "\n" + rest))
		s = hex.EncodeToString(sum[:])
	}
	if len(s) > 32 {
		s = s[:32]
	}
	var groups []string
	for len(s) > 4 {
		groups, s = append(groups, s[:4]), s[4:]
	}
	return strings.Join(append(groups, s), " ")
}
