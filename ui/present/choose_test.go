package present

import (
	"slices"
	"testing"
)

func TestL9_AnswersMeanChoices(t *testing.T) {
	choices := []string{"Balances", "Build a call", "Transfer an asset", "ETH, Ether", "ETH+, ETHPlus",
		"All chains together"}
	for answer, want := range map[string][]int{
		"1": {0}, "2.": {1}, "7": nil, "0": nil, "": nil, "-1": nil, "transfer": {2}, "b": {0, 1}, "bu": {1},
		"eth":  {3},
		"ETH+": {4}, "asset": {2}, "b call": {1}, "call b": nil, "chains": {5}, "a": {5}, "nothing": nil,
	} {
		if got := Chosen(answer, choices); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", answer, got, want)
		}
	}
}
