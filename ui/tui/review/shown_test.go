package review

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

func TestGoldenInspectQuote(t *testing.T) {
	sizes(t, "inspect2", func(r *rig) {
		r.op.next = solanaQuote(r.clock.now)
		r.op.next.Legs[0].Delegation = delegation(10, "Optimism")
		r.toReview2().press("i")
	})
}

func TestBytesAndHashesOfBothDocumentsAreShownWhole(t *testing.T) {
	r := newRig(t)
	r.op.next = solanaQuote(r.clock.now)
	r.op.next.Legs[0].Delegation = delegation(10, "Optimism")
	r.toReview2()
	r.h = 120
	r.press("i")
	v := strings.ReplaceAll(r.flat(), " ", "")
	q, p := r.op.next, r.op.view1
	for _, want := range []string{p.Fingerprint, p.Digest, p.OpHash, q.Fingerprint, q.ID, q.Legs[0].OpHash,
		q.Legs[1].OpHash, solHash, solPayer, solVault, kernel, strings.TrimPrefix(p.Lines[0].Data, "0x")} {
		if !strings.Contains(strings.ToLower(v), strings.ToLower(want)) {
			t.Errorf("%s is not whole:\n%s", want, r.view())
		}
	}
	if !strings.Contains(r.flat(), "Usable balances, says the service") {
		t.Error("the balances that the service counts on are missing")
	}
	r.press("space", "c")
	if r.s.page != pageMain {
		t.Error("c does not go back")
	}
}

// nativeCall is a call that sends 1 ETH to an unknown contract, with bytes that cannot be decoded.
func (r *rig) nativeCall() *rig {
	eth := verify.AmountView{Asset: caip.Native(8453), Symbol: "ETH", Decimals: 18,
		Amount: big.NewInt(1_000_000_000_000_000_000), Micro: big.NewInt(3_400_000_000), ChainName: "Base"}
	l := &r.op.view1.Lines[0]
	l.Value, l.Amount, l.Function, l.Args, l.Decoded, l.ToName, l.Data = eth.Amount, &eth, "", nil, false, "",
		"0xdeadbeef"
	d := anIntent(r.t, r.clock.now).Draft()
	d.Calls = []intent.Call{{To: usdc, Value: eth.Amount.String(), Data: "0xdeadbeef"}}
	r.op.asked, r.op.view1.Outflow = &d, []verify.AmountView{eth}
	return r
}

func TestACallThatCannotBeDecodedShowsItsBytesAndItsValue(t *testing.T) {
	for _, w := range []int{80, 200} {
		r := newRig(t).nativeCall()
		r.w, r.h = w, 60
		v := r.open().settle().flat()
		want := []string{"byte for byte as below", "1 unknown function 0xdeadbeef", "an unknown contract, Base",
			"- 1 ETH $3,400.00", "cannot decode this call", "0xdead beef", "a call with 4 bytes of data"}
		if w >= sideBySide {
			want[0] = "4 bytes, as on the right"
		}
		for _, x := range want {
			if !strings.Contains(v, x) {
				t.Errorf("%q is missing at %d columns:\n%s", x, w, r.view())
			}
		}
		r.press("y").count(1, 0)
	}
	r := newRig(t).nativeCall()
	r.h = 60
	l := &r.op.view1.Lines[0]
	l.Amount, l.Decoded, l.Data = nil, true, "0x"
	r.op.asked.Calls[0].Data = ""
	r.op.view1.Chain.ID = 1 << 40 // the catalogue knows no coin of this chain
	if v := r.open().settle().flat(); !strings.Contains(v,
		"1,000,000,000,000,000,000 base units of the chain's own coin") ||
		strings.Count(v, "plain transfer of the chain's own coin") != 2 {
		t.Error(r.view())
	}
}

func TestEveryPartOfAPaymentIntoAForeignContractIsNamed(t *testing.T) {
	v := audited(t, func(q *verify.QuoteView) {
		q.Legs[0].Parts = []verify.PartView{
			{To: escrow, Amount: usdcOf(1_000_000, 1, ""), ShareBps: 100, Approval: true},
			{To: payee, ToName: "router", Amount: usdcOf(2_000_000, 2, ""), ShareBps: 200},
		}
	})
	for _, want := range []string{"Taken by " + present.Address(escrow) +
		" unknown contract on Optimism: 1.000000 USDC (1.00 % of the payment)",
		"Goes to " + present.Address(payee) + " router on Optimism"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing: %s", want, v)
		}
	}
}

func TestASameChainQuoteSignsNothingMore(t *testing.T) {
	r := newRig(t)
	r.h = 60
	sameChain(r.op.next)
	r.op.cheap()
	v := r.toReview2().unfold().flat()
	for _, want := range []string{"No payment on any other chain.", "You pay nothing more", "Fees none",
		"Nothing more gets signed", "No one advances anything"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r.press("y").count(1, 1)
}

func TestWhatWasSignedForEarlierQuotesIsNotForgotten(t *testing.T) {
	r := newRig(t)
	if !strings.HasSuffix(r.s.about().FirstLives(), "until its window ends") {
		t.Error(r.s.about().FirstLives())
	}
	r.toReview2()
	r.op.err, r.op.snap.SignaturesDone = errors.New("gone"), 3
	r.press("r")
	if v := r.flat(); !strings.Contains(v, "nothing shows that they were accepted") {
		t.Error(r.view())
	}
	r.s.snap.Review1.AccountType = api.AccountRoleBased
	if !strings.HasSuffix(r.s.about().FirstLives(), "and never expires") {
		t.Error(r.s.about().FirstLives())
	}
	r.s.enter(phaseQuote)
	if v := r.flat(); !strings.Contains(v, "for the same signed operation") {
		t.Error(r.view())
	}
	swap := newRig(t).openSwap()
	swap.s.signed = true
	swap.s.enter(phaseQuote)
	if v := swap.flat(); !strings.Contains(v, "Asking for a new quote.") ||
		!strings.Contains(v, "earlier quote can still be used") {
		t.Error(swap.view())
	}
}

func TestStatesThatNeedNoReviewAreHandedOver(t *testing.T) {
	for state, want := range map[flow.State]phase{
		flow.StateExecuting: phaseGone, flow.StateUnknown: phaseGone, flow.StateDone: phaseGone,
		flow.StateRefused: phaseRefused, flow.StateDraft: phaseProblem, flow.StateReview1: phaseRefused,
		flow.StateReview2: phaseRefused,
	} {
		if got := waitsFor(flow.Snapshot{State: state}); got != want {
			t.Errorf("%s: %d", state, got)
		}
	}
	if waitsFor(flow.Snapshot{State: flow.StateQuoting, Err: flow.ErrRefused}) != phaseRefused {
		t.Error("a refused quote is not shown as refused")
	}
	r := newRig(t)
	r.op.snap.State = flow.StateAccepted
	r.s.reset(r.op)
	r.s.show(r.op.snap)
	if v := r.flat(); !strings.Contains(v, "under way") {
		t.Error(v)
	}
	if r.press("enter"); r.lastOpen(screen.Activity) == nil {
		t.Error("enter does not open Activity")
	}
}

// On the smallest screen, too, nothing is cut and nothing overflows.
func TestBothReviewsAreWholeAt60x20(t *testing.T) {
	r := newRig(t).allowance()
	r.w, r.h = 60, 15
	r.open().settle()
	all := r.shown()
	for _, w := range []string{payee, escrow, usdc, present.Checksummed(account), "250.500000USDC"} {
		if !strings.Contains(all, w) {
			t.Errorf("%s is not whole: %s", w, all)
		}
	}
	r.clock.add(time.Second)
	r.press("y").settle()
	all = r.shown()
	for _, w := range []string{"125.980000USDC", payee, escrow, "sign3of3[]"} {
		if !strings.Contains(all, w) {
			t.Errorf("%s is not whole: %s", w, all)
		}
	}
}
