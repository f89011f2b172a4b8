package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const (
	zeroWord   = "0x0000000000000000000000000000000000000000000000000000000000000001"
	solSig     = "2z1h92bonjpq5yELFiDfNgKoAFEp1MxU8qLuAV7RRbFDTHZ6Ts8AvGYBry7TR9doZK1ePMdWJGNt7XiNzU9wAd5B"
	solanaSOL  = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"
	solanaMain = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"

	usdcOptimism = "eip155:10/erc20:0x0b2c639c533813f4aa9d7837caf62653d097ff85"
	usdcSolana   = solanaMain + "/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
)

var (
	evmOp = fmt.Sprintf(
		`{"userOp":{"sender":%[1]q,"nonce":"1","callData":"0x","callGasLimit":"1","verificationGasLimit":"1",`+
			`"preVerificationGas":"0",
		"maxFeePerGas":"0","maxPriorityFeePerGas":"0","signature":"0x12"},
		"typedDataToSign":{"domain":{"name":"n","version":"1","chainId":8453,"verifyingContract":%[1]q},`+
			`"types":{"Approve":[{"name":"a","type":"bytes32"}]},
		"primaryType":"Approve","message":{"callDataAndNonceHash":%[2]q}},
		"delegation":{"contractAddress":%[1]q,"nonce":0,"signature":{"chainId":8453,"contractAddress":%[1]q,`+
			`"nonce":0,"r":%[2]q,"s":%[2]q,"v":"0x1b","yParity":0,"type":"Signed"}},
		"assetType":%[3]q,"amount":"1"}`, evmOwner, zeroWord, usdcBase)
	solOp = fmt.Sprintf(
		`{"type":"solana","instructions":[{"keys":[{"pubkey":%[1]q,"isSigner":true,"isWritable":true}],`+
			`"programId":"11111111111111111111111111111111","data":"0200"}],
		"recentBlockHash":%[1]q,"feePayer":%[1]q,"dataToSign":"gAEA","signature":%[2]q,"assetType":%[3]q,`+
			`"amount":"1"}`, solanaKey, solSig, solanaSOL)
	roleNoType = strings.Replace(accRole, `"type":"role-based",`, "", 1)
)

// bodies are a valid body of each endpoint, with every member that it can have.
func bodies() map[string]string {
	const allowance = `,"allowanceRequirements":[{"assetType":"` + usdcBase + `","amount":"1","spender":"` + evmTarget +
		`"}],"overrides":[{"address":"` + evmOther + `","balance":"0x1","code":"0x","stateDiff":{"` + zeroWord + `":"` +
		zeroWord + `"}}],
		"validAfter":"1800000000","validUntil":"1800000600","slippageTolerance":50`
	prepare := fmt.Sprintf(
		`"targetChain":"eip155:8453","calls":[{"to":%q,"data":"0x12","value":"0"}],"tokensRequired":[{"assetType":%q,`+
			`"amount":"1"}]`, evmTarget, usdcBase) + allowance
	call := `"chainOperation":` + evmOp +
		`,"tamperProofSignature":"0x12","fromAggregatedAssetId":"ob:usdc","slippageTolerance":1`
	to := fmt.Sprintf(
		`"to":{"asset":{"assetId":"eip155:8453/slip44:60"},"account":"eip155:8453:%s"},"slippageTolerance":100`,
		evmOther)
	tokens := `"originToken":{"aggregatedAssetId":"ob:usdc","amount":"1","assetType":["` + usdcBase +
		`"],"fiatValue":[{"assetType":"` + usdcBase + `","amount":"1","fiatValue":"1.00"}]},
		"destinationToken":{"aggregatedAssetId":"ob:usdc","amount":"1","assetType":"` + usdcBase +
		`","fiatValue":"1.00","minimumAmount":"1","minimumFiatValue":"1.00","symbol":"USDC","name":"USD Coin",` +
		`"decimals":6,"recipientAccount":"eip155:1:x"},
		"expirationTimestamp":"1800000030","tamperProofSignature":"0x12"`
	return map[string]string{
		"Prepare":     `{"accounts":[` + accRole + `,` + accSolana + `],` + prepare + `,"fromAssetId":"ob:usdc"}`,
		"PrepareV1":   `{"account":` + roleNoType + `,` + prepare + `}`,
		"CallQuote":   `{"accounts":[` + accKernel33 + `],` + call + `,"fromAssetId":"` + usdcBase + `"}`,
		"CallQuoteV1": `{"account":` + accKernel33 + `,` + call + `}`,
		"Quote": `{"from":{"accounts":[` + accSolana + `,` + accKernel31 +
			`],"asset":{"assetId":"ob:usdc"},"amount":"1"},` + to + `}`,
		"QuoteV1": `{"from":{"account":` + accKernel31 + `,"asset":{"assetId":"ob:usdc"},"amount":"1"},` + to + `}`,
		"Execute": `{"id":"` + zeroWord + `","accounts":[` + accKernel33 + `,` + accSolana +
			`],"originChainsOperations":[` + solOp + `,` + evmOp + `],` + tokens +
			`,"slippage":{"origin":{"percent":"0","usd":"0.00","value":"0"},"destination":{"percent":"0",` +
			`"usd":"0.00","value":"0"}},"fees":{"assets":{"` + usdcBase + `":"1"},"cumulativeUSD":"0.00"}}`,
		"ExecuteV1": `{"id":"` + zeroWord + `","account":` + accKernel33 + `,"originChainsOperations":[` + evmOp +
			`],` + tokens + `,"destinationChainOperation":` + evmOp + `}`,
		"Predict": fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`, evmOwner, evmOther),
		"Relay": fmt.Sprintf(
			`{"account":%s,"chain":"eip155:10","action":"rotate-session","newSession":%q,"nonce":"0",`+
				`"signature":"0x%s"}`, roleNoType, evmOwner, strings.Repeat("12", 65)),
		"Undelegate": fmt.Sprintf(`{"account":%q,"authorization":{"chainId":10,"contractAddress":"0x%s","nonce":3,`+
			`"r":%q,"s":%q,"v":"0x1b","yParity":0,"type":"Signed"}}`, evmOwner, strings.Repeat("0", 40), zeroWord,
			zeroWord),
	}
}

// ruleSet is the rules of one endpoint and the view that a body which keeps them can be decoded into.
type ruleSet struct {
	check func(Rules, *Document) []Failure
	view  func() any
}

func ruleSets() map[string]ruleSet {
	return map[string]ruleSet{
		"Prepare":     {Rules.Prepare, func() any { return new(PrepareRequest) }},
		"PrepareV1":   {Rules.PrepareV1, func() any { return new(PrepareRequestV1) }},
		"CallQuote":   {Rules.CallQuote, func() any { return new(CallQuoteRequest) }},
		"CallQuoteV1": {Rules.CallQuoteV1, func() any { return new(CallQuoteRequestV1) }},
		"Quote":       {Rules.Quote, func() any { return new(QuoteRequest) }},
		"QuoteV1":     {Rules.QuoteV1, func() any { return new(QuoteRequestV1) }},
		"Execute":     {Rules.Execute, func() any { return new(Quote) }},
		"ExecuteV1":   {Rules.ExecuteV1, func() any { return new(QuoteV1) }},
		"Predict":     {Rules.Predict, func() any { return new(PredictRequest) }},
		"Relay":       {Rules.Relay, func() any { return new(RelayRequest) }},
		"Undelegate":  {Rules.Undelegate, func() any { return new(UndelegateRequest) }},
	}
}

func TestEveryRuleSetAcceptsAFullBody(t *testing.T) {
	for name, body := range bodies() {
		if fs := ruleSets()[name].check(rules(t), mustParse(t, body)); len(fs) != 0 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// Every leaf of every body, given another JSON type, is refused at its own place (or at the place of what holds it).
func TestEveryLeafOfAnotherTypeIsRefusedAtItsPlace(t *testing.T) {
	for name, body := range bodies() {
		doc, leaves := mustParse(t, body), 0
		doc.Leaves(func(pointer string, value []byte) {
			leaves++
			other := []byte(`[true]`)
			changed, err := doc.Splice(Edit{pointer, other})
			if err != nil {
				t.Fatal(err)
			}
			fs := ruleSets()[name].check(rules(t), changed)
			if len(fs) == 0 {
				t.Errorf("%s: %s was %s and could be %s", name, pointer, value, other)
				return
			}
			for _, f := range fs {
				if f.Path == pathOf(pointer) {
					return
				}
			}
			t.Errorf("%s: no failure at %s: %v", name, pathOf(pointer), fs)
		})
		if leaves < 2 {
			t.Errorf("%s: %d leaves", name, leaves)
		}
	}
}

// pathOf writes a JSON pointer as failures name places.
func pathOf(pointer string) string {
	path := ""
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = unescapePointer(part)
		if _, err := strconv.Atoi(part); err == nil {
			path += "[" + part + "]"
		} else {
			path += "." + part
		}
	}
	return strings.TrimPrefix(path, ".")
}

// changed replaces the value at a pointer; an empty value removes the member.
func changed(t *testing.T, body, pointer, value string) *Document {
	t.Helper()
	doc := mustParse(t, body)
	if value != "" {
		out, err := doc.Splice(Edit{pointer, []byte(value)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var x any
	if err := json.Unmarshal(doc.Raw(), &x); err != nil {
		t.Fatal(err)
	}
	at := x
	parts := strings.Split(pointer, "/")[1:]
	for _, p := range parts[:len(parts)-1] {
		if list, ok := at.([]any); ok {
			i, _ := strconv.Atoi(p)
			at = list[i]
			continue
		}
		at = at.(map[string]any)[p]
	}
	delete(at.(map[string]any), parts[len(parts)-1])
	raw, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(raw))
}

// TestBodiesRefuse holds one broken rule a row, named after it, with the place that the answer must name.
func TestBodiesRefuse(t *testing.T) {
	for name, c := range map[string]struct{ of, pointer, value, path, expected string }{
		"v1 account missing": {"PrepareV1", "/account", "", "account", "object"},
		"v1 admin equals session": {"PrepareV1", "/account/adminAddress", `"` + evmOwner + `"`,
			"account.adminAddress", "differs"},
		"v1 admin missing": {"PrepareV1", "/account/adminAddress", "", "account.adminAddress",
			"0x address"},
		"v1 solana account": {"PrepareV1", "/account", accSolana, "account.type", "Solana needs v3"},
		"v1 unknown account type": {"CallQuoteV1", "/account/type", `"safe"`, "account.type",
			"role-based"},
		"v1 EIP7702 with another account type": {"PrepareV1", "/account/deploymentType", `"EIP7702"`,
			"account.deploymentType", "kernel-v3.3-ecdsa"},
		"v1 tokensRequired missing": {"PrepareV1", "/tokensRequired", "", "tokensRequired", "array"},
		"v1 calls empty":            {"PrepareV1", "/calls", "[]", "calls", "1 to"},
		"v1 slippage 0": {"PrepareV1", "/slippageTolerance", "0", "slippageTolerance",
			"1 to 10000"},
		"call-quote of a Solana operation": {"CallQuote", "/chainOperation", solOp, "chainOperation.type",
			"EVM operation"},
		"unsigned operation": {"CallQuote", "/chainOperation/userOp/signature", `"0x"`,
			"chainOperation.userOp.signature", "signature"},
		"unsigned delegation": {"CallQuoteV1", "/chainOperation/delegation/signature", "",
			"chainOperation.delegation.signature", "authorization"},
		"delegation type Unsigned": {"CallQuote", "/chainOperation/delegation/signature/type", `"Unsigned"`,
			"chainOperation.delegation.signature.type", "Signed"},
		"delegation of another contract": {"CallQuote", "/chainOperation/delegation/signature/contractAddress",
			`"` + evmOther + `"`, "chainOperation.delegation.signature.contractAddress", "contract of the delegation"},
		"delegation with another nonce": {"CallQuote", "/chainOperation/delegation/signature/nonce", "5",
			"chainOperation.delegation.signature.nonce", "nonce of the delegation"},
		"delegation for chain 0": {"CallQuote", "/chainOperation/delegation/signature/chainId", "0",
			"chainOperation.delegation.signature.chainId", "integer from 1"},
		"v against yParity": {"CallQuote", "/chainOperation/delegation/signature/v", `"0x1c"`,
			"chainOperation.delegation.signature.v", "yParity"},
		"short r": {"CallQuote", "/chainOperation/delegation/signature/r", `"0x12"`,
			"chainOperation.delegation.signature.r", "32 bytes"},
		"typed data missing": {"CallQuote", "/chainOperation/typedDataToSign", "",
			"chainOperation.typedDataToSign", "object"},
		"call-quote slippage 0": {"CallQuote", "/slippageTolerance", "0", "slippageTolerance",
			"1 to 10000"},
		"aggregate expected, CAIP-19 given": {"CallQuoteV1", "/fromAggregatedAssetId", `"` + usdcBase + `"`,
			"fromAggregatedAssetId", "aggregated"},
		"no operations": {"Execute", "/originChainsOperations", "[]", "originChainsOperations",
			"1 to 10"},
		"id not a word": {"ExecuteV1", "/id", `"0x12"`, "id", "64 hex"},
		"hex Solana signature": {"Execute", "/originChainsOperations/0/signature", `"0x12"`,
			"originChainsOperations[0].signature", "base58 of 64 bytes"},
		"missing Solana signature": {"Execute", "/originChainsOperations/0/signature", "",
			"originChainsOperations[0].signature", "base58 of 64 bytes"},
		"base64 with line breaks": {"Execute", "/originChainsOperations/0/dataToSign", `"gA\nEA"`,
			"originChainsOperations[0].dataToSign", "base64"},
		"base64 with stray bits": {"Execute", "/originChainsOperations/0/dataToSign", `"gAF="`,
			"originChainsOperations[0].dataToSign", "base64"},
		"base64url": {"Execute", "/originChainsOperations/0/dataToSign", `"-_-_"`,
			"originChainsOperations[0].dataToSign", "base64"},
		"instruction data with 0x": {"Execute", "/originChainsOperations/0/instructions/0/data", `"0x02"`,
			"originChainsOperations[0].instructions[0].data", "without 0x"},
		"operation of an unknown type": {"Execute", "/originChainsOperations/1/type", `"cosmos"`,
			"originChainsOperations[1].type", "solana"},
		"v1 execute with a Solana operation": {"ExecuteV1", "/originChainsOperations/0", solOp,
			"originChainsOperations[0].type", "Solana needs v3"},
		"v1 execute destination without op": {"ExecuteV1", "/destinationChainOperation/userOp", "",
			"destinationChainOperation.userOp", "object"},
		"originToken missing": {"Execute", "/originToken", "", "originToken", "object"},
		"tamper-proof signature missing": {"Execute", "/tamperProofSignature", "", "tamperProofSignature",
			"0x hex"},
		"tamper-proof signature of nothing": {"Execute", "/tamperProofSignature", `"0x"`, "tamperProofSignature",
			"not empty"},
		"call-quote without a real signature": {"CallQuote", "/tamperProofSignature", `"0x"`, "tamperProofSignature",
			"not empty"},
		"originToken of nothing": {"Execute", "/originToken", "{}", "originToken.fiatValue", "array"},
		"destinationToken of nothing": {"ExecuteV1", "/destinationToken", "{}", "destinationToken.assetType",
			"CAIP-19"},
		"slippage of nothing": {"Execute", "/slippage", "{}", "slippage.destination", "object"},
		"fees of nothing":     {"Execute", "/fees", "{}", "fees.cumulativeUSD", "dollars"},
		"recipient of no form": {"ExecuteV1", "/destinationToken/recipientAccount", `"x"`,
			"destinationToken.recipientAccount", "<chain>:<address>"},
		"v1 execute without an account type": {"ExecuteV1", "/account/type", "", "account.type", "role-based"},
		"a message without its type": {"Execute", "/originChainsOperations/0/type", "",
			"originChainsOperations[0].type", "solana"},
		"expiry not a time": {"Execute", "/expirationTimestamp", `"soon"`, "expirationTimestamp",
			"Unix"},
		"from missing":  {"Quote", "/from", "", "from", "object"},
		"to missing":    {"QuoteV1", "/to", "", "to", "object"},
		"zero accounts": {"Quote", "/from/accounts", "[]", "from.accounts", "1 to 10"},
		"two EVM types": {"Quote", "/from/accounts", "[" + accRole + "," + accKernel31 + "]",
			"from.accounts[1].type", "one EVM"},
		"amount 0":        {"Quote", "/from/amount", `"0"`, "from.amount", "more than 0"},
		"amount negative": {"QuoteV1", "/from/amount", `"-5"`, "from.amount", "base units"},
		"unknown asset": {"Quote", "/from/asset/assetId", `"ob:nothing"`, "from.asset.assetId",
			"known"},
		"asset missing":         {"Quote", "/to/asset", "", "to.asset", "object"},
		"recipient not CAIP-10": {"Quote", "/to/account", `"` + evmOther + `"`, "to.account", "CAIP-10"},
		"recipient on an unknown chain": {"Quote", "/to/account", `"eip155:57:` + evmOther + `"`, "to.account",
			"supported"},
		"recipient zero": {"Quote", "/to/account",
			`"eip155:8453:0x0000000000000000000000000000000000000000"`, "to.account", "zero"},
		"recipient on another chain": {"Quote", "/to/account", `"eip155:10:` + evmOther + `"`, "to.account",
			"asset's chain"},
		"v1 recipient on Solana": {"QuoteV1", "/to/account", `"` + solanaMain + ":" + solanaKey + `"`,
			"to.account", "Solana needs v3"},
		"v1 destination on Solana": {"QuoteV1", "/to/asset/assetId", `"` + solanaSOL + `"`,
			"to.asset.assetId", "Solana needs v3"},
		"v1 source on Solana": {"QuoteV1", "/from/asset/assetId", `"` + solanaSOL + `"`,
			"from.asset.assetId", "Solana needs v3"},
		"v1 from a solana account": {"QuoteV1", "/from/account", accSolana, "from.account.type",
			"Solana needs v3"},
		"quote slippage 0": {"Quote", "/slippageTolerance", "0", "slippageTolerance", "1 to 10000"},
		"undelegation to a contract": {"Undelegate", "/authorization/contractAddress", `"` + evmOther + `"`,
			"authorization.contractAddress", "zero address"},
		"undelegation on every chain": {"Undelegate", "/authorization/chainId", "0", "authorization.chainId",
			"integer from 1"},
		"undelegation without a signature": {"Undelegate", "/authorization", "", "authorization", "object"},
		"relay of a kernel account":        {"Relay", "/account", accKernel31, "account.type", "role-based"},
		"relay on Solana":                  {"Relay", "/chain", `"` + solanaMain + `"`, "chain", "CAIP-2"},
		"relay unknown action":             {"Relay", "/action", `"upgrade"`, "action", "rotate-session"},
		"relay short signature":            {"Relay", "/signature", `"0x12"`, "signature", "65 bytes"},
		"relay without nonce":              {"Relay", "/nonce", "", "nonce", "decimal"},
		"relay new session zero": {"Relay", "/newSession", `"0x0000000000000000000000000000000000000000"`,
			"newSession", "other than the zero address"},
		"relay announce with a session": {"Relay", "/action", `"announce-exit"`, "newSession",
			"announce-exit takes no newSession"},
		"relay operate without an operation": {"Relay", "/action", `"operate"`, "userOp", "object"},
		"relay operate with a nonce":         {"Relay", "/action", `"operate"`, "nonce", "operate takes no nonce"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := ruleSets()[c.of].check(rules(t), changed(t, bodies()[c.of], c.pointer, c.value))
			for _, f := range fs {
				if f.Path == c.path && strings.Contains(f.Expected, c.expected) {
					return
				}
			}
			t.Fatalf("no failure at %s that expects %q: %v", c.path, c.expected, fs)
		})
	}
}

// Each part of an execute body tells its own faults, all at once.
func TestAnExecuteBodyOfEmptyPartsListsEveryMember(t *testing.T) {
	body :=
		`{"id":"0x1","accounts":[],"originChainsOperations":[],"originToken":{},"destinationToken":{},` +
			`"expirationTimestamp":"x","tamperProofSignature":"0x","slippage":{},"fees":{}}`
	told := map[string]bool{}
	for _, f := range rules(t).Execute(mustParse(t, body)) {
		told[f.Path] = true
	}
	for _, path := range []string{
		"id", "accounts", "originChainsOperations", "expirationTimestamp", "tamperProofSignature", "slippage.origin",
		"slippage.destination", "fees.assets", "fees.cumulativeUSD",
		"originToken.aggregatedAssetId", "originToken.amount", "originToken.assetType", "originToken.fiatValue",
		"destinationToken.aggregatedAssetId", "destinationToken.amount", "destinationToken.assetType",
		"destinationToken.fiatValue",
	} {
		if !told[path] {
			t.Errorf("nothing is told of %s", path)
		}
	}
}

func TestWhoReceivesMustBeNamedWhenItIsNotTheSender(t *testing.T) {
	body := func(accounts, from, to, account string) string {
		if account != "" {
			account = `,"account":"` + account + `"`
		}
		return fmt.Sprintf(
			`{"from":{"accounts":[%s],"asset":{"assetId":%q},"amount":"1"},"to":{"asset":{"assetId":%q}%s}}`, accounts,
			from, to, account)
	}
	sol := solanaMain + ":" + solanaKey
	for name, c := range map[string]struct{ body, path string }{
		"swap to oneself":                       {body(accKernel31, "ob:usdc", "ob:eth", ""), ""},
		"transfer to a friend":                  {body(accKernel31, "ob:usdc", "ob:usdc", "eip155:10:"+evmOther), ""},
		"transfer to nobody":                    {body(accKernel31, "ob:usdc", "ob:usdc", ""), "to.account"},
		"aggregate to its entity":               {body(accKernel31, "ob:usdc", usdcBase, ""), "to.account"},
		"from one chain to another":             {body(accKernel31, usdcOptimism, usdcBase, ""), ""},
		"to the chain where it is":              {body(accKernel31, usdcBase, usdcBase, ""), "to.account"},
		"entity to its aggregate, no recipient": {body(accKernel31, usdcBase, "ob:usdc", ""), "to.account"},
		"from one chain to Solana":              {body(accKernel31, usdcBase, usdcSolana, ""), "to.account"},
		"entity to its aggregate":               {body(accKernel31, usdcBase, "ob:usdc", "eip155:10:"+evmOwner), ""},
		"Solana to EVM without a recipient":     {body(accSolana, solanaSOL, usdcBase, ""), "to.account"},
		"Solana to EVM with a recipient":        {body(accSolana, solanaSOL, usdcBase, "eip155:8453:"+evmOther), ""},
		"EVM to Solana without an account":      {body(accKernel31, "ob:usdc", solanaSOL, ""), "to.account"},
		"EVM to SOL without an account":         {body(accKernel31, "ob:usdc", "ob:sol", ""), "to.account"},
		"EVM to SOL with one's own account":     {body(accKernel31+","+accSolana, "ob:usdc", "ob:sol", ""), ""},
		"EVM to Solana with one's own account":  {body(accKernel31+","+accSolana, "ob:usdc", solanaSOL, ""), ""},
		"EVM to a friend on Solana":             {body(accKernel31, "ob:usdc", "ob:usdc", sol), ""},
		"a chain without the asset": {body(accKernel31, "ob:usdc", "ob:sol", "eip155:1:"+evmOther),
			"to.account"},
		"Solana asset of an EVM account": {body(accKernel31, solanaSOL, usdcBase, ""), "from.asset.assetId"},
		"EVM asset of a Solana account":  {body(accSolana, usdcBase, solanaSOL, ""), "from.asset.assetId"},
	} {
		fs := rules(t).Quote(mustParse(t, c.body))
		if c.path == "" && len(fs) > 0 || c.path != "" && (len(fs) != 1 || fs[0].Path != c.path) {
			t.Errorf("%s: %v, expected a failure at %q", name, fs, c.path)
		}
	}
}

func TestV1AcceptsEveryEVMAccount(t *testing.T) {
	for name, account := range map[string]string{"no type": roleNoType, "role-based": accRole,
		"kernel 3.1": accKernel31, "kernel 3.3": accKernel33} {
		if fs := rules(t).PrepareV1(changed(t, bodies()["PrepareV1"], "/account", account)); len(fs) != 0 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

func TestAnUnsignedDestinationOperationIsAccepted(t *testing.T) {
	if fs := rules(t).ExecuteV1(changed(t, bodies()["ExecuteV1"], "/destinationChainOperation/userOp/signature",
		`"0x"`)); len(fs) != 0 {
		t.Error(fs)
	}
}

func TestRelayTakesAnOperationOfTheAdmin(t *testing.T) {
	op := mustParse(t, evmOp)
	user, _ := op.At("/userOp")
	body := fmt.Sprintf(`{"account":%s,"chain":"eip155:10","action":"operate","userOp":%s}`, accRole, user)
	if fs := rules(t).Relay(mustParse(t, body)); len(fs) != 0 {
		t.Error(fs)
	}
}

func FuzzRules(f *testing.F) {
	f.Add([]byte(prepareBody(nil)))
	f.Add([]byte(prepareBody(map[string]string{"accounts": "[" + accRole + "," + accSolana + "]",
		"overrides": `[{"address":"0x","stateDiff":{"a":1}}]`})))
	for _, b := range bodies() {
		f.Add([]byte(b))
	}
	r, sets := rules(f), ruleSets()
	f.Fuzz(func(t *testing.T, b []byte) {
		doc, err := ParseDocument(b, DefaultLimits())
		if err != nil {
			return
		}
		for name, s := range sets {
			fs := s.check(r, doc)
			if len(fs) == 0 {
				if err := doc.Decode(s.view()); err != nil {
					t.Fatalf("%s: a valid request cannot be decoded: %v", name, err)
				}
			}
			for _, f := range fs {
				if f.Expected == "" || f.Got == "" {
					t.Fatalf("%s: a failure without expected or got: %+v", name, f)
				}
			}
		}
	})
}
