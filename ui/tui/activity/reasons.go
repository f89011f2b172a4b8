package activity

import "coffer/ui/present"

// reasonWords explains why the service paid back, and what helps. Both are "" for a reason without words here.
func reasonWords(reason string) (what, todo string) {
	what, todo = present.RefundReason(reason)
	if what == "" {
		what, todo = rareReason(reason)
	}
	if what != "" && todo == "" {
		todo = helps(reason)
	}
	return what, todo
}

// helps says what to do about a reason that has no advice of its own.
func helps(reason string) string {
	switch reason {
	case "TRANSFER_FAILED", "TRANSFER_FROM_FAILED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE":
		return "Check the balance and the amount, then build it again."
	case "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES":
		return "Use a larger amount."
	case "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED", "INSUFFICIENT_FUNDS_FOR_RENT":
		return "Require more of the coin, or send some there first."
	}
	return "If it happens again, copy the support bundle (b) for the operator of the service."
}

// rareReason explains the reasons of single contracts and routes, and those of an earlier version of the interface.
func rareReason(reason string) (what, todo string) {
	switch reason {
	case "ORDER_IS_CANCELLED":
		return "The order was cancelled before it ran.", "Build it again."
	case "INVALID_SENDER":
		return "The contract does not take this call from your account.", "Check which account it expects."
	case "SEAPORT_INEXACT_FRACTION", "SEAPORT_INVALID_FULFILLER":
		return "The marketplace did not accept the order as it was filled.", "Look at the offer again: it may be gone."
	case "TOKEN_NOT_TRANSFERABLE":
		return "This token cannot be sent on, or not now.", "Use another asset."
	case "ZERO_SELL_AMOUNT":
		return "Nothing was left to exchange after the fees.", "Use a larger amount."
	case "MINT_NOT_ACTIVE":
		return "Minting is not open.", "Try when it is."
	case "MINT_QUANTITY_EXCEEDS_MAX_PER_WALLET", "MINT_QUANTITY_EXCEEDS_MAX_SUPPLY", "ERC_1155_TOO_MANY_REQUESTED":
		return "More was asked for than one may have, or than there is.", "Ask for fewer."
	case "INCORRECT_PAYMENT":
		return "The contract wants to be paid another amount.", "Check the price, then build it again."
	case "INVALID_GAS_PRICE", "NETWORK_CONGESTION":
		return "The chain was too busy at that moment.", "Try later."
	case "FLUID_DEX_ERROR", "INVALID_PATH", "INSUFFICIENT_LIQUIDITY":
		return "The exchange that was to be used could not do it.", "Try later, another asset, or a smaller amount."
	case "JUPITER_INVALID_TOKEN_ACCOUNT":
		return "A token account on Solana does not exist or does not fit.",
			"Receive the token there once, then try again."
	case "INSUFFICIENT_BALANCE":
		return "There was not enough when it ran.", "Check your balances, then build it again."
	case "TIMEOUT":
		return "It took too long.", "Build it again."
	case "GAS_TOO_LOW", "EXECUTION_FAILED", "REVERTED":
		return "The call failed when it ran.", "Check its arguments."
	case "PRICE_IMPACT_TOO_HIGH":
		return "The amount would have moved the price too far.", "Use a smaller amount."
	case "APPROVAL_FAILED":
		return "The allowance could not be given.", "Check the token and the spender."
	case "N/A":
		return "The service gives no cause.", ""
	}
	return "", ""
}
