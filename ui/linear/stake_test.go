package linear

import (
	"context"
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/api/amount"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

func TestACostlyPaymentIsTypedWhateverItIsWorth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.view1 = prepared(utc())
		r.op.view1.Outflow = []verify.AmountView{usdcOf(5_000_000, 4_999_000, "Base")}
		r.op.next = quote(utc(), time.Minute)
		r.op.next.Legs, r.op.next.Needs, r.op.next.CostBps = r.op.next.Legs[:1], nil, 1200
		r.op.next.Legs[0].Pays = usdcOf(5_000_000, 4_999_000, "")
		r.begins()
		r.types(callScript()[:amountAt]...)
		r.types("yes")
		if r.op.executes != 0 {
			t.Fatal("a payment of which an eighth is lost was confirmed by one word")
		}
		r.types("1", "5")
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAQuoteOfTheSignedOperationAloneIsConfirmedByWhatItTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		q := quote(utc(), time.Minute)
		q.SameChainOnly, q.Legs, q.Promise, q.Pay, q.PayMicro = true, nil, nil, nil, new(big.Int)
		r.op.next = q
		r.begins()
		said := r.types(callScript()[:yesAt+1]...)
		r.wants(said, "250.50 USDC leaves your account")
		r.types("1", "yes")
		if r.op.executes != 0 {
			t.Fatal("what takes 250 USD was confirmed by one word")
		}
		r.types("1", "250.5")
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAnAmountThatNobodyTypesIsConfirmedByCharactersOfTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.view1 = prepared(utc())
		r.op.view1.Outflow[0].Amount, r.op.view1.Outflow[0].Micro = amount.MaxUint256(), nil
		r.op.next = quote(utc(), time.Minute)
		r.op.next.Needs = nil
		r.begins()
		said := r.types(callScript()[:amountAt]...)
		from, right := asked(t, said, payee)
		r.wants(said, "type characters "+itoa(from)+" to "+itoa(from+3)+" of the address, from where you have it")
		r.types(payee[len(payee)-4:])
		if r.op.executes != 0 {
			t.Fatal("confirmed by something else")
		}
		r.types("1", strings.ToLower(right))
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

// asked is where the characters of an address that are asked for begin, and what they are.
func asked(t *testing.T, said, address string) (from int, right string) {
	t.Helper()
	found := regexp.MustCompile(`haracters (\d+) to`).FindAllStringSubmatch(flat(said), -1)
	if len(found) == 0 {
		t.Fatal(said)
	}
	from, _ = strconv.Atoi(found[len(found)-1][1])
	return from, address[2:][from-1:][:4]
}

// The four characters are in no answer of the program while they are asked for, neither in the review nor in the bytes.
func TestD5_APayeeWhomNobodyKnowsIsConfirmedByCharactersThatAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.stranger, r.op.view1 = true, prepared(utc())
		const other = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
		l := &r.op.view1.Lines[0]
		l.Recipient, l.Args[0].Value = other, other
		r.op.report1.Reasons[0].Got = other
		r.op.next = quote(utc(), time.Minute)
		r.begins()
		r.types(callScript()[:amountAt]...)
		r.types("", "4", "5", "6", "1") // the checks, the bytes, the spelling, and the question again
		_, review, _ := strings.Cut(r.script.String(), "Review 2 of 2")
		said := r.types("250")
		from, right := asked(t, said, other)
		if squashed := strings.ReplaceAll(strings.Join(strings.Fields(review), ""), ",", ""); strings.Contains(
			strings.ToLower(squashed), strings.ToLower(other[2:])) || !strings.Contains(review, "____") {
			t.Errorf("the address is there in full:\n%s", review)
		}
		r.types(other[len(other)-4:])
		if r.op.executes != 0 {
			t.Fatalf("the end of the address was enough for characters %d to %d", from, from+3)
		}
		r.types("1", "250", right)
		if err := r.ends(); err != nil || r.op.executes != 1 {
			t.Errorf("%d executed, %v", r.op.executes, err)
		}
	})
}

func TestAQuoteThatWasSubmittedBeforeIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		r.types(callScript()[:amountAt]...)
		r.op.err = flow.ErrSubmitted
		said := flat(r.types(callScript()[amountAt]))
		if strings.Contains(said, "Try again") || strings.Contains(said, "Change what you ask for") ||
			!strings.Contains(said, "Activity follows it") {
			t.Error(said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// sentOp is a swap whose first quote was sent and not accepted: a new quote counts its signatures anew.
type sentOp struct{ *fakeOp }

func (o sentOp) Execute(ctx context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	if _, err := o.fakeOp.Execute(ctx, c, progress); err != nil {
		return o.snap, err
	}
	o.snap.State, o.snap.BodyHash = flow.StateReview2, strings.Repeat("ab", 32)
	return o.snap, errors.New("the service did not accept it")
}

func (o sentOp) Quote(context.Context) (flow.Snapshot, error) {
	o.snap.SignaturesDone = 0
	return o.quoted()
}

func TestWhatWasSentAndNotAcceptedIsNotForgottenByANewQuote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.op.snap.Intent = intent.Draft{Kind: intent.KindSwap}
		op := sentOp{r.op}
		r.unfinished = []Operation{op}
		r.op.snap.State = flow.StateQuoting
		r.begins()
		r.types("7", "1", "1", "1", "yes") // activity, the first, continue, confirm
		said := r.types("1")               // try again
		if r.op.executes != 1 || !strings.Contains(flat(said), "Leave") ||
			strings.Contains(flat(said), "nothing is signed") {
			t.Errorf("%d executed:\n%s", r.op.executes, said)
		}
		r.types("") // leave
		if r.op.gones != 0 {
			t.Error("abandoned although something was sent")
		}
		said = r.types("1") // the operation again
		if strings.Contains(flat(said), "Nothing is signed. ") {
			t.Error(said)
		}
		r.types("1")
		said = r.types("")
		if r.op.gones != 0 || strings.Contains(flat(said), "Nothing was signed") {
			t.Errorf("%d gone: %s", r.op.gones, said)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
