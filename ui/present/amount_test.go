package present

import (
	"math/big"
	"testing"

	"coffer/api/catalog"
	"coffer/wallet/verify"
)

func TestAFigureIsExactAndSaysWhatItCounts(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const usdc, other = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "eip155:8453/erc20:0x01"
	for _, c := range []struct{ asset, base, want, placed string }{
		{"ob:usdc", "250500000", "250.5 USDC", "250.5 USDC"},
		{usdc, "1000001", "1.000001 USDC", "1.000001 USDC on Base"},
		{usdc, "0", "0 USDC", "0 USDC on Base"},
		{usdc, "1.5", "unknown", "unknown on Base"},
		{other, "1234", "1,234 base units of " + other, "1,234 base units of " + other},
	} {
		if got := Figure(cat, c.asset, c.base); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.base, c.asset, got, c.want)
		}
		if got := Placed(cat, c.asset, c.base); got != c.placed {
			t.Errorf("%s of %s: %q, want %q", c.base, c.asset, got, c.placed)
		}
	}
	for want, a := range map[string]verify.AmountView{
		"unknown":  {Decimals: 6, Symbol: "USDC"},
		"1.5 USDC": {Amount: big.NewInt(1_500_000), Decimals: 6, Symbol: "USDC"},
	} {
		if got := Human(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
