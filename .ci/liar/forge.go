package liar

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/quote/integrity"
)

// Edits of documents that must stay what they seem: each helper leaves the text alone when it is not what it expects.

func document(raw []byte) (*api.Document, bool) {
	d, err := api.ParseDocument(raw, api.DefaultLimits())
	return d, err == nil
}

// at reads a value of a document into v.
func at[T any](doc *api.Document, pointer string) (v T, ok bool) {
	raw, found := doc.At(pointer)
	return v, found && json.Unmarshal(raw, &v) == nil
}

// put writes values at pointers that exist.
func put(raw []byte, values map[string]any) []byte {
	doc, ok := document(raw)
	if !ok {
		return raw
	}
	var edits []api.Edit
	for _, pointer := range sortedNames(values) {
		text, err := json.Marshal(values[pointer], json.Deterministic(true))
		if _, there := doc.At(pointer); there && err == nil {
			edits = append(edits, api.Edit{Pointer: pointer, Value: text})
		}
	}
	out, err := doc.Splice(edits...)
	if err != nil {
		return raw
	}
	return out.Raw()
}

// operationsOf lists the places of EVM operations in an answer.
func operationsOf(doc *api.Document) []string {
	var out []string
	for _, p := range []string{"/chainOperation", "/destinationChainOperation"} {
		if _, ok := doc.At(p + "/userOp"); ok {
			out = append(out, p)
		}
	}
	for i := 0; ; i++ {
		p := fmt.Sprintf("/originChainsOperations/%d", i)
		if _, ok := doc.At(p); !ok {
			return out
		}
		if _, ok := doc.At(p + "/userOp"); ok {
			out = append(out, p)
		}
	}
}

// sealed makes a changed answer as genuine as only the service's owner can: the sponsor signs each operation as it is
// now, the typed data are those of the operation, and the integrity mark fits.
func (a *Attacker) sealed(e Endpoint, raw []byte) []byte {
	doc, ok := document(raw)
	if !ok || a.house == nil {
		return raw
	}
	for _, p := range operationsOf(doc) {
		raw = put(raw, a.responsored(doc, p))
	}
	if doc, ok = document(raw); !ok {
		return raw
	}
	digestOf := integrity.Quote
	if e == Prepare {
		digestOf = integrity.Prepare
	}
	digest, err := digestOf(doc)
	if err != nil {
		return raw
	}
	mark, err := integrity.Sign(context.Background(), digest, a.house.chains.TamperProof)
	if err != nil {
		return raw
	}
	return put(raw, map[string]any{"/" + integrity.Member: mark})
}

// responsored is what changes in an operation for it to be sponsored and to carry its own typed data.
func (a *Attacker) responsored(doc *api.Document, p string) map[string]any {
	wire, ok := at[api.UserOp](doc, p+"/userOp")
	typed, okTyped := at[api.TypedData](doc, p+"/typedDataToSign")
	if !ok || !okTyped {
		return nil
	}
	u, err := op.FromWire(wire)
	if err != nil {
		return nil
	}
	out := map[string]any{
		p + "/typedDataToSign/message/callDataAndNonceHash": op.CallDataAndNonceHash(u.Sender, u.CallData,
			u.Nonce).Hex(),
	}
	pins := a.house.Network.Pins
	window, _, err := op.DecodePaymasterData(u.PaymasterData)
	if err == nil && u.Paymaster != nil && *u.Paymaster == pins.Paymaster &&
		u.Sponsor(context.Background(), window, typed.Domain.ChainID, a.house.chains.Operator) == nil {
		out[p+"/userOp/paymasterData"] = "0x" + common.Bytes2Hex(u.PaymasterData)
	}
	return out
}

// nonce moves the nonce of one operation and seals the answer again.
func (a *Attacker) nonce(x exchange) exchange {
	doc, ok := document(x.raw)
	if !ok || x.fault != nil {
		return x
	}
	places := operationsOf(doc)
	if len(places) == 0 {
		return x
	}
	p := pick(a.dice, places) + "/userOp/nonce"
	old, _ := at[string](doc, p)
	v, isNumber := new(big.Int).SetString(old, 10)
	if !isNumber {
		return x
	}
	by := pick(a.dice, []int64{-1, 1, 1, 2, 3, 16, 17, 1000})
	if v.Add(v, big.NewInt(by)).Sign() < 0 {
		return x
	}
	if by < 0 {
		a.tell(string(x.at) + ": a lower nonce")
	} else {
		a.tell(string(x.at) + ": a higher nonce")
	}
	x.raw = a.sealed(x.at, put(x.raw, map[string]any{p: v.String()}))
	return x
}

// balances lies about what is usable.
func (a *Attacker) balances(x exchange) exchange {
	doc, ok := document(x.raw)
	if !ok || x.fault != nil {
		return x
	}
	const root = "/sourceAssetBalances"
	list, ok := at[[]api.SourceAssetBalance](doc, root)
	if !ok || len(list) == 0 {
		return x
	}
	i := a.dice.IntN(len(list))
	switch a.dice.IntN(5) {
	case 0:
		a.tell("prepare: a balance left out")
		list = append(list[:i], list[i+1:]...)
	case 1:
		a.tell("prepare: no balances")
		list = []api.SourceAssetBalance{}
	case 2:
		a.tell("prepare: a higher balance")
		list[i].Balance += "0"
	case 3:
		a.tell("prepare: a lower balance")
		list[i].Balance = "1"
	default:
		a.tell("prepare: other decimals of a balance")
		list[i].Decimals = a.dice.IntN(30)
	}
	x.raw = put(x.raw, map[string]any{root: list})
	return x
}

// poorer makes the person pay for what is there already: it has the genuine service prepare a call that needs as much
// more as the account holds, and says that this balance is not there. The operation to sign is the same; the quote
// then asks for deposits elsewhere (TH-P6).
func (a *Attacker) poorer(x exchange) exchange {
	doc, ok := document(x.body)
	if !ok || a.house == nil {
		return a.genuine(x)
	}
	asset, okAsset := at[string](doc, "/tokensRequired/0/assetType")
	needs, okNeeds := at[string](doc, "/tokensRequired/0/amount")
	parsed, err := caip.ParseAsset(asset)
	have := a.balanceOf(doc, parsed)
	need, isNumber := new(big.Int).SetString(needs, 10)
	if !okAsset || !okNeeds || err != nil || !isNumber || have.Cmp(need) < 0 {
		return a.genuine(x)
	}
	a.tell("prepare: the balance is gone")
	a.pass(&x, put(x.body, map[string]any{"/tokensRequired/0/amount": have.Add(have, need).String()}))
	answer, ok := document(x.raw)
	if !ok || !x.succeeded() {
		return x
	}
	list, _ := at[[]api.SourceAssetBalance](answer, "/sourceAssetBalances")
	kept := []api.SourceAssetBalance{}
	for _, b := range list {
		if at, err := caip.ParseAsset(b.AssetType); err != nil || at != parsed {
			kept = append(kept, b)
		}
	}
	if data, ok := at[string](answer, "/chainOperation/userOp/callData"); ok {
		a.patch[data] = needs
	}
	x.raw = a.sealed(x.at, put(x.raw, map[string]any{"/chainOperation/amount": needs, "/sourceAssetBalances": kept}))
	return x
}

// balanceOf is what the first EVM account of a request really has.
func (a *Attacker) balanceOf(doc *api.Document, asset caip.Asset) *big.Int {
	for _, p := range []string{"/account/accountAddress", "/accounts/0/accountAddress", "/accounts/1/accountAddress"} {
		if who, ok := at[string](doc, p); ok && common.IsHexAddress(who) {
			if v, err := a.house.chains.Balance(context.Background(), common.HexToAddress(who), asset); err == nil {
				return v
			}
		}
	}
	return new(big.Int).SetInt64(-1)
}

// patched dresses the answer to call-quote for a prepared call about which was lied.
func (a *Attacker) patched(x *exchange) {
	if x.at != CallQuote || !x.succeeded() || !a.baited(*x) {
		return
	}
	amount := a.patch[callDataOf(*x)]
	answer, ok := document(x.raw)
	if !ok {
		return
	}
	if id, ok := at[string](answer, "/id"); ok {
		a.forged[strings.ToLower(id)] = true
	}
	a.tell("call-quote: a payment for what is there")
	x.raw = a.sealed(CallQuote, put(x.raw, map[string]any{
		"/destinationToken/amount": amount, "/destinationToken/minimumAmount": amount,
	}))
}

func callDataOf(x exchange) string {
	doc, ok := document(x.body)
	if !ok {
		return ""
	}
	data, _ := at[string](doc, "/chainOperation/userOp/callData")
	return data
}

// baited reports whether a prepared call is one about which was lied.
func (a *Attacker) baited(x exchange) bool {
	_, lied := a.patch[callDataOf(x)]
	return lied
}

// wanted is a request for something that the attacker would like better.
func (a *Attacker) wanted(x exchange) []byte {
	doc, ok := document(x.body)
	if !ok {
		return nil
	}
	values := map[string]any{}
	doc.Leaves(func(pointer string, value []byte) {
		kept := strings.Contains(pointer, "/chainOperation/") || strings.Contains(pointer, "tamperProof")
		if kept || !a.dice.chance(30) {
			return
		}
		if v, ok := a.instead(pointer, strings.Trim(string(value), `"`)); ok {
			values[pointer] = v
		}
	})
	if len(values) == 0 {
		return nil
	}
	return put(x.body, values)
}

// instead is another value of one member of a request.
func (a *Attacker) instead(pointer, old string) (any, bool) {
	name := pointer[strings.LastIndexByte(pointer, '/')+1:]
	switch name {
	case "amount":
		v, ok := new(big.Int).SetString(old, 10)
		if !ok {
			return nil, false
		}
		return v.Mul(v, big.NewInt(1+a.dice.Int64N(9))).Quo(v, big.NewInt(1+a.dice.Int64N(3))).String(), true
	case "data":
		return "0x" + common.Bytes2Hex(erc20.Transfer(thief(), big.NewInt(1+a.dice.Int64N(1e9)))), true
	case "targetChain":
		return pick(a.dice, a.house.chainNames()), true
	case "assetId", "fromAssetId", "fromAggregatedAssetId":
		return pick(a.dice, []string{"ob:usdc", "ob:eth", "ob:usdt", "ob:dai"}), true
	case "slippageTolerance":
		return 1 + a.dice.IntN(9_999), true
	case "account", "spender", "to":
		return reAddress.ReplaceAllString(old, thief().Hex()), true
	}
	return nil, false
}

// dressed puts what the wallet asked for into an answer to something else, and seals it.
func (a *Attacker) dressed(x exchange) []byte {
	doc, ok := document(x.body)
	if !ok {
		return x.raw
	}
	values := map[string]any{}
	for from, to := range map[string]string{
		"/tokensRequired/0/assetType": "/chainOperation/assetType",
		"/tokensRequired/0/amount":    "/chainOperation/amount",
		"/accounts":                   "/accounts",
		"/account":                    "/account",
		"/from/accounts":              "/accounts",
		"/from/account":               "/account",
		"/from/amount":                "/originToken/amount",
		"/to/account":                 "/destinationToken/recipientAccount",
		"/from/asset/assetId":         "/originToken/aggregatedAssetId",
		"/to/asset/assetId":           "/destinationToken/aggregatedAssetId",
	} {
		if v, ok := at[any](doc, from); ok {
			values[to] = v
		}
	}
	return a.sealed(x.at, put(x.raw, values))
}

// history lies about what was done: other statuses, records that are not there, pages without an end.
func (a *Attacker) history(x exchange) exchange {
	x = a.genuine(x)
	doc, ok := document(x.raw)
	if !ok || x.fault != nil {
		return x
	}
	var page api.HistoryPage
	if doc.Decode(&page) != nil {
		return x
	}
	switch a.dice.IntN(4) {
	case 0:
		a.tell("history: other statuses")
		for i := range page.Transactions {
			page.Transactions[i].Status = pick(a.dice, []string{
				api.StatusCompleted, api.StatusRefunded, api.StatusFailed, api.StatusPending, "GONE",
			})
		}
	case 1:
		a.tell("history: records left out")
		page.Transactions = []api.HistoryRecord{}
	case 2:
		a.tell("history: pages without an end")
		page.Continuation = "again"
	default:
		return a.spoiled(x)
	}
	return x.says(200, page)
}

// chainNames are the chains of the house, CAIP-2.
func (h *House) chainNames() []string {
	if h == nil {
		return []string{"eip155:1", "eip155:10", "eip155:8453"}
	}
	return h.Network.Chains
}
