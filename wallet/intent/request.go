package intent

import (
	"strings"

	"coffer/api"
	"coffer/api/caip"
)

// checkRequest makes the body that the draft asks for and returns it with every rule of the interface that it breaks. A
// draft of an unknown kind has no body; checkDraft reports it.
func checkRequest(d Draft, rules api.Rules) (*api.Document, []api.Failure) {
	v1 := d.Interface == InterfaceV1
	var request any
	var check func(*api.Document) []api.Failure
	switch {
	case d.Exchanges() && v1:
		request, check = quoteRequest(d).V1(), rules.QuoteV1
	case d.Exchanges():
		request, check = quoteRequest(d), rules.Quote
	case d.Kind != "":
		return nil, nil
	case v1:
		request, check = prepareRequest(d).V1(), rules.PrepareV1
	default:
		request, check = prepareRequest(d), rules.Prepare
	}
	body, err := api.Encode(request)
	if err != nil {
		return nil, []api.Failure{failure("", "text in UTF-8 and a request within the limits of a document",
			err.Error())}
	}
	failures := inFile(d, check(body))
	switch {
	case d.Exchanges():
		failures = append(failures, checkExchange(d, rules)...)
	case v1:
		failures = append(failures, checkFundingV1(d, rules)...)
	}
	return body, failures
}

// inFile gives failures the places of the file where the request has others, and leaves out what checkDraft reports
// better: the members of an account or of a side that is not there.
func inFile(d Draft, in []api.Failure) []api.Failure {
	names := []struct{ request, file string }{{"account", "accounts[0]"}}
	if d.Exchanges() {
		names = []struct{ request, file string }{
			{"from.accounts", "accounts"}, {"from.account", "accounts[0]"}, {"from.asset.assetId", "pay.asset"},
			{"from.amount", "pay.amount"},
			{"to.asset.assetId", "receive.asset"}, {"to.account", "receive.account"},
		}
	}
	var out []api.Failure
	for _, f := range in {
		for _, n := range names {
			rest, ok := strings.CutPrefix(f.Path, n.request)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				f.Path = n.file + rest
				break
			}
		}
		absent := d.Interface == InterfaceV1 && len(d.Accounts) == 0 && strings.HasPrefix(f.Path, "accounts[0]") ||
			d.Exchanges() && d.Pay == nil && strings.HasPrefix(f.Path, "pay.") ||
			d.Exchanges() && d.Receive == nil && strings.HasPrefix(f.Path, "receive.")
		if !absent {
			out = append(out, f)
		}
	}
	return out
}

func prepareRequest(d Draft) api.PrepareRequest {
	return api.PrepareRequest{
		Accounts: d.Accounts, TargetChain: d.TargetChain, Calls: calls(d), TokensRequired: d.TokensRequired,
		AllowanceRequirements: d.Allowances,
		Overrides:             d.Overrides, ValidAfter: d.ValidAfter, ValidUntil: d.ValidUntil, FromAssetID: d.FundWith,
		SlippageTolerance: d.SlippageBps,
	}
}

func quoteRequest(d Draft) api.QuoteRequest {
	pay, to := sides(d)
	return api.QuoteRequest{
		From: api.QuoteFrom{Accounts: d.Accounts, Asset: api.AssetRef{AssetID: pay.Asset}, Amount: pay.Amount}, To: to,
		SlippageTolerance: d.SlippageBps,
	}
}

func sides(d Draft) (Pay, api.QuoteTo) {
	var pay Pay
	var receive Receive
	if d.Pay != nil {
		pay = *d.Pay
	}
	if d.Receive != nil {
		receive = *d.Receive
	}
	return pay, api.QuoteTo{Asset: api.AssetRef{AssetID: receive.Asset}, Account: receive.Account}
}

func calls(d Draft) []api.Call {
	var out []api.Call
	for _, c := range d.Calls {
		call := api.Call{To: c.To, Data: c.Data, Value: c.Value}
		if call.Data == "" {
			call.Data = "0x"
		}
		if call.Value == "" {
			call.Value = "0"
		}
		out = append(out, call)
	}
	return out
}

// checkFundingV1 applies what v1 asks of the asset that pays for a call: its quote takes an aggregated asset id only.
func checkFundingV1(d Draft, rules api.Rules) []api.Failure {
	if d.FundWith == "" {
		return nil
	}
	id, err := caip.ParseAggregate(d.FundWith)
	if err == nil {
		if _, known := rules.Catalog.Aggregate(id); known {
			return nil
		}
	}
	return []api.Failure{failure("fundWith", "a known aggregated asset id such as ob:usdc: v1 takes nothing else",
		d.FundWith)}
}

// checkExchange tells swap and transfer apart and looks after the minimum. Sides that are not known were reported
// already.
func checkExchange(d Draft, rules api.Rules) []api.Failure {
	if d.Pay == nil || d.Receive == nil {
		return nil
	}
	pays, okPays := aggregateOf(d.Pay.Asset, rules)
	gets, okGets := aggregateOf(d.Receive.Asset, rules)
	var out []api.Failure
	if okPays && okGets && (pays == gets) != (d.Kind == KindTransfer) {
		want := KindSwap + ": the sides are different assets"
		if pays == gets {
			want = KindTransfer + ": both sides are the same asset"
		}
		out = append(out, failure("kind", want, d.Kind))
	}
	if okGets && d.Receive.Minimum != "" && !oneUnit(*d.Receive, gets, rules) {
		out = append(out, failure("receive.minimum", "a CAIP-19 asset in receive.asset beside it: the units of "+
			d.Receive.Asset+" differ by chain", d.Receive.Minimum))
	}
	return out
}

func aggregateOf(name string, rules api.Rules) (caip.AggregateID, bool) {
	if id, err := caip.ParseAggregate(name); err == nil {
		_, known := rules.Catalog.Aggregate(id)
		return id, known
	}
	asset, err := caip.ParseAsset(name)
	if err != nil {
		return "", false
	}
	e, known := rules.Catalog.Entity(asset)
	return e.Aggregate, known
}

// oneUnit reports whether the base unit of what is delivered is known before the service chooses the asset: a minimum
// in another unit protects nobody.
func oneUnit(r Receive, id caip.AggregateID, rules api.Rules) bool {
	if _, err := caip.ParseAsset(r.Asset); err == nil {
		return true
	}
	at, err := caip.ParseAccount(r.Account)
	aggregate, _ := rules.Catalog.Aggregate(id)
	decimals := map[int]bool{}
	for _, e := range aggregate.Entities {
		if err != nil || e.Asset.Chain == at.Chain {
			decimals[e.Decimals] = true
		}
	}
	return len(decimals) <= 1
}
