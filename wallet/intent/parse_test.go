package intent_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/intent"
)

func TestATemplateLeavesOutWhatFillCompletes(t *testing.T) {
	template, err := intent.ParseDraft([]byte(`{"version":1,"targetChain":"eip155:8453","calls":[{"to":"` + to +
		`","value":"1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := intent.Freeze(template, rules(t)); err == nil {
		t.Error("a template was frozen")
	}
	accounts := []api.Account{solanaAccount(), kernel()}
	full := template.Fill(draft().Network, accounts)
	if freeze(t, full).Account() == [20]byte{} || full.Network != draft().Network ||
		!reflect.DeepEqual(full.Accounts, accounts) {
		t.Errorf("%+v", full)
	}
	accounts[1].SignerAddress = "0x"
	if template.Network != "" || template.Accounts != nil || full.Accounts[1] != kernel() {
		t.Error("Fill reaches into the template or the caller's accounts")
	}
	one := template
	one.Interface = intent.InterfaceV1
	if one = one.Fill(draft().Network, []api.Account{solanaAccount(), kernel()}); !reflect.DeepEqual(one.Accounts,
		[]api.Account{kernel()}) {
		t.Errorf("v1 got %+v", one.Accounts)
	}
	b, err := json.Marshal(template)
	if err != nil || strings.Contains(string(b), "network") || strings.Contains(string(b), "accounts") ||
		strings.Contains(string(b), "null") {
		t.Errorf("a template is written as %s, %v", b, err)
	}
}

func TestFillKeepsWhatADraftNames(t *testing.T) {
	if got := withAll().Fill("0xother", []api.Account{kernel()}); !reflect.DeepEqual(got, withAll()) {
		t.Errorf("%+v", got)
	}
}

// TestParseDraftNamesThePlace holds one flaw a row, with the place and the words that must be told.
func TestParseDraftNamesThePlace(t *testing.T) {
	for name, c := range map[string]struct{ file, path, expected string }{
		"another version":     {`{"version":2,"new":true}`, "version", "version 1"},
		"no version":          {`{}`, "version", "version 1"},
		"version as text":     {`{"version":"1"}`, "version", "version 1"},
		"version as fraction": {`{"version":1.0}`, "version", "version 1"},
		"no object":           {`[]`, "version", "version 1"},
		"unknown member":      {`{"version":1,"extra":1}`, "extra", "no such member"},
		"unknown in a call": {`{"version":1,"calls":[{"to":"0x"},{"to":"0x","gas":"1"}]}`, "calls[1].gas",
			"no such member"},
		"unknown in pay": {`{"version":1,"pay":{"asset":"a","amount":"1","max":"2"}}`, "pay.max",
			"no such member"},
		"unknown in account": {`{"version":1,"accounts":[{"accountAddress":"","key":"x"}]}`, "accounts[0].key",
			"no such member"},
		"escape in a name":    {`{"version":1,"a\u001b[31m/~":1}`, "a\uFFFD[31m/~", "no such member"},
		"calls are an object": {`{"version":1,"calls":{}}`, "calls", "an array"},
		"a call is text":      {`{"version":1,"calls":["x"]}`, "calls[0]", "an object"},
		"value is a number":   {`{"version":1,"calls":[{"to":"0x","value":1}]}`, "calls[0].value", "a string"},
		"slippage is text":    {`{"version":1,"slippageBps":"1"}`, "slippageBps", "an integer"},
		"slippage fraction":   {`{"version":1,"slippageBps":1.5}`, "slippageBps", "an integer"},
		"slippage too large":  {`{"version":1,"slippageBps":99999999999999999999}`, "slippageBps", "an integer"},
		"network is true":     {`{"version":1,"network":true}`, "network", "a string"},
		"pay is a list":       {`{"version":1,"pay":[]}`, "pay", "an object"},
		"a slot is a list": {`{"version":1,"overrides":[{"address":"","stateDiff":[]}]}`, "overrides[0].stateDiff",
			"an object"},
		"null for a list": {`{"version":1,"calls":null}`, "calls", "leave the member out"},
		"null in a call":  {`{"version":1,"calls":[{"to":null}]}`, "calls[0].to", "leave the member out"},
		"null in a map": {`{"version":1,"overrides":[{"stateDiff":{"0":null}}]}`, "overrides[0].stateDiff[0]",
			"leave the member out"},
	} {
		_, err := intent.ParseDraft([]byte(c.file))
		var e *intent.Error
		if !errors.As(err, &e) || len(e.Failures) != 1 || e.Failures[0].Path != c.path ||
			!strings.Contains(e.Failures[0].Expected, c.expected) {
			t.Errorf("%s: %v, expected %q at %s", name, err, c.expected, c.path)
		}
	}
}

func TestParseDraftListsEveryNull(t *testing.T) {
	_, err := intent.ParseDraft([]byte(`{"version":1,"calls":null,"pay":{"asset":null}}`))
	var e *intent.Error
	if !errors.As(err, &e) || len(e.Failures) != 2 {
		t.Error(err)
	}
}

func TestParseDraftKeepsTheLimitsOfDocuments(t *testing.T) {
	for name, file := range map[string]string{
		"nothing":        "",
		"trailing":       `{"version":1}{}`,
		"duplicate":      `{"version":1,"version":1}`,
		"case twin":      `{"version":1,"Version":1}`,
		"bad UTF-8":      "{\"version\":1,\"network\":\"\xff\"}",
		"too deep":       `{"version":1,"calls":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		"too many items": `{"version":1,"calls":[` + strings.Repeat("1,", 10_001) + `1]}`,
		"too large":      `{"version":1,"network":"` + strings.Repeat("a", 4<<20) + `"}`,
	} {
		_, err := intent.ParseDraft([]byte(file))
		var de *api.DocumentError
		if !errors.As(err, &de) || !strings.HasPrefix(err.Error(), "intent: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
