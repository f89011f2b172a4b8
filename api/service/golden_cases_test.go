package service_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/big"
	"math/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// goldenFile is one run through the service, kept for the wallet's tests in wallet/verify/testdata/golden: what was
// asked, what was answered and what was signed in between. Now is the moment of both answers in Unix seconds. Prepared
// and Quote hold the bytes of the answers as text; a swap or a transfer has neither Prepared nor Signatures. All keys
// are worthless.
//
// To make the files again: go test ./api/service -run Golden -update
type goldenFile struct {
	Name       string            `json:"name"`
	Now        int64             `json:"now"`
	Intent     map[string]any    `json:"intent"`
	Network    json.RawMessage   `json:"network"`
	Prepared   string            `json:"prepared,omitempty"`
	Signatures *goldenSignatures `json:"signatures,omitempty"`
	Quote      string            `json:"quote"`
}

// goldenSignatures are what the account signed of the prepared operation: 0x hex, and the authorization where one was
// asked for.
type goldenSignatures struct {
	Operation  string          `json:"operation"`
	Delegation json.RawMessage `json:"delegation,omitempty"`
}

// goldenAsk is what one golden user asks for: a call when receive is "", else a swap or a transfer, which is the case
// when both assets are of one aggregate. minimum is the smallest amount that the user takes.
type goldenAsk struct {
	name, kind string
	v1         bool
	spend      int64 // a call: USDC on Base that goes to the recipient, in base units
	allow      []api.AllowanceRequirement
	fund       string
	pay        string
	amount     string
	receive    string
	to         string
	minimum    string
	slippage   int
	transfer   bool
	user       uint64 // whose funds suit the case; 0 = anybody
	// after a call of the same user was executed, so that the account is deployed or delegated on Base
	twice bool
}

const (
	goldenUSDC = "eip155:8453/erc20:" + baseUSDC
	baseETH    = "eip155:8453/slip44:60"
)

func goldenCalls() []goldenAsk {
	const solana = settletest.WithSolana
	kernel, eip7702, role := api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased
	var out []goldenAsk
	for _, v1 := range []bool{true, false} {
		v := map[bool]string{true: "v1", false: "v3"}[v1]
		out = append(out,
			goldenAsk{name: v + "-kernel-same-chain", kind: kernel, v1: v1, spend: 5_000_000, fund: "ob:usdc"},
			goldenAsk{name: v + "-eip7702-same-chain", kind: eip7702, v1: v1, spend: 5_000_000, fund: "ob:usdc"},
			goldenAsk{name: v + "-role-based-same-chain", kind: role, v1: v1, spend: 5_000_000, fund: "ob:usdc"},
			goldenAsk{name: v + "-kernel-funded", kind: kernel, v1: v1, spend: 250_500_000, fund: "ob:usdc",
				slippage: 50},
			goldenAsk{name: v + "-eip7702-funded", kind: eip7702, v1: v1, spend: 2_000_000_000, fund: "ob:usdc",
				slippage: 50},
			goldenAsk{name: v + "-role-based-funded", kind: role, v1: v1, spend: 250_500_000, fund: "ob:usdc",
				slippage: 50},
		)
	}
	return append(out,
		goldenAsk{name: "v3-kernel-several-chains", kind: kernel, spend: 2_000_000_000, fund: "ob:usdc", slippage: 50},
		goldenAsk{name: "v3-role-based-paid-in-eth", kind: role, spend: 300_000_000, fund: "ob:eth", slippage: 100},
		goldenAsk{name: "v3-eip7702-delegated", kind: eip7702, spend: 300_000_000, fund: "ob:usdc", twice: true},
		goldenAsk{name: "v3-eip7702-paid-on-base", kind: eip7702, spend: 60_000_000, fund: baseETH, user: 1},
		goldenAsk{name: "v3-role-based-allowances", kind: role, spend: 10_000_000, fund: "ob:usdc",
			allow: []api.AllowanceRequirement{
				{AssetType: goldenUSDC, Amount: "777", Spender: recipient},
				{AssetType: goldenUSDC, Amount: "0", Spender: "0x1111111111111111111111111111111111111111"},
			}},
		goldenAsk{name: "v3-kernel-solana-funded", kind: kernel + solana, spend: 120_000_000, fund: solUSDC,
			slippage: 50},
		goldenAsk{name: "v3-eip7702-solana-funded", kind: eip7702 + solana, spend: 60_000_000, fund: solSOL,
			slippage: 100},
		goldenAsk{name: "v3-kernel-mixed", kind: kernel + solana, spend: -20_000_000, fund: "ob:usdc", slippage: 50},
		goldenAsk{name: "v3-role-based-mixed", kind: role + solana, spend: -20_000_000, fund: "ob:usdc", slippage: 50},
	)
}

func goldenExchanges(solanaFriend string) []goldenAsk {
	const solana = settletest.WithSolana
	kernel, eip7702, role := api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased
	return []goldenAsk{
		{name: "v3-swap-evm", kind: kernel, pay: "ob:eth", amount: "10000000000000000", receive: opUSDC,
			minimum: "20000000"},
		{name: "v3-swap-several-chains", kind: eip7702, pay: "ob:usdc", amount: "1900000000", receive: baseETH,
			slippage: 100},
		{name: "v3-swap-role-based", kind: role, pay: "ob:eth", amount: "10000000000000000", receive: "ob:usdc"},
		{name: "v3-swap-from-solana", kind: api.AccountSolana, pay: solSOL, amount: "1000000000", receive: opUSDC,
			to: "eip155:10:" + recipient},
		{name: "v3-swap-from-solana-to-self", kind: kernel + solana, pay: solUSDC, amount: "50000000",
			receive: baseETH},
		{name: "v3-swap-to-solana", kind: eip7702 + solana, pay: "ob:usdc", amount: "500000000", receive: solSOL},
		{name: "v3-transfer", kind: kernel, pay: "ob:usdc", amount: "40000000", receive: "ob:usdc",
			to: "eip155:10:" + recipient, transfer: true},
		{name: "v3-transfer-one-chain", kind: role, pay: opUSDC, amount: "40000000", receive: opUSDC,
			to: "eip155:10:" + recipient, user: 1, transfer: true},
		{name: "v3-transfer-from-solana", kind: api.AccountSolana, pay: "ob:usdc", amount: "40000000",
			receive: "ob:usdc", to: "eip155:8453:" + recipient, transfer: true},
		{name: "v3-transfer-to-solana", kind: role, pay: "ob:usdc", amount: "40000000", receive: "ob:usdc",
			to: solanaFriend, transfer: true},
		{name: "v3-transfer-on-solana", kind: api.AccountSolana, pay: "ob:sol", amount: "100000000", receive: "ob:sol",
			to: solanaFriend, transfer: true},
		{name: "v1-swap", kind: kernel, v1: true, pay: "ob:eth", amount: "5000000000000000", receive: opUSDC},
		{name: "v1-swap-role-based", kind: role, v1: true, pay: "ob:eth", amount: "5000000000000000",
			receive: "ob:usdc"},
		{name: "v1-transfer-eip7702", kind: eip7702, v1: true, pay: "ob:eth", amount: "5000000000000000",
			receive: "ob:eth", to: "eip155:10:" + recipient, transfer: true},
	}
}

// TestGoldenCasesOfTheWallet keeps one file a case under wallet/verify/testdata/golden. Clock, seed, keys and
// randomness are fixed, so every run gives the same bytes; each case has a user of its own.
func TestGoldenCasesOfTheWallet(t *testing.T) {
	o := options(storetest.New(t))
	o.Random = rand.New(rand.NewSource(2))
	s := open(t, o)
	descriptor, err := s.Network().Encode()
	if err != nil {
		t.Fatal(err)
	}
	friend := settletest.NewUserOf(s.Network().Pins, api.AccountSolana, 77)
	cases := append(goldenCalls(), goldenExchanges("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:"+
		friend.Wallet.String())...)
	for _, ask := range cases {
		if ask.user == 0 {
			ask.user = uint64(crc32.ChecksumIEEE([]byte(ask.name)))
		}
		c := newClient(t, s, ask.kind, ask.user)
		c.v1 = ask.v1
		if ask.twice {
			signed, id, _ := c.call(c.transfer(5_000_000), "ob:usdc")
			c.done(c.finish(signed, id), api.RecordCall)
		}
		if ask.slippage == 0 {
			ask.slippage = 200
		}
		f := goldenFile{Name: ask.name, Now: o.Clock().Unix(), Network: descriptor}
		if ask.receive == "" {
			c.goldenCall(ask, &f)
		} else {
			c.goldenExchange(ask, &f)
		}
		f.Intent["network"] = s.Network().ID
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(f); err != nil {
			t.Fatal(err)
		}
		keep(t, filepath.Join("..", "golden", ask.name+".json"), text.Bytes())
	}
	if err := s.Idle(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// draft begins an intent file: only members that are set are written.
func (c *client) draft(ask goldenAsk) map[string]any {
	out := map[string]any{"version": 1, "accounts": c.user.Accounts(), "slippageBps": ask.slippage}
	if ask.v1 {
		out["interface"] = "v1"
	}
	return out
}

// goldenCall prepares, signs and quotes a call. A negative spend means all USDC that the user has on all chains but so
// much.
func (c *client) goldenCall(ask goldenAsk, f *goldenFile) {
	c.t.Helper()
	if ask.spend < 0 {
		ask.spend += c.allUSDC()
	}
	calls := []api.Call{{To: baseUSDC, Data: "0x" +
		hex.EncodeToString(erc20.Transfer(common.HexToAddress(recipient), big.NewInt(ask.spend))), Value: "0"}}
	required := []api.TokenRequirement{{AssetType: goldenUSDC, Amount: fmt.Sprint(ask.spend)}}
	f.Intent = c.draft(ask)
	f.Intent["targetChain"], f.Intent["calls"], f.Intent["tokensRequired"], f.Intent["fundWith"] = "eip155:8453", calls,
		required, ask.fund
	members := map[string]any{"targetChain": "eip155:8453", "calls": calls, "tokensRequired": required,
		"slippageTolerance": ask.slippage}
	if len(ask.allow) > 0 {
		f.Intent["allowances"], members["allowanceRequirements"] = ask.allow, ask.allow
	}
	if !c.v1 {
		members["fromAssetId"] = ask.fund
	}
	prepared := c.prepare("{" + c.who() + "," + strings.TrimPrefix(c.json(members), "{"))
	signed := c.sign(prepared, "/chainOperation")
	body := strings.TrimSuffix(c.callQuoteBody(signed, ask.fund), "}") +
		fmt.Sprintf(`,"slippageTolerance":%d}`, ask.slippage)
	if !strings.HasPrefix(ask.fund, "ob:") {
		body = strings.Replace(body, `"fromAggregatedAssetId":`, `"fromAssetId":`, 1)
	}
	f.Prepared, f.Quote = string(prepared.Raw()), string(c.ask("POST", c.callQuotePath(), body).Raw())
	f.Signatures = &goldenSignatures{}
	at, _ := signed.At("/chainOperation/userOp/signature")
	if err := json.Unmarshal(at, &f.Signatures.Operation); err != nil {
		c.t.Fatal(err)
	}
	if at, there := signed.At("/chainOperation/delegation/signature"); there {
		f.Signatures.Delegation = at
	}
}

// allUSDC is what a prepare counts of the user's USDC.
func (c *client) allUSDC() int64 {
	c.t.Helper()
	var p api.PrepareResponse
	if err := c.prepare(c.transfer(1_000_000)).Decode(&p); err != nil {
		c.t.Fatal(err)
	}
	all := new(big.Int)
	for _, b := range p.SourceAssetBalances {
		v, ok := new(big.Int).SetString(b.Balance, 10)
		if !ok {
			c.t.Fatalf("%+v", b)
		}
		all.Add(all, v)
	}
	return all.Int64()
}

// goldenExchange quotes a swap or a transfer.
func (c *client) goldenExchange(ask goldenAsk, f *goldenFile) {
	c.t.Helper()
	receive := map[string]any{"asset": ask.receive}
	to := map[string]any{"asset": map[string]any{"assetId": ask.receive}}
	if ask.to != "" {
		receive["account"], to["account"] = ask.to, ask.to
	}
	if ask.minimum != "" {
		receive["minimum"] = ask.minimum
	}
	f.Intent = c.draft(ask)
	f.Intent["kind"], f.Intent["pay"], f.Intent["receive"] = "swap",
		map[string]any{"asset": ask.pay, "amount": ask.amount}, receive
	if ask.transfer {
		f.Intent["kind"] = "transfer"
	}
	body := fmt.Sprintf(`{"from":{%s,"asset":{"assetId":%q},"amount":%q},"to":%s,"slippageTolerance":%d}`, c.who(),
		ask.pay, ask.amount, c.json(to), ask.slippage)
	f.Quote = string(c.ask("POST", c.quotePath(), body).Raw())
}
