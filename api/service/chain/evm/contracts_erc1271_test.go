package evm_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"coffer/api/op"
	"coffer/api/service/chain"
)

// valid reports whether an account accepts an ERC-1271 signature.
func (w *world) valid(account common.Address, hash common.Hash, sig []byte) bool {
	w.t.Helper()
	c := named{"KernelV31", account}
	res := w.simulate(chain.Message{To: account, Data: w.pack(c, "isValidSignature", hash, sig)})
	// Kernel reverts on what it cannot read.
	return res.Err == nil && bytes.HasPrefix(res.Return, []byte{0x16, 0x26, 0xba, 0x7e})
}

// kernelDigest is EIP-712 Kernel(bytes32 hash) in an account's domain, made by
// go-ethereum's implementation.
func (w *world) kernelDigest(account common.Address, version string, hash common.Hash) common.Hash {
	w.t.Helper()
	return w.typedDigest(apitypes.TypedDataDomain{
		Name: "Kernel", Version: version, ChainId: chainNumber(w), VerifyingContract: account.Hex(),
	}, "Kernel", []apitypes.Type{{Name: "hash", Type: "bytes32"}}, apitypes.TypedDataMessage{"hash": hash.Hex()})
}

func chainNumber(w *world) *math.HexOrDecimal256 {
	return (*math.HexOrDecimal256)(new(big.Int).SetUint64(w.chain.ID()))
}

func (w *world) typedDigest(domain apitypes.TypedDataDomain, primary string, fields []apitypes.Type,
	message apitypes.TypedDataMessage) common.Hash {
	w.t.Helper()
	h, _, err := apitypes.TypedDataAndHash(apitypes.TypedData{
		Types: apitypes.Types{
			"EIP712Domain": {
				{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
				{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"},
			},
			primary: fields,
		},
		PrimaryType: primary, Domain: domain, Message: message,
	})
	w.check(err)
	return common.BytesToHash(h)
}

func prefixed(prefix []byte, sig []byte) []byte { return append(append([]byte{}, prefix...), sig...) }

func byValidator(v common.Address) []byte { return prefixed([]byte{1}, v[:]) }

func TestERC1271SignatureIsWorthOneAccountOnly(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	a := w.deployed(w.ecdsaAccount(owner))
	w.send(w.relayer, w.factory, 0, "createAccount", a.initData, common.BigToHash(big.NewInt(1)))
	other := w.predict(a.initData, 1)
	hash := crypto.Keccak256Hash([]byte("a document"))
	digest := w.kernelDigest(a.at, "0.3.1", hash)
	plain, personal := signDigest(owner, digest), signDigest(owner, op.EIP191(digest))
	root := []byte{0}
	for name, c := range map[string]struct {
		at   common.Address
		sig  []byte
		want bool
	}{
		"root":               {a.at, prefixed(root, plain), true},
		"root, personal":     {a.at, prefixed(root, personal), true},
		"validator named":    {a.at, prefixed(byValidator(w.ecdsa.at), plain), true},
		"another validator":  {a.at, prefixed(byValidator(w.roles.at), plain), false},
		"another account":    {other, prefixed(root, plain), false},
		"no prefix":          {a.at, plain, false},
		"unknown prefix":     {a.at, prefixed([]byte{2}, plain), false},
		"the hash itself":    {a.at, prefixed(root, signDigest(owner, hash)), false},
		"the hash, personal": {a.at, prefixed(root, signDigest(owner, op.EIP191(hash))), false},
		"version 0.3.3": {a.at, prefixed(root, signDigest(owner, w.kernelDigest(a.at, "0.3.3", hash))),
			false},
		"another key":              {a.at, prefixed(root, signDigest(key("thief"), digest)), false},
		"empty":                    {a.at, nil, false},
		"prefix only":              {a.at, root, false},
		"validator only":           {a.at, byValidator(w.ecdsa.at), false},
		"validator cut off":        {a.at, byValidator(w.ecdsa.at)[:20], false},
		"signature with a tail":    {a.at, append(prefixed(root, plain), 0), false},
		"zeros, recovering nobody": {a.at, prefixed(root, make([]byte, 65)), false},
	} {
		if got := w.valid(c.at, hash, c.sig); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if w.valid(a.at, crypto.Keccak256Hash([]byte("another document")), prefixed(root, plain)) {
		t.Error("valid for another hash")
	}
}

func TestERC5267DomainIsTheOneThatIsSigned(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	d := w.read(named{"KernelV31", a.at}, "eip712Domain")
	if d[0].([1]byte) != [1]byte{0x0f} || d[1] != "Kernel" || d[2] != "0.3.1" || d[3].(*big.Int).Uint64() != chainID ||
		d[4] != a.at {
		t.Fatalf("%v", d)
	}
}

// A signature of the operation hash is no ERC-1271 signature and the other way.
func TestERC1271AndOperationsAreApart(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	a := w.deployed(w.ecdsaAccount(owner))
	u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(owner), 0))
	hash := w.opHash(u)
	if w.valid(a.at, hash, prefixed([]byte{0}, a.sign(u))) ||
		w.valid(a.at, op.EIP191(hash), prefixed([]byte{0}, a.sign(u))) {
		t.Error("the operation's signature is a message's")
	}
	u.Signature = signDigest(owner, w.kernelDigest(a.at, "0.3.1", hash))
	w.refused(u, "AA24 signature error")
}
