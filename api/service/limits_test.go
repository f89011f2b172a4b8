package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// bothVersions runs a test with a client of v1 and one of v3, each of its own service.
func bothVersions(t *testing.T, kind string, test func(t *testing.T, c *client)) {
	t.Helper()
	for _, v1 := range []bool{true, false} {
		t.Run(map[bool]string{true: "v1", false: "v3"}[v1], func(t *testing.T) {
			c := newClient(t, open(t, options(storetest.New(t))), kind, 9)
			c.v1 = v1
			test(t, c)
		})
	}
}

// put replaces or adds a value of a body.
func (c *client) put(body, at, value string) string {
	c.t.Helper()
	doc, err := api.ParseDocument([]byte(body), api.DefaultLimits())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(c.splice(doc, at, value).Raw())
}

// invalid posts a body that breaks a rule: the answer is a validation failure that names each place with what was
// expected there and what was found, in its details and in its message.
func (c *client) invalid(path, body, expected string, places ...string) {
	c.t.Helper()
	status, raw := c.send("POST", path, body)
	c.isInvalid(path, status, raw, expected, places...)
}

func (c *client) isInvalid(path string, status int, raw []byte, expected string, places ...string) {
	c.t.Helper()
	var e api.Error
	if err := json.Unmarshal(raw, &e); err != nil || status != 400 || e.Name != api.ErrValidation ||
		e.StatusCode != 400 {
		c.t.Errorf("%s: %v %d %s", path, err, status, raw)
		return
	}
	for _, place := range places {
		found := false
		for _, d := range e.Details {
			found = found || d.Path == place && strings.Contains(d.Expected, expected) && d.Got != ""
		}
		if !found || !strings.Contains(e.Message, `"`+place+`"`) {
			c.t.Errorf("%s: no failure at %s that expects %q: %s", path, place, expected, raw)
		}
	}
}

// denied posts a body that must be answered with an error of a name.
func (c *client) denied(path, body, name string) *api.Error {
	c.t.Helper()
	status, raw := c.send("POST", path, body)
	var e api.Error
	if err := json.Unmarshal(raw, &e); err != nil || e.Name != name || status != named()[name] ||
		e.StatusCode != status || e.Message == "" {
		c.t.Errorf("%s: %v %d %s, expected %s", path, err, status, raw, name)
	}
	return &e
}

func TestHexWithout0xIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/calls/0/data", `"a9059cbb"`), "starts with 0x",
			"calls[0].data")
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/calls/0/to", `"833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"`),
			"0x", "calls[0].to")
	})
}

func TestEIP7702WithAnotherAccountTypeIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		at := c.pick("account", "accounts/0")
		place := c.pick("account.deploymentType", "accounts[0].deploymentType")
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/"+at+"/deploymentType", `"EIP7702"`), "kernel-v3.3-ecdsa",
			place)
		c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", ""), "/from/"+at+"/deploymentType",
			`"EIP7702"`), "kernel-v3.3-ecdsa", "from."+place)
	})
}

func approval(t *testing.T, selector string) {
	t.Helper()
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		data := fmt.Sprintf(`"0x%s%064x%064x"`, selector, 1, 1)
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/calls/0/data", data), "allowanceRequirements",
			"calls[0].data")
	})
}

func TestApprovePassedAsACallIsRefused(t *testing.T)           { approval(t, "095ea7b3") }
func TestIncreaseAllowancePassedAsACallIsRefused(t *testing.T) { approval(t, "39509351") }
func TestPermitPassedAsACallIsRefused(t *testing.T)            { approval(t, "d505accf") }
func TestSetApprovalForAllPassedAsACallIsRefused(t *testing.T) { approval(t, "a22cb465") }

func TestAnAggregateInTokensRequiredIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/tokensRequired/0/assetType", `"ob:usdc"`),
			"Must be a valid CAIP-19 asset type", "tokensRequired[0].assetType")
	})
}

// A requirement of nothing of a token that the catalogue does not have changes nothing: neither what pays, nor what is
// delivered, nor whether the call runs. Of more than nothing it is refused.
func TestS2_NothingOfAnUnlistedTokenIsRequiredWithoutEffect(t *testing.T) {
	const unlisted = "eip155:8453/erc20:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
	nothing := `{"assetType":"` + unlisted + `","amount":"0"}`
	usdc := `{"assetType":"eip155:8453/erc20:` + baseUSDC + `","amount":"300000000"}`
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		for _, x := range []struct{ required, from, named, amount, callType, pays, delivers, delivered string }{
			{nothing, "", unlisted, "0", api.CallSameChainExcludeSolver, "ob:eth", "ETH", "0"},
			{nothing + "," + usdc, c.pick("ob:usdc", ""), unlisted, "0", api.CallCrossChain, "ob:usdc", "USDC",
				"300000000"},
			{usdc + "," + nothing, c.pick("ob:usdc", ""), "eip155:8453/erc20:" + strings.ToLower(baseUSDC), "300000000",
				api.CallCrossChain, "ob:usdc", "USDC", "300000000"},
		} {
			body := c.put(c.transfer(300_000_000), "/tokensRequired", "["+x.required+"]")
			if x.delivered == "0" {
				body = c.put(c.transfer(1), "/tokensRequired", "["+x.required+"]")
			}
			prepared := c.prepare(body)
			var p api.PrepareResponse
			if err := json.Unmarshal(prepared.Raw(), &p); err != nil {
				t.Fatal(err)
			}
			if o := p.ChainOperation; o.AssetType != x.named || o.Amount != x.amount || p.CallType != x.callType {
				t.Errorf("[%s]: prepared as %s of %s, %s", x.required, o.Amount, o.AssetType, p.CallType)
			}
			offer := c.ask("POST", c.callQuotePath(), c.callQuoteBody(c.sign(prepared, "/chainOperation"), x.from))
			var q api.Quote
			if err := json.Unmarshal(offer.Raw(), &q); err != nil {
				t.Fatal(err)
			}
			d := q.DestinationToken
			if q.OriginToken.AggregatedAssetID != x.pays || d.Symbol != x.delivers || d.Amount != x.delivered {
				t.Errorf("[%s]: %s pays for %s %s", x.required, q.OriginToken.AggregatedAssetID, d.Amount, d.Symbol)
			}
			signed, id := c.signAll(offer)
			if got := c.finish(signed, id); got.Status != api.StatusCompleted {
				t.Errorf("[%s]: %+v", x.required, got)
			}
		}
		for _, bad := range []string{strings.Replace(nothing, `"0"`, `"1"`, 1), nothing + "," + nothing} {
			list := strings.Split(bad, "},")
			c.invalid(c.preparePath(), c.put(c.transfer(1), "/tokensRequired", "["+bad+"]"),
				[]string{"", "a supported asset with a known price, or amount 0", "at most once"}[len(list)],
				fmt.Sprintf("tokensRequired[%d].assetType", len(list)-1))
		}
	})
}

func TestBadCAIPIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		for _, bad := range []string{`"base"`, `"eip155"`, `"eip155:x"`, `"EIP155:8453"`, `""`, `8453`, `null`} {
			c.invalid(c.preparePath(), c.put(c.transfer(1), "/targetChain", bad), "CAIP-2", "targetChain")
		}
		for _, bad := range []string{`"eip155:8453"`, `"eip155:8453/erc20"`, `"eip155:8453/erc20:0x12"`, `"USDC"`,
			`7`} {
			c.invalid(c.preparePath(), c.put(c.transfer(1), "/tokensRequired/0/assetType", bad), "CAIP-19",
				"tokensRequired[0].assetType")
		}
		for _, bad := range []string{`"` + recipient + `"`, `"eip155:10/` + recipient + `"`, `"eip155:10:0x12"`} {
			c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", "x"), "/to/account", bad), "CAIP-10",
				"to.account")
		}
		status, raw := c.send("GET",
			"/v3/balances/aggregated-balance?account=me&aggregatedAssetId=ob:usdc&assetId=usdc", "")
		c.isInvalid("balances", status, raw, "CAIP-10", "account[0]")
		c.isInvalid("balances", status, raw, "/assets/list", "assetId[0]")
	})
}

func TestOverridesOfNothingOrBeyondTheirBoundsAreRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		with := func(members string) string {
			return c.put(c.transfer(1), "/overrides", fmt.Sprintf(`[{"address":%q%s}]`, recipient, members))
		}
		code := func(bytes int) string { return `,"code":"0x` + strings.Repeat("00", bytes) + `"` }
		slots := make([]string, 2048)
		for i := range slots {
			slots[i] = fmt.Sprintf(`"0x%064x":"0x%064x"`, i, i)
		}
		for _, members := range []string{"", `,"balance":null`, `,"stateDiff":{}`} {
			c.invalid(c.preparePath(), with(members), "something to override", "overrides[0].balance")
		}
		c.invalid(c.preparePath(), with(code(api.MaxCode+1)), "24576 bytes", "overrides[0].code")
		c.invalid(c.preparePath(), with(`,"stateDiff":{`+strings.Join(slots, ",")+`}`), "131072 bytes", "overrides")
		for _, members := range []string{`,"balance":"0x0"`, code(api.MaxCode),
			`,"stateDiff":{` + strings.Join(slots[:2047], ",") + `}`} {
			c.prepare(with(members))
		}
	})
}

func TestZeroAccountsAreRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	c.invalid(c.preparePath(), c.put(c.transfer(1), "/accounts", "[]"), "1 to 10", "accounts")
	c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", ""), "/from/accounts", "[]"), "1 to 10",
		"from.accounts")
	for _, path := range []string{c.callQuotePath(), c.executePath()} {
		c.invalid(path, `{"accounts":[]}`, "1 to 10", "accounts")
	}
	c.v1 = true
	for _, path := range []string{c.preparePath(), c.callQuotePath(), c.executePath()} {
		c.invalid(path, `{}`, "an object", "account")
	}
	c.invalid(c.quotePath(), `{"from":{}}`, "an object", "from.account")
}

func TestElevenAccountsAreRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	eleven := "[" + strings.TrimSuffix(strings.Repeat(c.json(c.user.Account)+",", 11), ",") + "]"
	c.invalid(c.preparePath(), c.put(c.transfer(1), "/accounts", eleven), "1 to 10", "accounts")
	c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", ""), "/from/accounts", eleven), "1 to 10",
		"from.accounts")
	for _, path := range []string{c.callQuotePath(), c.executePath()} {
		c.invalid(path, `{"accounts":`+eleven+`}`, "1 to 10", "accounts")
	}
}

func TestTwoEVMAccountTypesAreRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	two := "[" + c.json(c.user.Account) + "," + c.json(settletest.NewUserOf(c.s.Network().Pins, api.AccountRoleBased,
		3).Account) + "]"
	c.invalid(c.preparePath(), c.put(c.transfer(1), "/accounts", two), "one EVM account", "accounts[1].type")
	c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", ""), "/from/accounts", two), "one EVM account",
		"from.accounts[1].type")
	for _, path := range []string{c.callQuotePath(), c.executePath()} {
		c.invalid(path, `{"accounts":`+two+`}`, "one EVM account", "accounts[1].type")
	}
}

func TestAnAccountTypeTwiceIsRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountSolana, 9)
	twice := strings.Repeat(c.json(c.user.Accounts()[0])+",", 2)
	c.invalid(c.quotePath(), c.put(c.swap("ob:sol", "1", "ob:eth", ""), "/from/accounts",
		"["+strings.TrimSuffix(twice, ",")+"]"), "at most once", "from.accounts[1].type")
}

func TestSlippageZeroIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		for _, bad := range []string{"0", "-1", "10001", "1.5", `"50"`, "1.015e2", "1e9"} {
			c.invalid(c.preparePath(), c.put(c.transfer(1), "/slippageTolerance", bad), "1 to 10000",
				"slippageTolerance")
			c.invalid(c.callQuotePath(), `{"slippageTolerance":`+bad+`}`, "1 to 10000", "slippageTolerance")
			c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", "ob:eth", ""), "/slippageTolerance", bad),
				"1 to 10000", "slippageTolerance")
		}
	})
}

func TestEmptyCallsAreRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/calls", "[]"), "1 to", "calls")
	})
}

func TestAnUnknownChainIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		c.invalid(c.preparePath(), c.put(c.transfer(1), "/targetChain", `"eip155:57"`), "a supported chain",
			"targetChain")
		c.invalid(c.quotePath(), c.swap("ob:usdc", "1", "ob:usdc", "eip155:57:"+recipient), "a supported chain",
			"to.account")
	})
}

func TestSolanaIsNoTargetChain(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31+settletest.WithSolana, 9)
	c.invalid(c.preparePath(), c.put(c.transfer(1), "/targetChain", `"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"`),
		"CAIP-2", "targetChain")
}

func TestSolanaInV1IsRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	c.v1 = true
	solana := c.json(settletest.NewUserOf(c.s.Network().Pins, api.AccountSolana, 3).Accounts()[0])
	c.invalid(c.preparePath(), c.put(c.transfer(1), "/account", solana), "Solana needs v3", "account.type")
	c.invalid(c.quotePath(), c.put(c.swap("ob:usdc", "1", solSOL, ""), "/from/account", solana), "Solana needs v3",
		"from.account.type", "to.asset.assetId")
}

func TestASingleSolanaAccountInPrepareIsRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountSolana, 9)
	c.invalid(c.preparePath(), c.transfer(1), "EVM account", "accounts")
}

func TestNeitherAggregatedAssetIDNorAssetIDIsRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	status, raw := c.send("GET", "/v3/balances/aggregated-balance?account=eip155:1:"+account, "")
	c.isInvalid("balances", status, raw, "aggregatedAssetId or assetId", "aggregatedAssetId")
}

func TestAHistoryLimitBelowOneIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		for _, bad := range []string{"0", "-1", "x", "1.5"} {
			status, raw := c.send("GET", c.statusPath()+"/get-tx-history?user="+account+"&limit="+bad, "")
			c.isInvalid("history", status, raw, "from 1", "limit")
		}
		status, raw := c.send("GET", c.statusPath()+"/get-tx-history?user=me&sortBy=amount", "")
		c.isInvalid("history", status, raw, "EVM or Solana", "user")
		c.isInvalid("history", status, raw, "createdAt", "sortBy")
	})
}

func TestEveryFailureIsListedAsPathExpectedGot(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		who, place := c.pick(`"account":{"type":"safe"}`, `"accounts":[{"type":"safe"}]`),
			c.pick("account.type", "accounts[0].type")
		body := `{` + who +
			`,"targetChain":"eip155:57","calls":[{"to":"x","data":"y","value":"z"}],` +
			`"tokensRequired":[{"assetType":"ob:usdc","amount":"-1"}],"slippageTolerance":0}`
		c.invalid(c.preparePath(), body, "", place, "targetChain", "calls[0].to", "calls[0].data", "calls[0].value",
			"tokensRequired[0].assetType", "tokensRequired[0].amount", "slippageTolerance")
		c.invalid(c.callQuotePath(), `{}`, "", c.pick("account", "accounts"), "chainOperation", "tamperProofSignature")
		c.invalid(c.executePath(), `{}`, "", c.pick("account", "accounts"), "id", "originChainsOperations",
			"originToken", "destinationToken", "expirationTimestamp", "tamperProofSignature")
		c.invalid(c.quotePath(), `{}`, "", "from", "to")
	})
}

// late opens a service whose clock the test moves.
func late(t *testing.T) (*service.Service, *time.Time) {
	now := time.Unix(1_760_000_000, 0)
	o := options(storetest.New(t))
	o.Clock = func() time.Time { return now }
	return open(t, o), &now
}

func TestAnUnknownPathIsNotFound(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	for _, path := range []string{"/", "/nothing", "/quotes/swap-quote", "/v2/quote"} {
		c.denied(path, "{}", api.ErrNotFound)
	}
}

func TestAnotherContentTypeIsUnsupportedMediaType(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 9)
	for _, e := range everyEndpoint(t) {
		if e.Method != "POST" {
			continue
		}
		r := request(t, t.Context(), "POST", "https://x/api"+e.Path, "a=b")
		r.Header.Set("x-api-key", key)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := c.rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != 415 {
			t.Errorf("%s: %d", e.Path, res.StatusCode)
		}
	}
}
