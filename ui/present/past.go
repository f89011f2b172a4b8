package present

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api/amount"
)

// Types, statuses and ids of what own nodes saw of an account, in lists beside the records of a service.
const (
	TypeReceived = "RECEIVED"
	TypeSent     = "SENT"
	TypeSeen     = "SEEN" // what moved is unknown
	StatusSeen   = "SEEN"
	StatusUnread = "UNREAD"
	UnreadID     = seenPrefix + "unread"
	seenPrefix   = "seen:"
)

// SeenID is the id of the n-th row of a transaction.
func SeenID(signature string, n int) string {
	if n == 0 {
		return seenPrefix + signature
	}
	return seenPrefix + signature + ":" + strconv.Itoa(n)
}

// IsSeenID reports whether an id has the form of SeenID or UnreadID.
func IsSeenID(id string) bool { return strings.HasPrefix(strings.ToLower(id), seenPrefix) }

// SeenStatus is a status of what own nodes saw in words; false for a status of a service.
func SeenStatus(status string) (words string, seen bool) {
	switch status {
	case StatusSeen:
		return SeenByNode, true
	case StatusUnread:
		return "not read", true
	}
	return "", false
}

const lamportDigits = 9

// SOL writes lamports.
func SOL(lamports *big.Int) string { return amount.Human(lamports, lamportDigits) + " SOL" }
