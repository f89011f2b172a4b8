package compose

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
		if v, err := Quantity(c.text, c.decimals, "USDC"); err != nil || v.String() != c.want {
			t.Errorf("%q: %v %v, want %s", c.text, v, err, c.want)
		}
	}
	for _, bad := range []string{"", "gwei", "1 gwei", "1 ether", "1.5 wei", "1,5", "1e6", "-1", "1 DAI", "0x10", ".5",
		"1 0"} {
		if v, err := Quantity(bad, 6, "USDC"); err == nil {
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
			if got, err := Quantity(text, d, "TOK"); err != nil || got.Cmp(v) != 0 {
				rt.Fatalf("%q: %v %v, want %s", text, got, err, v)
			}
		}
	})
}

func TestPayableIsReadFromSignatureAndABI(t *testing.T) {
	for sig, want := range map[string]coin{
		"f(uint256 a) external payable returns (bool)": coinTaken, "f(uint256 a) external": coinRefused,
		"f((uint256 a) b) view": coinRefused, "f(address payable a)": coinUnknown,
		"f()": coinUnknown, "transfer(address,uint256)": coinRefused,
	} {
		c := &Call{}
		c.Signature = sig
		c.ReadSignature(false)
		if c.Fn == nil || c.coin() != want {
			t.Errorf("%s: %v %s", sig, c.coin(), c.SigErr)
		}
	}
	list, err := ReadABI([]byte(
		`[{"type":"event","name":"e","inputs":[]},{"type":"function","name":"a","inputs":[],` +
			`"stateMutability":"payable"},{"name":"b","inputs":[],"payable":false},{"type":"function","name":"c"}]`))
	if err != nil || len(list) != 3 || list[0].takes != coinTaken || list[1].takes != coinRefused ||
		list[2].takes != coinUnknown {
		t.Fatalf("%+v %v", list, err)
	}
}

func TestOwnSlippageIsBasisPointsOrPercent(t *testing.T) {
	for text, want := range map[string]int{"75": 75, "0.75 %": 75, "0.75%": 75, "100 %": 10000, "0": 0, "10001": 0,
		"0.001 %": 0, "x": 0, "": 0} {
		if got := (Choice{OwnBps, text}).Bps(); got != want {
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
