package api

// ErrorNames lists every error name of the interface (protocol §6).
func ErrorNames() []string {
	return []string{
		ErrValidation, ErrTamperProof, ErrInvalidSignature, ErrQuoteExpired, ErrPrepareAgain, ErrInsufficientBalance, ErrNoRoute, ErrDelegation,
		ErrUnauthorized, ErrForbidden, ErrNotFound, ErrAlreadyExecuted, ErrMediaType, ErrSimulationFailed, ErrTooManyRequests, ErrInternal,
	}
}

// FailReasons lists the documented reasons of a refund that are confirmed word for word (interface-facts §2.4). A client must accept others.
func FailReasons() []string {
	return []string{
		"UNKNOWN", "SLIPPAGE", "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSIT_ADDRESS_MISMATCH", "DEPOSIT_CHAIN_MISMATCH", "INCORRECT_DEPOSIT_CURRENCY", "DOUBLE_SPEND",
		"SOLVER_CAPACITY_EXCEEDED", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES", "NO_QUOTES", "MISSING_REVERT_DATA", "REVERSE_SWAP_FAILED",
		"GENERATE_SWAP_FAILED", "TOO_LITTLE_RECEIVED", "EXECUTION_REVERTED", "NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE", "TRANSACTION_REVERTED",
		"ORIGIN_CURRENCY_MISMATCH", "NO_INTERNAL_SWAP_ROUTES_FOUND", "SWAP_USES_TOO_MUCH_GAS", "INSUFFICIENT_FUNDS_FOR_RENT", "ORDER_EXPIRED", "ORDER_IS_CANCELLED",
		"TRANSFER_FROM_FAILED", "TRANSFER_FAILED", "SIGNATURE_EXPIRED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE",
	}
}
