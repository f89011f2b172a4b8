package act

import (
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// demanded judges a review as the screens do.
func (s *Session) demanded(x flow.Snapshot, second bool) consent.Demand {
	return consent.Demanded(s.Catalog, x.Under(second), consent.TypeFrom())
}

// faithful compares once more, byte for byte, the request with the calls decoded from the bytes to sign.
func faithful(x flow.Snapshot) bool { return consent.Faithful(x.Intent, x.Review1, x.Report1) }
