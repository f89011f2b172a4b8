package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/text"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
)

// problem puts an error into words for a person: what happened, what it means, what to do.
func problem(err error) string {
	var no *api.Error
	var failed *client.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &no):
		return serviceProblem(no)
	case errors.As(err, &failed):
		return networkProblem(failed)
	case errors.Is(err, ErrRefused):
		return "The answer of the service was refused. Nothing was signed with it; see the reasons."
	case errors.Is(err, ErrSpent):
		return "Something else was signed since this review was made, and it counts against your cap of the day. " +
			"Nothing was signed now; ask for a new one."
	case errors.Is(err, ErrDear):
		return "Nothing was signed, as it could not be sent now: " + text.Clean(err.Error(), 400)
	case errors.Is(err, ErrMoved):
		return "Another process of this wallet went on with this operation. Nothing was signed or sent here; look at " +
			"where it is now."
	case errors.Is(err, journal.ErrLocked):
		return "Another process of this wallet is in the middle of a step. Nothing was done here; try again in a " +
			"moment: " + text.Clean(err.Error(), 300)
	case errors.Is(err, ErrExpired):
		return "This review has expired. Nothing was sent; ask for a new one."
	case errors.Is(err, ErrConfirmation):
		return "What you confirmed is not what is on the screen now. Read it again."
	case errors.Is(err, ErrSubmitted):
		return "This quote was already submitted. It is not sent twice."
	case errors.Is(err, ErrBusy):
		return "This operation is busy with another step."
	case errors.Is(err, ErrBeside):
		return "Another operation was signed since this review was made, and both could run. Nothing was signed; ask " +
			"for a new review and read its warnings."
	case errors.Is(err, journal.ErrConflict):
		return "An earlier signature of this account is still open, and both could run. Ask again for " +
			"what the service offers now, or wait until that signature ends."
	case errors.Is(err, journal.ErrPaid):
		return "An earlier payment of this operation was sent and is still open in another place, so a second one is " +
			"not signed beside it. Wait until it ended, or abandon the operation."
	case errors.Is(err, errForgotten):
		return "The service accepted this quote and now says that it does not know it. Nothing can be concluded from " +
			"that; the signatures stay valid until their nonces are used or their windows end."
	case errors.Is(err, journal.ErrReadOnly):
		return "The journal cannot be written, so nothing is signed: " + text.Clean(err.Error(), 600)
	case errors.Is(err, sign.ErrFault):
		return "The signature does not belong to the account. Coffer discarded it."
	case errors.Is(err, sign.ErrExternal):
		return "The signer command gave no signature, so nothing was signed: " + text.Clean(err.Error(), 400)
	case errors.Is(err, vault.ErrNoKey):
		return "There is no key for this account in the vault."
	case errors.Is(err, vault.ErrNetwork):
		return "The key belongs to another network and is not used here."
	case errors.Is(err, errResume):
		return "The signed operation cannot be checked again. It can only be abandoned; its signature stays listed " +
			"until its window ends."
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "You stopped this step."
	}
	return text.Clean(err.Error(), 300)
}

func serviceProblem(e *api.Error) string {
	said := text.Clean(e.Message, 300)
	switch e.Name {
	case api.ErrInsufficientBalance:
		return "You have too little to pay for this call: " + said
	case api.ErrNoRoute:
		return "The service found no way to pay for this call: " + said
	case api.ErrQuoteExpired:
		return "The quote has expired. Nothing was executed; ask for a new quote."
	case api.ErrPrepareAgain:
		return "The account changed, or the prepared call is too old. " + said
	case api.ErrAlreadyExecuted:
		return "This quote was executed before. Its status is read instead."
	case api.ErrSimulationFailed:
		return "The call would fail: " + said
	case api.ErrInvalidSignature:
		return "The service did not accept the signature: " + said
	case api.ErrTamperProof:
		return "The service does not recognise its own document: " + said
	case api.ErrDelegation:
		return "This account's code belongs to another wallet: " + said
	case api.ErrUnauthorized, api.ErrForbidden:
		return "The service does not accept the API key: " + said
	case api.ErrTooManyRequests:
		wait := ""
		if e.RetryAfter > 0 {
			wait = fmt.Sprintf(" Try again in %s.", e.RetryAfter)
		}
		return "The service asks for fewer requests." + wait
	case api.ErrValidation:
		return "The service did not accept the request: " + said
	}
	if e.StatusCode >= 500 {
		return fmt.Sprintf("The service has a problem (%d): %s", e.StatusCode, said)
	}
	return said
}

func networkProblem(e *client.Error) string {
	if e.Op == "execute" && e.Sent {
		return "The quote was sent but no clear answer came. Coffer asks for its outcome and does not send it again."
	}
	switch e.Kind {
	case client.KindTimeout:
		return "The service did not answer in time."
	case client.KindCancelled:
		return "You stopped this step."
	case client.KindTooLarge, client.KindBadAnswer, client.KindRedirect:
		return "The service gave an answer that cannot be accepted: " + text.Clean(e.Err.Error(), 200)
	}
	return "The service cannot be reached: " + text.Clean(e.Err.Error(), 200)
}

// failedItself says of a transfer on Solana that the chain took and refused what it cost and why; "" of anything else.
func failedItself(status api.ExecutionStatus) string {
	code, why, told := strings.Cut(status.FailReason, ": ")
	if !told || code != "TRANSACTION_REVERTED" || len(status.DestinationChainOperations) == 0 {
		return ""
	}
	return "The transfer failed on Solana and moved nothing; its fee was paid. The chain says: " +
		text.Clean(why, 200) + "."
}

// reasonWords explains a failReason; an unknown one is shown as it is.
func reasonWords(reason string) string {
	reason, _, _ = strings.Cut(reason, ": ")
	switch reason {
	case "":
		return ""
	case "SLIPPAGE":
		return "The price moved further than you allowed."
	case "SOLVER_CAPACITY_EXCEEDED":
		return "The solver had too little to advance."
	case "EXECUTION_REVERTED", "TRANSACTION_REVERTED":
		return "The call failed on the target chain."
	case "ORDER_EXPIRED":
		return "It took too long."
	}
	return "Reason given by the service: " + text.Clean(reason, 80) + "."
}
