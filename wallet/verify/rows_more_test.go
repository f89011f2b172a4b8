package verify_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/assets"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

func TestU5_FundingIsAPlainBatchToo(t *testing.T) {
	for name, change := range map[string]func(data []byte){
		"delegate call":    func(d []byte) { d[4] = 0xff },
		"try mode":         func(d []byte) { d[5] = 0x01 },
		"another function": func(d []byte) { d[0] ^= 1 },
		"odd offset":       func(d []byte) { d[4+32+31] ^= 0x20 },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				s := w.signed()
				q := w.CrossChain()
				o := &q.OriginChainsOperations[0]
				data := common.FromHex(o.UserOp.CallData)
				change(data)
				u := *o.UserOp
				u.CallData = golden.HexOf(data)
				o.UserOp = &u
				w.again(o, 42161)
				v, r := w.quote(s, w.Document(q))
				code := "U5"
				if name == "odd offset" {
					code = "U6"
				}
				refused(t, v != nil, r, code)
			})
		})
	}
}

func TestU6_FundingInSingleModeIsNotTheFormThatWasBuilt(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.FundWith, w.CallType = "ob:eth", api.CallCrossChainSwaps
		s := w.signed()
		q := w.nativeQuote()
		o := &q.OriginChainsOperations[0]
		deposit := w.DepositCalls(assetOf(arbETH), big.NewInt(83_200_000_000_000_000))[0]
		execution := append(append(deposit.To.Bytes(), common.LeftPadBytes(deposit.Value.Bytes(), 32)...),
			deposit.Data...)
		data := append(common.FromHex("e9ae5c53"), make([]byte, 32)...)
		data = append(data, common.LeftPadBytes([]byte{64}, 32)...)
		data = append(append(data, common.LeftPadBytes(big.NewInt(int64(len(execution))).Bytes(), 32)...),
			common.RightPadBytes(execution, (len(execution)+31)/32*32)...)
		u := *o.UserOp
		u.CallData = golden.HexOf(data)
		o.UserOp = &u
		w.again(o, 42161)
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "U6")
	})
}

// TestQ5_ANativeDepositIsOneCallOfTheNamedValue covers the leg without a token: value, zero token and the deposit's own
// amount must agree.
func TestQ5_ANativeDepositIsOneCallOfTheNamedValue(t *testing.T) {
	const wei = 83_200_000_000_000_000
	for name, change := range map[string]func(w *world, c []op.Call) []op.Call{
		"more value": func(_ *world, c []op.Call) []op.Call { c[0].Value = big.NewInt(wei + 1); return c },
		"less value": func(_ *world, c []op.Call) []op.Call { c[0].Value = big.NewInt(wei - 1); return c },
		"another amount": func(w *world, c []op.Call) []op.Call {
			return w.DepositCalls(assetOf(arbETH), big.NewInt(wei+1))
		},
		"a token": func(w *world, c []op.Call) []op.Call {
			c[0].Data = w.DepositData(escrow.Deposit{QuoteID: [32]byte(common.FromHex(quoteID)),
				Token: golden.TokenOf(arbUSDC), Amount: big.NewInt(wei), RefundDeadline: uint64(clock().Unix()) + 3600})
			return c
		},
		"a call before": func(_ *world, c []op.Call) []op.Call {
			return append([]op.Call{{To: common.HexToAddress(stranger), Value: big.NewInt(1)}}, c...)
		},
		"twice": func(_ *world, c []op.Call) []op.Call { return append(c, c[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Draft.FundWith, w.CallType = "ob:eth", api.CallCrossChainSwaps
				s := w.signed()
				q := w.nativeQuote()
				calls := change(w, w.DepositCalls(assetOf(arbETH), big.NewInt(wei)))
				q.OriginChainsOperations[0] = w.Operation(42161, op.LaneFunding, 2, false, calls, arbETH,
					fmt.Sprint(wei))
				v, r := w.quote(s, w.Document(q))
				refused(t, v != nil, r, "Q5")
			})
		})
	}
}

func TestQ11_WithoutFeesAndSlippageThePaymentItselfMustFit(t *testing.T) {
	eachV3(t, func(t *testing.T, w *world) {
		s := w.signed()
		q := w.CrossChain()
		q.Fees, q.Slippage = nil, nil
		w.Lie = func(t *escrow.Terms) { t.Minimums[0].Amount = big.NewInt(225_500_000) } // hides the fees, too
		v, r := w.quote(s, w.Document(q))
		if v == nil || len(v.View().Fees) != 0 || v.View().CostBps != 22 || v.View().FeesMicro != nil ||
			v.View().FeeUSD != "" || !r.Has("Q11", verify.Unknown) {
			t.Fatalf("%+v", r.Reasons)
		}
		for paid, bps := range map[int64]int{226_000_000: 23, 233_000_000: 322, 251_000_000: 0, 320_000_000: 0} {
			q = w.QuoteResponse(fmt.Sprint(paid), nil, golden.Payment{Asset: arbUSDC, Amount: paid, Sequence: 4})
			q.Fees = nil
			v, r = w.quote(s, w.Document(q))
			switch {
			case bps == 0:
				refused(t, v != nil, r, "Q11")
			case v == nil || v.View().CostBps != bps || r.Has("Q11", verify.Warn) != (bps > 300):
				t.Fatalf("%d: %+v", paid, r.Reasons)
			}
		}
	})
}

func TestARequirementOfNothingChangesNoSum(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.TokensRequired = append(w.Draft.TokensRequired, api.TokenRequirement{AssetType: baseETH, Amount: "0"})
		v, r := w.quote(w.signed(), w.Document(w.CrossChain()))
		if v == nil || v.View().CallType != api.CallCrossChain || len(v.View().Needs) != 2 {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

// TestQ7_WhatIsDeliveredIsInThisWalletsList judges with a catalogue that lost the token since the intent was frozen.
func TestQ7_WhatIsDeliveredIsInThisWalletsList(t *testing.T) {
	d, err := assets.Catalogue()
	need(t, err)
	for i := range d.Tokens {
		d.Tokens[i].AggregatedEntities = slices.DeleteFunc(d.Tokens[i].AggregatedEntities,
			func(e assets.Entity) bool { return strings.EqualFold(e.AssetType, baseUSDC) })
	}
	less, err := catalog.New(d)
	need(t, err)
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		w.Policy.Catalog = less
		q, r := w.quote(s, w.Document(w.CrossChain()))
		refused(t, q != nil, r, "Q7")
	})
}

func TestQ5_TwoRequirementsOfOneAggregateAreAddedUp(t *testing.T) {
	// ETH and USDC are required: what is paid in USDC covers only its own part exactly, so prices have to explain the
	// rest.
	eachV3(t, func(t *testing.T, w *world) {
		w.CallType = api.CallCrossChainSwaps
		// $30.12
		w.Draft.TokensRequired = append(w.Draft.TokensRequired,
			api.TokenRequirement{AssetType: baseETH, Amount: "10000000000000000"})
		s := w.signed()
		q := w.QuoteResponse("281500000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 281_500_000, Sequence: 4})
		v, r := w.quote(s, w.Document(q))
		if v == nil || v.View().CallType != api.CallCrossChainSwaps || v.View().PayMicro == nil || !v.View().Explained {
			t.Fatalf("%+v", r.Reasons)
		}
		q = w.QuoteResponse("400000000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 400_000_000, Sequence: 4})
		v, r = w.quote(s, w.Document(q))
		refused(t, v != nil, r, "Q11")
	})
}

func TestU10_TransferFromOfOthersIsNotTheAccountsOutflow(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		own, other := w.Account, common.HexToAddress(vault)
		from := func(a common.Address, v int64) string {
			data := append(common.FromHex("23b872dd"), common.LeftPadBytes(a.Bytes(), 32)...)
			data = append(append(data, common.LeftPadBytes(common.HexToAddress(payee).Bytes(), 32)...),
				common.LeftPadBytes(big.NewInt(v).Bytes(), 32)...)
			return golden.HexOf(data)
		}
		w.Draft.Calls[0].Data = from(own, 5)
		w.Draft.Calls[1] = w.Draft.Calls[0]
		w.Draft.Calls[1].Data = from(other, 7)
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		v := p.View()
		if len(v.Outflow) != 1 || v.Outflow[0].Amount.Int64() != 5 || v.Lines[1].Recipient != payee ||
			len(v.Lines[1].Args) != 3 || v.Lines[1].Args[0].Value != other.Hex() {
			t.Fatalf("%+v", v)
		}
	})
}

func TestU8_AnAllowanceOfAnUnlistedTokenIsShownInBaseUnits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := common.HexToAddress("0x00000000000000000000000000000000000c0ffe")
		w.Draft.Allowances = []api.AllowanceRequirement{{AssetType: "eip155:8453/erc20:" + strings.ToLower(token.Hex()),
			Amount: "5", Spender: vault}}
		answer := w.PrepareResponse()
		open := op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(common.HexToAddress(vault), big.NewInt(5))}
		shut := op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(common.HexToAddress(vault), new(big.Int))}
		w.withCalls(&answer, append(append([]op.Call{open}, w.Asked()...), shut)...)
		p, r := w.prepared(w.Document(answer))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		found := false
		for _, x := range r.Reasons {
			found = found || (x.Code == "U10" && strings.Contains(x.Got, "5 base units of"))
		}
		if !found || p.View().Lines[0].Amount != nil || p.View().Lines[0].Role != verify.RoleApprove {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestP1_ASolanaAccountBesideIsTheSameOrRefused(t *testing.T) {
	w := newWorld(t)
	w.Draft.Accounts = append(w.Draft.Accounts, api.Account{Type: api.AccountSolana,
		AccountAddress: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"})
	answer := w.PrepareResponse()
	if p, r := w.prepared(w.Document(answer)); p == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	answer.Accounts[0], answer.Accounts[1] = answer.Accounts[1], answer.Accounts[0]
	if p, r := w.prepared(w.Document(answer)); p == nil {
		t.Fatalf("in another order: %+v", r.Reasons)
	}
	answer.Accounts[0].AccountAddress = "4eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
	p, r := w.prepared(w.Document(answer))
	refused(t, p != nil, r, "P1")
}

func TestU15_WhatWasNotVerifiedHasNoSignature(t *testing.T) {
	if _, err := (&verify.PreparedOp{}).WithSignatures(verify.Signatures{Operation: make([]byte, 65)}); err == nil {
		t.Error("the zero operation took a signature")
	}
}

func TestX1_AnAnswerThatLacksAPartMakesNoBody(t *testing.T) {
	w := newWorld(t)
	s := w.signed()
	if s.Prepared().Document().Len() == 0 || userOp(t, s.Prepared().Signing()).Network() != w.Network.ID {
		t.Fatal("the answer is not kept")
	}
	q, r := w.quote(s, w.Document(w.CrossChain()))
	if q == nil || q.ID() != quoteID || q.Expires() != clock().Unix()+30 ||
		q.Document().Len() == 0 {
		t.Fatalf("%+v", r.Reasons)
	}
	foreign, err := api.ParseDocument([]byte(`{"originChainsOperations":[]}`), api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if err := q.CheckBody(foreign); err == nil {
		t.Error("a body without operations passes")
	}
}
