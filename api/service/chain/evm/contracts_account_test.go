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
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
)

const errNotEntryPoint = "NotEntryPointOrSelf()"

func TestAccountExecutesForItsEntryPointAndItselfOnly(t *testing.T) {
	w := newWorld(t)
	owner := key("owner")
	a := w.deployed(w.ecdsaAccount(owner))
	w.give(a.at, 100, 0)
	data, err := op.EncodeExecute([]op.Call{w.transfer(addressOf(owner), 1)})
	w.check(err)
	for _, from := range []common.Address{addressOf(owner), addressOf(w.operator), w.factory.at, w.implementation.at,
		w.paymaster.at} {
		res := w.simulate(chain.Message{From: from, To: a.at, Data: data})
		if got := w.decode(res.Return); got != errNotEntryPoint {
			t.Errorf("from %s: %s", from, got)
		}
	}
	for _, from := range []common.Address{w.entryPoint.at, a.at} {
		if res := w.simulate(chain.Message{From: from, To: a.at, Data: data}); res.Err != nil || len(res.Logs) != 1 {
			t.Errorf("from %s: %v", from, res.Err)
		}
	}
	u := w.operation(a, 0, w.transfer(addressOf(owner), 1))
	p, err := u.Pack()
	w.check(err)
	account := named{"Account", a.at}
	for _, from := range []common.Address{addressOf(owner), a.at} {
		if got := w.calls(from, account, "validateUserOp", p, w.opHash(u), new(big.Int)); got != "NotEntryPoint()" {
			t.Errorf("validation for %s: %s", from, got)
		}
	}
}

// Mode 00 and type 00 with the deciding validator, any key (protocol §2.5).
func TestAccountNonceNamesModeTypeAndDecidingValidator(t *testing.T) {
	w := newWorld(t)
	eoa := key("eoa")
	auth, err := op.Authorization{ChainID: big.NewInt(chainID), Address: w.delegate.at}.Sign(eoa)
	w.check(err)
	w.transact(chain.Tx{From: signers.Local(w.relayer), To: addressOf(w.relayer),
		Authorizations: []op.SignedAuthorization{auth}})
	to := addressOf(key("recipient"))
	for name, a := range map[string]owned{
		"ECDSA": w.ecdsaAccount(key("owner")), "role-based": w.roleAccount(testRoles()),
		"delegated": {at: addressOf(eoa), validator: w.ecdsa.at, sign: w.personal(eoa)},
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
				{Validator: other}, {}, {Validator: a.at},
				{Mode: 1, Validator: a.validator}, {Mode: 2, Validator: a.validator},
				{Mode: 0xff, Validator: a.validator},
				{Type: 1, Validator: a.validator}, {Type: 2, Validator: a.validator},
				{Type: 0x80, Validator: a.validator},
			} {
				w.refused(a.signed(w.unsigned(a, n, w.transfer(to, 1))), "AA23 reverted", "UnsupportedNonce(")
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
	third = a.signed(w.sponsored(third, w.operator, op.PaymasterWindow{ValidUntil: w.now + 600}))
	w.refused(third, "AA25 invalid account nonce")
	w.runs(second)
	w.runs(third)
	w.refused(second, "AA25 invalid account nonce")
	w.holds(to, 3, 0)
}

// splitExecute returns the mode and the execution data of a call of execute.
func splitExecute(t *testing.T, w *world, callData []byte) ([32]byte, []byte) {
	t.Helper()
	v, err := w.abis["Account"].Methods["execute"].Inputs.Unpack(callData[4:])
	if err != nil {
		t.Fatal(err)
	}
	return v[0].([32]byte), v[1].([]byte)
}

func TestExecuteTakesOneCallOrABatchAndNoOtherMode(t *testing.T) {
	w := newWorld(t)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	w.give(a.at, 100, 100)
	to := addressOf(key("recipient"))
	account := named{"Account", a.at}
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
		"batch": {batchMode, batch, ""},
		"empty batch": {batchMode, common.FromHex("0x" + strings.Repeat("0", 62) + "20" +
			strings.Repeat("0", 64)), ""},
		"single":             {[32]byte{}, single, ""},
		"single, no data":    {[32]byte{}, single[:52], ""},
		"single, too short":  {[32]byte{}, single[:51], "NonCanonicalExecution()"},
		"single, empty":      {[32]byte{}, nil, "NonCanonicalExecution()"},
		"delegate call":      {[32]byte{0xff}, single, "UnsupportedMode("},
		"static call":        {[32]byte{0xfe}, single, "UnsupportedMode("},
		"try batch":          {[32]byte{1, 1}, batch, "UnsupportedMode("},
		"try single":         {[32]byte{0, 1}, single, "UnsupportedMode("},
		"unknown call type":  {[32]byte{2}, batch, "UnsupportedMode("},
		"unused bytes":       {[32]byte{1, 0, 1}, batch, "UnsupportedMode("},
		"mode selector":      {[32]byte{1, 0, 0, 0, 0, 0, 1}, batch, "UnsupportedMode("},
		"mode payload":       {[32]byte{31: 1}, single, "UnsupportedMode("},
		"batch in one word":  {batchMode, make([]byte, 32), "NonCanonicalExecution()"},
		"batch without data": {batchMode, nil, "0x"},
	} {
		w.run(name, func(t *testing.T) {
			if got := w.calls(w.entryPoint.at, account, "execute", c.mode, c.data); got != c.want {
				if c.want == "" || !strings.HasPrefix(got, c.want) {
					t.Fatalf("got %q, want %q", got, c.want)
				}
			}
			supported := get[bool](w, account, "supportsExecutionMode", c.mode)
			if want := c.mode == [32]byte{} || c.mode == batchMode; supported != want {
				t.Fatalf("supportsExecutionMode answers %t", supported)
			}
		})
	}
}

// TH-U6 on chain: no two readers can see different calls in a batch.
func TestExecuteRefusesABatchInAnyOtherEncoding(t *testing.T) {
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
	cases := map[string][]byte{
		"bytes after the end":        append(bytes.Clone(batch), make([]byte, 32)...),
		"one byte after the end":     append(bytes.Clone(batch), 0),
		"a gap before the array":     append(append(word(64), word(0)...), batch[32:]...),
		"offsets in another order":   swapped,
		"dirty padding of call data": append(bytes.Clone(batch[:len(batch)-1]), 1),
		"padding cut off":            batch[:len(batch)-1],
	}
	for name, b := range cases {
		if got := w.calls(w.entryPoint.at, named{"Account", a.at}, "execute", mode,
			b); got != "NonCanonicalExecution()" && got != "0x" {
			t.Errorf("%s: %q", name, got)
		}
		if _, err := op.DecodeExecute(w.pack(named{"Account", a.at}, "execute", mode, b)); err == nil {
			t.Errorf("%s: the codec accepts it", name)
		}
	}
	// Every single bit of the words that are structure is fixed.
	for i := 0; i < 4*32; i++ {
		b := bytes.Clone(batch)
		b[i] ^= 1
		if got := w.calls(w.entryPoint.at, named{"Account", a.at}, "execute", mode, b); got == "" {
			t.Fatalf("byte %d changed and the batch ran", i)
		}
	}
}

func TestFailedCallUndoesTheBatchAndNamesItsIndex(t *testing.T) {
	w := newWorld(t)
	a := w.ecdsaAccount(key("owner"))
	w.give(a.at, 60, 5)
	to := addressOf(key("recipient"))
	for n := range 4 {
		calls := []op.Call{w.transfer(to, 10), w.transfer(to, 10), w.transfer(to, 10), {To: to, Value: big.NewInt(1)}}
		calls[n] = w.transfer(to, 1000)
		want := fmt.Sprintf("CallFailed(%d,[ERC20InsufficientBalance(%s,", n, a.at)
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
	w.fails(w.operation(a, 0, op.Call{To: to, Value: big.NewInt(6)}), "CallFailed(0,[0x])")
	w.runs(w.operation(a, 0, w.transfer(to, 1), op.Call{To: to, Value: big.NewInt(5)}))
	w.holds(to, 1, 5)
}

// The entry point records 2048 bytes at most; CallFailed must decode from that.
func TestLongReasonIsCutSoThatTheEntryPointsRecordDecodes(t *testing.T) {
	bomb := named{at: common.Address{0xb0}}
	// Returns 5000 bytes of zero memory as its reason.
	w := newWorld(t, evm.Account{Address: bomb.at, Nonce: 1, Code: common.FromHex("6113885ffd")})
	a := w.ecdsaAccount(key("owner"))
	u := w.operation(a, 0, op.Call{To: bomb.at, Value: new(big.Int)})
	w.fails(u, "CallFailed(0,[0x"+strings.Repeat("00", 1024)+"])")
	res := w.simulate(chain.Message{From: w.entryPoint.at, To: a.at, Data: u.CallData})
	e := w.abis["Account"].Errors["CallFailed"]
	args, err := e.Unpack(res.Return)
	w.check(err)
	if reason := args.([]any)[1].([]byte); len(reason) != 1024 || len(res.Return) > 2048 {
		t.Fatalf("a reason of %d bytes in %d", len(reason), len(res.Return))
	}
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
	account := named{"Account", a.at}
	w.give(a.at, 0, 3)
	w.holds(a.at, 0, 3)
	one, x := big.NewInt(1), common.Address{1}
	for method, args := range map[string][]any{
		"onERC721Received":       {x, x, one, []byte{1}},
		"onERC1155Received":      {x, x, one, one, []byte{}},
		"onERC1155BatchReceived": {x, x, []*big.Int{one}, []*big.Int{one}, []byte{}},
	} {
		if got := get[[4]byte](w, account, method, args...); got != [4]byte(w.abis["Account"].Methods[method].ID) {
			t.Errorf("%s answers %x", method, got)
		}
	}
	for id, want := range map[[4]byte]bool{
		{0x01, 0xff, 0xc9, 0xa7}: true, {0x15, 0x0b, 0x7a, 0x02}: true, {0x4e, 0x23, 0x12, 0xe0}: true,
		{0x16, 0x26, 0xba, 0x7e}: true,
		{0xff, 0xff, 0xff, 0xff}: false, {}: false,
	} {
		if got := get[bool](w, account, "supportsInterface", id); got != want {
			t.Errorf("supportsInterface(%x) answers %t", id, got)
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
	for _, impl := range []named{w.implementation, w.delegate} {
		data := op.InitDataECDSA(w.ecdsa.at, addressOf(owner))
		r := w.transact(chain.Tx{From: signers.Local(w.relayer), To: impl.at, Data: data})
		if got := w.decode(r.Revert); got != "AlreadyInitialized()" {
			t.Errorf("initialised: %s", got)
		}
		a := owned{at: impl.at, validator: w.ecdsa.at, sign: w.personal(owner)}
		w.refused(w.operation(a, 0, w.transfer(addressOf(owner), 1)), "AA23 reverted", "UnsupportedInitialization()")
		if get[bool](w, impl, "isModuleInstalled", big.NewInt(1), w.ecdsa.at, []byte{}) {
			t.Error("it names a validator")
		}
	}
}
