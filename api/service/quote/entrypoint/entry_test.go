package entrypoint_test

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"
	"unicode"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/assets"
)

func codec(tb testing.TB) *entrypoint.Codec {
	tb.Helper()
	return entrypoint.New(common.Address{1}, common.Address{2})
}

func pack(tb testing.TB, signature string, args ...any) []byte {
	tb.Helper()
	name, rest, _ := strings.Cut(signature, "(")
	var inputs abi.Arguments
	for _, t := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		typ, err := abi.NewType(t, "", nil)
		if err != nil {
			tb.Fatal(name, err)
		}
		inputs = append(inputs, abi.Argument{Type: typ})
	}
	data, err := inputs.Pack(args...)
	if err != nil {
		tb.Fatal(err)
	}
	return append(crypto.Keccak256([]byte(signature))[:4], data...)
}

func TestExplainNamesTheReason(t *testing.T) {
	c := codec(t)
	got := c.Explain(pack(t, "Error(string)", "pool is empty"))
	if got.Op != -1 || got.Text != "pool is empty" {
		t.Fatalf("got %+v", got)
	}
	short := pack(t, "ERC20InsufficientBalance(address,uint256,uint256)", common.Address{9}, big.NewInt(1),
		big.NewInt(2))
	got = c.Explain(short)
	if !strings.HasPrefix(got.Text, "ERC20InsufficientBalance(0x09") || !strings.HasSuffix(got.Text, ", 1, 2)") {
		t.Fatalf("got %+v", got)
	}
}

// calls is a view in which the calls to some addresses fail.
type calls struct {
	chain.State
	fail map[common.Address]bool
	made []chain.Message
}

func (c *calls) Call(m chain.Message) chain.Result {
	c.made = append(c.made, m)
	if c.fail[m.To] {
		return chain.Result{Err: chain.ErrReverted}
	}
	return chain.Result{}
}

func TestFailedCallIsTheFirstThatFailsWhenTheAccountMakesThem(t *testing.T) {
	account, good, bad := common.Address{1}, common.Address{2}, common.Address{3}
	for want, to := range map[int][]common.Address{0: {bad, good}, 1: {good, bad, bad}, -1: {good, good}} {
		var batch []op.Call
		for i, a := range to {
			batch = append(batch, op.Call{To: a, Value: big.NewInt(int64(i)), Data: []byte{byte(i)}})
		}
		data, err := op.EncodeExecute(batch)
		if err != nil {
			t.Fatal(err)
		}
		st := &calls{fail: map[common.Address]bool{bad: true}}
		if got := entrypoint.FailedCall(st, account, data); got != want {
			t.Errorf("call %d, want %d", got, want)
		}
		for i, m := range st.made {
			if m.From != account || m.To != to[i] || m.Value.Int64() != int64(i) || m.Data[0] != byte(i) {
				t.Errorf("call %d was made as %+v", i, m)
			}
		}
	}
	if got := entrypoint.FailedCall(&calls{}, account, []byte{1, 2, 3, 4}); got != -1 {
		t.Errorf("call %d of what is no batch", got)
	}
}

func TestExplainNamesOperationAndCode(t *testing.T) {
	got := codec(t).Explain(pack(t, "FailedOp(uint256,string)", big.NewInt(1), "AA24 signature error"))
	if got.Op != 1 || got.Code != "AA24" {
		t.Fatalf("got %+v", got)
	}
}

func TestOnlyTheFillersOwnDeadlineIsTooLate(t *testing.T) {
	c, late := codec(t), pack(t, "TooLate(uint64)", uint64(7))
	if got := c.Explain(late); got.Op != -1 || got.Code != entrypoint.TooLate || got.Text != "TooLate(7)" {
		t.Errorf("the filler's: %+v", got)
	}
	if got := c.Explain(pack(t, "OperationFailed(uint256,bytes)", big.NewInt(0), late)); !got.CallsFailed() {
		t.Errorf("that of a call: %+v", got)
	}
	got := c.Explain(pack(t, "FailedOpWithRevert(uint256,string,bytes)", big.NewInt(1), "AA23 reverted", late))
	if got.Op != 1 || got.Code != "AA23" {
		t.Errorf("that of an account: %+v", got)
	}
}

func TestExplainNeverRepeatsControlCharacters(t *testing.T) {
	got := codec(t).Explain(pack(t, "Error(string)", "\x1b[2Jfine\u202e"))
	for _, r := range got.Text {
		if unicode.IsControl(r) || r == '\u202e' {
			t.Fatalf("reason %q holds %U", got.Text, r)
		}
	}
}

// The codec reads each interface when it is first needed, without an error to return.
func TestEveryInterfaceCanBeReadAndEveryErrorIsExplained(t *testing.T) {
	c := codec(t)
	for _, name := range assets.ContractNames() {
		art, err := assets.Contract(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := abi.JSON(bytes.NewReader(art.ABI))
		if err != nil {
			t.Fatal(name, err)
		}
		for _, x := range parsed.Errors {
			if got := c.Explain(x.ID[:4]).Text; !strings.HasPrefix(got, x.Name) && x.Sig != "Error(string)" {
				t.Errorf("%s of %s is explained as %q", x.Name, name, got)
			}
		}
	}
	packed := op.PackedUserOp{Nonce: new(big.Int), PreVerificationGas: new(big.Int)}
	_, validate := c.ValidateUserOp(packed, common.Hash{})
	_, ask := c.AskDeposit(common.Hash{}, common.Address{})
	if err := errors.Join(validate, ask); err != nil {
		t.Error(err)
	}
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte{})
	f.Add(pack(f, "FailedOp(uint256,string)", big.NewInt(1), "AA24 signature error"))
	f.Add(pack(f, "PostOpReverted(bytes)", []byte{1, 2, 3}))
	f.Add(pack(f, "Panic(uint256)", big.NewInt(17)))
	c := codec(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		got := c.Explain(data)
		if got.Text == "" {
			t.Error("no words for a failure")
		}
	})
}

func FuzzOutcomes(f *testing.F) {
	f.Add([]byte{}, true)
	f.Add(make([]byte, 128), false)
	c := codec(f)
	id := crypto.Keccak256Hash([]byte("UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"))
	why := crypto.Keccak256Hash([]byte("UserOperationRevertReason(bytes32,address,uint256,bytes)"))
	f.Fuzz(func(t *testing.T, data []byte, event bool) {
		topic := why
		if event {
			topic = id
		}
		out, err := c.Outcomes([]chain.Log{{Address: common.Address{1}, Topics: []common.Hash{topic, {1}, {2}, {3}},
			Data: data}})
		if err == nil && event && len(out) != 1 {
			t.Error("a readable event was lost")
		}
	})
}

func TestExplainKnowsWhatTheValidatorsRevertWith(t *testing.T) {
	c := codec(t)
	for signature, want := range map[string]string{"NotAdmin()": "NotAdmin", "InvalidRoles()": "InvalidRoles"} {
		if got := c.Explain(crypto.Keccak256([]byte(signature))[:4]); !strings.HasPrefix(got.Text, want) {
			t.Errorf("%s is explained as %q", signature, got.Text)
		}
	}
	if got := c.Explain(pack(t, "WrongNonce(uint256)", big.NewInt(7))); got.Text != "WrongNonce(7)" {
		t.Errorf("got %q", got.Text)
	}
}
