package history

import (
	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// statusLook is the look of a status: only COMPLETED is good, and an unknown one says so (TH-H4).
func statusLook(status string) (m theme.Meaning, word string) {
	if words, seen := present.SeenStatus(status); seen {
		if status == present.StatusUnread {
			m = theme.Warn
		}
		return m, words
	}
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
