package builder

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/abicall"
	"coffer/api/op/erc20"
	"coffer/ui/present"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
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
	want := hex0x(erc20.Transfer(common.HexToAddress(payee), big.NewInt(1_600_500_000)))
	if len(d.Calls) != 1 || d.Calls[0].To != usdc || d.Calls[0].Data != want || d.TargetChain != "eip155:8453" {
		t.Fatalf("%+v", d)
	}
	if len(d.TokensRequired) != 1 || d.TokensRequired[0].Amount != "1600500000" ||
		!strings.HasPrefix(d.TokensRequired[0].AssetType, "eip155:8453/erc20:") {
		t.Fatalf("the required token is not suggested: %+v", d.TokensRequired)
	}
	if d.SlippageBps != intent.DefaultSlippageBps || d.ValidUntil != "" || d.Network != r.s.ctx.Network.ID {
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
	if want := hex0x(erc20.Transfer(common.HexToAddress(payee), big.NewInt(250_500_000))); d.Calls[0].Data != want ||
		!strings.EqualFold(d.Calls[0].To, usdc) {
		t.Fatalf("%+v", d.Calls)
	}
}

func TestSingleLettersAreTextWhileAFieldIsEdited(t *testing.T) {
	r := newRig(t)
	r.on(idSig(0)).typeText("ndxar")
	if got := r.s.b.calls[0].sig.Value(); got != "ndxar" || len(r.s.b.calls) != 1 || !r.s.Capturing() {
		t.Fatalf("%q, %d calls", got, len(r.s.b.calls))
	}
	r.press("esc")
	if r.s.Capturing() {
		t.Fatal("esc does not end the editing")
	}
	r.press("n")
	if len(r.s.b.calls) != 2 {
		t.Fatal("n adds no call")
	}
}

func TestApproveTypedAsACallBecomesAnAllowanceByOneKey(t *testing.T) {
	r := newRig(t)
	r.fill(idTo(0), usdc).fill(idSig(0), "approve(address spender, uint256 amount)").fill(idArg(0, []int{0}),
		router).fill(idArg(0, []int{1}), "100").press("esc")
	if _, ok := r.s.freeze(); ok {
		t.Fatal("an approve passed as a call")
	}
	r.s.focus = idCall(0)
	r.press("a")
	if len(r.s.b.allow) != 1 || r.s.b.allow[0].amount.Value() != "100" || r.s.b.allow[0].spender.Value() != router ||
		!strings.HasSuffix(r.s.b.allow[0].asset, strings.ToLower(usdc)) {
		t.Fatalf("%+v", r.s.b.allow)
	}
	r.fill(idTo(0), router).fill(idSig(0), "deposit()").press("esc")
	d := r.frozen().Draft()
	if len(d.Allowances) != 1 || d.Allowances[0].Amount != "100000000" {
		t.Fatalf("%+v", d.Allowances)
	}
}

func TestOtherGrantsOfRightsAreMistakes(t *testing.T) {
	for _, sig := range []string{"increaseAllowance(address,uint256)", "setApprovalForAll(address,bool)",
		"permit(address,address,uint256,uint256,uint8,bytes32,bytes32)", "approve(address,address,uint160,uint48)"} {
		r := newRig(t)
		r.fill(idTo(0), usdc).fill(idSig(0), sig).press("esc")
		if m := r.s.mistakes()[idSig(0)]; !strings.Contains(m, "under allow") {
			t.Errorf("%s: %q", sig, m)
		}
	}
}

func TestAmountsInWholeTokensNeverBecomeBaseUnitsUnseen(t *testing.T) {
	r := newRig(t)
	r.press("d")
	arg := r.s.b.calls[0].args[1]
	r.on(idArg(0, []int{1})).press("ctrl+t")
	if arg.field.Value() != "1600500000" || arg.units {
		t.Fatalf("%q", arg.field.Value())
	}
	r.press("ctrl+t")
	if arg.field.Value() != "1600.5" {
		t.Fatalf("%q", arg.field.Value())
	}
	// 250 whole tokens of a known token must not turn into 250 base units of an unknown one.
	arg.field.Set("250")
	r.press("esc")
	r.s.b.calls[0].to.Set(router)
	if _, ok := r.s.freeze(); ok || r.s.mistakes()[idArg(0, []int{1})] == "" {
		t.Fatal("the unit was lost silently")
	}
}

func TestRawCallDataIsDecodedIntoFieldsWhenAKnownFunctionFits(t *testing.T) {
	data := hex0x(erc20.Transfer(common.HexToAddress(payee), big.NewInt(1_500_000)))
	r := newRig(t)
	r.fill(idTo(0), usdc).on(idSig(0)).paste(data)
	c := r.s.b.calls[0]
	if c.raw || c.fn == nil || c.args[1].field.Value() != "1.5" || c.args[0].field.Value() != payee {
		t.Fatalf("not decoded: raw %v, %+v", c.raw, c.fn)
	}
	r.on(idSig(0)).paste("0x12345678ff")
	if !c.raw || c.data.Value() != "0x12345678ff" {
		t.Fatal("unknown call data must stay as it is")
	}
	if got := r.frozen().Draft().Calls[0].Data; got != "0x12345678ff" {
		t.Fatal(got)
	}
}

func TestABIJSONIsTakenFromAPaste(t *testing.T) {
	r := newRig(t)
	r.fill(idTo(0), router).on(idSig(0)).paste(
		`[{"type":"function","name":"one","inputs":[]},{"type":"function","name":"two","inputs":[{"name":"x","type":"uint8"}]}]`)
	if !r.s.choice.IsOpen() {
		t.Fatal("no list of functions")
	}
	r.press("down", "enter")
	if fn := r.s.b.calls[0].fn; fn == nil || fn.String() != "two(uint8 x)" {
		t.Fatalf("%v", fn)
	}
}

func TestCallsCanBeAddedCopiedMovedAndRemoved(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.focus = idCall(0)
	r.press("p")
	r.s.b.calls[1].args[1].field.Set("7")
	if r.s.b.calls[0].args[1].field.Value() != "1600.5" {
		t.Fatal("the copy shares its fields")
	}
	if d := r.frozen().Draft(); len(d.Calls) != 2 || d.TokensRequired[0].Amount != "1607500000" {
		t.Fatalf("%+v", d)
	}
	r.s.focus = idCall(1)
	r.press("K")
	if r.s.b.calls[0].args[1].field.Value() != "7" || r.s.focus != idCall(0) {
		t.Fatal("not moved")
	}
	r.press("x")
	if len(r.s.b.calls) != 1 || r.s.b.calls[0].args[1].field.Value() != "1600.5" {
		t.Fatal("not removed")
	}
	r.press("x")
	if !r.s.b.empty() {
		t.Fatal("the last call is not emptied")
	}
}

func TestNestedArraysGrowAndShrink(t *testing.T) {
	r := newRig(t)
	r.fill(idTo(0), router).fill(idSig(0), "f((uint256 a, bytes[] b)[] items)").press("esc")
	r.s.focus = idArg(0, []int{0})
	r.press("+", "+")
	r.s.focus = idArg(0, []int{0, 1, 1})
	r.press("+")
	r.s.focus = idArg(0, []int{0, 1, 1, 0})
	r.press("ctrl+x")
	r.s.focus = idArg(0, []int{0, 0})
	r.press("x")
	r.fill(idArg(0, []int{0, 0, 0}), "5").press("esc")
	fn, _ := abicall.ParseSignature("f((uint256 a, bytes[] b)[] items)")
	want, err := fn.Encode([]abicall.Value{{Items: []abicall.Value{{Items: []abicall.Value{{Text: "5"}, {}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.frozen().Draft().Calls[0].Data; got != hex0x(want) {
		t.Fatalf("%s\n%s", got, hex0x(want))
	}
}

func TestMistakesStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.calls[0].to.Set("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914")
	r.s.b.calls[0].value.Set("1.2.3")
	r.s.b.valid.preset = ownPreset
	r.s.b.valid.field.Set("0")
	m := r.s.mistakes()
	for _, id := range []string{idTo(0), idValue(0), idValid + ownSuffix} {
		if m[id] == "" {
			t.Errorf("no mistake at %s: %v", id, m)
		}
	}
	r.press("r")
	if r.s.focus != idTo(0) || len(r.sent) != 1 {
		t.Fatalf("focus %s, sent %v", r.s.focus, r.sent)
	}
}

func TestFailuresOfTheServiceStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.own, r.s.b.needs = true, []*need{newNeed("eip155:8453/slip44:60", "1")}
	r.s.b.allow = []*allowance{newAllowance("eip155:8453/erc20:"+strings.ToLower(usdc), router, "1")}
	var fs []api.Failure
	want := map[string]string{
		"calls[0].to": idTo(0), "calls[0].data": idSig(0), "calls[0].value": idValue(0),
		"tokensRequired[0].amount":    idNeed(0, "amount"),
		"tokensRequired[0].assetType": idNeed(0, "asset"), "allowanceRequirements[0].spender": idAllowRow(0, "spender"),
		"allowanceRequirements[0].assetType": idAllowRow(0, "asset"), "fromAssetId": idFund,
		"slippageTolerance": idSlip, "validUntil": idValid, "targetChain": idChain,
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
	r.on(idValue(0)).typeText("1")
	if r.s.fieldErrors != nil || r.s.general != nil {
		t.Error("after a change the old failures must go")
	}
}

func TestEditKeepsWhatWasTypedAndRestoresADraftFromElsewhere(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.press("enter")
	arg := r.sent[len(r.sent)-1].(screen.OpenMsg).Arg.(review.StartArg)
	args := r.s.b.calls[0].args
	r.do(r.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: arg.Intent.Draft()}}))
	if &r.s.b.calls[0].args[0] != &args[0] {
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
	if r.s.b.chain != caip.EVM(10) || r.s.focus != idArg(0, []int{0}) || !r.s.editing {
		t.Fatalf("%s %s", r.s.b.chain, r.s.focus)
	}
	r = newRig(t)
	r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: "ob:usdc", Chain: "eip155:8453"}}))
	if !strings.EqualFold(r.s.b.calls[0].to.Value(), usdc) {
		t.Fatal(r.s.b.calls[0].to.Value())
	}
}

func TestAnAddressThatOnlyLooksLikeAKnownOneIsMarked(t *testing.T) {
	r := newRig(t)
	r.press("d")
	lookalike := payee[:6] + "000000000000000000000000000000000000"
	r.s.b.calls[0].args[0].field.Set(strings.ToLower(lookalike))
	if v := r.view(); !strings.Contains(v, "looks like Demo payee, but is another address") {
		t.Fatal(v)
	}
	r.s.b.calls[0].args[0].field.Set(payee)
	if v := r.view(); strings.Contains(v, "looks like") || !strings.Contains(v, "Demo payee ✓") {
		t.Fatal(v)
	}
}

func TestBalancesThatAreNotKnownAreNotZero(t *testing.T) {
	r := newRig(t)
	r.s.money = money{}
	r.press("d")
	if v := r.view(); !strings.Contains(v, "you have unknown there, unknown elsewhere") {
		t.Fatal(v)
	}
}

func TestAPasteWithLineBreaksOpensNoReview(t *testing.T) {
	r := newRig(t)
	r.press("d")
	n := len(r.sent)
	r.paste("\n\n").on(idValue(0)).paste("1\n")
	for _, m := range r.sent[n:] {
		if _, ok := m.(screen.OpenMsg); ok {
			t.Fatal("a paste opened the review")
		}
	}
	if got := r.s.b.calls[0].value.Value(); got != "1" {
		t.Fatalf("%q", got)
	}
}

func TestEveryRowFitsAndTheFocusIsVisible(t *testing.T) {
	r := newRig(t)
	r.press("d")
	for range 3 {
		r.s.focus = idCall(0)
		r.press("p")
	}
	r.s.addOverride()
	r.s.addSlot(0)
	r.press("esc")
	r.s.b.over[0].address.Set(router)
	filledTransfer(r)
	filledSwap(r)
	r.s.note = caution{theme.Warn, strings.Repeat("a remark of many words ", 9)}
	for i, w := range []int{60, 80, 120, 60, 80, 60, 80} {
		r.s.form = []string{formCalls, formCalls, formCalls, formTransfer, formTransfer, formSwap, formSwap}[i]
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

// aType draws a type with up to depth levels of tuples and arrays.
func aType(t *rapid.T, depth int) string {
	leaf := rapid.SampledFrom([]string{"uint256", "uint8", "int128", "bool", "address", "bytes", "bytes4", "bytes32",
		"string"})
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth > 0 && kind == 0:
		return aType(t, depth-1) + "[]"
	case depth > 0 && kind == 1:
		return aType(t, depth-1) + "[2]"
	case depth > 0 && kind == 2:
		return "(" + aType(t, depth-1) + " a, " + aType(t, depth-1) + " b)"
	}
	return leaf.Draw(t, "leaf")
}

// typeIn fills a form with text as a person would, and grows arrays.
func typeIn(t *rapid.T, s *Screen, nodes []*node) {
	for _, n := range nodes {
		if n.isArray() {
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				s.addItem(n)
			}
		}
		if !n.isLeaf() {
			typeIn(t, s, n.items)
			continue
		}
		text := ""
		switch n.param.Type {
		case "bool":
			text = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
		case "address":
			text = common.BytesToAddress(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "address")).Hex()
		case "string":
			text = rapid.StringMatching(`[ -\[\]-~äß語🙂]{0,40}`).Draw(t, "string")
		case "bytes":
			text = hex0x(rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "bytes"))
		case "bytes4":
			text = hex0x(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "bytes4"))
		case "bytes32":
			text = hex0x(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes32"))
		case "uint8":
			text = big.NewInt(int64(rapid.Byte().Draw(t, "uint8"))).String()
		case "int128":
			text = big.NewInt(rapid.Int64().Draw(t, "int128")).String()
		default:
			text = new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "uint256")).String()
		}
		n.field.Set(text)
	}
}

func texts(nodes []*node) string {
	var b strings.Builder
	walk(nodes, func(path []int, n *node) {
		b.WriteString(pathText(path) + "=")
		if n.field != nil {
			b.WriteString(n.field.Value())
		}
		b.WriteByte('\n')
	})
	return b.String()
}

func TestFormToCallDataToFormIsTheIdentityForRandomSignatures(t *testing.T) {
	base := newRig(t)
	rapid.Check(t, func(rt *rapid.T) {
		var types []string
		for range rapid.IntRange(0, 4).Draw(rt, "arguments") {
			types = append(types, aType(rt, 3))
		}
		c := newCall()
		c.sig.Set("someFunction(" + strings.Join(types, ", ") + ")")
		c.readSignature(false)
		if c.fn == nil {
			rt.Fatalf("%s: %s", c.sig.Value(), c.sigErr)
		}
		typeIn(rt, base.s, c.args)
		data, ok := c.calldata(-1)
		if !ok {
			values, bad := valuesOf(c.args, -1)
			rt.Fatalf("%s: %v %v", c.sig.Value(), bad, c.fn.Check(values))
		}
		again := newCall()
		again.fn = c.fn
		if !again.takeData(data, -1) {
			rt.Fatalf("%s: not decoded", c.sig.Value())
		}
		if a, b := texts(c.args), texts(again.args); a != b {
			rt.Fatalf("%s\n%s\n%s", c.sig.Value(), a, b)
		}
	})
}

func TestUnitsThereAndBackKeepTheAmount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fn, err := abicall.ParseSignature("f(uint256 v)")
		if err != nil {
			rt.Fatal(err)
		}
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, "v"))
		d := rapid.IntRange(0, 18).Draw(rt, "decimals")
		nodes := nodesOf(fn.Inputs(), []abicall.Value{{Text: v.String()}})
		nodes[0].setUnits(true, d)
		values, bad := valuesOf(nodes, d)
		if len(bad) > 0 || values[0].Text != v.String() {
			rt.Fatalf("%s with %d decimals: %v %v", v, d, values, bad)
		}
		nodes[0].setUnits(false, d)
		if nodes[0].field.Value() != v.String() {
			rt.Fatalf("%s became %s", v, nodes[0].field.Value())
		}
	})
}

func FuzzCallDataThroughTheFormIsUnchanged(f *testing.F) {
	f.Add("transfer(address to, uint256 amount)", erc20.Transfer(common.HexToAddress(payee), big.NewInt(5)), 6)
	f.Add("f(string s)", []byte{1, 2, 3, 4}, -1)
	f.Add("", []byte{}, 0)
	if fn, err := abicall.ParseSignature("f(string s, bytes b)"); err == nil {
		data, _ := fn.Encode([]abicall.Value{{Text: `a\u{fffd}b\n`}, {Text: "0x00"}})
		f.Add("f(string s, bytes b)", data, -1)
		data, _ = fn.Encode([]abicall.Value{{Text: "a\uFFFDb"}, {Text: "0x"}})
		f.Add("f(string s, bytes b)", data, -1)
	}
	f.Fuzz(func(t *testing.T, sig string, data []byte, decimals int) {
		c := newCall()
		if fn, err := abicall.ParseSignature(sig); err == nil {
			c.fn = &fn
		}
		decimals = max(-1, min(77, decimals))
		c.takeData(data, decimals)
		if got, ok := c.calldata(decimals); !ok || !bytes.Equal(got, data) {
			t.Fatalf("%x became %x (%v)", data, got, ok)
		}
	})
}

func TestDraftsOfTheBuilderAlwaysPassTheRulesOrNameAMistake(t *testing.T) {
	r := newRig(t)
	r.fill(idTo(0), router).fill(idValue(0), "0.5").press("esc")
	in := r.frozen()
	d := in.Draft()
	if d.Calls[0].Value != "500000000000000000" || d.Calls[0].Data != "" || len(d.TokensRequired) != 1 ||
		d.TokensRequired[0].AssetType != "eip155:8453/slip44:60" {
		t.Fatalf("%+v", d)
	}
	if _, err := intent.Freeze(d, r.s.rules()); err != nil {
		t.Fatal(err)
	}
	var keys tea.Msg = keyOf("esc")
	r.do(r.s.Update(keys))
}

func TestStateOverridesAndValidAfterStayWithACallThatComesBack(t *testing.T) {
	r := newRig(t)
	r.press("d")
	d := r.frozen().Draft()
	d.ValidAfter = unixText(r.now.Add(time.Minute))
	d.ValidUntil = unixText(r.now.Add(7 * time.Minute))
	d.Overrides = []api.StateOverride{{Address: router, Balance: "0xf4240",
		StateDiff: map[string]string{"0x" + strings.Repeat("0", 64): "0x" + strings.Repeat("1", 64)}}}
	in, err := intent.Freeze(d, r.s.rules())
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
	other.s.focus = idOverRow(0, "address")
	other.press("ctrl+x")
	other.s.focus = idAfter
	other.press("ctrl+x")
	if got := other.frozen().Draft(); got.ValidAfter != "" || len(got.Overrides) != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestAnAddressWithAWrongChecksumGetsNoNameBesideIt(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.calls[0].args[0].field.Set("0x00c071" + payee[8:])
	if v := r.view(); strings.Contains(v, "Demo payee ✓") || !strings.Contains(v, "✗ the checksum") {
		t.Fatal(v)
	}
}
