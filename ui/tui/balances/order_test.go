package balances

import (
	"strings"
	"testing"

	"coffer/ui/tui/internal/tuitest"
)

// TestD15_TheStateLineNamesTheOrderOfTheLines: a chain has no name beside its title but a number of assets, which is
// what the third order sorts by there.
func TestD15_TheStateLineNamesTheOrderOfTheLines(t *testing.T) {
	m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
	tuitest.Keys(m, "s", "s")
	head := func() string { return strings.SplitN(tuitest.Text(t, m, 80, 19), "\n", 2)[0] }
	for _, c := range []struct{ key, want string }{
		{"", "names A to Z"}, {"S", "names Z to A"},
		{"v", "most assets first"}, {"S", "fewest assets first"},
		{"v", "addresses A to Z"}, {"S", "addresses Z to A"},
	} {
		if c.key != "" {
			tuitest.Keys(m, c.key)
		}
		if got := head(); !strings.HasSuffix(strings.TrimSpace(got), ", "+c.want) {
			t.Errorf("the lines are in the order %q, and the screen says %q", c.want, got)
		}
	}
}
