package escrow

import (
	"github.com/ethereum/go-ethereum/common"
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
// Fill(quoteId, depositor, terms) in the escrow's domain. terms is Terms.Hash.
func (p Place) Attestation(quoteID [32]byte, depositor common.Address, terms common.Hash) common.Hash {
	typed := func(of string) []byte { return crypto.Keccak256([]byte(of)) }
	domain := typed("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)")
	domain = append(append(domain, typed("Coffer Escrow")...), typed("2")...)
	domain = append(word.Address(word.Uint64(domain, p.ChainID), p.Escrow), p.Salt[:]...)
	fill := append(typed("Fill(bytes32 quoteId,address depositor,bytes32 terms)"), quoteID[:]...)
	fill = append(word.Address(fill, depositor), terms[:]...)
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, crypto.Keccak256(domain), crypto.Keccak256(fill))
}
