package op

import (
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op/internal/word"
)

// RoleBasedDomain is the EIP-712 domain of the role-based validator: of the session
// key's Approve and of the admin's messages.
func RoleBasedDomain(chainID uint64, validator common.Address) Domain {
	return Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: chainID, VerifyingContract: validator}
}

// Types of the admin's messages as the validator hashes them.
const (
	announceSpec = "AnnounceExit(address account,uint256 nonce)"
	cancelSpec   = "CancelExit(address account,uint256 nonce)"
	rotateSpec   = "RotateSession(address account,address newSession,uint256 nonce)"
)

// AdminMessage is what the admin of a role-based account signs for the validator
// contract. Action is api.AdminRotateSession, api.AdminAnnounceExit or
// api.AdminCancelExit; NewSession belongs to the first alone and is zero in the others.
// Nonce is the account's admin nonce, 0 … 2^256-1.
type AdminMessage struct {
	Action     string
	Account    common.Address
	NewSession common.Address
	Nonce      *big.Int
}

// adminForm says how the contract names an action: the EIP-712 type and the function
// that takes the message.
type adminForm struct {
	spec, function string
	session        bool
}

func adminForms() map[string]adminForm {
	return map[string]adminForm{
		api.AdminRotateSession: {rotateSpec, "rotateSession(address,address,uint256,bytes)", true},
		api.AdminAnnounceExit:  {announceSpec, "announceExit(address,uint256,bytes)", false},
		api.AdminCancelExit:    {cancelSpec, "cancelExit(address,uint256,bytes)", false},
	}
}

func (m AdminMessage) form() (adminForm, error) {
	f, ok := adminForms()[m.Action]
	switch {
	case !ok:
		return adminForm{}, refuse("T6", "action", "rotate-session, announce-exit or cancel-exit", quote(m.Action))
	case m.Account == (common.Address{}):
		return adminForm{}, refuse("U1", "account", "an account", "the zero address")
	case f.session != (m.NewSession != (common.Address{})):
		return adminForm{}, refuse("T6", "newSession", "an address in rotate-session, none in other messages",
			m.NewSession.Hex())
	case !word.Fits(m.Nonce, 256):
		return adminForm{}, refuse("L3", "nonce", "a number below 2^256", decimal(m.Nonce))
	}
	return f, nil
}

// Digest is the EIP-712 digest that the admin signs, in the validator's domain.
func (m AdminMessage) Digest(d Domain) (common.Hash, error) {
	f, err := m.form()
	if err != nil {
		return common.Hash{}, err
	}
	b := word.Address(crypto.Keccak256([]byte(f.spec)), m.Account)
	if f.session {
		b = word.Address(b, m.NewSession)
	}
	message := crypto.Keccak256(word.Uint(b, m.Nonce))
	separator := d.Separator()
	return crypto.Keccak256Hash([]byte{0x19, 0x01}, separator[:], message), nil
}

// Call is the call to the validator that carries the message with the admin's
// signature. Anyone may make it.
func (m AdminMessage) Call(signature []byte) ([]byte, error) {
	f, err := m.form()
	if err != nil {
		return nil, err
	}
	if len(signature) != SignatureLength {
		return nil, refuse("U15", "signature", "65 bytes", strconv.Itoa(len(signature))+" bytes")
	}
	b := word.Address(word.Selector(f.function), m.Account)
	words := uint64(3)
	if f.session {
		b, words = word.Address(b, m.NewSession), words+1
	}
	b = word.Uint(b, m.Nonce)
	b = word.Uint64(b, words*word.Size)
	return word.Bytes(b, signature), nil
}

// SignersCall is the validator's view signers(account).
func SignersCall(account common.Address) []byte { return viewCall("signers(address)", account) }

// FirstSessionCall is the validator's view firstSession(account): the session key that the account was made with.
func FirstSessionCall(account common.Address) []byte {
	return viewCall("firstSession(address)", account)
}

// AdminNonceCall is the validator's view adminNonce(account).
func AdminNonceCall(account common.Address) []byte { return viewCall("adminNonce(address)", account) }

// ExitAvailableAtCall is the validator's view exitAvailableAt(account).
func ExitAvailableAtCall(account common.Address) []byte {
	return viewCall("exitAvailableAt(address)", account)
}

func viewCall(function string, account common.Address) []byte {
	return word.Address(word.Selector(function), account)
}

// DecodeSigners reads the answer of signers: three words. All three are zero for an
// account that never installed the validator.
func DecodeSigners(answer []byte) (session, admin, coSigner common.Address, err error) {
	r := word.NewReader(answer)
	session, admin, coSigner = r.Address(), r.Address(), r.Address()
	return session, admin, coSigner, answered(r, "signers")
}

// DecodeFirstSession reads the answer of firstSession: one word, zero for an account that never installed the
// validator.
func DecodeFirstSession(answer []byte) (common.Address, error) {
	r := word.NewReader(answer)
	first := r.Address()
	return first, answered(r, "firstSession")
}

// DecodeAdminNonce reads the answer of adminNonce: one word.
func DecodeAdminNonce(answer []byte) (*big.Int, error) {
	r := word.NewReader(answer)
	n := r.Uint()
	return n, answered(r, "adminNonce")
}

// DecodeExitAvailableAt reads the answer of exitAvailableAt: Unix seconds below 2^48, 0
// when no exit was announced.
func DecodeExitAvailableAt(answer []byte) (uint64, error) {
	r := word.NewReader(answer)
	n := r.Uint()
	if err := answered(r, "exitAvailableAt"); err != nil {
		return 0, err
	}
	if !word.Fits(n, 8*uint48Len) {
		return 0, refuse("L3", "exitAvailableAt", "Unix seconds below 2^48", quote(n.String()))
	}
	return n.Uint64(), nil
}

// answered ends the reading of a view's answer: no failure and no byte left over.
func answered(r *word.Reader, view string) error {
	if r.Err() != nil {
		return refuse("U6", view, "the answer of the view", r.Err().Error())
	}
	if r.Len() != 0 {
		return refuse("U6", view, "the answer of the view", "bytes after its end")
	}
	return nil
}
