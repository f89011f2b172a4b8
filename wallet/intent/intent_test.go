package intent_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

const (
	usdc = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	to   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
)

func rules(t testing.TB) api.Rules {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return api.Rules{Catalog: c, Now: time.Unix(1_760_000_000, 0)}
}

func draft() intent.Draft {
	return intent.Draft{
		Version: 1, Network: "0x" + strings.Repeat("a", 64), TargetChain: "eip155:8453",
		Accounts: []api.Account{{Type: api.AccountKernelV31,
			SignerAddress:  "0xcd75e991A4986A4E96042BFB3F6a7AB26F7b5B72",
			AccountAddress: "0x0000000000000000000000000000000000000001"}},
		Calls:          []intent.Call{{To: to, Value: "1", Function: "pay()"}, {To: to, Data: "0x01"}},
		TokensRequired: []api.TokenRequirement{{AssetType: usdc, Amount: "5"}},
		Overrides: []api.StateOverride{{Address: to,
			StateDiff: map[string]string{"0x" + strings.Repeat("0", 64): "0x" + strings.Repeat("1", 64)}}},
	}
}

func freeze(t testing.TB, d intent.Draft) intent.Intent {
	t.Helper()
	i, err := intent.Freeze(d, rules(t))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestAnIntentIsImmutable(t *testing.T) {
	d := draft()
	i := freeze(t, d)
	before := i.Hash()
	d.Calls[0].To, d.Accounts[0].AccountAddress, d.TokensRequired[0].Amount = "0x0", "0x0", "9"
	for k := range d.Overrides[0].StateDiff {
		d.Overrides[0].StateDiff[k] = "0x"
	}
	got := i.Draft()
	got.Calls[1].Data = "0xff"
	body := i.PrepareBody()
	body[0] = 'x'
	if again := freeze(t, draft()); again.Hash() != before || i.Draft().Calls[1].Data != "0x01" ||
		i.PrepareBody()[0] != '{' || i.Draft().Calls[0].To != to {
		t.Fatal("a copy reaches inside")
	}
}

func TestTheJSONFormRoundTripsAndIsStrict(t *testing.T) {
	i := freeze(t, draft())
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	j, err := intent.Parse(b, rules(t))
	if err != nil || j.Hash() != i.Hash() || !reflect.DeepEqual(j.Draft(), i.Draft()) || j.ID() != i.ID() {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"unknown member":   strings.Replace(string(b), `"version":1`, `"version":1,"extra":true`, 1),
		"unknown in call":  strings.Replace(string(b), `"value":"1"`, `"value":"1","gas":"5"`, 1),
		"another version":  strings.Replace(string(b), `"version":1`, `"version":2`, 1),
		"duplicate":        strings.Replace(string(b), `"version":1`, `"version":1,"version":1`, 1),
		"case twin":        strings.Replace(string(b), `"version":1`, `"version":1,"Version":1`, 1),
		"trailing":         string(b) + "{}",
		"nothing":          "",
		"wrong type":       strings.Replace(string(b), `"slippageBps":50`, `"slippageBps":"50"`, 1),
		"null for account": `{"version":1,"accounts":null}`,
	} {
		if bad == string(b) {
			t.Fatalf("%s: not applied", name)
		}
		if _, err := intent.Parse([]byte(bad), rules(t)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEveryBrokenRuleIsNamedWithItsPlace(t *testing.T) {
	d := draft()
	d.Version, d.Network, d.Calls[0].Value, d.Calls[1].Function = 0, "0xAA", "0x10", "bad\x1b[31m"
	d.Calls[1].Note = strings.Repeat("n", intent.MaxNote+1)
	d.Calls[0].To = "0x93dBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	d.SlippageBps = 10_001
	_, err := intent.Freeze(d, rules(t))
	var e *intent.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for _, f := range e.Failures {
		paths[f.Path] = true
		if strings.ContainsRune(f.Got, '\x1b') {
			t.Error("an escape sequence reached an error")
		}
	}
	for _, want := range []string{"version", "network", "calls[0].value", "calls[0].to", "calls[1].function",
		"calls[1].note", "slippageTolerance"} {
		if !paths[want] {
			t.Errorf("%s is not reported: %v", want, paths)
		}
	}
	if !strings.Contains(e.Error(), "more") || (&intent.Error{}).Error() == "" {
		t.Error(e.Error())
	}
}

func TestDefaultsAreMadeExplicit(t *testing.T) {
	i := freeze(t, draft())
	if i.Draft().SlippageBps != intent.DefaultSlippageBps || i.Funding() != "ob:usdc" || i.ChainID() != 8453 {
		t.Fatalf("%+v %q", i.Draft(), i.Funding())
	}
	var body api.PrepareRequest
	if err := json.Unmarshal(i.PrepareBody(), &body); err != nil {
		t.Fatal(err)
	}
	if body.SlippageTolerance != 50 || body.Calls[0].Data != "0x" || body.Calls[1].Value != "0" ||
		body.FromAssetID != "" {
		t.Fatalf("%+v", body)
	}
	d := draft()
	d.SlippageBps = 50
	if freeze(t, d).Hash() != i.Hash() {
		t.Error("the default and its value are two intents")
	}
	unlisted := api.TokenRequirement{AssetType: "eip155:8453/erc20:" + to, Amount: "0"}
	d.TokensRequired = append([]api.TokenRequirement{unlisted}, d.TokensRequired...)
	if freeze(t, d).Funding() != "ob:usdc" {
		t.Error("the first listed token does not pay")
	}
	if d.TokensRequired = d.TokensRequired[:1]; freeze(t, d).Funding() != "" {
		t.Error("a token that nothing is known of pays")
	}
	d.TokensRequired, d.FundWith = nil, ""
	if freeze(t, d).Funding() != "" {
		t.Error("something pays for nothing")
	}
	d.FundWith = usdc
	if freeze(t, d).Funding() != usdc {
		t.Error("the chosen asset is lost")
	}
}

func TestDifferentIntentsHaveDifferentHashes(t *testing.T) {
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(d *intent.Draft){
		"same": func(*intent.Draft) {}, "value": func(d *intent.Draft) { d.Calls[0].Value = "2" },
		"order":    func(d *intent.Draft) { d.Calls[0], d.Calls[1] = d.Calls[1], d.Calls[0] },
		"slippage": func(d *intent.Draft) { d.SlippageBps = 1 },
		"network":  func(d *intent.Draft) { d.Network = "0x" + strings.Repeat("b", 64) },
		"function": func(d *intent.Draft) { d.Calls[0].Function = "" },
		"note":     func(d *intent.Draft) { d.Calls[0].Note = "invoice 7" },
		"fund":     func(d *intent.Draft) { d.FundWith = "ob:eth" },
	} {
		d := draft()
		change(&d)
		h := freeze(t, d).Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have one hash", name, other)
		}
		seen[h] = name
	}
}

func TestTheZeroIntentIsNothing(t *testing.T) {
	var i intent.Intent
	if _, err := i.MarshalJSON(); err == nil || !i.IsZero() || i.ChainID() != 0 {
		t.Fatal("the zero intent passes for a real one")
	}
	if _, ok := i.EVMAccount(); ok {
		t.Fatal("it has an account")
	}
}
