package openapi

import (
	"net/http"
	"slices"

	"coffer/api"
)

// Groups of endpoints (docs/interface.md#endpoints).
const (
	groupAccount  = "Account"
	groupAssets   = "Assets"
	groupBalances = "Balances"
	groupChains   = "Chains"
	groupQuotes   = "Quotes"
	groupStatus   = "Status"
	groupService  = "Service"
)

// Endpoints lists the routes in the order of the description. Those of the relay are among them; a service without one
// leaves them out.
func Endpoints() []Endpoint {
	var out []Endpoint
	for _, part := range [][]Endpoint{lists(), balances(), quotes(), executions(), statuses(), roles(), service()} {
		out = append(out, part...)
	}
	return out
}

func postErrors(more ...int) []int {
	out := append([]int{400, 401, 403, 415, 429, 500, 503}, more...)
	slices.Sort(out)
	return out
}

func get(id, path, group, summary string, response any, parameters ...Parameter) Endpoint {
	return Endpoint{
		ID: id, Method: http.MethodGet, Path: path, Group: group, Summary: summary, Permission: PermitRead,
		Parameters: parameters, Response: response, Status: http.StatusOK,
		Errors: []int{400, 401, 403, 429, 500, 503},
	}
}

func post(id, path, group, permission, summary string, request, response any, errors ...int) Endpoint {
	return Endpoint{
		ID: id, Method: http.MethodPost, Path: path, Group: group, Summary: summary, Permission: permission,
		Request: request, Response: response, Status: http.StatusOK, Errors: postErrors(errors...),
	}
}

func (e Endpoint) v1() Endpoint { e.V1 = true; return e }

func lists() []Endpoint {
	predict := post("predictAddress", "/account/predict-address", groupAccount, PermitQuote,
		"The address that an account will have on every chain",
		api.PredictRequest{}, api.PredictResponse{})
	predict.Status = http.StatusCreated
	return []Endpoint{
		predict,
		get("listAssets", "/assets/list", groupAssets,
			"Aggregated assets with their entities, those on Solana among them", []api.AggregatedAsset{}),
		get("listChains", "/chains/supported-list", groupChains, "Supported EVM chains", []api.SupportedChain{}),
	}
}

func balances() []Endpoint {
	assets := Parameter{Name: "assetId", Description: "Comma-separated CAIP-19 assets to list besides.",
		Example: exUSDC}
	v2 := get("getAggregatedBalanceV2", "/v2/balances/aggregated-balance", groupBalances,
		"Balances of one EVM address over all aggregated assets", api.AggregatedBalance{},
		Parameter{Name: "address", Description: "EVM address.", Required: true, Schema: Note{Pattern: reAddress},
			Example: exAccount}, assets)
	v2.Without = []string{"accounts"}
	v3 := get("getAggregatedBalance", "/v3/balances/aggregated-balance", groupBalances,
		"Balances of EVM and Solana accounts", api.AggregatedBalance{},
		Parameter{Name: "account", Required: true, Example: "eip155:1:" + exAccount,
			Description: "Comma-separated CAIP-10 accounts, or solana:<address>; one address of each kind."},
		Parameter{Name: "aggregatedAssetId", Example: "ob:usdc,ob:eth",
			Description: "Comma-separated aggregated assets; this or assetId is needed."}, assets)
	v3.Members = []string{"accounts"}
	return []Endpoint{v2, v3}
}

func quotes() []Endpoint {
	return []Endpoint{
		post("getQuoteV1", "/v1/quote", groupQuotes, PermitQuote, "Quote of a swap or a transfer", api.QuoteRequestV1{},
			api.QuoteV1{}, 422).v1(),
		post("getQuote", "/v3/quote", groupQuotes, PermitQuote, "Quote of a swap or a transfer, several accounts",
			api.QuoteRequest{}, api.Quote{}, 422),
		post("prepareCallQuoteV1", "/quotes/prepare-call-quote", groupQuotes, PermitQuote,
			"Build the operation of calls on one chain",
			api.PrepareRequestV1{}, api.PrepareResponseV1{}, 422).v1(),
		post("prepareCallQuote", "/v3/quote/prepare-call-quote", groupQuotes, PermitQuote,
			"Build the operation of calls on one chain, several accounts",
			api.PrepareRequest{}, api.PrepareResponse{}, 422),
		post("getCallQuoteV1", "/quotes/call-quote", groupQuotes, PermitQuote,
			"Quote of a prepared and signed operation", api.CallQuoteRequestV1{}, api.QuoteV1{}, 422).v1(),
		post("getCallQuote", "/v3/quote/call-quote", groupQuotes, PermitQuote,
			"Quote of a prepared and signed operation, several accounts",
			api.CallQuoteRequest{}, api.Quote{}, 422),
	}
}

func executions() []Endpoint {
	const words = "The body is the quote with its operations signed and nothing else changed. 200 means accepted, " +
		"never done."
	v1 := post("executeQuoteV1", "/quotes/execute-quote", groupQuotes, PermitExecute, "Execute a quote of v1",
		api.QuoteV1{}, api.ExecuteResponse{}, 404, 409, 422).v1()
	v3 := post("executeQuote", "/v3/quote/execute-quote", groupQuotes, PermitExecute, "Execute a quote of v3",
		api.Quote{}, api.ExecuteResponse{}, 404, 409, 422)
	v1.Description, v3.Description = words, words
	return []Endpoint{v1, v3}
}

func statuses() []Endpoint {
	id := Parameter{Name: "quoteId", Description: "Id of the quote; an unknown one is answered with an empty object.",
		Required: true, Schema: Note{Pattern: reWord}, Example: exQuote}
	page := []Parameter{
		{Name: "user", Description: "EVM address in any case, or Solana address.", Required: true,
			Schema: Note{Pattern: reAnyAccount}, Example: exAccount},
		{Name: "limit", Description: "Records a page: 20 when absent, 100 at most.", Kind: "integer",
			Schema: Note{Min: new(1)}},
		{Name: "continuation", Description: "Cursor of an earlier page."},
		{Name: "sortBy", Description: "createdAt when absent.", Schema: Note{Enum: []string{"createdAt", "updatedAt"}}},
	}
	return []Endpoint{
		get("getExecutionStatusV1", "/status/get-execution-status", groupStatus, "Status of an executed quote",
			api.ExecutionStatus{}, id).v1(),
		get("getExecutionStatus", "/v3/status/get-execution-status", groupStatus, "Status of an executed quote",
			api.ExecutionStatus{}, id),
		get("getTxHistoryV1", "/status/get-tx-history", groupStatus, "History of an account", api.HistoryPage{},
			page...).v1(),
		get("getTxHistory", "/v3/status/get-tx-history", groupStatus, "History of an account", api.HistoryPage{},
			page...),
	}
}

// RelayPaths are the routes that need a relay.
func RelayPaths() []string {
	return []string{"/account/code", "/account/undelegate", "/account/roles", "/account/relay"}
}

func roles() []Endpoint {
	read := get("getRoles", "/account/roles", groupAccount, "Roles of a role-based account on one chain",
		api.RolesResponse{},
		Parameter{Name: "account", Description: "CAIP-10 account on an EVM chain.", Required: true,
			Example: "eip155:8453:" + exAccount})
	relay := post("relay", "/account/relay", groupAccount, PermitExecute,
		"Put on chain what the admin of a role-based account signed",
		api.RelayRequest{}, api.RelayResponse{}, 422)
	code := get("getCode", "/account/code", groupAccount, "What is at addresses: code, a delegation or nothing",
		api.CodeResponse{},
		Parameter{Name: "account", Description: "Comma-separated CAIP-10 accounts on EVM chains, 50 at most.",
			Required: true, Example: "eip155:8453:" + exAccount})
	undelegate := post("undelegate", "/account/undelegate", groupAccount, PermitExecute,
		"End the EIP-7702 delegation of an EOA on one chain", api.UndelegateRequest{}, api.UndelegateResponse{}, 422)
	code.Ours, undelegate.Ours, read.Ours, relay.Ours = true, true, true, true
	return []Endpoint{code, undelegate, read, relay}
}

func service() []Endpoint {
	open := func(e Endpoint) Endpoint {
		e.Open, e.Ours, e.Permission, e.Errors = true, true, "", []int{400, 500}
		return e
	}
	description := open(get("getDescription", "/openapi.json", groupService, "This document", struct{}{}))
	description.Tagged = true
	health := open(get("getHealth", "/healthz", groupService, "Whether the service answers", api.Health{}))
	health.Errors = append(health.Errors, 503)
	return []Endpoint{health, description}
}
