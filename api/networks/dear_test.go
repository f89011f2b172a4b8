package networks_test

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api/networks"
)

// A first attempt may offer eight ninths of the cap; from there on a chain is dear. What is not known is not.
func TestAChainIsDearFromWhereNothingCanBeSent(t *testing.T) {
	f := networks.File{Path: "/x/networks.toml"}
	for _, c := range []struct{ gwei, base, want string }{
		{"9", "7999999999", ""},
		{"9", "8000000000", "Base asks for 8 gwei for gas now, and fee_cap_gwei is 9, "},
		{"0.009", "30000000000", "Base asks for 30 gwei for gas now, and fee_cap_gwei is 0.009, "},
		{"", "30000000000", ""},
		{"9", "", ""},
	} {
		chain := networks.Chain{Name: "Base", Line: 12}
		number := func(s string) *big.Int {
			v, _ := new(big.Int).SetString(s, 10)
			return v
		}
		if r, ok := new(big.Rat).SetString(c.gwei); ok {
			chain.FeeCap = r.Mul(r, big.NewRat(1e9, 1)).Num()
		}
		err := f.Dear(chain, number(c.base))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			!strings.HasSuffix(err.Error(), "allow more at /x/networks.toml:12")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
