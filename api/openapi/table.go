package openapi

import (
	"fmt"
	"maps"

	"coffer/api"
)

// notes is the table of what the types cannot say, by type and member; "*" is the row of every type that has none of
// its own, and a row without a member describes the type.
func notes() map[string]Note {
	out := map[string]Note{}
	for _, part := range []map[string]Note{sharedNotes(), accountNotes(), operationNotes(), requestNotes(),
		quoteNotes(), answerNotes(), oursNotes(), errorNotes()} {
		maps.Copy(out, part)
	}
	return out
}

func sharedNotes() map[string]Note {
	return map[string]Note{
		"*.assetType":         {Text: "CAIP-19 asset type.", Pattern: reAsset, Example: exUSDC},
		"*.amount":            units("Smallest unit of the asset."),
		"*.balance":           units("Smallest unit of the asset."),
		"*.decimals":          {Min: new(0), Max: new(18), Example: 6},
		"*.aggregatedAssetId": {Text: "Aggregated asset.", Pattern: reAggregate, Example: "ob:usdc"},
		"*.symbol":            {Example: "USDC"},
		"*.name":              {Example: "USD Coin"},
		"*.tamperProofSignature": {Text: "The service's signature over the document; returned unchanged.",
			Pattern: reSomeHex},
		"*.accounts": {Text: "Accounts of different types, one EVM type at most.", MinItems: 1,
			MaxItems: 10},
		"*.slippageTolerance": {Text: "Basis points; 200 when absent.", Min: new(1), Max: new(10000),
			Example: 50},
		"*.fromAggregatedAssetId": {Text: "Aggregated asset to spend; may be absent when nothing is short.",
			Pattern: reAggregate, Example: "ob:usdc"},
		"*.targetChain": {Text: "CAIP-2 chain that the calls run on.", Pattern: reTarget,
			Example: "eip155:8453"},
		"*.calls":          {Text: "Calls in order, all or nothing.", MinItems: 1, MaxItems: api.MaxListed},
		"*.tokensRequired": {Text: "What the calls spend on the target chain.", MaxItems: api.MaxListed},
		"*.allowanceRequirements": {
			Text:     "Approvals for the time of the calls; an approval passed as a call is refused.",
			MaxItems: api.MaxListed},
		"*.overrides": {Text: fmt.Sprintf("Changes of state for the simulation only: together at most %d "+
			"bytes, those of their code, %d for each address, %d for each balance and %d for each slot.",
			api.MaxOverrides, api.OverrideAddress, api.OverrideBalance, api.OverrideSlot), MaxItems: api.MaxListed},
		"*.validAfter": {Text: "Start of the operation's validity, Unix seconds.", Pattern: reUnix,
			Example: "1800000000"},
		"*.validUntil": {Text: "End of the operation's validity, Unix seconds, at least 60 from now.",
			Pattern: reUnix, Example: "1800000600"},
		"*.callType": {Text: "The routing that the call needs.",
			Enum: []string{api.CallSameChainExcludeSolver, api.CallCrossChain, api.CallSameChainWithSolver,
				api.CallCrossChainSwaps}},
		"*.sourceAssetBalances": text("Usable balances of all accounts, in funding order."),
		"*.expirationTimestamp": {Text: "Until when execute accepts the quote, Unix seconds.", Pattern: reUnix,
			Example: "1800000030"},
		"*.originToken":      text("What is paid."),
		"*.destinationToken": text("What is delivered."),
		"*.recipientAccountId": {Text: "Receiving account as chain/address.", Pattern: reSlash,
			Example: "eip155:8453/" + exAccount},
		"*.quoteId": {Pattern: reWord, Example: exQuote},
		"*.user": {Text: "The first account of the quote.", Pattern: reAnyAccount,
			Example: exAccount},
		"*.status": {Enum: []string{api.StatusPending, api.StatusInProgress, api.StatusExecuted,
			api.StatusCompleted, api.StatusRefunded, api.StatusFailed}},
		"*.failReason": {
			Text: "Why it was refunded or failed; absent otherwise. Accept unknown values.", Example: "SLIPPAGE"},
		"*.originChainOperations":      text("Transactions that paid."),
		"*.destinationChainOperations": text("Transactions that delivered."),
		"*.asset":                      text("The asset of this side."),
		"*.chain":                      {Text: "CAIP-2 chain.", Pattern: reChain, Example: "eip155:8453"},
		"*.contractAddress":            address("The contract whose code the account takes on."),
		"*.nonce":                      {Text: "The account nonce of the EOA.", Min: new(0)},
	}
}

func accountNotes() map[string]Note {
	return map[string]Note{
		"Account": text("One of four variants, told apart by type. Addresses that belong to another " +
			"variant are not read and come back as they came."),
		"Account.type": {Enum: []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33,
			api.AccountSolana}},
		"AccountV1.type": {Text: "role-based when absent.",
			Enum: []string{api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33}},
		"Account.sessionAddress": address("role-based: signs operations."),
		"Account.adminAddress":   address("role-based: rotates keys and exits; differs from sessionAddress."),
		"Account.signerAddress":  address("kernel: the owner's key; equals accountAddress for kernel-v3.3-ecdsa."),
		"Account.accountAddress": {Text: "The account, which need not be deployed yet; base58 for solana.",
			Pattern: reAnyAccount, Example: exAccount},
		"Account.deploymentType": {Text: "ERC4337 with kernel-v3.1-ecdsa, EIP7702 with kernel-v3.3-ecdsa.",
			Enum: []string{api.DeploymentERC4337, api.DeploymentEIP7702}},

		"PredictRequest.type":           {Enum: []string{api.AccountRoleBased, api.AccountKernelV31}},
		"PredictRequest.sessionAddress": {Pattern: reAddress, Example: exSession},
		"PredictRequest.adminAddress": {Text: "Differs from sessionAddress.", Pattern: reAddress,
			Example: exAdmin},
		"PredictRequest.signerAddress":     address("The owner's key."),
		"PredictResponse.predictedAddress": address("The same on every chain, in EIP-55 form."),
	}
}

func operationNotes() map[string]Note {
	gas := func(s string) Note { return Note{Text: s, Pattern: reUnits, Example: "0"} }
	hex := func(s string) Note { return Note{Text: s, Pattern: reHex, Example: "0x"} }
	return map[string]Note{
		"UserOp.sender":                        address("The account, lower case in answers."),
		"UserOp.nonce":                         gas("Mode, type, validator, lane and sequence as one number."),
		"UserOp.factory":                       address("While the account is not deployed."),
		"UserOp.factoryData":                   hex("While the account is not deployed."),
		"UserOp.callData":                      hex("ERC-7579 execute of a batch."),
		"UserOp.callGasLimit":                  gas(""),
		"UserOp.verificationGasLimit":          gas(""),
		"UserOp.preVerificationGas":            gas(""),
		"UserOp.maxFeePerGas":                  gas("0: the operator pays the gas."),
		"UserOp.maxPriorityFeePerGas":          gas("0: the operator pays the gas."),
		"UserOp.paymaster":                     address(""),
		"UserOp.paymasterVerificationGasLimit": gas(""),
		"UserOp.paymasterPostOpGasLimit":       gas(""),
		"UserOp.paymasterData":                 hex(""),
		"UserOp.signature":                     hex("0x until it is signed."),

		"TypedDataField.name":                   text("Member of the struct type."),
		"TypedDataField.type":                   text("EIP-712 type of the member."),
		"TypedDataDomain.name":                  {Text: "Validator.", Example: "RoleBasedECDSAValidator"},
		"TypedDataDomain.version":               {Example: "1.4.3"},
		"TypedDataDomain.chainId":               {Min: new(1), Example: 8453},
		"TypedDataDomain.verifyingContract":     address(""),
		"TypedDataMessage.callDataAndNonceHash": {Pattern: reWord},
		"TypedData": text(
			"EIP-712 document that a role-based account signs with its session key."),
		"TypedData.domain":      {},
		"TypedData.types":       {},
		"TypedData.primaryType": {Enum: []string{"Approve"}},
		"TypedData.message":     {},

		"Delegation": text(
			"EIP-7702 authorization that the account needs on this chain; signed before the operation is submitted."),
		"Delegation.signature":        text("The signed authorization."),
		"DelegationSignature.chainId": {Min: new(1), Example: 8453},
		"DelegationSignature.r":       {Pattern: reWord},
		"DelegationSignature.s":       {Pattern: reWord},
		"DelegationSignature.v":       {Enum: []string{"0x1b", "0x1c"}},
		"DelegationSignature.yParity": {Min: new(0), Max: new(1)},
		"DelegationSignature.type":    {Enum: []string{"Signed"}},

		"SolanaKey.pubkey":            {Pattern: reBase58, Example: exSolana},
		"SolanaKey.isSigner":          {},
		"SolanaKey.isWritable":        {},
		"SolanaInstruction.keys":      {},
		"SolanaInstruction.programId": {Pattern: reBase58, Example: "11111111111111111111111111111111"},
		"SolanaInstruction.data":      {Text: "Hex without 0x.", Pattern: `^([0-9a-fA-F]{2})*$`},

		"ChainOperation.type":            {Enum: []string{api.AccountSolana}},
		"ChainOperation.userOp":          {},
		"ChainOperation.typedDataToSign": {},
		"ChainOperation.delegation":      {},
		"ChainOperation.instructions":    {MinItems: 1},
		"ChainOperation.recentBlockHash": {Pattern: reBase58},
		"ChainOperation.feePayer":        {Text: "The service's sponsor.", Pattern: reBase58},
		"ChainOperation.addressLookupTableAddresses": {Text: "Never there: messages have no lookup tables.",
			Each: &Note{Pattern: reBase58}},
		"ChainOperation.dataToSign": {Text: "Base64 of a MessageV0: what the user's key signs with ed25519.",
			Pattern: reBase64},
		"ChainOperation.signature": {Text: "The user's signature: base58 of 64 bytes.", Pattern: reBase58Sig},
	}
}

func requestNotes() map[string]Note {
	return map[string]Note{
		"Call.to": address("Contract called."),
		"Call.data": {Text: "Call data; none when absent.", Pattern: reHex,
			Example: "0xa9059cbb"},
		"Call.value": {Text: "Native currency in wei, decimal or 0x hex; 0 when absent.",
			Pattern: `^(0x[0-9a-fA-F]{0,64}|0|[1-9][0-9]{0,77}|)$`, Example: "0"},
		"AllowanceRequirement.amount": units(`Smallest unit; "0" revokes.`),
		"AllowanceRequirement.spender": address(
			"May be absent when the calls have one target that is not the token."),
		"StateOverride.address": address(""),
		"StateOverride.balance": {Text: "Wei.", Pattern: `^0x[0-9a-fA-F]{1,64}$`, Example: "0x1"},
		"StateOverride": text(
			"Another state of one address: its balance, its code, slots of its storage, or several of them."),
		"StateOverride.code": {Text: fmt.Sprintf("At most %d bytes.", api.MaxCode), Pattern: reHex,
			MaxLength: 2 + 2*api.MaxCode},
		"StateOverride.stateDiff": {Text: "Slot to value, 32 bytes each.", Each: &Note{Pattern: reWord}},
		"PrepareRequest.fromAssetId": {Text: "Source asset: aggregated or CAIP-19.", Pattern: reAnyAsset,
			Example: "ob:usdc"},
		"PrepareRequestV1.account": {Ref: "AccountV1"},
		"CallQuoteRequest.fromAssetId": {Text: "Source asset as CAIP-19, in place of fromAggregatedAssetId.",
			Pattern: reAsset, Example: exUSDC},
		"CallQuoteRequest.chainOperation": {Text: "The prepared operation, signed.", Ref: "EvmChainOperation"},
		"CallQuoteRequestV1.account":      {Ref: "AccountV1"},
		"AssetRef.assetId":                {Text: "Aggregated or CAIP-19.", Pattern: reAnyAsset, Example: exSOL},
		"QuoteFrom.amount":                units("Smallest unit of the named asset, more than 0, exact input."),
		"QuoteFromV1.account":             {Ref: "AccountV1"},
		"QuoteTo.account": {
			Text: "CAIP-10 account that receives; needed when both sides are one asset.", Pattern: reRecipient,
			Example: "eip155:42161:" + exAccount},
		"QuoteRequest.from": {},
		"QuoteRequest.to":   {},
	}
}

func quoteNotes() map[string]Note {
	return map[string]Note{
		"PrepareResponse.chainOperation": {Text: "To be signed and sent to call-quote.", Ref: "EvmChainOperation"},
		"PrepareResponseV1.account":      {},
		"SourceAssetBalance.fiatValue":   text("USD; null when there is no price."),
		"TokenFiat.fiatValue":            worth("10.00"),
		"OriginToken.amount":             units("All that is debited, in the aggregate's decimals."),
		"OriginToken.assetType": {Text: "Assets that are paid.",
			Each: &Note{Pattern: reAsset, Example: exUSDC}},
		"OriginToken.fiatValue":             text("USD value of each asset that is paid."),
		"DestinationToken.fiatValue":        worth("10.00"),
		"DestinationToken.minimumAmount":    units("Least delivery."),
		"DestinationToken.minimumFiatValue": worth("9.80"),
		"DestinationToken.recipientAccount": {Text: "chain:address that receives.", Pattern: reRecipient,
			Example: "eip155:8453:" + exAccount},
		"SlippageSide.percent": {Pattern: `^[0-9]+(\.[0-9]+)?$`, Example: "0.5"},
		"SlippageSide.usd":     {Pattern: reUSD, Example: "2.50"},
		"SlippageSide.value":   units(""),
		"Slippage.origin":      {},
		"Slippage.destination": {},
		"Fees.assets":          {Text: "Fee by asset type, smallest unit.", Each: &Note{Pattern: reUnits}},
		"Fees.cumulativeUSD":   {Pattern: reUSD, Example: "5.50"},
		"Quote": text(
			"A priced offer: sign its operations and send it to execute, everything else unchanged."),
		"Quote.id":                     {Pattern: reWord, Example: exQuote},
		"Quote.originChainsOperations": {Text: "What is signed.", MinItems: 1, MaxItems: 10},
		"Quote.slippage":               {},
		"Quote.fees":                   {},
		"QuoteV1":                      text("The v1 form of Quote."),
		"QuoteV1.account":              {},
		"QuoteV1.destinationChainOperation": {
			Text: "The prepared operation of a call that is funded; it was signed before.", Ref: "EvmChainOperation"},
	}
}

func answerNotes() map[string]Note {
	return map[string]Note{
		"ExecuteResponse":                            text("Accepted, never done: follow the status."),
		"ExecuteResponse.success":                    {},
		"ExecuteResponse.guarantees":                 text("null: settlement needs none."),
		"ExecuteResponse.error":                      {},
		"ChainRef.namespace":                         {Example: "eip155"},
		"ChainRef.reference":                         {Example: "8453"},
		"SupportedChain.chain":                       {},
		"SupportedChain.isTestnet":                   {},
		"AggregatedAsset.aggregatedEntities":         text("One element a chain."),
		"AssetBalance.fiatValue":                     text("USD; null when there is no price."),
		"AssetBalance.decimals":                      text("Of a token outside /assets/list, as it says itself."),
		"AssetBalance.symbol":                        text("Of a token outside /assets/list, as it says itself."),
		"AggregateBalance.balance":                   units("In the aggregate's decimals."),
		"AggregateBalance.individualAssetBalances":   text("Every chain, zero included."),
		"AggregateBalance.fiatValue":                 text("USD; null when there is no price."),
		"TotalBalance.fiatValue":                     text("USD; null when nothing listed has a price."),
		"BalanceAccounts.evm":                        address(""),
		"BalanceAccounts.solana":                     {Pattern: reBase58, Example: exSolana},
		"AggregatedBalance.accounts":                 text("The parsed addresses by chain type, as far as asked."),
		"AggregatedBalance.balanceByAggregatedAsset": {},
		"AggregatedBalance.balanceBySpecificAsset":   text("The assets of assetId, spelled as asked."),
		"AggregatedBalance.totalBalance":             {},
		"AggregatedBalance.unreachable": text("Chains of own nodes that could not be asked. " +
			"What is held there is unknown, on no line and in no sum."),
		"UnreachableChain.message": text("Why, in words."),
		"OperationRef.hash": {Text: "Transaction hash, or base58 signature on Solana.",
			Pattern: reTx},
		"OperationRef.chainId":     {Text: "EVM chains, v1 only.", Min: new(1), Example: 8453},
		"OperationRef.explorerUrl": {Text: "Page of the transaction.", Format: "uri"},
		"HistoryRecord.type":       {Enum: []string{api.RecordSwap, api.RecordTransfer, api.RecordCall}},
		"HistoryRecord.timestamp":  {Text: "ISO 8601.", Format: "date-time"},
		"HistoryPage.transactions": {},
		"HistoryPage.continuation": text("Cursor of the next page; absent at the end."),
		"HistoryPage.damaged": text("Only where the service's database is damaged: the quote ids of the page " +
			"that cannot be read and are left out."),
	}
}

func oursNotes() map[string]Note {
	return map[string]Note{
		"RelayRequest": text(
			"What the admin of a role-based account signed; anybody may put it on chain."),
		"RelayRequest.account": {Ref: "AccountV1"},
		"RelayRequest.action": {Enum: []string{api.AdminRotateSession, api.AdminAnnounceExit,
			api.AdminCancelExit, api.AdminOperate}},
		"RelayRequest.newSession":   address("rotate-session: the new session key."),
		"RelayRequest.nonce":        units("Admin nonce; not with operate."),
		"RelayRequest.signature":    {Text: "The admin's, 65 bytes; not with operate.", Pattern: reSigned},
		"RelayRequest.userOp":       text("operate: an operation that the admin alone signed."),
		"RelayResponse.hash":        {Pattern: reWord},
		"RelayResponse.explorerUrl": {Format: "uri"},
		"CodeResponse.accounts":     {MinItems: 1, MaxItems: 50},
		"AccountCode.account":       {Text: "CAIP-10, as it was asked.", Example: "eip155:8453:" + exAccount},
		"AccountCode.code": {Enum: []string{api.CodeNone, api.CodeDelegated, api.CodeContract},
			Text: "delegated: an EIP-7702 delegation; contract: any other code."},
		"AccountCode.delegate":            address("The contract to which the account is delegated."),
		"AccountCode.nonce":               units("The account's nonce on its chain."),
		"UndelegateRequest.authorization": text("Of the zero address, which ends the delegation."),
		"UndelegateRequest.account":       address("The EOA."),
		"UndelegateResponse.transaction":  text("Absent where the account was not delegated: nothing was sent."),
		"RolesResponse.deployed":          text("Whether the account has code on this chain."),
		"RolesResponse.sessionAddress":    address(""),
		"RolesResponse.adminAddress":      address(""),
		"RolesResponse.coSigner":          address("The service's key."),
		"RolesResponse.adminNonce":        units("What the next admin message must carry."),
		"RolesResponse.operationNonce":    units("What an operation of the admin must carry."),
		"RolesResponse.exitAvailableAt":   text("Unix seconds; 0 when no exit is announced."),
		"Health.status":                   {Enum: []string{"ok"}},
	}
}

func errorNotes() map[string]Note {
	return map[string]Note{
		"Error.error":      {Enum: api.ErrorNames()},
		"Error.message":    text("Plain words."),
		"Error.statusCode": {Min: new(400), Max: new(599)},
		"Error.timestamp":  {Format: "date-time"},
		"Error.path":       {Text: "Path of the request.", Example: "/api/assets/list"},
		"Error.details":    text("A validation failure: every broken rule."),
		"Failure.path":     {Text: "Where in the request.", Example: "calls[0].data"},
		"Failure.expected": text("What the rule demands."),
		"Failure.got":      text("What was found."),
	}
}
