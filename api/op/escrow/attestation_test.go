package escrow_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"pgregory.net/rapid"

	"coffer/api/op/escrow"
)

// go-ethereum's EIP-712 is the judge.
func TestAttestationIsTypedData(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := escrow.Place{ChainID: rapid.Uint64().Draw(rt, "chain"), Escrow: drawAddress(rt, "escrow"),
			Salt: drawWord(rt, "salt")}
		quote, who, terms := drawWord(rt, "quote"), drawAddress(rt, "who"), common.Hash(drawWord(rt, "terms"))
		doc := apitypes.TypedData{
			Types: apitypes.Types{
				"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
					{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"},
					{Name: "salt", Type: "bytes32"}},
				"Fill": {{Name: "quoteId", Type: "bytes32"}, {Name: "depositor", Type: "address"},
					{Name: "terms", Type: "bytes32"}},
			},
			PrimaryType: "Fill",
			Domain: apitypes.TypedDataDomain{Name: "Coffer Escrow", Version: "2",
				ChainId:           (*math.HexOrDecimal256)(new(big.Int).SetUint64(p.ChainID)),
				VerifyingContract: p.Escrow.Hex(), Salt: common.Hash(p.Salt).Hex()},
			Message: apitypes.TypedDataMessage{"quoteId": quote[:], "depositor": who.Hex(), "terms": terms[:]},
		}
		want, _, err := apitypes.TypedDataAndHash(doc)
		if got := p.Attestation(quote, who, terms).Digest(); err != nil || !bytes.Equal(got[:], want) {
			rt.Fatalf("%s, want %x, %v", got, want, err)
		}
	})
}
