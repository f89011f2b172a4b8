package compose

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/wallet/intent"
)

// TestSavedDocumentsOfEarlierVersionsAreReadAndWrittenUnchanged: both documents were written before the forms had
// their own package.
func TestSavedDocumentsOfEarlierVersionsAreReadAndWrittenUnchanged(t *testing.T) {
	w := world(t)
	raw, err := os.ReadFile("testdata/drafts.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.ParseDesk(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Encode(); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%v\n%s\n%s", err, got, raw)
	}
	if raw, err = os.ReadFile("testdata/templates.json"); err != nil {
		t.Fatal(err)
	}
	list, err := w.ParseTemplates(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := EncodeTemplates(list); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("%v\n%s\n%s", err, got, raw)
	}
}

func TestEveryAssetIsFoundByItsSymbolOnItsChain(t *testing.T) {
	w := world(t)
	for _, agg := range w.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			for _, name := range []string{e.Symbol, strings.ToLower(e.Symbol), agg.ID.String()} {
				if got, ok := w.AssetOn(e.Asset.Chain, name); !ok || got.Asset != e.Asset {
					t.Errorf("%s on %s is %v", name, w.ChainName(e.Asset.Chain), got.Asset)
				}
			}
		}
		if id, problem := w.Asset(strings.ToLower(agg.Symbol)); problem != "" || id != agg.ID.String() {
			t.Errorf("%s is %s: %s", agg.Symbol, id, problem)
		}
	}
	for _, name := range []string{"base", "BASE", "8453", "eip155:8453"} {
		if c, problem := w.Chain(name); problem != "" || c != caip.EVM(8453) {
			t.Errorf("%s is %v: %s", name, c, problem)
		}
	}
	for _, name := range []string{"", "nowhere", "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "eip155:5"} {
		if c, problem := w.Chain(name); problem == "" {
			t.Errorf("%q is %v", name, c)
		}
	}
}

func TestAnAddressIsItselfANameOrAMistake(t *testing.T) {
	w := world(t)
	base, solana := caip.EVM(8453), w.Catalog.Solana().Chain
	const key = "So11111111111111111111111111111111111111112"
	for _, c := range []struct {
		chain          caip.Chain
		text           string
		found, problem string // as the target of a call
		paid           string // the mistake as a recipient
	}{
		{base, " " + payee + " ", payee, "", ""},
		{base, "demo payee", payee, "", ""},
		{base, "usdc", usdc, "", "that is a token"},
		{base, strings.ToLower(payee), strings.ToLower(payee), "", ""},
		{base, strings.Replace(payee, "C071", "c071", 1), "", "checksum", "checksum"},
		{base, "0x12", "", "2 of 40", "2 of 40"},
		{base, key, "", "0x and 40", "0x and 40"},
		{base, "0x" + strings.Repeat("0", 40), "0x" + strings.Repeat("0", 40), "", "zero address"},
		{solana, key, key, "", ""},
		{solana, payee, "", "Solana address", "Solana address"},
		{solana, "demo payee", "", "Solana address", "Solana address"},
	} {
		got, problem := w.Address(c.chain, c.text)
		if c.problem == "" && (got != c.found || problem != "") || !strings.Contains(problem, c.problem) {
			t.Errorf("%q: %q, %q", c.text, got, problem)
		}
		if _, problem = w.Recipient(c.chain, c.text); !strings.Contains(problem, c.paid) ||
			c.paid == "" && problem != "" {
			t.Errorf("%q as a recipient: %q, want %q", c.text, problem, c.paid)
		}
	}
}

func TestATransferArrivesWhereItsAssetExists(t *testing.T) {
	w := world(t)
	x := NewExchange(intent.KindTransfer)
	x.Pay, x.Amount, x.To = "ob:aero", "5", "demo payee"
	if problem := x.ArriveOn(w, caip.EVM(10)); !strings.Contains(problem, "choose a chain that has AERO") ||
		x.Receive != "" {
		t.Errorf("%q, %s", problem, x.Receive)
	}
	if problem := x.ArriveOn(w, caip.EVM(8453)); problem != "" || len(w.Mistakes(x, true)) > 0 {
		t.Errorf("%q %v", problem, w.Mistakes(x, true))
	}
	if d := x.Draft(w); d.Receive.Account != "eip155:8453:"+payee {
		t.Errorf("%+v", d.Receive)
	}
	other := x.Draft(w)
	other.Network = "0x" + strings.Repeat("cd", 32)
	if _, err := w.Freeze(other); !errors.Is(err, ErrNetwork) {
		t.Error(err)
	}
}

func TestWhatCallsSpendIsTheSameFromTextAndFromData(t *testing.T) {
	w := world(t)
	b := w.NewCalls(caip.EVM(8453))
	usd, _ := w.AssetOn(b.Chain, "usdc")
	b.Calls[0].Pay(usd.Asset, payee, "25")
	b.Add(0)
	b.Calls[1].Pay(usd.Asset, payee, "5.5")
	b.Calls[1].Value = "0.5"
	b.Allow = []*Allowance{{Asset: usd.Asset.String(), Spender: payee, Amount: "1"}}
	d := b.Draft(w)
	got := w.Spent(d)
	if len(got) != 2 || got[0].Amount != "31500000" || got[1].Amount != "500000000000000000" ||
		len(d.TokensRequired) != 2 || got[0] != d.TokensRequired[0] || got[1] != d.TokensRequired[1] {
		t.Errorf("%+v\n%+v", got, d.TokensRequired)
	}
	d.Allowances[0].AssetType = "eip155:8453/erc20:0x1111111111111111111111111111111111111111"
	if got := w.Spent(d); len(got) != 2 || got[0].Amount != "30500000" { // only known tokens can be required
		t.Errorf("%+v", got)
	}
	if again := w.CallsOf(d).Draft(w); len(again.Calls) != 2 || again.Calls[0] != d.Calls[0] ||
		again.Calls[1] != d.Calls[1] || len(again.TokensRequired) != 2 {
		t.Errorf("%+v", again)
	}
}

func TestPercentIsWithinItsBounds(t *testing.T) {
	for text, want := range map[string]int{"0.5": 50, "0.01 %": 1, "100": 10_000, " 2% ": 200} {
		if n, problem := Percent(text); n != want || problem != "" {
			t.Errorf("%q: %d, %s", text, n, problem)
		}
	}
	for _, text := range []string{"", "0", "0.001", "100.01", "-1", "half", "%"} {
		if n, problem := Percent(text); problem == "" {
			t.Errorf("%q: %d", text, n)
		}
	}
}
