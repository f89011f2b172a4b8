package service_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/store/storetest"
)

// quoted is call data as a member of a call.
func quoted(data []byte) string { return fmt.Sprintf(`"0x%x"`, data) }

// single is execute of one call, mode 0x00…, which op writes as a batch.
func single(c op.Call) []byte {
	execution := slices.Concat(c.To.Bytes(), make([]byte, 32), c.Data)
	return slices.Concat(
		crypto.Keccak256([]byte("execute(bytes32,bytes)"))[:4], make([]byte, 32), common.LeftPadBytes([]byte{0x40}, 32),
		common.LeftPadBytes([]byte{byte(len(execution))}, 32),
		common.RightPadBytes(execution, (len(execution)+31)/32*32),
	)
}

// The account executes calls of its own, so an approval inside execute would hold after the operation like one of the
// user's.
func TestAnApprovalInsideTheAccountsOwnExecuteIsRefused(t *testing.T) {
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		bothVersions(t, kind, func(t *testing.T, c *client) {
			self := common.HexToAddress(c.user.Account.AccountAddress)
			approve := op.Call{To: common.HexToAddress(baseUSDC), Value: new(big.Int),
				Data: erc20.Approve(common.HexToAddress(recipient), big.NewInt(1e12))}
			batch, err := op.EncodeExecute([]op.Call{approve})
			if err != nil {
				t.Fatal(err)
			}
			twice, err := op.EncodeExecute([]op.Call{{To: self, Value: new(big.Int), Data: batch}})
			if err != nil {
				t.Fatal(err)
			}
			want, at := "allowanceRequirements", "calls[0].data"
			if kind == api.AccountRoleBased { // whose validator approves no call to the account, whatever it carries
				want, at = "another address", "calls[0].to"
			}
			body := c.put(c.transfer(1), "/calls/0/to", fmt.Sprintf("%q", self.Hex()))
			for _, data := range [][]byte{single(approve), batch, twice} {
				c.invalid(c.preparePath(), c.put(body, "/calls/0/data", quoted(data)), want, at)
			}
		})
	}
}

func TestOtherFormsOfApprovalPassedAsACallAreRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		for _, signature := range []string{
			"permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)",
			"permit(address,address,uint256,uint256,bytes)", "increaseApproval(address,uint256)",
			"approve(address,address,uint160,uint48)",
			"permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
			"permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)",
			"approve(address,uint256,uint256)", "setOperator(address,bool)",
		} {
			data := append(crypto.Keccak256([]byte(signature))[:4], make([]byte, 320)...)
			c.invalid(c.preparePath(), c.put(c.transfer(1), "/calls/0/data", quoted(data)), "allowanceRequirements",
				"calls[0].data")
		}
	})
}

// The addresses that predict-address tells are accounts that every other request takes.
func TestNoAddressIsPredictedForKeysThatNoAccountCanHave(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountRoleBased, 21)
	session, admin := c.user.Account.SessionAddress, c.user.Account.AdminAddress
	coSigner, zero := s.Network().Pins.CoSigner.Hex(), common.Address{}.Hex()
	roles := func(session, admin string) string {
		return fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`, session, admin)
	}
	const path = "/account/predict-address"
	c.ask("POST", path, roles(session, admin))
	c.invalid(path, roles(coSigner, admin), "co-signer", "sessionAddress")
	c.invalid(path, roles(session, coSigner), "co-signer", "adminAddress")
	c.invalid(path, roles(zero, admin), "other than the zero address", "sessionAddress")
	c.invalid(path, roles(session, zero), "other than the zero address", "adminAddress")
	c.invalid(path, fmt.Sprintf(`{"type":"kernel-v3.1-ecdsa","signerAddress":%q}`, zero), "other than the zero address",
		"signerAddress")
}
