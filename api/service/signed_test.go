package service_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

func TestAnExpiredQuoteIsRefused(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		s, now := late(t)
		c := newClient(t, s, api.AccountKernelV31, 9)
		c.v1 = v1
		call, _, _ := c.call(c.transfer(300_000_000), "ob:usdc")
		swap, id := c.exchange(c.swap("ob:usdc", "5000000", "ob:eth", ""))
		*now = now.Add(service.DefaultLifetime + time.Second)
		c.denied(c.executePath(), string(call.Raw()), api.ErrQuoteExpired)
		c.denied(c.executePath(), string(swap.Raw()), api.ErrQuoteExpired)
		if got := c.status(id); got.Status != "" {
			t.Errorf("v1=%t: %+v", v1, got)
		}
	}
}

func TestAnAlteredTamperProofSignatureIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		other := `"0x` + strings.Repeat("11", 64) + `1b"`
		prepared := c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation")
		e := c.denied(c.callQuotePath(), c.put(c.callQuoteBody(prepared, "ob:usdc"), "/tamperProofSignature", other),
			api.ErrTamperProof)
		if !strings.HasPrefix(e.Message, "Incorrect tamper proof signature") {
			t.Errorf("%s", e.Message)
		}
		signed, _, _ := c.call(c.transfer(300_000_000), "ob:usdc")
		c.denied(c.executePath(), c.put(string(signed.Raw()), "/tamperProofSignature", other), api.ErrTamperProof)
		swap, _ := c.exchange(c.swap("ob:usdc", "5000000", "ob:eth", ""))
		mixed, _ := swap.At("/tamperProofSignature")
		c.denied(c.executePath(), c.put(string(signed.Raw()), "/tamperProofSignature", string(mixed)),
			api.ErrTamperProof)
	})
}

func TestAnAlteredDocumentIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		prepared := c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation")
		body := c.callQuoteBody(prepared, "ob:usdc")
		for at, v := range map[string]string{"/chainOperation/amount": `"1"`,
			"/chainOperation/userOp/callGasLimit": `"1"`, "/chainOperation/extra": `1`} {
			c.denied(c.callQuotePath(), c.put(body, at, v), api.ErrTamperProof)
		}
		signed, id, _ := c.call(c.transfer(300_000_000), "ob:usdc")
		for at, v := range map[string]string{
			"/originToken/amount": `"1"`, "/expirationTimestamp": `"1999999999"`,
			"/destinationToken/recipientAccount": `"eip155:8453:` + recipient + `"`,
			"/originChainsOperations/0/amount":   `"1"`, "/id": `"0x` + strings.Repeat("a", 64) + `"`, "/extra": `{}`,
		} {
			c.denied(c.executePath(), c.put(string(signed.Raw()), at, v), api.ErrTamperProof)
		}
		c.done(c.finish(signed, id), api.RecordCall) // none of it spoiled the quote
	})
}

func TestAWrongSignerIsRefused(t *testing.T) {
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		bothVersions(t, kind, func(t *testing.T, c *client) {
			thief := *c
			user := *c.user
			user.Key = settletest.Key(666)
			thief.user = &user
			c.denied(c.callQuotePath(), c.callQuoteBody(thief.sign(c.prepare(c.transfer(300_000_000)),
				"/chainOperation"), "ob:usdc"), api.ErrInvalidSignature)
			signed, _, _ := c.call(c.transfer(300_000_000), "ob:usdc")
			c.denied(c.executePath(), string(thief.sign(signed, "/originChainsOperations/0").Raw()),
				api.ErrInvalidSignature)
		})
	}
}

func TestAWrongSolanaSignerIsRefused(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountSolana, 9)
	signed, id := c.exchange(c.swap(solSOL, "100000000", solUSDC, ""))
	thief := *c
	user := *c.user
	user.Solana = settletest.SolanaKey(666)
	thief.user = &user
	c.denied(c.executePath(), string(thief.sign(signed, "/originChainsOperations/0").Raw()), api.ErrInvalidSignature)
	c.done(c.finish(signed, id), api.RecordSwap)
}

// The admin's key signs nothing but exits and rotations.
func TestTheAdminCannotSignOperations(t *testing.T) {
	c := newClient(t, open(t, options(storetest.New(t))), api.AccountRoleBased, 9)
	admin := *c
	user := *c.user
	user.Key = user.Admin
	admin.user = &user
	c.denied(c.callQuotePath(), c.callQuoteBody(admin.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation"),
		"ob:usdc"), api.ErrInvalidSignature)
}

func TestAnUnsignedOperationIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		c.invalid(c.callQuotePath(), c.callQuoteBody(c.prepare(c.transfer(300_000_000)), "ob:usdc"), "a signature",
			"chainOperation.userOp.signature")
		signed, _, _ := c.call(c.transfer(300_000_000), "ob:usdc")
		c.invalid(c.executePath(), c.put(string(signed.Raw()), "/originChainsOperations/0/userOp/signature", `"0x"`),
			"a signature", "originChainsOperations[0].userOp.signature")
	})
}

func TestAnUnsignedDelegationIsRefused(t *testing.T) {
	bothVersions(t, api.AccountKernelV33, func(t *testing.T, c *client) {
		prepared := c.prepare(c.transfer(10_000_000))
		if _, there := prepared.At("/chainOperation/delegation/contractAddress"); !there {
			t.Fatalf("an EOA without code needs a delegation: %s", prepared.Raw())
		}
		signed := c.sign(prepared, "/chainOperation")
		doc, err := api.ParseDocument([]byte(c.callQuoteBody(signed, "ob:usdc")), api.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		c.invalid(c.callQuotePath(), string(c.splice(doc, "/chainOperation/delegation/signature", "null").Raw()),
			"authorization", "chainOperation.delegation.signature")
	})
}

func TestADelegationToAnotherContractIsDELEGATION001(t *testing.T) {
	bothVersions(t, api.AccountKernelV33, func(t *testing.T, c *client) {
		signed, err := op.Authorization{ChainID: big.NewInt(8453),
			Address: common.HexToAddress(baseUSDC)}.Sign(c.user.Key)
		if err != nil {
			t.Fatal(err)
		}
		prepared := c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation") // and the EOA has its test funds
		if err := service.Delegate(c.s, 8453, signed); err != nil {
			t.Fatal(err)
		}
		e := c.denied(c.preparePath(), c.transfer(10_000_000), api.ErrDelegation)
		if !strings.Contains(strings.ToLower(e.Message), strings.ToLower(baseUSDC)) {
			t.Errorf("the message does not name what was found: %s", e.Message)
		}
		c.denied(c.callQuotePath(), c.callQuoteBody(prepared, "ob:usdc"), api.ErrDelegation)
	})
}

func TestTooLittleBalanceIsInsufficientBalance(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		e := c.denied(c.preparePath(), c.transfer(900_000_000_000), api.ErrInsufficientBalance)
		if !strings.Contains(e.Message, "900") {
			t.Errorf("%s", e.Message)
		}
		c.denied(c.quotePath(), c.swap("ob:usdc", "900000000000", "ob:eth", ""), api.ErrInsufficientBalance)
	})
}

func TestNoWayToFundIsNoRoute(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		o := options(storetest.New(t))
		off := true
		o.Faults.NoRoute = func() bool { return !off }
		c := newClient(t, open(t, o), api.AccountKernelV31, 9)
		c.v1 = v1
		prepared := c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation")
		off = false
		c.denied(c.callQuotePath(), c.callQuoteBody(prepared, "ob:usdc"), api.ErrNoRoute)
	}
}

func TestARevertingCallIsSimulationFailed(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		body := c.put(c.transfer(10_000_000), "/tokensRequired", "[]")
		c.denied(c.preparePath(), strings.Replace(body, fmt.Sprintf("%064x", 10_000_000),
			fmt.Sprintf("%064x", 1_000_000_000_000), 1), api.ErrSimulationFailed)
	})
}

func TestAnUnknownContextIsPrepareAgain(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		s, now := late(t)
		c := newClient(t, s, api.AccountKernelV31, 9)
		c.v1 = v1
		prepared := c.sign(c.prepare(c.transfer(300_000_000)), "/chainOperation")
		*now = now.Add(11 * time.Minute)
		c.denied(c.callQuotePath(), c.callQuoteBody(prepared, "ob:usdc"), api.ErrPrepareAgain)
	}
}

func TestASecondExecuteIsQuoteAlreadyExecuted(t *testing.T) {
	bothVersions(t, api.AccountRoleBased, func(t *testing.T, c *client) {
		signed, id := c.exchange(c.swap("ob:usdc", "5000000", "ob:eth", ""))
		c.done(c.finish(signed, id), api.RecordSwap)
		c.denied(c.executePath(), string(signed.Raw()), api.ErrAlreadyExecuted)
	})
}

func TestAV1QuoteIsExecutedAtV1AndAV3QuoteAtV3(t *testing.T) {
	bothVersions(t, api.AccountKernelV31, func(t *testing.T, c *client) {
		signed, id := c.exchange(c.swap("ob:usdc", "5000000", "ob:eth", ""))
		other := *c
		other.v1 = !c.v1
		c.invalid(other.executePath(), string(signed.Raw()), "", other.pick("account", "accounts"))
		c.done(c.finish(signed, id), api.RecordSwap)
	})
}
