package profile

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/verify"
)

func TestEveryLimitHasWords(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	if words := LimitWords(verify.Limits{}, cat); len(words) > 0 {
		t.Errorf("no limits: %q", words)
	}
	got := LimitWords(verify.Limits{
		Chains:     []caip.Chain{caip.EVM(8453), caip.EVM(999999)},
		Recipients: []string{"0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0"}, Contracts: []common.Address{{0xc0}},
		MaxSpend: big.NewInt(250_500_000), MaxSpendPerDay: big.NewInt(1_000_000_000), MaxCostBps: 300,
		MaxSlippageBps: 25, NeverDelegate: true,
		Gates: []string{verify.GatePaymaster}, Paymasters: []common.Address{{1}},
	}, cat)
	want := []string{
		"only Base, eip155:999999 pay or run a call",
		"only your own accounts and these receive: 0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0",
		"only these contracts are called: " + common.Address{0xc0}.Hex(), "one operation spends at most $250.5",
		"within 24 hours at most $1,000 are signed for",
		"at most 3.00 % of a payment is lost on the way", "the price may move by at most 0.25 %",
		"no EIP-7702 delegation is signed",
		"open gates, each with a sentence to type: unknown-paymaster",
		"one address is trusted on this network beside the shipped ones",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
