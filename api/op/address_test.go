package op_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/assets"
)

func TestCreate2EqualsTheVectors(t *testing.T) {
	var f struct {
		Cases []struct {
			Deployer, Address  common.Address
			Salt, InitCodeHash common.Hash
			InitCode           string
		}
	}
	load(t, "create2.json", &f)
	count(t, len(f.Cases), 2)
	for _, c := range f.Cases {
		code := unhex(t, c.InitCode)
		if crypto.Keccak256Hash(code) != c.InitCodeHash ||
			crypto.CreateAddress2(c.Deployer, c.Salt, c.InitCodeHash[:]) != c.Address {
			t.Errorf("%s differs", c.Address)
		}
	}
}

func TestKernelAddressesEqualTheVectors(t *testing.T) {
	var f struct {
		Cases []struct {
			KernelVersion, Index                               string
			Owner, Factory, Implementation, Validator, Address common.Address
			InitCodeHash                                       common.Hash
		}
		Documented struct {
			Session, Admin, Cosigner, Validator, Factory, Address common.Address
			InitCodeHash                                          common.Hash
		}
	}
	load(t, "kernel-address.json", &f)
	count(t, len(f.Cases), 12)
	var v31 common.Address
	for _, c := range f.Cases {
		if crypto.Keccak256Hash(op.ProxyInitCode(c.Implementation)) != c.InitCodeHash {
			t.Errorf("%s: the proxy's creation code differs", c.KernelVersion)
		}
		if got := op.PredictAddress(c.Factory, c.Implementation, op.InitDataECDSA(c.Validator, c.Owner),
			dec(t, c.Index)); got != c.Address {
			t.Errorf("%s index %s: %s, want %s", c.KernelVersion, c.Index, got, c.Address)
		}
		if c.KernelVersion == "0.3.1" {
			v31 = c.Implementation
		}
	}
	d := f.Documented
	if got := op.PredictAddress(d.Factory, v31, op.InitDataRoleBased(d.Validator, d.Session, d.Admin, d.Cosigner),
		new(big.Int)); got != d.Address {
		t.Errorf("documented role-based account: %s, want %s", got, d.Address)
	}
}

func TestPublishedRoleBasedPairsFollowFromTheirCoSigner(t *testing.T) {
	var f struct {
		RoleBased []struct {
			Env, Matches                                             string
			Cosigner, SessionAddress, AdminAddress, PredictedAddress common.Address
		}
		KernelV31ECDSA []struct{ SignerAddress, PredictedAddress common.Address }
	}
	load(t, "predict-address.vectors.json", &f)
	count(t, len(f.RoleBased), 4)
	pins := pinned(t)
	oldValidator := common.HexToAddress("0xd3BF1de562ABD2F696f7FA7c2C4fe83ed130276E")
	for _, c := range f.RoleBased {
		validator := common.HexToAddress(pins.RoleBasedValidator)
		if c.Env != "production" && c.Env != "dev" {
			validator = oldValidator
		}
		init := op.InitDataRoleBased(validator, c.SessionAddress, c.AdminAddress, c.Cosigner)
		if got := predict(pins, init); got != c.PredictedAddress {
			t.Errorf("%s (%s): %s, want %s", c.Env, c.Matches, got, c.PredictedAddress)
		}
	}
	count(t, len(f.KernelV31ECDSA), 1)
	for _, c := range f.KernelV31ECDSA {
		if got := predict(pins, op.InitDataECDSA(common.HexToAddress(pins.ECDSAValidator), c.SignerAddress)); got !=
			c.PredictedAddress {
			t.Errorf("kernel account of %s: %s, want %s", c.SignerAddress, got, c.PredictedAddress)
		}
	}
}

func TestProxyInitCodeHashIsThePinnedOne(t *testing.T) {
	pins := pinned(t)
	code := op.ProxyInitCode(common.HexToAddress(pins.KernelV31Implementation))
	if len(code) != 95 || crypto.Keccak256Hash(code).Hex() != pins.AccountInitCodeHash {
		t.Errorf("%d bytes with hash %s", len(code), crypto.Keccak256Hash(code))
	}
}

func TestRecordedRoleBasedOperationIsRebuiltFromTwoAddresses(t *testing.T) {
	var f struct {
		Account struct {
			SessionAddress, AdminAddress, Cosigner common.Address
		}
		UserOp          api.UserOp
		TypedDataToSign api.TypedData
	}
	load(t, "role-based-operation.json", &f)
	var s struct {
		PrivateKey string
		RoleBased  struct {
			TypedDataToSign api.TypedData
			Digest          common.Hash
			Signature       string
		}
		Kernel struct {
			ChainID                  int64
			EntryPoint               common.Address
			UserOp                   api.UserOp
			UserOpHash, EIP191Digest common.Hash
			Signature                string
		}
		KernelWithFactory struct {
			ChainID                  int64
			UserOpHash, EIP191Digest common.Hash
			Signature                string
		}
		EIP7702 struct {
			ChainID           int64
			AuthorizationHash common.Hash
			Signed            api.DelegationSignature
		}
	}
	load(t, "signing.vectors.json", &s)
	pins, k := pinned(t), key(t, s.PrivateKey)

	u, err := op.FromWire(f.UserOp)
	if err != nil {
		t.Fatal(err)
	}
	init := op.InitDataRoleBased(common.HexToAddress(pins.RoleBasedValidator), f.Account.SessionAddress,
		f.Account.AdminAddress, f.Account.Cosigner)
	if got := predict(pins, init); got != u.Sender {
		t.Errorf("sender %s, want %s", got, u.Sender)
	}
	if want := op.FactoryData(common.HexToAddress(pins.Factory), init, new(big.Int)); !bytes.Equal(want,
		u.FactoryData) {
		t.Error("factoryData differs")
	}
	if n, err := op.ParseNonce(u.Nonce); err != nil || n.Validator.Hex() != pins.RoleBasedValidator || n.Mode != 0 ||
		n.Sequence != 0 {
		t.Errorf("nonce %+v, %v", n, err)
	}
	if calls, err := op.DecodeExecute(u.CallData); err != nil || len(calls) != 2 {
		t.Errorf("%d calls, %v", len(calls), err)
	}
	if u.Wire() != f.UserOp {
		t.Errorf("wire form changed: %+v", u.Wire())
	}
	d, hash, err := op.CheckTypedData(f.TypedDataToSign)
	if err != nil || d.ApproveDigest(hash) != s.RoleBased.Digest {
		t.Errorf("digest of %+v, %v", d, err)
	}
	wantSignature(t, "role-based", s.RoleBased.Digest, k, s.RoleBased.Signature)

	entryPoint := common.HexToAddress(pins.EntryPoint)
	h, err := u.Hash(entryPoint, big.NewInt(s.KernelWithFactory.ChainID))
	if err != nil || h != s.KernelWithFactory.UserOpHash || op.EIP191(h) != s.KernelWithFactory.EIP191Digest {
		t.Errorf("hash with factory %s, %v", h, err)
	}
	wantSignature(t, "with factory", op.EIP191(h), k, s.KernelWithFactory.Signature)
	plain, err := op.FromWire(s.Kernel.UserOp)
	if err != nil {
		t.Fatal(err)
	}
	h, err = plain.Hash(entryPoint, big.NewInt(s.Kernel.ChainID))
	if err != nil || h != s.Kernel.UserOpHash || op.EIP191(h) != s.Kernel.EIP191Digest {
		t.Errorf("hash %s, %v", h, err)
	}
	wantSignature(t, "kernel", op.EIP191(h), k, s.Kernel.Signature)
	a, err := op.AuthorizationFromWire(s.EIP7702.Signed)
	if err != nil || a.Hash() != s.EIP7702.AuthorizationHash || a.Address.Hex() != pins.KernelV33Delegate {
		t.Errorf("authorization %+v, %v", a, err)
	}
	signed, err := a.Sign(k)
	if err != nil || signed.Wire() != s.EIP7702.Signed {
		t.Errorf("signed %+v, %v", signed.Wire(), err)
	}
}

// The layouts of this package are written by hand; the compiled contracts carry their
// own ABI.
func TestFactoryAndPaymasterLayoutsAreThoseOfOurContracts(t *testing.T) {
	pins := pinned(t)
	factory, index := common.HexToAddress(pins.Factory), big.NewInt(7)
	init := op.InitDataECDSA(common.HexToAddress(pins.ECDSAValidator), common.Address{19: 9})
	want, err := contract(t, "MetaFactory").Pack("deployWithFactory", factory, init, [32]byte{31: 7})
	if err != nil || !bytes.Equal(want, op.FactoryData(factory, init, index)) {
		t.Errorf("deployWithFactory differs: %v", err)
	}
	var root [21]byte
	root[0] = 1
	validator := common.HexToAddress(pins.ECDSAValidator)
	copy(root[1:], validator[:])
	owner := common.Address{19: 9}
	want, err = contract(t, "KernelV31").Pack("initialize", root, common.Address{}, owner[:], []byte{}, [][]byte{})
	if err != nil || !bytes.Equal(want, init) {
		t.Errorf("initialize differs: %v", err)
	}
	getHash := contract(t, "Filler").Methods["getHash"]
	if getHash.Sig != "getHash((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),uint48,uint48)" {
		t.Errorf("the filler hashes another operation: %s", getHash.Sig)
	}
}

func predict(pins assets.Pins, init []byte) common.Address {
	return op.PredictAddress(common.HexToAddress(pins.Factory), common.HexToAddress(pins.KernelV31Implementation), init,
		new(big.Int))
}

func pinned(t testing.TB) assets.Pins {
	t.Helper()
	pins, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
	return pins
}

func contract(t testing.TB, name string) abi.ABI {
	t.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	var parsed abi.ABI
	if err := json.Unmarshal(a.ABI, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}
