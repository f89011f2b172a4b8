package flow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/journal"
)

// saidWords tells a failure as what the service says, with what can still happen.
func (o *Operation) saidWords(status api.ExecutionStatus) string {
	became := "failed and nothing was paid"
	if status.Status == api.StatusRefunded {
		became = "was refunded"
	}
	words := fmt.Sprintf("The service says %s %s. ", strings.ToLower(o.noun()), became)
	if reason := reasonWords(status.FailReason); reason != "" {
		words += reason + " "
	}
	return words + o.liveWords()
}

// liveWords says until when the signatures of the operation can still be used.
func (o *Operation) liveWords() string {
	var last time.Time
	open := false
	for _, x := range o.f.d.Journal.Outstanding(o.f.earliest()) {
		if x.Op != o.ID() || x.Role == journal.RoleDelegation || !x.Sent {
			continue
		}
		open = true
		end, ends := x.Ends()
		if !ends {
			return "The signatures can still be used; no time ends them. See `coffer activity`."
		}
		if end.After(last) {
			last = end
		}
	}
	if !open {
		return "Its signatures have ended and cannot be used any more."
	}
	last = last.Add(-min(o.f.d.Client.Skew(), 0)).UTC() // the clock that is behind decides
	return fmt.Sprintf("The signatures can still be used until %s.", last.Format("15:04:05 UTC"))
}

// ErrRepairTyped says that a repair was not confirmed.
var ErrRepairTyped = errors.New("what was typed is not the end of the account's address")

// Repair records where a lane of an account goes on, because its owner knows: from the chain itself, or from another
// device. typed is the last four characters of the account's address, or "" with yes, where a script takes the
// responsibility. Nothing that is open or counted is lost by it (journal.Journal.Repair).
//
// Errors: ErrRepairTyped; those of the journal.
func (f *Flow) Repair(l journal.Lane, typed string, yes bool) error {
	how := "--yes was given"
	if !yes {
		if !endsWith(l.Account, typed) {
			return ErrRepairTyped
		}
		how = typed + " was typed"
	}
	if err := f.d.Journal.Repair(l, how); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	return nil
}
