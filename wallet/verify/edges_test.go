package verify_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op/escrow"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

func TestTheReviewCountsTheCallsAndNamesTheFunctionsThatWereAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		selector := crypto.Keccak256([]byte("first(uint256)"))[:4]
		w.Draft.Calls[0] = intent.Call{To: vault, Function: "first(uint256 a)",
			Data: hexutil.Encode(append(selector, make([]byte, 32)...))}
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		lines := p.View().Lines
		for i, l := range lines {
			if l.Index != i+1 {
				t.Errorf("call %d has the number %d", i+1, l.Index)
			}
		}
		at := slices.IndexFunc(lines, func(l verify.CallView) bool { return l.To == common.HexToAddress(vault).Hex() })
		if at < 0 || lines[at].Function != "first(uint256 a)" {
			t.Errorf("%+v", lines)
		}
	})
}

func TestP4_OneSignatureIsTheWholeConsentWhereNoPaymentIsAnnounced(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for way, whole := range map[string]bool{api.CallSameChainExcludeSolver: true,
			api.CallSameChainWithSolver: false, api.CallCrossChain: false} {
			answer := w.PrepareResponse()
			answer.CallType = way
			p, r := w.prepared(w.Document(answer))
			if p == nil {
				t.Fatalf("%s: %+v", way, r.Reasons)
			}
			if p.View().WholeConsent != whole {
				t.Errorf("%s: the whole consent: %v", way, !whole)
			}
		}
	})
}

func TestQ11_ToleranceUpToTheLimitOfTheWallet(t *testing.T) {
	for over, ok := range map[int]bool{0: true, 1: false} {
		w := newWorld(t)
		w.Draft.SlippageBps = w.Policy.MaxSlippageBps + over
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if (p != nil) != ok || r.Has("Q11", verify.Refuse) == ok {
			t.Errorf("%d over: %+v", over, r.Reasons)
		}
	}
}

func TestU3_AnUnknownSequenceIsBelowFourBillion(t *testing.T) {
	for sequence, ok := range map[uint64]bool{1<<32 - 1: true, 1 << 32: false} {
		w := newWorld(t)
		w.Sequence = sequence
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if (p != nil) != ok || !r.Has("U3", verify.Unknown) || r.Has("U3", verify.Refuse) == ok {
			t.Errorf("%d: %+v", sequence, r.Reasons)
		}
	}
}

func TestQ5_TheRefundComesAfterTheExpiryAndWithinADay(t *testing.T) {
	for after, ok := range map[uint64]bool{0: false, 1: true, 86_400: true, 86_401: false} {
		w := newWorld(t)
		w.Lie = func(t *escrow.Terms) { t.FillDeadline = uint64(clock().Unix()) + 29 }
		s, q := w.signed(), w.CrossChain()
		calls := w.DepositCalls(assetOf(arbUSDC), big.NewInt(125_980_000))
		calls[1].Data = w.DepositData(escrow.Deposit{QuoteID: [32]byte(common.FromHex(quoteID)),
			Token: golden.TokenOf(arbUSDC), Amount: big.NewInt(125_980_000),
			RefundDeadline: uint64(clock().Unix()) + 30 + after})
		o := q.OriginChainsOperations[0]
		q.OriginChainsOperations[0] = w.Deposit(golden.Payment{Asset: o.AssetType, Amount: 125_980_000, Sequence: 4})
		w.rebuild(&q, 0, calls)
		v, r := w.quote(s, w.Document(q))
		if (v != nil) != ok || r.Has("Q5", verify.Refuse) == ok {
			t.Errorf("%d s after the expiry: %+v", after, r.Reasons)
		}
	}
}

func TestQ8_SomethingIsDelivered(t *testing.T) {
	for _, name := range everyExchange {
		a := answer(t, name)
		a.quote.DestinationToken.Amount = "0"
		_, r := a.judge(a.document())
		found := false
		for _, x := range r.Reasons {
			found = found || x.Code == "Q8" && x.Level == verify.Refuse && x.Want == "more than 0" && x.Got == "0"
		}
		if !found {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
}
