package evm_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/signers"
)

// Kernel lets the owner's own transactions in, too: its ECDSA validator is a
// hook that asks who sends them.
func TestAccountExecutesForItsEntryPointItselfAndItsOwnerOnly(t *testing.T) {
	w := newWorld(t)
	owner, roles := key("owner"), testRoles()
	ecdsa, shared := w.deployed(w.ecdsaAccount(owner)), w.deployed(w.roleAccount(roles))
	for name, c := range map[string]struct {
		account owned
		insider []common.Address
		reason  string
	}{
		"ECDSA": {ecdsa, []common.Address{addressOf(owner)}, "ECDSAValidator: sender is not owner"},
		// The role-based validator is no hook: nobody gets round the operations.
		"role-based": {shared, nil, "InvalidCaller()"},
	} {
		w.run(name, func(t *testing.T) {
			a := c.account
			w.give(a.at, 100, 0)
			data, err := op.EncodeExecute([]op.Call{w.transfer(addressOf(owner), 1)})
			w.check(err)
			for _, from := range []common.Address{addressOf(key("stranger")), addressOf(roles.session),
				addressOf(roles.admin), addressOf(w.operator), w.factory.at, w.implementation.at, w.paymaster.at} {
				res := w.simulate(chain.Message{From: from, To: a.at, Data: data})
				if got := w.decode(res.Return); got != c.reason {
					t.Errorf("from %s: %s", from, got)
				}
			}
			for _, from := range append(c.insider, w.entryPoint.at, a.at) {
				if res := w.simulate(chain.Message{From: from, To: a.at, Data: data}); res.Err != nil ||
					len(res.Logs) != 1 {
					t.Errorf("from %s: %v", from, res.Err)
				}
			}
			u := w.operation(a, 0, w.transfer(addressOf(owner), 1))
			p, err := u.Pack()
			w.check(err)
			account := named{"KernelV31", a.at}
			for _, from := range []common.Address{addressOf(owner), a.at} {
				if got := w.calls(from, account, "validateUserOp", p, w.opHash(u),
					new(big.Int)); got != "InvalidCaller()" {
					t.Errorf("validation for %s: %s", from, got)
				}
			}
		})
	}
}

// Type 00 is the root validator, whatever address follows; other types
// and the mode that installs a module need what no account here has
// (protocol §2.5).
func TestOnlyTheRootValidatorDecidesAboutOperations(t *testing.T) {
	w := newWorld(t)
	eoa := key("eoa")
	w.delegateTo(eoa, w.delegate.at)
	to := addressOf(key("recipient"))
	for name, a := range map[string]owned{
		"ECDSA": w.ecdsaAccount(key("owner")), "role-based": w.roleAccount(testRoles()), "delegated": w.delegated(eoa),
	} {
		w.run(name, func(t *testing.T) {
			w.give(a.at, 100, 0)
			w.runs(w.operation(a, 0, w.transfer(to, 1)))
			for _, lane := range []uint16{op.LanePrepared, op.LaneFunding, 9, 0xffff} {
				w.runs(w.operation(a, lane, w.transfer(to, 1)))
			}
			other := w.roles.at
			if a.validator == other {
				other = w.ecdsa.at
			}
			for _, n := range []op.Nonce{
				{Mode: 1, Validator: a.validator}, {Type: 1, Validator: a.validator}, {Type: 1, Validator: other},
				{Type: 2, Validator: a.validator}, {Type: 0x80, Validator: a.validator},
			} {
				if out := w.submit(a.signed(w.unsigned(a, n, w.transfer(to, 1)))); out.refused == "" {
					t.Fatalf("%+v: %+v", n, out)
				}
			}
			// A stranger's validator in the nonce gives the stranger nothing.
			for _, n := range []op.Nonce{{Validator: other}, {}, {Mode: 2, Validator: other}} {
				u := w.unsigned(a, n, w.transfer(to, 1))
				u.Signature = w.personal(key("thief"))(u)
				if out := w.submit(u); out.refused == "" {
					t.Fatalf("%+v: %+v", n, out)
				}
				w.runs(a.signed(u))
			}
		})
	}
}

func TestOperationRunsOnceAndInOrderOfItsLane(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))
	first := w.operation(a, 0, w.transfer(to, 1))
	w.runs(first)
	w.refused(first, "AA10 sender already constructed")
	second := w.operation(a, 0, w.transfer(to, 1))
	third := w.unsigned(a, w.lane(a, 0), w.transfer(to, 1))
	third.Nonce = new(big.Int).Add(third.Nonce, big.NewInt(1))
	third = a.signed(third)
	w.refused(third, "AA25 invalid account nonce")
	w.runs(second)
	w.runs(third)
	w.refused(second, "AA25 invalid account nonce")
	w.holds(to, 3, 0)
}

// Who has no paymaster pays its own fees, and none where there are none.
func TestAccountWithoutPaymasterPaysItsOwnFees(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	u := unsponsored(w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0)))
	w.runs(a.signed(u)) // anybody may submit it
	u = unsponsored(w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(w.relayer), 0)))
	u.MaxFeePerGas = big.NewInt(1)
	w.refused(a.signed(u), "AA21 didn't pay prefund")
	w.give(a.at, 0, 10_000_000)
	w.runs(a.signed(u))
	if got := w.wei(a.at); got >= 10_000_000 {
		t.Fatalf("%d wei are left", got)
	}
}

// splitExecute returns the mode and the execution data of a call of execute.
func splitExecute(t *testing.T, w *world, callData []byte) ([32]byte, []byte) {
	t.Helper()
	v, err := w.abis["KernelV31"].Methods["execute"].Inputs.Unpack(callData[4:])
	if err != nil {
		t.Fatal(err)
	}
	return v[0].([32]byte), v[1].([]byte)
}

func TestExecuteTakesOneCallOrABatch(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	w.give(a.at, 100, 100)
	to := addressOf(key("recipient"))
	account := named{"KernelV31", a.at}
	data, err := op.EncodeExecute([]op.Call{w.transfer(to, 1), {To: to, Value: big.NewInt(2)}})
	w.check(err)
	batchMode, batch := splitExecute(t, w, data)
	if batchMode != ([32]byte{1}) || !bytes.Equal(w.pack(account, "execute", batchMode, batch), data) {
		t.Fatal("the account and the codec do not speak of the same function")
	}
	single := append(append(to.Bytes(), common.LeftPadBytes([]byte{7}, 32)...), 0xab)
	for name, c := range map[string]struct {
		mode [32]byte
		data []byte
		want string
	}{
		"batch":             {batchMode, batch, ""},
		"single":            {[32]byte{}, single, ""},
		"single, no data":   {[32]byte{}, single[:52], ""},
		"single, too short": {[32]byte{}, single[:51], "0x"},
		"unknown call type": {[32]byte{2}, batch, "Unsupported"},
		"static call":       {[32]byte{0xfe}, single, "Unsupported"},
	} {
		w.run(name, func(t *testing.T) {
			if got := w.calls(w.entryPoint.at, account, "execute", c.mode, c.data); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TH-U5, TH-U6: Kernel runs modes and encodings in which two readers can see
// different calls. The codec reads none of them, so nothing of ours signs them.
func TestWhatKernelRunsBeyondTheOneEncodingNobodyHereSigns(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))
	data, err := op.EncodeExecute([]op.Call{w.transfer(to, 1), w.transfer(to, 2)})
	w.check(err)
	mode, batch := splitExecute(t, w, data)
	word := func(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
	swapped := bytes.Clone(batch)
	copy(swapped[64:96], batch[96:128])
	copy(swapped[96:128], batch[64:96])
	transfer := w.transfer(to, 1)
	for name, c := range map[string]struct {
		mode [32]byte
		data []byte
	}{
		"bytes after the end":        {mode, append(bytes.Clone(batch), make([]byte, 32)...)},
		"a gap before the array":     {mode, append(append(word(64), word(0)...), batch[32:]...)},
		"offsets in another order":   {mode, swapped},
		"dirty padding of call data": {mode, append(bytes.Clone(batch[:len(batch)-1]), 1)},
		"padding cut off":            {mode, batch[:len(batch)-1]},
		"try":                        {[32]byte{1, 1}, batch},
		"unused bytes of the mode":   {[32]byte{1, 0, 1}, batch},
		"mode payload":               {[32]byte{1, 31: 1}, batch},
		"delegate call":              {[32]byte{0xff}, append(transfer.To.Bytes(), transfer.Data...)},
	} {
		if got := w.calls(w.entryPoint.at, named{"KernelV31", a.at}, "execute", c.mode, c.data); got != "" &&
			c.mode[0] != 0xff {
			t.Errorf("%s: Kernel refuses it: %q", name, got)
		}
		if _, err := op.DecodeExecute(w.pack(named{"KernelV31", a.at}, "execute", c.mode, c.data)); err == nil {
			t.Errorf("%s: the codec accepts it", name)
		}
	}
}

// Kernel passes a call's reason on as it is and does not say which call it was.
func TestFailedCallUndoesTheBatchAndItsReasonComesThrough(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.give(a.at, 60, 5)
	to := addressOf(key("recipient"))
	for n := range 4 {
		calls := []op.Call{w.transfer(to, 10), w.transfer(to, 10), w.transfer(to, 10), {To: to, Value: big.NewInt(1)}}
		calls[n] = w.transfer(to, 1000)
		want := fmt.Sprintf("ERC20InsufficientBalance(%s,%d,", a.at, 60-10*n)
		u := w.operation(a, 0, calls...)
		w.fails(u, want)
		w.holds(to, 0, 0)
		w.holds(a.at, 60, 5)
		// The service simulates from the entry point's address (protocol §2.3).
		res := w.simulate(chain.Message{From: w.entryPoint.at, To: a.at, Data: u.CallData})
		if got := w.decode(res.Return); !strings.HasPrefix(got, want) {
			t.Fatalf("simulated: %s", got)
		}
		w.refused(u, "AA") // its nonce is used
	}
	w.fails(w.operation(a, 0, op.Call{To: to, Value: big.NewInt(6)}), "")
	w.runs(w.operation(a, 0, w.transfer(to, 1), op.Call{To: to, Value: big.NewInt(5)}))
	w.holds(to, 1, 5)
}

// Who relays an operation chooses the transaction's gas. Too little of it makes
// handleOps revert; it never uses up the nonce of an operation that would run.
func TestRelayerCannotStarveAnOperationOfGas(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.give(a.at, 100, 0)
	u := w.operation(a, 0, w.transfer(addressOf(key("recipient")), 10), w.transfer(addressOf(key("recipient")), 10))
	refused := 0
	for w.gas = 100_000; ; w.gas += w.gas / 8 {
		out := w.submit(u)
		if out.success {
			break
		}
		if out.refused == "" {
			t.Fatalf("with %d gas the operation is used up: %+v", w.gas, out)
		}
		refused++
	}
	if refused < 10 {
		t.Fatalf("only %d gas limits were too small", refused)
	}
	w.holds(addressOf(key("recipient")), 20, 0)
}

func TestAccountReceivesCoinsAndNFTsAndSaysSo(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	account := named{"KernelV31", a.at}
	w.give(a.at, 0, 3)
	w.holds(a.at, 0, 3)
	one, x := big.NewInt(1), common.Address{1}
	for method, args := range map[string][]any{
		"onERC721Received":       {x, x, one, []byte{1}},
		"onERC1155Received":      {x, x, one, one, []byte{}},
		"onERC1155BatchReceived": {x, x, []*big.Int{one}, []*big.Int{one}, []byte{}},
	} {
		if got := get[[4]byte](w, account, method, args...); got != [4]byte(w.abis["KernelV31"].Methods[method].ID) {
			t.Errorf("%s answers %x", method, got)
		}
	}
	for module, want := range map[common.Address]bool{w.ecdsa.at: true, w.roles.at: false, {}: false} {
		if got := get[bool](w, account, "isModuleInstalled", one, module, []byte{}); got != want {
			t.Errorf("isModuleInstalled(%s) answers %t", module, got)
		}
		if get[bool](w, account, "isModuleInstalled", big.NewInt(2), module, []byte{}) {
			t.Errorf("%s is an executor", module)
		}
	}
	if res := w.simulate(chain.Message{To: a.at, Data: []byte{1, 2, 3, 4}}); res.Err == nil {
		t.Error("an unknown function is answered")
	}
}

// Behind its proxies the implementation is code and nothing else.
func TestImplementationItselfIsNoAccount(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	for impl, want := range map[named]string{w.implementation: "already initialized",
		w.delegate: "AlreadyInitialized()"} {
		data := op.InitDataECDSA(w.ecdsa.at, addressOf(owner))
		r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: impl.at, Data: data})
		if got := w.decode(r.Revert); got != want {
			t.Errorf("%s initialised: %s", impl.name, got)
		}
		a := owned{at: impl.at, validator: w.ecdsa.at, sign: w.personal(owner)}
		w.refusedAny(w.operation(a, 0, w.transfer(addressOf(owner), 1)))
		if get[bool](w, impl, "isModuleInstalled", big.NewInt(1), w.ecdsa.at, []byte{}) {
			t.Errorf("%s names a validator", impl.name)
		}
	}
}
