package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"coffer/wallet/journal"
)

// What was agreed to for a quote is found by its id in any case of letters, after the end and in a journal that was
// opened again.
func TestD3_TermsOutliveTheDocuments(t *testing.T) {
	want := journal.Terms{
		Payees: []journal.Payee{{To: account.Hex(), Asset: "eip155:8453/slip44:60", Amount: "5"}},
		Paid:   []journal.Spend{{Asset: "eip155:10/slip44:60", Amount: "4"}},
		There:  []journal.Spend{{Asset: "eip155:8453/slip44:60", Amount: "2"}}, FeesMicro: "0", FeesNamed: true,
	}
	steps := fullRun()
	i := slices.IndexFunc(steps, func(s step) bool { return s.state == journal.QuoteSigned })
	steps[i].entry.Terms = &want
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, steps)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for name, j := range map[string]*journal.Journal{"written": j, "read": open(t, dir, options())} {
		if got, ok := j.Terms("0xaB"); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v %v", name, got, ok)
		}
		if got, ok := j.Terms("0xac"); ok || fmt.Sprint(got) != fmt.Sprint(journal.Terms{}) {
			t.Errorf("%s: terms of another quote: %+v", name, got)
		}
	}
	if got := want.Cells(); fmt.Sprint(got) != fmt.Sprint([]string{account.Hex(), "eip155:8453/slip44:60", "5",
		"eip155:8453/slip44:60", "2", "", "0"}) {
		t.Errorf("%q", got)
	}
}

// Records from before terms were written name their recipients and nothing else; nothing is known of a quote that was
// not sent.
func TestD3_OldRecordsHaveTheirRecipients(t *testing.T) {
	j := open(t, dirOf(t), options())
	run(t, j, fullRun())
	got, ok := j.Terms("0xAB")
	if !ok || len(got.Payees) != 1 || got.Payees[0] !=
		(journal.Payee{To: "0x00000000000000000000000000000000000000b2"}) || got.FeesNamed || got.There != nil {
		t.Errorf("%+v %v", got, ok)
	}
	k := open(t, dirOf(t), options())
	run(t, k, fullRun()[:4])
	if _, ok := k.Terms("0xAB"); ok {
		t.Error("terms of a quote that was not sent")
	}
}
