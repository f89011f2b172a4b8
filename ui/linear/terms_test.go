package linear

import (
	"strings"
	"testing"
	"testing/synctest"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/journal"
)

func TestD3_TheHistorySaysWhoGotWhatAndTheFee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		own, other := record(hash(5), api.StatusCompleted, ""), record(hash(6), api.StatusCompleted, "")
		own.Type, other.Type = api.RecordCall, api.RecordCall
		r.pages = []api.HistoryPage{{Transactions: []api.HistoryRecord{own, other}}}
		asset := caip.ERC20(8453, addressOf(usdc)).String()
		r.opts.Context.Terms = func(id string) (journal.Terms, bool) {
			return journal.Terms{
				Payees: []journal.Payee{{To: payee, Asset: asset, Amount: "90000000"}},
				Paid:   []journal.Spend{{Asset: asset, Amount: "80480000"}},
				There:  []journal.Spend{{Asset: asset, Amount: "10000000"}},
				Fees:   []journal.Spend{{Asset: asset, Amount: "480000"}}, FeesMicro: "480000", FeesNamed: true,
			}, id == hash(5)
		}
		r.begins()
		r.types("8")
		said := flat(r.types("1"))
		r.wants(said, "Payee: alice, 0x93DB D23b 6b71 b82E 3A19 aD8d 51Dd EBbB 13aF 7BC0, got 90 USDC on Base",
			"Payment: 80.48 USDC on Base", "Was there: 10 USDC on Base, as the service said",
			"Fees: 0.48 USDC ($0.48), as reviewed", "80.48 paid + 10 there before = 90 used + 0.48 fees",
			"Call used: 90 USDC")
		said = flat(r.types("2"))
		r.wants(said, "Fees: not reported", "Was there: not reported")
		if strings.Contains(said, "Payee") || strings.Contains(said, "Delivered") {
			t.Error(said)
		}
		_ = r.ends()
	})
}
