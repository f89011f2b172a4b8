package smartaccount

import (
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/chain"
)

// roleBased is an account of session key, admin key and the service's co-signer
// (assets/contracts/RoleBasedECDSAValidator.sol).
type roleBased struct{}

func (roleBased) keys(a Account) error {
	session, err := address("sessionAddress", a.wire.SessionAddress)
	if err != nil {
		return err
	}
	admin, err := address("adminAddress", a.wire.AdminAddress)
	if err != nil {
		return err
	}
	switch {
	case a.wire.DeploymentType == api.DeploymentEIP7702:
		return &Unserved{"deploymentType", "nothing or ERC4337 for " + api.AccountRoleBased, a.wire.DeploymentType}
	case session == admin:
		return &Unserved{"adminAddress", "an address that differs from sessionAddress", a.wire.AdminAddress}
	case session == a.pins.CoSigner:
		return &Unserved{"sessionAddress", "an address that is not the service's co-signer", a.wire.SessionAddress}
	case admin == a.pins.CoSigner:
		return &Unserved{"adminAddress", "an address that is not the service's co-signer", a.wire.AdminAddress}
	}
	return nil
}

// check leaves the address to state: the session key can have been replaced.
func (roleBased) check(Account) error { return nil }

func (roleBased) validator(p network.Pins) common.Address { return p.RoleBasedValidator }

func (roleBased) initData(p network.Pins, a api.Account) []byte {
	return op.InitDataRoleBased(p.RoleBasedValidator, common.HexToAddress(a.SessionAddress),
		common.HexToAddress(a.AdminAddress), p.CoSigner)
}

func (roleBased) domain() (name, version string) {
	d := op.RoleBasedDomain(0, common.Address{})
	return d.Name, d.Version
}

// signed asks for the session key's signature of the Approve document. That document covers call data and nonce alone,
// so the contract takes operations without fees only.
func (roleBased) signed(a Account, o op.UserOp, _, approve common.Hash) bool {
	by, err := op.Recover(approve, o.Signature)
	return err == nil && by == common.HexToAddress(a.wire.SessionAddress) && o.MaxFeePerGas.Sign() == 0 &&
		o.MaxPriorityFeePerGas.Sign() == 0
}

func (roleBased) coSigned() bool { return true }

func (roleBased) state(a Account, st chain.State, chainID uint64) (State, error) {
	on := caip.EVM(chainID).String()
	if len(st.Code(a.Address)) == 0 {
		if !a.follows() {
			return State{}, &Unserved{"accountAddress", "the account of these keys: on " + on +
				" it is not deployed yet, so there its first session key counts", a.wire.AccountAddress}
		}
		return State{Deploys: true}, nil
	}
	r, err := ReadRoles(st, a.pins, a.Address)
	if err != nil {
		return State{}, err
	}
	switch {
	case !r.Deployed:
		return State{}, &Unserved{"accountAddress", "a role-based account of this network; on " + on +
			" the address belongs to something else", a.wire.AccountAddress}
	case r.Admin != common.HexToAddress(a.wire.AdminAddress):
		return State{}, &Unserved{"adminAddress", "the account's admin key on " + on + ", " + r.Admin.Hex(),
			a.wire.AdminAddress}
	case r.CoSigner != a.pins.CoSigner:
		return State{}, &Unserved{"accountAddress", "an account of this service's co-signer", a.wire.AccountAddress}
	case r.Session != common.HexToAddress(a.wire.SessionAddress):
		return State{}, &Unserved{"sessionAddress", "the account's session key on " + on +
			": it was replaced there by " + r.Session.Hex(), a.wire.SessionAddress}
	case r.ExitAvailableAt != 0:
		return State{}, &Unserved{"accountAddress",
			"an account that is not leaving: its admin announced an exit on " + on + ", open from " +
				time.Unix(int64(r.ExitAvailableAt), 0).UTC().Format(time.RFC3339) +
				", and the co-signer signs nothing for it until the admin cancels it", a.wire.AccountAddress}
	}
	return State{Deployed: true}, nil
}

// Roles are the keys of a role-based account on one chain. Deployed is false, and the rest empty, where the address is
// not a role-based account of this network.
type Roles struct {
	Deployed                 bool
	Session, Admin, CoSigner common.Address
	AdminNonce               *big.Int // what the admin's next message must carry
	ExitAvailableAt          uint64   // Unix seconds, 0 without an announced exit
}

// ReadRoles reads the roles of an address. The validator's word alone is not enough, because any contract can install
// itself there: the address must be the one that the factory gives to the keys that it was made with, so that it was
// made as our accounts are and with no other module, and its root must be the validator, which lets it call no function
// that changes that.
func ReadRoles(st chain.State, pins network.Pins, at common.Address) (Roles, error) {
	if len(st.Code(at)) == 0 {
		return Roles{}, st.Err()
	}
	r := Roles{Deployed: true}
	var first common.Address
	var err error
	ask := func(data []byte, read func([]byte) error) {
		if err != nil {
			return
		}
		res := st.Call(chain.Message{To: pins.RoleBasedValidator, Data: data})
		if err = res.Err; err == nil {
			err = read(res.Return)
		}
	}
	ask(op.SignersCall(at), func(b []byte) (err error) {
		r.Session, r.Admin, r.CoSigner, err =
			op.DecodeSigners(b)
		return err
	})
	ask(op.FirstSessionCall(at), func(b []byte) (err error) { first, err = op.DecodeFirstSession(b); return err })
	ask(op.AdminNonceCall(at), func(b []byte) (err error) { r.AdminNonce, err = op.DecodeAdminNonce(b); return err })
	ask(op.ExitAvailableAtCall(at), func(b []byte) (err error) {
		r.ExitAvailableAt, err =
			op.DecodeExitAvailableAt(b)
		return err
	})
	if err != nil {
		return Roles{}, fmt.Errorf("read the roles of %s: %w", at.Hex(), err)
	}
	made := op.InitDataRoleBased(pins.RoleBasedValidator, first, r.Admin, r.CoSigner)
	if op.PredictAddress(pins.Factory, pins.KernelV31, made, new(big.Int)) != at {
		return Roles{}, nil
	}
	return r, nil
}
