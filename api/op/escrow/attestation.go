package escrow

import (
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// Place is one escrow of one network. Salt is the network's, so that what is attested on
// a laboratory's copy of a chain is worth nothing on the chain.
type Place struct {
	ChainID uint64
	Escrow  common.Address
	Salt    [32]byte
}

// Attestation is what an attester signs when the fill of a deposit is final: EIP-712
// Fill(quoteId, depositor, terms) in the escrow's domain. Terms is Terms.Hash.
type Attestation struct {
	Place
	QuoteID   [32]byte
	Depositor common.Address
	Terms     common.Hash
}

// Attestation is that for a deposit in this escrow.
func (p Place) Attestation(quoteID [32]byte, depositor common.Address, terms common.Hash) Attestation {
	return Attestation{p, quoteID, depositor, terms}
}

// The domain's name and version, and the types that are signed.
const (
	domainName    = "Coffer Escrow"
	domainVersion = "2"
	domainType    = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
	fillType      = "Fill(bytes32 quoteId,address depositor,bytes32 terms)"
)

// Preimage is what Digest hashes: 66 bytes of EIP-712.
func (a Attestation) Preimage() []byte {
	typed := func(of string) []byte { return crypto.Keccak256([]byte(of)) }
	domain := append(append(typed(domainType), typed(domainName)...), typed(domainVersion)...)
	domain = append(word.Address(word.Uint64(domain, a.ChainID), a.Escrow), a.Salt[:]...)
	fill := append(typed(fillType), a.QuoteID[:]...)
	fill = append(word.Address(fill, a.Depositor), a.Terms[:]...)
	out := append([]byte{0x19, 0x01}, crypto.Keccak256(domain)...)
	return append(out, crypto.Keccak256(fill)...)
}

// Digest is what the attester's key signs.
func (a Attestation) Digest() common.Hash { return crypto.Keccak256Hash(a.Preimage()) }

// TypedData is the document in the form that eth_signTypedData_v4 takes.
func (a Attestation) TypedData() map[string]any {
	member := func(name, kind string) map[string]string { return map[string]string{"name": name, "type": kind} }
	return map[string]any{
		"types": map[string]any{
			"EIP712Domain": []any{member("name", "string"), member("version", "string"), member("chainId", "uint256"),
				member("verifyingContract", "address"), member("salt", "bytes32")},
			"Fill": []any{member("quoteId", "bytes32"), member("depositor", "address"), member("terms", "bytes32")},
		},
		"primaryType": "Fill",
		"domain": map[string]any{"name": domainName, "version": domainVersion,
			"chainId": strconv.FormatUint(a.ChainID, 10), "verifyingContract": a.Escrow.Hex(),
			"salt": hexutil.Encode(a.Salt[:])},
		"message": map[string]any{"quoteId": hexutil.Encode(a.QuoteID[:]), "depositor": a.Depositor.Hex(),
			"terms": a.Terms.Hex()},
	}
}
