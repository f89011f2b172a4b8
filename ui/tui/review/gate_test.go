package review

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

func TestAnOpenGateIsConfirmedByItsSentenceOnly(t *testing.T) {
	r := newRig(t)
	r.gated().open().settle().read().press("y")
	r.count(0, 0)
	if v := r.view(); !strings.Contains(v, blindText) {
		t.Fatalf("the sentence is not shown:\n%s", v)
	}
	r.press("enter").typeText("this signature can move everything in the accoun").press("enter").count(0, 0)
	if !strings.Contains(r.view(), "not the same") {
		t.Error("a wrong sentence is not said to be wrong")
	}
	r.typeText("t").press("enter").count(1, 0)
	if want := r.op.view1.Fingerprint + "\n" + blindText; r.op.confirmed != want {
		t.Errorf("confirmed %q, want %q", r.op.confirmed, want)
	}
}

func TestLettersOfASentenceAreNoKeysAndEscStopsTyping(t *testing.T) {
	r := newRig(t)
	r.gated().open().settle().read().press("enter").typeText("e c i y r q")
	if r.s.page != pageMain || r.s.phase != phaseReview1 || r.s.typed.Value() != "e c i y r q" {
		t.Fatalf("page %d, phase %d, %q", r.s.page, r.s.phase, r.s.typed.Value())
	}
	if r.press("ctrl+u"); r.s.typed.Value() != "" || !r.s.writing() {
		t.Errorf("ctrl+u leaves %q, still typing: %v", r.s.typed.Value(), r.s.writing())
	}
	r.typeText("again").press("esc")
	if r.s.typed.Value() != "" || r.s.writing() {
		t.Fatal("esc does not stop the typing")
	}
	r.press("i")
	if r.s.page != pageInspect {
		t.Error("i does not inspect again")
	}
	r.press("esc")
	r.clock.add(time.Second)
	r.press("esc")
	if r.op.abandoned != 1 {
		t.Error("the second esc does not leave")
	}
}

func TestASentenceCannotBePastedNorTypedBeforeAllWasRead(t *testing.T) {
	r := newRig(t)
	r.h = 10
	r.gated().open().settle().press("enter")
	if r.s.typed.Focused() {
		t.Fatal("the sentence can be typed before the review was read")
	}
	r.read().press("enter")
	r.do(r.s.Update(tea.PasteMsg{Content: blindText}))
	if r.s.typed.Value() != "" || !r.told("a paste confirms nothing") {
		t.Fatal("a paste was taken")
	}
	r.press("enter").count(0, 0)
}

func TestSentenceAndAmountAreBothAskedForSentenceFirst(t *testing.T) {
	r := newRig(t)
	r.op.next.Phrase, r.op.report2 = "I trust this contract with the payment",
		report(verify.Reason{Code: "Q4", Level: verify.Gate, Open: true, Setting: verify.GateTarget,
			Title: "A payment does not go into a pinned escrow."})
	r.toReview2().typeText("250.98").press("enter", "enter").count(1, 0)
	r.press("esc")
	r.clock.add(time.Second)
	r.press("enter").typeText(r.op.next.Phrase).press("enter").count(1, 0)
	if !r.told("now the amount") || !strings.Contains(r.view(), "type 250 and") {
		t.Fatal(r.view())
	}
	r.clock.add(time.Second)
	r.typeText("225.97").press("enter").count(1, 0)
	r.press("backspace")
	r.s.typed.Set("250.98")
	r.clock.add(time.Second)
	r.press("enter").count(1, 1)
	if want := r.op.next.Fingerprint + "\n" + r.op.next.Phrase; r.op.confirmed != want {
		t.Errorf("confirmed %q", r.op.confirmed)
	}
}

func TestASentenceForOneQuoteIsVoidForTheNext(t *testing.T) {
	r := newRig(t)
	r.op.next.Phrase = "I trust this contract with the payment"
	r.op.cheap()
	r.toReview2().press("enter").typeText(r.op.next.Phrase)
	r.press("esc", "r").settle().read()
	if r.s.typed.Value() != "" || r.s.answers.Phrase != "" {
		t.Fatal("what was typed for the old quote stands")
	}
}

func TestEveryClosedGateNamesItsSettingAndItsPlace(t *testing.T) {
	for _, setting := range []string{verify.GateBlindSigning, verify.GatePaymaster, verify.GateDelegationNonce,
		verify.GateTarget} {
		r := newRig(t)
		r.op.report1 = report(verify.Reason{Code: "T7", Level: verify.Gate, Setting: setting, Title: "Closed."})
		r.open().settle().press("y", "enter").count(0, 0)
		for _, want := range []string{`"` + setting + `"`, "policy file", "docs/policy.md", "closed gate"} {
			if !strings.Contains(strings.Join(strings.Fields(r.view()), " "), want) {
				t.Errorf("%s: %q is missing:\n%s", setting, want, r.view())
			}
		}
	}
}

func TestRefusalsSayWhoseFaultItIs(t *testing.T) {
	service := verify.Reason{Code: "U7", Level: verify.Refuse, Title: "Not yours."}
	own := verify.Reason{Code: "Y1", Level: verify.Refuse, Title: "Not true: your policy allows the chain."}
	for _, c := range []struct {
		reasons []verify.Reason
		head    string
		told    string
	}{
		{[]verify.Reason{own}, "Your own policy forbids this", "The service did nothing wrong"},
		{[]verify.Reason{blind(false)}, "closed gate", "Leave the gate closed"},
		{[]verify.Reason{own, service, blind(true)}, "fails 2 checks", "do not try again with this service"},
	} {
		r := newRig(t)
		r.op.report1 = report(c.reasons...)
		r.h = 35
		r.open().settle()
		if v := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(v, c.head) ||
			!strings.Contains(v, c.told) {
			t.Errorf("%q, %q:\n%s", c.head, c.told, r.view())
		}
	}
}

func TestASwapIsReviewedOnceAndSignsNothingBefore(t *testing.T) {
	r := newRig(t)
	r.openSwap().settle().read().count(0, 0)
	if r.op.prepare != 0 || r.op.quotes != 1 || r.s.phase != phaseReview2 {
		t.Fatalf("prepared %d, quoted %d, phase %d", r.op.prepare, r.op.quotes, r.s.phase)
	}
	if r.s.KeepOpen() != "a review is open; nothing is signed" {
		t.Error(r.s.KeepOpen())
	}
	r.press("r").settle().read()
	if r.op.quotes != 2 || r.op.requote != 0 {
		t.Errorf("%d quotes, %d re-quotes", r.op.quotes, r.op.requote)
	}
	r.op.next = swapQuote(r.clock.now)
	r.press("esc")
	if r.op.abandoned != 1 || !r.told("Nothing was signed") {
		t.Error("leaving does not say that nothing was signed")
	}
}

func TestASwapPaysOnlyAfterItsOneConfirmation(t *testing.T) {
	r := newRig(t)
	r.openSwap().settle().read().press("y").count(0, 1)
	if r.op.confirmed != r.op.next.Fingerprint {
		t.Errorf("confirmed %q", r.op.confirmed)
	}
}

func TestASwapThatFailedIsQuotedAgainAndNeverPrepared(t *testing.T) {
	r := newRig(t)
	r.op.err = api.NewError(api.ErrNoRoute, "no route")
	r.openSwap().settle()
	if r.s.phase != phaseProblem || !strings.Contains(r.view(), "Nothing was signed.") {
		t.Fatal(r.view())
	}
	r.op.err = nil
	r.press("r").settle()
	if r.op.prepare != 0 || r.op.quotes != 2 || r.s.phase != phaseReview2 {
		t.Fatalf("prepared %d, quoted %d, phase %d", r.op.prepare, r.op.quotes, r.s.phase)
	}
}

func TestASwapThatWasSignedAndRefusedSaysThatItsSignaturesLive(t *testing.T) {
	r := newRig(t)
	r.op.outcome = flow.StateReview2
	r.openSwap().settle().read().press("y").count(0, 1)
	r.press("esc")
	if r.op.abandoned != 0 || !r.told("can still be used until it ends") {
		t.Fatal("leaving does not say what can still be used")
	}
}

func TestASwapLeftWhileItWasQuotedIsClosed(t *testing.T) {
	r := newRig(t)
	r.op.next = swapQuote(r.clock.now)
	cmd := r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: aSwap(t, r.clock.now)}})
	quoting := r.s.Update(tuitest.Messages(cmd)[0])
	r.press("esc")
	r.do(quoting)
	if r.s.phase != phaseEmpty || r.op.abandoned == 0 {
		t.Fatalf("phase %d, abandoned %d", r.s.phase, r.op.abandoned)
	}
}

func TestRecipientsOfASwapCarryTheirMarks(t *testing.T) {
	for _, c := range []struct {
		own, first bool
		want       string
	}{{true, false, "yours ✓"}, {false, true, "! First payment to this address"}, {false, false, "paid before"}} {
		r := newRig(t)
		r.h = 40
		r.openSwap()
		r.op.next.RecipientOwn, r.op.next.RecipientFirstTime, r.op.next.Recipient = c.own, c.first, payee
		if v := r.settle().view(); !strings.Contains(v, c.want) || !strings.Contains(squash(v), payee[2:]) {
			t.Errorf("%q is missing:\n%s", c.want, v)
		}
	}
}

func TestUnknownFeesAreUnknownAndNeverNothing(t *testing.T) {
	for _, open := range []func(*rig) *rig{(*rig).openSwap,
		func(r *rig) *rig { return r.open().settle().read().press("y") }} {
		r := newRig(t)
		r.h = 40
		r.op.next.Fees, r.op.next.FeesMicro, r.op.next.FeeUSD, r.op.next.CostMicro, r.op.next.UnexplainedMicro = nil,
			nil, "", nil, nil
		open(r)
		if q := r.op.next; q.Kind == "swap" {
			q.Fees, q.FeesMicro, q.FeeUSD, q.CostMicro, q.UnexplainedMicro = nil, nil, "", nil, nil
		}
		v := strings.Join(strings.Fields(r.settle().view()), " ")
		if !strings.Contains(v, "Fees unknown") || strings.Contains(v, "Fees none") || strings.Contains(v, "$0.00") {
			t.Errorf("%s", r.view())
		}
	}
}

func TestDelegationsHaveTheirOwnSentenceAndTheirOwnSignature(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.op.view1 = delegated(r.op.view1)
	r.op.next.Legs[0].Delegation = delegation(10, "Optimism")
	r.open().settle()
	v := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{
		"! From this signature on, other code (Kernel v3.3 account) controls your EOA on Base, until you change it",
		"Base (eip155:8453) only, with account nonce 7", "To undo"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	if !strings.Contains(squash(v), kernel[2:]) {
		t.Error("the code is not shown in full")
	}
	r.press("y").settle()
	if r.op.sign != 1 {
		t.Fatal("not signed")
	}
	v = strings.Join(strings.Fields(r.view()), " ")
	for i, want := range []string{
		"! From signature 3 on, other code (Kernel v3.3 account) controls your EOA on Optimism",
		"sign 3 of 5 [ ] delegation", "sign 4 of 5 [ ]", "sign 5 of 5 [ ]"} {
		if !strings.Contains(v, want) {
			t.Errorf("%d: %q is missing:\n%s", i, want, r.view())
		}
	}
	r.s.enter(phaseExecute)
	for i := range 5 {
		if want := fmt.Sprintf("signature %d of 5: ", i+1); !strings.Contains(r.view(), want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r.s.Update(eventMsg{gen: r.s.gen, event: signedEvent(3, r.clock.now), feed: closedFeed()})
	for text, signed := range map[string]bool{"signature 2 of 5": true, "signature 3 of 5": true,
		"signature 4 of 5": false} {
		if got := strings.Contains(r.view(), "✓ "+text); got != signed {
			t.Errorf("%s ticked %v:\n%s", text, got, r.view())
		}
	}
}

func TestD6DelegationsToOneCodeAreOneCardWithEveryChain(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.op.next.Legs[0].Delegation, r.op.next.Legs[1].Delegation = delegation(10, "Optimism"),
		delegation(42161, "Arbitrum")
	r.open().settle().press("y").settle()
	v := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{"From these signatures on", "on each chain below",
		"Optimism (eip155:10) only, with account nonce 7, signature 2",
		"Arbitrum (eip155:42161) only, with account nonce 7, signature 4"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	if n := strings.Count(squash(v), kernel[2:]); n != 1 {
		t.Errorf("the code is shown %d times", n)
	}
	r.op.next.Legs[1].Delegation.Contract = payee
	if n := strings.Count(strings.Join(strings.Fields(r.view()), " "), "controls your EOA"); n != 2 {
		t.Errorf("%d cards for two codes:\n%s", n, r.view())
	}
}

func TestTheServiceAskingToPrepareAgainIsFollowed(t *testing.T) {
	r := newRig(t)
	r.open().settle().read()
	r.op.err = api.NewError(api.ErrPrepareAgain, "the account changed")
	r.press("y")
	if r.s.phase != phaseProblem {
		t.Fatalf("phase %d", r.s.phase)
	}
	r.op.err = nil
	r.press("r")
	if r.op.prepare != 2 || r.op.requote != 0 || !r.s.signed {
		t.Fatalf("prepared %d, re-quoted %d, signed %v", r.op.prepare, r.op.requote, r.s.signed)
	}
}

// base58Text is an address of Solana, whole or not.
func base58Text(t *rapid.T, label string) string {
	return rapid.StringMatching(`[1-9A-HJ-NP-Za-km-z]{43,44}`).Draw(t, label)
}

func TestNothingOfADelegationASolanaMessageOrAGateIsCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t).anySize(rt)
		var want []string
		reason := rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,90}){0,3}`).Draw(rt, "reason")
		phrase := rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,20}){0,12}`).Draw(rt, "phrase")
		d := delegation(8453, "Base")
		d.Authority, d.Contract = anAddress(rt, "eoa"), anAddress(rt, "code")
		r.op.view1 = delegated(r.op.view1)
		r.op.view1.Delegation, r.op.view1.Phrase = d, phrase
		r.op.report1 = report(verify.Reason{Code: "T7", Level: verify.Gate, Open: true,
			Setting: verify.GateBlindSigning, Title: reason})
		r.open().settle()
		all := r.shown()
		for _, w := range []string{d.Authority, d.Contract, reason, phrase} {
			if !strings.Contains(all, squash(w)) {
				rt.Fatalf("%q is not whole on the screen of %d×%d", w, r.w, r.h)
			}
		}
		q := solanaQuote(r.clock.now)
		for i := range rapid.IntRange(1, 4).Draw(rt, "instructions") {
			x := verify.InstructionView{Program: base58Text(rt, "program"), Name: "do", Args: []verify.ArgView{
				{Name: "to", Type: "address", Value: base58Text(rt, "to")},
				{Name: "data", Type: "bytes", Value: "0x" +
					strings.Repeat("ab", rapid.IntRange(1, 200).Draw(rt, "bytes"))},
				{Name: fmt.Sprintf("n%d", i), Type: "u64",
					Value: rapid.StringMatching(`[1-9][0-9]{0,18}`).Draw(rt, "n")},
			}}
			if rapid.Bool().Draw(rt, "named") {
				x.ProgramName = "Known"
			} else {
				want = append(want, x.Program)
			}
			q.Legs[1].Solana.Instructions = append(q.Legs[1].Solana.Instructions, x)
			for _, a := range x.Args {
				want = append(want, a.Value)
			}
		}
		m := q.Legs[1].Solana
		m.FeePayer, m.BlockHash, q.Legs[1].Escrow = base58Text(rt, "payer"), base58Text(rt, "hash"),
			base58Text(rt, "vault")
		a := hugeAmount(rt, 9)
		q.Legs[0].Parts = []verify.PartView{{To: anAddress(rt, "part"), Amount: a, ShareBps: 305}}
		want = append(want, m.FeePayer, m.BlockHash, q.Legs[1].Escrow, q.Legs[0].Parts[0].To, phrase)
		q.Phrase, r.op.next = phrase, q
		r.press("enter").typeText(phrase)
		r.clock.add(time.Second)
		r.press("enter").settle()
		if r.op.sign != 1 {
			rt.Fatal("not signed")
		}
		all = r.shown()
		mustShow(rt, all, a)
		for _, w := range want {
			if !strings.Contains(all, squash(w)) {
				rt.Fatalf("%q is not whole on the screen of %d×%d: %s", w, r.w, r.h, all)
			}
		}
	})
}

func TestNoFigureOrAddressOfASwapIsCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t).anySize(rt)
		r.openSwap()
		q := r.op.next
		q.Pay, q.Fees = []verify.AmountView{hugeAmount(rt, 1)}, []verify.AmountView{hugeAmount(rt, 2)}
		q.Minimum, q.Delivered, q.PayMicro = hugeAmount(rt, 3), hugeAmount(rt, 4), nil
		q.Recipient = anAddress(rt, "recipient")
		if rapid.Bool().Draw(rt, "solana") {
			q.Recipient = base58Text(rt, "to")
		}
		q.RecipientOwn, q.RecipientFirstTime = false, rapid.Bool().Draw(rt, "first")
		r.s.drawn = ""
		r.settle()
		all := r.shown()
		for _, a := range []verify.AmountView{q.Pay[0], q.Fees[0], q.Minimum, q.Delivered} {
			mustShow(rt, all, a)
		}
		if !strings.Contains(all, squash(q.Recipient)) {
			rt.Fatalf("%q is not whole", q.Recipient)
		}
	})
}
