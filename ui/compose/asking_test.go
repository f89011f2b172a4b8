package compose

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/compose/payuri"
)

const ownSolana = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"

// TestWhatIsAskedForIsWhatAPayerGets: every asset of the catalogue, asked for and then read as the payer reads it.
func TestWhatIsAskedForIsWhatAPayerGets(t *testing.T) {
	w := world(t)
	accounts := []api.Account{{Type: api.AccountKernelV31, AccountAddress: strings.ToLower(payee)},
		{Type: api.AccountSolana, AccountAddress: ownSolana}}
	tried := 0
	for _, agg := range w.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			for _, figure := range []string{"", "1.5"} {
				got, problem := w.Ask(network.Descriptor{}, accounts, Asking{Amount: figure, Asset: e.Asset.String()})
				if problem != "" || got.Asset.Asset != e.Asset {
					t.Fatalf("%s: %v %q", e.Asset, got.Asset.Asset, problem)
				}
				r, err := payuri.Parse(got.URI)
				back, refused := w.requested(r)
				if err != nil || refused != "" || back.Asset != e.Asset || r.Solana != e.Asset.Chain.IsSolana() ||
					(figure == "") != (r.Amount == "") {
					t.Fatalf("%s is read as %v: %v %q", got.URI, back.Asset, err, refused)
				}
				if r.Solana && r.To != ownSolana || !r.Solana && r.To != payee {
					t.Errorf("%s is paid to %s", got.URI, r.To)
				}
				if form, _, problem := w.Payment(got.URI); problem != "" {
					t.Errorf("%s: %+v %s", got.URI, form, problem)
				}
				tried++
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d requests", tried)
	}
}

func TestAskingSaysWhatIsMissing(t *testing.T) {
	w := world(t)
	evm := []api.Account{{Type: api.AccountKernelV31, AccountAddress: payee}}
	both := append([]api.Account{{Type: api.AccountSolana, AccountAddress: ownSolana}}, evm...)
	here := network.Descriptor{Chains: []string{"eip155:10", "eip155:8453"}}
	for text, want := range map[string]string{
		"25 usdc on base": "25 USDC on Base", "25 USDC@base": "25 USDC on Base", "usdc on Base": "any amount",
		"0.1 eth on optimism": "0.1 ETH on Optimism",
	} {
		a, problem := ReadAsking(text)
		got, wrong := w.Ask(here, evm, a)
		if problem+wrong != "" || !strings.Contains(got.Says(), want) {
			t.Errorf("%s: %q %q %q", text, got.Says(), problem, wrong)
		}
	}
	a, _ := ReadAsking("25.5 usdc")
	if got, problem := w.Ask(here, both, a); problem != "" || got.Account.IsEVM() ||
		got.Amount.Cmp(big.NewInt(25_500_000)) != 0 || got.Says() != "25.5 USDC on Solana" {
		t.Errorf("with the Solana account first: %+v %q", got, problem)
	}
	for text, want := range map[string]string{
		"": "such as 25 usdc on base", "25 usdc now please": "such as",
		"25 usdc":            "say on which chain, such as usdc on ",
		"25 nothing on base": "no asset", "25 usdc on nowhere": "no chain", "0 usdc on base": "more than 0",
		"1.23456789 usdc on base": "decimals", "5 usdc on solana": "no account on Solana",
		"5 usdc on ethereum": "this network has no Ethereum", "5 usdc@base on optimism": "on Base, not on Optimism",
		"\x1b[2J usdc on base": "", "all usdc on base": "",
	} {
		a, problem := ReadAsking(text)
		if problem == "" {
			_, problem = w.Ask(here, evm, a)
		}
		if problem == "" || !strings.Contains(problem, want) || strings.Contains(problem, "\x1b") {
			t.Errorf("%q: %q, not %q", text, problem, want)
		}
	}
}
