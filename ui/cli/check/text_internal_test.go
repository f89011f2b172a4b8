package check

import (
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/wallet/verify"
)

func TestTH_V3_ACallThatIsNotDecodedSaysSoAndShowsItsData(t *testing.T) {
	data := "0x12345678" + strings.Repeat("ab", 5_000)
	call := callOf(verify.PreparedView{Lines: []verify.CallView{
		{Index: 1, Role: verify.RoleCall, To: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Data: data},
		{Index: 2, Role: verify.RoleCall, To: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Decoded: true},
	}})
	out := Result{Reviews: []Review{{Document: "prepared call", Call: call}}}.text()
	for _, want := range []string{"NOT DECODED", data, "(unknown)", "plain transfer of the chain's own coin",
		"unknown wei", "nothing, as far as the bytes show", "the time is not known"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing: %.400s", want, out)
		}
	}
}

func TestTheKindOfNetworkIsSaidLoudly(t *testing.T) {
	for kind, want := range map[string]string{"embedded": "EMBEDDED", "lab": "LAB", "real": "REAL MONEY",
		"else": "ELSE"} {
		if out := (Result{Network: &Network{Kind: kind}}).text(); !strings.Contains(out, want) ||
			kind != "real" && strings.Contains(out, "REAL MONEY") {
			t.Errorf("%s: %s", kind, out)
		}
	}
}

// TestTH_Q5_EveryPartOfAPaymentIsListed: with the gate of unknown targets open, every receiver and its share is
// listed.
func TestTH_Q5_EveryPartOfAPaymentIsListed(t *testing.T) {
	pays := verify.AmountView{Asset: caip.Native(8453), Decimals: -1}
	q := quoteOf(verify.QuoteView{CostBps: -1, Legs: []verify.LegView{{Pays: pays, Parts: []verify.PartView{
		{To: "0x1111111111111111111111111111111111111111", Amount: pays, ShareBps: 9695},
		{To: "0x2222222222222222222222222222222222222222", ToName: "second", Amount: pays, ShareBps: 305,
			Approval: true},
	}, Delegation: &verify.DelegationView{Authority: "0xA", Contract: "0xB", Nonce: 7}}}})
	out := Result{Reviews: []Review{{Document: "quote", Quote: q}}}.text()
	for _, want := range []string{
		"0x1111111111111111111111111111111111111111 (unknown)", "96.95 %", "lets take", "3.05 %",
		"0x2222222222222222222222222222222222222222 (second)",
		"unknown base units of eip155:8453/slip44:60", "cost              unknown", "0xB (unknown)",
		"account nonce   7", "nothing more",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

func TestReasonsComeWithTheWorstFirst(t *testing.T) {
	var list []Reason
	for _, l := range []verify.Level{verify.Show, verify.Unknown, verify.Warn, verify.Gate, verify.Refuse} {
		list = append(list, Reason{Code: "X", Level: string(l), Title: string(l)})
	}
	p := &page{}
	p.reasons(list)
	var got []string
	for line := range strings.Lines(p.b.String()) {
		got = append(got, strings.Fields(line)[0])
	}
	if s := strings.Join(got, " "); s != "REFUSE GATE WARN UNKNOWN SHOW" {
		t.Fatal(s)
	}
}
