package builder

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/amount"
)

func TestAmountsTakeAUnit(t *testing.T) {
	for _, c := range []struct {
		text     string
		decimals int
		want     string
	}{
		{"250.5", 6, "250500000"}, {"250.5 USDC", 6, "250500000"}, {"250.5usdc", 6, "250500000"}, {"7 wei", 6, "7"},
		{"7 base", 18, "7"},
		{"20 gwei", 18, "20000000000"}, {"1.5 ether", 18, "1500000000000000000"}, {"0.5eth", 18, "500000000000000000"},
		{"0", 6, "0"},
	} {
		if v, err := quantity(c.text, c.decimals, "USDC"); err != nil || v.String() != c.want {
			t.Errorf("%q: %v %v, want %s", c.text, v, err, c.want)
		}
	}
	for _, bad := range []string{"", "gwei", "1 gwei", "1 ether", "1.5 wei", "1,5", "1e6", "-1", "1 DAI", "0x10", ".5",
		"1 0"} {
		if v, err := quantity(bad, 6, "USDC"); err == nil {
			t.Errorf("%q passed as %v", bad, v)
		}
	}
}

func TestAmountsInTheWrongUnitAreSuspected(t *testing.T) {
	for _, c := range []struct {
		base, decimals int64
		whole, want    bool
	}{
		{1_000_000_000_000, 6, true, true}, {250_000_000_000, 6, true, false}, {250_500_000, 6, true, false},
		{250, 6, false, true}, {250_500_000, 6, false, false}, {0, 6, true, false},
		{1, 0, false, false}, {5_000_000, 2, true, false},
	} {
		got := suspicious(big.NewInt(c.base), int(c.decimals), "USDC", c.whole)
		if (got != "") != c.want {
			t.Errorf("%d, %d decimals, whole %v: %q", c.base, c.decimals, c.whole, got)
		}
	}
}

func TestABaseAmountAndItsWholeTokensAreOneForAllAmounts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, "v"))
		d := rapid.IntRange(0, 77).Draw(rt, "decimals")
		for _, text := range []string{amount.Format(v, d), amount.Trim(amount.Format(v, d)) + " TOK",
			v.String() + " wei"} {
			if got, err := quantity(text, d, "TOK"); err != nil || got.Cmp(v) != 0 {
				rt.Fatalf("%q: %v %v, want %s", text, got, err, v)
			}
		}
	})
}

func TestUnitsInArgumentsBecomeBaseUnits(t *testing.T) {
	r := newRig(t)
	r.fill(idTo(0), router).fill(idSig(0), "f(uint256 a, int128 b, string c)").fill(idArg(0, []int{0}),
		"1.5 ether").fill(idArg(0, []int{1}), "20 gwei").fill(idArg(0, []int{2}), "7 wei").press("esc")
	fn := r.s.b.calls[0].fn
	values, err := fn.Decode(mustHex(t, r.frozen().Draft().Calls[0].Data))
	if err != nil || values[0].Text != "1500000000000000000" || values[1].Text != "20000000000" ||
		values[2].Text != "7 wei" {
		t.Fatalf("%v %v", values, err)
	}
	if v := r.view(); !strings.Contains(v, "= 1 500 000 000 000 000 000") {
		t.Error(v)
	}
	r = newRig(t)
	r.press("d").on(idArg(0, []int{1})).press("ctrl+u").typeText("12.5 usdc").press("esc")
	if got := r.s.b.calls[0].moves(6); got == nil || got.String() != "12500000" {
		t.Fatalf("%v %v", got, r.s.mistakes())
	}
}

func TestSuspicionsStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.calls[0].args[1].field.Set("1000000")
	if c := r.s.cautions()[idArg(0, []int{1})]; !strings.Contains(c.text, "zeros at the end") {
		t.Errorf("%q", c.text)
	}
	r.s.b.calls[0].args[1].units = false
	r.s.b.calls[0].args[1].field.Set("250")
	if c := r.s.cautions()[idArg(0, []int{1})]; !strings.Contains(c.text, "these are base units, 0.00025 USDC") {
		t.Errorf("%q", c.text)
	}
	r.s.b.calls[0].value.Set("0.1")
	if c := r.s.cautions()[idValue(0)]; !strings.Contains(c.text, "transfer() takes no ETH") {
		t.Errorf("%q", c.text)
	}
}

func TestPayableIsReadFromSignatureAndABI(t *testing.T) {
	for sig, want := range map[string]coin{
		"f(uint256 a) external payable returns (bool)": coinTaken, "f(uint256 a) external": coinRefused,
		"f((uint256 a) b) view": coinRefused, "f(address payable a)": coinUnknown,
		"f()": coinUnknown, "transfer(address,uint256)": coinRefused,
	} {
		c := newCall()
		c.sig.Set(sig)
		c.readSignature(false)
		if c.fn == nil || c.coin() != want {
			t.Errorf("%s: %v %s", sig, c.coin(), c.sigErr)
		}
	}
	list, err := readABI([]byte(
		`[{"type":"event","name":"e","inputs":[]},{"type":"function","name":"a","inputs":[],"stateMutability":"payable"},{"name":"b","inputs":[],"payable":false},{"type":"function","name":"c"}]`))
	if err != nil || len(list) != 3 || list[0].takes != coinTaken || list[1].takes != coinRefused ||
		list[2].takes != coinUnknown {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestCallDataThatFitsNothingStaysRawAndSaysWhy(t *testing.T) {
	transfer := "0xa9059cbb" + strings.Repeat("00", 12) + strings.ToLower(payee[2:]) + strings.Repeat("00", 31) + "05"
	for data, want := range map[string]string{
		"0x12345678ff":                          "no function known here begins with 0x12345678",
		transfer + "00":                         "it begins like transfer(address,uint256), but",
		transfer[:74]:                           "it begins like transfer(address,uint256), but",
		"0xa9059cbb" + strings.Repeat("ff", 64): "it begins like transfer(address,uint256), but",
	} {
		r := newRig(t)
		r.fill(idTo(0), usdc).on(idSig(0)).paste(data).press("esc")
		if c := r.s.b.calls[0]; !c.raw || !strings.Contains(r.s.cautions()[idData(0)].text, want) ||
			c.data.Value() != data {
			t.Errorf("%s: %q", data, r.s.cautions()[idData(0)].text)
		}
		if got := r.frozen().Draft().Calls[0].Data; got != data {
			t.Errorf("%s became %s", data, got)
		}
	}
	r := newRig(t)
	r.fill(idTo(0), usdc)
	r.s.b.calls[0].raw = true
	r.s.b.calls[0].data.Set("0x1234")
	if c := r.s.cautions()[idData(0)]; !strings.Contains(c.text, "2 bytes: too short") {
		t.Errorf("%q", c.text)
	}
}

func TestTimesThatCannotBeAreMistakes(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.pick(idValid, "5").pick(idAfter, "5")
	if m := r.s.mistakes()[idAfter]; !strings.Contains(m, "end before it begins") {
		t.Errorf("%q", m)
	}
	r.pick(idAfter, "2")
	d := r.frozen().Draft()
	if d.ValidAfter != unixText(r.now.Add(120e9)) || d.ValidUntil != unixText(r.now.Add(300e9)) {
		t.Errorf("%s %s", d.ValidAfter, d.ValidUntil)
	}
	r.pick(idValid, "-1").fill(idValid+ownSuffix, "11").press("esc")
	if m := r.s.mistakes()[idValid+ownSuffix]; !strings.Contains(m, "from 2 to 10") {
		t.Errorf("%q", m)
	}
}

func TestOwnSlippageIsBasisPointsOrPercent(t *testing.T) {
	for text, want := range map[string]int{"75": 75, "0.75 %": 75, "0.75%": 75, "100 %": 10000, "0": 0, "10001": 0,
		"0.001 %": 0, "x": 0, "": 0} {
		s := newTolerance()
		s.preset = 0
		s.own.Set(text)
		if got := s.bps(); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestWordsOfStorageAreFilledUp(t *testing.T) {
	zeros := strings.Repeat("0", 63)
	for text, want := range map[string]string{"3": "0x" + zeros + "3", "0x3": "0x" + zeros + "3", "0x": "", "": "",
		"0xzz": "", "-1": "", "0x" + strings.Repeat("1", 65): "", "10": "0x" + zeros[:62] + "0a"} {
		got, ok := wordOf(text)
		if ok != (want != "") || got != want {
			t.Errorf("%q: %q %v", text, got, ok)
		}
	}
}

func TestAssumedStateWithMistakesIsNotSent(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.addOverride()
	r.s.b.over[0].address.Set(router)
	r.s.b.over[0].code.Set("60")
	r.s.b.over[0].balance.Set("1.2.3")
	r.s.addSlot(0)
	r.s.addSlot(0)
	r.s.b.over[0].slots[0].key.Set("1")
	r.s.b.over[0].slots[1].key.Set("0x01")
	r.s.tried = true
	m := r.s.mistakes()
	for _, id := range []string{idOverRow(0, "code"), idOverRow(0, "balance"), idSlot(0, 1, "key"),
		idSlot(0, 0, "value")} {
		if m[id] == "" {
			t.Errorf("no mistake at %s: %v", id, m)
		}
	}
	r.s.stopEditing()
	r.s.focus = idSlot(0, 1, "key")
	r.press("ctrl+x")
	r.s.focus = idOverRow(0, "code")
	r.press("ctrl+x")
	if len(r.s.b.over) != 0 {
		t.Error("not taken away")
	}
}
