package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/api/catalog"
	"coffer/assets"
)

const (
	usdcBase  = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	evmOwner  = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	evmOther  = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	evmTarget = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" // an address without an account
	solanaKey = "J5CCzBULFax899tcirb6wMbenQUd8whbaetG7EfSick5"
)

func rules(t testing.TB) Rules {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return Rules{Catalog: c, Now: time.Unix(1_800_000_000, 0)}
}

func kernel(kind, deployment string) string {
	return fmt.Sprintf(`{"type":%q,"signerAddress":%q,"accountAddress":%q%s}`, kind, evmOwner, evmOwner, deployment)
}

var (
	accKernel31 = kernel(AccountKernelV31, "")
	accKernel33 = kernel(AccountKernelV33, `,"deploymentType":"EIP7702"`)
	accRole     = fmt.Sprintf(`{"type":"role-based","sessionAddress":%q,"adminAddress":%q,"accountAddress":%q}`,
		evmOwner, evmOther, evmOther)
	accSolana = fmt.Sprintf(`{"type":"solana","accountAddress":%q}`, solanaKey)
)

// prepareBody is a valid request; members of change replace its own, an empty string leaves one out.
func prepareBody(change map[string]string) string {
	members := map[string]string{
		"accounts":       "[" + accKernel31 + "]",
		"targetChain":    `"eip155:8453"`,
		"calls":          `[{"to":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","data":"0xa9059cbb","value":"0"}]`,
		"tokensRequired": fmt.Sprintf(`[{"assetType":%q,"amount":"1"}]`, usdcBase),
	}
	for k, v := range change {
		members[k] = v
	}
	var parts []string
	for k, v := range members {
		if v != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", k, v))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestAValueOfNothingIsZero(t *testing.T) {
	for text, want := range map[string]string{"": "0", "0x": "0", "0x0": "0", "0x10": "16", "10": "10"} {
		if v, ok := ParseWei(text); !ok || v.String() != want {
			t.Errorf("%q: %v, expected %s", text, v, want)
		}
	}
	for _, text := range []string{"0X", "x", "0xg", "-1", "1e3", " 1"} {
		if v, ok := ParseWei(text); ok {
			t.Errorf("%q is taken as %v", text, v)
		}
	}
}

func TestPrepareAcceptsEveryAccountVariant(t *testing.T) {
	for name, accounts := range map[string]string{
		"kernel 3.1":            accKernel31,
		"kernel 3.1 as ERC4337": kernel(AccountKernelV31, `,"deploymentType":"ERC4337"`),
		"kernel 3.3 EIP7702":    accKernel33,
		"role-based":            accRole,
		"role-based and solana": accRole + "," + accSolana,
		"solana and kernel 3.1": accSolana + "," + accKernel31,
	} {
		if fs := rules(t).Prepare(mustParse(t, prepareBody(map[string]string{"accounts": "[" + accounts + "]"}))); len(
			fs) != 0 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

func TestPrepareAcceptsAbsentOptionalMembers(t *testing.T) {
	body := prepareBody(map[string]string{"tokensRequired": "", "calls": `[{"to":"` + evmOther + `"}]`})
	if fs := rules(t).Prepare(mustParse(t, body)); len(fs) != 0 {
		t.Fatal(fs)
	}
}

func TestNothingOfAnUnknownTokenMayBeRequired(t *testing.T) {
	body := prepareBody(map[string]string{"tokensRequired": `[{"assetType":"eip155:8453/erc20:` + evmOther +
		`","amount":"0"}]`})
	if fs := rules(t).Prepare(mustParse(t, body)); len(fs) != 0 {
		t.Fatal(fs)
	}
}

// On own nodes no asset of the catalogue has a price: what is listed there may be required, and nothing else.
func TestWithoutPricesAListedTokenMayBeRequired(t *testing.T) {
	d, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Tokens {
		d.Tokens[i].PriceMicroUSD = ""
	}
	cat, err := catalog.New(d)
	if err != nil {
		t.Fatal(err)
	}
	r := Rules{Catalog: cat, Now: rules(t).Now}
	if fs := r.Prepare(mustParse(t, prepareBody(nil))); len(fs) != 0 {
		t.Error(fs)
	}
	body := prepareBody(map[string]string{"tokensRequired": `[{"assetType":"eip155:8453/erc20:` + evmOther +
		`","amount":"1"}]`})
	if fs := r.Prepare(mustParse(t, body)); len(fs) != 1 || fs[0].Path != "tokensRequired[0].assetType" {
		t.Error(fs)
	}
}

// TestPrepareRefuses holds one broken rule a row, named after it, with the place that the answer must name.
func TestPrepareRefuses(t *testing.T) {
	many := func(n int, s string) string { return "[" + strings.TrimSuffix(strings.Repeat(s+",", n), ",") + "]" }
	call := func(data string) string { return fmt.Sprintf(`[{"to":%q,"data":%q,"value":"0"}]`, evmOther, data) }
	allow := func(s string) string { return "[" + s + "]" }
	for name, c := range map[string]struct{ member, value, path, expected string }{
		"accounts missing": {"accounts", "", "accounts", "array of accounts"},
		"zero accounts":    {"accounts", "[]", "accounts", "1 to 10"},
		"eleven accounts":  {"accounts", many(11, accKernel31), "accounts", "1 to 10"},
		"two EVM types": {"accounts", "[" + accKernel31 + "," + accRole + "]", "accounts[1].type",
			"one EVM"},
		"same type twice": {"accounts", "[" + accSolana + "," + accSolana + "]", "accounts[1].type",
			"at most once"},
		"a single Solana account": {"accounts", "[" + accSolana + "]", "accounts", "EVM account"},
		"unknown account type":    {"accounts", `[{"type":"safe"}]`, "accounts[0].type", "role-based"},
		"EIP7702 with another account type": {"accounts", "[" +
			kernel(AccountKernelV31, `,"deploymentType":"EIP7702"`) + "]", "accounts[0].deploymentType",
			"kernel-v3.3-ecdsa"},
		"kernel 3.3 without EIP7702": {"accounts", "[" + kernel(AccountKernelV33, "") + "]",
			"accounts[0].deploymentType", "EIP7702"},
		"admin equals session": {"accounts", strings.ReplaceAll("["+accRole+"]", evmOther, evmOwner),
			"accounts[0].adminAddress", "differs"},
		"address too short": {"accounts", strings.Replace("["+accKernel31+"]", evmOwner, "0x12", 1),
			"accounts[0].signerAddress", "0x address"},
		"target chain missing": {"targetChain", "", "targetChain", "CAIP-2"},
		"bad CAIP-2":           {"targetChain", `"base"`, "targetChain", "CAIP-2"},
		"unknown chain":        {"targetChain", `"eip155:5"`, "targetChain", "supported"},
		"solana as target chain": {"targetChain", `"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"`,
			"targetChain", "CAIP-2"},
		"calls empty":        {"calls", "[]", "calls", "1 to"},
		"calls is an object": {"calls", "{}", "calls", "array"},
		"hex without 0x":     {"calls", call("a9059cbb"), "calls[0].data", "starts with 0x"},
		"odd hex":            {"calls", call("0xa"), "calls[0].data", "hex"},
		"value is a number": {"calls", fmt.Sprintf(`[{"to":%q,"data":"0x","value":1}]`, evmOther),
			"calls[0].value", "string"},
		"negative value": {"calls", fmt.Sprintf(`[{"to":%q,"data":"0x","value":"-1"}]`, evmOther),
			"calls[0].value", "wei"},
		"approve passed as a call":           {"calls", call("0x095ea7b3"), "calls[0].data", "allowanceRequirements"},
		"increaseAllowance passed as a call": {"calls", call("0x39509351"), "calls[0].data", "allowanceRequirements"},
		"permit passed as a call":            {"calls", call("0xd505accf"), "calls[0].data", "allowanceRequirements"},
		"setApprovalForAll passed as a call": {"calls", call("0xA22CB465"), "calls[0].data", "allowanceRequirements"},
		"Permit2 approve passed as a call":   {"calls", call("0x87517c45"), "calls[0].data", "allowanceRequirements"},
		"ob: id in tokensRequired": {"tokensRequired", `[{"assetType":"ob:usdc","amount":"1"}]`,
			"tokensRequired[0].assetType", "Must be a valid CAIP-19 asset type"},
		"requirement off the target chain": {"tokensRequired", `[{"assetType":"eip155:1/slip44:60","amount":"1"}]`,
			"tokensRequired[0].assetType", "target chain"},
		"unknown token": {"tokensRequired",
			`[{"assetType":"eip155:8453/erc20:` + evmOther + `","amount":"1"}]`, "tokensRequired[0].assetType",
			"supported"},
		"nothing of an unknown token on another chain": {"tokensRequired",
			`[{"assetType":"eip155:10/erc20:` + evmOther + `","amount":"0"}]`, "tokensRequired[0].assetType",
			"target chain"},
		"nothing of an unknown token twice": {"tokensRequired", "[" + strings.Repeat(
			`{"assetType":"eip155:8453/erc20:`+evmOther+`","amount":"0"},`, 2) +
			fmt.Sprintf(`{"assetType":%q,"amount":"1"}]`,
				usdcBase), "tokensRequired[1].assetType", "at most once"},
		"amount is a number": {"tokensRequired", fmt.Sprintf(`[{"assetType":%q,"amount":1}]`, usdcBase),
			"tokensRequired[0].amount", "base units"},
		"amount with exponent": {"tokensRequired",
			fmt.Sprintf(`[{"assetType":%q,"amount":"1e9"}]`, usdcBase), "tokensRequired[0].amount", "base units"},
		"native allowance": {"allowanceRequirements",
			`[{"assetType":"eip155:8453/slip44:60","amount":"1","spender":"` + evmOther + `"}]`,
			"allowanceRequirements[0].assetType", "native"},
		"no single spender": {"allowanceRequirements",
			fmt.Sprintf(`[{"assetType":%q,"amount":"1"}]`, usdcBase), "allowanceRequirements[0].spender", "spender"},
		"repeated allowance": {"allowanceRequirements",
			allow(strings.Repeat(fmt.Sprintf(`{"assetType":%q,"amount":"1","spender":%q},`, usdcBase, evmOther), 2) +
				fmt.Sprintf(`{"assetType":%q,"amount":"1","spender":%q}`, usdcBase, evmOwner)),
			"allowanceRequirements[1]", "at most once"},
		"override balance not hex": {"overrides", `[{"address":"` + evmOther + `","balance":"5"}]`,
			"overrides[0].balance", "0x hex"},
		"override of nothing": {"overrides", `[{"address":"` + evmOther + `"}]`, "overrides[0].balance",
			"code or stateDiff"},
		"override of null": {"overrides", `[{"address":"` + evmOther +
			`","balance":null,"code":null,"stateDiff":null}]`, "overrides[0].balance", "code or stateDiff"},
		"override of no slot": {"overrides", `[{"address":"` + evmOther + `","stateDiff":{}}]`,
			"overrides[0].balance", "code or stateDiff"},
		"override code of another contract": {"overrides", `[{"address":"` + evmOther + `","code":"0x` +
			strings.Repeat("00", MaxCode+1) + `"}]`, "overrides[0].code", "24576 bytes"},
		"override slot without a name": {"overrides", `[{"address":"` + evmOther + `","stateDiff":{"":"0x2"}}]`,
			"overrides[0].stateDiff.", "32-byte slot"},
		"override slot not a word": {"overrides", `[{"address":"` + evmOther + `","stateDiff":{"0x1":"0x2"}}]`,
			"overrides[0].stateDiff.0x1", "32-byte"},
		"validUntil too soon":          {"validUntil", `"1800000059"`, "validUntil", "60 seconds"},
		"validAfter beyond the window": {"validAfter", `"1800000600"`, "validAfter", "10 minutes"},
		"fromAssetId unknown":          {"fromAssetId", `"ob:nothing"`, "fromAssetId", "known"},
		"slippage 0":                   {"slippageTolerance", "0", "slippageTolerance", "1 to 10000"},
		"slippage above all":           {"slippageTolerance", "10001", "slippageTolerance", "1 to 10000"},
		"slippage fraction":            {"slippageTolerance", "1.5", "slippageTolerance", "integer"},
		"slippage string":              {"slippageTolerance", `"50"`, "slippageTolerance", "integer"},
	} {
		t.Run(name, func(t *testing.T) {
			fs := rules(t).Prepare(mustParse(t, prepareBody(map[string]string{c.member: c.value})))
			for _, f := range fs {
				if f.Path == c.path && strings.Contains(f.Expected, c.expected) {
					return
				}
			}
			t.Fatalf("no failure at %s that expects %q: %v", c.path, c.expected, fs)
		})
	}
}

// slots is the stateDiff of n slots.
func slots(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`"0x%064x":"0x%064x"`, i, i)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// Overrides count what they hold, over all addresses of a request: what lies at the bound passes, one slot or byte more
// is refused with the bound.
func TestOverridesOfARequestAreBoundedTogether(t *testing.T) {
	one := func(members string) string { return `{"address":"` + evmOther + `",` + members + `}` }
	code := func(n int) string { return `"code":"0x` + strings.Repeat("00", n) + `"` }
	fourCodes := strings.Repeat(one(code(MaxCode))+",", 4)
	for name, c := range map[string]struct {
		overrides string
		got       string
	}{
		"the longest code":        {one(code(MaxCode)), ""},
		"empty code":              {one(`"code":"0x"`), ""},
		"as many slots as may be": {one(`"stateDiff":` + slots((MaxOverrides-OverrideAddress)/OverrideSlot)), ""},
		"one slot more": {one(`"stateDiff":` + slots(1+(MaxOverrides-OverrideAddress)/OverrideSlot)),
			"131092 bytes"},
		"slots of two addresses": {one(`"stateDiff":`+slots(1024)) + "," + one(`"stateDiff":`+slots(1024)),
			"131112 bytes"},
		"the bound to the byte": {fourCodes + one(code(MaxCode)) + "," +
			one(code(MaxOverrides-5*MaxCode-6*OverrideAddress)), ""},
		"one byte more": {fourCodes + one(code(MaxCode)) + "," +
			one(code(MaxOverrides-5*MaxCode-6*OverrideAddress+1)), "131073 bytes"},
		"a balance beside the code": {fourCodes + one(code(MaxCode)) + "," +
			one(`"balance":"0x1",`+code(MaxOverrides-5*MaxCode-6*OverrideAddress)), "131104 bytes"},
	} {
		fs := rules(t).Prepare(mustParse(t, prepareBody(map[string]string{"overrides": "[" + c.overrides + "]"})))
		switch {
		case c.got == "" && len(fs) > 0:
			t.Errorf("%s: %v", name, fs)
		case c.got != "" && (len(fs) != 1 || fs[0].Path != "overrides" || fs[0].Got != c.got ||
			!strings.Contains(fs[0].Expected, "131072 bytes")):
			t.Errorf("%s: %v", name, fs)
		}
	}
}

func TestValidUntilMustBeAfterValidAfter(t *testing.T) {
	body := prepareBody(map[string]string{"validAfter": `"1800000500"`, "validUntil": `"1800000500"`})
	if fs := rules(t).Prepare(mustParse(t, body)); len(fs) != 1 || fs[0].Path != "validUntil" {
		t.Fatal(fs)
	}
}

func TestEveryFailureIsListed(t *testing.T) {
	fs := rules(t).Prepare(mustParse(t,
		`{"accounts":[],"targetChain":"x","calls":[{"to":"y","data":"z"}],"slippageTolerance":0}`))
	err := NewValidationError(fs)
	for _, path := range []string{`"accounts"`, `"targetChain"`, `"calls[0].to"`, `"calls[0].data"`,
		`"slippageTolerance"`} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is missing: %v", path, err)
		}
	}
	if NewValidationError(nil) != nil {
		t.Error("no failure made an error")
	}
}

func TestSpenderIsTheOnlyOtherTarget(t *testing.T) {
	token := Call{To: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"}
	vault, other := Call{To: evmOther}, Call{To: evmOwner}
	a := AllowanceRequirement{AssetType: usdcBase, Amount: "1"}
	for name, c := range map[string]struct {
		calls []Call
		want  string
	}{
		"one":            {[]Call{vault}, strings.ToLower(evmOther)},
		"beside token":   {[]Call{token, vault}, strings.ToLower(evmOther)},
		"twice the same": {[]Call{vault, vault}, strings.ToLower(evmOther)},
		"two candidates": {[]Call{vault, other}, ""},
		"only the token": {[]Call{token}, ""},
	} {
		if got, ok := SpenderOf(a, c.calls); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	a.Spender = evmOwner
	if got, _ := SpenderOf(a, []Call{vault}); !strings.EqualFold(got, evmOwner) {
		t.Errorf("the named spender was not taken: %s", got)
	}
}

func TestPredictNeedsSignerOrBothRoles(t *testing.T) {
	r := rules(t)
	for body, want := range map[string]int{
		fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`, evmOwner, evmOther): 0,
		fmt.Sprintf(`{"type":"kernel-v3.1-ecdsa","signerAddress":%q}`, evmOwner):   0,
		fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`, evmOwner, evmOwner): 1,
		`{}`:                           2,
		`{"type":"kernel-v3.3-ecdsa"}`: 1,
		`[]`:                           1,
	} {
		if fs := r.Predict(mustParse(t, body)); len(fs) != want {
			t.Errorf("%s: %v", body, fs)
		}
	}
}
