package present_test

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/gastank"
	"coffer/ui/present"
)

// A figure that could not be read is unknown, and what keeps the tank from sending is said.
func TestATankIsShownAsItIs(t *testing.T) {
	has, good := "1500000000000000000", uint64(1)
	r := gastank.Report{Address: "0xTank", Most: 100, Chains: []gastank.Chain{
		{ID: 8453, Name: "Base", Symbol: "ETH", Has: &has, Operations: &good, UnderWay: []string{"run 0xab"}},
		{ID: 10, Name: "Optimism", Symbol: "ETH", Problem: "no endpoint answers", Stopped: "two programs"},
		{ID: 137, Name: "Polygon", Symbol: "POL", Has: &has, Held: "behind"},
	}, Paid: []gastank.Paid{{Account: "0xA", Operations: 3}, {Account: "0xB", Operations: 100}}}
	var got []string
	own := []present.Own{{Account: api.Account{AccountAddress: "0xa"}, Name: "daily"},
		{Account: api.Account{AccountAddress: "0xB"}}}
	for _, l := range present.Tank(r, own, false) {
		line := l.Label + "|" + l.Text
		if l.Warn {
			line = "! " + line
		}
		got = append(got, line)
	}
	want := `Base (8453)|1.5 ETH, for about 1 operation
|under way: run 0xab
Optimism (10)|unknown
! |STOPPED until you decide (coffer network resume 10): two programs
! |not all is known: no endpoint answers
Polygon (137)|1.5 POL
! |waits for an explanation: behind
paid in 24 hours|3 of 100 operations for 0xA (daily)
! |100 of 100 operations for 0xB: no more until some are older`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for _, l := range present.Tank(r, own, true) {
		if strings.Contains(l.Text, "1.5") || strings.Contains(l.Text, "about") {
			t.Errorf("%q says what is hidden", l.Text)
		}
	}
}
