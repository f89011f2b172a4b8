package smartaccount_test

import (
	"bytes"
	"context"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/signers"
)

// highS is the other signature of the same key and digest, which the contracts refuse.
func highS(sig []byte) []byte {
	out := bytes.Clone(sig)
	s := new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(sig[32:64]))
	s.FillBytes(out[32:64])
	out[64] = 27 + 28 - out[64]
	return out
}

// variants are signatures that differ from the right one in one way each.
func (w *world) variants(u user, o op.UserOp, chainID uint64, random *rand.Rand) map[string][]byte {
	right := w.signed(u, o, chainID).Signature
	by := func(name string, change func(*op.UserOp)) []byte {
		other := o
		change(&other)
		if name != "" {
			u.owner = key(name)
		}
		return w.signed(u, other, chainID).Signature
	}
	same := func(*op.UserOp) {}
	v := map[string][]byte{
		"right":           right,
		"operation hash":  sign(w.hash(o, chainID), u.owner),
		"personal":        sign(op.EIP191(w.hash(o, chainID)), u.owner),
		"approve":         sign(w.approve(o, chainID), u.owner),
		"personal twice":  sign(op.EIP191(op.EIP191(w.hash(o, chainID))), u.owner),
		"other chain":     w.signed(u, o, chainID+1).Signature,
		"high s":          highS(right),
		"halves swapped":  append(append(bytes.Clone(right[32:64]), right[:32]...), right[64]),
		"parity 0 or 1":   append(bytes.Clone(right[:64]), right[64]-27),
		"other parity":    append(bytes.Clone(right[:64]), 27+28-right[64]),
		"a byte short":    right[:64],
		"a byte more":     append(bytes.Clone(right), 27),
		"twice":           append(bytes.Clone(right), right...),
		"empty":           {},
		"zeros":           make([]byte, 65),
		"stub":            smartaccount.StubSignature(),
		"wrong key":       by("thief", same),
		"admin key":       by("admin", same),
		"co-signer":       w.coSigned(o, chainID),
		"other nonce":     by("", func(o *op.UserOp) { o.Nonce = new(big.Int).Add(o.Nonce, big.NewInt(1)) }),
		"other call data": by("", func(o *op.UserOp) { o.CallData = w.call(9) }),
		"other sender":    by("", func(o *op.UserOp) { o.Sender = common.Address{3} }),
		"other gas":       by("", func(o *op.UserOp) { o.CallGasLimit = big.NewInt(300_001) }),
	}
	for range 12 {
		bad := bytes.Clone(right)
		bit := random.IntN(8 * len(bad))
		bad[bit/8] ^= 1 << (bit % 8)
		v["bit "+big.NewInt(int64(bit)).String()+" flipped"] = bad
	}
	return v
}

// The contracts take an operation exactly when Signed says so, of each kind, deployed or not; but for the other forms
// of a good signature that Kernel reads, which no wallet makes: with high s, and in 64 bytes.
func TestSignedIsWhatTheContractsTake(t *testing.T) {
	w := newWorld(t)
	random := rand.New(rand.NewPCG(3, 4))
	for name, u := range map[string]user{"role-based": w.roleBased(), "v3.1": w.kernelV31(), "v3.3": w.kernelV33()} {
		t.Run(name, func(t *testing.T) {
			w.TB = t
			taken := 0
			for _, lane := range []uint16{op.LanePrepared, op.LaneFunding} {
				o := w.operation(u, base, lane)
				for name, sig := range w.variants(u, o, base, random) {
					o.Signature = sig
					onChain := o
					if u.CoSigned() {
						onChain.Signature = append(bytes.Clone(sig), w.coSigned(o, base)...)
					}
					valid, why := w.valid(u, onChain, base)
					form := !u.CoSigned() && (name == "high s" || name == "a byte short")
					if signed := u.Signed(o, base); signed != valid && (signed || !form) {
						t.Errorf("%s: signed %t, the contracts say %t %s", name, signed, valid, why)
					}
					if !valid && !strings.HasPrefix(why, "AA24") && why != "AA23 reverted: InvalidSignature()" {
						t.Errorf("%s: refused for another reason than its signature: %s", name, why)
					}
					if valid {
						taken++
					}
					full, err := u.CoSign(context.Background(), o, base, w.in.CoSigner)
					if u.CoSigned() && (err == nil) != valid ||
						err == nil && !bytes.Equal(full.Signature, onChain.Signature) {
						t.Errorf("%s: co-signed %x, %v", name, full.Signature, err)
					}
				}
			}
			if taken < 2 {
				t.Error("nothing was taken")
			}
			w.submit(u, w.signed(u, w.operation(u, base, 0), base), base, w.authorizations(u, base)...)
		})
	}
}

func TestRoleBasedOperationWithoutTheCoSignatureIsRefusedOnChain(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	o := w.signed(u, w.operation(u, base, 0), base)
	session, co := o.Signature, w.coSigned(o, base)
	for name, sig := range map[string][]byte{
		"session alone": session, "co-signer alone": co, "co-signer first": append(bytes.Clone(co), session...),
		"session twice": append(bytes.Clone(session), session...),
	} {
		o.Signature = sig
		if valid, why := w.valid(u, o, base); valid || !strings.HasPrefix(why, "AA24") {
			t.Errorf("%s: %t %s", name, valid, why)
		}
	}
}

// TH-U11: the session key approves call data and nonce only, so fees are not its word.
func TestOperationsWithFeesAreNotCoSigned(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	for _, fee := range []func(*op.UserOp){
		func(o *op.UserOp) { o.MaxFeePerGas = big.NewInt(1) },
		func(o *op.UserOp) { o.MaxPriorityFeePerGas = big.NewInt(1) },
	} {
		o := w.operation(u, base, 0)
		fee(&o)
		o = w.signed(u, o, base)
		if u.Signed(o, base) {
			t.Error("fees count as signed")
		}
		if _, err := u.CoSign(context.Background(), o, base, w.in.CoSigner); err == nil {
			t.Error("fees were co-signed")
		}
		o.Signature = append(o.Signature, w.coSigned(o, base)...)
		if valid, _ := w.valid(u, o, base); valid {
			t.Error("the contract takes fees")
		}
	}
}

func TestCoSignRefusesAnotherKeyAndLeavesKernelOperationsAlone(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	o := w.signed(u, w.operation(u, base, 0), base)
	if _, err := u.CoSign(context.Background(), o, base, signers.Local(key("thief"))); err == nil {
		t.Error("somebody else co-signed")
	}
	if _, err := u.CoSign(context.Background(), o, base, nil); err == nil {
		t.Error("nobody co-signed")
	}
	if full, err := u.CoSign(context.Background(), o, base, w.in.CoSigner); err != nil ||
		len(full.Signature) != len(u.StubSignature()) ||
		len(o.Signature) != 65 {
		t.Errorf("%d bytes, %v; the operation given has %d", len(full.Signature), err, len(o.Signature))
	}
	k := w.kernelV31()
	o = w.signed(k, w.operation(k, base, 0), base)
	if same, err := k.CoSign(context.Background(), o, base, nil); err != nil ||
		!bytes.Equal(same.Signature, o.Signature) ||
		len(k.StubSignature()) != 65 {
		t.Errorf("%x, %v", same.Signature, err)
	}
}
