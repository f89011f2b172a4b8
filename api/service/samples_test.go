package service_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// sample reads a published body of the interface; what its source says about itself in _truncated is no part of it.
func sample(t *testing.T, name string) any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "samples", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if o, ok := v.(map[string]any); ok {
		delete(o, "_truncated")
	}
	return v
}

// leftOut are members of published bodies that ours do not have, with the reason.
func leftOut() map[string]string {
	return map[string]string{
		".originChainsOperations[].signature":                   "an unsigned Solana operation has no signature",
		".originChainsOperations[].addressLookupTableAddresses": "messages have no lookup tables",
	}
}

// hasShape demands that every member of a published body is in ours with the same JSON type. Elements of an array are
// looked for in any of ours.
func hasShape(at string, want, have any) error {
	if _, fine := leftOut()[at]; fine {
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: expected an object, got %T", at, have)
		}
		if strings.HasSuffix(at, ".fees.assets") {
			for _, v := range h {
				if _, ok := v.(string); !ok {
					return fmt.Errorf("%s: %v is no string", at, v)
				}
			}
			return nil
		}
		for name, v := range w {
			if _, there := h[name]; !there && leftOut()[at+"."+name] == "" {
				return fmt.Errorf("%s.%s is missing", at, name)
			}
			if err := hasShape(at+"."+name, v, h[name]); err != nil {
				return err
			}
		}
		return nil
	case []any:
		h, ok := have.([]any)
		if !ok {
			return fmt.Errorf("%s: expected an array, got %T", at, have)
		}
		for _, v := range w {
			err := fmt.Errorf("%s: no elements", at)
			for _, candidate := range h {
				if err = hasShape(at+"[]", v, candidate); err == nil {
					break
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", have) {
		return fmt.Errorf("%s: expected %T as in %v, got %T", at, want, want, have)
	}
	return nil
}

func value(t *testing.T, doc []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnswersHaveTheShapeOfThePublishedOnes(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	role := newClient(t, s, api.AccountRoleBased, 21)
	both := newClient(t, s, api.AccountKernelV33+settletest.WithSolana, 22)
	onlySolana := newClient(t, s, api.AccountSolana, 23)
	v1 := *role
	v1.v1 = true
	check := func(name string, doc *api.Document) {
		t.Helper()
		if err := hasShape("", sample(t, name), value(t, doc.Raw())); err != nil {
			t.Errorf("%s: %v\n%.600s", name, err, doc.Raw())
		}
	}
	failed := func(name, path, body, k string) {
		t.Helper()
		r := *role
		_, raw, _ := r.withKeyAndBody(k, "POST", path, body)
		if err := hasShape("", sample(t, name), value(t, raw)); err != nil {
			t.Errorf("%s: %v\n%s", name, err, raw)
		}
	}
	check("account_predict-address.response", role.ask("POST", "/account/predict-address",
		fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`, role.user.Account.SessionAddress,
			role.user.Account.AdminAddress)))
	check("assets_list.item", role.ask("GET", "/assets/list", ""))
	check("chains_supported-list.item", role.ask("GET", "/chains/supported-list", ""))
	check("v2_balances_aggregated-balance.response", role.ask("GET",
		"/v2/balances/aggregated-balance?address="+role.user.Address.Hex()+"&assetId=eip155:8453/slip44:60", ""))
	check("v3_balances_aggregated-balance.response", role.ask("GET",
		"/v3/balances/aggregated-balance?account=eip155:1:"+role.user.Address.Hex()+"&aggregatedAssetId=ob:eth,ob:usdc",
		""))
	check("v1_quote.response.partial", v1.ask("POST", "/v1/quote",
		v1.swap("ob:eth", "5000000000000000", "ob:usdc", "")))
	check("v3_quote.response.solana.partial", onlySolana.ask("POST", "/v3/quote",
		onlySolana.swap(solSOL, "1000000000", opUSDC, "eip155:10:"+recipient)))
	check("v3_quote_prepare-call-quote.response.partial", both.prepare(both.transfer(300_000_000)))

	signed, id := v1.exchange(v1.swap("ob:eth", "5000000000000000", "ob:usdc", ""))
	check("execute-quote.response.from-example-code", v1.ask("POST", v1.executePath(), string(signed.Raw())))
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	more, other := role.exchange(role.swap("ob:eth", "5000000000000000", opUSDC, ""))
	check("v3_quote_execute-quote.request", more)
	role.done(role.finish(more, other), api.RecordSwap)
	v1.done(v1.status(id), api.RecordSwap)
	check("status_get-execution-status.response", v1.ask("GET", "/status/get-execution-status?quoteId="+id, ""))
	check("v3_status_get-execution-status.response", role.ask("GET", "/v3/status/get-execution-status?quoteId="+other,
		""))
	check("status_get-tx-history.response", v1.ask("GET", "/status/get-tx-history?limit=1&user="+
		role.user.Address.Hex(), ""))
	check("v3_status_get-tx-history.response", role.ask("GET",
		"/v3/status/get-tx-history?limit=1&user="+role.user.Address.Hex(), ""))
	unknown := role.ask("GET", "/status/get-execution-status?quoteId=0x"+strings.Repeat("c", 64), "")
	check("status_get-execution-status.response.unknown", unknown)
	if string(unknown.Raw()) != "{}" {
		t.Errorf("an unknown quote: %s", unknown.Raw())
	}
	failed("error.400.validation", "/v3/quote/prepare-call-quote", "{}", key)
	failed("error.400.tamper-proof", role.executePath(), role.put(string(more.Raw()), "/originToken/amount", `"1"`),
		key)
	failed("error.401", "/v3/quote", "{}", "wrong")
}

// A refunded quote has the published form, too: its funds came back, and it says why.
func TestARefundedStatusHasTheShapeOfThePublishedOne(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		o := options(storetest.New(t))
		c := newClient(t, open(t, refunding(o)), api.AccountRoleBased, 24)
		c.v1 = v1
		signed, id := c.exchange(c.swap("ob:usdc", "300000000", "eip155:8453/slip44:60", ""))
		got := c.finish(signed, id)
		if got.Status != api.StatusRefunded || got.FailReason == "" {
			t.Fatalf("%+v", got)
		}
		doc := c.ask("GET", c.statusPath()+"/get-execution-status?quoteId="+id, "")
		want := sample(t, "status_get-execution-status.response.refunded").(map[string]any)
		delete(want, "destinationChainOperations") // optional, and nothing was delivered
		if err := hasShape("", want, value(t, doc.Raw())); err != nil {
			t.Errorf("%v: %s", err, doc.Raw())
		}
	}
}

// The published requests keep the rules.
func TestThePublishedRequestsKeepTheRules(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := api.Rules{Catalog: c, Now: time.Unix(1686239400, 0)}
	for name, check := range map[string]func(*api.Document) []api.Failure{
		"account_predict-address.request.basic":      r.Predict,
		"account_predict-address.request.role-based": r.Predict,
		"quotes_prepare-call-quote.request.fields":   r.PrepareV1,
		"v1_quote.request":                           r.QuoteV1,
		"v1_quote.request.basic-account":             r.QuoteV1,
		"v3_quote.request.solana-to-evm":             r.Quote,
		"v3_quote_prepare-call-quote.request":        r.Prepare,
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", "samples", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if fs := check(doc); len(fs) > 0 {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
