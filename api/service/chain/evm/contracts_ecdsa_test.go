package evm_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
)

// malformed are other forms of a good signature, none of which may count.
func malformed(sig []byte) map[string][]byte {
	highS := bytes.Clone(sig)
	order := crypto.S256().Params().N
	new(big.Int).Sub(order, new(big.Int).SetBytes(sig[32:64])).FillBytes(highS[32:64])
	highS[64] = 55 - sig[64]
	parity := bytes.Clone(sig)
	parity[64] -= 27
	flipped := bytes.Clone(sig)
	flipped[64] = 55 - sig[64]
	compact := bytes.Clone(sig[:64])
	compact[32] |= (sig[64] - 27) << 7
	return map[string][]byte{
		"high s": highS, "v 0 or 1": parity, "other parity": flipped, "EIP-2098": compact, "64 bytes": sig[:64],
		"66 bytes": append(bytes.Clone(sig), 0), "empty": {}, "zeros": make([]byte, 65),
		"twice": append(bytes.Clone(sig), sig...),
	}
}

// takesWhatKernelTakes submits an operation with every other form of its
// signature. Kernel takes two of them, high s and EIP-2098, and so would any
// account of it: the operation's hash does not cover the signature, so a relayer
// wins nothing with another form of the same one.
func (w *world) takesWhatKernelTakes(a owned, next func() op.UserOp) {
	w.t.Helper()
	for name := range malformed(make([]byte, 65)) {
		w.run(name, func(t *testing.T) {
			u := next()
			forms := malformed(a.sign(u))
			u.Signature = forms[name]
			if name == "high s" || bytes.Equal(u.Signature, forms["EIP-2098"]) {
				w.runs(u)
			} else {
				w.refused(u, "AA2") // 24, or 23 where Kernel cannot read it
			}
		})
	}
}

func TestOwnerSignsTheOperationHashPlainOrPersonal(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	a := w.ecdsaAccount(owner)
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))

	u := w.unsigned(a, w.lane(a, 0), w.transfer(to, 10))
	u.Signature = w.personal(key("thief"))(u)
	w.refused(u, "AA24 signature error")
	if len(w.code(a.at)) != 0 {
		t.Fatal("a refused operation deployed the account")
	}
	w.runs(a.signed(u)) // deploys
	u = w.unsigned(a, w.lane(a, 0), w.transfer(to, 10))
	u.Signature = signDigest(owner, w.opHash(u))
	w.runs(u)
	w.takesWhatKernelTakes(a, func() op.UserOp { return w.unsigned(a, w.lane(a, 0), w.transfer(to, 0)) })
	w.holds(to, 20, 0)
}

// The hash covers every field but the signature: none can be changed after signing.
func TestOwnersSignatureCoversEveryField(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	b := w.deployed(w.ecdsaAccount(key("other owner")))
	w.give(a.at, 100, 1_000_000_000_000)
	good := w.operation(a, 0, w.transfer(addressOf(key("recipient")), 10))
	data, err := op.EncodeExecute([]op.Call{w.transfer(addressOf(key("thief")), 10)})
	w.check(err)
	for name, change := range map[string]func(*op.UserOp){
		"sender":               func(u *op.UserOp) { u.Sender = b.at },
		"lane":                 func(u *op.UserOp) { u.Nonce = w.lane(a, 7).Big() },
		"call data":            func(u *op.UserOp) { u.CallData = data },
		"call gas":             func(u *op.UserOp) { u.CallGasLimit = big.NewInt(10_000) },
		"verification gas":     func(u *op.UserOp) { u.VerificationGasLimit = big.NewInt(1_400_000) },
		"pre-verification gas": func(u *op.UserOp) { u.PreVerificationGas = big.NewInt(1) },
		"paymaster gas":        func(u *op.UserOp) { u.PaymasterPostOpGasLimit = big.NewInt(1) },
		"window":               func(u *op.UserOp) { u.PaymasterData = windowData(w.now+601, w.now) },
		"no paymaster":         func(u *op.UserOp) { *u = unsponsored(*u) },
		"fees": func(u *op.UserOp) {
			*u = unsponsored(*u)
			u.MaxFeePerGas, u.PreVerificationGas = big.NewInt(1), big.NewInt(1_000_000)
		},
	} {
		w.run(name, func(t *testing.T) {
			u := good
			change(&u)
			w.refused(u, "AA24 signature error")
		})
	}
	w.holds(a.at, 100, 1_000_000_000_000)
	w.runs(good)
}

func TestSignatureIsWorthOneChainOnly(t *testing.T) {
	here, there := newWorld(t), newWorldOn(t, 10)
	a := here.ecdsaAccount(key("owner"))
	for _, w := range []*world{here, there} {
		w.deployed(a)
		w.give(a.at, 100, 0)
	}
	to := addressOf(key("recipient"))
	u := here.operation(a, 0, here.transfer(to, 1))
	there.refused(u, "AA24 signature error")
	here.runs(u)
	there.holds(to, 0, 0)

	hash := crypto.Keccak256Hash([]byte("a document"))
	sig := prefixed([]byte{0}, signDigest(key("owner"), here.kernelDigest(a.at, "0.3.1", hash)))
	if !here.valid(a.at, hash, sig) || there.valid(a.at, hash, sig) {
		t.Error("an ERC-1271 signature travels")
	}
}

// Who changes an owner must first give the account up at the validator: one call
// alone cannot hand it to another key. Nothing of ours makes either call
// (api.Rules).
func TestOwnerIsNotReplacedByOneCall(t *testing.T) {
	w := newWorld(t)
	owner, thief := key("owner"), addressOf(key("thief"))
	a := w.deployed(w.ecdsaAccount(owner))
	w.fails(w.operation(a, 0, w.call(w.ecdsa, 0, "onInstall", thief[:])), "AlreadyInitialized(")
	// What the account says of itself at another validator has no effect.
	roles := []common.Address{thief, {1}, {2}}
	w.runs(w.operation(a, 0, w.call(w.roles, 0, "onInstall", rolesData(roles, []uint8{2, 3, 1}))))
	if got := get[common.Address](w, w.ecdsa, "ecdsaValidatorStorage", a.at); got != addressOf(owner) {
		t.Fatalf("the owner is %s", got)
	}
	w.runs(w.operation(a, 0, w.transfer(thief, 0)))
	// Installing speaks for the caller only.
	if err := w.calls(thief, w.ecdsa, "onInstall", thief[:]); err != "" {
		t.Fatal(err)
	}
}

// A missing key is not matched by a signature that recovers nobody.
func TestValidatorsAcceptNothingForWhoNeverInstalled(t *testing.T) {
	w := newWorld(t)
	stranger := addressOf(key("stranger"))
	u := w.operation(w.ecdsaAccount(key("owner")), 0, w.transfer(stranger, 1))
	for _, sig := range [][]byte{nil, make([]byte, 65), make([]byte, 130), append(make([]byte, 64), 27),
		w.personal(key("stranger"))(u)} {
		u.Signature = sig
		p, err := u.Pack()
		w.check(err)
		for _, v := range []named{w.ecdsa, w.roles} {
			res := w.simulate(chain.Message{From: stranger, To: v.at,
				Data: w.pack(v, "validateUserOp", p, w.opHash(u))})
			if res.Err == nil && new(big.Int).SetBytes(res.Return).Uint64() != 1 {
				t.Errorf("%s validates %x: %x", v.name, sig, res.Return)
			}
			res = w.simulate(chain.Message{From: stranger, To: v.at,
				Data: w.pack(v, "isValidSignatureWithSender", stranger, w.opHash(u), sig)})
			if res.Err == nil && !bytes.HasPrefix(res.Return, []byte{0xff, 0xff, 0xff, 0xff}) {
				t.Errorf("%s accepts %x: %x", v.name, sig, res.Return)
			}
		}
	}
}
