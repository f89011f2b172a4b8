package balances

import (
	"bytes"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// asked returns an update's messages without timers.
func asked(b *bench, keys ...string) (all []any) {
	b.t.Helper()
	for _, k := range keys {
		for _, msg := range b.follow(b.m.Update(kit.Press(k))) {
			all = append(all, msg)
		}
	}
	return all
}

func TestScrambledFiguresHaveTheSharesOfTheRealOnes(t *testing.T) {
	figure := rapid.Custom(func(t *rapid.T) *big.Int {
		digits := rapid.StringMatching(`[1-9][0-9]{0,77}`).Draw(t, "digits")
		v, _ := new(big.Int).SetString(digits, 10)
		return v
	})
	rapid.Check(t, func(rt *rapid.T) {
		s, err := newScrambler(bytes.NewReader(rapid.SliceOfN(rapid.Byte(), 9, 9).Draw(rt, "random")))
		if err != nil {
			rt.Fatal(err)
		}
		real := present.Holding{Decimals: 6, Amount: new(big.Int), Micro: new(big.Int)}
		for range rapid.IntRange(1, 5).Draw(rt, "parts") {
			p := present.Part{Decimals: rapid.IntRange(0, 18).Draw(rt, "decimals"), Amount: figure.Draw(rt, "amount"),
				Micro: figure.Draw(rt, "micro")}
			real.Parts = append(real.Parts, p)
			real.Amount.Add(real.Amount, amount.Scale(p.Amount, p.Decimals, 6))
			real.Micro.Add(real.Micro, p.Micro)
		}
		got := s.holdings(&present.Holdings{Assets: []present.Holding{real, {Amount: new(big.Int), Micro: nil}, {}},
			Total: real.Micro,
			Says:  real.Micro})
		a := got.Assets[0]
		if a.Amount.Cmp(partsAmount(a)) != 0 || a.Micro.Cmp(partsWorth(a)) != 0 || got.Total.Cmp(a.Micro) != 0 ||
			got.Differs() {
			rt.Fatal("a sum that was right is wrong")
		}
		if z := got.Assets[1]; z.Amount.Sign() != 0 || z.Micro != nil || got.Assets[2].Amount != nil {
			rt.Fatal("zero or unknown changed")
		}
		// every figure times the factor, to less than one unit: f*num/den - 1 < g <= max(1, f*num/den)
		for i, p := range a.Parts {
			for _, x := range [][2]*big.Int{{real.Parts[i].Amount, p.Amount}, {real.Parts[i].Micro, p.Micro}} {
				d := new(big.Int).Sub(new(big.Int).Mul(x[0], s.num), new(big.Int).Mul(x[1], s.den))
				if x[1].Sign() <= 0 || d.Cmp(s.den) >= 0 || d.Sign() < 0 && x[1].Cmp(big.NewInt(1)) > 0 {
					rt.Fatalf("%s became %s", x[0], x[1])
				}
			}
		}
		ratio, other := new(big.Int).Mul(s.num, big.NewInt(10)), new(big.Int).Mul(s.den, big.NewInt(13))
		if ratio.Cmp(other) < 0 && new(big.Int).Mul(s.num,
			big.NewInt(13)).Cmp(new(big.Int).Mul(s.den, big.NewInt(10))) > 0 {
			rt.Fatalf("a factor near one tells the real amounts: %s/%s", s.num, s.den)
		}
	})
}

func TestScrambledScreenShowsNoRealFigure(t *testing.T) {
	b := newBench(t)
	for i := range b.src.b.BalanceByAggregatedAsset { // a finding would name the real sum
		if a := &b.src.b.BalanceByAggregatedAsset[i]; a.AggregatedAssetID == "ob:usdc" {
			a.Balance = "9999000000"
		}
	}
	b.src.b.TotalBalance.FiatValue = "77777"
	b.begin()
	figures := regexp.MustCompile(`\$?[0-9][0-9,]*\.[0-9]{2,}`)
	var shown []string
	screens := func() (out string) {
		for _, k := range []string{"e", "i", "esc", "v", "v", "v", "down", "i", "esc", "z"} {
			asked(b, k)
			out += b.text(120, 60)
		}
		return out
	}
	shown = figures.FindAllString(screens(), -1)
	asked(b, "z", "e", "H")
	b.m.open = map[string]bool{unpricedKey: true}
	b.m.arrange()
	made := map[string]bool{}
	text := screens()
	for _, f := range figures.FindAllString(text, -1) {
		made[f] = true
	}
	for _, f := range shown {
		if made[f] && strings.Trim(f, "$0.,") != "" {
			t.Errorf("the real figure %s is on the scrambled screen", f)
		}
	}
	if len(made) < 20 || strings.Count(text, "SCRAMBLED") < 8 || strings.Contains(text, "9,999") {
		t.Errorf("%d figures made up\n%s", len(made), text)
	}
}

func TestScrambledTotalIsWhatTheFirstLineIsTold(t *testing.T) {
	b := newBench(t)
	b.begin()
	real := b.m.announce()().(screen.TotalChangedMsg).Micro
	for _, msg := range asked(b, "H") {
		if msg, ok := msg.(screen.TotalChangedMsg); ok && msg.Micro.Cmp(real) == 0 {
			t.Error("the first line shows the real total")
		}
	}
	saved := b.shelf.saves[lastName]
	b.read(20 * time.Minute)
	if got := b.m.announce()().(screen.TotalChangedMsg).Micro; got.Cmp(real) == 0 {
		t.Error("a reading brought the real total back")
	}
	if b.shelf.saves[lastName] != saved+1 || b.m.points[1].micro.Cmp(real) != 0 {
		t.Error("what is kept has scrambled figures")
	}
	asked(b, "H")
	if b.m.announce()().(screen.TotalChangedMsg).Micro.Cmp(real) != 0 {
		t.Error("the real total does not come back")
	}
}

func TestScrambledAmountsAreNeitherCopiedNorExportedNorBuiltWith(t *testing.T) {
	b := newBench(t)
	written := 0
	b.ctx.Export = func(string, []byte) (string, error) { written++; return "/x", nil }
	b.start()
	b.begin()
	if msg := asked(b, "Y")[0].(screen.CopyMsg); msg.Text != "2275.250000" {
		t.Errorf("copied %q", msg.Text)
	}
	before := asked(b, "b")[0].(screen.OpenMsg)
	asked(b, "H")
	for _, key := range []string{"Y", "x"} {
		if msg, ok := asked(b, key)[0].(screen.ToastMsg); !ok || !strings.Contains(msg.Text, "scrambled") {
			t.Errorf("%s: %#v", key, msg)
		}
		asked(b, "i")
		for _, k := range b.m.Keys() {
			if k.Match("Y") && k.Off == "" {
				t.Error("the key to copy an amount is on")
			}
		}
		asked(b, "esc")
	}
	if written != 0 {
		t.Error("scrambled holdings were exported")
	}
	if after := asked(b, "b")[0].(screen.OpenMsg); after != before {
		t.Errorf("the builder is given %+v, not %+v", after, before)
	}
	b.m.Update(screen.AmountsMsg{Hidden: true})
	asked(b, "H")
	if msg, ok := asked(b, "Y")[0].(screen.ToastMsg); !ok || !strings.Contains(msg.Text, "hidden") {
		t.Error("a hidden amount is copied, and the toast would show it")
	}
}

func TestFactorIsOneForAStart(t *testing.T) {
	b := newBench(t)
	b.begin()
	asked(b, "H")
	first := b.m.total()
	asked(b, "H", "H")
	if b.m.total().Cmp(first) != 0 {
		t.Error("another factor in the same start lets one tell the real figures")
	}
	m := New(b.ctx, b.src, Random(strings.NewReader("short")))
	if msg, ok := m.scramble()().(screen.ToastMsg); !ok || m.scrambled ||
		!strings.Contains(msg.Text, "no random number") {
		t.Error("scrambled without randomness")
	}
	if m := New(b.ctx, b.src); m.random == nil {
		t.Error("no source of its own")
	}
}

// The values that a check compared do not reveal a hidden or scrambled figure.
func TestFindingsKeepHiddenAmountsHidden(t *testing.T) {
	b := newBench(t)
	b.src.b.BalanceByAggregatedAsset = []api.AggregateBalance{
		{AggregatedAssetID: "ob:usdc", Balance: "9999000000", FiatValue: "9999",
			IndividualAssetBalances: []api.AssetBalance{{AssetType: usdcBase, Balance: "2275250000",
				FiatValue: "2275"}}}}
	b.begin()
	if !strings.Contains(b.text(120, 30), "9,999 USDC") {
		t.Fatal("the finding is not shown")
	}
	b.m.Update(screen.AmountsMsg{Hidden: true})
	for range 2 {
		if text := b.text(120, 30); strings.Contains(text, "9,999") || strings.Contains(text, "2,275") {
			t.Errorf("a hidden amount is shown:\n%s", text)
		}
		asked(b, "i")
	}
}

const usdcBase = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
