package history

import (
	"strings"

	"coffer/api"
	"coffer/ui/tui/theme"
)

// statusLook is how a status is drawn: only COMPLETED is good (TH-H4).
func statusLook(status string) (m theme.Meaning, word string) {
	switch status {
	case api.StatusCompleted:
		return theme.Good, "completed"
	case api.StatusRefunded:
		return theme.Warn, "refunded"
	case api.StatusFailed:
		return theme.Danger, "failed"
	case api.StatusPending:
		return theme.None, "pending"
	case api.StatusInProgress:
		return theme.None, "in progress"
	case api.StatusExecuted:
		return theme.None, "executed"
	case "":
		return theme.Unknown, "unknown"
	}
	return theme.Unknown, strings.ToLower(status)
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
