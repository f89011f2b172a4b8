package config

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
)

// WireAccounts returns the accounts of the profile as the interface writes them, each with its address: the one the
// profile names, else the one that its keys and the pins of the network determine (protocol §8.4).
func (p Profile) WireAccounts(pins network.Pins) []api.Account {
	out := make([]api.Account, len(p.Accounts))
	for i, a := range p.Accounts {
		out[i] = a.Wire()
		if a.AccountAddress == "" {
			out[i].AccountAddress = a.follows(pins)
		}
	}
	return out
}

// follows is the address that the keys of an account determine; "" for an account without keys.
func (a Account) follows(pins network.Pins) string {
	var init []byte
	switch a.Type {
	case api.AccountKernelV31:
		init = op.InitDataECDSA(pins.ECDSAValidator, common.HexToAddress(a.SignerAddress))
	case api.AccountRoleBased:
		first := a.FirstSessionAddress
		if first == "" {
			first = a.SessionAddress
		}
		init = op.InitDataRoleBased(pins.RoleBasedValidator, common.HexToAddress(first),
			common.HexToAddress(a.AdminAddress), pins.CoSigner)
	case api.AccountKernelV33:
		return common.HexToAddress(a.SignerAddress).Hex() // the account is its signer, delegated
	default:
		return ""
	}
	return op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int)).Hex()
}

// FirstSessions lists the session keys that role-based accounts of the profile were made with, by account, for
// accounts whose session key was replaced since.
func (p Profile) FirstSessions() map[common.Address]common.Address {
	out := map[common.Address]common.Address{}
	for _, a := range p.Accounts {
		if a.Type == api.AccountRoleBased && a.FirstSessionAddress != "" {
			out[common.HexToAddress(a.AccountAddress)] = common.HexToAddress(a.FirstSessionAddress)
		}
	}
	return out
}
