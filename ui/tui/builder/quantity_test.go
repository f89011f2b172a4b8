package builder

import (
	"strconv"
	"strings"
	"testing"

	"coffer/ui/compose"
)

func TestUnitsInArgumentsBecomeBaseUnits(t *testing.T) {
	r := newRig(t)
	r.fill(compose.IDTo(0), router).fill(compose.IDSig(0),
		"f(uint256 a, int128 b, string c)").fill(compose.IDArg(0, []int{0}),
		"1.5 ether").fill(compose.IDArg(0, []int{1}), "20 gwei").fill(compose.IDArg(0, []int{2}), "7 wei").press("esc")
	fn := r.s.b.Calls[0].Fn
	values, err := fn.Decode(mustHex(t, r.frozen().Draft().Calls[0].Data))
	if err != nil || values[0].Text != "1500000000000000000" || values[1].Text != "20000000000" ||
		values[2].Text != "7 wei" {
		t.Fatalf("%v %v", values, err)
	}
	if v := r.view(); !strings.Contains(v, "= 1 500 000 000 000 000 000") {
		t.Error(v)
	}
	r = newRig(t)
	r.press("d").on(compose.IDArg(0, []int{1})).press("ctrl+u").typeText("12.5 usdc").press("esc")
	if got := r.s.b.Spent(&r.s.World); len(got) != 1 || got[0].Amount != "12500000" {
		t.Fatalf("%v %v", got, r.s.mistakes())
	}
}

func TestSuspicionsStandAtTheirField(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.b.Calls[0].Args[1].Text = "1000000"
	if c := r.s.Cautions(r.s.shown())[compose.IDArg(0, []int{1})]; !strings.Contains(c.Text, "zeros at the end") {
		t.Errorf("%q", c.Text)
	}
	r.s.b.Calls[0].Args[1].Units = false
	r.s.b.Calls[0].Args[1].Text = "250"
	if c := r.s.Cautions(r.s.shown())[compose.IDArg(0, []int{1})]; !strings.Contains(c.Text,
		"these are base units, 0.00025 USDC") {
		t.Errorf("%q", c.Text)
	}
	r.s.b.Calls[0].Value = "0.1"
	if c := r.s.Cautions(r.s.shown())[compose.IDValue(0)]; !strings.Contains(c.Text, "transfer() takes no ETH") {
		t.Errorf("%q", c.Text)
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
		r.fill(compose.IDTo(0), usdc).on(compose.IDSig(0)).paste(data).press("esc")
		if c := r.s.b.Calls[0]; !c.Raw || !strings.Contains(r.s.Cautions(r.s.shown())[compose.IDData(0)].Text, want) ||
			c.Data != data {
			t.Errorf("%s: %q", data, r.s.Cautions(r.s.shown())[compose.IDData(0)].Text)
		}
		if got := r.frozen().Draft().Calls[0].Data; got != data {
			t.Errorf("%s became %s", data, got)
		}
	}
	r := newRig(t)
	r.fill(compose.IDTo(0), usdc)
	r.s.b.Calls[0].Raw = true
	r.s.b.Calls[0].Data = "0x1234"
	if c := r.s.Cautions(r.s.shown())[compose.IDData(0)]; !strings.Contains(c.Text, "2 bytes: too short") {
		t.Errorf("%q", c.Text)
	}
}

func TestTimesThatCannotBeAreMistakes(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.pick(compose.IDValid, "5").pick(compose.IDAfter, "5")
	if m := r.s.mistakes()[compose.IDAfter]; !strings.Contains(m, "end before it begins") {
		t.Errorf("%q", m)
	}
	r.pick(compose.IDAfter, "2")
	d := r.frozen().Draft()
	if d.ValidAfter != strconv.FormatInt(r.now.Add(120e9).Unix(), 10) ||
		d.ValidUntil != strconv.FormatInt(r.now.Add(300e9).Unix(), 10) {
		t.Errorf("%s %s", d.ValidAfter, d.ValidUntil)
	}
	r.pick(compose.IDValid, "-1").fill(compose.IDValid+compose.OwnText, "11").press("esc")
	if m := r.s.mistakes()[compose.IDValid+compose.OwnText]; !strings.Contains(m, "from 2 to 10") {
		t.Errorf("%q", m)
	}
}

func TestAssumedStateWithMistakesIsNotSent(t *testing.T) {
	r := newRig(t)
	r.press("d")
	r.s.addOverride()
	r.s.b.Overrides[0].Address = router
	r.s.b.Overrides[0].Code = "60"
	r.s.b.Overrides[0].Balance = "1.2.3"
	r.s.addSlot(0)
	r.s.addSlot(0)
	r.s.b.Overrides[0].Slots[0].Key = "1"
	r.s.b.Overrides[0].Slots[1].Key = "0x01"
	r.s.tried = true
	m := r.s.mistakes()
	for _, id := range []string{compose.IDOverride(0, "code"), compose.IDOverride(0, "balance"),
		compose.IDSlot(0, 1, "key"),
		compose.IDSlot(0, 0, "value")} {
		if m[id] == "" {
			t.Errorf("no mistake at %s: %v", id, m)
		}
	}
	r.s.stopEditing()
	r.s.focus = compose.IDSlot(0, 1, "key")
	r.press("ctrl+x")
	r.s.focus = compose.IDOverride(0, "code")
	r.press("ctrl+x")
	if len(r.s.b.Overrides) != 0 {
		t.Error("not taken away")
	}
}
