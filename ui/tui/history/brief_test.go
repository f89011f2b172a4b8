package history

import "testing"

func TestAFigureKeepsItsSymbolAndSaysThatItHasMoreDigits(t *testing.T) {
	for figure, want := range map[string]string{
		"225.5 USDC": "225.5 USDC", "0.09994290312345678 ETH": "0.0999429… ETH",
		"0.000000000000000001 ETH": "<0.00000001 ETH", "1234567890.5 USDC": "1234567890… USDC",
		"? USDC": "? USDC", "": "", "12.30000000000001 WBTC": "12.3… WBTC",
	} {
		if got := brief(open, "…")(figure); got != want {
			t.Errorf("%q: %q, not %q", figure, got, want)
		}
	}
}
