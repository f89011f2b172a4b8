package plan

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/intent"
)

const network = "0x2e6e7adf99a44c4bf2d50450af3503dcdf78e4606772affef602cfa5de1234b0"

func samples() map[string]Plan {
	account := api.Account{
		Type: api.AccountKernelV31, SignerAddress: "0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0",
		AccountAddress: "0x21f6b1d4b4fa4be12c4c4a60ce0c4c4a5d4f5a10",
		DeploymentType: api.DeploymentERC4337,
	}
	return map[string]Plan{
		"least": {Salt: "00112233445566ff", Intent: intent.Draft{Version: 1}},
		"call": {
			Salt: "00112233445566ff", Note: `pays "May", \ and ü`,
			Limits: Limits{
				Chains:     []string{"eip155:8453", "eip155:10"},
				Recipients: []string{"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"},
				Contracts:  []string{"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"}, MaxSpendUSD: "250.00",
				MaxCostBps: 100, MaxSlippageBps: 50, NeverDelegate: true,
			},
			Intent: intent.Draft{
				Version: 1, Network: network, Accounts: []api.Account{account}, TargetChain: "eip155:8453",
				Calls: []intent.Call{{To: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Value: "5",
					Data: "0xa9059cbb", Function: "transfer(address to, uint256 amount)",
					Note: "rent = \"March\""}},
				TokensRequired: []api.TokenRequirement{{AssetType: "eip155:8453/slip44:60", Amount: "5"}},
				Allowances: []api.AllowanceRequirement{
					{AssetType: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Amount: "7",
						Spender: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}},
				FundWith: "ob:usdc", SlippageBps: 50, ValidAfter: "1", ValidUntil: "1760000000",
				Overrides: []api.StateOverride{{Address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Balance: "0x1",
					Code: "0x00", StateDiff: map[string]string{"0x01": "0x02", "0x00": "0x03"}}},
			},
		},
		"swap": {Salt: "00112233445566ff", Intent: intent.Draft{
			Version: 1, Kind: intent.KindSwap, Interface: intent.InterfaceV1,
			Pay: &intent.Pay{Asset: "ob:usdc", Amount: "1"},
			Receive: &intent.Receive{Asset: "eip155:8453/slip44:60",
				Account: "eip155:8453:0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", Minimum: "9"},
		}},
	}
}

// TestBothFormsReadBackAsThePlan: what is written is what is read, in either form, with one hash.
func TestBothFormsReadBackAsThePlan(t *testing.T) {
	x := Explain{Call: func(i int) []string { return []string{"call\n[limits]"} },
		Amount: func(a, b string) string { return "amount\r\nhash = 1" }}
	for name, p := range samples() {
		asTOML, err := p.EncodeTOML(x)
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := p.EncodeJSON()
		if err != nil {
			t.Fatal(err)
		}
		for form, b := range map[string][]byte{"toml": asTOML, "json": asJSON} {
			got, err := Parse(b)
			if err != nil {
				t.Fatalf("%s as %s: %v\n%s", name, form, err, b)
			}
			if !reflect.DeepEqual(got, p) {
				t.Errorf("%s as %s: %+v, want %+v", name, form, got, p)
			}
			if !IsPlan(b) {
				t.Errorf("%s as %s is not taken for a plan", name, form)
			}
		}
	}
}

// TestEveryChangeChangesTheHash: after any change of the content, the file is refused until its hash is made anew, and
// then has another hash.
func TestEveryChangeChangesTheHash(t *testing.T) {
	p := samples()["call"]
	b, err := p.EncodeJSON()
	if err != nil {
		t.Fatal(err)
	}
	before, _ := p.Hash()
	for old, now := range map[string]string{
		`"00112233445566ff"`: `"00112233445566fe"`, `"250.00"`: `"250.01"`, `"amount": "5"`: `"amount": "6"`,
		`"ob:usdc"`: `"ob:usdt"`, `pays`: `gets`,
		`"value": "5"`: `"value": "50"`, `0xa9059cbb`: `0xa9059cbc`, `"slippageBps": 50`: `"slippageBps": 51`,
		`"max_slippage_bps": 50`: `"max_slippage_bps": 51`,
	} {
		changed := bytes.Replace(b, []byte(old), []byte(now), 1)
		if bytes.Equal(changed, b) {
			t.Fatalf("%s is not in\n%s", old, b)
		}
		var e *Error
		if _, err := Parse(changed); !errors.As(err, &e) || e.Key != "hash" {
			t.Errorf("%s for %s: %v", now, old, err)
		}
		again, err := ParseUnsealed(changed)
		if err != nil {
			t.Fatal(err)
		}
		if after, _ := again.Hash(); after == before {
			t.Errorf("%s for %s has the same hash", now, old)
		}
	}
}

// TestFaultsAreRefusedWithTheirPlace: a plan is strict in both forms.
func TestFaultsAreRefusedWithTheirPlace(t *testing.T) {
	const head = "version = 1\nsalt = \"00112233445566ff\"\n"
	const body = "[intent]\nversion = 1\n"
	for file, want := range map[string]string{
		"": "version: the file does not say",
		"version = 2\nsalt = \"00112233445566ff\"\n" + body: "version: this program reads version 1",
		"version = 1\n" + body:                              "salt: 16 to 64",
		"version = 1\nsalt = \"zz\"\n" + body:               "salt: 16 to 64",
		head:                                                "intent: the file has none",
		head + body:                                         "hash: the file names no hash",
		head + "hash = \"0x1\"\n" + body:                    "hash: 0x and 64",
		head + "hash = \"0x" + strings.Repeat("0", 64) + "\"\n" +
			body: "hash: the content does not match",
		head + "extra = 1\n" +
			body: "3:1: extra: there is no such key",
		head + "note = \"\"\n" + body:            "note: 1 to 2000",
		head + "note = \"a\\u001b[2J\"\n" + body: "note: 1 to 2000",
		head + body + "calls = 5\n":              "intent: ",
		head + body + "other = 5\n":              "intent: ",
		head + "[limits]\nallow = [\"blind-signing\"]\n" +
			body: "4:1: limits.allow: there is no such key",
		head + "[limits]\nchains = []\n" +
			body: "limits.chains: it limits nothing",
		head + "[limits]\nchains = [\"nowhere\"]\n" +
			body: "limits.chains[0]: expected a chain",
		head + "[limits]\nmax_spend_usd = \"-1\"\n" +
			body: "limits.max_spend_usd: expected dollars",
		head + "[limits]\nmax_cost_bps = 0\n" +
			body: "limits.max_cost_bps: it limits nothing",
		head + "[limits]\nmax_cost_bps = 10001\n" +
			body: "limits.max_cost_bps: expected basis points",
		head + "[limits]\nrecipients = [\"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7Bc0\"]\n" +
			body: "limits.recipients[0]: expected 0x and 40",
		`{"version":1,"salt":"00112233445566ff","intent":{"version":1},"limits":null}`: "/limits: a value is expected",
		`{"version":1,"salt":"00112233445566ff","intent":{"version":1},"x":1}`:         "/x: there is no such member",
		`{"version":1,"version":1}`:                                               "a member name appears twice",
		`{"version":"1","salt":"00112233445566ff","intent":{"version":1}}`:        "/version: another type",
		`{"version":1,"salt":"00112233445566ff","intent":{"version":1,"pay":[]}}`: "intent: ",
		`{"version":1,"salt":"00112233445566ff"}`:                                 "intent: the file has none",
		strings.Repeat(" ", MaxSize+1):                                            "larger than 1 MiB",
	} {
		var e *Error
		if _, err := Parse([]byte(file)); !errors.As(err, &e) || !strings.Contains(e.Error(), want) {
			t.Errorf("%.200s\n  gives %v, want %s", file, err, want)
		}
	}
}

// TestLimitsOnlyNarrow: a plan's limits become limits without a gate and without a pin.
func TestLimitsOnlyNarrow(t *testing.T) {
	l, err := samples()["call"].Limits.Verify()
	if err != nil {
		t.Fatal(err)
	}
	pins := len(l.Gates) + len(l.EntryPoints) + len(l.Validators) + len(l.Factories) + len(l.Delegates) +
		len(l.Paymasters) + len(l.Escrows) + len(l.Programs)
	if pins != 0 || len(l.Chains) != 2 || len(l.Recipients) != 1 || len(l.Contracts) != 1 ||
		l.MaxSpend.Int64() != 250_000_000 || l.MaxCostBps != 100 || l.MaxSlippageBps != 50 || !l.NeverDelegate {
		t.Errorf("%+v", l)
	}
}

// FuzzParse: nothing panics; a plan that parses is written and read again as the same plan with the same hash, in both
// forms.
func FuzzParse(f *testing.F) {
	for _, p := range samples() {
		for _, write := range []func() ([]byte, error){p.EncodeJSON,
			func() ([]byte, error) { return p.EncodeTOML(Explain{}) }} {
			b, err := write()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add([]byte("version = 1\n[intent]\nversion = 1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = IsPlan(b)
		p, err := ParseUnsealed(b)
		if err != nil {
			return
		}
		hash, err := p.Hash()
		if err != nil {
			t.Fatal(err)
		}
		asJSON, err := p.EncodeJSON()
		if err != nil {
			t.Fatal(err)
		}
		asTOML, err := p.EncodeTOML(Explain{})
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range [][]byte{asJSON, asTOML} {
			again, err := Parse(form)
			if err != nil {
				t.Fatalf("%v\n%s", err, form)
			}
			if now, _ := again.Hash(); now != hash {
				t.Fatalf("another hash:\n%s", form)
			}
		}
	})
}
