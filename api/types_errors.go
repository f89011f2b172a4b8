package api

// ErrorNames lists every error name of the interface (protocol §6).
func ErrorNames() []string {
	return []string{
		ErrValidation, ErrTamperProof, ErrInvalidSignature, ErrQuoteExpired, ErrPrepareAgain, ErrInsufficientBalance,
		ErrNoRoute, ErrDelegation,
		ErrUnauthorized, ErrForbidden, ErrNotFound, ErrAlreadyExecuted, ErrMediaType, ErrSimulationFailed,
		ErrTooManyRequests, ErrInternal,
		ErrUnavailable,
	}
}
