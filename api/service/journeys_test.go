package service_test

import (
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

const (
	solUSDC = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	solSOL  = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501"
	opUSDC  = "eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"
)

// balance reads one asset of an account.
func (c *client) balance(account, asset string) *big.Int {
	c.t.Helper()
	var b api.AggregatedBalance
	doc := c.ask("GET", "/v3/balances/aggregated-balance?account="+account+"&assetId="+url.QueryEscape(asset), "")
	if err := doc.Decode(&b); err != nil || len(b.BalanceBySpecificAsset) != 1 {
		c.t.Fatalf("%v %s", err, doc.Raw())
	}
	v, ok := new(big.Int).SetString(b.BalanceBySpecificAsset[0].Balance, 10)
	if !ok {
		c.t.Fatalf("%s", doc.Raw())
	}
	return v
}

// done demands a status COMPLETED whose transactions have pages and which stands in the history of every account.
func (c *client) done(got api.ExecutionStatus, kind string) {
	c.t.Helper()
	if got.Status != api.StatusCompleted || got.FailReason != "" || len(got.OriginChainOperations) == 0 ||
		len(got.DestinationChainOperations) == 0 {
		c.t.Fatalf("%+v", got)
	}
	for _, o := range append(slices.Clone(got.OriginChainOperations), got.DestinationChainOperations...) {
		page := strings.Replace(o.ExplorerURL, "https://coffer.internal/api", "", 1)
		if status, body := c.send("GET", page, ""); status != 200 || !strings.Contains(string(body), o.Hash) {
			c.t.Errorf("%s: %d", page, status)
		}
		if evm := strings.HasPrefix(o.Chain, "eip155:"); (o.ChainID != 0) != (c.v1 && evm) ||
			evm && c.v1 && fmt.Sprintf("eip155:%d", o.ChainID) != o.Chain {
			c.t.Errorf("chainId %d on %s (v1: %t)", o.ChainID, o.Chain, c.v1)
		}
	}
	for _, a := range c.user.Accounts() {
		var page api.HistoryPage
		if err := c.ask("GET", c.statusPath()+"/get-tx-history?user="+a.AccountAddress, "").Decode(&page); err != nil {
			c.t.Fatal(err)
		}
		at := slices.IndexFunc(page.Transactions, func(r api.HistoryRecord) bool { return r.QuoteID == got.QuoteID })
		if at < 0 || page.Transactions[at].Type != kind || page.Transactions[at].Status != got.Status {
			c.t.Errorf("the history of %s: %+v", a.AccountAddress, page.Transactions)
		}
	}
}

// A call of v1 by a role-based account that leaves out its type is funded from other chains and completes; answers
// carry the type.
func TestAV1CallWithoutATypeIsFundedAcrossChains(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountRoleBased, 1)
	c.v1 = true
	prepared := c.prepare(c.transfer(300_000_000))
	if kind, _ := prepared.At("/account/type"); string(kind) != `"role-based"` {
		t.Errorf("the answer has account type %s", kind)
	}
	offer := c.ask("POST", c.callQuotePath(), c.callQuoteBody(c.sign(prepared, "/chainOperation"), "ob:usdc"))
	if kind, _ := offer.At("/account/type"); string(kind) != `"role-based"` {
		t.Errorf("the quote has account type %s", kind)
	}
	if _, there := offer.At("/destinationChainOperation/userOp"); !there {
		t.Errorf("a funded call of v1 has no destinationChainOperation: %s", offer.Raw())
	}
	signed, id := c.signAll(offer)
	c.done(c.finish(signed, id), api.RecordCall)
	if got := c.balance("eip155:1:"+recipient, "eip155:8453/erc20:"+baseUSDC); got.Int64() != 300_000_000 {
		t.Errorf("the recipient has %s", got)
	}
}

// USDC has 18 decimals on BNB chain and 6 elsewhere: it is moved there, added up with the rest, and pays for a call on
// Base from there.
func TestUSDCOf18DecimalsIsAddedUpAndPays(t *testing.T) {
	const onBNB = "eip155:56/erc20:0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d"
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountKernelV31, 1)
	own := c.user.Address.Hex()
	before := c.wealth()
	signed, id := c.exchange(c.swap("ob:usdc", "400000000", onBNB, "eip155:56:"+own))
	c.done(c.finish(signed, id), api.RecordTransfer)
	there := c.balance("eip155:1:"+own, onBNB)
	least, _ := new(big.Int).SetString("390000000000000000000", 10)
	if there.Cmp(least) < 0 || there.Cmp(new(big.Int).Mul(big.NewInt(400), big.NewInt(1e18))) >= 0 {
		t.Fatalf("%s arrived", there)
	}
	after := c.wealth()
	if moved := new(big.Int).Quo(there, big.NewInt(1e12)).Int64(); before-400_000_000+moved != after {
		t.Errorf("%d before, %d after %d of 400 USDC arrived", before, after, moved)
	}
	signed, id, _ = c.callFrom(c.transfer(120_000_000), onBNB)
	c.done(c.finish(signed, id), api.RecordCall)
	if got := c.balance("eip155:1:"+recipient, "eip155:8453/erc20:"+baseUSDC); got.Int64() != 120_000_000 {
		t.Errorf("the recipient has %s", got)
	}
	if left := c.balance("eip155:1:"+own, onBNB); left.Cmp(there) >= 0 {
		t.Errorf("%s of %s are left on BNB chain", left, there)
	}
}

// A v1 client may sign destinationChainOperation, too.
func TestAV1ClientMaySignTheDestinationOperation(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountKernelV31, 1)
	c.v1 = true
	signed, id, _ := c.call(c.transfer(300_000_000), "ob:usdc")
	c.done(c.finish(c.sign(signed, "/destinationChainOperation"), id), api.RecordCall)
}

// A call is made by each kind of EVM account in both versions, covered and funded.
func TestEveryEVMAccountKindMakesCallsInBothVersions(t *testing.T) {
	for i, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		for _, v1 := range []bool{true, false} {
			for _, amount := range []int64{10_000_000, 300_000_000} {
				t.Run(fmt.Sprintf("%s v1=%t %d", kind, v1, amount), func(t *testing.T) {
					c := newClient(t, open(t, options(storetest.New(t))), kind, uint64(i))
					c.v1 = v1
					signed, id, callType := c.call(c.transfer(amount), "ob:usdc")
					if want := map[bool]string{true: api.CallSameChainExcludeSolver,
						false: api.CallCrossChain}[amount == 10_000_000]; callType != want {
						t.Errorf("callType %s, expected %s", callType, want)
					}
					c.done(c.finish(signed, id), api.RecordCall)
				})
			}
		}
	}
}

// Solana pays for a call on Base beside each kind of EVM account: what is asked for is more than the account has on EVM
// chains.
func TestSolanaPaysForCallsBesideEachEVMAccount(t *testing.T) {
	for i, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			s := open(t, options(storetest.New(t)))
			c := newClient(t, s, kind+settletest.WithSolana, uint64(i))
			prepared := c.prepare(c.transfer(1_000_000))
			var p api.PrepareResponse
			if err := prepared.Decode(&p); err != nil {
				t.Fatal(err)
			}
			all, solana := big.NewInt(0), false
			for _, b := range p.SourceAssetBalances {
				v, _ := new(big.Int).SetString(b.Balance, 10)
				all.Add(all, v)
				solana = solana || b.AssetType == solUSDC
			}
			if !solana {
				t.Fatalf("Solana is not among the sources: %+v", p.SourceAssetBalances)
			}
			signed, id, _ := c.call(c.transfer(all.Int64()-20_000_000), "ob:usdc")
			if !strings.Contains(string(signed.Raw()), `"type":"solana"`+`,`) &&
				!strings.Contains(string(signed.Raw()), `"dataToSign"`) {
				t.Errorf("no Solana operation: %s", signed.Raw())
			}
			c.done(c.finish(signed, id), api.RecordCall)
		})
	}
}

// Swaps and transfers between EVM chains and Solana, in both directions.
func TestSwapsAndTransfersWithSolanaInBothDirections(t *testing.T) {
	friend := settletest.NewUserOf(open(t, options(storetest.New(t))).Network().Pins, api.AccountSolana, 77)
	solanaFriend := "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + friend.Wallet.String()
	for name, x := range map[string]struct {
		kind, from, amount, into, to, record string
	}{
		"SOL to USDC on Optimism": {api.AccountSolana, solSOL, "1000000000", opUSDC, "eip155:10:" + recipient,
			api.RecordSwap},
		"USDC on Solana to ETH": {api.AccountKernelV31 + settletest.WithSolana, solUSDC, "50000000",
			"eip155:8453/slip44:60", "", api.RecordSwap},
		"USDC of EVM chains to SOL": {api.AccountKernelV33 + settletest.WithSolana, "ob:usdc", "500000000", solSOL,
			"", api.RecordSwap},
		"USDC to a friend on Solana": {api.AccountRoleBased, "ob:usdc", "40000000", "ob:usdc", solanaFriend,
			api.RecordTransfer},
		"USDC from Solana to a friend": {api.AccountSolana, "ob:usdc", "40000000", "ob:usdc",
			"eip155:8453:" + recipient, api.RecordTransfer},
		"USDC to a friend on one chain": {api.AccountKernelV31, opUSDC, "40000000", opUSDC, "eip155:10:" + recipient,
			api.RecordTransfer},
		"SOL to a friend on Solana": {api.AccountSolana, "ob:sol", "100000000", "ob:sol", solanaFriend,
			api.RecordTransfer},
		"aggregate to aggregate on EVM": {api.AccountRoleBased, "ob:eth", "10000000000000000", "ob:usdc", "",
			api.RecordSwap},
		"several chains into one entity": {api.AccountKernelV33, "ob:usdc", "900000000", "eip155:8453/slip44:60", "",
			api.RecordSwap},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, open(t, options(storetest.New(t))), x.kind, 5)
			signed, id := c.exchange(c.swap(x.from, x.amount, x.into, x.to))
			var q api.Quote
			if err := signed.Decode(&q); err != nil {
				t.Fatal(err)
			}
			receiver := q.DestinationToken.RecipientAccount
			before := c.balance(receiver, q.DestinationToken.AssetType)
			c.done(c.finish(signed, id), x.record)
			got := new(big.Int).Sub(c.balance(receiver, q.DestinationToken.AssetType), before)
			least, _ := new(big.Int).SetString(q.DestinationToken.MinimumAmount, 10)
			if got.Cmp(least) < 0 {
				t.Errorf("%s received %s of %s, at least %s was promised", receiver, got, q.DestinationToken.AssetType,
					least)
			}
		})
	}
}

// Swaps and transfers of v1.
func TestV1SwapsAndTransfers(t *testing.T) {
	for name, x := range map[string]struct{ kind, from, into, to, record string }{
		"role-based without a type": {api.AccountRoleBased, "ob:eth", "ob:usdc", "", api.RecordSwap},
		"kernel 3.1":                {api.AccountKernelV31, "ob:eth", opUSDC, "", api.RecordSwap},
		"EIP-7702": {api.AccountKernelV33, "ob:eth", "ob:eth", "eip155:10:" + recipient,
			api.RecordTransfer},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, open(t, options(storetest.New(t))), x.kind, 6)
			c.v1 = true
			signed, id := c.exchange(c.swap(x.from, "5000000000000000", x.into, x.to))
			c.done(c.finish(signed, id), x.record)
		})
	}
}

// The admin rotates the session key through the service: from then on the old key is refused there and the new one
// works.
func TestTheAdminRotatesTheSessionKeyThroughTheInterface(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountRoleBased, 51)
	roles := func() (out api.RolesResponse) {
		t.Helper()
		if err := c.ask("GET", "/account/roles?account=eip155:8453:"+c.user.Address.Hex(),
			"").Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if r := roles(); r.Deployed || r.AdminNonce != "0" {
		t.Errorf("%+v", r)
	}
	fresh := settletest.Key(510)
	doc := c.ask("POST", "/account/relay", c.rotate("eip155:8453", fresh, 0))
	var sent api.RelayResponse
	if err := doc.Decode(&sent); err != nil || sent.Chain != "eip155:8453" {
		t.Fatalf("%v %s", err, doc.Raw())
	}
	if status, _ := c.send("GET", strings.Replace(sent.ExplorerURL, "https://coffer.internal/api", "", 1),
		""); status != 200 {
		t.Errorf("%s: %d", sent.ExplorerURL, status)
	}
	next := settletest.NewUserOf(s.Network().Pins, api.AccountRoleBased, 510)
	if r := roles(); !r.Deployed || r.SessionAddress != next.Account.SessionAddress || r.AdminNonce != "1" {
		t.Errorf("%+v, expected the session %s", r, next.Account.SessionAddress)
	}
	c.invalid("/account/relay", c.rotate("eip155:8453", fresh, 0), "nonce", "nonce")
	c.invalid(c.preparePath(), c.transfer(10_000_000), "", "accounts[0].sessionAddress")
	c.user.Key, c.user.Account.SessionAddress = fresh, next.Account.SessionAddress
	signed, id, _ := c.call(c.transfer(10_000_000), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
}

// What is at an address is read from its chain, by chain: nothing, a contract, or the delegation that an EOA's first
// operation there made.
func TestTheCodeAtAnAddressIsNoneAContractOrADelegation(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountKernelV33, 54)
	p := s.Network().Pins
	code := func() (out api.CodeResponse) {
		t.Helper()
		list := c.user.On(8453) + "," + c.user.On(1) + ",eip155:8453:" + p.Escrow.Hex() + ",eip155:8453:" + recipient
		if err := c.ask("GET", "/account/code?account="+list, "").Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	none, contract := api.AccountCode{Code: api.CodeNone, Nonce: "0"},
		api.AccountCode{Code: api.CodeContract, Nonce: "1"}
	check := func(own api.AccountCode) {
		t.Helper()
		got := code()
		if len(got.Accounts) != 4 || got.Accounts[0].Account != c.user.On(8453) {
			t.Fatalf("%+v", got)
		}
		for i, want := range []api.AccountCode{own, none, contract, none} {
			if want.Account = got.Accounts[i].Account; got.Accounts[i] != want {
				t.Errorf("%+v, expected %+v", got.Accounts[i], want)
			}
		}
	}
	check(none)
	signed, id, _ := c.call(c.transfer(10_000_000), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
	check(api.AccountCode{Code: api.CodeDelegated, Delegate: p.KernelV33.Hex(), Nonce: "1"})
	many := "eip155:1:" + recipient
	for name, bad := range map[string]string{"": "account[0]", "eip155:1:0x1": "account[0]",
		many + ",eip155:57:" + recipient: "account[1]", strings.Repeat(many+",", 50) + many: "account",
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:11111111111111111111111111111111": "account[0]"} {
		status, raw := c.send("GET", "/account/code?account="+name, "")
		c.isInvalid("/account/code", status, raw, "", bad)
	}
}

// The whole circle: an operation delegates the EOA, the service puts on chain the authorization of the zero address
// that the EOA signed, the code is gone, and the next operation delegates again. Asked twice, it is sent once.
func TestAnEOADelegatesUndelegatesAndDelegatesAgain(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c := newClient(t, s, api.AccountKernelV33, 55)
	code := func() api.AccountCode {
		t.Helper()
		var out api.CodeResponse
		if err := c.ask("GET", "/account/code?account="+c.user.On(8453), "").Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out.Accounts[0]
	}
	end := func(nonce uint64) *api.OperationRef {
		t.Helper()
		var out api.UndelegateResponse
		if err := c.ask("POST", "/account/undelegate", c.undelegation(8453, nonce)).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out.Transaction
	}
	if end(0) != nil || code().Nonce != "0" {
		t.Error("an account that is not delegated was sent for")
	}
	for _, nonce := range []uint64{1, 3} { // each delegation and each end of one takes a nonce of the EOA
		signed, id, _ := c.call(c.transfer(10_000_000), "ob:usdc")
		c.done(c.finish(signed, id), api.RecordCall)
		if is := code(); is.Code != api.CodeDelegated || is.Nonce != fmt.Sprint(nonce) {
			t.Fatalf("%+v", is)
		}
		c.invalid("/account/undelegate", c.undelegation(8453, nonce+1), fmt.Sprint(nonce), "authorization.nonce")
		sent := end(nonce)
		if is := code(); sent == nil || is.Code != api.CodeNone || is.Nonce != fmt.Sprint(nonce+1) {
			t.Fatalf("%+v %+v", sent, is)
		}
		if status, _ := c.send("GET", strings.Replace(sent.ExplorerURL, "https://coffer.internal/api", "", 1),
			""); status != 200 {
			t.Errorf("%s: %d", sent.ExplorerURL, status)
		}
		if again := end(nonce); again != nil || code().Nonce != fmt.Sprint(nonce+1) {
			t.Errorf("sent twice: %+v", again)
		}
	}
}

// Only what the EOA itself signed for this chain is sent: anything else is refused, and the account stays delegated.
func TestAnUndelegationThatTheEOADidNotSignIsRefused(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	c, thief := newClient(t, s, api.AccountKernelV33, 56), newClient(t, s, api.AccountKernelV33, 57)
	signed, id, _ := c.call(c.transfer(10_000_000), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
	good, account := c.undelegation(8453, 1), strings.ToLower(c.user.Address.Hex())
	for name, x := range map[string]struct{ body, place string }{
		"another signer":  {thief.put(thief.undelegation(8453, 1), "/account", `"`+account+`"`), "authorization"},
		"another account": {c.put(good, "/account", `"`+recipient+`"`), "authorization"},
		"another chain":   {c.put(good, "/authorization/chainId", "10"), "authorization"},
		"no such chain":   {c.put(good, "/authorization/chainId", "57"), "authorization.chainId"},
		"another nonce":   {c.put(good, "/authorization/nonce", "2"), "authorization"},
		"to a contract": {c.put(good, "/authorization/contractAddress", `"`+s.Network().Pins.Escrow.Hex()+`"`),
			"authorization.contractAddress"},
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.invalid("/account/undelegate", x.body, "", x.place)
		})
	}
	c.t = t
	var out api.CodeResponse
	if err := c.ask("GET", "/account/code?account="+c.user.On(8453), "").Decode(&out); err != nil ||
		out.Accounts[0].Code != api.CodeDelegated || out.Accounts[0].Nonce != "1" {
		t.Errorf("%v %+v", err, out)
	}
}

// Refunds give everything back, in both versions and from Solana, too, and say why.
func TestARefundGivesEverythingBack(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		c := newClient(t, open(t, refunding(options(storetest.New(t)))), api.AccountKernelV31, 52)
		c.v1 = v1
		before := c.balance(c.user.On(10), opUSDC)
		signed, id := c.exchange(c.swap(opUSDC, "50000000", "eip155:8453/slip44:60", ""))
		got := c.finish(signed, id)
		if got.Status != api.StatusRefunded || got.FailReason != "SLIPPAGE" || len(got.OriginChainOperations) == 0 {
			t.Errorf("%+v", got)
		}
		if after := c.balance(c.user.On(10), opUSDC); after.Cmp(before) != 0 {
			t.Errorf("%s became %s", before, after)
		}
	}
	t.Run("solana", func(t *testing.T) {
		c := newClient(t, open(t, refunding(options(storetest.New(t)))), api.AccountSolana, 53)
		before := c.balance("solana:"+c.user.Wallet.String(), solUSDC)
		signed, id := c.exchange(c.swap(solUSDC, "50000000", "eip155:8453/slip44:60", "eip155:8453:"+recipient))
		if got := c.finish(signed, id); got.Status != api.StatusRefunded || got.FailReason != "SLIPPAGE" {
			t.Errorf("%+v", got)
		}
		if after := c.balance("solana:"+c.user.Wallet.String(), solUSDC); after.Cmp(before) != 0 {
			t.Errorf("%s became %s", before, after)
		}
	})
}

// On one chain the deposit lands with what is delivered or not at all: nothing left the account, so the quote has
// failed and nothing is refunded.
func TestAQuoteOfWhichNothingLandedIsFailed(t *testing.T) {
	c := newClient(t, open(t, refunding(options(storetest.New(t)))), api.AccountSolana, 54)
	before := c.balance("solana:"+c.user.Wallet.String(), solUSDC)
	signed, id := c.exchange(c.swap(solUSDC, "50000000", solSOL, ""))
	if got := c.finish(signed, id); got.Status != api.StatusFailed ||
		len(got.OriginChainOperations)+len(got.DestinationChainOperations) != 0 {
		t.Errorf("%+v", got)
	}
	if after := c.balance("solana:"+c.user.Wallet.String(), solUSDC); after.Cmp(before) != 0 {
		t.Errorf("%s became %s", before, after)
	}
}
