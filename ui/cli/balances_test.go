package cli

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
)

const balancesDoc = `{"accounts":{"evm":"0xB3729F7e1Ab0B4a50E7De5599Ecc321B8775d30d"},
 "balanceByAggregatedAsset":[
  {"aggregatedAssetId":"ob:usdc","balance":"1275000001","individualAssetBalances":[
    {"assetType":"eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","balance":"25000000",` +
	`"fiatValue":24.995},
    {"assetType":"eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85","balance":"1250000001",` +
	`"fiatValue":1249.75}],"fiatValue":1274.745},
  {"aggregatedAssetId":"ob:link","balance":"0","individualAssetBalances":[],"fiatValue":0},
  {"aggregatedAssetId":"ob:new\u001b[2J","balance":"5","individualAssetBalances":[],"fiatValue":null}],
 "balanceBySpecificAsset":[],"totalBalance":{"fiatValue":1274.745}}`

func TestBalancesJSONIsTheAnswerItself(t *testing.T) {
	p, out := program(t)
	var said strings.Builder
	p.Err = &said
	if err := p.Run(t.Context(), []string{"balances", "--json"}); err != nil {
		t.Fatal(err)
	}
	if out.String() != balancesDoc+"\n" {
		t.Fatalf("got %s", out)
	}
	if !strings.Contains(said.String(), "unknown B1: The asset is not in this wallet's list") {
		t.Errorf("said %s", said.String())
	}
}

func TestBalancesTextSaysUnknownAndCleans(t *testing.T) {
	p, out := program(t)
	if err := p.Run(t.Context(), []string{"balances"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1,275.000001", "$1,274.75", "Base", "25.000000", "Optimism", "unknown"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for _, not := range []string{"LINK", "\x1b"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%q is shown in\n%s", not, out)
		}
	}
}

// TestEarlierBalancesNameTheAccountOnEachNetwork: the same account may have been on two.
func TestEarlierBalancesNameTheAccountOnEachNetwork(t *testing.T) {
	p, out := program(t)
	p.Earlier = func(context.Context, Global) (all []EarlierBalance, err error) {
		for _, n := range []string{"aaaa", "bbbb"} {
			all = append(all, EarlierBalance{Network: n, Account: "0xB372", Asset: caip.Native(1),
				Value: big.NewInt(1)})
		}
		return all, nil
	}
	if err := p.Run(t.Context(), []string{"balances", "--earlier"}); err != nil ||
		strings.Count(out.String(), "0xB372") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// answering is the program with another answer, its standard error kept apart.
func answering(t *testing.T, doc string, args ...string) (out, said string) {
	t.Helper()
	p, b := program(t)
	var errs strings.Builder
	p.Err = &errs
	p.Balances = func(context.Context, Global) (*api.Document, error) {
		return api.ParseDocument([]byte(doc), api.DefaultLimits())
	}
	if err := p.Run(t.Context(), append([]string{"balances"}, args...)); err != nil {
		t.Fatal(err)
	}
	return b.String(), errs.String()
}

const lyingDoc = `{"balanceByAggregatedAsset":[
  {"aggregatedAssetId":"ob:usdc","balance":"9000000","individualAssetBalances":[
    {"assetType":"eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","balance":"5000000","fiatValue":5},
    {"assetType":"eip155:8453/slip44:60","balance":"4000000000000000000","fiatValue":12345}],"fiatValue":9},
  {"aggregatedAssetId":"ob:usdc","balance":"8","individualAssetBalances":[],"fiatValue":800000},
  {"aggregatedAssetId":"ob:UЅDC","balance":"7","individualAssetBalances":[],"fiatValue":-3}],
 "balanceBySpecificAsset":[],"totalBalance":{"fiatValue":1000000}}`

// TH-B1, TH-B4: the reasons are lines on standard error, and no figure shows what they refuse.
func TestBalancesSayWhatTheChecksFind(t *testing.T) {
	for _, args := range [][]string{nil, {"--json"}} {
		_, said := answering(t, lyingDoc, args...)
		for _, want := range []string{
			"refuse B1: Not true: every asset is listed once.", "At /balanceByAggregatedAsset/1\n",
			"refuse B1: Not true: every part belongs to the asset that it is counted to.",
			"refuse B4: The symbol looks like that of a known asset, but this is another one. Expected: another " +
				"symbol than USDC. Found: U\\u{405}DC.",
			"warn B1: The total is not what the assets add up to. Expected: $9.00. Found: $1,000,000.00. At " +
				"/totalBalance/fiatValue",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not said:\n%s", want, said)
			}
		}
	}
	out, _ := answering(t, lyingDoc)
	for _, not := range []string{"800,000", "12,345", "4.0", "-3", "1,000,000", "Ѕ"} {
		if strings.Contains(out, not) {
			t.Errorf("%q is printed:\n%s", not, out)
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{"USDC 9.000000 $9.00", "Base 5.000000 $5.00", "Base refused refused",
		"USDC refused refused", "U\\u{405}DC (unverified) refused refused", "total $9.00"} {
		if i >= len(lines) || strings.Join(strings.Fields(lines[i]), " ") != want {
			t.Errorf("line %d is not %q:\n%s", i, want, out)
		}
	}
}

func TestBalancesThatAreSoundSayNothing(t *testing.T) {
	sound :=
		`{"balanceByAggregatedAsset":[{"aggregatedAssetId":"ob:usdc","balance":"5000000","individualAssetBalances":[
    {"assetType":"eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","balance":"5000000","fiatValue":5}],` +
			`"fiatValue":5}],
 "balanceBySpecificAsset":[],"totalBalance":{"fiatValue":5}}`
	if out, said := answering(t, sound); said != "" || !strings.Contains(out, "$5.00") {
		t.Errorf("said %q", said)
	}
}
