package config

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/pattern"
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

// Default is the index of the EVM account that is used unless another one is chosen; -1 without one.
func (p Profile) Default() int {
	first := -1
	for i, a := range p.Accounts {
		switch {
		case a.Type == api.AccountSolana:
		case p.DefaultAccount != "" && strings.EqualFold(a.Name, p.DefaultAccount):
			return i
		case first < 0:
			first = i
		}
	}
	return first
}

// checkAccounts says what is wrong with the accounts of a profile.
func (p Profile) checkAccounts(say func(key, problem string)) {
	solana := 0
	for i, a := range p.Accounts {
		k := fmt.Sprintf("accounts[%d]", i)
		if problem := a.check(); problem != "" {
			say(k, problem)
		}
		if a.Type == api.AccountSolana {
			solana++
		}
		if a.Name != "" {
			if problem := nameProblem(a.Name); problem != "" {
				say(k, "name: "+problem)
			}
		}
		for _, b := range p.Accounts[:i] {
			switch {
			case a.same(b):
				say(k, "this account is there already")
			case a.Name != "" && strings.EqualFold(a.Name, b.Name):
				say(k, fmt.Sprintf("name: %q is the name of another account", b.Name))
			}
		}
	}
	if solana > 1 {
		say("accounts", "a profile has one Solana account at most, and any number of EVM accounts")
	}
	if d := p.DefaultAccount; d != "" && !slices.ContainsFunc(p.Accounts, func(a Account) bool {
		return a.Type != api.AccountSolana && strings.EqualFold(a.Name, d)
	}) {
		say("default_account", fmt.Sprintf("no EVM account of this profile has the name %q", d))
	}
}

// same reports whether two entries are one account. Of one with an address and one without that is not known here.
func (a Account) same(b Account) bool {
	switch {
	case a.Type != b.Type || (a.AccountAddress == "") != (b.AccountAddress == ""):
		return false
	case a.Type == api.AccountSolana:
		return a.AccountAddress == b.AccountAddress
	case a.AccountAddress != "":
		return strings.EqualFold(a.AccountAddress, b.AccountAddress)
	}
	return strings.EqualFold(a.SignerAddress, b.SignerAddress) &&
		strings.EqualFold(a.SessionAddress, b.SessionAddress) && strings.EqualFold(a.AdminAddress, b.AdminAddress)
}

// MaxAccountName is the length of the name of an account in characters.
const MaxAccountName = 24

var (
	reAccountName = pattern.New(`^[\pL\pN]+([ ._-][\pL\pN]+)*$`)
	reNumbered    = pattern.New(`(?i)^account \d+$`)
)

// CheckAccountName says what is wrong with the name of an account.
func CheckAccountName(name string) error {
	if problem := nameProblem(name); problem != "" {
		return errors.New(problem)
	}
	return nil
}

func nameProblem(name string) string {
	_, notSolana := caip.ParseSolanaKey(name)
	types := []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33, api.AccountSolana}
	switch {
	case utf8.RuneCountInString(name) > MaxAccountName || !reAccountName.MatchString(name):
		return fmt.Sprintf("a name has 1 to %d letters and digits, with a blank, -, _ or . between them",
			MaxAccountName)
	case strings.HasPrefix(strings.ToLower(name), "0x") || notSolana == nil:
		return "a name must not look like an address"
	case reNumbered.MatchString(name) || slices.Contains(types, strings.ToLower(name)):
		return "this name means something else: choose another one"
	}
	return ""
}
