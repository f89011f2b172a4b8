package present

import "coffer/api"

// AmountLabels labels both amounts: nothing that never arrived, and nothing that a call used, is called received.
func AmountLabels(kind, status string) (paid, received string) {
	switch status {
	case api.StatusCompleted, api.StatusExecuted:
		if Used(kind) {
			return "paid", "call used"
		}
		return "paid", "received"
	case api.StatusRefunded:
		return "came back", "undelivered"
	case api.StatusFailed:
		return "not paid", "undelivered"
	}
	if Used(kind) {
		return "to pay", "call needs"
	}
	return "to pay", "to get"
}
