// Package plan reads and writes plan files: an intent, limits that narrow the policy, a salt and a hash, as one
// reviewable TOML or JSON document that can be kept, compared and applied later.
//
// Promise: reading is strict. An unknown key, a wrong type, a malformed address or amount, a second value for a key, a
// form that an intent does not have, and a hash that is not that of the content are an *Error, with line and column
// where they are known. Encode writes what Parse reads, and both forms of one plan have one hash. The limits only
// narrow: a plan has no gate to open and no address to trust.
//
// The salt distinguishes applications of one plan: a plan that was applied is applied again only with another one.
// Units: those of package intent (base units, wei, basis points) and of the policy file (dollars as text, basis
// points). Sources: docs/policy.md, RFC 8785.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/pattern"
	"coffer/wallet/intent"
)

// Version is the version of plan files that this program reads and writes.
const Version = 1

// Plan is the content of a file. Intent may leave network and accounts out; then those of the profile count.
type Plan struct {
	Salt   string // 16 to 64 hex digits
	Note   string // for the reader
	Limits Limits
	Intent intent.Draft
}

// Limits are the limits of a policy file that a plan may have; the zero value limits nothing.
type Limits struct {
	Chains         []string `json:"chains,omitempty" toml:"chains,omitempty"`
	Recipients     []string `json:"recipients,omitempty" toml:"recipients,omitempty"`
	Contracts      []string `json:"contracts,omitempty" toml:"contracts,omitempty"`
	MaxSpendUSD    string   `json:"max_spend_usd,omitzero" toml:"max_spend_usd,omitempty"`
	MaxCostBps     int64    `json:"max_cost_bps,omitzero" toml:"max_cost_bps,omitempty"`
	MaxSlippageBps int64    `json:"max_slippage_bps,omitzero" toml:"max_slippage_bps,omitempty"`
	NeverDelegate  bool     `json:"never_delegate,omitzero" toml:"never_delegate,omitempty"`
}

// An Error is a fault of a plan file. Line and Column count from 1; 0 means that the place is unknown.
type Error struct {
	Line, Column int
	Key, Problem string
}

// Error returns "line:column: key: problem".
func (e *Error) Error() string {
	s := ""
	if e.Line > 0 {
		s = fmt.Sprintf("%d:%d: ", e.Line, e.Column)
	}
	if e.Key != "" {
		s += e.Key + ": "
	}
	return s + e.Problem
}

// problemHash is the problem of a file whose hash is not that of its content.
const problemHash = "the content does not match its hash: the file was changed since"

// NewSalt makes a salt.
func NewSalt(random io.Reader) (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("salt of a plan: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

var (
	reSalt = pattern.New(`^([0-9a-f]{2}){8,32}$`)
	reHash = pattern.New(`^0x[0-9a-f]{64}$`)
)

// document is a plan as JSON.
type document struct {
	Version int          `json:"version"`
	Salt    string       `json:"salt"`
	Note    string       `json:"note,omitzero"`
	Limits  *Limits      `json:"limits,omitzero"`
	Intent  intent.Draft `json:"intent"`
	Hash    string       `json:"hash,omitzero"`
}

func (p Plan) document() document {
	d := document{Version: Version, Salt: p.Salt, Note: p.Note, Intent: p.Intent}
	if !p.Limits.none() {
		d.Limits = &p.Limits
	}
	return d
}

func (l Limits) none() bool {
	return len(l.Chains)+len(l.Recipients)+len(l.Contracts) == 0 && l.MaxSpendUSD == "" && l.MaxCostBps == 0 &&
		l.MaxSlippageBps == 0 && !l.NeverDelegate
}

// Hash is the SHA-256 of a tag and the RFC 8785 form of the content, as 0x hex; it does not cover the hash that a file
// names.
func (p Plan) Hash() (string, error) {
	b, err := json.Marshal(p.document())
	if err != nil {
		return "", fmt.Errorf("hash of a plan: %w", err)
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return "", fmt.Errorf("hash of a plan: %w", err)
	}
	sum := sha256.Sum256(slices.Concat([]byte("coffer/plan/1\n"), v))
	return "0x" + hex.EncodeToString(sum[:]), nil
}

// EncodeJSON writes the plan with its hash.
func (p Plan) EncodeJSON() ([]byte, error) {
	hash, err := p.Hash()
	if err != nil {
		return nil, err
	}
	d := p.document()
	d.Hash = hash
	b, err := json.Marshal(d, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write a plan: %w", err)
	}
	return append(b, '\n'), nil
}
