package evm_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/assets"
)

// Addresses that the Kernel SDK's own code gave for the same keys.
func kernelVectors() []struct {
	owner, address string
	index          int64
} {
	return []struct {
		owner, address string
		index          int64
	}{
		{"0x5aD1553cdC14D627968B0c552dEc0e20E76E22a3", "0x79C5B2470C55b48657C9500c7BC0ceD8e3B82972", 0},
		{"0x5aD1553cdC14D627968B0c552dEc0e20E76E22a3", "0x922d54772072564DbA177690ea8B5f9F77e84B2a", 1},
		{"0x5aD1553cdC14D627968B0c552dEc0e20E76E22a3", "0xc9dd8D8cEe18528e52CC2a45d9d5FaD4922507b3", 255},
		{"0xD97762B974d53D5E93CAED51DFE1B1F5055d97d3", "0xd1Cd779dD58E2B5E8AF38B6b11bD04fCAE1EE7a1", 0},
		{"0xD97762B974d53D5E93CAED51DFE1B1F5055d97d3", "0xE9B82f6fEC04b729B2742C3C572a4c29B9A898Bf", 1},
	}
}

func TestFactoryDeploysAtTheAddressesOfKernel(t *testing.T) {
	w := newWorld(t)
	for _, v := range kernelVectors() {
		data := op.InitDataECDSA(w.ecdsa.at, common.HexToAddress(v.owner))
		salt, want := common.BigToHash(big.NewInt(v.index)), common.HexToAddress(v.address)
		if got := w.predict(data, v.index); got != want {
			t.Fatalf("predicted %s, want %s", got, want)
		}
		if got := get[common.Address](w, w.factory, "getAddress", data, salt); got != want {
			t.Fatalf("the factory predicts %s, want %s", got, want)
		}
		if len(w.code(want)) != 0 {
			t.Fatal("code before the deployment")
		}
		// Exactly the bytes that a user operation carries.
		r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: w.metaFactory.at,
			Data: op.FactoryData(w.factory.at, data, big.NewInt(v.index))})
		if !r.Success || len(w.code(want)) != 61 {
			t.Fatalf("%s: %s, %d bytes of code", want, w.decode(r.Revert), len(w.code(want)))
		}
		if got := get[common.Address](w, w.ecdsa, "ecdsaValidatorStorage", want); got != common.HexToAddress(v.owner) {
			t.Fatalf("the owner is %s", got)
		}
	}
}

// The role-based account of the service's documentation, its keys and its co-signer.
func TestRoleBasedAccountStandsAtTheDocumentedAddress(t *testing.T) {
	w := newWorld(t)
	session, admin := common.HexToAddress("0x1cBFbFd62a276BF6D79d504eA4CA75a7baDcf5b1"),
		common.HexToAddress("0xc162a3cE45ad151eeCd0a5532D6E489D034aB3B8")
	cosigner := common.HexToAddress("0xf6112bd3da673b15926f16537d2b399844a9ed91")
	data := op.InitDataRoleBased(w.roles.at, session, admin, cosigner)
	at := common.HexToAddress("0xE20295ec513DEf805D9c3083b0C8EaB64692D764")
	w.send(w.relayer, w.metaFactory, 0, "deployWithFactory", w.factory.at, data, [32]byte{})
	if len(w.code(at)) != 61 {
		t.Fatal("no account at the documented address")
	}
	got := w.read(w.roles, "signers", at)
	if got[0] != session || got[1] != admin || got[2] != cosigner {
		t.Fatalf("%v", got)
	}
}

func TestProxyIsKernelsAndPointsAtTheImplementation(t *testing.T) {
	w := newWorld(t)
	pins, err := assets.PinnedAddresses()
	w.check(err)
	code := op.ProxyInitCode(w.implementation.at)
	if get[common.Address](w, w.factory, "implementation") != w.implementation.at ||
		crypto.Keccak256Hash(code) != common.HexToHash(pins.AccountInitCodeHash) {
		t.Fatalf("init code %x", code)
	}
	a := w.deployed(w.ecdsaAccount(key("owner")))
	slot := w.slot(a.at, common.HexToHash("0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"))
	if common.BytesToAddress(slot[:]) != w.implementation.at {
		t.Fatalf("ERC-1967 slot %s", slot)
	}
	root := get[[21]byte](w, named{"KernelV31", a.at}, "rootValidator")
	if !bytes.Equal(root[:], byValidator(w.ecdsa.at)) {
		t.Fatalf("root validator %x", root)
	}
}

func TestDeployingAgainChangesNothingAndCoinsReachTheAccount(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.give(a.at, 0, 10) // before it exists
	for range 2 {
		w.send(w.relayer, w.metaFactory, 0, "deployWithFactory", w.factory.at, a.initData, [32]byte{})
		w.send(w.relayer, w.factory, 4, "createAccount", a.initData, [32]byte{})
	}
	w.holds(a.at, 0, 18)
	w.holds(w.factory.at, 0, 0)
	w.holds(w.metaFactory.at, 0, 0)
	w.give(a.at, 1, 0)
	w.runs(w.operation(a, 0, w.transfer(addressOf(w.relayer), 1)))
}

func TestAccountIsInitialisedOnceAndByItsOwnDataOnly(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	thief := key("thief")
	for _, data := range [][]byte{a.initData, op.InitDataECDSA(w.ecdsa.at, addressOf(thief)),
		op.InitDataRoleBased(w.roles.at, addressOf(thief), common.Address{1}, common.Address{2})} {
		r := w.transact(chain.Tx{From: signers.Local(thief), To: a.at, Data: data})
		if got := w.decode(r.Revert); got != "already initialized" {
			t.Fatal(got)
		}
		// Nor by the account itself, from a batch.
		w.fails(w.operation(a, 0, op.Call{To: a.at, Value: new(big.Int), Data: data}),
			"already initialized")
	}
	// Another key or another index is another address: nobody can take this one.
	for _, other := range []common.Address{w.predict(op.InitDataECDSA(w.ecdsa.at, addressOf(thief)), 0),
		w.predict(a.initData, 1)} {
		if other == a.at {
			t.Fatal("two accounts at one address")
		}
	}
	if got := get[common.Address](w, w.ecdsa, "ecdsaValidatorStorage", a.at); got != addressOf(key("owner")) {
		t.Fatalf("the owner is %s", got)
	}
}

// What initialises an account is in its address. Kernel takes hooks, other
// modules and follow-up calls: each of them is another address than the one that
// follows from the keys, and so is an owner who is nobody.
func TestWhatElseAnAccountCanBeMadeWithIsAnotherAddress(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	owner := addressOf(key("owner"))
	none := common.Address{}
	executor := w.pack(w.implementation, "installModule", big.NewInt(2), w.token.at, []byte{})
	for name, c := range map[string]struct {
		kind            byte
		validator, hook common.Address
		data, hookData  []byte
		config          [][]byte
		made            bool
	}{
		"the plain form":      {1, w.ecdsa.at, none, owner[:], []byte{}, nil, true},
		"hook 1, which is 0":  {1, w.ecdsa.at, common.Address{19: 1}, owner[:], nil, nil, true},
		"hook data":           {1, w.ecdsa.at, none, owner[:], []byte{1}, nil, true},
		"owner too long":      {1, w.ecdsa.at, none, append(owner.Bytes(), 0), nil, nil, true},
		"owner is nobody":     {1, w.ecdsa.at, none, make([]byte, 20), nil, nil, true},
		"a module that fails": {1, w.ecdsa.at, none, owner[:], nil, [][]byte{executor}, false},
		"hook is no hook":     {1, w.ecdsa.at, w.entryPoint.at, owner[:], nil, nil, false},
		"root is no module":   {0, w.ecdsa.at, none, owner[:], nil, nil, false},
		"root is permission":  {2, w.ecdsa.at, none, owner[:], nil, nil, false},
		"no validator":        {1, none, none, owner[:], nil, nil, false},
		"owner too short":     {1, w.ecdsa.at, none, owner[:19], nil, nil, false},
		"validator not there": {1, common.Address{0x99}, none, owner[:], nil, nil, false},
	} {
		w.run(name, func(t *testing.T) {
			root := [21]byte{c.kind}
			copy(root[1:], c.validator[:])
			data := w.pack(w.implementation, "initialize", root, c.hook, c.data, c.hookData, c.config)
			at := w.predict(data, 0)
			if plain := name == "the plain form"; plain != (at == a.at) {
				t.Fatalf("it is %s, the account of the keys %s", at, a.at)
			}
			if !c.made {
				w.refuse("InitializeError()", w.relayer, w.factory, 0, "createAccount", data, [32]byte{})
			} else {
				w.send(w.relayer, w.factory, 0, "createAccount", data, [32]byte{})
			}
			if c.made != (len(w.code(at)) > 0) {
				t.Fatalf("%d bytes of code", len(w.code(at)))
			}
		})
	}
}

func TestMetaFactoryPassesOnToItsFactoryOnly(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	for _, f := range []common.Address{{}, w.entryPoint.at, w.metaFactory.at, addressOf(w.relayer)} {
		w.refuse("NotApprovedFactory()", w.relayer, w.metaFactory, 0, "deployWithFactory", f, a.initData, [32]byte{})
	}
	if !get[bool](w, w.metaFactory, "approved", w.factory.at) {
		t.Fatal("the factory is not approved")
	}
	w.refuse("Unauthorized()", w.relayer, w.metaFactory, 0, "approveFactory", w.token.at, true)
}

func TestOperationCannotDeployAnotherSender(t *testing.T) {
	w := newWorld(t)
	a, thief := w.ecdsaAccount(key("owner")), w.ecdsaAccount(key("thief"))
	u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(key("thief")), 0))
	u.FactoryData = op.FactoryData(w.factory.at, thief.initData, new(big.Int))
	w.refused(a.signed(u), "AA14 initCode must return sender")
	if len(w.code(thief.at)) != 0 {
		t.Fatal("something was deployed")
	}
}
