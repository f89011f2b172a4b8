package compose

import (
	"strings"
	"testing"
)

// TestAPaymentRequestFillsInWhatItAsksFor: on an EVM chain the recipient gets the amount exactly, by a call.
func TestAPaymentRequestFillsInWhatItAsksFor(t *testing.T) {
	w := world(t)
	const mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	form, note, problem := w.Payment("ethereum:" + usdc + "@8453/transfer?address=" + payee + "&uint256=25500000&gas=1")
	b, calls := form.(*Calls)
	if problem != "" || !calls || note != "not kept of the request: gas" || b.Calls[0].To != usdc ||
		b.Calls[0].Args[0].Text != payee || b.Calls[0].Args[1].Text != "25.5" || b.Chain.String() != "eip155:8453" {
		t.Fatalf("%+v %q %q", form, note, problem)
	}
	form, _, problem = w.Payment("ethereum:" + payee + "@10?value=1e15")
	if b, calls = form.(*Calls); problem != "" || !calls || b.Calls[0].To != payee || b.Calls[0].Value != "0.001" {
		t.Fatalf("%+v %q", form, problem)
	}
	form, note, problem = w.Payment("solana:" + "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ?amount=0.25&spl-token=" +
		mint + "&memo=x")
	x, exchange := form.(*Exchange)
	if problem != "" || !exchange || x.Amount != "0.25" || x.Pay != "ob:usdc" ||
		!strings.Contains(note, "memo; costs") ||
		!strings.HasPrefix(x.Receive, "solana:") {
		t.Fatalf("%+v %q %q", form, note, problem)
	}
	for request, want := range map[string]string{
		"ethereum:" + payee + "@424242?value=1": "chain 424242 of the payment request is not served here",
		"ethereum:" + payee + "@8453/transfer?address=" + payee +
			"&uint256=1": "a token that is not known on Base",
		"solana:GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ?amount=0.0000001&spl-token=" + mint: "6 decimals",
		"ethereum:" + payee + "@1?value=1.5":                                                     "whole number",
	} {
		if form, _, problem := w.Payment(request); !strings.Contains(problem, want) {
			t.Errorf("%s: %+v %q", request, form, problem)
		}
	}
}
