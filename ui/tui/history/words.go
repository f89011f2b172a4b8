package history

import (
	"coffer/api"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// statusLook is how a status is drawn: only COMPLETED is good, and one that is not known says so (TH-H4).
func statusLook(status string) (m theme.Meaning, word string) {
	v := verify.Status(status)
	switch {
	case v.Success:
		m = theme.Good
	case !v.Known:
		m = theme.Unknown
	case status == api.StatusRefunded:
		m = theme.Warn
	case status == api.StatusFailed:
		m = theme.Danger
	}
	return m, v.Text
}

// statusWords says what a status means, for the details.
func statusWords(status string) string {
	switch status {
	case api.StatusCompleted:
		return "Your operation ran and everything is settled."
	case api.StatusRefunded:
		return "It did not run. What was deposited came back in full."
	case api.StatusFailed:
		return "It did not run. Nothing left the account."
	case api.StatusPending:
		return "Accepted by the service; nothing was submitted yet."
	case api.StatusInProgress:
		return "Deposits are under way."
	case api.StatusExecuted:
		return "Your operation ran; the deposits are being settled."
	}
	return "This program does not know this status. Take it as unfinished."
}
