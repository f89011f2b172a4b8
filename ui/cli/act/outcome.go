package act

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
)

// An OutcomeError describes how a requested operation ended, with its exit code.
type OutcomeError struct {
	Problem string
	code    int
	cause   error
}

// Error is the problem in plain words.
func (e *OutcomeError) Error() string { return e.Problem }

// Unwrap is the cause, if any.
func (e *OutcomeError) Unwrap() error { return e.cause }

// ExitCode is one of the exit codes of package cli.
func (e *OutcomeError) ExitCode() int { return e.code }

func outcome(code int, cause error, format string, args ...any) error {
	return &OutcomeError{Problem: fmt.Sprintf(format, args...), code: code, cause: cause}
}

// ended turns the state of an operation into the error of the command: nil only when it is done.
func ended(s flow.Snapshot, err error) error {
	words := s.Problem
	if words == "" && err != nil {
		words = err.Error()
	}
	switch s.State {
	case flow.StateDone:
		return nil
	case flow.StateFailed:
		return outcome(cli.ExitFailed, err, "%s", cmp.Or(words, "it did not run"))
	case flow.StateNotExecuted:
		return outcome(cli.ExitExpired, err, "%s", cmp.Or(words, "the quote was never executed"))
	case flow.StateUnknown, flow.StateExecuting:
		return unended(s, "the outcome is not known: "+cmp.Or(words, "the quote was sent."), err)
	case flow.StateAccepted:
		return unended(s, "the service accepted it and has not finished it", err)
	}
	if err == nil {
		return nil
	}
	return stopped(words, err)
}

// unended is the error of an operation that was sent and has no known end: the facts, what the user can do, and how to
// continue.
func unended(s flow.Snapshot, what string, err error) error {
	if s.Overdue && s.Err == nil {
		what = strings.TrimRight(what, ".") + ". " + s.Problem
	}
	return outcome(cli.ExitUnknown, err, "%s. Resume with: coffer status %s --watch", strings.TrimRight(what, "."),
		s.ID)
}

// stopped is the error of a step without an effect beyond what the journal says.
func stopped(words string, err error) error {
	var service *api.Error
	switch {
	case interrupted(err):
		return outcome(cli.ExitExpired, err, "stopped; nothing was sent")
	case errors.Is(err, flow.ErrRefused):
		return &cli.RefusedError{Problem: cmp.Or(words, "refused: nothing was signed with this answer")}
	case errors.Is(err, flow.ErrExpired), errors.Is(err, flow.ErrMoved):
		return outcome(cli.ExitExpired, err, "%s", words)
	case errors.Is(err, journal.ErrConflict), errors.Is(err, journal.ErrPaid), errors.Is(err, sign.ErrFault):
		return &cli.RefusedError{Problem: words}
	case errors.As(err, &service):
		words = cmp.Or(words, service.Message)
	}
	return outcome(cli.Code(err), err, "%s", words)
}

// interrupted reports that the user, or a signal, ended a step.
func interrupted(err error) bool { return cli.Interrupted(err) }

// byStatus is the error of a status of the service. Unless the service is believed, the words attribute an end to it.
func byStatus(status, reason string, believed bool) error {
	switch status {
	case api.StatusCompleted:
		return nil
	case api.StatusRefunded, api.StatusFailed:
		if reason != "" {
			reason = " (" + clean(reason) + ")"
		}
		if !believed {
			return outcome(cli.ExitFailed, nil,
				"the service says that it finished as %s%s; see `coffer activity` for what can still be used", status,
				reason)
		}
		return outcome(cli.ExitFailed, nil, "it finished as %s%s", status, reason)
	case "":
		return outcome(cli.ExitUnknown, nil, "the service does not know this quote")
	}
	return outcome(cli.ExitUnknown, nil, "it has not finished: %s", clean(status))
}
