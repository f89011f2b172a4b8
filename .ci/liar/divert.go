package liar

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
)

// diverted makes well-formed operations of the genuine ones that do something else, sealed as only the owner can:
// payments elsewhere, another sponsor, a delegation that can be used later. A person with the gate for it open may sign
// them, knowing what can leave.
func (a *Attacker) diverted(x exchange) exchange {
	doc, ok := document(x.raw)
	if !ok || x.fault != nil || a.house == nil {
		return x
	}
	places := operationsOf(doc)
	if len(places) == 0 {
		return x
	}
	p := pick(a.dice, places)
	var name string
	var values map[string]any
	switch a.dice.IntN(4) {
	case 0:
		name, values = "another sponsor", map[string]any{p + "/userOp/paymaster": pick(a.dice, friends()).address.Hex()}
	case 1:
		nonce, ok := at[uint64](doc, p+"/delegation/nonce")
		if !ok {
			return x
		}
		name, values = "a later delegation", map[string]any{p + "/delegation/nonce": nonce + 1 + a.dice.Uint64N(3)}
	default:
		name, values = a.elsewhere(doc, p)
	}
	if len(values) == 0 {
		return x
	}
	a.tell(string(x.at) + ": " + name)
	x.raw = a.sealed(x.at, put(x.raw, values))
	return x
}

// elsewhere is a payment to somebody else, or a right to take it, in the place of a deposit.
func (a *Attacker) elsewhere(doc *api.Document, p string) (string, map[string]any) {
	text, _ := at[string](doc, p+"/amount")
	v, isNumber := new(big.Int).SetString(text, 10)
	name, _ := at[string](doc, p+"/assetType")
	asset, err := caip.ParseAsset(name)
	if !isNumber || err != nil {
		return "", nil
	}
	to := pick(a.dice, friends()).address
	token, isToken := asset.Token()
	calls, lie := []op.Call{{To: to, Value: v}}, "a payment elsewhere"
	switch {
	case isToken && a.dice.chance(50):
		calls, lie = []op.Call{{To: token, Value: new(big.Int), Data: erc20.Approve(to, v)},
			{To: to, Value: new(big.Int), Data: []byte{1, 2, 3, 4}}}, "an approval elsewhere"
	case isToken:
		calls = []op.Call{{To: token, Value: new(big.Int), Data: erc20.Transfer(to, v)}}
	}
	data, err := op.EncodeExecute(calls)
	if err != nil {
		return "", nil
	}
	return lie, map[string]any{p + "/userOp/callData": "0x" + common.Bytes2Hex(data)}
}

// assumed is a request under assumptions about the account's balances, or for another person's accounts.
func (a *Attacker) assumed(x exchange) []byte {
	doc, ok := document(x.body)
	if !ok {
		return nil
	}
	who := ""
	for _, p := range []string{"/account", "/accounts/0", "/accounts/1"} {
		if text, ok := at[string](doc, p+"/accountAddress"); ok && common.IsHexAddress(text) {
			who = text
		}
	}
	if x.at == Prepare && who != "" && a.dice.chance(50) {
		if _, there := doc.At("/overrides"); !there {
			open := strings.IndexByte(string(x.body), '{')
			return insert(x.body, open+1, fmt.Sprintf(`"overrides":[{"address":%q,"balance":"0x%x"}],`, who,
				a.dice.Uint64()))
		}
	}
	for _, y := range a.past.answers[x.at] {
		other, ok := document(y.body)
		if !ok {
			continue
		}
		for _, p := range []string{"/accounts", "/account", "/from/accounts", "/from/account"} {
			theirs, ok := at[any](other, p)
			if _, mine := doc.At(p); ok && mine && a.dice.chance(30) {
				return put(x.body, map[string]any{p: theirs})
			}
		}
	}
	return nil
}
