package builder

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/assets"
	"coffer/ui/compose"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

const (
	usdcBase    = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	ethBase     = "eip155:8453/slip44:60"
	stranger    = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	usdcChoice  = "ob:usdc"
	etherChoice = "ob:eth"
)

// memory is a store of documents, and a place to export to.
type memory struct {
	docs    map[string][]byte
	saves   int
	fail    error
	written map[string][]byte
}

func (m *memory) Load(name string) ([]byte, error) { return m.docs[name], nil }
func (m *memory) Save(name string, b []byte) error {
	if m.fail != nil {
		return m.fail
	}
	m.saves++
	m.docs[name] = b
	return nil
}

func (m *memory) export(name string, b []byte) (string, error) {
	if m.fail != nil {
		return "", m.fail
	}
	m.written[name] = b
	return "/home/ada/" + name, nil
}

// keepRig is a rig with a store; it starts the way the program does.
func keepRig(t testing.TB, m *memory) *rig {
	t.Helper()
	if m.docs == nil {
		m.docs = map[string][]byte{}
	}
	m.written = map[string][]byte{}
	r := newRig(t)
	ctx := r.s.ctx
	ctx.Keep, ctx.Export = m, m.export
	r.s = New(ctx, r.s.deps)
	r.s.store.pause = 0
	r.do(r.s.Init())
	return r
}

func (r *rig) pick(id, value string) *rig {
	r.t.Helper()
	r.s.leaveField()
	r.s.focus = id
	row := r.s.current()
	if row.id != id {
		r.t.Fatalf("there is no row %s", id)
	}
	for _, it := range row.items() {
		if it.Value == value && it.Off == "" {
			r.s.touched()
			if cmd := row.take(value); cmd != nil {
				r.do(cmd)
			}
			return r
		}
	}
	r.t.Fatalf("%s does not offer %q", id, value)
	return r
}

func (r *rig) toast() string {
	for i := len(r.sent) - 1; i >= 0; i-- {
		if t, ok := r.sent[i].(screen.ToastMsg); ok {
			return t.Text
		}
	}
	return ""
}

func (r *rig) started() intent.Intent {
	r.t.Helper()
	for i := len(r.sent) - 1; i >= 0; i-- {
		if o, ok := r.sent[i].(screen.OpenMsg); ok {
			if a, ok := o.Arg.(review.StartArg); ok && o.Screen == screen.Review {
				return a.Intent
			}
		}
	}
	r.t.Fatalf("no review was opened: %v %v\n%s", r.s.mistakes(), r.s.general, r.view())
	return intent.Intent{}
}

func filledTransfer(r *rig) {
	r.press("t").pick(compose.IDPay, usdcChoice).pick(compose.IDReceive, usdcBase).fill(compose.IDAmount,
		"250.5").fill(compose.IDTarget,
		"demo payee").press("esc")
}

func filledSwap(r *rig) {
	r.press("w").pick(compose.IDPay, usdcChoice).pick(compose.IDReceive, ethBase).fill(compose.IDAmount,
		"500").press("esc")
}

func TestATransferIsOneIntentOfItsKind(t *testing.T) {
	r := newRig(t)
	filledTransfer(r)
	r.press("r")
	d := r.started().Draft()
	if d.Kind != intent.KindTransfer || d.Pay.Asset != usdcChoice || d.Pay.Amount != "250500000" ||
		d.Receive.Asset != usdcBase || d.Receive.Account != "eip155:8453:"+payee ||
		d.SlippageBps != intent.DefaultSlippageBps {
		t.Fatalf("%+v %+v %+v", d, d.Pay, d.Receive)
	}
	if len(d.Calls) != 0 || d.TargetChain != "" {
		t.Fatalf("%+v", d)
	}
}

func TestASwapIsOneIntentOfItsKind(t *testing.T) {
	r := newRig(t)
	filledSwap(r)
	r.fill(compose.IDMin, "0.16").press("esc", "r")
	d := r.started().Draft()
	if d.Kind != intent.KindSwap || d.Pay.Amount != "500000000" || d.Receive.Asset != ethBase ||
		d.Receive.Account != "" || d.Receive.Minimum != "160000000000000000" {
		t.Fatalf("%+v %+v %+v", d, d.Pay, d.Receive)
	}
}

func TestBalancesOpenTheFormThatTheyName(t *testing.T) {
	for _, form := range []string{intent.KindTransfer, intent.KindSwap} {
		r := newRig(t)
		r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: usdcChoice, Chain: "eip155:10", Form: form}}))
		if r.s.form != form || !strings.HasPrefix(r.s.x[form].Pay, "eip155:10/erc20:") ||
			r.s.focus != compose.IDAmount ||
			!r.s.editing {
			t.Errorf("%s: %s %s %s", form, r.s.form, r.s.x[form].Pay, r.s.focus)
		}
		r.do(r.s.Update(screen.OpenedMsg{Arg: screen.AssetArg{Aggregate: etherChoice, Form: form}}))
		if r.s.x[form].Pay != etherChoice {
			t.Errorf("%s: %s", form, r.s.x[form].Pay)
		}
		r.press("esc", "U")
		if !strings.HasPrefix(r.s.x[form].Pay, "eip155:10/erc20:") {
			t.Errorf("%s: U does not bring back what was replaced", form)
		}
	}
}

func TestMaxIsTheWholeBalanceAndSaysWhatFeesDoToIt(t *testing.T) {
	for name, take := range map[string]func(*rig){
		"the key":   func(r *rig) { r.press("m") },
		"the word":  func(r *rig) { r.fill(compose.IDAmount, "MAX").press("esc") },
		"the list":  func(r *rig) { r.pick(compose.IDAmount, "2275") },
		"one chain": func(r *rig) { r.pick(compose.IDPay, usdcBase).press("esc", "m") },
	} {
		r := newRig(t)
		r.press("t").pick(compose.IDPay, usdcChoice).fill(compose.IDTarget, "demo payee").press("esc")
		take(r)
		want := "2275"
		if name == "one chain" {
			want = "25"
		}
		if got := r.s.x[intent.KindTransfer].Amount; got != want {
			t.Errorf("%s: %q", name, got)
		}
		if c := r.s.Cautions(r.s.shown())[compose.IDAmount]; !strings.Contains(c.Text, "the fees come off it") {
			t.Errorf("%s: %q", name, c.Text)
		}
	}
}

func TestMaxOfAnUnknownBalanceIsNotZero(t *testing.T) {
	r := newRig(t)
	r.s.Money = compose.Money{}
	r.press("t").pick(compose.IDPay, usdcChoice)
	r.press("esc", "m")
	if r.s.x[intent.KindTransfer].Amount != "" || !strings.Contains(r.toast(), "not known") {
		t.Fatalf("%q %q", r.s.x[intent.KindTransfer].Amount, r.toast())
	}
	if !strings.Contains(r.view(), "you have unknown") {
		t.Fatal(r.view())
	}
}

func TestWhatLiesWhereItArrivesAtHomeIsNotSent(t *testing.T) {
	r := newRig(t)
	r.press("t").pick(compose.IDPay, usdcChoice).pick(compose.IDReceive, usdcBase).pick(compose.IDTarget,
		account).press("m")
	if got := r.s.x[intent.KindTransfer].Amount; got != "2250" {
		t.Fatalf("%q", got)
	}
}

func TestTheRecipientIsMarkedAsKnownNewOrAlike(t *testing.T) {
	r := newRig(t)
	r.s.PaidKnown, r.s.Paid = true, []string{router}
	filledTransfer(r)
	for _, c := range []struct{ address, want string }{
		{payee, ""}, {account, ""}, {router, ""}, {stranger, "never sent there before"},
		{"0x00c0000000000000000000000000000000000001", "characters differ"},
		{usdc, "this is the contract of USDC"},
	} {
		r.s.x[intent.KindTransfer].To = c.address
		got := r.s.Cautions(r.s.shown())[compose.IDTarget].Text
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", c.address, got)
		}
	}
	if v := r.view(); !strings.Contains(strings.Join(strings.Fields(v), " "),
		"0x8335 89fC D6eD b6E0 8f4c 7C32 D4f7 1b54 bdA0 2913") {
		t.Errorf("the address is cut:\n%s", v)
	}
	r.s.PaidKnown = false
	r.s.x[intent.KindTransfer].To = stranger
	if got := r.s.Cautions(r.s.shown())[compose.IDTarget].Text; got != "" {
		t.Errorf("without a record nobody is new: %q", got)
	}
}

func TestAnAccountWithItsChainBecomesChainAndAddress(t *testing.T) {
	r := newRig(t)
	r.press("t").pick(compose.IDPay, usdcChoice).on(compose.IDTarget).paste("eip155:42161:" + payee).press("esc")
	x := r.s.x[intent.KindTransfer]
	if x.To != payee || r.s.Arrives(x) != caip.EVM(42161) {
		t.Fatalf("%q %s", x.To, r.s.Arrives(x))
	}
}

func TestMistakesOfATransferAndASwapStandAtTheirField(t *testing.T) {
	for name, c := range map[string]struct {
		to   func(*rig)
		id   string
		want string
	}{
		"nothing chosen": {func(r *rig) { r.press("t", "r") }, compose.IDPay, "choose what is paid"},
		"no amount": {func(r *rig) { filledTransfer(r); r.s.x[intent.KindTransfer].Amount = "" }, compose.IDAmount,
			"an amount is needed"},
		"zero": {func(r *rig) { filledTransfer(r); r.s.x[intent.KindTransfer].Amount = "0" }, compose.IDAmount,
			"more than 0"},
		"too many decimals": {func(r *rig) { filledTransfer(r); r.s.x[intent.KindTransfer].Amount = "0.1234567" },
			compose.IDAmount,
			"6 decimals"},
		"wrong checksum": {func(r *rig) { filledTransfer(r); r.s.x[intent.KindTransfer].To = payee[:41] + "7" },
			compose.IDTarget,
			"checksum"},
		"zero address": {func(r *rig) {
			filledTransfer(r)
			r.s.x[intent.KindTransfer].To = "0x" +
				strings.Repeat("0", 40)
		},
			compose.IDTarget, "zero address"},
		"a token's symbol": {func(r *rig) {
			filledTransfer(r)
			r.fill(compose.IDTarget, "").on(compose.IDTarget).press("ctrl+u").typeText("usdc").press("esc")
		}, compose.IDTarget, "that is a token"},
		"same asset": {func(r *rig) { filledSwap(r); r.s.x[intent.KindSwap].Receive = usdcBase }, compose.IDReceive,
			"t makes a transfer"},
		"slippage": {func(r *rig) {
			filledSwap(r)
			x := r.s.x[intent.KindSwap]
			x.Slip.Preset =
				0
			x.Slip.Text = "101 %"
		}, compose.IDSlipBps, "basis points"},
		"somebody, no chain": {func(r *rig) {
			filledSwap(r)
			x := r.s.x[intent.KindSwap]
			x.Receive =
				etherChoice
			x.To = payee
		}, compose.IDReceive, "choose the chain"},
	} {
		r := newRig(t)
		c.to(r)
		r.press("r")
		if got := r.s.mistakes()[c.id]; !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, all %v", name, got, r.s.mistakes())
		}
		for _, m := range r.sent {
			if _, ok := m.(screen.OpenMsg); ok {
				t.Errorf("%s: it was handed over", name)
			}
		}
	}
}

func TestAMinimumNeedsAChainWhereItsUnitsDiffer(t *testing.T) {
	r := newRig(t)
	d, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range d.Tokens {
		if k.AggregatedAssetID == usdcChoice {
			k.AggregatedEntities[0].Decimals = new(18)
		}
	}
	c, err := catalog.New(d)
	if err != nil {
		t.Fatal(err)
	}
	r.s.Catalog = c
	filledSwap(r)
	x := r.s.x[intent.KindSwap]
	x.Pay, x.Receive = ethBase, usdcChoice
	x.Minimum = "1"
	if _, ok := r.s.freeze(); ok || !strings.Contains(r.s.mistakes()[compose.IDMin], "choose the chain") {
		t.Fatalf("%v", r.s.mistakes())
	}
	x.Receive = usdcBase
	if in := r.frozen(); in.Draft().Receive.Minimum != "1000000" {
		t.Fatalf("%+v", in.Draft().Receive)
	}
}

func TestFailuresOfAQuoteStandAtTheirField(t *testing.T) {
	r := newRig(t)
	filledSwap(r)
	r.fill(compose.IDMin, "0.1").press("esc", "r")
	in := r.started()
	want := map[string]string{
		"from.asset.assetId": compose.IDPay, "pay.asset": compose.IDPay, "from.amount": compose.IDAmount,
		"pay.amount":       compose.IDAmount,
		"to.asset.assetId": compose.IDReceive, "receive.asset": compose.IDReceive,
		"to.account": compose.IDTarget, "receive.account": compose.IDTarget, "receive.minimum": compose.IDMin,
		"slippageTolerance": compose.IDSlip,
	}
	ids := map[string]bool{}
	for _, x := range r.s.rows() {
		ids[x.id] = true
	}
	for path, id := range want {
		r.do(r.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: in.Draft(),
			Failures: []api.Failure{{Path: path, Expected: "better", Got: "x"}}}}))
		if r.s.fieldErrors[id] == "" || !ids[id] || r.s.focus != id {
			t.Errorf("%s is told at %v, focus %s", path, r.s.fieldErrors, r.s.focus)
		}
	}
}

func TestAFailedCallOfTheServiceStandsAtThatCall(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.focus = compose.IDCall(0)
	r.press("p")
	r.s.refuse([]api.Failure{{Path: "calls[1]", Expected: "a call that succeeds", Got: "it reverts"}}, nil)
	if !strings.Contains(r.s.fieldErrors[compose.IDSig(1)], "it reverts") {
		t.Fatalf("%v %v", r.s.fieldErrors, r.s.general)
	}
	r.press("down", "down") // moving around is no change
	if r.s.fieldErrors == nil {
		t.Fatal("the failure is gone although nothing was changed")
	}
}

func TestATransferOrSwapComesBackFromTheReviewAsItWas(t *testing.T) {
	for _, to := range []func(*rig){filledTransfer, filledSwap} {
		r := newRig(t)
		to(r)
		r.press("r")
		in := r.started()
		other := newRig(t)
		other.do(other.s.Update(screen.OpenedMsg{Arg: review.EditArg{Draft: in.Draft()}}))
		if got := other.frozen(); got.Hash() != in.Hash() {
			t.Errorf("%+v\n%+v", got.Draft(), in.Draft())
		}
	}
}

// TestEveryIntentOfTheFormsPassesTheParserAndTheRules draws random choices and texts, and checks what the forms hand
// over.
func TestEveryIntentOfTheFormsPassesTheParserAndTheRules(t *testing.T) {
	base := newRig(t)
	base.s.Accounts = append(base.s.Accounts, api.Account{Type: api.AccountSolana,
		AccountAddress: "J5CCzBULFax899tcirb6wMbenQUd8whbaetG7EfSick5"})
	handed := 0
	choose := func(rt *rapid.T, id string) {
		base.s.focus = id
		row := base.s.current()
		if row.id != id || row.items == nil {
			rt.Fatalf("no list at %s", id)
		}
		var values []string
		for _, it := range row.items() {
			if it.Off == "" && it.Value != typeIt {
				values = append(values, it.Value)
			}
		}
		if len(values) > 0 {
			row.take(rapid.SampledFrom(values).Draw(rt, id))
		}
	}
	amount := rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9]{1,4}[1-9])?`)
	rapid.Check(t, func(rt *rapid.T) {
		s := base.s
		s.form = rapid.SampledFrom([]string{formCalls, intent.KindTransfer, intent.KindSwap}).Draw(rt, "form")
		s.clear()
		s.choice.Close()
		if s.form == formCalls {
			choose(rt, compose.IDChain)
			drawCalls(rt, s, choose, amount)
		} else {
			x := s.x[s.form]
			choose(rt, compose.IDPay)
			choose(rt, compose.IDReceive)
			x.Amount = amount.Draw(rt, "amount")
			if s.form == intent.KindTransfer || rapid.Bool().Draw(rt, "to somebody") {
				choose(rt, compose.IDTarget)
			}
			choose(rt, compose.IDSlip)
			if s.form == intent.KindSwap && rapid.Bool().Draw(rt, "minimum") {
				choose(rt, compose.IDMin)
			}
		}
		s.editing = false
		if s.shown().Tolerance().Preset == 0 {
			s.shown().Tolerance().Text = big.NewInt(int64(rapid.IntRange(1, 10000).Draw(rt, "bps"))).String()
		}
		in, ok := s.freeze()
		if !ok {
			if len(s.general) > 0 {
				rt.Fatalf("%s: a failure without a field: %v", s.form, s.general)
			}
			return // its field shows it
		}
		handed++
		b, err := in.MarshalJSON()
		if err != nil {
			rt.Fatal(err)
		}
		d, err := intent.ParseDraft(b)
		if err != nil {
			rt.Fatal(err)
		}
		if again, err := intent.Freeze(d, s.Rules()); err != nil || again.Hash() != in.Hash() {
			rt.Fatalf("%v\n%s", err, b)
		}
	})
	if handed < 20 && !testing.Short() {
		t.Fatalf("only %d intents were made", handed)
	}
}

func drawCalls(rt *rapid.T, s *Screen, choose func(*rapid.T, string), amount *rapid.Generator[string]) {
	c := s.b.Calls[0]
	c.To = stranger
	if tokens := s.AssetsOn(s.b.Chain, false); len(tokens) > 0 && rapid.Bool().Draw(rt, "token") {
		a, _ := tokens[rapid.IntRange(0, len(tokens)-1).Draw(rt, "which")].Asset.Token()
		c.To = a.Hex()
		c.Signature = "transfer(address to, uint256 amount)"
		c.ReadSignature(true)
		c.Args[0].Text = stranger
		c.Args[1].Text = amount.Draw(rt, "amount")
	} else {
		c.Value = rapid.SampledFrom([]string{"", "1", "0.5", "20 gwei", "7 wei"}).Draw(rt, "value")
	}
	choose(rt, compose.IDFund)
	choose(rt, compose.IDSlip)
	choose(rt, compose.IDValid)
	choose(rt, compose.IDAfter)
	if rapid.Bool().Draw(rt, "assumed") {
		s.addOverride()
		o := s.b.Overrides[0]
		o.Address = router
		o.Balance = rapid.SampledFrom([]string{"", "1.5", "3 gwei"}).Draw(rt, "balance")
		s.addSlot(0)
		o.Slots[0].Key = rapid.SampledFrom([]string{"0", "0x1f", "7"}).Draw(rt, "slot")
		o.Slots[0].Value = "0x01"
	}
	for _, m := range []*compose.Choice{&s.b.Valid, &s.b.Start} {
		if m.Preset == compose.OwnMinutes {
			m.Text = rapid.SampledFrom([]string{"3", "9"}).Draw(rt, "minutes")
		}
	}
}
