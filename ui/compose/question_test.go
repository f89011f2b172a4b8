package compose

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
)

// questions are the sentences of docs/lab.md.
func questions() []string {
	return []string{
		"swap 5 USDC@optimism for ETH@base, slippage 0.5 %",
		"swap 0.05 ETH for USDC to " + payee + " on base, at least 120 USDC, slippage 1 %",
		"transfer 25 USDC to " + payee + " on base, slippage 0.5 %",
		"call on base " + usdc + " data 0xa9059cbb000000000000000000000000" + strings.ToLower(payee[2:]) +
			"0000000000000000000000000000000000000000000000000000000005f5e100 function \"transfer(address to, " +
			"uint256 amount)\", needs 100 USDC, pay with USDC@optimism, slippage 0.5 %",
		"call on optimism " + payee + " value 0.1 ETH; " + payee + " data 0x01, needs nothing, allow 250 USDC for " +
			payee + ", slippage 0.25 %, interface v1",
	}
}

func TestAQuestionIsReadAsItIsWritten(t *testing.T) {
	w := world(t)
	for _, text := range questions() {
		d, problem := w.Question(text)
		if problem != "" {
			t.Errorf("%s: %s", text, problem)
			continue
		}
		if again, err := w.QuestionOf(d); err != nil || again != text {
			t.Errorf("%s\n%s, %v", text, again, err)
		}
		if _, err := w.Freeze(d); err != nil && d.Interface == "" && !strings.Contains(text, "0x01") {
			t.Errorf("%s: %v", text, err)
		}
	}
	d, problem := w.Question("swap 5 usdc@op for ob:eth")
	if want := (intent.Pay{Asset: "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85",
		Amount: "5000000"}); problem != "" || *d.Pay != want || d.Receive.Asset != "ob:eth" ||
		d.SlippageBps != intent.DefaultSlippageBps {
		t.Errorf("%+v %+v: %s", d.Pay, d.Receive, problem)
	}
	d, problem = w.Question("call on base " + usdc + " data 0xa9059cbb000000000000000000000000" +
		strings.ToLower(payee[2:]) + "0000000000000000000000000000000000000000000000000000000005f5e100")
	if problem != "" || len(d.TokensRequired) != 1 || d.TokensRequired[0].Amount != "100000000" {
		t.Errorf("what a call visibly spends is not what it needs: %+v %s", d.TokensRequired, problem)
	}
}

func TestAQuestionIsStrict(t *testing.T) {
	w := world(t)
	for text, want := range map[string]string{
		"": "begins with", "buy 5 USDC": "begins with", "swap": "", "swap 5": "", "swap 5 USDC": `expected "for"`,
		"swap 5 USDC for NOPE":                                 "no asset",
		"swap 5 USDC to ETH@base":                              `expected "for", found "to"`,
		"swap 5 NOPE for USDC":                                 "no asset",
		"swap -5 USDC for ETH@base":                            "",
		"swap 5.1234567 USDC for ETH@base":                     "",
		"swap 5 USDC for ETH@nowhere":                          "no chain",
		"swap 5 USDC for ETH@base slippage 1 %":                "not understood",
		"swap 5 USDC for ETH@base, slippage 0 %":               "percentage",
		"swap 5 USDC for ETH@base, slippage 1 %,":              "not understood",
		"swap 5 USDC for ETH@base, slippage 1 bps":             `expected "%"`,
		"swap 5 USDC for ETH@base, pay with USDC":              "not understood",
		"swap 5 USDC for ETH@base, at least 1 USDC":            "what arrives",
		"swap 5 USDC for ETH@base to Demo payee":               "",
		"swap 5 USDC for ETH@base to 0x12":                     "of 40",
		"swap 5 USDC for ETH@base, interface v3":               `expected "v1"`,
		"swap 5 USDC for ETH@base\nto " + payee:                "one line",
		"swap 5 USDC for ETH@base \x1b[2J":                     "one line",
		"swap 5 USDC for ETH@base, slippage 1 %, slippage 2 %": "twice",
		"transfer 5 USDC to " + payee:                          `expected "on"`,
		"transfer 5 USDC to " + payee + " on solana":           "Solana address",
		"transfer 5 ZERO to " + payee + " on base":             "choose a chain",
		"call on base":                                            "address is missing",
		"call on base " + payee + " value 1":                      "",
		"call on base " + payee + " value 1 USDC":                 "no unit",
		"call on base " + payee + " function pay()":               "quotation marks",
		"call on base " + payee + " function \"pay()":             "not closed",
		"call on base " + payee + ", needs 5 NOPE":                "no asset",
		"call on base " + payee + ", needs nothing, needs 5 USDC": "and something",
		strings.Repeat("swap ", 20_000):                           "64 KiB",
	} {
		if d, problem := w.Question(text); problem == "" || !strings.Contains(problem, want) ||
			strings.ContainsAny(problem, "\x1b\n") {
			t.Errorf("%q: %q, expected %q (%+v)", text, problem, want, d)
		}
	}
	over := intent.Draft{Version: 1, TargetChain: "eip155:8453", Calls: []intent.Call{{To: payee}},
		Overrides: []api.StateOverride{{Address: payee, StateDiff: map[string]string{"0x": "0x"}}}}
	if _, err := w.QuestionOf(over); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("an override is left out in silence: %v", err)
	}
	quoted := intent.Draft{Version: 1, TargetChain: "eip155:8453", Calls: []intent.Call{{To: payee, Function: `a"b`}}}
	if _, err := w.QuestionOf(quoted); !errors.Is(err, ErrNoQuestion) {
		t.Errorf("a quotation mark is left out in silence: %v", err)
	}
}

// TestEveryOrderComesBackFromItsQuestion: any asset of the catalogue on any chain, with any of the clauses.
func TestEveryOrderComesBackFromItsQuestion(t *testing.T) {
	w := world(t)
	r := rand.New(rand.NewPCG(1, 2))
	all := []string{}
	for _, a := range w.Catalog.Aggregates() {
		all = append(all, a.ID.String())
		for _, e := range a.Entities {
			all = append(all, e.Asset.String())
		}
	}
	for range 1000 {
		d := randomOrder(w, r, all)
		text, err := w.QuestionOf(d)
		if err != nil {
			t.Fatalf("%+v %+v %+v: %v\n%s", d, d.Pay, d.Receive, err, w.written(Timeless(d)))
		}
		back, problem := w.Question(text)
		if problem != "" || !sameOrder(Timeless(d), back) {
			t.Fatalf("%s: %s", text, problem)
		}
	}
}

func randomOrder(w *World, r *rand.Rand, all []string) intent.Draft {
	some := func(n int) bool { return r.IntN(n) == 0 }
	base := func() string { return caip.EVM(uint64(r.Uint32()) + 1).String()[len("eip155:"):] }
	d := intent.Draft{Version: intent.Version, Network: w.Network, SlippageBps: 1 + r.IntN(10_000)}
	if some(4) {
		d.Interface = intent.InterfaceV1
	}
	recipient := func(asset string) string {
		at := caip.EVM(10)
		if e, ok := w.Entity(asset); ok {
			at = e.Asset.Chain
		}
		if at.IsSolana() {
			return AccountOn(at, "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T")
		}
		return AccountOn(at, payee)
	}
	asset := func() string { return all[r.IntN(len(all))] }
	switch r.IntN(3) {
	case 0:
		d.Kind, d.Pay = intent.KindSwap, &intent.Pay{Asset: asset(), Amount: base()}
		d.Receive = &intent.Receive{Asset: asset()}
		if some(2) {
			d.Receive.Account = recipient(d.Receive.Asset)
		}
	case 1:
		d.Kind, d.Pay = intent.KindTransfer, &intent.Pay{Asset: asset(), Amount: base()}
		d.Receive = &intent.Receive{Asset: asset()}
		d.Receive.Account = recipient(d.Receive.Asset)
	default:
		d.TargetChain = "eip155:8453"
		for range 1 + r.IntN(3) {
			c := intent.Call{To: payee, Value: []string{"", "0", base()}[r.IntN(3)]}
			if some(2) {
				c.Data, c.Function = "0x01020304", "pay(address to, uint256)"
			}
			d.Calls = append(d.Calls, c)
		}
		if some(2) {
			d.TokensRequired = []api.TokenRequirement{
				{AssetType: "eip155:8453/erc20:" + strings.ToLower(usdc), Amount: base()},
				{AssetType: "eip155:8453/erc20:" + strings.ToLower(account), Amount: "0"}}
		}
		if some(2) {
			d.Allowances = []api.AllowanceRequirement{{AssetType: "eip155:8453/erc20:" + strings.ToLower(usdc),
				Amount: base(), Spender: payee}}
		}
		if some(2) {
			d.FundWith = asset()
		}
		d.ValidUntil = "1760003600"
	}
	return d
}

// FuzzQuestion: what is read is written and read again as the same order, and a mistake is said in clean words.
func FuzzQuestion(f *testing.F) {
	for _, text := range questions() {
		f.Add(text)
	}
	f.Add("swap 5 base eip155:8453/erc20:0x0000000000000000000000000000000000000001 to ob:usdc")
	w := world(f)
	f.Fuzz(func(t *testing.T, text string) {
		d, problem := w.Question(text)
		if problem != "" {
			if strings.ContainsAny(problem, "\x1b\n\r\u202e") {
				t.Fatalf("%q", problem)
			}
			return
		}
		again, err := w.QuestionOf(d)
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %q", text, w.written(d))
		}
		if twice, _ := w.Question(again); !sameOrder(twice, d) {
			t.Fatalf("%q became %q", text, again)
		}
	})
}
