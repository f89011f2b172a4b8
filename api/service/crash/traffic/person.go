package traffic

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
)

// Person is somebody with keys and the accounts that follow from them: an EVM account first, and a Solana account when
// the recipe has one.
type Person struct {
	Accounts []api.Account
	Address  common.Address // of the EVM account

	pins   network.Pins
	signer *ecdsa.PrivateKey // of operations: the session key of a role-based account
	solana ed25519.PrivateKey
}

// NewPerson makes the n-th person of a seed with an EVM account of a type, and a Solana account beside it when solana
// is set.
func NewPerson(pins network.Pins, accountType string, solana bool, seed uint64, n int) (*Person, error) {
	p := &Person{pins: pins}
	var err error
	if p.signer, err = crypto.ToECDSA(secretOf(seed, n, "signer")); err != nil {
		return nil, err
	}
	signer := crypto.PubkeyToAddress(p.signer.PublicKey)
	a := api.Account{Type: accountType, SignerAddress: signer.Hex()}
	switch accountType {
	case api.AccountKernelV31:
		p.Address = op.PredictAddress(pins.Factory, pins.KernelV31, op.InitDataECDSA(pins.ECDSAValidator, signer),
			new(big.Int))
	case api.AccountKernelV33:
		p.Address, a.DeploymentType = signer, api.DeploymentEIP7702
	case api.AccountRoleBased:
		admin, err := crypto.ToECDSA(secretOf(seed, n, "admin"))
		if err != nil {
			return nil, err
		}
		at := crypto.PubkeyToAddress(admin.PublicKey)
		init := op.InitDataRoleBased(pins.RoleBasedValidator, signer, at, pins.CoSigner)
		p.Address = op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
		a.SignerAddress, a.SessionAddress, a.AdminAddress = "", signer.Hex(), at.Hex()
	default:
		return nil, fmt.Errorf("nobody here has an account of type %q", accountType)
	}
	a.AccountAddress = p.Address.Hex()
	p.Accounts = []api.Account{a}
	if solana {
		p.solana = ed25519.NewKeyFromSeed(secretOf(seed, n, "solana"))
		p.Accounts = append(p.Accounts, api.Account{Type: api.AccountSolana, AccountAddress: p.solanaAddress()})
	}
	return p, nil
}

// secretOf derives one key of one person; the same seed gives the same crowd.
func secretOf(seed uint64, n int, what string) []byte {
	b := binary.BigEndian.AppendUint64([]byte("coffer traffic "+what), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
	return sum[:]
}

func (p *Person) solanaAddress() string {
	return caip.FormatSolanaKey([32]byte(p.solana.Public().(ed25519.PublicKey)))
}

// Names are the person's accounts as a Move names them.
func (p *Person) Names() []string {
	names := []string{strings.ToLower(p.Address.Hex())}
	if p.solana != nil {
		names = append(names, p.solanaAddress())
	}
	return names
}

// On is the name of the person's account on a chain.
func (p *Person) On(c caip.Chain) string {
	if c.IsSolana() {
		return p.solanaAddress()
	}
	return strings.ToLower(p.Address.Hex())
}

// Account is the person's account on a chain; false when there is none.
func (p *Person) Account(c caip.Chain) (caip.Account, bool) {
	if id, evm := c.EVMID(); evm {
		return caip.EVMAccount(id, p.Address), true
	}
	if p.solana == nil {
		return caip.Account{}, false
	}
	return caip.SolanaAccount([32]byte(p.solana.Public().(ed25519.PublicKey))), true
}

// Validator is the validator that the operations of the person's EVM account name in their nonces.
func (p *Person) Validator() common.Address {
	if p.Accounts[0].Type == api.AccountRoleBased {
		return p.pins.RoleBasedValidator
	}
	return p.pins.ECDSAValidator
}

// sign puts the person's signatures into the operation at a pointer: over the operation, and over the authorization or
// the message that it carries.
func (p *Person) sign(doc *api.Document, pointer string) (*api.Document, error) {
	raw, ok := doc.At(pointer)
	var o api.ChainOperation
	if !ok {
		return nil, fmt.Errorf("no operation at %s", pointer)
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("the operation at %s: %w", pointer, err)
	}
	if o.IsSolana() {
		return p.signMessage(doc, pointer, o)
	}
	if o.UserOp == nil || o.TypedDataToSign == nil {
		return nil, fmt.Errorf("the operation at %s is none of an EVM chain", pointer)
	}
	sig, err := p.signature(o)
	if err != nil {
		return nil, err
	}
	edit, err := api.StringEdit(pointer+"/userOp/signature", "0x"+hex.EncodeToString(sig))
	if err != nil {
		return nil, err
	}
	edits := []api.Edit{edit}
	if o.Delegation != nil {
		signed, err := p.authorize(o)
		if err != nil {
			return nil, err
		}
		edits = append(edits, api.Edit{Pointer: pointer + "/delegation/signature", Value: signed})
	}
	return doc.Splice(edits...)
}

// signature is what an account of the person's type puts under an operation: the session key approves typed data, other
// signers sign the operation's hash.
func (p *Person) signature(o api.ChainOperation) ([]byte, error) {
	u, err := op.FromWire(*o.UserOp)
	if err != nil {
		return nil, err
	}
	if p.Accounts[0].Type == api.AccountRoleBased {
		domain, hash, err := op.CheckTypedData(*o.TypedDataToSign)
		if err != nil {
			return nil, err
		}
		return op.Sign(domain.ApproveDigest(hash), p.signer)
	}
	hash, err := u.Hash(p.pins.EntryPoint, new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID))
	if err != nil {
		return nil, err
	}
	return op.Sign(op.EIP191(hash), p.signer)
}

func (p *Person) authorize(o api.ChainOperation) ([]byte, error) {
	at, err := caip.ParseAddress(o.Delegation.ContractAddress)
	if err != nil {
		return nil, err
	}
	a := op.Authorization{ChainID: new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID), Address: at,
		Nonce: o.Delegation.Nonce}
	signed, err := a.Sign(p.signer)
	if err != nil {
		return nil, err
	}
	return json.Marshal(signed.Wire())
}

func (p *Person) signMessage(doc *api.Document, pointer string, o api.ChainOperation) (*api.Document, error) {
	if p.solana == nil {
		return nil, errors.New("a person without a Solana account is asked to sign a message")
	}
	message, err := base64.StdEncoding.Strict().DecodeString(o.DataToSign)
	if err != nil {
		return nil, fmt.Errorf("dataToSign: %w", err)
	}
	sig := [64]byte(ed25519.Sign(p.solana, message))
	edit, err := api.StringEdit(pointer+"/signature", caip.FormatSolanaSignature(sig))
	if err != nil {
		return nil, err
	}
	return doc.Splice(edit)
}
