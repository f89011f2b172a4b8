package daemon

import (
	"strings"
	"testing"
)

// TestWhatAnAttesterSaysWhenItListens, in one line of JSON and for people.
func TestWhatAnAttesterSaysWhenItListens(t *testing.T) {
	a := attests{BaseURL: "https://127.0.0.1:8444", Attester: "0xA", Network: "lab-1", Escrow: "0xE",
		Chains: []string{"eip155:8453"}, CAFile: "ca.pem"}
	for want, asJSON := range map[string]bool{
		`{"baseUrl":"https://127.0.0.1:8444","attester":"0xA","network":"lab-1","escrow":"0xE",` +
			`"chains":["eip155:8453"],"caFile":"ca.pem"}` + "\n": true,
		"serving  https://127.0.0.1:8444\nattests  as 0xA\nnetwork  lab-1\nescrow   0xE on eip155:8453\n" +
			"ca file  ca.pem\napi key  the stored ones (`coffer serve keys list`)\n": false,
	} {
		var out strings.Builder
		if err := a.announce(&out, asJSON); err != nil || out.String() != want {
			t.Errorf("got\n%s%v, want\n%s", &out, err, want)
		}
	}
}
