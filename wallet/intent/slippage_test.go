package intent_test

import (
	"os"
	"strings"
	"testing"

	"coffer/wallet/intent"
)

// TestL1_AFileWithoutSlippageAsksForTheDefault reads the files that every face reads in its own TestL1: the body is
// that of a file which names 0.50 %.
func TestL1_AFileWithoutSlippageAsksForTheDefault(t *testing.T) {
	for _, name := range []string{"call", "transfer", "swap"} {
		file, err := os.ReadFile("testdata/no-slippage/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		d, err := intent.ParseDraft(file)
		if err != nil || d.SlippageBps != 0 {
			t.Fatal(name, d.SlippageBps, err)
		}
		d = d.Fill(draft().Network, draft().Accounts)
		body := func(d intent.Draft) string {
			i := freeze(t, d)
			return string(i.PrepareBody()) +
				string(i.QuoteBody())
		}
		without := body(d)
		d.SlippageBps = 50
		if with := body(d); without != with || !strings.Contains(without, `"slippageTolerance":50`) {
			t.Errorf("%s: %s", name, without)
		}
	}
}
