package present

import "strings"

// RefundReason explains the service's reason for a refund in one sentence, and what helps against it in another. Both
// are "" for a reason without words here; todo alone is "" when nothing is known to help.
func RefundReason(reason string) (what, todo string) {
	switch reason {
	case "SLIPPAGE", "TOO_LITTLE_RECEIVED", "NEW_CALLDATA_INCLUDES_HIGHER_RENT_FEE":
		return "The price moved further than you allowed.", "Ask again, or allow a larger move."
	case "SOLVER_CAPACITY_EXCEEDED":
		return "The solver, which advances what is missing, did not have enough of the asset at that moment.",
			"Try later, or a smaller amount."
	case "NO_QUOTES", "NO_INTERNAL_SWAP_ROUTES_FOUND":
		return "No one offered this exchange at that moment.", "Try another funding asset."
	case "EXECUTION_REVERTED", "TRANSACTION_REVERTED", "MISSING_REVERT_DATA":
		return "The contract refused the call when it ran.", "Check its arguments."
	case "ORDER_EXPIRED", "SIGNATURE_EXPIRED":
		return "It expired before it was run.", "Build it again."
	case "TRANSFER_FAILED", "TRANSFER_FROM_FAILED", "TRANSFER_AMOUNT_EXCEEDS_BALANCE":
		return "A token transfer inside the call failed; mostly the balance is too small.",
			"Check the balance and the amount, then build it again."
	case "TRANSFER_AMOUNT_EXCEEDS_ALLOWANCE":
		return "The contract was not allowed to take that much.", "Declare a larger allowance."
	case "AMOUNT_TOO_LOW_TO_REFUND", "DEPOSITED_AMOUNT_TOO_LOW_TO_FILL", "NEGATIVE_NEW_AMOUNT_AFTER_FEES":
		return "The amount was too small to cover the fees.", "Use a larger amount."
	case "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED", "INSUFFICIENT_FUNDS_FOR_RENT":
		return "The call needed more of the chain's own coin than was there.",
			"Require more of the coin, or send some there first."
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
	case "UNKNOWN", "N/A":
		return "The service gives no cause.", ""
	}
	return rareReason(reason)
}

// rareReason explains the reasons of single contracts and routes, and those of an earlier version of the interface.
func rareReason(reason string) (what, todo string) {
	switch reason {
	case "ORDER_IS_CANCELLED":
		return "The order was cancelled before it ran.", "Build it again."
	case "INVALID_SENDER":
		return "The contract does not take this call from your account.", "Check which account it expects."
	case "SEAPORT_INEXACT_FRACTION", "SEAPORT_INVALID_FULFILLER":
		return "The exchange rejected the way the order was filled.", "Look at the offer again: it may be gone."
	case "TOKEN_NOT_TRANSFERABLE":
		return "This token cannot be sent on, or not now.", "Use another asset."
	case "ZERO_SELL_AMOUNT":
		return "Nothing was left to exchange after the fees.", "Use a larger amount."
	case "MINT_NOT_ACTIVE":
		return "Minting is not open.", "Try when it is."
	case "MINT_QUANTITY_EXCEEDS_MAX_PER_WALLET", "MINT_QUANTITY_EXCEEDS_MAX_SUPPLY", "ERC_1155_TOO_MANY_REQUESTED":
		return "The amount is above the limit or above what is available.", "Ask for fewer."
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
	}
	return "", ""
}

// FailReason is why an operation did not run and what to do about it, in plain words; "" without a reason. The
// service's own term stands beside it.
func FailReason(reason string, k Keys) string {
	code, why, told := strings.Cut(reason, ": ")
	what, todo := RefundReason(code)
	switch {
	case told && code == "TRANSACTION_REVERTED": // of a transfer on Solana, with what the chain says
		return "The chain refused it: " + Clean(why, 200) + ". Check the amount and the recipient, then build it again."
	case reason == "":
		return ""
	case what == "":
		return "Coffer has no words for this cause. " + k.operator("Copy the support bundle"+k.Bundle+
			" for the operator of the service.", "Ask the operator of the service.")
	case todo == "":
		todo = "If it happens again, " + k.operator("copy the support bundle"+k.Bundle+
			" for the operator of the service.", "ask the operator of the service.")
	}
	return what + " " + todo
}
