package verify

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
)

// account is the EVM account of an intent with everything that follows from its keys and the pins.
type account struct {
	kind          string
	address       common.Address
	signer        common.Address // whose key signs: the owner, or the session key
	validator     common.Address // inside the nonce and the typed data
	name, version string         // of the EIP-712 domain
	initData      []byte         // what the factory deploys; nil for an EOA, which is delegated instead
	replaced      bool           // the session key is not the one that initData installs
}

// evmAccount takes the EVM account from the intent and checks that it is the one its keys and the pins lead to (TH-U1).
func (j *judge) evmAccount() (account, bool) {
	a, _ := j.in.EVMAccount() // without one no type fits
	return j.accountOf(a)
}

func (j *judge) accountOf(a api.Account) (account, bool) {
	pins := j.Network.Pins
	acc := account{kind: a.Type, address: common.HexToAddress(a.AccountAddress),
		signer: common.HexToAddress(a.SignerAddress), validator: pins.ECDSAValidator}
	switch a.Type {
	case api.AccountKernelV31:
		acc.name, acc.version = "ECDSAValidator", "0.3.1"
		acc.initData = op.InitDataECDSA(pins.ECDSAValidator, acc.signer)
	case api.AccountRoleBased:
		return j.roleBased(a, acc)
	default:
		acc.name, acc.version = "ECDSAValidator", "0.3.3"
		ok := a.Type == api.AccountKernelV33 && a.DeploymentType == api.DeploymentEIP7702 && acc.address == acc.signer
		return acc, j.must(ok, "U1", "the account is of a known type, or the EOA of your key", "/accounts",
			"an EVM account", a.Type+" "+acc.address.Hex())
	}
	return acc, j.follows(pins, acc, "the account's address follows from your key")
}

// roleBased checks an account of session, admin and the pinned co-signer. After the session key was replaced the
// address still follows from the first one.
func (j *judge) roleBased(a api.Account, acc account) (account, bool) {
	pins := j.Network.Pins
	session, admin := common.HexToAddress(a.SessionAddress), common.HexToAddress(a.AdminAddress)
	d := op.RoleBasedDomain(0, pins.RoleBasedValidator)
	acc.signer, acc.validator, acc.name, acc.version = session, pins.RoleBasedValidator, d.Name, d.Version
	apart := session != admin && session != pins.CoSigner && admin != pins.CoSigner &&
		pins.CoSigner != (common.Address{})
	if !j.must(apart, "U1", "session key, admin key and the pinned co-signer are three different keys", "/accounts",
		"three addresses", "the same address twice, or none") {
		return acc, false
	}
	first := session
	if s, known := j.FirstSession[acc.address]; known && s != session {
		first, acc.replaced = s, true
	}
	acc.initData = op.InitDataRoleBased(pins.RoleBasedValidator, first, admin, pins.CoSigner)
	return acc, j.follows(pins, acc, "the account's address follows from your keys and the pinned co-signer")
}

func (j *judge) follows(pins network.Pins, acc account, title string) bool {
	predicted := op.PredictAddress(pins.Factory, pins.KernelV31, acc.initData, new(big.Int))
	return same(j, predicted, acc.address, "U1", title, "/accounts")
}

// accounts compares the accounts of an answer with those that were sent, as sets (TH-P1, Q2).
func (j *judge) accounts(code string, got []api.Account) {
	want := j.in.Draft().Accounts
	title := "the answer is for your accounts and no others"
	if !j.must(len(want) == len(got), code, title, "/accounts", plural(len(want), "account"),
		plural(len(got), "account")) {
		return
	}
	for i, g := range got {
		path := "/accounts/" + strconv.Itoa(i)
		if j.in.V1() {
			path = "/account"
		}
		for _, s := range []string{g.AccountAddress, g.SignerAddress, g.SessionAddress, g.AdminAddress} {
			if g.IsEVM() && s != "" && caip.CheckEIP55(s) != nil {
				j.add(Refuse, "L5", "An address is malformed or has a wrong checksum.", path,
					"lower case or a correct checksum", s)
				return
			}
		}
		n := slices.IndexFunc(want, func(w api.Account) bool { return sameAccount(w, g) })
		if !j.must(n >= 0, code, title, path, "one of yours", g.Type+" "+g.AccountAddress) {
			return
		}
		want = slices.Delete(slices.Clone(want), n, n+1)
	}
}

func sameAccount(w, g api.Account) bool {
	if w.Type != g.Type {
		return false
	}
	if w.Type == api.AccountSolana {
		return w == g
	}
	implied := w.Type == api.AccountKernelV31 || w.Type == api.AccountRoleBased // of these ERC4337 may be left out
	deployment := g.DeploymentType == w.DeploymentType ||
		(implied && (g.DeploymentType == "" || g.DeploymentType == api.DeploymentERC4337) &&
			(w.DeploymentType == "" || w.DeploymentType == api.DeploymentERC4337))
	same := func(a, b string) bool {
		return (a == "") == (b == "") && common.HexToAddress(a) == common.HexToAddress(b)
	}
	return deployment && same(w.AccountAddress, g.AccountAddress) && same(w.SignerAddress, g.SignerAddress) &&
		same(w.SessionAddress, g.SessionAddress) && same(w.AdminAddress, g.AdminAddress)
}
