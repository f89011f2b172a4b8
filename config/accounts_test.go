package config

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
)

// TestAccountsHaveTheAddressThatFollowsFromTheirKeys takes pins, keys and addresses of the role-based account from a
// published example of the interface; an address that the profile names wins.
func TestAccountsHaveTheAddressThatFollowsFromTheirKeys(t *testing.T) {
	pins := network.Pins{
		Factory:            common.HexToAddress("0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"),
		KernelV31:          common.HexToAddress("0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D"),
		ECDSAValidator:     common.HexToAddress("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"),
		RoleBasedValidator: common.HexToAddress("0xA24bD06230f3F54e5bf266AE7A41750eE3b789FA"),
		CoSigner:           common.HexToAddress("0xf6112bd3da673b15926f16537d2b399844a9ed91"),
	}
	const signer, named = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x000000000000000000000000000000000000dEaD"
	roles := Account{
		Type: api.AccountRoleBased, SessionAddress: "0x1cBFbFd62a276BF6D79d504eA4CA75a7baDcf5b1",
		AdminAddress: "0xc162a3cE45ad151eeCd0a5532D6E489D034aB3B8",
	}
	rotated := roles
	rotated.AccountAddress = named
	for _, c := range []struct {
		account Account
		want    string
	}{
		{roles, "0xE20295ec513DEf805D9c3083b0C8EaB64692D764"},
		{rotated, named},
		{Account{Type: api.AccountKernelV31, SignerAddress: signer}, "0xB3729F7e1Ab0B4a50E7De5599Ecc321B8775d30d"},
		{Account{Type: api.AccountKernelV31, SignerAddress: signer, AccountAddress: named}, named},
		{Account{Type: api.AccountKernelV33, SignerAddress: signer}, signer},
		{Account{Type: api.AccountSolana, AccountAddress: "So1"}, "So1"},
	} {
		want := c.account.Wire()
		want.AccountAddress = c.want
		if got := (Profile{Accounts: []Account{c.account}}).WireAccounts(pins); len(got) != 1 || got[0] != want {
			t.Errorf("%+v: got %+v, expected %s", c.account, got, c.want)
		}
	}
}
