package amount_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/amount"
)

func n(s string) *big.Int {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("bad number in a test: " + s)
	}
	return v
}

// uint256 draws values of every size, not only of full width.
func uint256(t *rapid.T, label string) *big.Int {
	b := rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, label)
	return new(big.Int).SetBytes(b)
}

func TestParseUndoesFormatForEveryUint256(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := uint256(t, "v")
		d := rapid.IntRange(0, amount.MaxDecimals).Draw(t, "decimals")
		for _, s := range []string{amount.Format(v, d), amount.Trim(amount.Format(v, d))} {
			got, err := amount.Parse(s, d)
			if err != nil || got.Cmp(v) != 0 {
				t.Fatalf("%s with %d decimals: %v, %v", s, d, got, err)
			}
		}
		base, err := amount.ParseBase(v.String())
		if err != nil || base.Cmp(v) != 0 {
			t.Fatalf("base %s: %v %v", v, base, err)
		}
		human := amount.Human(v, d)
		if got, err := amount.Parse(strings.ReplaceAll(human, ",", ""), d); err != nil || got.Cmp(v) != 0 {
			t.Fatalf("human %s: %v %v", human, got, err)
		}
	})
}

func TestParseAcceptsOneSpelling(t *testing.T) {
	for _, c := range []struct {
		s, want string
		d       int
	}{{"250.5", "250500000", 6}, {"0", "0", 18}, {"0.000001", "1", 6}, {"1", "1", 0},
		{"10", "10000000000000000000", 18}} {
		got, err := amount.Parse(c.s, c.d)
		if err != nil || got.String() != c.want {
			t.Errorf("Parse(%q, %d) = %v, %v; want %s", c.s, c.d, got, err, c.want)
		}
	}
	max := amount.MaxUint256().String()
	over := new(big.Int).Add(amount.MaxUint256(), big.NewInt(1)).String()
	if _, err := amount.Parse(max, 0); err != nil {
		t.Errorf("2^256-1 refused: %v", err)
	}
	for _, c := range []struct {
		s string
		d int
	}{
		{"", 6}, {".", 6}, {".5", 6}, {"5.", 6}, {"1e9", 6}, {"0x10", 6}, {"-1", 6}, {"+1", 6}, {" 1", 6}, {"1 ", 6},
		{"01", 6}, {"00", 6},
		{"1,000", 6}, {"1_000", 6}, {"1.2.3", 6}, {"1.0000001", 6}, {"1.0", 0}, {"NaN", 6}, {"Inf", 6}, {"１", 6},
		{"1\n", 6}, {over, 0}, {max, 1},
		{strings.Repeat("9", 5000), 0}, {"1", -1}, {"1", 78},
	} {
		got, err := amount.Parse(c.s, c.d)
		var refused *amount.Error
		if !errors.As(err, &refused) || got != nil {
			t.Errorf("Parse(%q, %d) = %v, %v", c.s, c.d, got, err)
		}
	}
}

func TestParseBaseRefusesOtherNumberForms(t *testing.T) {
	over := new(big.Int).Add(amount.MaxUint256(), big.NewInt(1)).String()
	for _, s := range []string{"", "1e9", "0x10", "-1", "+1", " 1", "1 ", "01", "00", "1.0", over,
		strings.Repeat("9", 79), "1\x00"} {
		if v, err := amount.ParseBase(s); err == nil || v != nil {
			t.Errorf("%q gave %v", s, v)
		}
	}
	if v, err := amount.ParseBase(amount.MaxUint256().String()); err != nil || v.BitLen() != 256 {
		t.Error(v, err)
	}
}

func TestFormatShowsAllDecimalsAndNamesTheUnknown(t *testing.T) {
	for _, c := range []struct {
		v    *big.Int
		d    int
		want string
	}{
		{n("250500000"), 6, "250.500000"}, {n("0"), 6, "0.000000"}, {n("5"), 0, "5"},
		{n("1"), 18, "0.000000000000000001"},
		{n("-1500"), 3, "-1.500"}, {nil, 6, amount.Unknown}, {n("1"), -1, amount.Unknown},
	} {
		if got := amount.Format(c.v, c.d); got != c.want {
			t.Errorf("Format(%v, %d) = %s, want %s", c.v, c.d, got, c.want)
		}
	}
}

func TestGroupAndTrimOnlyTouchNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "999": "999", "1000": "1,000", "1234567.8901": "1,234,567.8901", "-1000": "-1,000", "-100": "-100",
		"unknown": "unknown",
		"1,000":   "1,000", "": "", "12x4567": "12x4567", "1000.": "1000.",
	} {
		if got := amount.Group(in); got != want {
			t.Errorf("Group(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"250.500000": "250.5", "250.000000": "250", "100": "100", "0.0": "0",
		"unknown": "unknown"} {
		if got := amount.Trim(in); got != want {
			t.Errorf("Trim(%q) = %q, want %q", in, got, want)
		}
	}
	if got := amount.Human(n("1234567500000"), 6); got != "1,234,567.5" {
		t.Error(got)
	}
}

func TestScalingBracketsTheExactValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := uint256(t, "v")
		from, to := rapid.IntRange(0, 30).Draw(t, "from"), rapid.IntRange(0, 30).Draw(t, "to")
		down, up := amount.Scale(v, from, to), amount.ScaleUp(v, from, to)
		exactDown, exactUp := amount.Scale(down, to, from), amount.ScaleUp(up, to, from)
		if exactDown.Cmp(v) > 0 || exactUp.Cmp(v) < 0 {
			t.Fatalf("%s from %d to %d: %s … %s", v, from, to, down, up)
		}
		if gap := new(big.Int).Sub(up, down); gap.Cmp(big.NewInt(1)) > 0 {
			t.Fatalf("gap %s", gap)
		}
		if to >= from && down.Cmp(up) != 0 {
			t.Fatal("an exact scaling was rounded")
		}
	})
	if amount.Scale(nil, 6, 18) != nil || amount.ScaleUp(nil, 18, 6) != nil {
		t.Error("an unknown amount became a number")
	}
	if got := amount.Scale(n("1999999999999"), 18, 6); got.Int64() != 1 {
		t.Error(got)
	}
}

func TestValueRoundsDownAndKeepsUnknown(t *testing.T) {
	if got := amount.Value(n("1500000"), 6, n("999800")); got.Int64() != 1499700 {
		t.Error(got)
	}
	if got := amount.Value(n("1"), 18, n("4000000000")); got.Sign() != 0 {
		t.Error(got)
	}
	if amount.Value(nil, 6, n("1")) != nil || amount.Value(n("1"), 6, nil) != nil {
		t.Error("an unknown figure became a value")
	}
	for in, want := range map[string]string{"12345678": "12.35", "12344999": "12.34", "0": "0.00", "4999": "0.00",
		"5000": "0.01", "-12345678": "-12.35", "-1": "0.00"} {
		if got := amount.USD2(n(in)); got != want {
			t.Errorf("USD2(%s) = %s, want %s", in, got, want)
		}
	}
	if amount.USD2(nil) != amount.Unknown {
		t.Error("nil must be unknown")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"250.5", "0", "0.000001", "1e9", "-1",
		"115792089237316195423570985008687907853269984665640564039457584007913129639936"} {
		f.Add(s, 6)
	}
	f.Fuzz(func(t *testing.T, s string, d int) {
		v, err := amount.Parse(s, d)
		if err != nil {
			return
		}
		whole, frac, _ := strings.Cut(s, ".")
		want := whole
		if d > 0 {
			want += "." + frac + strings.Repeat("0", d-len(frac))
		}
		if got := amount.Format(v, d); got != want {
			t.Fatalf("%q with %d decimals printed as %q", s, d, got)
		}
	})
}

func FuzzParseBase(f *testing.F) {
	for _, s := range []string{"0", "1", "01", "0x1",
		"115792089237316195423570985008687907853269984665640564039457584007913129639935"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := amount.ParseBase(s); err == nil && v.String() != s {
			t.Fatalf("%q printed as %s", s, v)
		}
	})
}
