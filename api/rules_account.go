package api

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
)

// WantKeyAddress is what is expected of the address of a key that an account has: nobody holds the key of the zero
// address.
const WantKeyAddress = "a 0x address other than the zero address"

func isKeyAddress(s string) bool {
	a, err := caip.ParseAddress(s)
	return err == nil && a != common.Address{}
}

// ownAccounts are the EVM accounts that a body of either version names, as far as they can be read; true for role-based
// ones.
func ownAccounts(body place) map[common.Address]bool {
	own := map[common.Address]bool{}
	add := func(p place) {
		s, _ := p.get("accountAddress").text()
		if a, err := caip.ParseAddress(s); err == nil {
			own[a] = p.get("sessionAddress").present()
		}
	}
	add(body.get("account"))
	if list := body.get("accounts"); list.e != nil {
		for _, e := range list.e.items {
			add(place{list.c, list.path, e})
		}
	}
	return own
}

func differentRoles(p place) {
	session, okS := p.get("sessionAddress").str(WantKeyAddress, isKeyAddress)
	admin, okA := p.get("adminAddress").str(WantKeyAddress, isKeyAddress)
	if okS && okA && strings.EqualFold(session, admin) {
		p.get("adminAddress").fail("an address that differs from sessionAddress")
	}
}

// accounts checks 1 to 10 accounts of different types with one EVM type at most, and returns the types found.
func (r Rules) accounts(p place) map[string]bool {
	types := map[string]bool{}
	evm := 0
	for _, a := range p.list("accounts", 1, 10) {
		kind, ok := r.account(a)
		if !ok {
			continue
		}
		if types[kind] {
			a.get("type").fail("each account type at most once")
		} else if kind != AccountSolana {
			if evm++; evm > 1 {
				a.get("type").fail("one EVM account at most")
			}
		}
		types[kind] = true
	}
	return types
}

// account checks one account object and returns its type.
func (r Rules) account(p place) (string, bool) {
	if !p.object() {
		return "", false
	}
	kind, ok := p.get("type").str("role-based, kernel-v3.1-ecdsa, kernel-v3.3-ecdsa or solana",
		oneOf(AccountRoleBased, AccountKernelV31, AccountKernelV33, AccountSolana))
	if !ok {
		return "", false
	}
	r.members(p, kind)
	return kind, true
}

// solanaNeedsV3 is what is expected where a v1 body holds something of Solana.
const solanaNeedsV3 = "an EVM chain: Solana needs v3"

// accountV1 checks the account of a v1 body, whose type may be absent for a role-based account, and returns its type.
func (r Rules) accountV1(p place) (string, bool) {
	if !p.object() {
		return "", false
	}
	kind := AccountRoleBased
	if t := p.get("type"); t.present() {
		var ok bool
		kind, ok = t.str("role-based or no type, kernel-v3.1-ecdsa or kernel-v3.3-ecdsa",
			oneOf(AccountRoleBased, AccountKernelV31, AccountKernelV33, AccountSolana))
		if !ok {
			return "", false
		}
	}
	if kind == AccountSolana {
		p.get("type").fail("an EVM account: Solana needs v3")
		return "", false
	}
	r.members(p, kind)
	return kind, true
}

// members checks what an account of a type must have.
func (r Rules) members(p place, kind string) {
	deployment, _ := p.get("deploymentType").optional("ERC4337 or EIP7702",
		oneOf(DeploymentERC4337, DeploymentEIP7702))
	if deployment == DeploymentEIP7702 && kind != AccountKernelV33 {
		p.get("deploymentType").fail("EIP7702 only with account type kernel-v3.3-ecdsa")
	}
	for _, name := range foreignMembers(kind) {
		p.get(name).optional("a 0x address", isAddress)
	}
	if kind == AccountSolana {
		p.get("accountAddress").str("a base58 Solana address", isSolanaKey)
		return
	}
	address, okA := p.get("accountAddress").str("a 0x address", isAddress)
	switch kind {
	case AccountRoleBased:
		differentRoles(p)
	case AccountKernelV31:
		p.get("signerAddress").str(WantKeyAddress, isKeyAddress)
	case AccountKernelV33:
		signer, okS := p.get("signerAddress").str(WantKeyAddress, isKeyAddress)
		if deployment != DeploymentEIP7702 {
			p.get("deploymentType").fail("EIP7702 for kernel-v3.3-ecdsa")
		}
		if okA && okS && !strings.EqualFold(signer, address) {
			p.get("signerAddress").fail("the account address itself, as the account is the EOA")
		}
	}
}

// foreignMembers are the addresses of an account object that belong to other types: nobody reads them, but they come
// back in answers.
func foreignMembers(kind string) []string {
	switch kind {
	case AccountRoleBased:
		return []string{"signerAddress"}
	case AccountSolana:
		return []string{"sessionAddress", "adminAddress", "signerAddress"}
	}
	return []string{"sessionAddress", "adminAddress"}
}
