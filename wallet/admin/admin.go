// Package admin builds and signs what the admin key of a role-based account says: rotate the session key, announce or
// cancel an exit, and, after the exit's delay, an operation of the admin alone.
//
// It stands apart from package sign and its four verbs on purpose. Those sign what a service built, so each takes a
// value that package verify made out of foreign bytes. Here nothing is foreign: every byte that gets signed is built in
// this package from what the user himself named (account, chain, new session key, calls) and the pins of his network.
// The one number that a service may tell is the nonce, and a wrong nonce can only make the message worthless: the
// contract takes exactly the next one, and a message for a later one lies dead until that nonce comes, so callers
// refuse nonces that are far ahead (MaxNonce). There is therefore nothing to verify and no review of decoded bytes;
// there is a confirmation of what was typed. No verb here takes a digest, typed data or an operation of somebody else's
// making.
//
// The calls of an operation are the user's too: transfers to an address that he typed, of assets in the catalogue. How
// much there is to transfer may be a service's word; a wrong amount fails or leaves something behind, it can send
// nothing to anybody else. Calls to the account itself, to its validator and to the entry point are refused.
//
// Promise: the signer is recovered from each signature and compared with the admin before it leaves (TH-U15); the key
// is borrowed from a Keys for one call and wiped; no error contains a key or a signature. Nothing here talks to a
// network.
//
// Units: nonces are 0 … 2^256-1, amounts base units, gas in gas units. Sources:
// assets/contracts/RoleBasedECDSAValidator.sol; TH-U2, U14, U15.
package admin

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/secret"
)

// MaxNonce bounds the admin nonce that is signed: a service that names a larger one wants a message that comes alive
// later.
const MaxNonce = 1_000_000

// The errors of this package.
var (
	ErrNonce = errors.New("the nonce is not one that an account can have reached; nothing was signed")
	ErrFault = errors.New("the signature that was made does not belong to the admin key; nothing was signed")
)

// Keys lends the key of an address, as wallet/vault does: Use calls fn with the 32 bytes of the key if the key belongs
// to the network, and wipes them afterwards; fn must not keep them. Address is 0x and 40 lower-case hex digits.
type Keys interface {
	Use(ctx context.Context, networkID, address string, fn func(key secret.Secret) error) error
}

// Account is the role-based account that the messages are about, in the user's own words. Wire carries the keys that
// its address follows from, so that a relay can deploy it; Admin is the address of the admin key.
type Account struct {
	Address common.Address
	Admin   common.Address
	Wire    api.Account
}

// Read reads the account object of the user's configuration. It must be role-based with an address and an admin.
func Read(w api.Account) (Account, error) {
	if w.Type != api.AccountRoleBased && w.Type != "" {
		return Account{}, fmt.Errorf("only role-based accounts have an admin key; this account is %s", w.Type)
	}
	at, err := caip.ParseAddress(w.AccountAddress)
	if err != nil {
		return Account{}, fmt.Errorf("account address: %w", err)
	}
	by, err := caip.ParseAddress(w.AdminAddress)
	if err != nil {
		return Account{}, fmt.Errorf("admin address: %w", err)
	}
	w.Type = api.AccountRoleBased
	return Account{Address: at, Admin: by, Wire: w}, nil
}

// Signed is a signed message: a request for the service to relay, and the same as a call that anyone may send, on
// Chain, to To with Data.
type Signed struct {
	Chain   uint64
	To      common.Address
	Data    []byte
	Request api.RelayRequest
}

// Signer signs for one account on one network. It is safe for concurrent use if its Keys is.
type Signer struct {
	keys    Keys
	network network.Descriptor
	account Account
	sign    func(common.Hash, *ecdsa.PrivateKey) ([]byte, error)
}

// New makes a signer.
func New(keys Keys, n network.Descriptor, a Account) *Signer {
	return &Signer{keys: keys, network: n, account: a, sign: op.Sign}
}

// RotateSession signs that newSession takes the place of the session key on one chain, at once.
func (s *Signer) RotateSession(ctx context.Context, chainID uint64, nonce *big.Int, newSession common.Address) (Signed,
	error) {
	if newSession == s.account.Admin || newSession == s.network.Pins.CoSigner || newSession == (common.Address{}) {
		return Signed{},
			errors.New(
				"the new session key must be neither the admin, nor the service's co-signer, nor the zero address")
	}
	return s.message(ctx, chainID, op.AdminMessage{Action: api.AdminRotateSession, Account: s.account.Address,
		NewSession: newSession, Nonce: nonce})
}

// AnnounceExit signs the announcement of an exit on one chain: after the contract's delay the admin operates alone
// there.
func (s *Signer) AnnounceExit(ctx context.Context, chainID uint64, nonce *big.Int) (Signed, error) {
	return s.message(ctx, chainID, op.AdminMessage{Action: api.AdminAnnounceExit, Account: s.account.Address,
		Nonce: nonce})
}

// CancelExit signs the end of an exit on one chain, whether its delay has passed or not. Without an exit it revokes a
// message that was signed and not used: it uses up the nonce.
func (s *Signer) CancelExit(ctx context.Context, chainID uint64, nonce *big.Int) (Signed, error) {
	return s.message(ctx, chainID, op.AdminMessage{Action: api.AdminCancelExit, Account: s.account.Address,
		Nonce: nonce})
}

func (s *Signer) message(ctx context.Context, chainID uint64, m op.AdminMessage) (Signed, error) {
	if m.Nonce == nil || m.Nonce.Sign() < 0 || !m.Nonce.IsUint64() || m.Nonce.Uint64() > MaxNonce {
		return Signed{}, ErrNonce
	}
	chain, err := s.chain(chainID)
	if err != nil {
		return Signed{}, err
	}
	digest, err := m.Digest(op.RoleBasedDomain(chainID, s.network.Pins.RoleBasedValidator))
	if err != nil {
		return Signed{}, err
	}
	sig, err := s.recoverable(ctx, digest)
	if err != nil {
		return Signed{}, err
	}
	data, err := m.Call(sig)
	if err != nil {
		return Signed{}, err
	}
	r := api.RelayRequest{Account: s.account.Wire, Chain: chain, Action: m.Action, Nonce: m.Nonce.String(),
		Signature: fmt.Sprintf("0x%x", sig)}
	if m.Action == api.AdminRotateSession {
		r.NewSession = m.NewSession.Hex()
	}
	return Signed{Chain: chainID, To: s.network.Pins.RoleBasedValidator, Data: data, Request: r}, nil
}

// chain refuses a chain that the network does not have.
func (s *Signer) chain(id uint64) (string, error) {
	name := caip.EVM(id).String()
	if slices.Contains(s.network.Chains, name) {
		return name, nil
	}
	return "", fmt.Errorf("this network has no chain %s", name)
}

// recoverable signs a digest that this package made, and recovers the signer before the signature is handed out.
func (s *Signer) recoverable(ctx context.Context, digest common.Hash) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	var sig []byte
	err := s.keys.Use(ctx, s.network.ID, strings.ToLower(s.account.Admin.Hex()), func(key secret.Secret) error {
		private, err := crypto.ToECDSA(key.Reveal())
		if err != nil {
			return ErrFault // the cause may describe the key
		}
		//nolint:staticcheck // only wiped, after its last use; the key of this curve has no other form that could be
		defer secret.WipeNumber(private.D)
		sig, err = s.sign(digest, private)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	if who, err := op.Recover(digest, sig); err != nil || who != s.account.Admin {
		return nil, ErrFault
	}
	return sig, nil
}

// Deployment is the call that deploys the account, which anyone may send before a message; false when the account's
// address does not follow from the keys of Wire, as after a rotation that the user already wrote down.
func (a Account) Deployment(p network.Pins) (to common.Address, data []byte, ok bool) {
	init := op.InitDataRoleBased(p.RoleBasedValidator, common.HexToAddress(a.Wire.SessionAddress), a.Admin, p.CoSigner)
	if op.PredictAddress(p.Factory, p.KernelV31, init, new(big.Int)) != a.Address {
		return common.Address{}, nil, false
	}
	return p.MetaFactory, op.FactoryData(p.Factory, init, new(big.Int)), true
}
