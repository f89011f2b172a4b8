package history

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/wallet/journal"
)

func TestD8AFigureKeepsItsSymbolAndSaysThatItHasMoreDigits(t *testing.T) {
	for figure, want := range map[string]string{
		"225.5 USDC": "225.5 USDC", "0.09994290312345678 ETH": "0.0999429… ETH",
		"0.000000000000000001 ETH": "<0.00000001 ETH", "1234567890.5 USDC": "1234567890… USDC",
		"29.93694221 SOL": "29.9369… SOL", "0.00164133 ETH": "0.00164133 ETH", "1,300.5 USDC": "1,300.5 USDC",
		"0.0013131313131 ETH": "0.00131313… ETH", "0.00000123456 WBTC": "0.00000123456 WBTC", "5 USDC": "5 USDC",
		"? USDC": "? USDC", "": "", "12.30000000000001 WBTC": "12.3… WBTC",
	} {
		if got := brief(open, "…")(figure); got != want {
			t.Errorf("%q: %q, not %q", figure, got, want)
		}
	}
}

// The list says what left, what came and who got it, with its unit, at every size that has the list.
func TestD8TheListSaysWhoGotWhat(t *testing.T) {
	const payee = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	s := records(4)
	call, swap, send, many := &s.records[0], &s.records[1], &s.records[2], &s.records[3]
	call.DestinationToken.Amount = "1300500000"
	swap.Type, swap.OriginToken.Amount = api.RecordSwap, "5000000"
	swap.DestinationToken = api.DestinationToken{AggregatedAssetID: "ob:eth", AssetType: "eip155:8453/slip44:60",
		Amount: "1641331313131313", FiatValue: "4.95"}
	send.Type, send.RecipientAccountID = api.RecordTransfer, "eip155:8453/"+payee
	many.Type, many.DestinationToken.Amount = api.RecordCall, "2"
	ctx := tuitest.Context(t)
	ctx.Names = func(a string) string {
		return map[string]string{payee: "Demo payee"}[a]
	}
	ctx.Terms = func(quoteID string) (journal.Terms, bool) {
		switch quoteID {
		case call.QuoteID:
			return journal.Terms{Payees: []journal.Payee{{To: payee}}}, true
		case many.QuoteID:
			return journal.Terms{Payees: []journal.Payee{{To: solanaPayee}, {To: payee}, {To: tuitest.Account}}}, true
		}
		return journal.Terms{}, false
	}
	lines := []string{"1,300.5 USDC → Demo payee", "5 USDC → 0.00164133… ETH", "227.5 USDC → Demo payee"}
	for _, size := range [][2]int{{60, 15}, {80, 19}, {120, 35}, {200, 55}} {
		text := tuitest.Text(t, openedWith(t, ctx, s, size[0], size[1]), size[0], size[1])
		for _, want := range lines {
			if !strings.Contains(text, want) {
				t.Errorf("%v: no %q in\n%s", size, want, text)
			}
		}
		if size[0] > 120 && !strings.Contains(text, "0.000002 USDC → 4Nd1mB..DB4T + 1") {
			t.Errorf("%v: two payees are not counted:\n%s", size, text)
		}
	}
	m := openedWith(t, ctx, s, 120, 35)
	typed(m, "/demo")
	if m.found() != 2 {
		t.Errorf("the filter finds %d records of the payee", m.found())
	}
}

const solanaPayee = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"
