package op

import (
	"crypto/ecdsa"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"coffer/api"
	"coffer/api/op/internal/word"
)

// Authorization is an EIP-7702 authorization: the signing EOA runs the code at Address
// on the chain, if its account nonce is Nonce. Chain id 0 would be valid on every chain
// (TH-D3).
type Authorization struct {
	ChainID *big.Int
	Address common.Address
	Nonce   uint64
}

// field is where an authorization stands in an operation.
const field = "delegation."

// maxSafeInteger is 2^53-1, the largest nonce that survives a JSON number (TH-D4).
const maxSafeInteger = 1<<53 - 1

// Check refuses what must never be signed: no chain id, chain id 0, the zero address
// as delegate, a nonce above 2^53-1.
func (a Authorization) Check() error {
	if a.Address == (common.Address{}) {
		return refuse("D2", field+"contractAddress", "a contract", "the zero address")
	}
	return a.check()
}

// CheckEnd refuses what is no end of a delegation on one chain: any address but zero, and what Check refuses besides.
func (a Authorization) CheckEnd() error {
	if a.Address != (common.Address{}) {
		return refuse("D7", field+"contractAddress", "the zero address", a.Address.Hex())
	}
	return a.check()
}

func (a Authorization) check() error {
	if !word.Fits(a.ChainID, 256) || a.ChainID.Sign() == 0 {
		return refuse("D3", field+"chainId", "a chain id from 1", decimal(a.ChainID))
	}
	if a.Nonce > maxSafeInteger {
		return refuse("D4", field+"nonce", "a nonce below 2^53", strconv.FormatUint(a.Nonce, 10))
	}
	return nil
}

// Hash is what gets signed: keccak256(0x05 ‖ rlp([chainId, address, nonce])). An
// authorization without a chain id of 0 … 2^256-1 has no hash and gives the zero hash;
// Check, Sign and Authority refuse it.
func (a Authorization) Hash() common.Hash {
	if !word.Fits(a.ChainID, 256) {
		return common.Hash{}
	}
	b, err := rlp.EncodeToBytes([]any{a.ChainID, a.Address, a.Nonce})
	if err != nil {
		return common.Hash{}
	}
	return crypto.Keccak256Hash([]byte{0x05}, b)
}

// Sign checks the authorization and signs it with the EOA's key.
func (a Authorization) Sign(key *ecdsa.PrivateKey) (SignedAuthorization, error) {
	if err := a.Check(); err != nil {
		return SignedAuthorization{}, err
	}
	sig, err := Sign(a.Hash(), key)
	if err != nil {
		return SignedAuthorization{}, err
	}
	return a.With(sig), nil
}

// With joins the authorization and its signature: 65 bytes r‖s‖v with v 27 or 28.
func (a Authorization) With(sig []byte) SignedAuthorization {
	return SignedAuthorization{Authorization: a, R: [32]byte(sig[:32]), S: [32]byte(sig[32:64]), YParity: sig[64] - 27}
}

// SignedAuthorization is an authorization with its signature; YParity is 0 or 1.
type SignedAuthorization struct {
	Authorization
	R, S    [32]byte
	YParity uint8
}

// Authority is the EOA that signed. It refuses high s and impossible values.
func (s SignedAuthorization) Authority() (common.Address, error) {
	if !word.Fits(s.ChainID, 256) {
		return common.Address{}, refuse("D3", "delegation.chainId", "a number below 2^256", "")
	}
	return recoverParts(s.Hash(), s.R, s.S, s.YParity)
}

// Wire is the object that goes into operation.delegation.signature
// (protocol §8.3). It needs a chain id below 2^53; Check and the product's
// chains guarantee it.
func (s SignedAuthorization) Wire() api.DelegationSignature {
	return api.DelegationSignature{
		ChainID: s.ChainID.Uint64(), ContractAddress: s.Address.Hex(), Nonce: s.Nonce,
		R: hex0x(s.R[:]), S: hex0x(s.S[:]), V: hex0x([]byte{27 + s.YParity}), YParity: s.YParity, Type: "Signed",
	}
}

// AuthorizationFromWire reads operation.delegation.signature: type "Signed", r and s of
// 32 bytes, v "0x1b" or "0x1c" in agreement with yParity, an address after TH-L5. It
// checks the form; compare the content with what was asked for.
func AuthorizationFromWire(w api.DelegationSignature) (SignedAuthorization, error) {
	s, err := fromWire(w)
	if err != nil {
		return SignedAuthorization{}, err
	}
	return s, s.Check()
}

// EndFromWire is AuthorizationFromWire of an authorization that ends a delegation.
func EndFromWire(w api.DelegationSignature) (SignedAuthorization, error) {
	s, err := fromWire(w)
	if err != nil {
		return SignedAuthorization{}, err
	}
	return s, s.CheckEnd()
}

func fromWire(w api.DelegationSignature) (SignedAuthorization, error) {
	const field = "delegation.signature."
	s := SignedAuthorization{Authorization: Authorization{ChainID: new(big.Int).SetUint64(w.ChainID), Nonce: w.Nonce},
		YParity: w.YParity}
	var err error
	if s.Address, err = parseAddress(field+"contractAddress", w.ContractAddress); err != nil {
		return SignedAuthorization{}, err
	}
	if s.R, err = parseHex32("D5", field+"r", w.R); err != nil {
		return SignedAuthorization{}, err
	}
	if s.S, err = parseHex32("D5", field+"s", w.S); err != nil {
		return SignedAuthorization{}, err
	}
	if w.Type != "Signed" {
		return SignedAuthorization{}, refuse("D5", field+"type", "Signed", quote(w.Type))
	}
	if w.YParity > 1 || w.V != hex0x([]byte{27 + w.YParity}) {
		return SignedAuthorization{}, refuse("D5", field+"v", "0x1b with yParity 0 or 0x1c with yParity 1",
			quote(w.V)+" with "+strconv.Itoa(int(w.YParity)))
	}
	return s, nil
}
