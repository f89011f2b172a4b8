package account_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service/quote/account"
)

func pins() network.Pins {
	return network.Pins{
		EntryPoint: common.HexToAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032"), KernelV31: common.HexToAddress("0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D"),
		Factory: common.HexToAddress("0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"), MetaFactory: common.HexToAddress("0xd703aaE79538628d27099B8c4f621bE4CCd142d5"),
		ECDSAValidator: common.HexToAddress("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"),
	}
}

func kernel(signer common.Address) api.Account {
	at := op.PredictAddress(pins().Factory, pins().KernelV31, op.InitDataECDSA(pins().ECDSAValidator, signer), new(big.Int))
	return api.Account{Type: api.AccountKernelV31, SignerAddress: signer.Hex(), AccountAddress: at.Hex()}
}

func TestOnlyServedKindsOpen(t *testing.T) {
	for _, kind := range []string{api.AccountRoleBased, api.AccountKernelV33, api.AccountSolana, "", "kernel-v9"} {
		_, err := account.Open(pins(), api.Account{Type: kind, AccountAddress: "0x" + strings.Repeat("1", 40)})
		var u *account.Unserved
		if !errors.As(err, &u) || u.Path != "type" || !strings.Contains(u.Want, api.AccountKernelV31) {
			t.Errorf("%q: %v", kind, err)
		}
	}
}

func TestAddressOfOtherKeysIsRefused(t *testing.T) {
	w := kernel(common.Address{1})
	w.SignerAddress = common.Address{2}.Hex()
	_, err := account.Open(pins(), w)
	var u *account.Unserved
	if !errors.As(err, &u) || u.Path != "accountAddress" {
		t.Errorf("%v", err)
	}
}

func TestSignedAcceptsTheOwnerOverThisOperationOnly(t *testing.T) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("owner")))
	if err != nil {
		t.Fatal(err)
	}
	a, err := account.Open(pins(), kernel(crypto.PubkeyToAddress(key.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	n := new(big.Int)
	o := op.UserOp{Sender: a.Address, Nonce: n, CallGasLimit: n, VerificationGasLimit: n, PreVerificationGas: n, MaxFeePerGas: n, MaxPriorityFeePerGas: n}
	hash, err := o.Hash(pins().EntryPoint, big.NewInt(10))
	if err != nil {
		t.Fatal(err)
	}
	for _, digest := range []common.Hash{hash, op.EIP191(hash)} {
		if o.Signature, err = op.Sign(digest, key); err != nil {
			t.Fatal(err)
		}
		if !a.Signed(o, 10) {
			t.Error("the owner's signature was refused")
		}
		if a.Signed(o, 8453) {
			t.Error("a signature for another chain was accepted")
		}
		other := o
		other.CallData = []byte{1}
		if a.Signed(other, 10) {
			t.Error("a signature for another operation was accepted")
		}
	}
	o.Signature = account.StubSignature()
	if a.Signed(o, 10) || a.CoSigned() {
		t.Error("a stub passed, or a kernel account is co-signed")
	}
}
