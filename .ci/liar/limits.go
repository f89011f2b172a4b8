package liar

import (
	"math/big"

	"coffer/wallet/verify"
)

// dollars is an amount in micro USD.
func dollars(n int) *big.Int { return new(big.Int).Mul(big.NewInt(int64(n)), big.NewInt(1_000_000)) }

// limits are what a person may have written into a policy file: caps, and gates that stand open. The gate of blind
// signing is never among them: its sentence says that everything can leave the account, so nothing could be claimed.
func limits(d dice) verify.Limits {
	var l verify.Limits
	if d.chance(80) {
		l.MaxSpend = dollars(40 + d.IntN(400))
	}
	if d.chance(60) {
		l.MaxSpendPerDay = dollars(200 + d.IntN(1500))
	}
	for _, gate := range []string{verify.GatePaymaster, verify.GateDelegationNonce, verify.GateTarget} {
		if d.chance(15) {
			l.Gates = append(l.Gates, gate)
		}
	}
	return l
}
