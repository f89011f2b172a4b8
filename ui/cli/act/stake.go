package act

import (
	"math/big"

	"coffer/ui/tui/review"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// typeFrom is the value from which the user types more than a key, in micro USD.
func typeFrom() *big.Int { return big.NewInt(100_000_000) }

// stakeOf judges a review as the screens do.
func (s *Session) stakeOf(x flow.Snapshot, second bool) review.Stake {
	if !second {
		return review.FirstStake(x.Review1, typeFrom())
	}
	first := x.Review1
	if x.Intent.Kind == intent.KindSwap || x.Intent.Kind == intent.KindTransfer {
		first = nil
	}
	return review.SecondStake(s.Catalog, x.Review2, first, typeFrom())
}

// faithful compares once more, byte for byte, the request with the calls decoded from the bytes to sign.
func faithful(x flow.Snapshot) bool { return review.Faithful(x.Intent, x.Review1, x.Report1) }
