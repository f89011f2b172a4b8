package present

import (
	"strings"

	"coffer/api"
	"coffer/api/network"
)

// Status explains the status of an operation. Only the service vouches for it, and the sentence says so unless the
// network is embedded.
func Status(kind network.Kind, status string) string {
	words := ""
	switch status {
	case api.StatusCompleted:
		words = "Your operation ran and everything is settled."
	case api.StatusRefunded:
		words = "It did not run. What was deposited came back in full."
	case api.StatusFailed:
		words = "It did not run. Nothing left the account."
	case api.StatusPending:
		words = "Accepted by the service; nothing was submitted yet."
	case api.StatusInProgress:
		words = "Deposits are under way."
	case api.StatusExecuted:
		words = "Your operation ran; the deposits are being settled."
	case StatusSeen:
		return "Your node saw it on the chain. The service has no operation for it."
	case StatusUnread:
		return "Your nodes are asked again when the history is read again."
	default:
		return "This program does not know this status. Treat it as unfinished."
	}
	if kind == network.Embedded {
		return words
	}
	return "The service says: " + strings.ToLower(words[:1]) + words[1:]
}
