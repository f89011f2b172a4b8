// Package caip reads and writes the names both sides use for chains, assets and
// accounts: CAIP-2 ("eip155:8453"), CAIP-19 ("eip155:8453/erc20:0x…"), CAIP-10
// ("eip155:8453:0x…") and the service's aggregated asset ids ("ob:usdc").
//
// Promise: a value that a parser here returned is in one canonical form, so Go's ==
// compares meaning and String followed by the parser gives the same value back.
// EVM addresses are therefore kept in lower case and compared without case; use
// Display where a person reads them and CheckEIP55 where a checksum must hold.
//
// Parsers are strict about every byte and return *Error. On the two ecosystems the
// product knows, only asset kinds that mean something are accepted: erc20 and the
// native slip44:60 on eip155; slip44:501 and token:<mint> on solana. Other
// namespaces only have to match the CAIP patterns.
//
// Sources: CAIP-2, CAIP-10, CAIP-19; docs/interface.md; TH-L5.
package caip

import (
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

const (
	nsEVM      = "eip155"
	nsSolana   = "solana"
	refMainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
	slip44     = "slip44"
	slipETH    = "60"
	slipSOL    = "501"
	kindERC20  = "erc20"
	kindSPL    = "token"
	maxShown   = 96 // bytes of a refused input that an error message repeats
)

// Error says that Input is not what the parser wanted. Want is a noun phrase such
// as "a CAIP-2 chain id". Input is the text as it came and may be hostile: print the
// error, which quotes and shortens it, rather than the field.
type Error struct {
	Input string
	Want  string
}

// Error returns one line of plain words, safe for a terminal.
func (e *Error) Error() string {
	in := e.Input
	if len(in) > maxShown {
		in = in[:maxShown] + "…"
	}
	return strconv.QuoteToASCII(in) + " is not " + e.Want
}

func refuse(in, want string) error { return &Error{Input: in, Want: want} }

// Chain is a CAIP-2 chain id. It is comparable; the zero value means no chain.
type Chain struct {
	Namespace string
	Reference string
}

const wantChain = "a CAIP-2 chain id such as eip155:8453"

// ParseChain reads a CAIP-2 id. An eip155 reference is a decimal chain id from 1 to
// 2^64-1 without leading zeros; a solana reference is 32 base58 characters.
func ParseChain(s string) (Chain, error) {
	ns, ref, ok := strings.Cut(s, ":")
	if !ok || !isNamespace(ns) || !within(ref, 1, 32, isReference) {
		return Chain{}, refuse(s, wantChain)
	}
	switch ns {
	case nsEVM:
		id, err := strconv.ParseUint(ref, 10, 64)
		if err != nil || id == 0 || strconv.FormatUint(id, 10) != ref {
			return Chain{}, refuse(s, "an eip155 chain id: a decimal number from 1, no leading zeros")
		}
	case nsSolana:
		if !within(ref, 32, 32, isBase58) {
			return Chain{}, refuse(s, "a solana chain id: 32 base58 characters of the genesis hash")
		}
	}
	return Chain{Namespace: ns, Reference: ref}, nil
}

// EVM is the chain eip155:id.
func EVM(id uint64) Chain {
	return Chain{Namespace: nsEVM, Reference: strconv.FormatUint(id, 10)}
}

// SolanaMainnet is the chain id of Solana's main network.
func SolanaMainnet() Chain { return Chain{Namespace: nsSolana, Reference: refMainnet} }

// String is the CAIP-2 form, or "" for the zero value.
func (c Chain) String() string {
	if c == (Chain{}) {
		return ""
	}
	return c.Namespace + ":" + c.Reference
}

// EVMID is the numeric chain id of an eip155 chain.
func (c Chain) EVMID() (uint64, bool) {
	if c.Namespace != nsEVM {
		return 0, false
	}
	id, err := strconv.ParseUint(c.Reference, 10, 64)
	return id, err == nil
}

// IsSolana reports whether the chain belongs to the solana namespace.
func (c Chain) IsSolana() bool { return c.Namespace == nsSolana }

// AggregateID names an asset across chains, for example "ob:usdc" or "ob:eth+".
type AggregateID string

// Single is what a quote reports as aggregate when one exact CAIP-19 asset was asked
// for (protocol §3.5).
const Single AggregateID = "ob:single"

const maxAggregate = 64

// ParseAggregate reads an aggregated asset id: "ob:", one lower-case letter or digit,
// then lower-case letters, digits and . + _ -, at most 64 bytes in all.
func ParseAggregate(s string) (AggregateID, error) {
	rest, ok := strings.CutPrefix(s, "ob:")
	if !ok || len(s) > maxAggregate || rest == "" || !isLowerAlnum(rest[0]) ||
		!within(rest, 1, maxAggregate, isAggregate) {
		return "", refuse(s, "an aggregated asset id such as ob:usdc")
	}
	return AggregateID(strings.Clone(s)), nil
}

// String is the id itself.
func (a AggregateID) String() string { return string(a) }

// ParseAddress reads 0x followed by 40 hexadecimal digits in any letter case.
func ParseAddress(s string) (common.Address, error) {
	if len(s) != 42 || s[0] != '0' || s[1] != 'x' || !within(s[2:], 40, 40, isHex) {
		return common.Address{}, refuse(s, "an EVM address: 0x and 40 hexadecimal digits")
	}
	return common.HexToAddress(s), nil
}

// CheckEIP55 accepts an EVM address that is written all in lower case or with the
// correct EIP-55 mixed case. All upper case counts as a wrong checksum: it is not a
// form that any of our counterparts produces (TH-L5).
func CheckEIP55(s string) error {
	a, err := ParseAddress(s)
	if err != nil {
		return err
	}
	if s == strings.ToLower(s) || s == a.Hex() {
		return nil
	}
	return refuse(s, "an address with a correct EIP-55 checksum; a letter may have changed")
}

func within(s string, minLen, maxLen int, ok func(byte) bool) bool {
	if len(s) < minLen || len(s) > maxLen {
		return false
	}
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

func isNamespace(s string) bool {
	return within(s, 3, 8, func(b byte) bool { return isLowerAlnum(b) || b == '-' })
}

func isDigit(b byte) bool      { return '0' <= b && b <= '9' }
func isLowerAlnum(b byte) bool { return isDigit(b) || 'a' <= b && b <= 'z' }
func isAlnum(b byte) bool      { return isLowerAlnum(b) || 'A' <= b && b <= 'Z' }
func isReference(b byte) bool  { return isAlnum(b) || b == '-' || b == '_' }
func isFree(b byte) bool       { return isAlnum(b) || b == '-' || b == '.' || b == '%' }
func isHex(b byte) bool {
	return isDigit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}
func isAggregate(b byte) bool {
	return isLowerAlnum(b) || b == '.' || b == '+' || b == '_' || b == '-'
}
