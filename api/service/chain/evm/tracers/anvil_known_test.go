package tracers

// notCompared are the fields of answers that differ, each with its reason. A row without a field is for calls that one
// node answers and the other refuses. Patterns are of the whole text.
var notCompared = []difference{
	{method: "eth_getTransactionReceipt", field: "blobGasPrice", ours: "null", anvil: `"0x1"`, why: blobs},
	{method: "eth_getTransactionReceipt", field: "blockTimestamp", ours: "null",
		why: "anvil has it in receipts, go-ethereum only in logs"},
	{method: "eth_getTransactionReceipt", field: "(logs.)?blockHash", why: hashes},
	{method: "eth_getTransactionByHash|eth_getLogs", field: "blockHash", why: hashes},
	{method: "eth_getBlockByNumber", field: "hash|parentHash|transactions.blockHash", why: hashes},
	{method: "eth_getBlockByNumber", field: "stateRoot", why: roots},
	{method: "eth_getBlockByNumber", field: "mixHash", ours: `"0x0{64}"`, why: "anvil draws it, here it is zero"},
	{method: "eth_getBlockByNumber", field: "totalDifficulty", ours: "null", anvil: `"0x0"`,
		why: "go-ethereum dropped it with the merge"},
	{method: "eth_getBlockByNumber", field: "size", why: "anvil's lacks the byte of the empty list of withdrawals"},
	{method: "eth_getProof", field: "accountProof", why: roots},
	{method: "eth_getProof", field: "storageProof.proof", ours: `\[\]`, anvil: `\["0x80"\]`,
		why: "the proof of a slot in an empty tree is empty in go-ethereum, and on anvil the empty node"},
	{method: "eth_getProof", field: "storageHash|storageProof.proof",
		why: "anvil's tree keeps slots that became zero"},

	{method: trace, field: "gas",
		why: "the top call has the limit of the transaction here, there without the intrinsic gas"},
	{method: trace, field: "(calls.)?logs", ours: "null",
		why: "go-ethereum leaves out the events of calls that were taken back"},
	{method: trace, field: "(calls.)?logs.index",
		why: "anvil counts the events of calls that were taken back"},
	{method: trace, field: failure, ours: `"(out of gas|` + precompiled + `)"`, anvil: `"precompiled failed"`,
		why: reason},

	{method: trace, field: failure, ours: `"contract creation code storage out of gas"`,
		anvil: `"(CreateContractSizeLimit|out of gas)"`, why: "both are true, and go-ethereum looks at the gas first"},

	{method: trace, field: failure, ours: `"out of gas(: out of gas)?"`,
		anvil: `"out of gas(: out of memory|: reach memory limit)?"`, why: geth},
	{method: trace, field: failure, ours: `"(out of gas: )?write protection"`,
		anvil: `"(StateChange|CallNotAllowed)(During|Inside)Static(Call)?"`, why: geth},
	{method: trace, field: failure, ours: `"stack underflow .*"`, anvil: `"(StackUnderflow|out of gas)"`, rare: true,
		why: geth},
	{method: trace, field: failure, ours: `"out of gas"`, anvil: `"(StateChangeDuringStaticCall|OutOfOffset)"`,
		why: "both are true, and go-ethereum looks at the gas first"},
	{method: trace, field: failure, ours: `"invalid code: must not begin with 0xef"`,
		anvil: `"CreateContractStartingWithEF"`, why: geth},
	{method: trace, field: failure, ours: `"return data out of bounds"`, anvil: `"OutOfOffset"`, why: geth},
	{method: trace, field: failure, ours: `"contract address collision"`, anvil: `"CreateCollision"`, why: geth},
	{method: trace, field: failure, ours: `"invalid opcode: opcode 0x.* not defined"`, anvil: `"invalid opcode"`,
		why: reason},

	{method: trace, field: "calls.from", anvil: `"0x0{40}"`, why: suicide},
	{method: trace, field: "calls.(to|value)", anvil: "null", why: suicide},

	{method: send, ours: "-32000 oversized data: transaction size .*", anvil: hash, why: "anvil has no such bound"},
	{method: send, ours: "-32000 transaction gas limit too high .*", anvil: hash,
		why: "anvil sees EIP-7825 only when it makes the block"},

	{method: send, ours: "-32000 (intrinsic gas too low: .*|insufficient gas for floor data gas cost: .*)", anvil: hash,
		why: "anvil's pool knows neither the gas of authorizations nor the floor (EIP-7702, EIP-7623)"},
	{method: send, ours: "-32000 set code tx must have at least one authorization tuple", anvil: hash,
		why: "anvil sees it only when it makes the block"},
	{method: send, ours: "-32000 nonce has max value", anvil: hash,
		why: "anvil holds it like any later nonce (EIP-2681)"},
	{method: send, ours: "-32000 only replay-protected .*", anvil: hash,
		why: "anvil takes what go-ethereum refuses by default"},
	{method: send, ours: "-32000 invalid sender: invalid chain id for signer: .*", anvil: hash,
		why: "anvil takes a transaction without type of any chain"},
	{method: "eth_estimateGas", field: "enough", rare: true, anvil: `"0x5208"`,
		why: "anvil takes a call of a precompiled contract for a transfer"},

	{method: "eth_estimateGas", ours: "-32000 (failed with .*|insufficient funds for transfer|" + precompiled + ")",
		anvil: `"0x5208"`, rare: true, why: "anvil takes a call of a precompiled contract for a transfer"},
	{method: "eth_estimateGas", ours: `"0x.*"`, anvil: allowance,
		why: "go-ethereum takes a wish below 21 000 gas for none"},
}

// wording are the errors of which the nodes have a text or a code of their own: patterns of all of "code text".
var wording = []difference{
	{ours: ".*", anvil: allowance, why: "go-ethereum takes a wish below 21 000 gas for none"},
	{ours: "-32000 (err|tracing failed): intrinsic gas too low: have .*",
		anvil: "-32000 intrinsic gas too high -- CallGasCostMoreThanGasLimit", why: geth},
	{ours: "-32000 (err|tracing failed): insufficient funds for .*",
		anvil: "-32000 intrinsic gas too high -- CallGasCostMoreThanGasLimit", why: order},
	{ours: "-32000 intrinsic gas too low: gas .*", anvil: "-32000 intrinsic gas too low", why: geth},
	{ours: "-32000 gas required exceeds allowance .*", anvil: "-32003 Out of gas: gas required exceeds allowance: .*",
		why: geth},
	{ours: "-32000 gas required exceeds allowance .*", anvil: "-32603 EVM error PrecompileError", why: geth},
	{ours: "-32000 out of gas(: out of gas)?",
		anvil: "-32603 EVM error (OutOfGas|MemoryOOG|MemoryLimitOOG|PrecompileError)", why: geth},
	{ours: "-32000 out of gas: not enough gas for reentrancy sentry", anvil: "-32603 EVM error ReentrancySentryOOG",
		why: geth},
	{ours: "-32000 (err: |tracing failed: |failed with .* gas: )?insufficient funds for .*", anvil: poor, why: geth},
	{ours: "3 execution reverted", anvil: "3 execution reverted:.*",
		why: "anvil shows bytes that are no reason, too"},
	{ours: "3 execution reverted: .*", anvil: `3 execution reverted: panic: .* \(0x..\)`, why: geth},
	{ours: "-32000 (" + precompiled + ")", anvil: "-32603 EVM error PrecompileError", why: reason},
	{ours: "-32000 (rlp: .*|typed transaction too short|unexpected EOF|EOF)",
		anvil: "-32602 (Failed to decode transaction|Empty transaction data)", why: geth},
	{ours: "-32000 return data out of bounds", anvil: "-32603 EVM error OutOfOffset", why: geth},
	{ours: "-32000 invalid opcode: INVALID", anvil: "-32603 EVM error InvalidFEOpcode", rare: true, why: geth},
	{ours: "-32000 stack underflow .*", anvil: "-32603 EVM error StackUnderflow", rare: true, why: geth},
	{ours: "-32000 invalid jump destination", anvil: "-32603 EVM error InvalidJump", rare: true, why: geth},
	{ours: "-32000 invalid opcode: opcode 0x.* not defined", anvil: "-32603 EVM error OpcodeNotFound", why: geth},
	{ours: "-32000 max initcode size exceeded: .*", anvil: "-32003 max initcode size exceeded", why: geth},

	{ours: "-32000 transaction gas limit too high .*",
		anvil: "-32000 intrinsic gas too high -- tx.gas_limit > env.block.gas_limit",
		why:   "it is above both bounds, and go-ethereum looks at that of EIP-7825 first"},
	{ours: "-32000 max priority fee per gas higher than max fee per gas",
		anvil: "-32003 max priority fee per gas higher than max fee per gas", why: codes},
	{ours: "-32000 nonce too low: next nonce .*", anvil: "-32003 nonce too low", why: geth},
	{ours: "-32000 invalid sender: invalid chain id for signer: .*", anvil: "-32003 invalid chain id for signer",
		why: geth},
	{ours: "-32000 nonce has max value", anvil: "-32003 replacement transaction underpriced",
		why: "anvil still holds an earlier one (EIP-2681)"},
	{ours: "-32000 oversized data: .*", anvil: "-32003 max initcode size exceeded", rare: true, why: order},
	{ours: "-32000 (set code tx must have .*|invalid sender: .*|intrinsic gas too low: .*|only replay-protected .*|" +
		"nonce has max value|oversized data: .*|insufficient gas for floor .*|transaction gas limit too high .*)",
		anvil: poor, rare: true, why: order},
}

const (
	send    = "eth_sendRawTransaction"
	trace   = "debug_traceTransaction|debug_traceCall"
	failure = "(calls.)?error"
	hash    = `"0x.*"`
	poor    = `-32003 Insufficient funds for gas \* price \+ value`
	// what a precompiled contract says
	precompiled = "invalid input length|point is not on curve|invalid fp.Element encoding|" +
		"bad elliptic curve pairing size|invalid field element top bytes|invalid final flag|" +
		"g[12] point is not on correct subgroup|mismatched versioned hash"
	// below 21 000
	allowance = `-32003 Out of gas: gas required exceeds allowance: (\d{1,4}|1\d{4}|20\d{3})`

	geth    = "go-ethereum's text here, anvil's there"
	order   = "both are true, and the nodes look in another order"
	suicide = "anvil leaves out the account of a SELFDESTRUCT in favor of itself"
	reason  = "anvil does not say why"
	codes   = "go-ethereum's code here, anvil's there"
	roots   = "the states begin with other accounts: each node places other contracts in genesis"
	hashes  = "a block's hash is over its state root, which differs"
	blobs   = "anvil has it without blobs, too, go-ethereum has not"
)
