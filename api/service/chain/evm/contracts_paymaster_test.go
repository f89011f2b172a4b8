package evm_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
)

// The codec and the contract agree on the hash for any operation.
func TestPaymasterHashIsTheContracts(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return b
	}
	for range 40 {
		p := op.PackedUserOp{
			Sender: common.Address(some(20)), Nonce: new(big.Int).SetBytes(some(32)), InitCode: some(rnd.IntN(100)),
			CallData:         some(rnd.IntN(100)),
			AccountGasLimits: [32]byte(some(32)), PreVerificationGas: new(big.Int).SetBytes(some(32)),
			GasFees:          [32]byte(some(32)),
			PaymasterAndData: some(52 + rnd.IntN(100)), Signature: some(rnd.IntN(100)),
		}
		window := op.PaymasterWindow{ValidUntil: rnd.Uint64N(1 << 48), ValidAfter: rnd.Uint64N(1 << 48)}
		want := op.PaymasterHash(p, window, big.NewInt(chainID), w.paymaster.at)
		got := get[[32]byte](w, w.paymaster, "getHash", p, new(big.Int).SetUint64(window.ValidUntil),
			new(big.Int).SetUint64(window.ValidAfter))
		if common.Hash(got) != want {
			t.Fatalf("contract %x, codec %s", got, want)
		}
	}
}

func TestPaymasterSponsorsInsideItsWindowOnly(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	to := addressOf(key("recipient"))
	start := w.now
	for name, c := range map[string]struct {
		until, after, now uint64
		want              string
	}{
		"inside":              {start + 600, start, start + 300, ""},
		"the first second":    {start + 600, start + 60, start + 60, ""},
		"the second before":   {start + 600, start + 60, start + 59, "AA32 paymaster expired or not due"},
		"the last second":     {start + 600, start, start + 600, ""},
		"the second after":    {start + 600, start, start + 601, "AA32 paymaster expired or not due"},
		"empty window":        {start + 10, start + 20, start + 15, "AA32 paymaster expired or not due"},
		"zero means no end":   {0, start, start + 1_000_000, ""},
		"largest end":         {1<<48 - 1, 0, start + 700, ""},
		"never again started": {1<<48 - 1, 1<<48 - 1, start + 700, "AA32 paymaster expired or not due"},
	} {
		w.run(name, func(t *testing.T) {
			// Every case on the same head: a block's time never goes back.
			u := w.unsigned(a, w.lane(a, 0), w.transfer(to, 0))
			u = a.signed(w.sponsored(u, w.operator, op.PaymasterWindow{ValidUntil: c.until, ValidAfter: c.after}))
			p, err := u.Pack()
			w.check(err)
			w.now = c.now
			got := w.calls(addressOf(w.relayer), w.entryPoint, "handleOps", []op.PackedUserOp{p}, addressOf(w.relayer))
			w.now = start
			if want := c.want; want == "" && got != "" || want != "" && got != "FailedOp(0,"+want+")" {
				t.Fatalf("%q, want %q", got, want)
			}
		})
	}
	// And in blocks: refused before, taken at the start, the clock moving on.
	u := w.unsigned(a, w.lane(a, 0), w.transfer(to, 0))
	u = a.signed(w.sponsored(u, w.operator, op.PaymasterWindow{ValidUntil: start + 600, ValidAfter: start + 60}))
	w.refused(u, "AA32")
	w.now = start + 60
	w.runs(u)
}

func TestPaymasterSponsorsWhatItsOperatorSignedAndNothingElse(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	a := w.ecdsaAccount(owner)
	w.give(a.at, 100, 0)
	window := op.PaymasterWindow{ValidUntil: w.now + 600, ValidAfter: w.now}
	good := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(key("recipient")), 1))
	other, err := op.EncodeExecute([]op.Call{w.transfer(addressOf(key("recipient")), 2)})
	w.check(err)
	b := w.ecdsaAccount(key("other owner"))
	for name, change := range map[string]func(*op.UserOp){
		"another signer":       func(u *op.UserOp) { *u = w.sponsored(*u, owner, window) },
		"call data":            func(u *op.UserOp) { u.CallData = other },
		"nonce":                func(u *op.UserOp) { u.Nonce = w.lane(a, 1).Big() },
		"call gas":             func(u *op.UserOp) { u.CallGasLimit = big.NewInt(999_999) },
		"verification gas":     func(u *op.UserOp) { u.VerificationGasLimit = big.NewInt(1_499_999) },
		"pre-verification gas": func(u *op.UserOp) { u.PreVerificationGas = big.NewInt(1) },
		"own gas":              func(u *op.UserOp) { u.PaymasterVerificationGasLimit = big.NewInt(199_999) },
		"post-op gas":          func(u *op.UserOp) { u.PaymasterPostOpGasLimit = big.NewInt(1) },
		"priority fee":         func(u *op.UserOp) { u.MaxPriorityFeePerGas = big.NewInt(1) },
		"validUntil": func(u *op.UserOp) {
			u.PaymasterData =
				bytes.Clone(u.PaymasterData)
			u.PaymasterData[5] ^= 1
		},
		"validAfter": func(u *op.UserOp) { u.PaymasterData = bytes.Clone(u.PaymasterData); u.PaymasterData[8] ^= 1 },
	} {
		w.run(name, func(t *testing.T) {
			u := good
			change(&u)
			w.refused(a.signed(u), "AA34 signature error")
		})
	}
	w.run("sender", func(t *testing.T) {
		u := w.unsigned(b, w.lane(b, 0), w.transfer(addressOf(key("recipient")), 1))
		u.PaymasterData = good.PaymasterData
		w.refused(b.signed(u), "AA34 signature error")
	})
	w.run("factory", func(t *testing.T) {
		w.deployed(a)
		u := good
		u.Factory, u.FactoryData = nil, nil
		w.refused(a.signed(u), "AA34 signature error")
	})
	w.run("signature forms", func(t *testing.T) {
		u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(key("recipient")), 1))
		head, sig := u.PaymasterData[:12], u.PaymasterData[12:]
		for name, bad := range malformed(sig) {
			u.PaymasterData = append(bytes.Clone(head), bad...)
			want := "AA34 signature error"
			if len(bad) != len(sig) {
				want = "AA33 reverted"
			}
			w.run(name, func(t *testing.T) { w.refused(a.signed(u), want) })
		}
		u.PaymasterData = nil
		w.refused(a.signed(u), "AA33 reverted", "InvalidPaymasterData()")
		u.PaymasterData = append(bytes.Clone(head), sig...)
		w.runs(a.signed(u))
	})
}

// Operations carry no fees, so nothing has to be deposited for the paymaster;
// one with fees finds no deposit (protocol §2.4).
func TestFeesFindNoDepositOfThePaymaster(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0))
	u.MaxFeePerGas = big.NewInt(1)
	u = w.sponsored(u, w.operator, op.PaymasterWindow{ValidUntil: w.now + 600})
	w.refused(a.signed(u), "AA31 paymaster deposit too low")
	u.MaxFeePerGas = new(big.Int)
	u = w.sponsored(u, w.operator, op.PaymasterWindow{ValidUntil: w.now + 600})
	w.runs(a.signed(u))
}

func TestAccountWithoutPaymasterPaysItsOwnFees(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	u := unsponsored(w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0)))
	w.runs(a.signed(u)) // no fees, no paymaster: anybody may submit it
	u = unsponsored(w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0)))
	u.MaxFeePerGas = big.NewInt(1)
	w.refused(a.signed(u), "AA21 didn't pay prefund")
	w.give(a.at, 0, 10_000_000)
	w.runs(a.signed(u))
	if got := w.wei(a.at); got >= 10_000_000 {
		t.Fatalf("%d wei are left", got)
	}
}

func TestPaymasterAnswersItsEntryPointOnly(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	p, err := w.operation(a, 0, w.transfer(addressOf(w.relayer), 0)).Pack()
	w.check(err)
	for _, from := range []common.Address{addressOf(w.operator), a.at} {
		if got := w.calls(from, w.paymaster, "validatePaymasterUserOp", p, [32]byte{},
			new(big.Int)); got != "NotEntryPoint()" {
			t.Error(got)
		}
		if got := w.calls(from, w.paymaster, "postOp", uint8(0), []byte{}, new(big.Int),
			new(big.Int)); got != "NotEntryPoint()" {
			t.Error(got)
		}
	}
	// Genesis writes the operator into slot 0 (protocol §4.2).
	if slot := w.slot(w.paymaster.at, common.Hash{}); common.BytesToAddress(slot[:]) != addressOf(w.operator) {
		t.Errorf("slot 0 is %s", slot)
	}
}
