package verify_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// allGates are the settings that open a gate.
func allGates() []string {
	return []string{verify.GateBlindSigning, verify.GatePaymaster, verify.GateDelegationNonce, verify.GateTarget,
		verify.GateOpenRepeat}
}

// others are all settings but one.
func others(setting string) []string {
	return slices.DeleteFunc(allGates(), func(s string) bool { return s == setting })
}

// opened demands that a gate stands open: the value is there, and its confirmation needs the sentence of the setting.
func opened(t *testing.T, r verify.Report, setting, fingerprint, phrase, confirmation string) {
	t.Helper()
	if r.Refused() || r.Phrase() == "" || phrase == "" || phrase != r.Phrase() ||
		confirmation != fingerprint+"\n"+phrase {
		t.Fatalf("phrase %q, confirmation %q; report %+v", phrase, confirmation, r.Reasons)
	}
	for _, x := range r.Reasons {
		if x.Level == verify.Gate && (!x.Open || x.Setting != setting) {
			t.Fatalf("another gate: %+v", x)
		}
	}
}

func TestEachGateHasASentenceOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range allGates() {
		r := verify.Report{Reasons: []verify.Reason{{Code: "X", Level: verify.Gate, Setting: g, Open: true},
			{Code: "Y", Level: verify.Gate, Setting: g, Open: true}}}
		if p := r.Phrase(); p == "" || seen[p] || strings.Contains(p, ", ") {
			t.Errorf("%s: %q", g, p)
		}
		seen[r.Phrase()] = true
		if r.Reasons[0].Open = false; !r.Refused() {
			t.Errorf("%s: a closed gate beside an open one does not refuse", g)
		}
	}
	both := verify.Report{Reasons: []verify.Reason{{Level: verify.Gate, Setting: verify.GateTarget, Open: true},
		{Level: verify.Gate, Setting: verify.GatePaymaster, Open: true}}}
	if both.Phrase() != "I trust this contract with the payment, I trust this paymaster" ||
		both.Refused() {
		t.Errorf("%q", both.Phrase())
	}
	if unknown := (verify.Report{Reasons: []verify.Reason{{Level: verify.Gate, Setting: "all",
		Open: true}}}); unknown.Phrase() != "" {
		t.Error("an unknown setting has a sentence")
	}
}

// foreignSponsor puts another paymaster with data of its own into an operation.
func foreignSponsor(o *api.ChainOperation, data []byte) {
	u := *o.UserOp
	u.Paymaster, u.PaymasterData = stranger, golden.HexOf(data)
	o.UserOp = &u
}

func TestU12_AnUnknownPaymasterIsBehindItsGate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		foreignSponsor(&answer.ChainOperation, []byte("a foreign form"))
		w.Shown, w.Signed = &answer.ChainOperation, answer.ChainOperation.UserOp
		doc := w.Document(answer)
		w.Policy.Limits.Gates = others(verify.GatePaymaster)
		p, r := w.prepared(doc)
		gated(t, p != nil, r, "U12", verify.GatePaymaster)

		w.Policy.Limits.Gates = []string{verify.GatePaymaster}
		p, r = w.prepared(doc)
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		opened(t, r, verify.GatePaymaster, p.View().Fingerprint, p.View().Phrase, p.Confirmation())
		if v := p.View(); !v.Window.From.IsZero() || !v.Window.Until.IsZero() || !r.Has("U12", verify.Unknown) ||
			p.Signing().Summary().ValidUntil != verify.NoEnd {
			t.Fatalf("an unknown window is not said: %+v", r.Reasons)
		}
		if _, h, _ := received(t, w, doc, "/chainOperation/userOp", 8453); p.Signing().Hash() != h.Hex() {
			t.Fatal("the foreign sponsor is not in what gets signed")
		}
		s := signedBy(t, p, w.Key)
		q := w.CrossChain()
		foreignSponsor(&q.OriginChainsOperations[0], nil)
		v, r := w.quote(s, w.Document(q))
		if v == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		opened(t, r, verify.GatePaymaster, v.View().Fingerprint, v.View().Phrase, v.Confirmation())
		// what it signs carries no time, whoever sponsors it
		endless := w.Draft.Accounts[0].Type == api.AccountRoleBased
		if legs := v.View().Legs; !legs[0].Until.IsZero() || legs[1].Until.IsZero() != endless {
			t.Fatalf("%+v", legs)
		}
		w.Policy.Limits.Gates = nil
		v, r = w.quote(s, w.Document(q))
		gated(t, v != nil, r, "U12", verify.GatePaymaster)
	})
}

func TestU12_AForeignPaymasterHasFourFieldsLittleDataAndNoPromiseOfTime(t *testing.T) {
	all := []string{"paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"}
	each(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Gates = allGates()
		answer := w.PrepareResponse()
		foreignSponsor(&answer.ChainOperation, make([]byte, 4096))
		base := w.Document(answer)
		if p, r := w.prepared(base); p == nil {
			t.Fatalf("4 kB are refused: %+v", r.Reasons)
		}
		p, r := w.prepared(replace(t, base, "/chainOperation/userOp/paymasterData", golden.HexOf(make([]byte, 4097))))
		refused(t, p != nil, r, "L1")
		for _, name := range all {
			p, r := w.prepared(drop(t, base, "/chainOperation/userOp/"+name))
			refused(t, p != nil, r, "U12")
		}
		for _, validity := range []func(){
			func() { w.Draft.ValidUntil = fmt.Sprint(clock().Unix() + 120) },
			func() { w.Draft.ValidAfter, w.Draft.ValidUntil = fmt.Sprint(clock().Unix()+60), "" },
		} {
			validity()
			p, r := w.prepared(base)
			refused(t, p != nil, r, "U12")
		}
	})
}

func TestU12_APaymasterOfTheUsersPolicyNeedsNoGate(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Paymasters = []common.Address{common.HexToAddress(stranger), w.Network.Pins.Paymaster}
		answer := w.PrepareResponse()
		foreignSponsor(&answer.ChainOperation, []byte{1})
		p, r := w.prepared(w.Document(answer))
		if p == nil || r.Phrase() != "" || p.Confirmation() != p.View().Fingerprint || p.View().Phrase != "" ||
			!r.Has("U12", verify.Unknown) {
			t.Fatalf("%+v", r.Reasons)
		}
		own := w.PrepareResponse() // naming the network's own paymaster does not free it from its window
		own.ChainOperation.UserOp.PaymasterData = golden.HexOf(op.EncodePaymasterData(op.PaymasterWindow{},
			make([]byte, 65)))
		p, r = w.prepared(w.Document(own))
		refused(t, p != nil, r, "U12")
	})
}

func TestT7_WithoutAFormulaAnApprovalIsBlindAndBehindItsGate(t *testing.T) {
	for name, change := range map[string]func(f *network.Formula) bool{
		"none":             func(*network.Formula) bool { return false },
		"other name":       func(f *network.Formula) bool { f.Name = "ECDSAValidator"; return true },
		"other version":    func(f *network.Formula) bool { f.Version = "1.4.2"; return true },
		"other contract":   func(f *network.Formula) bool { f.VerifyingContract[0] ^= 1; return true },
		"unknown formula":  func(f *network.Formula) bool { f.Formula = "keccak256(callData)"; return true },
		"unknown encoding": func(f *network.Formula) bool { f.Formula = strings.ToUpper(f.Formula); return true },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.onNetwork(func(n *network.Descriptor) {
					f := n.Formulas[0]
					if n.Formulas = nil; change(&f) {
						n.Formulas = []network.Formula{f}
					}
				})
				if w.Kind != api.AccountRoleBased { // signs no approval
					if p, r := w.prepared(w.Document(w.PrepareResponse())); p == nil || r.Phrase() != "" {
						t.Fatalf("%+v", r.Reasons)
					}
					return
				}
				blindSigning(t, w)
			})
		})
	}
}

// blindSigning judges answers whose hash only the service can explain, in prepare and quote, with the gate closed and
// open.
func blindSigning(t *testing.T, w *world) {
	answer := w.PrepareResponse()
	answer.ChainOperation.TypedDataToSign.Message.CallDataAndNonceHash = "0x" + strings.Repeat("5e", 32)
	w.Shown = &answer.ChainOperation
	doc := w.Document(answer)
	w.Policy.Limits.Gates = others(verify.GateBlindSigning)
	p, r := w.prepared(doc)
	gated(t, p != nil, r, "T7", verify.GateBlindSigning)
	w.Policy.Limits.Gates = []string{verify.GateBlindSigning}
	if p, r = w.prepared(doc); p == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	opened(t, r, verify.GateBlindSigning, p.View().Fingerprint, p.View().Phrase, p.Confirmation())
	if p.View().Phrase != "this signature can move everything in the account" {
		t.Fatalf("%q", p.View().Phrase)
	}
	if a, ok := p.Signing().Approve(); !ok || a.Digest() !=
		w.Domain(8453).ApproveDigest(common.HexToHash("0x"+strings.Repeat("5e", 32))) {
		t.Fatal("something else than the served hash is signed")
	}
	zero := w.PrepareResponse()
	zero.ChainOperation.TypedDataToSign.Message.CallDataAndNonceHash = "0x" + strings.Repeat("00", 32)
	if z, r := w.prepared(w.Document(zero)); z == nil || z.Signing().Count() != 1 || signedBy(t, z, w.Key) == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	q := w.CrossChain()
	s := signedBy(t, p, w.Key)
	v, r := w.quote(s, w.Document(q))
	if v == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	opened(t, r, verify.GateBlindSigning, v.View().Fingerprint, v.View().Phrase, v.Confirmation())
	w.Policy.Limits.Gates = nil
	v, r = w.quote(s, w.Document(q))
	gated(t, v != nil, r, "T7", verify.GateBlindSigning)
}

// toStranger pays the first leg of a golden quote into a contract that nobody pinned.
func toStranger(w *world, calls ...op.Call) api.Quote {
	q := w.CrossChain()
	w.rebuild(&q, 0, calls)
	return q
}

const paid = 125_980_000 // the first leg

func transferTo(to string, v int64) op.Call {
	return op.Call{To: golden.TokenOf(arbUSDC), Value: new(big.Int),
		Data: erc20.Transfer(common.HexToAddress(to), big.NewInt(v))}
}

func approveTo(to string, v int64) op.Call {
	return op.Call{To: golden.TokenOf(arbUSDC), Value: new(big.Int),
		Data: erc20.Approve(common.HexToAddress(to), big.NewInt(v))}
}

func callTo(to string, value int64, data string) op.Call {
	return op.Call{To: common.HexToAddress(to), Value: big.NewInt(value), Data: common.FromHex(data)}
}

// elsewhere is a deposit of the named amount into another contract of the escrow's form.
func (w *world) elsewhere() []op.Call {
	calls := w.DepositCalls(assetOf(arbUSDC), big.NewInt(paid))
	calls[0].Data = erc20.Approve(common.HexToAddress(stranger), big.NewInt(paid))
	calls[1].To = common.HexToAddress(stranger)
	return calls
}

func TestQ4_AnUnknownTargetIsBehindItsGate(t *testing.T) {
	const other = "0x00000000000000000000000000000000000000F1"
	for name, c := range map[string]struct {
		calls func(w *world) []op.Call
		parts int
		fee   verify.Level // of the part that is not the payment
		bound bool
	}{
		"a transfer": {func(*world) []op.Call { return []op.Call{transferTo(stranger, paid)} }, 1, "", false},
		"approve and call": {func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0xdeadbeef")}
		}, 1, "", false},
		"a deposit elsewhere": {func(w *world) []op.Call { return w.elsewhere() }, 1, "", true},
		"a fee of 1 %": {func(*world) []op.Call {
			return []op.Call{transferTo(other, paid/100), transferTo(stranger, paid-paid/100)}
		}, 2, verify.Show, false},
		"a fee above 1 %": {func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid-paid/100-1), transferTo(other, paid/100+1)}
		}, 2, verify.Warn, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				s := w.signed()
				doc := w.Document(toStranger(w, c.calls(w)...))
				w.Policy.Limits.Gates = others(verify.GateTarget)
				q, r := w.quote(s, doc)
				gated(t, q != nil, r, "Q4", verify.GateTarget)
				w.Policy.Limits.Gates = []string{verify.GateTarget}
				if q, r = w.quote(s, doc); q == nil {
					t.Fatalf("%+v", r.Reasons)
				}
				opened(t, r, verify.GateTarget, q.View().Fingerprint, q.View().Phrase, q.Confirmation())
				leg := q.View().Legs[0]
				sum := new(big.Int)
				for _, x := range leg.Parts {
					sum.Add(sum, x.Amount.Amount)
				}
				if len(leg.Parts) != c.parts || sum.Int64() != paid || leg.Escrow != stranger ||
					!leg.RefundAfter.IsZero() || !r.Has("Q5", verify.Unknown) {
					t.Fatalf("shown %+v; %+v", leg, r.Reasons)
				}
				if r.Has("Q1", verify.Unknown) == c.bound || (c.fee != "" && !r.Has("Q5", c.fee)) ||
					(c.fee != verify.Warn && r.Has("Q5", verify.Warn)) {
					t.Fatalf("%+v", r.Reasons)
				}
			})
		})
	}
}

func TestQ4_BehindTheGateOnlyReadablePaymentsPass(t *testing.T) {
	const weth = "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"
	for name, c := range map[string]struct {
		code  string
		calls func(w *world) []op.Call
	}{
		"more than named": {"Q5", func(*world) []op.Call { return []op.Call{transferTo(stranger, paid+1)} }},
		"less than named": {"Q5", func(*world) []op.Call { return []op.Call{transferTo(stranger, paid-1)} }},
		"a fee beside": {"Q5", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid),
				transferTo(stranger, 1)}
		}},
		"the native coin instead": {"Q5", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid-1), callTo(stranger, 1, "0x")}
		}},
		"the coin with a transfer": {"Q5", func(*world) []op.Call {
			c := transferTo(stranger, paid)
			c.Value = big.NewInt(1)
			return []op.Call{c}
		}},
		"two calls of the target": {"Q4", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid), callTo(stranger, 0, "0xdeadbeef"),
				callTo(stranger, 0, "0xdeadbeef")}
		}},
		"an approval beside": {"Q4", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid),
				approveTo(stranger, 1)}
		}},
		"an approval as the fee": {"Q4", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, 1),
				transferTo(stranger, paid-1)}
		}},
		"an approval of nothing that opens another contract": {"Q4", func(*world) []op.Call {
			const pool = "0x00000000000000000000000000000000000000F2"
			return []op.Call{approveTo(pool, 0), callTo(pool, 0, "0x69328dec"), approveTo(stranger, paid),
				callTo(stranger, 0, "0xdeadbeef")}
		}},
		"a second contract": {"Q4", func(*world) []op.Call {
			const pool = "0x00000000000000000000000000000000000000F2"
			return []op.Call{approveTo(stranger, paid-1), callTo(stranger, 0, "0xdeadbeef"), approveTo(pool, 1),
				callTo(pool, 0, "0x69328dec")}
		}},
		"more parts than anybody reads": {"Q4", func(*world) []op.Call {
			calls := []op.Call{transferTo(stranger, paid-20)}
			for range 20 {
				calls = append(calls, transferTo(stranger, 1))
			}
			return calls
		}},
		"the native coin beside": {"Q5", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid),
				callTo(stranger, 1, "0x")}
		}},
		"another token": {"Q5", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid),
				callTo(weth, 0, "0x2e1a7d4d")}
		}},
		"a token nobody lists": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, golden.HexOf(erc20.Transfer(common.Address{1}, big.NewInt(5))))}
		}},
		"transferFrom elsewhere": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0x23b872dd")}
		}},
		"an ERC-721": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0x42842e0e")}
		}},
		"an ERC-721 with data": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0xb88d4fde")}
		}},
		"an ERC-1155": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0xf242432a")}
		}},
		"a batch of ERC-1155": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0x2eb2c2d6")}
		}},
		"rights elsewhere": {"Q5", func(*world) []op.Call {
			return []op.Call{approveTo(stranger, paid),
				callTo(stranger, 0, "0xa22cb465")}
		}},
		"more rights to the token": {"Q4", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid), callTo(golden.TokenOf(arbUSDC).Hex(), 0, "0x39509351")}
		}},
		"transferFrom of the token": {"Q4", func(*world) []op.Call {
			return []op.Call{
				callTo(golden.TokenOf(arbUSDC).Hex(), 0, "0x23b872dd")}
		}},
		"a call that takes nothing": {"Q4", func(*world) []op.Call {
			return []op.Call{transferTo(stranger, paid), callTo(stranger, 0, "0xdeadbeef")}
		}},
		"a call before its right": {"Q4", func(*world) []op.Call {
			return []op.Call{callTo(stranger, 0, "0xdeadbeef"),
				approveTo(stranger, paid)}
		}},
		"for another quote": {"Q1", func(w *world) []op.Call {
			w.ID = "0x" + strings.Repeat("77", 32)
			defer func() { w.ID = quoteID }()
			return w.elsewhere()
		}},
		"into the account": {"U9", func(w *world) []op.Call {
			return []op.Call{approveTo(w.Account.Hex(), paid), callTo(w.Account.Hex(), 0, "0xdeadbeef")}
		}},
		"into the validator": {"U9", func(w *world) []op.Call {
			return []op.Call{transferTo(stranger, paid),
				{To: w.Validator(), Value: new(big.Int), Data: []byte{1, 2, 3, 4}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Policy.Limits.Gates = allGates()
				s := w.signed()
				q, r := w.quote(s, w.Document(toStranger(w, c.calls(w)...)))
				refused(t, q != nil, r, c.code)
			})
		})
	}
}

// TestQ4_TheCoinItselfCanPayAnUnknownTarget is the shape of the one public sample: most of the value to a contract, a
// few per cent to a second address.
func TestQ4_TheCoinItselfCanPayAnUnknownTarget(t *testing.T) {
	const wei, fee = 83_200_000_000_000_000, 2_500_000_000_000_000
	pay := func(w *world, calls ...op.Call) (*verify.VerifiedQuote, verify.Report) {
		w.Draft.FundWith, w.CallType = "ob:eth", api.CallCrossChainSwaps
		w.Policy.Limits.Gates = []string{verify.GateTarget}
		s := w.signed()
		q := w.nativeQuote()
		q.OriginChainsOperations[0] = w.Operation(42161, op.LaneFunding, 2, false, calls, arbETH,
			fmt.Sprint(int64(wei)))
		return w.quote(s, w.Document(q))
	}
	each(t, func(t *testing.T, w *world) {
		q, r := pay(w, callTo(stranger, wei-fee, quoteID), callTo(payee, fee, "0x"))
		if q == nil || !r.Has("Q5", verify.Warn) {
			t.Fatalf("%+v", r.Reasons)
		}
		if parts := q.View().Legs[0].Parts; len(parts) != 2 || parts[1].ShareBps != 301 || parts[1].To != payee ||
			parts[0].Approval {
			t.Fatalf("%+v", parts)
		}
		q, r = pay(w, callTo(stranger, wei, "0xdeadbeef"), callTo(payee, 0, "0xdeadbeef"))
		refused(t, q != nil, r, "Q4")
		q, r = pay(w, callTo(stranger, wei, "0xa9059cbb"))
		refused(t, q != nil, r, "Q5")
		q, r = pay(w, callTo(stranger, wei, "0x01"))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestU6_AnUnknownTargetIsPaidInTheOneEncodingToo(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Gates = allGates()
		s := w.signed()
		q := toStranger(w, transferTo(stranger, paid))
		call := transferTo(stranger, paid)
		// the single mode, which says the same in other bytes
		execution := append(append(call.To.Bytes(), make([]byte, 32)...), call.Data...)
		data := append(common.FromHex("e9ae5c53"), make([]byte, 32)...)
		data = append(data, common.LeftPadBytes([]byte{64}, 32)...)
		data = append(append(data, common.LeftPadBytes(big.NewInt(int64(len(execution))).Bytes(), 32)...),
			common.RightPadBytes(execution, (len(execution)+31)/32*32)...)
		u := *q.OriginChainsOperations[0].UserOp
		u.CallData = golden.HexOf(data)
		q.OriginChainsOperations[0].UserOp = &u
		w.again(&q.OriginChainsOperations[0], 42161)
		v, r := w.quote(s, w.Document(q))
		refused(t, v != nil, r, "U6")
	})
}

func TestQ4_AnEscrowOfTheUsersPolicyCountsAsPinned(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Limits.Escrows = []common.Address{common.HexToAddress(stranger)}
		s := w.signed()
		q, r := w.quote(s, w.Document(toStranger(w, w.elsewhere()...)))
		if q == nil || r.Phrase() != "" || q.View().Legs[0].Escrow != stranger || len(q.View().Legs[0].Parts) != 0 ||
			q.View().Legs[0].RefundAfter.IsZero() {
			t.Fatalf("%+v", r.Reasons)
		}
		// what holds for the pinned escrow holds for it, too
		calls := w.elsewhere()
		calls[0].Data = erc20.Approve(w.Network.Pins.Escrow, big.NewInt(paid))
		q, r = w.quote(s, w.Document(toStranger(w, calls...)))
		refused(t, q != nil, r, "U8")
		q, r = w.quote(s, w.Document(toStranger(w, append(w.elsewhere(), w.elsewhere()[1])...)))
		refused(t, q != nil, r, "Q5")
	})
}
