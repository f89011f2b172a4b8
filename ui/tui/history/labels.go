package history

import (
	"coffer/api"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// statusLook is the look of a status: only COMPLETED is good, and an unknown one says so (TH-H4).
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
