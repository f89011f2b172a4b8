package kit

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

func squash(lines []string) string {
	return strings.NewReplacer(" ", "", "\n", "").Replace(strings.Join(lines, ""))
}

func TestProseAndLedgerCutNothingAndStayInsideTheirWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(40, 130).Draw(t, "w")
		text := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9.,]{0,110}`), 1, 6).Draw(t, "text")
		var spans []Span
		for i, s := range text {
			spans = append(spans, Span{Text: s + " ", Whole: i%2 == 1})
		}
		label := rapid.StringMatching(`[a-z]{1,30}`).Draw(t, "label")
		rows := [][]string{
			Prose(w, 4, spans...),
			Row(theme.Theme{}, w, 2, 10, label, spans...),
			Ledger(theme.Theme{}, w, 2, 10, []Entry{
				{Label: label, Figure: Figure{Main: text[0]}, Unit: "USDC", Note: spans},
				{Label: "x", Figure: Figure{Main: "1.5"}, Unit: strings.Repeat("S", 40), Aside: "$1.00"},
			}),
		}
		for _, lines := range rows {
			for _, l := range lines {
				if present.Width(l) > w {
					t.Fatalf("a line of %d cells in %d: %q", present.Width(l), w, l)
				}
			}
			if got, want := squash(lines), squash(text); !strings.Contains(got, want) {
				t.Fatalf("%q is not whole in %q", want, got)
			}
		}
	})
}

func TestLedgerLinesUpOnThePoint(t *testing.T) {
	lines := Ledger(theme.Theme{}, 80, 2, 12, []Entry{
		{Label: "You pay", Figure: Figure{"225.98", "0000"}, Unit: "USDC", Aside: "$225.96"},
		{Label: "Fees", Figure: Figure{"0.0001234", ""}, Unit: "ETH", Aside: "$0.40"},
		{Label: "Count", Figure: Figure{"7", ""}, Unit: "NFT", Aside: "?"},
	})
	want := []string{
		"  You pay     225.980000  USDC  $225.96",
		"  Fees          0.0001234 ETH     $0.40",
		"  Count         7         NFT         ?",
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("line %d: %q, want %q", i, lines[i], want[i])
		}
	}
}

func TestGroupsWritesFoursAndCutsNothing(t *testing.T) {
	long := "0x" + strings.Repeat("ab", 200)
	got := present.Groups(long)
	if strings.ReplaceAll(got, " ", "") != long || !strings.HasPrefix(got, "0xabab abab ") {
		t.Fatalf("%q", got)
	}
	if got := present.Groups("plain"); got != "plain" {
		t.Fatalf("%q", got)
	}
}

// TestAnAmountAndItsUnitStayOnOneLine: a figure at the end of a line must not be read without its unit.
func TestAnAmountAndItsUnitStayOnOneLine(t *testing.T) {
	spans := append([]Span{Plain("pays ")}, AmountSpans(theme.Theme{}, big.NewInt(10_500_000), 6, "USDC", "")...)
	for w := 14; w < 22; w++ {
		if got := strings.Join(Prose(w, 0, spans...), "\n"); !strings.Contains(got, "10.500000 USDC") {
			t.Errorf("%d cells:\n%s", w, got)
		}
	}
}
