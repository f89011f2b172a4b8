package activity

import (
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
)

// standing is how an operation stands: a word for the list, its meaning, and what that means in a sentence or two.
type standing struct {
	word     string
	meaning  theme.Meaning
	sentence string
}

// stateOf puts the state of an operation into words. Every status of the interface has its own; an unknown one is named.
func stateOf(s flow.Snapshot) standing {
	switch s.State {
	case flow.StateDraft, flow.StatePreparing:
		return standing{"being prepared", theme.None, "The service is asked to prepare the operation. Nothing is signed."}
	case flow.StateReview1:
		return standing{"waits for review 1", theme.Warn, "Nothing is signed. It goes on when you review it."}
	case flow.StateRefused:
		return standing{"refused", theme.Danger, "Coffer refused the answer of the service."}
	case flow.StateQuoting:
		return standing{"signed, no quote yet", theme.Warn, "The first signature was given and is live until its window ends. No payment is signed."}
	case flow.StateReview2:
		return standing{"waits for review 2", theme.Warn, "The first signature was given and is live until its window ends. No payment is signed; it goes on when you review the costs."}
	case flow.StateSigning:
		return standing{"signing", theme.None, "The payments are being signed."}
	case flow.StateNotExecuted:
		return standing{"never ran", theme.Good, "The quote has expired and the service never started it: nothing was paid."}
	case flow.StateAbandoned:
		return standing{"left", theme.None, "You left it; it was never sent. A signature that was given is listed under outstanding signatures until its window ends."}
	case flow.StateUnknown:
		return standing{"OUTCOME UNKNOWN", theme.Unknown, unknownOutcome}
	}
	return statusOf(s)
}

const unknownOutcome = "The request to run this may or may not have reached the service. It is never sent again, so it cannot run twice. " +
	"Coffer keeps asking for the status of this quote: if it ran, the steps appear here; if the quote has expired and the service does not know it, " +
	"it is closed as never run. Do not build the same call again before that."

// statusOf puts the service's status into words.
func statusOf(s flow.Snapshot) standing {
	switch s.Status.Status {
	case "":
		if s.State == flow.StateDone {
			return standing{"COMPLETED", theme.Good, "Your call ran and every payment is settled."}
		}
		if s.State == flow.StateFailed {
			return standing{"FAILED", theme.Danger, "It did not run."}
		}
		return standing{"sent", theme.None, "Sent. The service has not reported a status yet."}
	case api.StatusPending:
		return standing{"accepted", theme.None, "The service has accepted it and has not started yet."}
	case api.StatusInProgress:
		return standing{"under way", theme.None, "The payments are on their way; your call has not run yet."}
	case api.StatusExecuted:
		return standing{"your call ran", theme.Good, "Your call ran on the target chain. The payments on the other chains are being settled."}
	case api.StatusCompleted:
		return standing{"COMPLETED", theme.Good, "Your call ran and every payment is settled."}
	case api.StatusRefunded:
		return standing{"REFUNDED", theme.Warn, "Your call did not run. What had been paid came back to your account, fees included."}
	case api.StatusFailed:
		return standing{"FAILED", theme.Danger, "Your call did not run and no payment arrived: nothing left your account."}
	}
	return standing{kit.Clean(s.Status.Status, 40), theme.Unknown, "The service reports a status that Coffer does not know. It is taken as not ended."}
}

// reasonWords puts the service's reason for a refund into words; the reason itself stands beside them.
func reasonWords(reason string) string {
	switch reason {
	case "":
		return ""
	case "SLIPPAGE", "TOO_LITTLE_RECEIVED", "NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE":
		return "The price moved further than you allowed. Ask again, or allow a larger move."
	case "SOLVER_CAPACITY_EXCEEDED":
		return "The solver has not enough of the asset at the moment. Try later or a smaller amount."
	case "NO_QUOTES", "NO_INTERNAL_SWAP_ROUTES_FOUND":
		return "Nobody offers this exchange at the moment. Try another funding asset."
	case "EXECUTION_REVERTED", "TRANSACTION_REVERTED", "MISSING_REVERT_DATA":
		return "The contract refused your call when it ran. Check its arguments."
	case "ORDER_EXPIRED", "SIGNATURE_EXPIRED":
		return "It was not run before its time ended. Build it again."
	case "TRANSFER_FAILED", "TRANSFER_FROM_FAILED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE":
		return "A token transfer inside the call failed; mostly the balance is too small."
	case "TRANSFER_AMOUNT_EXCEEDS_ALLOWANCE":
		return "The contract may not take that much. Declare a larger allowance."
	case "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES":
		return "The amount is too small to cover the fees."
	case "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED", "INSUFFICIENT_FUNDS_FOR_RENT":
		return "The call needs more of the chain's own coin than was there."
	case "ACCOUNT_ABSTRACTION_INVALID_NONCE", "ORDER_ALREADY_FILLED", "DOUBLE_SPEND":
		return "Another operation of this account ran first. Build it again."
	case "INVALID_SIGNATURE", "INVALID_SIGNER", "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR":
		return "A signature was not accepted on the chain."
	case "SWAP_USES_TOO_MUCH_GAS":
		return "The exchange would cost too much gas. Try another funding asset."
	case "GENERATE_SWAP_FAILED", "REVERSE_SWAP_FAILED":
		return "The exchange of the funding asset failed. Try another one."
	case "UNKNOWN":
		return "The service gives no cause."
	}
	return "The service gives this cause; Coffer has no words for it."
}

// what says in a phrase what an operation is: "transfer on Base", "3 calls on Base".
func what(c *catalog.Catalog, s flow.Snapshot) string {
	where := kit.Clean(s.Intent.TargetChain, 40)
	if id, err := caip.ParseChain(s.Intent.TargetChain); err == nil && c != nil {
		if info, ok := c.Chain(id); ok {
			where = info.Name
		}
	}
	if n := len(s.Intent.Calls); n != 1 {
		return kit.Plural(n, "call", "calls") + " on " + where
	}
	name, _, found := strings.Cut(s.Intent.Calls[0].Function, "(")
	if !found || name == "" {
		name = "call"
	}
	return kit.Clean(name, 40) + " on " + where
}

// chainName names a chain of a status for a reader.
func chainName(c *catalog.Catalog, id string) string {
	if chain, err := caip.ParseChain(id); err == nil && c != nil {
		if info, ok := c.Chain(chain); ok {
			return info.Name
		}
	}
	return kit.Clean(id, 60)
}
