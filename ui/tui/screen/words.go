package screen

import (
	"context"
	"errors"
	"net"

	"coffer/api"
	"coffer/ui/tui/kit"
)

// Words turns an error of a service call into one plain sentence without a final stop: what happened, as far as it is known.
func Words(err error) string {
	var refused *api.Error
	var network net.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return refusedWords(refused)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "the service did not answer in time"
	case errors.As(err, &network):
		return "the service cannot be reached: " + kit.Clean(err.Error(), 160)
	}
	return kit.Clean(err.Error(), 200)
}

func refusedWords(e *api.Error) string {
	switch e.Name {
	case api.ErrUnauthorized, api.ErrForbidden:
		return "the service refused the API key"
	case api.ErrTooManyRequests:
		return "the service asks for fewer requests"
	case api.ErrInternal:
		return "the service failed: " + kit.Clean(e.Message, 160)
	}
	return "the service refused: " + kit.Clean(e.Message, 160)
}

// ReasonWords puts the service's reason for a refund into one sentence; "" when this program has no words for it.
func ReasonWords(reason string) string {
	switch reason {
	case "SLIPPAGE", "TOO_LITTLE_RECEIVED", "NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE":
		return "The price moved further than you allowed."
	case "SOLVER_CAPACITY_EXCEEDED":
		return "The solver had not enough of the asset at that moment."
	case "NO_QUOTES", "NO_INTERNAL_SWAP_ROUTES_FOUND":
		return "Nobody offered this exchange at that moment."
	case "EXECUTION_REVERTED", "TRANSACTION_REVERTED", "MISSING_REVERT_DATA":
		return "The contract refused the call when it ran."
	case "ORDER_EXPIRED", "SIGNATURE_EXPIRED":
		return "It was not run before its time ended."
	case "TRANSFER_FAILED", "TRANSFER_FROM_FAILED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE":
		return "A token transfer inside the call failed; mostly the balance is too small."
	case "TRANSFER_AMOUNT_EXCEEDS_ALLOWANCE":
		return "The contract was not allowed to take that much."
	case "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES":
		return "The amount was too small to cover the fees."
	case "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED", "INSUFFICIENT_FUNDS_FOR_RENT":
		return "The call needed more of the chain's own coin than was there."
	case "ACCOUNT_ABSTRACTION_INVALID_NONCE", "ORDER_ALREADY_FILLED", "DOUBLE_SPEND":
		return "Another operation of this account ran first."
	case "INVALID_SIGNATURE", "INVALID_SIGNER", "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR":
		return "A signature was not accepted on the chain."
	case "DEPOSIT_ADDRESS_MISMATCH", "DEPOSIT_CHAIN_MISMATCH", "INCORRECT_DEPOSIT_CURRENCY", "ORIGIN_CURRENCY_MISMATCH":
		return "The deposit was not the one that the quote asked for."
	case "SWAP_USES_TOO_MUCH_GAS":
		return "The exchange would have cost too much gas."
	case "GENERATE_SWAP_FAILED", "REVERSE_SWAP_FAILED":
		return "The exchange of the funding asset failed."
	case "UNKNOWN":
		return "The service gives no cause."
	}
	return ""
}
