package kit

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// found types into a list of labels and returns those shown, in order.
func found(c *Choice, typed string, items ...Item) []string {
	c.Open(items, "")
	c.Update(tea.PasteMsg{Content: typed})
	var out []string
	for i := range c.shown {
		out = append(out, c.at(i).Label)
	}
	return out
}

func TestD9_WordsFindAnItemWhereverTheyAre(t *testing.T) {
	assets := []Item{
		{Value: "1", Label: "USDC on any chain"}, {Value: "2", Label: "USDC on Optimism"},
		{Value: "3", Label: "USDT on Optimism"}, {Value: "4", Label: "OP on Optimism", Note: "governance"},
		{Value: "eip155:10/erc20:0xabc", Label: "transferFrom"}, {Value: "6", Label: "Über"},
	}
	for typed, want := range map[string][]string{
		"usdc op":  {"USDC on Optimism"},
		"op usdc":  {"USDC on Optimism"},
		"USDC":     {"USDC on any chain", "USDC on Optimism"},
		"op":       {"OP on Optimism", "USDC on Optimism", "USDT on Optimism"},
		"usd":      {"USDC on any chain", "USDC on Optimism", "USDT on Optimism"},
		"udc":      {"USDC on any chain", "USDC on Optimism"},
		"ptim":     {"USDC on Optimism", "USDT on Optimism", "OP on Optimism"},
		"from":     {"transferFrom"},
		"gov op":   {"OP on Optimism"},
		"0xabc":    {"transferFrom"},
		"über":     {"Über"},
		"sdc nope": nil, "zz": nil, ":": {"transferFrom"},
	} {
		if got := found(NewChoice(""), typed, assets...); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", typed, got, want)
		}
	}
	if got := found(NewChoice(""), "  ", assets...); len(got) != len(assets) || got[0] != assets[0].Label {
		t.Errorf("nothing typed: %q", got)
	}
}

func TestD9_TheBestMatchComesFirst(t *testing.T) {
	c := NewChoice("")
	c.Labels = true
	items := []Item{
		{Label: "resend the request"}, {Label: "open History", Note: "send"}, {Label: "lock and suspend"},
		{Label: "build a transfer", Also: "send pay"}, {Label: "send"}, {Label: "send all"}, {Label: "a sender"},
	}
	want := []string{"send", "send all", "a sender", "build a transfer", "resend the request"}
	if got := found(c, "send", items...); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzRank(f *testing.F) {
	f.Add("usdc op", "USDC on Optimism", "also")
	f.Add("\xff i̇", "İstanbul \xff", "ß")
	f.Fuzz(func(t *testing.T, typed, label, also string) {
		if n, loose := rank(typed, label, also); n < 0 || n == 0 && loose {
			t.Error(typed)
		}
		if n, _ := rank("\x00"+typed, "a", "b"); n != 0 {
			t.Error(typed)
		}
	})
}
