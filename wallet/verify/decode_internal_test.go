package verify

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/internal/golden"
)

var (
	someone = common.HexToAddress("0x1111111111111111111111111111111111111111")
	other   = common.HexToAddress("0x2222222222222222222222222222222222222222")
)

// call is one call with a value in wei and data in hexadecimal.
func call(to common.Address, wei int64, data []byte) op.Call {
	return op.Call{To: to, Value: big.NewInt(wei), Data: data}
}

func TestACallIsDescribedWithItsTargetFunctionArgumentsAndValue(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	usdc := golden.TokenOf(golden.BaseUSDC)
	for want, c := range map[string]op.Call{
		"plain transfer to " + someone.Hex(): call(someone,
			0, nil),
		"plain transfer to " + someone.Hex() + " with 1 wei": call(someone,
			1, nil),
		someone.Hex() + " data 0xdeadbeef":                         call(someone, 0, common.FromHex("0xdeadbeef0102")),
		someone.Hex() + " data 0xde":                               call(someone, 0, []byte{0xde}),
		"USDC " + usdc.Hex() + " transfer(" + other.Hex() + ", 5)": call(usdc, 0, erc20.Transfer(other, big.NewInt(5))),
		"USDC " + usdc.Hex() + " transferFrom(" + someone.Hex() + ", " + other.Hex() +
			", 7) with 3 wei": call(usdc, 3, erc20.TransferFrom(someone, other, big.NewInt(7))),
		someone.Hex() + " deposit(0x01" + strings.Repeat("0", 62) + ", " + usdc.Hex() + ", 5, 0 (" + unixText(0) +
			"))": call(someone, 0, golden.EarlierDeposit(escrow.Deposit{QuoteID: [32]byte{1}, Token: usdc,
			Amount: big.NewInt(5)})),
	} {
		if got := p.describe(8453, c); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestATimeIsShownOrSaidToBeBeyondEveryCalendar(t *testing.T) {
	for s, want := range map[uint64]string{0: "1970-01-01 00:00:00 UTC", maxTime: "4147-08-20 07:32:16 UTC",
		maxTime + 1: "beyond every calendar", 1<<64 - 1: "beyond every calendar"} {
		if got := unixText(s); got != want {
			t.Errorf("%d: %q, not %q", s, got, want)
		}
	}
}

func TestTheViewOfACallShowsWhatItMovesAndToWhom(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	usdc := golden.TokenOf(golden.BaseUSDC)
	known := map[common.Address]bool{other: true}
	for name, c := range map[string]struct {
		line      line
		amount    string // base units and id of what moves; "" is nothing
		recipient string
		first     bool
	}{
		"a transfer of a token": {line{call: call(usdc, 0, erc20.Transfer(someone, big.NewInt(5))),
			role: RoleCall}, "5 " + golden.BaseUSDC, someone.Hex(), true},
		"a transfer to a known one": {line{call: call(usdc, 0, erc20.Transfer(other, big.NewInt(5))),
			role: RoleCall}, "5 " + golden.BaseUSDC, other.Hex(), false},
		"a token that nobody knows": {line{call: call(someone, 0, erc20.Transfer(other, big.NewInt(5))),
			role: RoleCall}, "", other.Hex(), false},
		"that also sends a native value": {line{call: call(someone, 9, erc20.Transfer(other, big.NewInt(5))),
			role: RoleCall}, "9 " + golden.BaseETH, other.Hex(), false},
		"a token and a native value": {line{call: call(usdc, 9, erc20.Transfer(other, big.NewInt(5))), role: RoleCall},
			"5 " + golden.BaseUSDC, other.Hex(), false},
		"a plain payment": {line{call: call(someone, 9, nil), role: RoleCall}, "9 " + golden.BaseETH,
			someone.Hex(), true},
		"a declared allowance": {line{call: call(usdc, 0, erc20.Approve(someone, big.NewInt(5))), role: RoleApprove},
			"5 " + golden.BaseUSDC, "", false},
		"an unknown function": {line{call: call(someone, 0, common.FromHex("0xdeadbeef")), role: RoleCall}, "", "",
			false},
	} {
		v := p.callView(1, 8453, c.line, "", known)
		amount := ""
		if v.Amount != nil {
			amount = v.Amount.Amount.String() + " " + v.Amount.Asset.Display()
		}
		if !strings.EqualFold(amount, c.amount) || v.Recipient != c.recipient || v.FirstTime != c.first ||
			v.Data != "0x"+hex.EncodeToString(c.line.call.Data) {
			t.Errorf("%s: %q %+v", name, amount, v)
		}
	}
}

func TestWhatLeavesTheAccountIsTheSumOfEveryLineThatCanTakeIt(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	usdc := golden.TokenOf(golden.BaseUSDC)
	v := big.NewInt
	got := p.outflow(8453, w.Account, []line{
		{call: call(usdc, 0, erc20.Approve(someone, v(1_000_000))), role: RoleRevoke},         // takes a right away
		{call: call(usdc, 0, erc20.TransferFrom(someone, other, v(100_000))), role: RoleCall}, // of somebody else
		// only its value is known
		{call: call(someone, 7, common.FromHex("0xdeadbeef")), role: RoleCall},
		{call: call(usdc, 0, erc20.TransferFrom(w.Account, other, v(10_000))), role: RoleCall}, //
		{call: call(usdc, 0, erc20.Transfer(other, v(1_000))), role: RoleCall},                 //
		{call: call(usdc, 1, erc20.Approve(someone, v(100))), role: RoleApprove},               //
		{call: call(usdc, 0, erc20.Transfer(other, v(0))), role: RoleCall},                     // nothing
	})
	if len(got) != 2 || !strings.EqualFold(got[0].Asset.Display(), golden.BaseETH) || got[0].Amount.Int64() != 8 ||
		got[1].Amount.Int64() != 11_100 {
		t.Errorf("%+v", got)
	}
}

func TestU9_ARefusalNamesTheCallThatWouldReconfigureTheAccount(t *testing.T) {
	w := golden.New(t)
	j := &judge{Policy: DefaultPolicy(w.Network, w.Catalog)}
	j.forbiddenTargets(w.Account,
		[]op.Call{call(someone, 0, nil), call(w.Account, 0, nil), call(w.Account, 1, nil)}, "/at")
	if r := j.report.Reasons; len(r) != 1 || r[0].Code != "U9" || r[0].Got != "call 2 to "+w.Account.Hex() ||
		r[0].Path != "/at" {
		t.Errorf("%+v", r)
	}
}

func TestU7_AMismatchNamesTheCallAndTheFirstOneThatIsMissing(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	a, b, c, strange := call(someone, 1, nil), call(someone, 2, nil), call(someone, 3, nil), call(other, 0, nil)
	for name, x := range map[string]struct {
		calls, asked []op.Call
		at           int
		code         string
		want, got    string
	}{
		"one that is not asked": {[]op.Call{a, strange}, []op.Call{a, b, c}, 1, "U7", p.describe(8453, b),
			"call 2: " + p.describe(8453, strange)},
		"one more": {[]op.Call{a, b, strange}, []op.Call{a, b}, 2, "U7", "nothing more",
			"call 3: " + p.describe(8453, strange)},
		"one less":      {[]op.Call{a}, []op.Call{a, b}, 1, "U7", "2 calls of yours", "1 call in all"},
		"another value": {[]op.Call{c}, []op.Call{b, call(other, 3, nil)}, 0, "U10", "2 wei", "3 wei"},
		"an approval": {[]op.Call{call(other, 0, erc20.Approve(someone, big.NewInt(1)))}, []op.Call{a},
			0, "U8", "declared approvals only", "call 1: " +
				p.describe(8453, call(other, 0, erc20.Approve(someone, big.NewInt(1))))},
		"other data to the same one": {[]op.Call{call(someone, 1, []byte{1})}, []op.Call{a}, 0, "U7",
			p.describe(8453, a), "call 1: " + p.describe(8453, call(someone, 1, []byte{1}))},
	} {
		j := &judge{Policy: p}
		j.explainMismatch(8453, x.calls, x.asked, x.at, "/at")
		if r := j.report.Reasons; len(r) != 1 || r[0].Code != x.code || r[0].Want != x.want || r[0].Got != x.got ||
			r[0].Level != Refuse {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestU7_EachCallOfTheIntentMustBeReadable(t *testing.T) {
	for name, change := range map[string]func(to, value, data *string){
		"no address":  func(to, _, _ *string) { *to = "somewhere" },
		"no number":   func(_, value, _ *string) { *value = "-1" },
		"half a byte": func(_, _, data *string) { *data = "0x123" },
	} {
		w := golden.New(t)
		if _, ok := askedCalls(w.Draft); !ok {
			t.Fatal("the sample cannot be read")
		}
		c := &w.Draft.Calls[1]
		change(&c.To, &c.Value, &c.Data)
		if _, ok := askedCalls(w.Draft); ok {
			t.Errorf("%s was read", name)
		}
	}
}

func TestU7_WhatCannotBeComparedIsRefusedForTheCallsAndForTheAllowancesAlike(t *testing.T) {
	for name, change := range map[string]func(w *golden.World){
		"calls": func(w *golden.World) { w.Draft.Calls[0].Data = "0x1" },
		"allowances": func(w *golden.World) {
			w.Draft.Allowances = []api.AllowanceRequirement{
				{AssetType: golden.BaseETH, Amount: "1", Spender: golden.Vault}}
		},
	} {
		w := golden.New(t)
		callData, err := op.EncodeExecute(w.Asked())
		if err != nil {
			t.Fatal(err)
		}
		change(w)
		j := &judge{Policy: DefaultPolicy(w.Network, w.Catalog)}
		if lines := j.preparedCalls(w.Draft, 8453, w.Account, callData,
			"/chainOperation"); lines != nil || !j.report.Has("U7", Refuse) {
			t.Errorf("%s: %+v", name, j.report.Reasons)
		}
	}
}

func TestV3_OnlyDataOfTheSelectorAndTheWholeEncodingIsDecoded(t *testing.T) {
	pause := common.FromHex("0x8456cb59") // pause()
	if name, args, ok := decodeAs("pause()", pause); !ok || name != "pause()" || len(args) != 0 {
		t.Errorf("%q %v %v", name, args, ok)
	}
	for name, c := range map[string]struct {
		function string
		data     []byte
	}{
		"three bytes": {"pause()", pause[:3]}, "another selector": {"unpause()", pause},
		"no function": {"pause(", pause}, "something behind it": {"pause()", append(pause, 0)},
	} {
		if _, _, ok := decodeAs(c.function, c.data); ok {
			t.Errorf("%s was decoded", name)
		}
	}
}

func TestQ2_OnlyTheUsualDeploymentMayBeLeftOut(t *testing.T) {
	const none, usual, delegated = "", api.DeploymentERC4337, api.DeploymentEIP7702
	for _, c := range []struct {
		kind, want, got string
		same            bool
	}{
		{api.AccountKernelV31, usual, none, true}, {api.AccountKernelV31, none, usual, true},
		{api.AccountKernelV31, usual, usual, true}, {api.AccountRoleBased, none, usual, true},
		{api.AccountKernelV31, usual, delegated, false}, {api.AccountKernelV31, none, delegated, false},
		{api.AccountKernelV31, delegated, none, false}, {api.AccountKernelV31, delegated, usual, false},
		{api.AccountKernelV33, delegated, none, false}, {api.AccountKernelV33, delegated, delegated, true},
	} {
		a := api.Account{Type: c.kind, AccountAddress: someone.Hex()}
		b := a
		a.DeploymentType, b.DeploymentType = c.want, c.got
		if sameAccount(a, b) != c.same {
			t.Errorf("%s: %q and %q", c.kind, c.want, c.got)
		}
	}
}

func TestD6_EachPaymentIsComparedWithTheDelegation(t *testing.T) {
	authorization := func(chain int64, nonce uint64) *op.Authorization {
		return &op.Authorization{ChainID: big.NewInt(chain), Address: someone, Nonce: nonce}
	}
	p := &PreparedOp{}
	p.signing.delegation.authorization = *authorization(8453, 3)
	for name, c := range map[string]struct {
		legs    []leg
		refused bool
	}{
		"none": {[]leg{{}}, false},
		"the same": {[]leg{{operation: operation{delegation: authorization(8453, 3)}}},
			false},
		"another chain": {[]leg{{operation: operation{delegation: authorization(10, 9)}}},
			false},
		"another nonce": {[]leg{{operation: operation{delegation: authorization(8453, 4)}}},
			true},
		"another nonce behind one without any": {[]leg{{},
			{operation: operation{delegation: authorization(8453, 4)}}}, true},
		"another nonce behind one of another chain": {[]leg{{operation: operation{delegation: authorization(10, 1)}},
			{operation: operation{delegation: authorization(8453, 4)}}}, true},
	} {
		j := &judge{}
		j.oneDelegation(p, c.legs)
		if j.refused() != c.refused {
			t.Errorf("%s: %+v", name, j.report.Reasons)
		}
	}
}

func TestACallOfABaseChainIsCountedInItsOwnCoin(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	out := p.outflow(137, w.Account, []line{{call: call(someone, 5, nil), role: RoleCall}})
	if len(out) != 1 || out[0].Asset != caip.Native(137) || out[0].Amount.Int64() != 5 {
		t.Errorf("%+v", out)
	}
}
