package settle_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// untouched demands that a refused execute left the quote an offer.
func untouched(t *testing.T, w *World, id string) {
	t.Helper()
	if s := w.Status(id); s.Status != "" {
		t.Fatalf("a refused execute left status %+v", s)
	}
}

func TestSecondExecuteIsAnsweredAlreadyExecuted(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.Settle(signed)
	e := Refused(t, w.Execute(signed), api.ErrAlreadyExecuted)
	if e.StatusCode != 409 {
		t.Errorf("status code %d", e.StatusCode)
	}
	w.Clock.Advance(time.Hour)
	Refused(t, w.Execute(signed), api.ErrAlreadyExecuted)
}

func TestOfFiftyConcurrentExecutesOneWins(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	sums := w.Sums(payee())
	results := make([]error, 50)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = w.Execute(signed) })
	}
	group.Wait()
	Must(t, w.Settler.Idle(context.Background()))
	won := 0
	for _, err := range results {
		var e *api.Error
		switch {
		case err == nil:
			won++
		case !errors.As(err, &e) || e.Name != api.ErrAlreadyExecuted && e.Name != api.ErrPrepareAgain &&
			e.Name != api.ErrInsufficientBalance:
			t.Errorf("a loser got %v", err)
		case e.Name != api.ErrAlreadyExecuted:
			t.Errorf("a loser got %s", e.Name)
		}
	}
	if won != 1 {
		t.Errorf("%d executes won", won)
	}
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Errorf("status %+v", s)
	}
	w.SameSums(sums, w.Sums(payee()))
}

func TestExecuteAfterExpiryIsRefusedAndTheRecordStaysEmpty(t *testing.T) {
	w := New(t, Options{Lifetime: 30 * time.Second})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.Clock.Advance(31 * time.Second)
	Refused(t, w.Execute(signed), api.ErrQuoteExpired)
	untouched(t, w, w.Decode(signed).ID)
	w.Clock.Advance(time.Hour) // long swept away, still told as expired
	Must(t, w.Book.Sweep(context.Background()))
	Refused(t, w.Execute(signed), api.ErrQuoteExpired)
}

func TestExecuteAtTheSecondOfExpiryIsAccepted(t *testing.T) {
	w := New(t, Options{Lifetime: 30 * time.Second})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.Clock.Advance(30 * time.Second)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestExecuteBeforeValidAfterIsRefused(t *testing.T) {
	w := New(t, Options{Lifetime: 5 * time.Minute})
	r := crossChain(w)
	r.ValidAfter = "1760000120"
	signed := w.SignQuote(w.Quote(r, ""))
	e := Refused(t, w.Execute(signed), api.ErrValidation)
	if len(e.Details) != 1 || e.Details[0].Path != "validAfter" {
		t.Errorf("details %+v", e.Details)
	}
	w.Clock.Advance(2 * time.Minute)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestUnsignedOrWronglySignedOperationIsInvalidSignature(t *testing.T) {
	w := New(t, Options{})
	doc := w.Quote(crossChain(w), "")
	signed := w.SignQuote(doc)
	for i := range 3 {
		pointer := "/originChainsOperations/" + string(rune('0'+i))
		Refused(t, w.Execute(w.SignOperation(signed, pointer, Key(99))), api.ErrInvalidSignature)
	}
	Refused(t, w.Execute(doc), api.ErrValidation) // "0x" is no signature at all
	untouched(t, w, w.Decode(doc).ID)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("the quote was not usable afterwards: %+v", s)
	}
}

func TestSignatureOfTheWholeSameChainCallIsChecked(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	doc := w.Quote(pay(w, Base, 10*usdcPlain), "")
	Refused(t, w.Execute(w.SignOperation(doc, "/originChainsOperations/0", Key(99))), api.ErrInvalidSignature)
	untouched(t, w, w.Decode(doc).ID)
}

// mutate changes one leaf to another value of the same kind.
func mutate(value []byte) []byte {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return []byte(`"x"`)
	}
	switch x := v.(type) {
	case string:
		if x == "" {
			return []byte(`"0"`)
		}
		last := "0"
		if strings.HasSuffix(x, "0") {
			last = "1"
		}
		out, _ := json.Marshal(x[:len(x)-1] + last)
		return out
	case float64:
		out, _ := json.Marshal(x + 1)
		return out
	case bool:
		out, _ := json.Marshal(!x)
		return out
	}
	return []byte(`["added"]`)
}

func TestEveryChangedLeafIsTamperProof(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	rules := api.Rules{Catalog: w.Installation.Catalog, Now: w.Clock.Now()}
	leaves := 0
	signed.Leaves(func(pointer string, value []byte) {
		if strings.HasSuffix(pointer, "/userOp/signature") {
			return
		}
		changed, err := signed.Splice(api.Edit{Pointer: pointer, Value: mutate(value)})
		Must(t, err)
		if len(rules.Execute(changed)) > 0 { // it breaks its described form
			Refused(t, w.Execute(changed), api.ErrValidation)
			return
		}
		leaves++
		e := Refused(t, w.Execute(changed), api.ErrTamperProof)
		if !strings.HasPrefix(e.Message, "Incorrect tamper proof signature") {
			t.Errorf("%s: message %q", pointer, e.Message)
		}
	})
	if leaves < 90 {
		t.Errorf("only %d leaves were tried", leaves)
	}
	for added, value := range map[string]string{"/note": `"0x"`, "/originChainsOperations/0/signature": `"0x"`,
		"/originChainsOperations/0/userOp/initCode": `"0x"`, "/fees/assets/x": `"1"`} {
		changed, err := signed.Splice(api.Edit{Pointer: added, Value: []byte(value)})
		Must(t, err)
		Refused(t, w.Execute(changed), api.ErrTamperProof)
	}
	untouched(t, w, w.Decode(signed).ID)
}

func TestReorderedAndReserialisedQuoteIsAccepted(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	var v map[string]any
	Must(t, json.Unmarshal(signed.Raw(), &v))
	raw, err := json.MarshalIndent(v, "", "\t") // sorts the members and spaces them
	Must(t, err)
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	Must(t, err)
	if s := w.Settle(doc); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestPreparedTagIsRefusedAtExecute(t *testing.T) {
	w := New(t, Options{})
	r := crossChain(w)
	prepared, err := w.Prepare(r)
	Must(t, err)
	signed := w.SignQuote(w.Quote(r, ""))
	tag, _ := prepared.At("/tamperProofSignature")
	changed, err := signed.Splice(api.Edit{Pointer: "/tamperProofSignature", Value: tag})
	Must(t, err)
	Refused(t, w.Execute(changed), api.ErrTamperProof)
}

func TestQuoteWithoutARequiredMemberIsAValidationFailure(t *testing.T) {
	w := New(t, Options{})
	body, err := api.ParseDocument([]byte(`{"id":"0x00","account":{}}`), api.DefaultLimits())
	Must(t, err)
	e := Refused(t, w.Execute(body), api.ErrValidation)
	if !strings.Contains(e.Message, `Required at "accounts"`) {
		t.Errorf("message %q", e.Message)
	}
}

func TestChangedNonceBetweenQuoteAndExecuteMeansPrepareAgain(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.RunDirect(Base, op.LanePrepared, true, op.Call{To: payee(), Value: zero()})
	Refused(t, w.Execute(signed), api.ErrPrepareAgain)
	untouched(t, w, w.Decode(signed).ID)
}

func TestDeploymentBetweenQuoteAndExecuteMeansPrepareAgain(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	w.RunDirect(Polygon, op.LanePrepared, true, op.Call{To: payee(), Value: zero()})
	Refused(t, w.Execute(signed), api.ErrPrepareAgain)
	untouched(t, w, w.Decode(signed).ID)
}

func TestSpentFundingIsInsufficientBalance(t *testing.T) {
	w := New(t, Options{})
	usdc := w.Asset("usdc", Arbitrum)
	w.Fund(w.User.Address, usdc, 120*usdcPlain)
	token, _ := usdc.Token()
	spend := op.Call{To: token, Value: zero(), Data: transferData(payee(), big.NewInt(10*usdcPlain))}
	w.RunDirect(Arbitrum, 7, true, spend)
	signed := w.SignQuote(w.Quote(pay(w, Base, 105*usdcPlain), ""))
	w.RunDirect(Arbitrum, 7, false, spend)
	e := Refused(t, w.Execute(signed), api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "available 100000000") {
		t.Errorf("message %q", e.Message)
	}
	untouched(t, w, w.Decode(signed).ID)
	w.Fund(w.User.Address, usdc, 10*usdcPlain)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("the quote was not usable afterwards: %+v", s)
	}
}

func TestPledgedAmountsAreNotAvailableToAnotherQuote(t *testing.T) {
	hold, reached := make(chan struct{}), make(chan struct{})
	w := New(t, Options{Faults: &settle.Faults{BeforeFill: func(ctx context.Context, _ string) error {
		close(reached)
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdt", Optimism), 500*usdcPlain)
	Must(t, w.Execute(w.SignQuote(w.Quote(pay(w, Base, 60*usdcPlain), ""))))
	<-reached // the deposit has landed; the 25 on Base wait for the fill
	e := Refused(t, func() error { _, err := w.Prepare(pay(w, Base, 105*usdcPlain)); return err }(),
		api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "available 84.") {
		t.Errorf("message %q", e.Message)
	}
	// 20 USDC need funding although 25 lie there
	prepared, err := w.Prepare(pay(w, Base, 20*usdcPlain))
	Must(t, err)
	var p api.PrepareResponse
	Must(t, prepared.Decode(&p))
	if p.CallType != api.CallCrossChain {
		t.Errorf("call type %s", p.CallType)
	}
	close(hold)
	Must(t, w.Settler.Idle(context.Background()))
}

func TestNonceOfAQuoteInExecutionIsClaimed(t *testing.T) {
	hold, reached := make(chan struct{}), make(chan struct{}, 2)
	w := New(t, Options{Faults: &settle.Faults{BeforeFill: func(ctx context.Context, _ string) error {
		reached <- struct{}{}
		<-hold
		return nil
	}}})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 300*usdcPlain)
	first := w.SignQuote(w.Quote(pay(w, Base, 60*usdcPlain), ""))
	Must(t, w.Execute(first))
	<-reached
	second := w.SignQuote(w.Quote(pay(w, Base, 30*usdcPlain), ""))
	e := Refused(t, w.Execute(second), api.ErrPrepareAgain)
	if !strings.Contains(e.Message, "being executed") {
		t.Errorf("message %q", e.Message)
	}
	close(hold)
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(first).ID); s.Status != api.StatusCompleted {
		t.Errorf("status %+v", s)
	}
}

func TestOnePreparedOperationExecutesWithOneQuoteOnly(t *testing.T) {
	w := New(t, Options{})
	prepared, err := w.Prepare(crossChain(w))
	Must(t, err)
	first, err := w.CallQuote(prepared, "")
	Must(t, err)
	w.FundBig(w.User.Address, w.Asset("eth", Linea), wei(1))
	second, err := w.CallQuote(prepared, "ob:eth")
	Must(t, err)
	if s := w.Settle(w.SignQuote(first)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	Refused(t, w.Execute(w.SignQuote(second)), api.ErrPrepareAgain)
	_, err = w.CallQuote(prepared, "")
	Refused(t, err, api.ErrPrepareAgain)
}

func TestExecutionRevertingSinceTheQuoteIsA422WithItsCall(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	usdc, usdt := w.Asset("usdc", Base), w.Asset("weth", Base)
	w.FundBig(w.User.Address, usdt, wei(1))
	r := w.Request(usdc, 5*usdcPlain, Transfer(usdc, payee(), 5*usdcPlain), Transfer(usdt, payee(), 1_000_000))
	signed := w.SignQuote(w.Quote(r, ""))
	token, _ := usdt.Token()
	w.RunDirect(Base, 7, true, op.Call{To: token, Value: zero(), Data: transferData(payee(), wei(1))})
	// the account is deployed now, so it must be prepared again, and then the undeclared spend fails
	Refused(t, w.Execute(signed), api.ErrPrepareAgain)
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrSimulationFailed)
	if e.StatusCode != 422 || e.Details[0].Path != "calls[1]" ||
		!strings.Contains(e.Message, "ERC20InsufficientBalance") {
		t.Errorf("%+v", e)
	}
}

func TestQuoteOfAnotherInstallationsBookIsNotFound(t *testing.T) {
	w, other := New(t, Options{}), New(t, Options{Seed: 5})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Refused(t, other.Execute(signed), api.ErrNotFound) // the same seed, so the signature is good
}

func TestQuoteIsExecutedAfterARestart(t *testing.T) {
	kept, clock := storetest.New(t), NewClock()
	w := New(t, Options{Store: kept, Clock: clock})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	Must(t, w.Settler.Close())
	if err := w.Execute(signed); !errors.Is(err, settle.ErrClosed) {
		t.Errorf("a closed settler answered %v", err)
	}
	again := New(t, Options{Store: kept, Clock: clock, Seed: 5})
	if s := again.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestManyUsersSettleAtOnce(t *testing.T) {
	w := New(t, Options{})
	var bodies []*api.Document
	var others []common.Address
	for n := range 12 {
		w.User = NewUser(w.Installation.Pins, uint64(n+1))
		others = append(others, w.User.Address)
		bodies = append(bodies, w.SignQuote(w.Quote(crossChain(w), "")))
	}
	others = append(others[:len(others)-1], payee())
	sums := w.Sums(others...)
	var group sync.WaitGroup
	for _, b := range bodies {
		group.Go(func() {
			if err := w.Execute(b); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	Must(t, w.Settler.Idle(context.Background()))
	for _, b := range bodies {
		if s := w.Status(w.Decode(b).ID); s.Status != api.StatusCompleted {
			t.Errorf("status %+v", s)
		}
	}
	wantBalance(t, w, payee(), w.Asset("usdc", Base), big.NewInt(12*250*usdcPlain))
	w.SameSums(sums, w.Sums(others...))
}
