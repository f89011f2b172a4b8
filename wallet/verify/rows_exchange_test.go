package verify_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The exchanges that the rows are tried on: a swap and a transfer of v3, a swap of v1, and one that Solana pays.
var everyExchange = []string{"v3-swap-evm", "v3-transfer", "v1-swap", paysTokens}

// eachExchangeRefused changes each of the exchanges and demands a refusal by the row of this code.
func eachExchangeRefused(t *testing.T, code string, changes map[string]func(a *answers)) {
	t.Helper()
	for _, name := range everyExchange {
		t.Run(name, func(t *testing.T) { eachRefused(t, name, code, changes) })
	}
}

func TestQ1_TheIDOfAnExchangeIsNewAndInEveryPayment(t *testing.T) {
	eachExchangeRefused(t, "Q1", map[string]func(a *answers){
		"another":       func(a *answers) { a.quote.ID = "0x" + strings.Repeat("11", 32) },
		"short":         func(a *answers) { a.quote.ID = a.quote.ID[:64] },
		"met before":    func(a *answers) { a.seen = memory{seen: a.quote.ID} },
		"other letters": func(a *answers) { a.quote.ID = "0x" + strings.Repeat("zz", 32) },
	})
}

func TestQ2_AnExchangeIsForTheIntentsAccounts(t *testing.T) {
	eachExchangeRefused(t, "Q2", map[string]func(a *answers){
		"another":      func(a *answers) { a.quote.Accounts[0].AccountAddress = stranger },
		"another type": func(a *answers) { a.quote.Accounts[0].Type = api.AccountRoleBased },
	})
	eachRefused(t, paysTokens, "Q2", map[string]func(a *answers){
		"Solana left out": func(a *answers) { a.quote.Accounts = a.quote.Accounts[:1] },
		"other Solana":    func(a *answers) { a.quote.Accounts[1].AccountAddress = somebody().String() },
		"twice":           func(a *answers) { a.quote.Accounts[1] = a.quote.Accounts[0] },
	})
}

func TestQ3_AnExchangeHasOneToTenPaymentsOfDifferentChains(t *testing.T) {
	eachExchangeRefused(t, "Q3", map[string]func(a *answers){
		"none": func(a *answers) { a.quote.OriginChainsOperations = nil },
		"eleven": func(a *answers) {
			for len(a.quote.OriginChainsOperations) < 11 {
				a.quote.OriginChainsOperations = append(a.quote.OriginChainsOperations,
					a.quote.OriginChainsOperations[0])
			}
		},
		"one twice": func(a *answers) {
			a.quote.OriginChainsOperations = append(a.quote.OriginChainsOperations, a.quote.OriginChainsOperations[0])
		},
	})
	a := answer(t, "v3-swap-several-chains")
	second := a.quote.OriginChainsOperations[1]
	a.quote.OriginChainsOperations = append(a.quote.OriginChainsOperations, second)
	wire, data := *second.UserOp, *second.TypedDataToSign
	a.quote.OriginChainsOperations[2].UserOp, a.quote.OriginChainsOperations[2].TypedDataToSign = &wire, &data
	a.userOp(2, func(u *op.UserOp) { u.Nonce = new(big.Int).Add(u.Nonce, big.NewInt(1)) })
	a.refuses("U3")
}

func TestTheRowsOfOperationsHoldInAnExchange(t *testing.T) {
	const name = "v3-swap-evm"
	first := func(change func(u *op.UserOp)) func(a *answers) {
		return func(a *answers) { a.userOp(0, change) }
	}
	for code, change := range map[string]func(a *answers){
		"U1": first(func(u *op.UserOp) { u.Sender = common.HexToAddress(stranger) }),
		// the lane of prepared operations
		"U2":  first(func(u *op.UserOp) { u.Nonce = new(big.Int).Sub(u.Nonce, new(big.Int).Lsh(big.NewInt(1), 64)) }),
		"U3":  first(func(u *op.UserOp) { u.Nonce = new(big.Int).Add(u.Nonce, big.NewInt(1)) }),
		"U4":  first(func(u *op.UserOp) { u.FactoryData = append(u.FactoryData, 0) }),
		"U5":  first(func(u *op.UserOp) { u.CallData[4] = 0xff }),
		"U11": first(func(u *op.UserOp) { u.MaxFeePerGas = big.NewInt(1) }),
		"U12": first(func(u *op.UserOp) {
			u.Paymaster = nil
			u.PaymasterData = nil
			u.PaymasterPostOpGasLimit, u.PaymasterVerificationGasLimit = nil, nil
		}),
		"U13": first(func(u *op.UserOp) { u.Signature = []byte{1} }),
		"T1":  func(a *answers) { a.quote.OriginChainsOperations[0].TypedDataToSign.Domain.Name = "Permit2" },
		"T7": func(a *answers) {
			a.quote.OriginChainsOperations[0].TypedDataToSign.Message.CallDataAndNonceHash = "0x" +
				strings.Repeat("ab", 32)
		},
		"P2": func(a *answers) { a.quote.OriginChainsOperations[0].TypedDataToSign = nil },
		"P3": func(a *answers) { a.quote.TamperProofSignature = "0x0" },
		"L5": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = "eip155:10:0x" +
				strings.ToUpper(a.draft.Accounts[0].AccountAddress[2:])
		},
		"Q5": func(a *answers) { a.quote.OriginChainsOperations[0].Amount = "0" },
	} {
		t.Run(code, func(t *testing.T) { a := answer(t, name); change(a); a.refuses(code) })
	}
}

func TestQ4_AnExchangePaysIntoThePinnedEscrowOnly(t *testing.T) {
	for _, name := range []string{"v3-swap-evm", "v3-transfer", "v1-swap"} {
		a := answer(t, name)
		pinned := a.policy
		a.policy.Network.Pins.Escrow = common.HexToAddress(stranger)
		v, _ := new(big.Int).SetString(a.quote.OriginChainsOperations[0].Amount, 10)
		a.pays(0, v)
		a.policy = pinned
		q, r := a.judge(a.document())
		if q != nil || (!r.Has("Q4", verify.Gate) && !r.Has("Q4", verify.Refuse)) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
}

func TestAnExchangeMayDeployTheAccountOnEveryChain(t *testing.T) {
	for _, name := range []string{"v3-swap-evm", "v3-transfer", "v1-swap-role-based"} {
		if v := answer(t, name).passes(); !v.Legs[0].Deploys {
			t.Errorf("%s: %+v", name, v.Legs[0])
		}
	}
}

func TestQ5_ThePaymentIsTheChosenOneAndTheAnnouncedOne(t *testing.T) {
	eachExchangeRefused(t, "Q5", map[string]func(a *answers){
		"announced more": func(a *answers) { a.quote.OriginToken.Amount += "0" },
		"chosen less":    func(a *answers) { a.draft.Pay.Amount = "1000000" },
		"chosen more":    func(a *answers) { a.draft.Pay.Amount += "1" },
	})
}

func TestQ5_ATransferArrivesExceptForItsFees(t *testing.T) {
	for _, name := range []string{"v3-transfer", "v3-transfer-one-chain", "v3-transfer-to-solana",
		"v3-transfer-from-solana", "v3-transfer-on-solana"} {
		eachRefused(t, name, "Q5", map[string]func(a *answers){
			"one unit less": func(a *answers) { a.moves(-1) },
			"one unit more": func(a *answers) { a.moves(1) },
			"more than is paid": func(a *answers) {
				a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = "100000001", "100000000"
				for k := range a.quote.Fees.Assets {
					a.quote.Fees.Assets[k] = "0"
				}
			},
		})
	}
	eachRefused(t, "v1-transfer-eip7702", "Q5", map[string]func(a *answers){
		"more than is paid": func(a *answers) {
			a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = "5000000000000001",
				"5000000000000001"
		},
	})
	a := answer(t, "v1-transfer-eip7702")
	a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = "5000000000000000", "5000000000000000"
	if v := a.passes(); v.CostBps != 0 {
		t.Errorf("%d basis points of nothing", v.CostBps)
	}
}

// moves changes what is delivered by some units; the minimum follows.
func (a *answers) moves(by int64) {
	a.t.Helper()
	v, _ := new(big.Int).SetString(a.quote.DestinationToken.Amount, 10)
	v.Add(v, big.NewInt(by))
	a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount = v.String(), v.String()
}

func TestQ6_AnExchangeIsPaidInTheChosenAsset(t *testing.T) {
	eachExchangeRefused(t, "Q6", map[string]func(a *answers){
		"another aggregate": func(a *answers) { a.quote.OriginToken.AggregatedAssetID = "ob:usdt" },
		"listed twice": func(a *answers) {
			a.quote.OriginToken.AssetType = append(a.quote.OriginToken.AssetType, a.quote.OriginToken.AssetType[0])
		},
		"listed nowhere": func(a *answers) { a.quote.OriginToken.AssetType = nil },
		"listed another": func(a *answers) { a.quote.OriginToken.AssetType[0] = baseETH },
		"moved another": func(a *answers) {
			a.quote.OriginChainsOperations[0].AssetType = "eip155:1/erc20:0xdac17f958d2ee523a2206206994597c13d831ec7"
		},
	})
}

func TestQ7_WhatIsDeliveredIsWhatWasAskedFor(t *testing.T) {
	eighteen := 21
	eachExchangeRefused(t, "Q7", map[string]func(a *answers){
		"fake token": func(a *answers) {
			a.quote.DestinationToken.AssetType = "eip155:10/erc20:0x000000000000000000000000000000000000dead"
		},
		"other chain":   func(a *answers) { a.quote.DestinationToken.AssetType = arbUSDC },
		"no asset":      func(a *answers) { a.quote.DestinationToken.AssetType = "USDC" },
		"decimals":      func(a *answers) { a.quote.DestinationToken.Decimals = &eighteen },
		"symbol":        func(a *answers) { a.quote.DestinationToken.Symbol = "USDС" }, // the last letter is Cyrillic
		"aggregate":     func(a *answers) { a.quote.DestinationToken.AggregatedAssetID = "ob:usdt" },
		"other listing": func(a *answers) { a.quote.DestinationToken.AggregatedAssetID = "single" },
	})
	eachRefused(t, "v3-transfer", "Q7", map[string]func(a *answers){
		"an exact asset was not asked for": func(a *answers) {
			a.quote.DestinationToken.AggregatedAssetID =
				"ob:single"
		},
		"not on the recipient's chain": func(a *answers) {
			delivers(a, arbUSDC, "eip155:42161:"+payee)
		},
	})
	eachRefused(t, "v3-swap-evm", "Q7", map[string]func(a *answers){
		"an aggregate was not asked for": func(a *answers) { a.quote.DestinationToken.AggregatedAssetID = "ob:usdc" },
	})
	for _, name := range everyExchange {
		a := answer(t, name)
		a.quote.DestinationToken.Symbol, a.quote.DestinationToken.Decimals = "", nil
		a.passes()
	}
}

func TestQ8_NoLessArrivesThanToleranceAndUserAllow(t *testing.T) {
	eachExchangeRefused(t, "Q8", map[string]func(a *answers){
		"no amount":  func(a *answers) { a.quote.DestinationToken.Amount = "0" },
		"odd amount": func(a *answers) { a.quote.DestinationToken.Amount = "1e9" },
		"no minimum": func(a *answers) { a.quote.DestinationToken.MinimumAmount = "" },
		"zero":       func(a *answers) { a.quote.DestinationToken.MinimumAmount = "0" },
		"zero of one": func(a *answers) {
			a.quote.DestinationToken.Amount, a.quote.DestinationToken.MinimumAmount =
				"1", "0"
		},
		"odd minimum": func(a *answers) { a.quote.DestinationToken.MinimumAmount = "-1" },
		"above amount": func(a *answers) {
			a.quote.DestinationToken.MinimumAmount = a.quote.DestinationToken.Amount +
				"0"
		},
		"one less": func(a *answers) {
			v, _ := new(big.Int).SetString(a.quote.DestinationToken.MinimumAmount, 10)
			a.quote.DestinationToken.MinimumAmount = v.Sub(v, big.NewInt(1)).String()
		},
	})
	eachRefused(t, "v3-swap-evm", "Q8", map[string]func(a *answers){
		"less than the user takes": func(a *answers) { a.draft.Receive.Minimum = "29303235" },
	})
	for _, minimum := range []string{"29303234", "1", ""} {
		a := answer(t, "v3-swap-evm")
		a.draft.Receive.Minimum = minimum
		a.passes()
		a.quote.DestinationToken.MinimumAmount = a.quote.DestinationToken.Amount
		a.passes()
	}
}

func TestQ9_TheRecipientIsTheNamedOneOrTheUser(t *testing.T) {
	eachExchangeRefused(t, "Q9", map[string]func(a *answers){
		"a stranger": func(a *answers) { a.quote.DestinationToken.RecipientAccount = "eip155:10:" + stranger },
		"absent":     func(a *answers) { a.quote.DestinationToken.RecipientAccount = "" },
		"other chain": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = "eip155:1:" + a.quote.Accounts[0].AccountAddress
		},
		"slash form": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = strings.Replace(a.quote.DestinationToken.RecipientAccount,
				":0x", "/0x", 1)
		},
		"on Solana": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + somebody().String()
		},
		"only address": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount =
				a.quote.Accounts[0].AccountAddress
		},
	})
	eachRefused(t, "v3-transfer-to-solana", "Q9", map[string]func(a *answers){
		"a stranger": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + somebody().String()
		},
	})
	eachRefused(t, "v3-swap-to-solana", "Q9", map[string]func(a *answers){
		"a stranger": func(a *answers) {
			a.quote.DestinationToken.RecipientAccount = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + somebody().String()
		},
	})
}

// With nothing but an account on Solana, and no ETH there, an order that names no recipient is not made at all.
func TestQ9_SomebodyMustReceiveWhereItIsDelivered(t *testing.T) {
	a := answer(t, paysCoins)
	a.draft.Receive.Asset, a.draft.Receive.Account = "ob:eth", ""
	if _, err := intent.Freeze(a.draft, a.rules); err == nil ||
		!strings.Contains(err.Error(), `"receive.account"`) {
		t.Errorf("%v", err)
	}
}

func TestQ10_AnExchangeIsOpenAndNotForLong(t *testing.T) {
	eachExchangeRefused(t, "Q10", map[string]func(a *answers){
		"past":   func(a *answers) { a.now = a.now.Add(31 * time.Second) },
		"a year": func(a *answers) { a.quote.ExpirationTimestamp = fmt.Sprint(a.now.Unix() + 31_536_000) },
		"words":  func(a *answers) { a.quote.ExpirationTimestamp = "soon" },
	})
}

func TestQ12_FiatTextDecidesNothingInAnExchange(t *testing.T) {
	a := answer(t, "v3-swap-evm")
	before := a.passes()
	a.quote.DestinationToken.FiatValue, a.quote.DestinationToken.MinimumFiatValue = "9999", ""
	a.quote.Fees.CumulativeUSD, a.quote.OriginToken.FiatValue[0].FiatValue = "0.00", "0.01"
	after := a.passes()
	if before.CostBps != after.CostBps || before.PayMicro.Cmp(after.PayMicro) != 0 ||
		before.DeliverMicro.Cmp(after.DeliverMicro) != 0 {
		t.Errorf("%+v", after)
	}
}

func TestQ13_AnExchangeBringsNoPreparedOperation(t *testing.T) {
	a := answer(t, "v1-swap")
	a.again = &answer(t, "v1-swap-role-based").quote.OriginChainsOperations[0]
	a.refuses("Q13")
	b := answer(t, "v3-swap-evm")
	q, r := b.judge(replace(t, b.doc, "/destinationChainOperation", map[string]any{"userOp": map[string]any{}}))
	refused(t, q != nil, r, "Q13")
}

func TestQ14_AnExchangeIsJudgedUnderItsOwnIntent(t *testing.T) {
	a, call := answer(t, "v3-swap-evm"), answer(t, "v3-kernel-funded")
	q, r := verify.Exchange(call.intent(), a.policy, a.seen, a.now, a.doc)
	refused(t, q != nil, r, "Q14")
	q, r = verify.Exchange(a.intent(), a.policy, a.seen, a.now, nil)
	refused(t, q != nil, r, "Q14")
	q, r = verify.Exchange(a.intent(), a.policy, nil, a.now, a.doc)
	refused(t, q != nil, r, "Q14")
	q, r = verify.Exchange(intent.Intent{}, a.policy, a.seen, a.now, a.doc)
	refused(t, q != nil, r, "U7")
	q, r = verify.Exchange(a.intent(), verify.Policy{Catalog: a.policy.Catalog}, a.seen, a.now, a.doc)
	refused(t, q != nil, r, "U14")
	a.draft.Accounts[0].AccountAddress = stranger
	a.refuses("U1")
}

func TestL3_AnExchangeHasTheShapeOfAQuote(t *testing.T) {
	for _, name := range everyExchange {
		a := answer(t, name)
		for _, text := range []string{`{}`, `[]`, `{"originChainsOperations":{}}`, `{"id":1}`} {
			q, r := a.judge(parseText(t, text))
			if q != nil || !r.Refused() {
				t.Errorf("%s: %s was accepted", name, text)
			}
		}
	}
}

func TestFingerprintsOfExchangesDependOnIntentDocumentAndOperations(t *testing.T) {
	seen := map[string]string{}
	add := func(what string, v verify.QuoteView) {
		t.Helper()
		if before, twice := seen[v.Fingerprint]; twice {
			t.Errorf("%s and %s have one fingerprint", what, before)
		}
		seen[v.Fingerprint] = what
	}
	a := answer(t, "v3-swap-evm")
	add("first", a.passes())
	a.quote.DestinationToken.FiatValue = "1"
	add("another document", a.passes())
	a.draft.SlippageBps = 300
	add("another intent", a.passes())
	if again := a.passes().Fingerprint; seen[again] == "" {
		t.Error("the same answer has two fingerprints")
	}
}
