package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/openapi"
	"coffer/api/service"
	"coffer/api/service/chain/evm"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
	"coffer/assets"
)

// recorder notes which described members the answers had, by endpoint.
type recorder struct {
	mu   sync.Mutex
	seen map[string]map[string]bool
}

type recorded struct {
	*recorder
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r recorded) RoundTrip(q *http.Request) (*http.Response, error) {
	res, err := r.next.RoundTrip(q)
	if err != nil || res.StatusCode >= 300 {
		return res, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	d, err := describe()
	if err != nil {
		return nil, err
	}
	e, known := d.endpoints[q.Method+" "+strings.TrimPrefix(q.URL.Path, "/api")]
	var v any
	if !known || json.Unmarshal(raw, &v) != nil {
		return res, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[e.ID] == nil {
		r.seen[e.ID] = map[string]bool{}
	}
	d.seen(d.answerOf(e), v, r.seen[e.ID])
	return res, nil
}

// neverServed are described members that answers do not have, by member, or by endpoint and member, with the reason. A
// star stands for the rest.
func neverServed() map[string]string {
	const (
		unsigned = "operations are answered unsigned"
		silent   = "only where a chain cannot be asked: TestASilentChainStopsNeitherTheStartNorTheOthers"
		damaged  = "only where the database is damaged: TestR3_WhatIsDamagedIsNamed"
	)
	return map[string]string{
		"SolanaChainOperation.signature":                    unsigned,
		"SolanaChainOperation.addressLookupTableAddresses":  "messages have no lookup tables",
		"Delegation.signature":                              unsigned,
		"DelegationSignature.*":                             unsigned,
		"getQuoteV1 QuoteV1.destinationChainOperation":      "swaps and transfers have no prepared operation",
		"getAggregatedBalanceV2 AggregatedBalance.accounts": "v2 answers for one address",
		"getAggregatedBalanceV2 BalanceAccounts.*":          "v2 answers for one address",
		"AggregatedBalance.unreachable":                     silent,
		"UnreachableChain.*":                                silent,
		"HistoryPage.damaged":                               damaged,
		"HistoryPageV1.damaged":                             damaged,
	}
}

func isNeverServed(endpoint, field string) bool {
	never := neverServed()
	component, _, _ := strings.Cut(field, ".")
	for _, key := range []string{field, component + ".*", endpoint + " " + field, endpoint + " " + component + ".*"} {
		if never[key] != "" {
			return true
		}
	}
	return false
}

func (c *client) recordedBy(r *recorder) *client {
	c.rt = checked{c.t, recorded{r, service.RoundTripper(c.s.Handler())}}
	return c
}

// everything goes through all endpoints with accounts of every kind.
func everything(t *testing.T, r *recorder) {
	t.Helper()
	s := open(t, options(storetest.New(t)))
	for i, kind := range settletest.Kinds() {
		for _, v1 := range []bool{false, true} {
			caller, swapper := newClient(t, s, kind, uint64(60+i)).recordedBy(r),
				newClient(t, s, kind, uint64(160+i)).recordedBy(r)
			if v1 {
				caller, swapper = newClient(t, s, kind, uint64(260+i)).recordedBy(r),
					newClient(t, s, kind, uint64(360+i)).recordedBy(r)
			}
			if v1 && caller.user.HasSolana() {
				continue
			}
			caller.v1, swapper.v1 = v1, v1
			caller.look()
			caller.callAndSwap()
			swapper.swapOnly()
			if caller.user.Account.Type == api.AccountKernelV33 {
				caller.ask("GET", "/account/code?account="+caller.user.On(8453), "")
				caller.ask("POST", "/account/undelegate", caller.undelegation(8453, 1))
			}
		}
	}
	for _, v1 := range []bool{false, true} { // refunds have a reason
		c := newClient(t, open(t, refunding(options(storetest.New(t)))), api.AccountRoleBased, 70).recordedBy(r)
		c.v1 = v1
		signed, id := c.exchange(c.swap("ob:usdc", "300000000", "eip155:8453/slip44:60", ""))
		if got := c.finish(signed, id); got.Status != api.StatusRefunded {
			t.Errorf("%+v", got)
		}
		c.ask("GET", c.statusPath()+"/get-tx-history?user="+c.user.Address.Hex(), "")
	}
	c := newClient(t, s, api.AccountKernelV31, 72).recordedBy(r)
	token := c.issue()
	c.ask("GET", "/v3/balances/aggregated-balance?account=eip155:1:"+c.user.Address.Hex()+"&assetId="+token, "")
	c.ask("GET", "/v2/balances/aggregated-balance?address="+c.user.Address.Hex()+"&assetId="+token, "")
	c = newClient(t, s, api.AccountRoleBased, 71).recordedBy(r)
	c.ask("POST", "/account/predict-address", fmt.Sprintf(`{"sessionAddress":%q,"adminAddress":%q}`,
		c.user.Account.SessionAddress, c.user.Account.AdminAddress))
	c.ask("POST", "/account/relay", c.rotate("eip155:10", settletest.Key(99), 0))
	c.ask("GET", "/account/roles?account=eip155:10:"+c.user.Address.Hex(), "")
	for _, path := range []string{"/assets/list", "/chains/supported-list", "/healthz", "/openapi.json",
		"/v2/balances/aggregated-balance?assetId=" + opUSDC + "&address=" + c.user.Address.Hex()} {
		c.ask("GET", path, "")
	}
}

// issue deploys a token that /assets/list does not have, by a call, and returns its id.
func (c *client) issue() string {
	c.t.Helper()
	art, err := assets.Contract("Token")
	if err != nil {
		c.t.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(art.ABI))
	if err != nil {
		c.t.Fatal(err)
	}
	args, err := parsed.Pack("", "A token", "NEW", uint8(9), c.user.Address, big.NewInt(1_000))
	if err != nil {
		c.t.Fatal(err)
	}
	creation, deployer := append(art.Bytecode, args...), evm.DeterministicDeployer()
	signed, id, _ := c.call(fmt.Sprintf(`{%s,"targetChain":"eip155:8453","calls":[{"to":%q,"data":"0x%064x%x"}]}`,
		c.who(),
		deployer.Hex(), 0, creation), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
	return "eip155:8453/erc20:" + crypto.CreateAddress2(deployer, common.Hash{}, crypto.Keccak256(creation)).Hex()
}

// look reads the balances of all accounts, which gives them their test funds.
func (c *client) look() {
	c.t.Helper()
	ask := ""
	for _, a := range c.user.Accounts() {
		form := "eip155:1:" + a.AccountAddress
		if a.Type == api.AccountSolana {
			form = "solana:" + a.AccountAddress
		}
		ask = strings.Trim(ask+","+form, ",")
	}
	c.ask("GET", "/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&assetId="+opUSDC+"&account="+ask, "")
}

// callAndSwap makes a call and then a swap, and reads a page of history that is not the last.
func (c *client) callAndSwap() {
	c.t.Helper()
	if !c.user.HasEVM() {
		return
	}
	amount := int64(300_000_000)
	if c.user.HasSolana() {
		amount = c.wealth() - 20_000_000
	}
	signed, id, _ := c.call(c.transfer(amount), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
	signed, id = c.exchange(c.swap("ob:eth", "100000000000000000", "ob:usdt", ""))
	c.done(c.finish(signed, id), api.RecordSwap)
	c.ask("GET", c.statusPath()+"/get-tx-history?limit=1&user="+c.user.Address.Hex(), "")
}

// swapOnly begins with a swap, so that its operations deploy or delegate.
func (c *client) swapOnly() {
	c.t.Helper()
	if c.user.HasEVM() {
		signed, id := c.exchange(c.swap("ob:eth", "100000000000000000", "ob:usdt", ""))
		c.done(c.finish(signed, id), api.RecordSwap)
	}
	if c.user.HasSolana() {
		signed, id := c.exchange(c.swap(solSOL, "1000000000", opUSDC, "eip155:10:"+recipient))
		c.done(c.finish(signed, id), api.RecordSwap)
	}
}

// wealth is all the USDC that a call can be paid with.
func (c *client) wealth() (sum int64) {
	c.t.Helper()
	var p api.PrepareResponse
	if err := c.prepare(c.transfer(1_000_000)).Decode(&p); err != nil {
		c.t.Fatal(err)
	}
	for _, b := range p.SourceAssetBalances {
		v, ok := new(big.Int).SetString(b.Balance, 10)
		if !ok || b.Decimals < 6 || b.Decimals > 18 {
			c.t.Fatalf("%+v", b)
		}
		sum += amount.Scale(v, b.Decimals, 6).Int64()
	}
	return sum
}

// Every described member of every endpoint's answer comes in some answer, and no other does: answers are validated as
// they pass.
func TestEveryFieldOfEveryAnswerIsServed(t *testing.T) {
	r := &recorder{seen: map[string]map[string]bool{}}
	everything(t, r)
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range openapi.Endpoints() {
		if r.seen[e.ID] == nil {
			t.Errorf("%s was not gone through", e.ID)
			continue
		}
		for field := range d.fields(d.answerOf(e)) {
			if has, never := r.seen[e.ID][field], isNeverServed(e.ID, field); has == never {
				t.Errorf("%s: %s served: %t, to be served: %t", e.ID, field, has, !never)
			}
		}
	}
}

// full adds to a prepare body whatever else it can have.
func (c *client) full(body string) string {
	word := "0x" + strings.Repeat("0", 63) + "1"
	for at, v := range map[string]string{
		"/allowanceRequirements": `[{"assetType":"eip155:8453/erc20:` + baseUSDC + `","amount":"5","spender":"` +
			recipient + `"}]`,
		"/overrides": `[{"address":"` + recipient + `","balance":"0x1","code":"0x00","stateDiff":{"` + word + `":"` +
			word + `"}}]`,
		"/validAfter": `"1760000000"`, "/validUntil": `"1760000300"`, "/slippageTolerance": "100",
	} {
		body = c.put(body, at, v)
	}
	if !c.v1 {
		body = c.put(body, "/fromAssetId", `"ob:usdc"`)
	}
	return body
}

// requests are real bodies of every endpoint that takes one, which together have every member.
func requests(t *testing.T, s *service.Service) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	add := func(path, body string) { out[path] = append(out[path], body) }
	for i, kind := range settletest.Kinds() {
		for _, v1 := range []bool{false, true} {
			c := newClient(t, s, kind, uint64(80+i))
			if c.v1 = v1; v1 && c.user.HasSolana() {
				continue
			}
			if !c.user.HasEVM() {
				signed, _ := c.exchange(c.swap(solSOL, "1000000000", opUSDC, "eip155:10:"+recipient))
				add(c.executePath(), string(signed.Raw()))
				continue
			}
			add(c.preparePath(), c.full(c.transfer(300_000_000)))
			called := c.callQuoteBody(c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation"), "ob:usdc")
			called = c.put(called, "/slippageTolerance", "100")
			signed, _ := c.signAll(c.ask("POST", c.callQuotePath(), called))
			if !v1 {
				called = c.put(called, "/fromAssetId", `"`+opUSDC+`"`)
			}
			add(c.callQuotePath(), called)
			add(c.executePath(), string(signed.Raw()))
			add(c.quotePath(), c.put(c.swap("ob:usdc", "5000000", "ob:eth", c.user.On(10)), "/slippageTolerance",
				"100"))
			if c.user.Account.Type == api.AccountKernelV33 {
				add("/account/undelegate", c.undelegation(8453, 0))
			}
			if c.user.Admin != nil && v1 {
				add("/account/relay", c.rotate("eip155:10", settletest.Key(99), 0))
				operation, _ := c.prepare(c.transfer(10_000_000)).At("/chainOperation/userOp")
				add("/account/relay",
					c.put(fmt.Sprintf(`{"account":%s,"chain":"eip155:10","action":"operate","userOp":%s}`,
						c.json(c.user.Account), operation), "/userOp/signature", `"0x12"`))
			}
		}
	}
	out["/account/predict-address"] = []string{
		fmt.Sprintf(`{"type":"role-based","sessionAddress":%q,"adminAddress":%q}`, account, recipient),
		fmt.Sprintf(`{"type":"kernel-v3.1-ecdsa","signerAddress":%q}`, account),
	}
	return out
}

// neverSent are described members that no body has.
func neverSent() []string {
	return []string{
		"SolanaChainOperation.addressLookupTableAddresses",                // messages have no lookup tables
		"relay AccountV1.signerAddress", "relay AccountV1.deploymentType", // only role-based accounts have an admin
	}
}

// place writes a JSON pointer as failures name places.
func place(pointer string) string {
	out := ""
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if strings.Trim(part, "0123456789") == "" {
			out += "[" + part + "]"
		} else {
			out += "." + part
		}
	}
	return strings.TrimPrefix(out, ".")
}

// Every leaf of every body, sent with another JSON type, is refused with its place; the bodies together have every
// described member.
func TestEveryMemberOfEveryRequestIsChecked(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	d, err := describe()
	if err != nil {
		t.Fatal(err)
	}
	bodies := requests(t, s)
	c := newClient(t, s, api.AccountKernelV31, 1)
	for _, e := range openapi.Endpoints() {
		if e.Request == nil {
			continue
		}
		has, done := map[string]bool{}, map[string]bool{}
		for _, body := range bodies[e.Path] {
			d.seen(d.bodyOf(e), value(t, []byte(body)), has)
			doc, err := api.ParseDocument([]byte(body), api.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			doc.Leaves(func(pointer string, was []byte) {
				other := "[true]"
				if string(was) == "[]" {
					other = "true"
				}
				if done[pointer] {
					return // of another account kind, at the same place
				}
				done[pointer] = true
				c.invalid(e.Path, string(c.splice(doc, pointer, other).Raw()), "", place(pointer))
			})
		}
		for field := range d.fields(d.bodyOf(e)) {
			if !has[field] && !slices.Contains(neverSent(), field) && !slices.Contains(neverSent(), e.ID+" "+field) {
				t.Errorf("%s: no body has %s", e.ID, field)
			}
		}
	}
}

// A continuation leads page by page to the end, where there is none, belongs to its user and order, and does not live
// for ever.
func TestAContinuationLeadsToTheEndAndExpires(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		s, now := late(t)
		c := newClient(t, s, api.AccountKernelV31, 91)
		c.v1 = v1
		for range 3 {
			signed, id := c.exchange(c.swap("ob:usdc", "5000000", "ob:eth", ""))
			c.done(c.finish(signed, id), api.RecordSwap)
			*now = now.Add(time.Second)
		}
		base := c.statusPath() + "/get-tx-history?limit=2&user=" + c.user.Address.Hex()
		var one, two api.HistoryPage
		if err := c.ask("GET", base, "").Decode(&one); err != nil || len(one.Transactions) != 2 ||
			one.Continuation == "" {
			t.Fatalf("%v %+v", err, one)
		}
		next := base + "&continuation=" + one.Continuation
		last := c.ask("GET", next, "")
		if err := last.Decode(&two); err != nil || len(two.Transactions) != 1 ||
			strings.Contains(string(last.Raw()), "continuation") {
			t.Errorf("%v %s", err, last.Raw())
		}
		bad := []string{base + "&continuation=x", next + "&sortBy=updatedAt",
			strings.ReplaceAll(next, c.user.Address.Hex(), recipient)}
		for _, path := range bad {
			status, raw := c.send("GET", path, "")
			c.isInvalid(path, status, raw, "", "continuation")
		}
		*now = now.Add(16 * time.Minute)
		status, raw := c.send("GET", next, "")
		c.isInvalid("expired", status, raw, "", "continuation")
	}
}
