package evm_test

import (
	"bytes"
	"crypto/ecdsa"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
)

// ether pays for the EOA's own transactions.
const ether = 1_000_000_000_000_000_000

// delegated is the EOA as an account.
func (w *world) delegated(eoa *ecdsa.PrivateKey) owned {
	return owned{at: addressOf(eoa), validator: w.ecdsa.at, sign: w.personal(eoa)}
}

// authorization is for the EOA's current nonce on this chain.
func (w *world) authorization(eoa *ecdsa.PrivateKey, to common.Address) op.SignedAuthorization {
	w.t.Helper()
	st := w.state()
	defer st.Close()
	s, err := op.Authorization{ChainID: new(big.Int).SetUint64(w.chain.ID()), Address: to,
		Nonce: st.Nonce(addressOf(eoa))}.Sign(eoa)
	w.check(err)
	return s
}

// delegateTo seals a type-4 transaction of somebody else.
func (w *world) delegateTo(eoa *ecdsa.PrivateKey, to common.Address) owned {
	w.t.Helper()
	w.transact(chain.Tx{From: signers.Local(w.relayer), To: addressOf(w.relayer),
		Authorizations: []op.SignedAuthorization{w.authorization(eoa, to)}})
	if !bytes.Equal(w.code(addressOf(eoa)), types.AddressToDelegation(to)) {
		w.t.Fatal("the delegation was not applied")
	}
	return w.delegated(eoa)
}

// The authorization is applied in the transaction that first runs one of the
// operations of its EOA (protocol §2.12).
func TestDelegationAndFirstOperationShareATransaction(t *testing.T) {
	w := newWorld(t)
	eoa := key("eoa")
	a := w.delegated(eoa)
	w.give(a.at, 100, 50)
	to := addressOf(key("recipient"))
	u := w.operation(a, 0, w.transfer(to, 10), op.Call{To: to, Value: big.NewInt(7)})
	w.runs(u, w.authorization(eoa, w.delegate.at))
	w.holds(to, 10, 7)
	if !bytes.Equal(w.code(a.at), types.AddressToDelegation(w.delegate.at)) {
		t.Fatal("no delegation")
	}
	w.refused(u, "AA25 invalid account nonce")
	w.runs(w.operation(a, 1, w.transfer(to, 1))) // it stays
	w.takesWhatKernelTakes(a, func() op.UserOp { return w.unsigned(a, w.lane(a, 0), w.transfer(to, 0)) })
	u = w.unsigned(a, w.lane(a, 0), w.transfer(to, 1))
	for _, sig := range [][]byte{signDigest(eoa, w.opHash(u)), w.personal(key("thief"))(u)} {
		u.Signature = sig // plain does not count here
		w.refused(u, "AA24 signature error")
	}
	w.runs(a.signed(u))
	w.holds(to, 12, 7)
}

// An authorization that does not fit is skipped, and an EOA without code has
// nobody who would take an operation.
func TestUnusableAuthorizationLeavesThePlainEOA(t *testing.T) {
	w := newWorld(t)
	eoa := key("eoa")
	a := w.delegated(eoa)
	w.give(a.at, 100, 0)
	u := w.operation(a, 0, w.transfer(addressOf(w.relayer), 1))
	good := w.authorization(eoa, w.delegate.at)
	later, elsewhere, forged := good, good, good
	later.Nonce++
	elsewhere.ChainID = big.NewInt(10)
	forged.S[31] ^= 1
	signedLater, err := op.Authorization{ChainID: big.NewInt(chainID), Address: w.delegate.at, Nonce: 5}.Sign(eoa)
	w.check(err)
	for name, s := range map[string]op.SignedAuthorization{
		"nonce changed": later, "chain changed": elsewhere, "signature changed": forged,
		"signed for another nonce": signedLater,
	} {
		w.run(name, func(t *testing.T) {
			if out := w.submit(u, s); out.refused == "" {
				t.Fatalf("%+v", out)
			}
			if len(w.code(a.at)) != 0 {
				t.Fatal("the EOA has code")
			}
		})
	}
	w.runs(u, good)
}

func TestNobodyInitialisesADelegatedEOA(t *testing.T) {
	w := newWorld(t)
	eoa, thief := key("eoa"), key("thief")
	a := w.delegateTo(eoa, w.delegate.at)
	for _, data := range [][]byte{op.InitDataECDSA(w.ecdsa.at, addressOf(thief)),
		op.InitDataRoleBased(w.roles.at, addressOf(thief), common.Address{1}, common.Address{2})} {
		for _, from := range []*ecdsa.PrivateKey{thief, w.relayer} {
			if r := w.transact(chain.Tx{From: signers.Local(from), To: a.at, Data: data}); w.decode(r.Revert) !=
				"AlreadyInitialized()" {
				t.Fatal(w.decode(r.Revert))
			}
		}
		w.fails(w.operation(a, 0, op.Call{To: a.at, Value: new(big.Int), Data: data}),
			"AlreadyInitialized()")
	}
	if root := get[[21]byte](w, named{"KernelV31", a.at}, "rootValidator"); root != ([21]byte{}) {
		t.Fatalf("root %x", root)
	}
}

// rootSlot is where Kernel keeps its root validator: the hash of
// "kernel.v3.validation", less one.
func rootSlot() common.Hash {
	n := crypto.Keccak256Hash([]byte("kernel.v3.validation")).Big()
	return common.BigToHash(n.Sub(n, big.NewInt(1)))
}

// A root validator that an earlier delegate left in the EOA's storage decides
// about operations in Kernel v3.3, whoever owns it. So the service takes no EOA
// that has one (smartaccount), and tells from the slot itself, as it is.
func TestRootLeftByAnEarlierDelegateDecides(t *testing.T) {
	// Stores the second word of its input in the slot that the first one names.
	writer := evm.Account{Address: common.Address{0x77}, Nonce: 1, Code: common.FromHex("6020355f355500")}
	w := newWorld(t, writer)
	eoa, thief := key("eoa"), key("thief")
	w.give(addressOf(eoa), 0, ether)
	a := w.delegateTo(eoa, writer.Address)
	root := common.BytesToHash(append([]byte{0, 0, 0, 1}, byValidator(w.ecdsa.at)...)) // and the nonce 1 before it
	config := crypto.Keccak256Hash(common.RightPadBytes(byValidator(w.ecdsa.at), 32),
		new(big.Int).Add(rootSlot().Big(), common.Big1).Bytes())
	for slot, word := range map[common.Hash]common.Hash{rootSlot(): root, config: {27: 1, 31: 1}} {
		if r := w.transact(chain.Tx{From: signers.Local(thief), To: a.at,
			Data: append(slot.Bytes(), word[:]...)}); !r.Success || w.slot(a.at, slot) != word {
			t.Fatal("the slot was not written")
		}
	}
	// The thief is this account's owner at the validator as well.
	w.send(eoa, w.ecdsa, 0, "onInstall", addressOf(thief).Bytes())
	w.delegateTo(eoa, w.delegate.at)
	u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(thief), 0))
	u.Signature = w.personal(thief)(u)
	w.runs(u)
	// Without a root the same owner at the validator decides nothing.
	clean := w.delegateTo(key("another eoa"), w.delegate.at)
	w.give(clean.at, 0, ether)
	w.send(key("another eoa"), w.ecdsa, 0, "onInstall", addressOf(thief).Bytes())
	u = w.unsigned(clean, w.lane(clean, 0), w.transfer(addressOf(thief), 0))
	u.Signature = w.personal(thief)(u)
	w.refused(u, "AA24 signature error")
	w.runs(clean.signed(u))
}

// The slot above is the one that the account uses.
func TestRootValidatorIsWhereKernelKeepsIt(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	if got := w.slot(a.at, rootSlot()); !bytes.Equal(got[11:], byValidator(w.ecdsa.at)) {
		t.Fatalf("%s", got)
	}
}

// Delegating to somebody's account gives that owner nothing: the proxy's code
// runs in the EOA's own, empty storage.
func TestDelegationToAnotherAccountGivesItsOwnerNothing(t *testing.T) {
	w := newWorld(t)
	eoa, thief := key("eoa"), key("thief")
	proxy := w.deployed(w.ecdsaAccount(thief))
	a := w.delegateTo(eoa, proxy.at)
	w.give(a.at, 100, 0)
	for _, k := range []*ecdsa.PrivateKey{thief, eoa} {
		u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(thief), 100))
		u.Signature = w.personal(k)(u)
		if out := w.submit(u); out.refused == "" {
			t.Fatalf("%+v", out)
		}
	}
	w.holds(addressOf(thief), 0, 0)
}

// Kernel v3.1 knows nothing of delegations: nobody operates an EOA with it.
func TestOnlyTheDelegateTakesDelegations(t *testing.T) {
	w := newWorld(t)
	a := w.delegateTo(key("eoa"), w.implementation.at)
	w.refusedAny(w.operation(a, 0, w.transfer(addressOf(w.relayer), 0)))
}

func TestDelegatedEOAStaysAnEOA(t *testing.T) {
	w := newWorld(t)
	eoa := key("eoa")
	w.give(addressOf(eoa), 100, ether)
	a := w.delegateTo(eoa, w.delegate.at)
	to := addressOf(key("recipient"))
	w.send(eoa, w.token, 0, "transfer", to, big.NewInt(1))
	data, err := op.EncodeExecute([]op.Call{w.transfer(to, 2), w.transfer(to, 3)})
	w.check(err)
	// A batch that it sends to itself, without an entry point.
	if r := w.transact(chain.Tx{From: signers.Local(eoa), To: a.at, Data: data}); !r.Success {
		t.Fatal(w.decode(r.Revert))
	}
	if r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: a.at, Data: data}); r.Success {
		t.Fatal("somebody else sends it a batch")
	}
	w.holds(to, 6, 0)
	w.delegateAway(eoa)
	w.refusedAny(w.operation(a, 0, w.transfer(to, 1)))
}

// delegateAway ends the delegation with one to the zero address.
func (w *world) delegateAway(eoa *ecdsa.PrivateKey) {
	w.t.Helper()
	st := w.state()
	auth := op.Authorization{ChainID: big.NewInt(chainID), Nonce: st.Nonce(addressOf(eoa))}
	st.Close()
	sig := signDigest(eoa, auth.Hash()) // op.Sign refuses it: nobody asks a wallet for that
	signed := op.SignedAuthorization{Authorization: auth, R: [32]byte(sig[:32]), S: [32]byte(sig[32:64]),
		YParity: sig[64] - 27}
	w.transact(chain.Tx{From: signers.Local(w.relayer), To: addressOf(w.relayer),
		Authorizations: []op.SignedAuthorization{signed}})
	if len(w.code(addressOf(eoa))) != 0 {
		w.t.Fatal("the delegation is still there")
	}
}

// refusedAny fails the test when handleOps takes the operation.
func (w *world) refusedAny(u op.UserOp) {
	w.t.Helper()
	if out := w.submit(u); out.refused == "" {
		w.t.Fatalf("taken: %+v", out)
	}
}

// What counted as the EOA's plain signature does not while it is delegated.
func TestDelegatedEOASignsMessagesAsKernel(t *testing.T) {
	w := newWorld(t)
	eoa, thief := key("eoa"), key("thief")
	a := w.delegateTo(eoa, w.delegate.at)
	hash := crypto.Keccak256Hash([]byte("a document"))
	digest := w.kernelDigest(a.at, "0.3.3", hash)
	if v := w.read(named{"KernelV31", a.at}, "eip712Domain")[2]; v != "0.3.3" {
		t.Errorf("version %s", v)
	}
	for name, c := range map[string]struct {
		sig  []byte
		want bool
	}{
		"plain":                 {signDigest(eoa, hash), false},
		"plain, thief":          {signDigest(thief, hash), false},
		"root":                  {prefixed([]byte{0}, signDigest(eoa, digest)), true},
		"root, personal":        {prefixed([]byte{0}, signDigest(eoa, op.EIP191(digest))), false},
		"validator":             {prefixed(byValidator(w.ecdsa.at), signDigest(eoa, digest)), false},
		"another validator":     {prefixed(byValidator(w.roles.at), signDigest(eoa, digest)), false},
		"root, thief":           {prefixed([]byte{0}, signDigest(thief, digest)), false},
		"root, the hash itself": {prefixed([]byte{0}, signDigest(eoa, hash)), false},
		"root, version 0.3.1": {prefixed([]byte{0}, signDigest(eoa, w.kernelDigest(a.at, "0.3.1", hash))),
			false},
		"unknown prefix":              {prefixed([]byte{2}, signDigest(eoa, digest)), false},
		"the digest without a prefix": {signDigest(eoa, digest), false},
		"empty":                       {nil, false},
	} {
		if got := w.valid(a.at, hash, c.sig); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
