package flow

import (
	"errors"
	"fmt"
	"slices"
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
	if itself := failedItself(status); itself != "" {
		return "The service says: " + itself + " " + o.liveWords()
	}
	if reason := reasonWords(status.FailReason); reason != "" {
		words += reason + " "
	}
	return words + o.liveWords()
}

// liveWords says until when the signatures of the operation can still be used.
func (o *Operation) liveWords() string {
	open := slices.DeleteFunc(o.f.d.Journal.Outstanding(o.f.earliest()), func(x journal.Outstanding) bool {
		return x.Op != o.ID() || x.Role == journal.RoleDelegation || !x.Sent
	})
	if len(open) == 0 {
		return "Its signatures can no longer be used."
	}
	last, ends := o.lastEnd(open)
	if !ends {
		return "The signatures can still be used; no time ends them. See `coffer activity`."
	}
	return fmt.Sprintf("The signatures can still be used until %s.", last.Format("15:04:05 UTC"))
}

// lastEnd is when the last of open signatures has ended by both clocks; false when no time ends one of them.
func (o *Operation) lastEnd(open []journal.Outstanding) (last time.Time, ends bool) {
	for _, x := range open {
		end, ends := x.Ends()
		if !ends {
			return last, false
		}
		if end.After(last) {
			last = end
		}
	}
	return last.Add(-min(o.f.d.Client.Skew(), 0)).UTC(), true // the clock that is behind decides
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
