package present_test

import (
	"fmt"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/journal"
)

const (
	onBase     = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	onOptimism = "eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
	payee      = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	own        = "0x21f6B1d4b4FA4bE12c4c4A60cE0c4C4a5d4F5a10"
)

// terms are those of a call that paid 1,276.68 and used 1,300.5, because 24.3 were there.
func terms() journal.Terms {
	return journal.Terms{
		Payees: []journal.Payee{{To: payee, Asset: onBase, Amount: "1300500000"}},
		Paid:   []journal.Spend{{Asset: onOptimism, Amount: "1276680000"}},
		There:  []journal.Spend{{Asset: onBase, Amount: "24300000"}},
		Fees:   []journal.Spend{{Asset: onOptimism, Amount: "480000"}}, FeesMicro: "480000", FeesNamed: true,
	}
}

func source(t *testing.T, known map[string]journal.Terms) present.Receipts {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return present.Receipts{
		Catalog: cat, Accounts: []api.Account{{AccountAddress: strings.ToLower(own)}},
		Terms: func(id string) (journal.Terms, bool) { x, ok := known[id]; return x, ok },
		Names: func(a string) string {
			if a == payee {
				return "Demo payee"
			}
			return ""
		},
	}
}

func call(status string) present.Record {
	return present.Record{QuoteID: "0x01", Kind: api.RecordCall, Status: status, GotAsset: onBase, Got: "1300500000"}
}

func text(rows []present.Row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", r.Label, r.Name, r.Address, r.Text)
	}
	return b.String()
}

func TestD3_ACallOfThisJournalSaysWhoGotWhatAndAddsUp(t *testing.T) {
	s := source(t, map[string]journal.Terms{"0x01": terms()})
	got := text(s.Rows(call(api.StatusCompleted)))
	want := "payee|Demo payee|" + payee + "|got 1,300.5 USDC on Base\npayment|||1,276.68 USDC on Optimism\nwas " +
		"there|||24.3 USDC on Base, as the service said\n" +
		"fees|||0.48 USDC ($0.48), as reviewed\n|||1,276.68 paid + 24.3 there before = 1,300.5 used + 0.48 fees\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestD3_WhatAnotherDeviceDidHasNoInventedFigure(t *testing.T) {
	// of another quote of the same amount: only the id matches
	s := source(t, map[string]journal.Terms{"0x02": terms()})
	if got := text(s.Rows(call(api.StatusCompleted))); got != "was there|||not reported\nfees|||not reported\n" {
		t.Error(got)
	}
	s.Terms = nil
	if got := text(s.Rows(present.Record{QuoteID: "0x01", Kind: api.RecordTransfer,
		Status: api.StatusCompleted})); got != "fees|||not reported\n" {
		t.Error(got)
	}
}

func TestD3_WhatDoesNotAddUpIsNotAddedUp(t *testing.T) {
	for name, change := range map[string]func(*journal.Terms){
		"another fee":     func(x *journal.Terms) { x.Fees[0].Amount = "470000" },
		"another asset":   func(x *journal.Terms) { x.Paid[0].Asset = "eip155:10/slip44:60" },
		"not said before": func(x *journal.Terms) { x.There = nil },
		"fees not named":  func(x *journal.Terms) { x.FeesNamed = false },
		"an unknown asset": func(x *journal.Terms) {
			x.There[0].Asset = "eip155:8453/erc20:0x0000000000000000000000000000000000000001"
		},
	} {
		x := terms()
		change(&x)
		if got := text(source(t, map[string]journal.Terms{"0x01": x}).Rows(
			call(api.StatusCompleted))); strings.Contains(got, " = ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestD3_EachEndHasItsOwnWords(t *testing.T) {
	s := source(t, map[string]journal.Terms{"0x01": terms()})
	if got := text(s.Rows(call(api.StatusRefunded))); strings.Contains(got, "fees") ||
		!strings.Contains(got, "|got nothing\n") {
		t.Error(got)
	}
	if got := text(s.Rows(call(api.StatusPending))); !strings.Contains(got, "|is to get 1,300.5 USDC on Base\n") {
		t.Error(got)
	}
	for status, want := range map[string]string{api.StatusCompleted: "got 1,300.5 USDC on Base",
		api.StatusPending: "is to get 1,300.5 USDC on Base"} {
		x := journal.Terms{Payees: []journal.Payee{{To: own}}, FeesNamed: true}
		r := call(status)
		r.Kind = api.RecordTransfer
		got := text(source(t, map[string]journal.Terms{"0x01": x}).Rows(r))
		if got != "payee|your own account|"+own+"|"+want+"\nfees|||none\n" {
			t.Error(got)
		}
	}
	unread := journal.Terms{Payees: []journal.Payee{{To: payee}}}
	if got := text(source(t, map[string]journal.Terms{"0x01": unread}).Rows(
		call(api.StatusCompleted))); !strings.Contains(got, "the amount is not known here") ||
		!strings.Contains(got, "fees|||not reported") {
		t.Error(got)
	}
}
