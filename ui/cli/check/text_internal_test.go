package check

import (
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// told is the text of a review.
func told(t *testing.T, name string, r consent.Review) string {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Result{Reviews: []Review{Of(name, present.Review{Review: r, Catalog: cat,
		Person: consent.Person{From: consent.TypeFrom()},
		Clock:  cli.Clock})}}.text()
}

func TestTH_V3_ACallThatIsNotDecodedSaysSoAndShowsItsData(t *testing.T) {
	data := "0x12345678" + strings.Repeat("ab", 5_000)
	out := told(t, "prepared call", consent.Review{Call: &verify.PreparedView{Lines: []verify.CallView{
		{Index: 1, Role: verify.RoleCall, To: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Data: data},
		{Index: 2, Role: verify.RoleCall, To: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Decoded: true},
	}}})
	for _, want := range []string{"cannot decode this call", data, "an unknown contract",
		"plain transfer of the chain's own coin", "nothing leaves your account", "when it expires is not known"} {
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
	out := told(t, "quote", consent.Review{Quote: &verify.QuoteView{CostBps: -1,
		Legs: []verify.LegView{{Pays: pays, Parts: []verify.PartView{
			{To: "0x1111111111111111111111111111111111111111", Amount: pays, ShareBps: 9695},
			{To: "0x2222222222222222222222222222222222222222", ToName: "second", Amount: pays, ShareBps: 305,
				Approval: true},
		}, Delegation: &verify.DelegationView{Authority: "0xA", Contract: "0xB", Nonce: 7}}}}})
	for _, want := range []string{
		"Goes to              0x1111111111111111111111111111111111111111, unknown contract", "(96.95 % of the payment)",
		"Taken by             0x2222222222222222222222222222222222222222, second", "(3.05 % of the payment)",
		"Cost                 unknown", "Code                 0xB", "account nonce 7",
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
	for line := range strings.Lines(p.String()) {
		got = append(got, strings.Fields(line)[0])
	}
	if s := strings.Join(got, " "); s != "REFUSE GATE WARN UNKNOWN SHOW" {
		t.Fatal(s)
	}
}
