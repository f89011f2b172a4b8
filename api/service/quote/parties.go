package quote

import (
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
)

// What is expected where an account is named that is out of the user's reach.
const (
	wantForeign = "an account that is not the service's own"
	wantOwned   = "an account that somebody has: the lowest addresses are kept for precompiled contracts"
	wantWallet  = "a wallet's account: no key signs for programs, sysvars, mints, token accounts and addresses off " +
		"the curve"
)

// ownAddress reports whether an EVM address is a contract or a key of the service.
func (q *Quoter) ownAddress(a common.Address) bool {
	p := q.Network.Pins
	switch a {
	case p.EntryPoint, p.Paymaster, p.Escrow, p.KernelV31, p.KernelV33, p.Factory, p.MetaFactory, p.ECDSAValidator,
		p.RoleBasedValidator,
		p.Operator, p.Solver, p.CoSigner, p.TamperProof:
		return true
	}
	return q.Network.Accounts[a] != ""
}

// stranded tells why an amount that is sent to an account would be out of everybody's reach, "" when somebody can have
// it.
func (q *Quoter) stranded(a caip.Account) string {
	evm, isEVM := a.EVM()
	key, isSolana := a.SolanaKey()
	switch k := solmsg.Key(key); {
	case isEVM && evm == (common.Address{}), isSolana && k == (solmsg.Key{}):
		return "an account other than the zero address"
	case isEVM && chain.IsReservedAddress(evm):
		return wantOwned
	case isEVM && q.ownAddress(evm), isSolana && q.Network.Keys[k] != "":
		return wantForeign
	case slices.ContainsFunc(q.Network.Catalog.On(a.Chain), func(e catalog.Entity) bool {
		contract, token := e.Asset.Token()
		mint, minted := e.Asset.Mint()
		return token && contract == evm || minted && mint == key
	}):
		return "an account that is not a token itself"
	case isSolana && !isWallet(k):
		return wantWallet
	}
	return ""
}

// checkPayer refuses accounts that could never sign for the user: the service's own, and on Solana what no key signs
// for. With the sponsor as the user a deposit would have one signature, the service's (protocol §3.4).
func (q *Quoter) checkPayer(p payer, f form) error {
	var failures []api.Failure
	for i, a := range p.wire {
		want := ""
		switch {
		case a.Type != api.AccountSolana && chain.IsReservedAddress(p.evm.Address):
			want = wantOwned
		case a.Type != api.AccountSolana && q.ownAddress(p.evm.Address), a.Type == api.AccountSolana &&
			q.Network.Keys[p.solana] != "":
			want = wantForeign
		case a.Type == api.AccountSolana && !isWallet(p.solana):
			want = wantWallet
		default:
			continue
		}
		failures = append(failures, api.Failure{Path: f.rename("accounts[" + strconv.Itoa(i) + "].accountAddress"),
			Expected: want, Got: a.AccountAddress})
	}
	if len(failures) == 0 && p.hasEVM && !q.Network.Limits.Serves(p.evm.Address) {
		return api.NewError(api.ErrNoRoute, "no routes found: the operator of this network does not serve %s",
			p.evm.Address.Hex())
	}
	return api.NewValidationError(failures)
}

// isWallet reports whether a key can sign on Solana.
func isWallet(k solmsg.Key) bool { return k.OnCurve() && !solmsg.IsReservedKey(k) }
