package verify

import (
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
)

// ErrNotDelegated says that there is no delegation to end, as the service says.
var ErrNotDelegated = errors.New("the account is not delegated")

// The reasons for which an end of a delegation is not signed.
var (
	errNoEOA       = errors.New("only an EOA (" + api.AccountKernelV33 + ") is delegated; this account is not one")
	errOtherCode   = errors.New("the service's answer about the account is not about it, or makes no sense")
	errFarNonce    = errors.New("the service names a nonce that an account cannot have reached; nothing was signed")
	errForeignPins = errors.New("the network's fixed addresses are not those of this program or of your policy")
)

// Undelegation makes the authorization with which an EOA ends its delegation on one chain (TH-D7). Every value of it is
// made here: the account and the chain are the user's, the address is zero. Only the nonce is the service's word, as is
// which contract the account is delegated to: with a nonce that is not the account's next one the authorization does
// nothing until that comes, and then nothing but this. is is the service's answer about the account.
//
// Errors: ErrNotDelegated, and others for which nothing is signed.
func Undelegation(p Policy, account api.Account, chain caip.Chain, is api.AccountCode) (VerifiedDelegation,
	DelegationView, error) {
	none := func(err error) (VerifiedDelegation, DelegationView, error) {
		return VerifiedDelegation{}, DelegationView{}, err
	}
	at, err := caip.ParseAddress(account.AccountAddress)
	if err != nil || account.Type != api.AccountKernelV33 || !common.IsHexAddress(account.SignerAddress) ||
		common.HexToAddress(account.SignerAddress) != at {
		return none(errNoEOA)
	}
	if comparePins(p.shipped, p.Network.Pins, p.Limits) != nil {
		return none(errForeignPins)
	}
	id, evm := chain.EVMID()
	if !evm || !slices.Contains(p.Network.Chains, chain.String()) {
		return none(errors.New("this network has no chain " + chain.String()))
	}
	if is.Account != caip.EVMAccount(id, at).String() {
		return none(errOtherCode)
	}
	switch is.Code {
	case api.CodeNone:
		return none(ErrNotDelegated)
	case api.CodeDelegated:
	default:
		return none(errOtherCode)
	}
	to, err := caip.ParseAddress(is.Delegate)
	if err != nil {
		return none(errOtherCode)
	}
	nonce, err := strconv.ParseUint(is.Nonce, 10, 64)
	if err != nil || nonce >= maxAuthorizationNonce {
		return none(errFarNonce)
	}
	v := VerifiedDelegation{verified: verified{network: p.Network.ID, kind: account.Type, signer: at}, ends: true,
		authorization: op.Authorization{ChainID: new(big.Int).SetUint64(id), Nonce: nonce}}
	view := DelegationView{Chain: p.chainLabel(id), Authority: at.Hex(), Contract: to.Hex(), Nonce: nonce,
		ContractName: p.delegateName(to)}
	return v, view, v.Check()
}
