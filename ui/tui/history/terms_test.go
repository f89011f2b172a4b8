package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/journal"
)

const paidTo = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"

// signed enters the first record in this wallet's journal, with more used than paid.
func signed(ctx *screen.Context, s *service) {
	const onBase, onOptimism = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		"eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
	s.records[0].OriginToken.Amount, s.records[0].DestinationToken.Amount = "1276680000", "1300500000"
	terms := journal.Terms{
		Payees: []journal.Payee{{To: paidTo, Asset: onBase, Amount: "1300500000"}},
		Paid:   []journal.Spend{{Asset: onOptimism, Amount: "1276680000"}},
		There:  []journal.Spend{{Asset: onBase, Amount: "24300000"}},
		Fees:   []journal.Spend{{Asset: onOptimism, Amount: "480000"}}, FeesMicro: "480000", FeesNamed: true,
	}
	ctx.Terms = func(id string) (journal.Terms, bool) { return terms, id == s.records[0].QuoteID }
	ctx.Names = func(a string) string { return map[string]string{paidTo: "Demo payee"}[a] }
}

func TestD3_DetailsAndReceiptSayWhoGotWhatAndTheFee(t *testing.T) {
	ctx, p, s := onLab(t), &printer{}, records(3)
	signed(&ctx, s)
	ctx.Export = p.write
	m := openedWith(t, ctx, s, 120, 60)
	pressed(m, "p", "j", "p")
	own, other := string(p.data[0]), string(p.data[1])
	for _, want := range []string{
		"\npayee         Demo payee " + paidTo + " got 1,300.5 USDC on Base\n",
		"\npayment       1,276.68 USDC on Optimism\n", "\nwas there     24.3 USDC on Base, as the service said\n",
		"\nfees          0.48 USDC ($0.48), as reviewed\n",
		"1,276.68 paid + 24.3 there before = 1,300.5 used + 0.48 fees\n", "\ncall used     1,300.5 USDC",
	} {
		if !strings.Contains(own, want) {
			t.Errorf("no %q in the receipt:\n%s", want, own)
		}
	}
	if !strings.Contains(other, "\nfees          not reported\n") ||
		strings.Contains(other, "beyond what was received") || strings.Contains(other, "payee ") {
		t.Errorf("of another wallet:\n%s", other)
	}
	pressed(m, "k", "enter")
	all := strings.Join(strings.Fields(strings.Join(m.detailLines(m.theme, ctx.Clock(), 200), " ")), " ")
	for _, want := range []string{"Demo payee got 1,300.5 USDC on Base", "was there 24.3 USDC on Base",
		"fees 0.48 USDC ($0.48), as reviewed"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in the details: %s", want, all)
		}
	}
	m.Update(screen.AmountsMsg{Hidden: true})
	if all := strings.Join(m.detailLines(m.theme, ctx.Clock(), 200), " "); strings.Contains(all, "1,300") ||
		strings.Contains(all, "0.48") || !strings.Contains(all, "Demo payee") {
		t.Errorf("amounts are hidden: %s", all)
	}
}

// A month of three: a call of this wallet that used more than it paid, a call of another device, and a transfer.
func TestTheFeesOfAMonthComeFromTheJournalAndOnlyTheOthersAreUnknown(t *testing.T) {
	ctx, p, s := onLab(t), &printer{}, records(3)
	s.records[2].Status, s.records[2].Type = api.StatusCompleted, api.RecordTransfer
	signed(&ctx, s)
	ctx.Export = p.write
	m := openedWith(t, ctx, s, 80, 24)
	if text := tuitest.Text(t, m, 80, 24); !strings.Contains(text, "fees $0.96, 1 unknown") {
		t.Errorf("not the sum of a call of $0.48 and a transfer of $0.48:\n%s", text)
	}
	pressed(m, "x", "c")
	want := []string{"0.48", "", "0.48"}
	for i, row := range table(t, p.data[0])[1:] {
		if row[20] != want[i] {
			t.Errorf("record %d is exported with fees %q, want %q", i, row[20], want[i])
		}
	}
	for i, want := range []string{"0.48 USDC ($0.48), as reviewed", present.NotReported,
		"$0.48, what was paid less what arrived"} {
		if line, inDetails := m.receipts().Fees(m.receipts().Of(s.records[i])),
			m.receipts().Fees(m.format.facts(m.row(i))); line != want || inDetails != want {
			t.Errorf("record %d: the lines say %q, the dashboard %q, want %q", i, line, inDetails, want)
		}
	}
	s.records = s.records[:2]
	s.records[0], s.records[1] = s.records[1], s.records[0]
	if text := tuitest.Text(t, openedWith(t, onLab(t), s, 80, 24), 80, 24); !strings.Contains(text, "fees unknown") {
		t.Errorf("without the journal no fee of a call is known:\n%s", text)
	}
}

// The earlier columns of an export are unchanged byte for byte; the journal's columns follow them.
func TestD3_ExportsGainMembersAndChangeNone(t *testing.T) {
	ctx, p, s := onLab(t), &printer{}, records(3)
	plain := exporting(t, p, s)
	signed(&ctx, s)
	ctx.Export = p.write
	pressed(plain, "x", "c", "x", "j")
	pressed(openedWith(t, ctx, s, 80, 19), "x", "c", "x", "j")
	before, now := table(t, p.data[0]), table(t, p.data[2])
	if !slices.Equal(before[0], csvColumns()) || csvColumns()[27] != "payees" {
		t.Errorf("%q", before[0])
	}
	for i := range now {
		if i != 1 && !slices.Equal(before[i], now[i]) {
			t.Errorf("line %d changed: %q", i, now[i])
		}
	}
	if got := strings.Join(now[1][27:], " "); got != strings.Join([]string{paidTo,
		"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "1300500000",
		"eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "24300000",
		"eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "480000"}, " ") {
		t.Error(got)
	}
	var f struct{ Records []map[string]json.RawMessage }
	if err := json.Unmarshal(p.data[3], &f); err != nil || len(f.Records) != 3 {
		t.Fatal(err, len(f.Records))
	}
	if !bytes.Contains(f.Records[0]["journal"], []byte(paidTo)) || f.Records[1]["journal"] != nil ||
		string(f.Records[1]["feesUsd"]) != "" {
		t.Errorf("%s", p.data[3])
	}
	if tuitest.Record(1).QuoteID != s.records[1].QuoteID {
		t.Error("another record than was meant")
	}
}

func table(t *testing.T, b []byte) [][]string {
	t.Helper()
	out, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(out) != 4 {
		t.Fatalf("%d lines: %v", len(out), err)
	}
	return out
}

// TestPaymentsOfSeveralAssetsCountAsMoreThanOne: the service states the first asset of a call alone, so the list says
// that there is more, and the past of the total, which leaves payments out, has no value for it.
func TestPaymentsOfSeveralAssetsCountAsMoreThanOne(t *testing.T) {
	ctx, s := onLab(t), records(3)
	signed(&ctx, s)
	terms, _ := ctx.Terms(s.records[0].QuoteID)
	terms.Payees = append(terms.Payees, journal.Payee{To: paidTo, Asset: "eip155:8453/slip44:60", Amount: "1"})
	ctx.Terms = func(id string) (journal.Terms, bool) { return terms, id == s.records[0].QuoteID }
	m := openedWith(t, ctx, s, 200, 19)
	if text := tuitest.Text(t, m, 200, 19); !strings.Contains(text, "1,300.5 USDC etc. → Demo payee + 1") {
		t.Error(text)
	}
	// the call needs more than its payee gets, such as an allowance
	terms.Payees = []journal.Payee{{To: paidTo, Asset: terms.Payees[0].Asset, Amount: "1000000"}}
	m = openedWith(t, ctx, s, 200, 19)
	if text := tuitest.Text(t, m, 200, 19); !strings.Contains(text, "1 USDC etc. → Demo payee") ||
		!strings.Contains(text, "call used   1,300.5 USDC") {
		t.Error(text)
	}
	past, ok := m.tell()().(screen.PastMsg)
	if !ok || past.Records[0].Value != nil || past.Records[0].Got != "" || past.Records[1].Value == nil {
		t.Errorf("%+v", past)
	}
}
