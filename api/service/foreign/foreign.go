// Package foreign is a user of a foreign client, for tests and load: somebody with keys, and the accounts that follow
// from them, who knows the interface and nothing else and signs what the service prepares. Coffer does not link it.
//
// Answers are not verified as a wallet does. Signatures are spliced into the received bytes, so that whatever the
// service signed of them stays as it was. Sources: protocol §1, §2 and §8.
package foreign

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/solmsg"
)

// WithSolana is put behind a kind to have a Solana account beside the EVM one: "role-based" + WithSolana.
const WithSolana = "+" + api.AccountSolana

// Kinds are the kinds of accounts that a user may have.
func Kinds() []string {
	evm := []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased}
	out := append([]string{}, evm...)
	for _, k := range evm {
		out = append(out, k+WithSolana)
	}
	return append(out, api.AccountSolana)
}

// Keys are the keys of a user. Signer signs operations of the EVM account: the session key of a role-based one, the
// EOA's own of kernel-v3.3. New keeps those that the kind of account has.
type Keys struct {
	Signer, Admin *ecdsa.PrivateKey
	Solana        ed25519.PrivateKey
}

// User is somebody with keys. Key signs operations of the EVM account; Admin is set for role-based. Solana is nil
// without a Solana account; Key is nil, Account and Address are zero without an EVM one.
type User struct {
	Key     *ecdsa.PrivateKey
	Admin   *ecdsa.PrivateKey
	Account api.Account
	Address common.Address
	Solana  ed25519.PrivateKey
	Wallet  solmsg.Key
}

// New makes the user of a kind of [Kinds]; it panics for another one.
func New(pins network.Pins, kind string, keys Keys) *User {
	u := &User{}
	evm, solana := strings.CutSuffix(kind, WithSolana)
	if solana || kind == api.AccountSolana {
		u.Solana = keys.Solana
		u.Wallet = solmsg.Key(u.Solana.Public().(ed25519.PublicKey))
	}
	if kind == api.AccountSolana {
		return u
	}
	u.Key = keys.Signer
	signer := crypto.PubkeyToAddress(u.Key.PublicKey)
	u.Account = api.Account{Type: evm, SignerAddress: signer.Hex()}
	switch evm {
	case api.AccountKernelV31:
		u.Address = predicted(pins, op.InitDataECDSA(pins.ECDSAValidator, signer))
	case api.AccountKernelV33:
		u.Address, u.Account.DeploymentType = signer, api.DeploymentEIP7702
	case api.AccountRoleBased:
		u.Admin = keys.Admin
		admin := crypto.PubkeyToAddress(u.Admin.PublicKey)
		u.Address = predicted(pins, op.InitDataRoleBased(pins.RoleBasedValidator, signer, admin, pins.CoSigner))
		u.Account = api.Account{Type: evm, SessionAddress: signer.Hex(), AdminAddress: admin.Hex()}
	default:
		panic("no such kind of account: " + kind)
	}
	u.Account.AccountAddress = u.Address.Hex()
	return u
}

func predicted(pins network.Pins, init []byte) common.Address {
	return op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
}

// HasEVM reports whether the user has an EVM account.
func (u *User) HasEVM() bool { return u.Key != nil }

// HasSolana reports whether the user has a Solana account.
func (u *User) HasSolana() bool { return u.Solana != nil }

// Accounts are the user's accounts as a request names them, the EVM one first.
func (u *User) Accounts() []api.Account {
	var out []api.Account
	if u.HasEVM() {
		out = append(out, u.Account)
	}
	if u.HasSolana() {
		out = append(out, api.Account{Type: api.AccountSolana, AccountAddress: u.Wallet.String()})
	}
	return out
}

// Request asks to prepare calls of the user that need an amount of one asset.
func (u *User) Request(a caip.Asset, needs *big.Int, calls ...api.Call) api.PrepareRequest {
	return api.PrepareRequest{
		Accounts: u.Accounts(), TargetChain: a.Chain.String(), Calls: calls,
		TokensRequired: []api.TokenRequirement{{AssetType: a.Display(), Amount: needs.String()}},
	}
}

// Transfer is a call that moves an amount of a token.
func Transfer(a caip.Asset, to common.Address, v *big.Int) api.Call {
	token, _ := a.Token()
	return api.Call{To: token.Hex(), Data: hexutil.Encode(erc20.Transfer(to, v))}
}

// Names are the addresses of the user's accounts as books list them: of an EVM account in lower case.
func (u *User) Names() []string {
	var out []string
	for _, a := range u.Accounts() {
		name := a.AccountAddress
		if a.IsEVM() {
			name = strings.ToLower(name)
		}
		out = append(out, name)
	}
	return out
}

// Asked are the user's accounts as a question for balances names them.
func (u *User) Asked() []string {
	var out []string
	if u.HasEVM() {
		out = append(out, "eip155:1:"+u.Address.Hex())
	}
	if u.HasSolana() {
		out = append(out, "solana:"+u.Wallet.String())
	}
	return out
}

// On is the user's CAIP-10 account on an EVM chain, or on Solana for 0.
func (u *User) On(chainID uint64) string {
	if chainID == 0 {
		return caip.SolanaAccount(u.Wallet).String()
	}
	return caip.EVMAccount(chainID, u.Address).String()
}

// Validator is the validator that the operations of the user's EVM account name in their nonces.
func (u *User) Validator(pins network.Pins) common.Address {
	if u.Admin != nil {
		return pins.RoleBasedValidator
	}
	return pins.ECDSAValidator
}

// Sign splices the user's signatures into the operation at a pointer: over the message of Solana, over the typed data
// for a role-based account, else EIP-191 over the hash of the operation; and over the authorization, when the operation
// asks for one.
func (u *User) Sign(pins network.Pins, doc *api.Document, pointer string) (*api.Document, error) {
	raw, ok := doc.At(pointer)
	if !ok {
		return nil, fmt.Errorf("no operation at %s", pointer)
	}
	var o api.ChainOperation
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("the operation at %s: %w", pointer, err)
	}
	signed, err := u.signatures(pins, o)
	var edits []api.Edit
	for member, v := range signed {
		value, problem := json.Marshal(v)
		edits, err = append(edits, api.Edit{Pointer: pointer + member, Value: value}), errors.Join(err, problem)
	}
	if err != nil {
		return nil, fmt.Errorf("sign the operation at %s: %w", pointer, err)
	}
	return doc.Splice(edits...)
}

// SignQuote signs every operation of a quote.
func (u *User) SignQuote(pins network.Pins, doc *api.Document) (*api.Document, error) {
	var q api.Quote
	err := doc.Decode(&q)
	for i := 0; i < len(q.OriginChainsOperations) && err == nil; i++ {
		doc, err = u.Sign(pins, doc, fmt.Sprintf("/originChainsOperations/%d", i))
	}
	return doc, err
}

// signatures are those that an operation asks for, by the member of it that they go into.
func (u *User) signatures(pins network.Pins, o api.ChainOperation) (map[string]any, error) {
	if o.IsSolana() {
		m, err := solmsg.ParseBase64(o.DataToSign)
		if err != nil {
			return nil, err
		}
		if !u.HasSolana() {
			return nil, errors.New("there is no key of Solana")
		}
		sig := ed25519.Sign(u.Solana, m.Bytes())
		return map[string]any{"/signature": caip.FormatSolanaSignature([64]byte(sig))}, nil
	}
	sig, err := u.Signature(pins, o)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"/userOp/signature": hexutil.Encode(sig)}
	if o.Delegation == nil {
		return out, nil
	}
	at, err := caip.ParseAddress(o.Delegation.ContractAddress)
	if err != nil {
		return nil, err
	}
	a := op.Authorization{ChainID: chainOf(o), Address: at, Nonce: o.Delegation.Nonce}
	signed, err := a.Sign(u.Key)
	if err != nil {
		return nil, err
	}
	out["/delegation/signature"] = signed.Wire()
	return out, nil
}

// Signature is the user's over one EVM operation: the session key approves typed data, other signers sign the hash of
// the operation.
func (u *User) Signature(pins network.Pins, o api.ChainOperation) ([]byte, error) {
	if o.UserOp == nil || o.TypedDataToSign == nil {
		return nil, errors.New("it is none of an EVM chain")
	}
	if u.Admin != nil {
		domain, approved, err := op.CheckTypedData(*o.TypedDataToSign)
		if err != nil {
			return nil, err
		}
		return op.Sign(domain.ApproveDigest(approved), u.Key)
	}
	wire := *o.UserOp
	wire.Signature = "0x"
	signed, err := op.FromWire(wire)
	if err != nil {
		return nil, err
	}
	hash, err := signed.Hash(pins.EntryPoint, chainOf(o))
	if err != nil {
		return nil, err
	}
	return op.Sign(op.EIP191(hash), u.Key)
}

func chainOf(o api.ChainOperation) *big.Int {
	return new(big.Int).SetUint64(o.TypedDataToSign.Domain.ChainID)
}

// CallQuote is the body of call-quote for a signed answer of prepare-call-quote, in the form of either version; from is
// what pays: "", an aggregate or an asset.
func CallQuote(signed *api.Document, from string) (*api.Document, error) {
	body := map[string]any{}
	for _, name := range []string{"account", "accounts", "chainOperation", "tamperProofSignature"} {
		if raw, ok := signed.At("/" + name); ok {
			body[name] = jsontext.Value(raw)
		}
	}
	if _, err := caip.ParseAsset(from); err == nil {
		body["fromAssetId"] = from
	} else if from != "" {
		body["fromAggregatedAssetId"] = from
	}
	return api.Encode(body)
}
