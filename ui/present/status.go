package present

import (
	"strings"

	"coffer/api"
	"coffer/api/network"
)

// RefundReason explains the service's reason for a refund in one sentence, and what helps against it in another. Both
// are "" for a reason without words here; todo alone is "" when nothing is known to help.
func RefundReason(reason string) (what, todo string) {
	switch reason {
	case "SLIPPAGE", "TOO_LITTLE_RECEIVED", "NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE":
		return "The price moved further than you allowed.", "Ask again, or allow a larger move."
	case "SOLVER_CAPACITY_EXCEEDED":
		return "Whoever lends what is missing (the solver) had not enough of the asset at that moment.",
			"Try later, or a smaller amount."
	case "NO_QUOTES", "NO_INTERNAL_SWAP_ROUTES_FOUND":
		return "Nobody offered this exchange at that moment.", "Try another funding asset."
	case "EXECUTION_REVERTED", "TRANSACTION_REVERTED", "MISSING_REVERT_DATA":
		return "The contract refused the call when it ran.", "Check its arguments."
	case "ORDER_EXPIRED", "SIGNATURE_EXPIRED":
		return "It was not run before its time ended.", "Build it again."
	case "TRANSFER_FAILED", "TRANSFER_FROM_FAILED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE":
		return "A token transfer inside the call failed; mostly the balance is too small.", ""
	case "TRANSFER_AMOUNT_EXCEEDS_ALLOWANCE":
		return "The contract was not allowed to take that much.", "Declare a larger allowance."
	case "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES":
		return "The amount was too small to cover the fees.", ""
	case "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED", "INSUFFICIENT_FUNDS_FOR_RENT":
		return "The call needed more of the chain's own coin than was there.", ""
	case "ACCOUNT_ABSTRACTION_INVALID_NONCE", "ORDER_ALREADY_FILLED", "DOUBLE_SPEND":
		return "Another operation of this account ran first.", "Build it again."
	case "INVALID_SIGNATURE", "INVALID_SIGNER", "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR":
		return "A signature was not accepted on the chain.", ""
	case "DEPOSIT_ADDRESS_MISMATCH", "DEPOSIT_CHAIN_MISMATCH", "INCORRECT_DEPOSIT_CURRENCY", "ORIGIN_CURRENCY_MISMATCH":
		return "The deposit was not the one that the quote asked for.", ""
	case "SWAP_USES_TOO_MUCH_GAS":
		return "The exchange would have cost too much gas.", "Try another funding asset."
	case "GENERATE_SWAP_FAILED", "REVERSE_SWAP_FAILED":
		return "The exchange of the funding asset failed.", "Try another one."
	case "UNKNOWN":
		return "The service gives no cause.", ""
	}
	return "", ""
}

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
	default:
		return "This program does not know this status. Take it as unfinished."
	}
	if kind == network.Embedded {
		return words
	}
	return "The service says: " + strings.ToLower(words[:1]) + words[1:]
}
