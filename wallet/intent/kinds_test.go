package intent_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/assets"
	"coffer/wallet/intent"
)

const (
	solanaUSDC = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	solana     = "J5CCzBULFax899tcirb6wMbenQUd8whbaetG7EfSick5"
	arbUSDC    = "eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831"
	baseETH    = "eip155:8453/slip44:60"
)

func kernel() api.Account {
	return api.Account{Type: api.AccountKernelV31, SignerAddress: "0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72",
		AccountAddress: "0x0000000000000000000000000000000000000001"}
}

func solanaAccount() api.Account {
	return api.Account{Type: api.AccountSolana, AccountAddress: solana}
}

func swap() intent.Draft {
	return intent.Draft{
		Version: 1, Kind: intent.KindSwap, Network: "0x" + strings.Repeat("a", 64), Accounts: []api.Account{kernel()},
		Pay: &intent.Pay{Asset: "ob:usdc", Amount: "5000000"}, Receive: &intent.Receive{Asset: baseETH},
	}
}

func transfer() intent.Draft {
	d := swap()
	d.Kind = intent.KindTransfer
	d.Receive = &intent.Receive{Asset: arbUSDC, Account: "eip155:42161:" + to, Minimum: "4900000"}
	return d
}

func v1(d intent.Draft) intent.Draft {
	d.Interface = intent.InterfaceV1
	return d
}

// withAll has every member that a call can have.
func withAll() intent.Draft {
	return intent.Draft{
		Version: 1, Network: "0x" + strings.Repeat("0123456789abcdef", 4), TargetChain: "eip155:42161", SlippageBps: 50,
		FundWith:   "ob:usdc",
		ValidAfter: "1760000000", ValidUntil: "1760003600",
		Accounts: []api.Account{
			{Type: api.AccountRoleBased, SessionAddress: "0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72",
				AdminAddress:   "0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0",
				AccountAddress: "0x0000000000000000000000000000000000000002"},
			solanaAccount(),
		},
		Calls: []intent.Call{{To: "0x1111111111111111111111111111111111111111", Data: "0xd0e30db0",
			Function: "deposit()"}},
		TokensRequired: []api.TokenRequirement{{AssetType: strings.ToLower(arbUSDC), Amount: "7"}},
		Allowances: []api.AllowanceRequirement{{AssetType: strings.ToLower(arbUSDC), Amount: "7",
			Spender: "0x1111111111111111111111111111111111111111"}},
	}
}

// TestHashesOfOlderFilesStay holds the hashes that these files had before there were kinds and interfaces.
func TestHashesOfOlderFilesStay(t *testing.T) {
	older := draft()
	older.SlippageBps = 200 // the default of then, written into the file
	for name, c := range map[string]struct {
		hash  string
		draft intent.Draft
	}{
		"call": {"f707e653ceb63288d27c62fce0dfc5b25ca33f1ecabe0a377c6af71b788c9d02", older},
		"full": {"356d3ce2026906c330ffcdaea4086a591b9008b8f5c7fbac04555bde696468e4", withAll()},
	} {
		file, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		i, err := intent.Parse(file, rules(t))
		if err != nil {
			t.Fatal(name, err)
		}
		j := freeze(t, c.draft)
		if a, b := i.Hash(), j.Hash(); hex.EncodeToString(a[:]) != c.hash || a != b {
			t.Errorf("%s: the file has %x, the draft %x, before it was %s", name, a, b, c.hash)
		}
		if again, err := json.Marshal(i); err != nil || string(again) != strings.TrimSpace(string(file)) {
			t.Errorf("%s is written differently: %s", name, again)
		}
	}
}

func TestOneIntentHasOneHash(t *testing.T) {
	d := draft()
	d.Kind, d.Interface = intent.KindCall, intent.InterfaceV3
	if i := freeze(t, d); i.Hash() != freeze(t, draft()).Hash() || i.Kind() != intent.KindCall || i.V1() {
		t.Error("a call that says so is another intent")
	}
	untyped, typed := v1(draft()), v1(draft())
	role := api.Account{SessionAddress: kernel().SignerAddress, AdminAddress: to,
		AccountAddress: kernel().AccountAddress}
	untyped.Accounts = []api.Account{role}
	role.Type = api.AccountRoleBased
	typed.Accounts = []api.Account{role}
	if i := freeze(t, untyped); i.Hash() != freeze(t, typed).Hash() || i.Draft().Accounts[0] != role {
		t.Error("an account without a type is not the role-based one of v1")
	}
	seen := map[[32]byte]string{}
	least := swap()
	least.Receive.Minimum = "1"
	paid := swap()
	paid.Pay.Amount = "5000001"
	for name, d := range map[string]intent.Draft{"call": draft(), "v1": v1(draft()), "swap": swap(),
		"swap v1": v1(swap()), "transfer": transfer(), "minimum": least, "amount": paid} {
		h := freeze(t, d).Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestACallForV1HasTheBodyOfV1(t *testing.T) {
	d := v1(draft())
	d.FundWith = "ob:eth"
	i := freeze(t, d)
	var body map[string]json.RawMessage
	if err := json.Unmarshal(i.PrepareBody(), &body); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"account": true, "accounts": false, "fromAssetId": false,
		"fromAggregatedAssetId": false, "tokensRequired": true, "slippageTolerance": true} {
		if _, ok := body[name]; ok != want {
			t.Errorf("%s: %v in %s", name, ok, i.PrepareBody())
		}
	}
	if !i.V1() || i.QuoteBody() != nil || i.Funding() != "ob:eth" || i.ChainID() != 8453 {
		t.Error(i.Funding(), i.ChainID())
	}
	d.FundWith, d.TokensRequired = "", nil
	if !strings.Contains(string(freeze(t, d).PrepareBody()), `"tokensRequired":[]`) {
		t.Error("v1 wants a list of requirements, even an empty one")
	}
}

func TestASwapHasAQuoteBodyAndNothingOfACall(t *testing.T) {
	i := freeze(t, swap())
	want :=
		`{"from":{"accounts":[{"type":"kernel-v3.1-ecdsa",` +
			`"signerAddress":"0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72",` +
			`"accountAddress":"0x0000000000000000000000000000000000000001"}],` +
			`"asset":{"assetId":"ob:usdc"},"amount":"5000000"},"to":{"asset":{"assetId":"eip155:8453/slip44:60"}},` +
			`"slippageTolerance":50}`
	if string(i.QuoteBody()) != want {
		t.Errorf("%s", i.QuoteBody())
	}
	if i.PrepareBody() != nil || i.Kind() != intent.KindSwap || i.Funding() != "ob:usdc" || i.ChainID() != 0 ||
		i.IsZero() {
		t.Errorf("%s %s %d", i.Kind(), i.Funding(), i.ChainID())
	}
	body := i.QuoteBody()
	body[0] = 'x'
	got := i.Draft()
	got.Pay.Amount, got.Receive.Asset = "1", "ob:dai"
	if i.QuoteBody()[0] != '{' || i.Draft().Pay.Amount != "5000000" || i.Draft().Receive.Asset != baseETH {
		t.Error("a copy reaches inside")
	}
	want = strings.Replace(strings.Replace(want, `"accounts":[`, `"account":`, 1), `}],"asset"`, `},"asset"`, 1)
	if one := freeze(t, v1(swap())); string(one.QuoteBody()) != want {
		t.Errorf("%s", one.QuoteBody())
	}
}

func TestATransferNamesWhoReceives(t *testing.T) {
	i := freeze(t, transfer())
	if !strings.Contains(string(i.QuoteBody()), `"to":{"asset":{"assetId":"`+arbUSDC+`"},"account":"eip155:42161:`+to+
		`"}`) || i.Kind() != intent.KindTransfer {
		t.Errorf("%s", i.QuoteBody())
	}
	if strings.Contains(string(i.QuoteBody()), "4900000") {
		t.Error("the minimum is ours and no member of the request")
	}
	d := transfer()
	d.Receive.Account = ""
	if got := paths(t, d, rules(t)); !slices.Equal(got, []string{"receive.account"}) {
		t.Error(got)
	}
}

func TestASolanaAccountPaysForASwapAlone(t *testing.T) {
	d := swap()
	d.Accounts = []api.Account{solanaAccount()}
	d.Pay, d.Receive = &intent.Pay{Asset: solanaUSDC, Amount: "1"},
		&intent.Receive{Asset: "ob:eth", Account: "eip155:8453:" + to}
	i := freeze(t, d)
	a, ok := i.SolanaAccount()
	if !ok || a != solanaAccount() || i.Account() != [20]byte{} {
		t.Error(a, ok)
	}
	if _, ok := i.EVMAccount(); ok {
		t.Error("it has an EVM account")
	}
	if _, ok := freeze(t, swap()).SolanaAccount(); ok {
		t.Error("a swap of an EVM account has a Solana account")
	}
}

// paths freezes a broken draft and returns the places of its failures, in order and each once.
func paths(t *testing.T, d intent.Draft, r api.Rules) []string {
	t.Helper()
	_, err := intent.Freeze(d, r)
	var e *intent.Error
	if !errors.As(err, &e) {
		t.Fatalf("not refused: %v", err)
	}
	var out []string
	for _, f := range e.Failures {
		if f.Expected == "" || f.Got == "" {
			t.Errorf("a failure without expected or got: %+v", f)
		}
		out = append(out, f.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEveryRuleOfAKindIsCheckedAtItsPlace(t *testing.T) {
	call, exchange := draft, swap
	for name, c := range map[string]struct {
		draft  func() intent.Draft
		change func(d *intent.Draft)
		want   string
	}{
		"unknown kind":         {call, func(d *intent.Draft) { d.Kind = "bridge" }, "kind"},
		"unknown interface":    {call, func(d *intent.Draft) { d.Interface = "v2" }, "interface"},
		"a call that pays":     {call, func(d *intent.Draft) { d.Pay = exchange().Pay }, "pay"},
		"a call that receives": {call, func(d *intent.Draft) { d.Receive = exchange().Receive }, "receive"},
		"a call without calls": {call, func(d *intent.Draft) { d.Calls = nil }, "calls"},
		"a call without a chain": {call, func(d *intent.Draft) { d.TargetChain, d.TokensRequired = "", nil },
			"targetChain"},
		"asset with a wrong checksum": {call,
			func(d *intent.Draft) { d.TokensRequired[0].AssetType = strings.Replace(usdc, "fcd6", "fcD6", 1) },
			"tokensRequired[0].assetType"},
		"allowance with a wrong checksum": {withAll, func(d *intent.Draft) {
			d.Allowances[0].AssetType = strings.Replace(strings.ToLower(arbUSDC), "af88", "aF88", 1)
		}, "allowanceRequirements[0].assetType"},
		"funding with a wrong checksum": {call,
			func(d *intent.Draft) { d.FundWith = strings.Replace(usdc, "fcd6", "fcD6", 1) }, "fromAssetId"},
		"v1 without accounts": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.Accounts = nil }, "accounts"},
		"v1 with two accounts": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.Accounts = append(d.Accounts, solanaAccount()) }, "accounts"},
		"v1 with a Solana account": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.Accounts[0] = solanaAccount() }, "accounts[0].type"},
		"v1 with a broken account": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.Accounts[0].SignerAddress = "0x" }, "accounts[0].signerAddress"},
		"v1 funded with one asset": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.FundWith = usdc }, "fundWith"},
		"v1 funded with nobody's asset": {func() intent.Draft { return v1(call()) },
			func(d *intent.Draft) { d.FundWith = "ob:nothing" }, "fundWith"},
		"swap without accounts": {exchange, func(d *intent.Draft) { d.Accounts = nil }, "accounts"},
		"swap for v1 without accounts": {func() intent.Draft { return v1(exchange()) },
			func(d *intent.Draft) { d.Accounts = nil }, "accounts"},
		"swap for v1 from Solana": {func() intent.Draft { return v1(exchange()) },
			func(d *intent.Draft) { d.Pay.Asset = solanaUSDC }, "pay.asset"},
		"swap without pay":     {exchange, func(d *intent.Draft) { d.Pay = nil }, "pay"},
		"swap without receive": {exchange, func(d *intent.Draft) { d.Receive = nil }, "receive"},
		"swap with a chain": {exchange, func(d *intent.Draft) { d.TargetChain = "eip155:1" },
			"targetChain"},
		"swap with calls": {exchange, func(d *intent.Draft) { d.Calls = call().Calls[1:] }, "calls"},
		"swap with requirements": {exchange,
			func(d *intent.Draft) { d.TokensRequired = call().TokensRequired }, "tokensRequired"},
		"swap with allowances": {exchange, func(d *intent.Draft) { d.Allowances = withAll().Allowances },
			"allowances"},
		"swap with funding": {exchange, func(d *intent.Draft) { d.FundWith = "ob:usdc" }, "fundWith"},
		"swap from a time on": {exchange, func(d *intent.Draft) { d.ValidAfter = "1760000000" },
			"validAfter"},
		"swap until a time": {exchange, func(d *intent.Draft) { d.ValidUntil = "1760003600" },
			"validUntil"},
		"swap with overrides": {exchange, func(d *intent.Draft) { d.Overrides = call().Overrides },
			"overrides"},
		"swap of nothing":    {exchange, func(d *intent.Draft) { d.Pay.Amount = "0" }, "pay.amount"},
		"swap of a fraction": {exchange, func(d *intent.Draft) { d.Pay.Amount = "1.5" }, "pay.amount"},
		"swap of an unknown asset": {exchange, func(d *intent.Draft) { d.Pay.Asset = "ob:nothing" },
			"pay.asset"},
		"swap to an unknown asset": {exchange, func(d *intent.Draft) { d.Receive.Asset = "usdc" },
			"receive.asset"},
		"swap of another chain's asset": {exchange, func(d *intent.Draft) { d.Pay.Asset = solanaUSDC }, "pay.asset"},
		"swap to another chain's account": {exchange, func(d *intent.Draft) { d.Receive.Account = "eip155:1:" + to },
			"receive.account"},
		"swap to no account": {exchange, func(d *intent.Draft) { d.Receive.Account = to },
			"receive.account"},
		"swap with too much slippage": {exchange, func(d *intent.Draft) { d.SlippageBps = 10_001 },
			"slippageTolerance"},
		"minimum of zero": {exchange, func(d *intent.Draft) { d.Receive.Minimum = "0" },
			"receive.minimum"},
		"minimum that is no number": {exchange, func(d *intent.Draft) { d.Receive.Minimum = "1e3" },
			"receive.minimum"},
		"minimum beyond every amount": {exchange,
			func(d *intent.Draft) { d.Receive.Minimum = strings.Repeat("9", 78) }, "receive.minimum"},
		"swap of one asset": {exchange, func(d *intent.Draft) { d.Receive = transfer().Receive }, "kind"},
		"transfer of two assets": {transfer,
			func(d *intent.Draft) { d.Receive.Asset = "eip155:42161/slip44:60" }, "kind"},
		"paid asset, wrong checksum": {exchange,
			func(d *intent.Draft) { d.Pay.Asset = strings.Replace(usdc, "fcd6", "fcD6", 1) }, "pay.asset"},
		"received asset, wrong checksum": {transfer,
			func(d *intent.Draft) { d.Receive.Asset = strings.Replace(arbUSDC, "af88", "Af88", 1) }, "receive.asset"},
		"receiving account, one letter": {transfer, func(d *intent.Draft) {
			d.Receive.Account = "eip155:42161:" +
				strings.Replace(to, "DBD", "dBD", 1)
		}, "receive.account"},
		"receiving account, all upper": {transfer, func(d *intent.Draft) {
			d.Receive.Account = "eip155:42161:0x" +
				strings.ToUpper(to[2:])
		}, "receive.account"},
		"signer of a swap, wrong checksum": {exchange, func(d *intent.Draft) {
			d.Accounts[0].SignerAddress = strings.Replace(d.Accounts[0].SignerAddress, "A4986", "a4986", 1)
		}, "accounts[0].signerAddress"},
	} {
		d := c.draft()
		freeze(t, d)
		c.change(&d)
		if got := paths(t, d, rules(t)); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: refused at %v, expected at %s", name, got, c.want)
		}
	}
}

func TestAllFailuresOfASwapAreListed(t *testing.T) {
	d := intent.Draft{Kind: intent.KindTransfer, Interface: "v9", TargetChain: "x", Calls: []intent.Call{{}},
		Pay: &intent.Pay{}, Receive: &intent.Receive{Account: "x", Minimum: "-1"}, SlippageBps: -1}
	want := []string{"accounts", "calls", "interface", "network", "pay.amount", "pay.asset", "receive.account",
		"receive.asset", "receive.minimum", "slippageTolerance", "targetChain", "version"}
	if got := paths(t, d, rules(t)); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestALowerCaseAccountReceives(t *testing.T) {
	d := transfer()
	d.Receive.Account = strings.ToLower(d.Receive.Account)
	freeze(t, d)
	d.Receive = &intent.Receive{Asset: solanaUSDC, Account: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + solana}
	freeze(t, d)
}

// TestAMinimumNeedsOneUnit: base units of an asset with other decimals on another chain protect nobody.
func TestAMinimumNeedsOneUnit(t *testing.T) {
	data, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range data.Tokens {
		if k.AggregatedAssetID == "ob:weth" {
			k.AggregatedEntities[0].Decimals = new(8)
		}
	}
	c, err := catalog.New(data)
	if err != nil {
		t.Fatal(err)
	}
	r := rules(t)
	r.Catalog = c
	d := swap()
	d.Receive = &intent.Receive{Asset: "ob:weth", Minimum: "1"}
	if got := paths(t, d, r); !slices.Equal(got, []string{"receive.minimum"}) {
		t.Error(got)
	}
	if _, err := intent.Freeze(d, rules(t)); err != nil {
		t.Error("one unit everywhere:", err)
	}
	d.Receive.Account = "eip155:8453:" + to
	if _, err := intent.Freeze(d, r); err != nil {
		t.Error("the account's chain tells the unit:", err)
	}
	d.Receive = &intent.Receive{Asset: "eip155:8453/erc20:0x4200000000000000000000000000000000000006", Minimum: "1"}
	if _, err := intent.Freeze(d, r); err != nil {
		t.Error("the asset tells the unit:", err)
	}
}

func TestKindsRoundTripThroughTheirFiles(t *testing.T) {
	for name, d := range map[string]intent.Draft{"call": draft(), "all": withAll(), "v1": v1(draft()), "swap": swap(),
		"swap v1": v1(swap()), "transfer": transfer()} {
		i := freeze(t, d)
		b, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		j, err := intent.Parse(b, rules(t))
		if err != nil || j.Hash() != i.Hash() || !reflect.DeepEqual(j.Draft(), i.Draft()) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(string(b), `"targetChain":""`) || strings.Contains(string(b), `"calls":[]`) {
			t.Errorf("%s: members of another kind: %s", name, b)
		}
	}
}

func TestTextThatJSONCannotCarryIsRefused(t *testing.T) {
	d := swap()
	d.Receive.Account = "\xff"
	if got := paths(t, d, rules(t)); !slices.Equal(got, []string{""}) {
		t.Error(got)
	}
}
