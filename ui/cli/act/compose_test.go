package act

import (
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/wallet/intent"
)

// asks runs a dry run and returns the draft that it froze.
func asks(t testing.TB, args ...string) intent.Draft {
	t.Helper()
	r := newRig(t)
	r.op.report1.Reasons = nil
	if code := r.run(append(args, "--dry-run")...); len(r.started) != 1 {
		t.Fatalf("%v: code %d\n%s", args, code, r.err.String())
	}
	return r.started[0].Draft()
}

// TestFlagsMakeTheIntent: whole units become base units of the right asset, and every default is written out.
func TestFlagsMakeTheIntent(t *testing.T) {
	d := asks(t, callFlags("--fund-with", "usdc@op", "--slippage", "1.25%", "--valid-for", "5m", "--allow",
		"7.5 USDC "+payee, "--value", "0.1 ETH", "--require", "0.2 ETH", "--require", "30 USDC")...)
	switch {
	case d.TargetChain != "eip155:8453" || d.SlippageBps != 125 || d.ValidUntil != "1769861100":
		t.Errorf("%+v", d)
	case len(d.Calls) != 1 || d.Calls[0].Value != "100000000000000000" || !strings.EqualFold(d.Calls[0].To, usdc) ||
		!strings.HasSuffix(d.Calls[0].Data, "17d7840"):
		t.Errorf("%+v", d.Calls)
	case len(d.Allowances) != 1 || d.Allowances[0].Amount != "7500000" || d.Allowances[0].Spender != payee:
		t.Errorf("%+v", d.Allowances)
	case len(d.TokensRequired) != 2 || d.TokensRequired[0].Amount != "200000000000000000" ||
		d.TokensRequired[1].Amount != "30000000":
		t.Errorf("%+v", d.TokensRequired)
	case !strings.HasPrefix(d.FundWith, "eip155:10/erc20:"):
		t.Error(d.FundWith)
	}
	d = asks(t, "transfer", "--asset", "usdc@op", "--amount", "1.5", "--to", payee, "--chain", "8453", "--interface",
		"v1")
	if d.Kind != intent.KindTransfer || d.Interface != "v1" || d.Pay.Amount != "1500000" ||
		d.Receive.Account != "eip155:8453:"+payee || !strings.HasPrefix(d.Receive.Asset,
		"eip155:8453/erc20:0x833589") || d.SlippageBps != 50 {
		t.Errorf("%+v %+v %+v", d, d.Pay, d.Receive)
	}
	d = asks(t, "swap", "--asset", "ob:usdc", "--amount", "100", "--for", "eth@base", "--min", "0.02", "--to", payee)
	if d.Kind != intent.KindSwap || d.Pay.Asset != "ob:usdc" || d.Receive.Asset != "eip155:8453/slip44:60" ||
		d.Receive.Minimum != "20000000000000000" || d.Receive.Account == "" {
		t.Errorf("%+v %+v", d.Pay, d.Receive)
	}
}

// TestArgumentsOfEveryShape: lists and tuples are JSON, whole numbers may be amounts of an asset of the chain.
func TestArgumentsOfEveryShape(t *testing.T) {
	r := newRig(t)
	one := func(signature string, args ...string) string {
		a := &asked{to: payee, function: signature, args: args}
		c, err := a.call(r.s.world(r.clock), caip.EVM(8453))
		if err != nil {
			return err.Error()
		}
		return c.Data
	}
	for _, x := range [][3]string{
		{"f(uint256 a)", "25 usdc", "00000000000000000000000000000000000000000000000000000000017d7840"},
		{"f(bool a)", "true", "0000000000000000000000000000000000000000000000000000000000000001"},
		{"f(uint256 a)", "7", "0000000000000000000000000000000000000000000000000000000000000007"},
	} {
		if got := one(x[0], x[1]); !strings.HasSuffix(got, x[2]) {
			t.Errorf("%s %q: %s", x[0], x[1], got)
		}
	}
	if got := one("f(uint256[] a, (address to, bool yes) b)", `["3","4"]`, `["`+payee+`", true]`); len(got) != 10+
		64*6 || !strings.Contains(got, "93dbd23b") {
		t.Error(got)
	}
	for _, bad := range [][]string{{"f(uint256[] a)", "[3]"}, {"f(uint256[] a)", "3"}, {"f(uint256 a)", "25 nothing"},
		{"f(uint256 a)", "1.5"}, {"f(address a)", "0x1"}, {"f((bool a) b)", `["true","x"]`},
		{"f(uint256 a)"}, {"f("}, {"approve(address a, uint256 b)", payee, "1"}} {
		if got := one(bad[0], bad[1:]...); strings.HasPrefix(got, "0x") {
			t.Errorf("%q makes %s", bad, got)
		}
	}
}

// TestMistakesOnTheCommandLineAreUsage: they end with code 2, explain what is expected, and start nothing.
func TestMistakesOnTheCommandLineAreUsage(t *testing.T) {
	for _, args := range [][]string{
		{"call"}, {"call", "--chain", "base"}, {"call", "--chain", "nowhere", "--to", "usdc"},
		{"call", "--chain", "base", "--to", "0x12"},
		{"call", "--chain", "base", "--to", "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7Bc0"},
		{"call", "--chain", "solana", "--to", "x"},
		callFlags("--data", "0x00"), callFlags("--slippage", "0"), callFlags("--slippage", "100.01"),
		callFlags("--interface", "v2"), callFlags("--valid-for", "1m"),
		callFlags("--allow", "x"), callFlags("--allow", "1 NOTHING"), callFlags("--require", "1"),
		callFlags("--fund-with", "nothing"), callFlags("--value", "1.5"),
		{"call", "--chain", "base", "--to", payee, "--data", "zz"},
		{"call", "--chain", "base", "--to", payee, "--arg", "1"},
		{"call", file(t, "x.json", "{}")}, {"call", file(t, "x.json", transferOf25), "--to", "usdc"},
		{"call", "a", "b"},
		{"call", file(t, "x.json", strings.Replace(transferOf25, "eip155:8453", "eip155:5", 1))},
		{"pay"}, {"pay", "a.csv", "b.csv"}, {"pay", file(t, "l.csv", payee+",1\n")},
		{"pay", file(t, "l.csv", payee+",1\n"), "--asset", "usdc"},
		{"pay", file(t, "l.csv", payee+",1\n"), "--asset", "usdc@base", "--chain", "op"},
		{"pay", file(t, "l.csv", payee+",1\n"), "--asset", "usdc", "--chain", "solana"},
		{"pay", file(t, "l.csv", payee+",1\n"), "--asset", "usdc", "--chain", "nowhere"},
		{"pay", file(t, "l.csv", payee+",1\n"), "--asset", "usdc@base", "--fund-with", "nothing"},
		{"pay", file(t, "l.csv", ""), "--asset", "usdc@base"},
		{"transfer", "--asset", "usdc", "--amount", "1", "--to", payee}, {"transfer", "--asset", "x", "--amount", "1"},
		{"transfer", "--asset", "usdc", "--amount", "-1", "--to", payee, "--chain", "base"},
		{"swap", "--asset", "usdc", "--amount", "1"}, {"swap", "--asset", "usdc", "--amount", "1", "--for", "eth",
			"--to", payee}, {"swap", "--asset", "usdc", "--amount", "1", "--for", "usdc@base"},
		{"transfer", "extra"},
	} {
		r := newRig(t)
		if code := r.run(append(args, "--yes")...); code != 2 || len(r.started) != 0 {
			t.Errorf("%q: code %d, %d started\n%s", args, code, len(r.started), r.err.String())
		}
	}
}

// A call and a plan read the file of a swap by the same rules: what belongs to calls has no place beside it.
func TestTheFileOfASwapTakesNoFlagsOfACall(t *testing.T) {
	swap := file(t, "swap.json", `{"version":1,"kind":"swap","pay":{"asset":"ob:usdc","amount":"1000000"},`+
		`"receive":{"asset":"eip155:8453/slip44:60"},"slippageBps":50}`)
	for _, args := range [][]string{{"call", swap, "--dry-run"}, {"plan", swap}} {
		r := newRig(t)
		r.done(2, append(args, "--allow", "1 USDC")...)
		r.says("a swap has no --allow")
		r.done(0, args...)
	}
}

// TestAListOfPayoutsIsOneRequest: its rows are the calls, in their order, with their notes; flags say who pays. A fault
// starts nothing, and every one is printed with its line.
func TestAListOfPayoutsIsOneRequest(t *testing.T) {
	const other = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	r := newRig(t)
	r.s.Book = []compose.Contact{{Name: "Demo payee", Address: payee}}
	list := "demo payee,25,,\"rent, March\"\n" + other + ",0.5,eth\n"
	r.done(0, "pay", file(t, "list.csv", list), "--asset", "usdc", "--chain", "base", "--fund-with", "usdc@op",
		"--slippage", "0.3", "--dry-run")
	d := r.started[0].Draft()
	if len(d.Calls) != 2 || d.TargetChain != "eip155:8453" || d.Calls[0].Note != "rent, March" ||
		!strings.Contains(d.Calls[0].Data, strings.ToLower(payee[2:])) || d.Calls[1].To != other ||
		d.Calls[1].Value != "500000000000000000" || d.SlippageBps != 30 ||
		!strings.HasPrefix(d.FundWith, "eip155:10/erc20:") || len(d.TokensRequired) != 2 {
		t.Errorf("%+v", d)
	}
	r = newRig(t)
	r.c.In = strings.NewReader(payee + ",x\n" + other + ",1,doge\nnobody,1\n")
	r.done(2, "pay", "-", "--asset", "usdc@base", "--yes")
	for _, want := range []string{"the list cannot be used", "line 1, amount: ", "line 2, asset: ",
		"line 3, recipient: "} {
		r.says(want)
	}
	if len(r.started) != 0 {
		t.Error("a list with faults was started")
	}
	r.done(2, "pay", file(t, "list.csv", payee+",1\n"), "--yes")
	r.says("for instance --asset usdc --chain base")
}
