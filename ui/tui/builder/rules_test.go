package builder

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/api/op/erc20"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"

	"github.com/ethereum/go-ethereum/common"
)

func TestTheTrialCallIsATransferOfUSDCOnBaseToTheFirstContact(t *testing.T) {
	r := newRig(t)
	r.press("d", "enter")
	open := r.sent[len(r.sent)-1].(screen.OpenMsg)
	arg, ok := open.Arg.(review.StartArg)
	if !ok || open.Screen != screen.Review {
		t.Fatalf("%+v", open)
	}
	d := arg.Intent.Draft()
	want := compose.Hex(erc20.Transfer(common.HexToAddress(payee), big.NewInt(1_600_500_000)))
	if len(d.Calls) != 1 || d.Calls[0].To != usdc || d.Calls[0].Data != want || d.TargetChain != "eip155:8453" {
		t.Fatalf("%+v", d)
	}
	if len(d.TokensRequired) != 1 || d.TokensRequired[0].Amount != "1600500000" ||
		!strings.HasPrefix(d.TokensRequired[0].AssetType, "eip155:8453/erc20:") {
		t.Fatalf("the required token is not suggested: %+v", d.TokensRequired)
	}
	if d.SlippageBps != intent.DefaultSlippageBps || d.ValidUntil != "" || d.Network != r.s.Network {
		t.Fatalf("%+v", d)
	}
}

func TestAWholeCallCanBeTypedWithTheKeyboardAlone(t *testing.T) {
	r := newRig(t)
	r.press("tab", "shift+tab", "enter", "esc") // moving around changes nothing
	r.press("esc", "g", "down", "down").typeText("usdc").press("tab").typeText(
		"transfer(address to, uint256 amount)").press("tab").
		typeText("demo payee").press("tab").typeText("250.5").press("tab", "tab", "esc", "r")
	open, ok := r.sent[len(r.sent)-1].(screen.OpenMsg)
	if !ok {
		t.Fatalf("%v %v", r.s.mistakes(), r.sent)
	}
	d := open.Arg.(review.StartArg).Intent.Draft()
	if want := compose.Hex(erc20.Transfer(common.HexToAddress(payee), big.NewInt(250_500_000))); d.Calls[0].Data !=
		want ||
		!strings.EqualFold(d.Calls[0].To, usdc) {
		t.Fatalf("%+v", d.Calls)
	}
}

func TestSingleLettersAreTextWhileAFieldIsEdited(t *testing.T) {
	r := newRig(t)
	r.on(compose.IDSig(0)).typeText("ndxar")
	if got := r.s.b.Calls[0].Signature; got != "ndxar" || len(r.s.b.Calls) != 1 || !r.s.Capturing() {
		t.Fatalf("%q, %d calls", got, len(r.s.b.Calls))
	}
	r.press("esc")
	if r.s.Capturing() {
		t.Fatal("esc does not end the editing")
	}
	r.press("n")
	if len(r.s.b.Calls) != 2 {
		t.Fatal("n adds no call")
	}
}

func TestApproveTypedAsACallBecomesAnAllowanceByOneKey(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), usdc).fill(compose.IDSig(0),
		"approve(address spender, uint256 amount)").fill(compose.IDArg(0, []int{0}),
		router).fill(compose.IDArg(0, []int{1}), "100").press("esc")
	if _, ok := r.s.freeze(); ok {
		t.Fatal("an approve passed as a call")
	}
	r.s.focus = compose.IDCall(0)
	r.press("a")
	if len(r.s.b.Allow) != 1 || r.s.b.Allow[0].Amount != "100" || r.s.b.Allow[0].Spender != router ||
		!strings.HasSuffix(r.s.b.Allow[0].Asset, strings.ToLower(usdc)) {
		t.Fatalf("%+v", r.s.b.Allow)
	}
	r.fill(compose.IDTo(0), router).fill(compose.IDSig(0), "deposit()").press("esc")
	d := r.frozen().Draft()
	if len(d.Allowances) != 1 || d.Allowances[0].Amount != "100000000" {
		t.Fatalf("%+v", d.Allowances)
	}
}

func TestOtherGrantsOfRightsAreMistakes(t *testing.T) {
	for _, sig := range []string{"increaseAllowance(address,uint256)", "setApprovalForAll(address,bool)",
		"permit(address,address,uint256,uint256,uint8,bytes32,bytes32)", "approve(address,address,uint160,uint48)"} {
		r := newRig(t)
		r.fill(compose.IDTo(0), usdc).fill(compose.IDSig(0), sig).press("esc")
		if m := r.s.mistakes()[compose.IDSig(0)]; !strings.Contains(m, "under allow") {
			t.Errorf("%s: %q", sig, m)
		}
	}
}

func TestAmountsInWholeTokensNeverBecomeBaseUnitsUnseen(t *testing.T) {
	r := newRig(t)
	r.press("d")
	arg := r.s.b.Calls[0].Args[1]
	r.on(compose.IDArg(0, []int{1})).press("ctrl+t")
	if arg.Text != "1600500000" || arg.Units {
		t.Fatalf("%q", arg.Text)
	}
	r.press("ctrl+t")
	if arg.Text != "1600.5" {
		t.Fatalf("%q", arg.Text)
	}
	// 250 whole tokens of a known token must not turn into 250 base units of an unknown one.
	arg.Text = "250"
	r.press("esc")
	r.s.b.Calls[0].To = router
	if _, ok := r.s.freeze(); ok || r.s.mistakes()[compose.IDArg(0, []int{1})] == "" {
		t.Fatal("the unit was lost silently")
	}
}

func TestRawCallDataIsDecodedIntoFieldsWhenAKnownFunctionFits(t *testing.T) {
	data := compose.Hex(erc20.Transfer(common.HexToAddress(payee), big.NewInt(1_500_000)))
	r := newRig(t)
	r.fill(compose.IDTo(0), usdc).on(compose.IDSig(0)).paste(data)
	c := r.s.b.Calls[0]
	if c.Raw || c.Fn == nil || c.Args[1].Text != "1.5" || c.Args[0].Text != payee {
		t.Fatalf("not decoded: raw %v, %+v", c.Raw, c.Fn)
	}
	r.on(compose.IDSig(0)).paste("0x12345678ff")
	if !c.Raw || c.Data != "0x12345678ff" {
		t.Fatal("unknown call data must stay as it is")
	}
	if got := r.frozen().Draft().Calls[0].Data; got != "0x12345678ff" {
		t.Fatal(got)
	}
}

func TestABIJSONIsTakenFromAPaste(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), router).on(compose.IDSig(0)).paste(
		`[{"type":"function","name":"one","inputs":[]},{"type":"function","name":"two","inputs":[{"name":"x",` +
			`"type":"uint8"}]}]`)
	if !r.s.choice.IsOpen() {
		t.Fatal("no list of functions")
	}
	r.press("down", "enter")
	if fn := r.s.b.Calls[0].Fn; fn == nil || fn.String() != "two(uint8 x)" {
		t.Fatalf("%v", fn)
	}
}

func TestCallsCanBeAddedCopiedMovedAndRemoved(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.focus = compose.IDCall(0)
	r.press("p")
	r.s.b.Calls[1].Args[1].Text = "7"
	if r.s.b.Calls[0].Args[1].Text != "1600.5" {
		t.Fatal("the copy shares its fields")
	}
	if d := r.frozen().Draft(); len(d.Calls) != 2 || d.TokensRequired[0].Amount != "1607500000" {
		t.Fatalf("%+v", d)
	}
	r.s.focus = compose.IDCall(1)
	r.press("K")
	if r.s.b.Calls[0].Args[1].Text != "7" || r.s.focus != compose.IDCall(0) {
		t.Fatal("not moved")
	}
	r.press("x")
	if len(r.s.b.Calls) != 1 || r.s.b.Calls[0].Args[1].Text != "1600.5" {
		t.Fatal("not removed")
	}
	r.press("x")
	if !r.s.b.Empty() {
		t.Fatal("the last call is not emptied")
	}
}

func TestNestedArraysGrowAndShrink(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), router).fill(compose.IDSig(0), "f((uint256 a, bytes[] b)[] items)").press("esc")
	r.s.focus = compose.IDArg(0, []int{0})
	r.press("+", "+")
	r.s.focus = compose.IDArg(0, []int{0, 1, 1})
	r.press("+")
	r.s.focus = compose.IDArg(0, []int{0, 1, 1, 0})
	r.press("ctrl+x")
	r.s.focus = compose.IDArg(0, []int{0, 0})
	r.press("x")
	r.fill(compose.IDArg(0, []int{0, 0, 0}), "5").press("esc")
	fn, _ := abicall.ParseSignature("f((uint256 a, bytes[] b)[] items)")
	want, err := fn.Encode([]abicall.Value{{Items: []abicall.Value{{Items: []abicall.Value{{Text: "5"}, {}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.frozen().Draft().Calls[0].Data; got != compose.Hex(want) {
		t.Fatalf("%s\n%s", got, compose.Hex(want))
	}
}

func TestMistakesStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.Calls[0].To = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"
	r.s.b.Calls[0].Value = "1.2.3"
	r.s.b.Valid.Preset = compose.OwnMinutes
	r.s.b.Valid.Text = "0"
	m := r.s.mistakes()
	for _, id := range []string{compose.IDTo(0), compose.IDValue(0), compose.IDValid + compose.OwnText} {
		if m[id] == "" {
			t.Errorf("no mistake at %s: %v", id, m)
		}
	}
	r.press("r")
	if r.s.focus != compose.IDTo(0) || len(r.sent) != 1 {
		t.Fatalf("focus %s, sent %v", r.s.focus, r.sent)
	}
}

func TestFailuresOfTheServiceStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.Own, r.s.b.Needs = true, []*compose.Need{{Asset: "eip155:8453/slip44:60", Amount: "1"}}
	r.s.b.Allow = []*compose.Allowance{{Asset: "eip155:8453/erc20:" + strings.ToLower(usdc), Spender: router,
		Amount: "1"}}
	var fs []api.Failure
	want := map[string]string{
		"calls[0].to": compose.IDTo(0), "calls[0].data": compose.IDSig(0), "calls[0].value": compose.IDValue(0),
		"tokensRequired[0].amount":           compose.IDNeed(0, "amount"),
		"tokensRequired[0].assetType":        compose.IDNeed(0, "asset"),
		"allowanceRequirements[0].spender":   compose.IDAllowance(0, "spender"),
		"allowanceRequirements[0].assetType": compose.IDAllowance(0, "asset"), "fromAssetId": compose.IDFund,
		"slippageTolerance": compose.IDSlip, "validUntil": compose.IDValid, "targetChain": compose.IDChain,
	}
	for path := range want {
		fs = append(fs, api.Failure{Path: path, Expected: "better", Got: "x"})
	}
	r.s.refuse(append(fs, api.Failure{Path: "accounts[0].type", Expected: "x"}), nil)
	ids := map[string]bool{}
	for _, row := range r.s.rows() {
		ids[row.id] = true
	}
	for path, id := range want {
		if r.s.fieldErrors[id] == "" || !ids[id] {
			t.Errorf("%s is not told at a row %s", path, id)
		}
	}
	if len(r.s.general) != 1 {
		t.Errorf("%v", r.s.general)
	}
	r.on(compose.IDValue(0)).typeText("1")
	if r.s.fieldErrors != nil || r.s.general != nil {
		t.Error("after a change the old failures must go")
	}
}

func TestEditKeepsWhatWasTypedAndRestoresADraftFromElsewhere(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.press("enter")
	arg := r.sent[len(r.sent)-1].(screen.OpenMsg).Arg.(review.StartArg)
	args := r.s.b.Calls[0].Args
	r.do(r.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: arg.Intent.Draft()}}))
	if &r.s.b.Calls[0].Args[0] != &args[0] {
		t.Fatal("the form was made anew")
	}
	other := newRig(t)
	other.do(other.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: arg.Intent.Draft()}}))
	if got := other.frozen(); got.Hash() != arg.Intent.Hash() {
		t.Fatalf("%+v\n%+v", got.Draft(), arg.Intent.Draft())
	}
}

func TestOpeningWithAnAssetStartsItsTransferWhereMostOfItIs(t *testing.T) {
	r := newRig(t)
	r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: "ob:usdc"}}))
	if r.s.b.Chain != caip.EVM(10) || r.s.focus != compose.IDArg(0, []int{0}) || !r.s.editing {
		t.Fatalf("%s %s", r.s.b.Chain, r.s.focus)
	}
	r = newRig(t)
	r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: "ob:usdc", Chain: "eip155:8453"}}))
	if !strings.EqualFold(r.s.b.Calls[0].To, usdc) {
		t.Fatal(r.s.b.Calls[0].To)
	}
}

func TestAnAddressThatOnlyLooksLikeAKnownOneIsMarked(t *testing.T) {
	r := newRig(t)
	r.press("d")
	lookalike := payee[:6] + "000000000000000000000000000000000000"
	r.s.b.Calls[0].Args[0].Text = strings.ToLower(lookalike)
	if v := r.view(); !strings.Contains(v, "looks like Demo payee, but is another address") {
		t.Fatal(v)
	}
	r.s.b.Calls[0].Args[0].Text = payee
	if v := r.view(); strings.Contains(v, "looks like") || !strings.Contains(v, "Demo payee ✓") {
		t.Fatal(v)
	}
}

func TestBalancesThatAreNotKnownAreNotZero(t *testing.T) {
	r := newRig(t)
	r.s.Money = compose.Money{}
	r.press("d")
	if v := r.view(); !strings.Contains(v, "you have unknown there, unknown elsewhere") {
		t.Fatal(v)
	}
}

func TestAPasteWithLineBreaksOpensNoReview(t *testing.T) {
	r := newRig(t)
	r.press("d")
	n := len(r.sent)
	r.paste("\n\n").on(compose.IDValue(0)).paste("1\n")
	for _, m := range r.sent[n:] {
		if _, ok := m.(screen.OpenMsg); ok {
			t.Fatal("a paste opened the review")
		}
	}
	if got := r.s.b.Calls[0].Value; got != "1" {
		t.Fatalf("%q", got)
	}
}

func TestEveryRowFitsAndTheFocusIsVisible(t *testing.T) {
	r := newRig(t)
	r.press("d")
	for range 3 {
		r.s.focus = compose.IDCall(0)
		r.press("p")
	}
	r.s.addOverride()
	r.s.addSlot(0)
	r.press("esc")
	r.s.b.Overrides[0].Address = router
	filledTransfer(r)
	filledSwap(r)
	r.s.note = remark(compose.Warn, strings.Repeat("a remark of many words ", 9))
	for i, w := range []int{60, 80, 120, 60, 80, 60, 80} {
		r.s.form = []string{formCalls, formCalls, formCalls, intent.KindTransfer, intent.KindTransfer, intent.KindSwap,
			intent.KindSwap}[i]
		r.w, r.h = w, 15
		for _, x := range r.s.rows() {
			if x.id == "" {
				continue
			}
			r.s.focus = x.id
			v := r.view()
			if strings.Count(v, "\n") != r.h-1 || !strings.Contains(v, "›") {
				t.Fatalf("row %s is not visible at %d:\n%s", x.id, w, v)
			}
			for _, l := range strings.Split(v, "\n") {
				if present.Width(l) > w {
					t.Fatalf("%d cells in %d: %q", present.Width(l), w, l)
				}
			}
		}
	}
}

func TestDraftsOfTheBuilderAlwaysPassTheRulesOrNameAMistake(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), router).fill(compose.IDValue(0), "0.5").press("esc")
	in := r.frozen()
	d := in.Draft()
	if d.Calls[0].Value != "500000000000000000" || d.Calls[0].Data != "" || len(d.TokensRequired) != 1 ||
		d.TokensRequired[0].AssetType != "eip155:8453/slip44:60" {
		t.Fatalf("%+v", d)
	}
	if _, err := intent.Freeze(d, r.s.Rules()); err != nil {
		t.Fatal(err)
	}
	var keys tea.Msg = keyOf("esc")
	r.do(r.s.Update(keys))
}

func TestStateOverridesAndValidAfterStayWithACallThatComesBack(t *testing.T) {
	r := newRig(t)
	r.press("d")
	d := r.frozen().Draft()
	d.ValidAfter = strconv.FormatInt(r.now.Add(time.Minute).Unix(), 10)
	d.ValidUntil = strconv.FormatInt(r.now.Add(7*time.Minute).Unix(), 10)
	d.Overrides = []api.StateOverride{{Address: router, Balance: "0xf4240",
		StateDiff: map[string]string{"0x" + strings.Repeat("0", 64): "0x" + strings.Repeat("1", 64)}}}
	in, err := intent.Freeze(d, r.s.Rules())
	if err != nil {
		t.Fatal(err)
	}
	other := newRig(t)
	other.do(other.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: in.Draft()}}))
	if got := other.frozen(); got.Hash() != in.Hash() {
		t.Fatalf("%+v\n%+v", got.Draft(), in.Draft())
	}
	other.h = 60
	for _, want := range []string{"not before", "2026-11-21 12:01:00", "assumes",
		"0x0AD6 3E34 1d6c A640 c849 93e1 5051 febf 742E 1feF", "0.000000000001", "slot",
		"! the calls are tried on this state"} {
		if !strings.Contains(other.view(), want) {
			t.Errorf("%q is not shown:\n%s", want, other.view())
		}
	}
	other.s.focus = compose.IDOverride(0, "address")
	other.press("ctrl+x")
	other.s.focus = compose.IDAfter
	other.press("ctrl+x")
	if got := other.frozen().Draft(); got.ValidAfter != "" || len(got.Overrides) != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestAnAddressWithAWrongChecksumGetsNoNameBesideIt(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.Calls[0].Args[0].Text = "0x00c071" + payee[8:]
	if v := r.view(); strings.Contains(v, "Demo payee ✓") || !strings.Contains(v, "✗ the checksum") {
		t.Fatal(v)
	}
}
