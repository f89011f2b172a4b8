package op

import (
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op/internal/word"
)

// Domain is the EIP-712 domain of an Approve document. All four members are always
// present (TH-T4).
type Domain struct {
	Name              string
	Version           string
	ChainID           uint64
	VerifyingContract common.Address
}

const (
	approveType  = "Approve"
	approveField = "callDataAndNonceHash"
	approveSpec  = "Approve(bytes32 callDataAndNonceHash)"
	domainType   = "EIP712Domain"
	domainSpec   = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
	maxDomain    = 64 // bytes of name and of version
)

// Separator is the EIP-712 domain separator.
func (d Domain) Separator() common.Hash {
	b := crypto.Keccak256([]byte(domainSpec))
	b = append(b, crypto.Keccak256([]byte(d.Name))...)
	b = append(b, crypto.Keccak256([]byte(d.Version))...)
	b = word.Uint64(b, d.ChainID)
	return crypto.Keccak256Hash(word.Address(b, d.VerifyingContract))
}

// ApproveDigest is what a role-based account's session key signs for the given
// callDataAndNonceHash.
func (d Domain) ApproveDigest(hash common.Hash) common.Hash {
	message := crypto.Keccak256(crypto.Keccak256([]byte(approveSpec)), hash[:])
	separator := d.Separator()
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, separator[:], message)
}

// ApproveWire is the document as the service sends it: without an EIP712Domain entry,
// the verifying contract in checksum form.
func (d Domain) ApproveWire(hash common.Hash) api.TypedData {
	return api.TypedData{
		Domain: api.TypedDataDomain{
			Name: d.Name, Version: d.Version, ChainID: d.ChainID, VerifyingContract: d.VerifyingContract.Hex(),
		},
		Types:       map[string][]api.TypedDataField{approveType: {{Name: approveField, Type: "bytes32"}}},
		PrimaryType: approveType,
		Message:     api.TypedDataMessage{CallDataAndNonceHash: hash.Hex()},
	}
}

// ApproveDocument is the document with its EIP712Domain entry, as programs that sign typed data take it.
func (d Domain) ApproveDocument(hash common.Hash) api.TypedData {
	td := d.ApproveWire(hash)
	td.Types[domainType] = domainFields()
	return td
}

func domainFields() []api.TypedDataField {
	return []api.TypedDataField{
		{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
		{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"},
	}
}

// CallDataAndNonceHash is keccak256(abi.encode(sender, callData, nonce)), the formula
// of our role-based validator (protocol §2.11). It needs a nonce of 0 … 2^256-1, which
// FromWire guarantees.
func CallDataAndNonceHash(sender common.Address, callData []byte, nonce *big.Int) common.Hash {
	b := word.Address(nil, sender)
	b = word.Uint64(b, 3*word.Size)
	b = word.Uint(b, nonce)
	return crypto.Keccak256Hash(word.Bytes(b, callData))
}

// CheckTypedData accepts exactly an Approve document (TH-T2, T4, T5, T6): a domain with
// its four members, the type Approve with one bytes32 member and, if present, the
// canonical EIP712Domain entry. It returns the domain and the 32 bytes to approve.
// Whether name, version, chain and contract are the expected ones (T1, T2, T3) and
// whether the hash belongs to the operation (T7) is the caller's check. Unknown JSON
// members were refused before, when api.TypedData was decoded (TH-L4).
func CheckTypedData(td api.TypedData) (Domain, common.Hash, error) {
	const field = "typedDataToSign."
	d := Domain{Name: td.Domain.Name, Version: td.Domain.Version, ChainID: td.Domain.ChainID}
	if !isDomainText(d.Name) || !isDomainText(d.Version) {
		return Domain{}, common.Hash{}, refuse("T4", field+"domain", "a name and a version in printable ASCII",
			quote(d.Name)+" and "+quote(d.Version))
	}
	if d.ChainID == 0 {
		return Domain{}, common.Hash{}, refuse("T2", field+"domain.chainId", "a chain id from 1", "0")
	}
	var err error
	if d.VerifyingContract, err = parseAddress(field+"domain.verifyingContract",
		td.Domain.VerifyingContract); err != nil {
		return Domain{}, common.Hash{}, err
	}
	if err := checkApproveTypes(td.Types); err != nil {
		return Domain{}, common.Hash{}, err
	}
	if td.PrimaryType != approveType {
		return Domain{}, common.Hash{}, refuse("T6", field+"primaryType", approveType, quote(td.PrimaryType))
	}
	hash, err := parseHex32("T6", field+"message."+approveField, td.Message.CallDataAndNonceHash)
	if err != nil {
		return Domain{}, common.Hash{}, err
	}
	return d, hash, nil
}

func checkApproveTypes(types map[string][]api.TypedDataField) error {
	const field = "typedDataToSign.types"
	approve, domain := types[approveType], types[domainType]
	if len(approve) != 1 || approve[0] != (api.TypedDataField{Name: approveField, Type: "bytes32"}) {
		return refuse("T5", field, approveSpec, strconv.Itoa(len(approve))+" other members")
	}
	known := 1
	if _, present := types[domainType]; present {
		known = 2
		want := domainFields()
		if len(domain) != len(want) {
			return refuse("T5", field+"."+domainType, domainSpec, strconv.Itoa(len(domain))+" members")
		}
		for i := range want {
			if domain[i] != want[i] {
				return refuse("T5", field+"."+domainType, domainSpec, quote(domain[i].Type+" "+domain[i].Name))
			}
		}
	}
	if len(types) != known {
		return refuse("T5", field, "no type besides Approve", strconv.Itoa(len(types))+" types")
	}
	return nil
}

func isDomainText(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
