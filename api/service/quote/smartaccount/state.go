package smartaccount

import (
	"errors"
	"fmt"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
)

// State is an account's state on one chain.
type State struct {
	Deployed   bool            // it has its code there
	Deploys    bool            // its first operation carries factory and factoryData
	Delegation *api.Delegation // its first operation needs this authorization of the EOA, unsigned here
}

// State reads the account's state in a view of a chain; read it before overrides of a request change the view.
// The errors: *Unserved for keys that are not the account's there, and for a role-based account whose admin announced
// an exit; *api.Error DELEGATION-001 for an EOA with foreign code; anything else is a fault.
func (a Account) State(st chain.State, chainID uint64) (State, error) {
	s, err := a.kind.state(a, st, chainID)
	if fault := st.Err(); fault != nil {
		return State{}, fmt.Errorf("read %s on %s: %w", a.Address.Hex(), caip.EVM(chainID), fault)
	}
	return s, err
}

// Enter prepares a view for a simulation without a type-4 transaction: it gives the EOA the code and the nonce that its
// authorization will bring. It changes nothing for other accounts.
func (a Account) Enter(st chain.State, s State) {
	if s.Delegation == nil {
		return
	}
	after := s.Delegation.Nonce + 1
	st.Apply(chain.Overlay{a.Address: {Code: designator(a.pins.KernelV33), Nonce: &after}})
}

// Authorized checks that a delegation is signed by the EOA itself, for our delegate, this chain and the nonce that was
// asked for. The error is an
// *api.Error InvalidSignature. Whether the nonce is still the EOA's is for State to say.
func (a Account) Authorized(d *api.Delegation, chainID uint64) (op.SignedAuthorization, error) {
	refuse := func(why string) (op.SignedAuthorization, error) {
		return op.SignedAuthorization{}, api.NewError(api.ErrInvalidSignature,
			"The delegation of %s on %s is not usable: %s", a.Address.Hex(), caip.EVM(chainID), why)
	}
	if a.wire.Type != api.AccountKernelV33 {
		return refuse("accounts of type " + a.wire.Type + " need none")
	}
	if d == nil || d.Signature == nil {
		return refuse("it is not signed")
	}
	s, err := op.AuthorizationFromWire(*d.Signature)
	if err != nil {
		return refuse(err.Error())
	}
	contract, err := caip.ParseAddress(d.ContractAddress)
	switch {
	case err != nil || contract != a.pins.KernelV33 || s.Address != contract:
		return refuse("it must name the contract " + a.pins.KernelV33.Hex())
	case !s.ChainID.IsUint64() || s.ChainID.Uint64() != chainID:
		return refuse("it is for chain " + s.ChainID.String())
	case s.Nonce != d.Nonce:
		return refuse(fmt.Sprintf("it is for nonce %d, asked for was %d", s.Nonce, d.Nonce))
	}
	if by, err := s.Authority(); err != nil || by != a.Address {
		return refuse("another key signed it")
	}
	return s, nil
}

// Solana finds the Solana account of a request; false when there is none. The error is a validation error with paths
// accounts[i].….
func Solana(accounts []api.Account) (solmsg.Key, bool, error) {
	for i, w := range accounts {
		if w.Type != api.AccountSolana {
			continue
		}
		k, err := solmsg.ParseKey(w.AccountAddress)
		if err != nil {
			return solmsg.Key{}, false, api.Invalid(place(i)+".accountAddress", "a base58 Solana address",
				w.AccountAddress)
		}
		return k, true, nil
	}
	return solmsg.Key{}, false, nil
}

// EVM opens the EVM account of a request; false when there is none. The error is a validation error that lists every
// account which this network does not serve, with paths accounts[i].….
func EVM(pins network.Pins, accounts []api.Account) (Account, bool, error) {
	var found Account
	var failures []api.Failure
	seen := false
	for i, w := range accounts {
		if w.Type == api.AccountSolana {
			continue
		}
		if seen {
			failures = append(failures, api.Failure{Path: place(i) + ".type", Expected: "one EVM account at most",
				Got: w.Type})
			continue
		}
		seen = true
		var err error
		var unserved *Unserved
		if found, err = Open(pins, w); errors.As(err, &unserved) {
			failures = append(failures, unserved.Failure(place(i)))
		} else if err != nil {
			return Account{}, false, err
		}
	}
	if err := api.NewValidationError(failures); err != nil {
		return Account{}, false, err
	}
	return found, seen, nil
}

func place(i int) string { return fmt.Sprintf("accounts[%d]", i) }
