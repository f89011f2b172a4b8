package abicall

// Lookup finds the first function of list with the given selector.
func Lookup(list []Function, selector [4]byte) (Function, bool) {
	for _, f := range list {
		if f.Selector() == selector {
			return f, true
		}
	}
	return Function{}, false
}

// Known lists functions that calls are often made of, so that a call without an ABI
// can be decoded by its selector. Different functions can share four bytes: a match
// suggests what a call is and proves nothing.
func Known() []Function {
	return parseAll(
		// ERC-20 and its common extensions
		"transfer(address to, uint256 amount)",
		"approve(address spender, uint256 amount)",
		"transferFrom(address from, address to, uint256 amount)",
		"increaseAllowance(address spender, uint256 addedValue)",
		"decreaseAllowance(address spender, uint256 subtractedValue)",
		"permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
		"balanceOf(address owner)",
		"allowance(address owner, address spender)",
		"totalSupply()",
		"decimals()",
		"symbol()",
		"name()",
		"mint(address to, uint256 amount)",
		"burn(uint256 amount)",
		// wrapped native coins
		"deposit()",
		"withdraw(uint256 amount)",
		// ERC-721 and ERC-1155
		"safeTransferFrom(address from, address to, uint256 tokenId)",
		"safeTransferFrom(address from, address to, uint256 tokenId, bytes data)",
		"safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)",
		"setApprovalForAll(address operator, bool approved)",
		// Permit2
		"approve(address token, address spender, uint160 amount, uint48 expiration)",
		// routers and vaults
		"multicall(bytes[] data)",
		"multicall(uint256 deadline, bytes[] data)",
		"deposit(uint256 assets, address receiver)",
		"withdraw(uint256 assets, address receiver, address owner)",
		"redeem(uint256 shares, address receiver, address owner)",
		"supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)",
		"withdraw(address asset, uint256 amount, address to)",
		// our escrow
		"deposit(bytes32 quoteId, address token, uint256 amount, uint64 refundDeadline)",
		"release(bytes32 quoteId, address depositor, address to)",
		"refund(bytes32 quoteId, address depositor)",
		// smart accounts; most of these change who controls one (TH-U9)
		"execute(bytes32 mode, bytes executionCalldata)",
		"installModule(uint256 moduleType, address module, bytes initData)",
		"uninstallModule(uint256 moduleType, address module, bytes deInitData)",
		"upgradeTo(address newImplementation)",
		"upgradeToAndCall(address newImplementation, bytes data)",
		"changeRootValidator(bytes21 rootValidator, address hook, bytes validatorData, bytes hookData)",
		"installValidations(bytes21[] validations, (uint32 nonce, address hook)[] configs, bytes[] validationData, "+
			"bytes[] hookData)",
		"uninstallValidation(bytes21 validation, bytes deinitData, bytes hookDeinitData)",
		"grantAccess(bytes21 validation, bytes4 selector, bool allow)",
		"invalidateNonce(uint32 nonce)",
		"renew(address[] guardians, uint24[] weights, uint24 threshold, uint48 delay)",
		"transferOwnership(address newOwner)",
	)
}

func parseAll(signatures ...string) []Function {
	out := make([]Function, len(signatures))
	for i, s := range signatures {
		out[i] = must(s)
	}
	return out
}

// must parses a signature of this file; a test parses all of them.
func must(signature string) Function {
	f, err := ParseSignature(signature)
	if err != nil {
		panic(err)
	}
	return f
}
