package present

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/internal/reviewtest"
	"coffer/wallet/consent"
	"coffer/wallet/verify"

	"pgregory.net/rapid"
)

func TestASlippageThatIsAllowedNeverReadsAsMoreThanWhatIsAllowed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := reviewtest.Quote().Quote
		v.SlippageBps = rapid.IntRange(0, 5_000).Draw(rt, "bps")
		v.Delivered.Amount = big.NewInt(rapid.Int64Range(2_000_000, 1<<50).Draw(rt, "expected"))
		least := new(big.Int).Mul(v.Delivered.Amount, big.NewInt(int64(10_000-v.SlippageBps)))
		v.Minimum.Amount = least.Quo(least, big.NewInt(10_000)) // rounded down to a whole unit, as the service does
		text := joined(slippageSpans(v))
		if want := "= " + Percent(v.SlippageBps) + ", you allowed " +
			Percent(v.SlippageBps); !strings.Contains(text, want) {
			rt.Fatalf("%q has no %q", text, want)
		}
		v.Minimum.Amount = new(big.Int).Sub(v.Minimum.Amount, big.NewInt(1+v.Delivered.Amount.Int64()/100_000))
		if text = joined(slippageSpans(v)); !strings.Contains(text, "more than the") ||
			strings.Contains(text, "= "+Percent(v.SlippageBps)+",") {
			rt.Fatalf("too much reads as allowed: %q", text)
		}
	})
}

// The document of a quote names one delivered token, and a call may need several.
func TestEveryTokenThatACallNeedsIsAmongWhatArrives(t *testing.T) {
	two := reviewtest.Quote()
	asset, err := caip.ParseAsset("eip155:8453/slip44:60")
	if err != nil {
		t.Fatal(err)
	}
	coin := verify.AmountView{Asset: asset, Symbol: "ETH", Decimals: 18, Amount: big.NewInt(30_000_000_000_000_000),
		ChainName: "Base"}
	none := coin
	none.Asset, none.Symbol, none.Amount = caip.ERC20(8453, [20]byte{1}), "DAI", new(big.Int)
	two.Quote.Needs = append(two.Quote.Needs, verify.NeedView{Need: coin}, verify.NeedView{Need: none})
	p, _ := pageOf(t, reviewtest.Case{Review: two})
	text := textOf(p)
	for _, want := range []string{"Arrives Base 250.5 USDC, $250.45, exactly", "Arrives Base 0.03 ETH, "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Arrives Base 0 DAI") {
		t.Errorf("nothing of it is needed, and it arrives:\n%s", text)
	}
}

func TestOnlyACostThatIsExplainedInFullIsMarkedGood(t *testing.T) {
	for name, x := range map[string]struct {
		unexplained int64
		explained   bool
		want        string
		tone        Tone
	}{
		"in full":                       {0, true, "explained", ToneGood},
		"within what prices are off by": {3_650_000, true, "explained 25 %", TonePlain},
		"beyond it":                     {3_650_000, false, "only 25 % explained", ToneWarn},
		"fees that no one states":       {0, false, "explained by fees: unknown", ToneUnknown},
	} {
		v := reviewtest.Quote().Quote
		v.CostMicro, v.UnexplainedMicro, v.Explained = big.NewInt(4_866_667), big.NewInt(x.unexplained), x.explained
		if got := explainedSpan(v); got.Text != x.want || got.Tone != x.tone {
			t.Errorf("%s: %+v, want %q", name, got, x.want)
		}
	}
}

func TestOldAndNewFiguresStandSideBySideWithTheirDifference(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	old, now := reviewtest.Quote().Quote, reviewtest.Quote().Quote
	now.SlippageBps, now.Recipient, now.CostMicro, now.Delivered.Amount = 100, reviewtest.Escrow, nil, nil
	now.Fees = []verify.AmountView{reviewtest.Swap().Quote.Minimum}
	got := map[string]Change{}
	for _, c := range (Review{Catalog: cat}).changed(old, now) {
		got[c.Label+" "+c.Diff] = c
	}
	for key, want := range map[string][2]string{
		"Slippage changed":      {"0.50 %", "1.00 %"},
		"Delivered to changed":  {Address(reviewtest.Account), Address(reviewtest.Escrow)},
		"Fees new":              {"nothing", "0.029113700000000000 ETH"},
		"Fees gone":             {"0.480000 USDC", "nothing"},
		"Cost changed":          {"$0.479904", "unknown"},
		"The call gets changed": {"250.500000 USDC", "unknown"},
		"You pay ":              {"225.980000 USDC", "225.980000 USDC"},
	} {
		if c, ok := got[key]; !ok || c.Old != want[0] || c.New != want[1] {
			t.Errorf("%s: %+v", key, got)
		}
	}
	foreign := verify.AmountView{Asset: now.Minimum.Asset, Decimals: -1, Amount: big.NewInt(1_000)}
	more := foreign
	more.Amount = big.NewInt(3_500)
	if c := amountChange("Fees", &foreign, &more, Leaves); c.Diff != "+2,500" ||
		!strings.Contains(c.New, "3,500 base units of") {
		t.Errorf("%+v", c)
	}
	if c := microChange("Cost", big.NewInt(2), big.NewInt(1)); c.Diff != "-$0.000001" {
		t.Errorf("%+v", c)
	}
}

func TestANonceIsWrittenAsBytes(t *testing.T) {
	if decimalHex("not a number") != "not a number" || decimalHex("255") != "0xff" {
		t.Error("a nonce is written wrong")
	}
}

// The page of bytes writes what a call sends along in the chain's own coin, with the wei beside it.
func TestTheValueOfACallIsInCoinsAndInWei(t *testing.T) {
	c := reviewtest.Call()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c.Call.Chain.ID, c.Call.Lines[0].Value = 8453, big.NewInt(1_500_000_000_000_000_001)
	text := textOf(Inspect(Review{Review: c, Catalog: cat}))
	if !strings.Contains(text, "1.500000000000000001 ETH (1500000000000000001 wei)") {
		t.Error(text)
	}
	if got := Coins(cat, 4242, big.NewInt(1_000)); got != "1,000 base units of the chain's own coin" {
		t.Error(got)
	}
}

// A cost of nothing has no remainder, whatever the fees: no line takes one from the other.
func TestD15_FeesThatAreMoreThanTheCostAreSaidToBe(t *testing.T) {
	v := reviewtest.Quote().Quote
	v.CostMicro, v.FeesMicro, v.UnexplainedMicro = new(big.Int), big.NewInt(80_000), new(big.Int)
	if got := joined(explanation(v)); got != "the fees, $0.080000, are more than that: unexplained $0.000000" {
		t.Error(got)
	}
	v.CostMicro, v.UnexplainedMicro = big.NewInt(100_000), big.NewInt(20_000)
	if got := joined(explanation(v)); got != "cost $0.100000 - fees $0.080000 = unexplained $0.020000" {
		t.Error(got)
	}
}

// What own nodes simulated is in one row of either review, with who did it; that it is not what the review states is
// never passed over as agreement.
func TestSimulatedMovesAreARowThatSaysWhoSawThem(t *testing.T) {
	usdc := func(n int64) verify.AmountView {
		return verify.AmountView{Symbol: "USDC", Decimals: 6, Amount: big.NewInt(n)}
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	clock, who := func(at time.Time) string { return at.String() }, consent.Person{From: consent.TypeFrom()}
	base, op := verify.ChainLabel{Name: "Base"}, verify.ChainLabel{Name: "OP Mainnet"}
	for _, c := range []struct {
		list []verify.SimulationView
		want string
	}{
		{nil, ""},
		{[]verify.SimulationView{{Chain: base, Block: 7, As: true}},
			"no balance changes by your node after block 7, as stated"},
		{[]verify.SimulationView{{Chain: base, Block: 7, As: true, Out: []verify.AmountView{usdc(20_000_000)},
			In: []verify.AmountView{{Symbol: "ETH", Decimals: 18, Amount: big.NewInt(1e16)}}}},
			"20 USDC leaves Base, 0.01 ETH arrives on Base by your node after block 7, as stated"},
		{[]verify.SimulationView{{Chain: base, Block: 7, As: true, Out: []verify.AmountView{usdc(1_000_000)}},
			{Chain: op, Block: 9, Out: []verify.AmountView{usdc(2_000_000)}}},
			"1 USDC leaves Base, 2 USDC leaves OP Mainnet by your node"},
	} {
		r := Review{Review: reviewtest.Call(), Catalog: cat, Clock: clock, Person: who}
		r.Call.Simulated = c.list
		q := Review{Review: reviewtest.Quote(), Catalog: cat, Clock: clock, Person: who}
		q.Quote.Simulated = c.list
		for _, page := range []Page{Review1(r), Review2(q)} {
			got := ""
			for _, b := range page {
				if b.Label == "Simulated" {
					got += strings.Join(strings.Fields(joined(b.Spans)), " ")
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		}
	}
}
