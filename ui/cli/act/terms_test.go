package act

import (
	"errors"
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/wallet/journal"
)

// signed makes quote 5 of someHistory a quote of this wallet's journal.
func (r *rig) signed() {
	const onBase, onOptimism = "eip155:8453/erc20:" + usdc, "eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
	r.terms = map[string]journal.Terms{quoteID(5): {
		Payees: []journal.Payee{{To: payee, Asset: onBase, Amount: "5000000"}},
		Paid:   []journal.Spend{{Asset: onOptimism, Amount: "4500000"}},
		There:  []journal.Spend{{Asset: onBase, Amount: "600000"}},
		Fees:   []journal.Spend{{Asset: onOptimism, Amount: "100000"}}, FeesMicro: "100000", FeesNamed: true,
	}}
	r.book = []journal.Operation{{ID: opID, State: journal.Done, QuoteID: quoteID(5), Started: start(),
		Updated: start(), Outcome: api.StatusCompleted}}
	r.s.Book = []compose.Contact{{Name: "Demo payee", Address: payee}}
}

func TestD3_HistoryStatusAndExportSayWhoGotWhat(t *testing.T) {
	r := newRig(t)
	someHistory(r)
	r.signed()
	r.done(0, "history")
	lines := strings.Split(r.out.String(), "\n")
	if !strings.HasSuffix(lines[0], "fees 0.1 USDC ($0.10), as reviewed; to Demo payee "+payee) ||
		!strings.HasSuffix(lines[2], "fees not reported") || strings.Contains(lines[1], "fees") {
		t.Errorf("%s", r.out.String())
	}
	plain := r.service.records[0]
	r.done(0, "history", "--json", "--limit", "1")
	if strings.TrimSpace(r.out.String()) != plain {
		t.Errorf("--json is not the service's own:\n%s\n%s", r.out.String(), plain)
	}
	r.done(0, "history", "--csv")
	lines = strings.Split(r.out.String(), "\r\n")
	if !strings.HasSuffix(lines[1], ",100000") || !strings.Contains(lines[1], ","+payee+",") ||
		!strings.HasSuffix(lines[2], ",,,,,,,") {
		t.Errorf("%s", r.out.String())
	}
	r.service.statuses = []string{statusJSON(api.StatusCompleted)}
	r.done(0, "status", quoteID(5))
	for _, want := range []string{"Demo payee " + payee + " got 5 USDC on Base\n",
		"fees                 0.1 USDC ($0.10), as reviewed\n", "was there            0.6 USDC on Base"} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("no %q in\n%s", want, r.out.String())
		}
	}
	r.done(0, "export")
	if !strings.Contains(r.out.String(), `"terms":{"payees":[{"to":"`+payee+`"`) {
		t.Errorf("%s", r.out.String())
	}
}

var errDamaged = errors.New("the journal is damaged")

func TestD3_AJournalThatCannotBeReadLeavesTheHistory(t *testing.T) {
	r := newRig(t)
	someHistory(r)
	r.s.Read = func() (Book, error) { return nil, errDamaged }
	r.done(0, "history")
	r.says("payees and fees are not known")
	if !strings.Contains(r.out.String(), "fees not reported") {
		t.Error(r.out.String())
	}
}
