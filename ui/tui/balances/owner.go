package balances

import (
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
)

// owner is an account with holdings, or several that the answer does not tell apart.
type owner struct {
	key     string
	address string // in full; "" for several
	words   string
	evm     bool
	told    bool // the answer covers it
}

const togetherKey = "evm accounts"

// ownersOf lists the accounts with different addresses, EVM accounts first where the answer groups several. It fails
// for an answer that names an account not among them: its figures belong to somebody else.
func ownersOf(accounts []api.Account, says *api.BalanceAccounts) ([]owner, error) {
	var out []owner
	at := map[string]int{}
	evm := 0
	for _, a := range accounts {
		key := ownerKey(a.AccountAddress, a.IsEVM())
		if i, ok := at[key]; ok {
			out[i].words += ", " + present.AccountType(a.Type)
			continue
		}
		at[key] = len(out)
		out = append(out, owner{key: key, address: present.Checksummed(a.AccountAddress),
			words: present.AccountType(a.Type), evm: a.IsEVM(), told: true})
		if a.IsEVM() {
			evm++
		}
	}
	named := ""
	if says != nil && len(accounts) > 0 {
		for _, one := range []struct {
			address string
			evm     bool
		}{{says.EVM, true}, {says.Solana, false}} {
			if one.address == "" {
				continue
			}
			if _, ours := at[ownerKey(one.address, one.evm)]; !ours {
				return nil, fmt.Errorf("the answer is about another account, %s, so nothing of it is shown",
					present.Clean(one.address, 80))
			}
			if one.evm {
				named = ownerKey(one.address, true)
			}
		}
	}
	if evm < 2 {
		return out, nil
	}
	for i := range out {
		out[i].told = !out[i].evm || out[i].key == named
	}
	if named == "" {
		out = append([]owner{{key: togetherKey, words: "EVM accounts", evm: true, told: true}}, out...)
	}
	return out, nil
}

func ownerKey(address string, evm bool) string {
	if evm {
		return "eip155:" + strings.ToLower(address)
	}
	return "solana:" + address
}

// ownerOf is the account that holds assets on a chain, "" without one.
func ownerOf(c caip.Chain, owners []owner) string {
	_, evm := c.EVMID()
	for _, o := range owners {
		if o.told && (o.evm && evm || !o.evm && c.IsSolana()) {
			return o.key
		}
	}
	return ""
}
