package smartaccount_test

import (
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/quote/smartaccount"
)

func TestOnlyServedKindsOpen(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []string{api.AccountSolana, "", "kernel-v9"} {
		_, err := smartaccount.Open(w.in.Pins, api.Account{Type: kind, AccountAddress: common.Address{1}.Hex()})
		for _, served := range smartaccount.Served() {
			unserved(t, err, "type", served)
		}
	}
}

func TestAccountObjectsThatNoKeysCanHaveAreRefused(t *testing.T) {
	w := newWorld(t)
	pins := w.in.Pins
	v31, v33, roles := w.kernelV31().Wire(), w.kernelV33().Wire(), w.roleBased().Wire()
	coSigner := w.in.CoSigner.Address().Hex()
	other := common.Address{2}.Hex()
	change := func(a api.Account, f func(*api.Account)) api.Account { f(&a); return a }
	for name, c := range map[string]struct {
		w          api.Account
		path, want string
	}{
		"another owner": {change(v31, func(a *api.Account) { a.SignerAddress = other }), "accountAddress",
			"the account of these keys, 0x"},
		"no owner": {change(v31, func(a *api.Account) { a.SignerAddress = "" }), "signerAddress",
			"0x address"},
		"no address": {change(v31, func(a *api.Account) { a.AccountAddress = "0x1" }), "accountAddress",
			"0x address"},
		"v3.1 delegated": {change(v31, func(a *api.Account) { a.DeploymentType = api.DeploymentEIP7702 }),
			"deploymentType", "ERC4337"},
		"v3.3 of another key": {change(v33, func(a *api.Account) { a.SignerAddress = other }), "signerAddress",
			"the account address itself"},
		"v3.3 not delegated": {change(v33, func(a *api.Account) { a.DeploymentType = "" }), "deploymentType",
			"EIP7702"},
		"v3.3 by a factory": {change(v33, func(a *api.Account) { a.DeploymentType = api.DeploymentERC4337 }),
			"deploymentType", "EIP7702"},
		"session is the admin": {change(roles, func(a *api.Account) { a.AdminAddress = a.SessionAddress }),
			"adminAddress", "differs"},
		"session is the co-signer": {change(roles, func(a *api.Account) { a.SessionAddress = coSigner }),
			"sessionAddress", "co-signer"},
		"admin is the co-signer": {change(roles, func(a *api.Account) { a.AdminAddress = coSigner }), "adminAddress",
			"co-signer"},
		"no session": {change(roles, func(a *api.Account) { a.SessionAddress = "" }), "sessionAddress",
			"0x address"},
		"zero admin": {change(roles, func(a *api.Account) { a.AdminAddress = common.Address{}.Hex() }),
			"adminAddress", "0x address"},
		"role-based and delegated": {change(roles, func(a *api.Account) { a.DeploymentType = api.DeploymentEIP7702 }),
			"deploymentType", "role-based"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := smartaccount.Open(pins, c.w)
			unserved(t, err, c.path, c.want)
		})
	}
	for name, a := range map[string]api.Account{
		"v3.1": v31, "v3.1 by a factory": change(v31,
			func(a *api.Account) { a.DeploymentType = api.DeploymentERC4337 }), "v3.3": v33, "role-based": roles,
	} {
		if _, err := smartaccount.Open(pins, a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAccountWithoutTypeIsRoleBasedWhenItNamesRoles(t *testing.T) {
	w := newWorld(t)
	wire := w.roleBased().Wire()
	wire.Type = ""
	a, err := smartaccount.Open(w.in.Pins, wire)
	if err != nil || a.Wire().Type != api.AccountRoleBased || !a.IsRoleBased() || !a.CoSigned() {
		t.Errorf("%+v, %v", a.Wire(), err)
	}
}

func TestAccountsOfARequestAreFoundWithTheirPlaces(t *testing.T) {
	w := newWorld(t)
	pins := w.in.Pins
	sol := api.Account{Type: api.AccountSolana, AccountAddress: caip.FormatSolanaKey([32]byte{7})}
	v31 := w.kernelV31()
	a, found, err := smartaccount.EVM(pins, []api.Account{sol, v31.Wire()})
	if err != nil || !found || a.Address != v31.Address {
		t.Errorf("%v, %t, %v", a.Address, found, err)
	}
	if _, found, err := smartaccount.EVM(pins, []api.Account{sol}); found || err != nil {
		t.Errorf("%t, %v", found, err)
	}
	k, found, err := smartaccount.Solana([]api.Account{v31.Wire(), sol})
	if err != nil || !found || k != [32]byte{7} {
		t.Errorf("%v, %t, %v", k, found, err)
	}
	if _, found, err := smartaccount.Solana([]api.Account{v31.Wire()}); found || err != nil {
		t.Errorf("%t, %v", found, err)
	}
	bad := v31.Wire()
	bad.SignerAddress = common.Address{9}.Hex()
	failsAt := func(err error, paths ...string) {
		t.Helper()
		var e *api.Error
		if !errors.As(err, &e) || e.Name != api.ErrValidation || len(e.Details) != len(paths) {
			t.Fatalf("%v", err)
		}
		for i, p := range paths {
			if e.Details[i].Path != p {
				t.Errorf("%s, want %s", e.Details[i].Path, p)
			}
		}
	}
	_, _, err = smartaccount.EVM(pins, []api.Account{sol, bad, w.kernelV33().Wire()})
	failsAt(err, "accounts[1].accountAddress", "accounts[2].type")
	sol.AccountAddress = "0OIl"
	_, _, err = smartaccount.Solana([]api.Account{v31.Wire(), sol})
	failsAt(err, "accounts[1].accountAddress")
}

func TestTypedDataDomainIsTheKindsOwn(t *testing.T) {
	w := newWorld(t)
	pins := w.in.Pins
	for _, c := range []struct {
		u             user
		name, version string
		verifying     common.Address
	}{
		{w.roleBased(), "RoleBasedECDSAValidator", "1.4.3", pins.RoleBasedValidator},
		{w.kernelV31(), "ECDSAValidator", "0.3.1", pins.ECDSAValidator},
		{w.kernelV33(), "ECDSAValidator", "0.3.3", pins.ECDSAValidator},
	} {
		d := c.u.TypedData(w.operation(c.u, base, 0), base).Domain
		if d.Name != c.name || d.Version != c.version || d.ChainID != base || d.VerifyingContract != c.verifying.Hex() {
			t.Errorf("%+v", d)
		}
	}
}

// Whatever an account object says, it opens as the account of its own address or is refused at one of its members, and
// so is what it signs.
func FuzzAccountObjects(f *testing.F) {
	w := newWorld(f)
	pins := w.in.Pins
	for _, a := range []api.Account{w.roleBased().Wire(), w.kernelV31().Wire(), w.kernelV33().Wire(), {}} {
		f.Add(a.Type, a.SessionAddress, a.AdminAddress, a.SignerAddress, a.AccountAddress, a.DeploymentType, "0x01",
			uint64(base), uint64(1))
	}
	f.Fuzz(func(t *testing.T, kind, session, admin, signer, at, deployment, hex string, chainID, nonce uint64) {
		wire := api.Account{Type: kind, SessionAddress: session, AdminAddress: admin, SignerAddress: signer,
			AccountAddress: at, DeploymentType: deployment}
		_, _, _ = smartaccount.Solana([]api.Account{wire})
		a, err := smartaccount.Open(pins, wire)
		if err != nil {
			var u *smartaccount.Unserved
			if !errors.As(err, &u) || u.Path == "" || u.Want == "" {
				t.Errorf("%v", err)
			}
			return
		}
		if a.Address != common.HexToAddress(at) || len(a.StubSignature()) == 0 {
			t.Errorf("%s opened as %s", at, a.Address)
		}
		d := api.Delegation{ContractAddress: pins.KernelV33.Hex(), Nonce: nonce, Signature: &api.DelegationSignature{
			ChainID: chainID, ContractAddress: pins.KernelV33.Hex(), Nonce: nonce, R: hex, S: hex, V: "0x1b",
			Type: "Signed",
		}}
		if s, err := a.Authorized(&d, chainID); err == nil {
			if by, err := s.Authority(); err != nil || by != a.Address {
				t.Errorf("authorized by %s", by)
			}
		}
	})
}
