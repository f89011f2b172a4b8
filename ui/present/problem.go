package present

import (
	"errors"
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/vault"
)

// Failures are the broken rules that an error of the service or of package intent lists.
func Failures(err error) []api.Failure {
	var no *api.Error
	var wrong *intent.Error
	switch {
	case errors.As(err, &no):
		return no.Details
	case errors.As(err, &wrong):
		return wrong.Failures
	}
	return nil
}

// Problem says why a step of an operation did not finish, and returns the service's failures that the words do not
// cover. A call that would fail is counted from 1. late: a quote expired before it was sent.
func Problem(x flow.Snapshot, err error, late bool) (words string, rest []api.Failure) {
	rest = Failures(err)
	var e *api.Error
	if errors.As(err, &e) && e.Name == api.ErrSimulationFailed && len(rest) == 1 {
		var i int
		if n, bad := fmt.Sscanf(rest[0].Path, "calls[%d]", &i); bad == nil && n == 1 && i >= 0 {
			return fmt.Sprintf("Call %d would fail: %s.", i+1, strings.TrimSuffix(rest[0].Got, ".")), nil
		}
	}
	var ring *vault.KeyringError
	switch {
	case errors.As(err, &ring):
		return ring.Error(), rest // complete, with what to do about it
	case late && errors.Is(err, flow.ErrExpired):
		return "The quote expired before it was sent. Nothing was sent.", rest
	case x.Problem != "":
		return x.Problem, rest
	case err != nil:
		return err.Error(), rest
	}
	return "The last step did not finish.", rest
}

// Hands are how a front end does what Help proposes, in the words of its sentences: Change what is asked for, go to its
// Fields, ask Again, Wait before that, Retry the step, Follow the operation.
type Hands struct{ Change, Fields, Again, Wait, Retry, Follow string }

// Help says what to do about the error of a step; "" where nothing special helps.
func Help(err error, h Hands) string {
	var e *api.Error
	var lost *client.Error
	switch {
	case errors.Is(err, flow.ErrSubmitted):
		return "Do not repeat it before you know how it ended: " + h.Follow + "."
	case errors.As(err, &lost) && (lost.Kind == client.KindTimeout || lost.Kind == client.KindNetwork):
		return "The network or the service is away. What is signed and sent does not depend on this machine; " +
			h.Retry + " when the network is back."
	case !errors.As(err, &e):
		return ""
	}
	switch e.Name {
	case api.ErrInsufficientBalance:
		return h.Change + " the amount or the funding asset."
	case api.ErrNoRoute:
		return h.Change + " the funding asset or the amount."
	case api.ErrSimulationFailed:
		return "The contract would refuse this call. " + h.Change + " it."
	case api.ErrValidation:
		return "The service does not accept the request as it is. " + h.Fields + "."
	case api.ErrPrepareAgain, api.ErrQuoteExpired:
		return "You have to ask for it again" + h.Again + "."
	case api.ErrUnauthorized, api.ErrForbidden:
		return "The key of this profile is set with: coffer keys api-key set"
	case api.ErrTooManyRequests:
		return "The service asks for fewer requests. Wait a moment" + h.Wait + "."
	case api.ErrTamperProof, api.ErrInvalidSignature:
		return "The service does not accept this request. Do not retry this one: leave, and build it again."
	}
	return ""
}

// Locked says why a vault did not open, and what to do. empty: nothing had been typed.
func Locked(err error, empty bool) string {
	var ring *vault.KeyringError
	switch {
	case errors.As(err, &ring):
		return Clean(ring.Error(), 2000)
	case errors.Is(err, vault.ErrPassphrase) && empty:
		return "Type the passphrase first."
	case errors.Is(err, vault.ErrPassphrase):
		return "Wrong passphrase. Nothing was unlocked; try again."
	case errors.Is(err, vault.ErrNoPassphrase):
		return "This vault has no passphrase, the system's keyring alone protects it: leave the passphrase empty."
	}
	return Clean(err.Error(), 600)
}
