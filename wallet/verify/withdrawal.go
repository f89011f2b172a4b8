package verify

import (
	"math/big"
	"time"

	"coffer/api/caip"
)

// Withdrawal judges coins of the gas tank on their way to an address by the user's policy: chain, recipient, and what
// is spent at once and within a day (rows Y1, Y2, Y4, Y5). earlier are the withdrawals of the last day, which count
// beside what h has. No service has a part in a withdrawal, so the daily cap of this program, which bounds what one can
// take, does not hold.
func (p Policy) Withdrawal(h History, now time.Time, own []string, chain uint64, to string, wei *big.Int,
	earlier []Spend) Report {
	if p.Limits.DefaultDayCap {
		p.Limits.MaxSpendPerDay = nil
	}
	j := &judge{Policy: p, h: h, now: now}
	j.chainLimit(caip.EVM(chain), "")
	j.mayReceive(own, to, "")
	counts := []AmountView{j.amountView(caip.Native(chain), wei)}
	j.spendLimit(counts)
	for _, s := range earlier {
		counts = append(counts, j.amountView(s.Asset, s.Amount))
	}
	j.dayLimit(counts)
	return j.report
}
