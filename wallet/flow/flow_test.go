package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

func TestACallRunsThroughBothReviewsToItsEnd(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	var events []string
	s, err := o.Execute(t.Context(), consent2(o),
		func(e flow.Event) { events = append(events, e.Kind) })
	if err != nil || s.State != flow.StateAccepted || s.SignaturesDone != 3 || s.SignaturesTotal != 3 {
		t.Fatalf("%+v %v", s, err)
	}
	if strings.Join(events, " ") != "signed signed journaled sent accepted" {
		t.Errorf("events %v", events)
	}
	b.f.status = func(n int, id string) (api.ExecutionStatus, error) {
		return api.ExecutionStatus{QuoteID: id, Status: []string{"PENDING", "IN_PROGRESS", "EXECUTED",
			"COMPLETED"}[min(n-1, 3)]}, nil
	}
	var seen []string
	s, err = o.Watch(t.Context(), func(s flow.Snapshot) { seen = append(seen, s.Status.Status) })
	if err != nil || s.State != flow.StateDone || strings.Join(seen, " ") != "PENDING IN_PROGRESS EXECUTED COMPLETED" {
		t.Fatalf("%v %v %v", s.State, err, seen)
	}
	rec := b.record()
	if rec.State != journal.Done || rec.Outcome != "COMPLETED" || len(rec.Used) != 3 ||
		len(b.j.Outstanding(b.now())) != 0 {
		t.Errorf("%+v", rec)
	}
	if len(b.j.Recipients()) == 0 || len(b.flow.Unfinished()) != 0 {
		t.Error("the end is not remembered")
	}
}

func TestNothingIsSignedBeforeEachConfirmation(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	first := consent1(o)
	altered := func(change func(*verify.PreparedView)) consent.Consent {
		s := o.Snapshot()
		v := *s.Review1
		v.Lines = slices.Clone(v.Lines)
		change(&v)
		s.Review1 = &v
		c := consentTo(s, false)
		if c.Confirmation() == "" {
			t.Error("no consent was made")
		}
		return c
	}
	for name, wrong := range map[string]consent.Consent{
		"none":           {},
		"another review": altered(func(v *verify.PreparedView) { v.Fingerprint = "0000 0000 0000 0000" }),
		"another payee":  altered(func(v *verify.PreparedView) { v.Lines[0].Recipient = stranger }),
		"less leaves":    altered(func(v *verify.PreparedView) { v.Outflow = nil }),
		"a later end":    altered(func(v *verify.PreparedView) { v.Window.Until = v.Window.Until.Add(time.Hour) }),
	} {
		if _, err := o.SignPrepared(t.Context(), wrong); !errors.Is(err, flow.ErrConfirmation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := o.Execute(t.Context(), first, nil); !errors.Is(err, flow.ErrState) {
		t.Error(err)
	}
	if b.pen.count.Load() != 0 || len(b.f.calls) != 1 {
		t.Fatalf("%d signatures, calls %v", b.pen.count.Load(), b.f.calls)
	}
	if _, err := o.SignPrepared(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if b.pen.count.Load() != 1 {
		t.Fatalf("%d signatures after review 1", b.pen.count.Load())
	}
	cheaper := o.Snapshot()
	v := *cheaper.Review2
	v.Worst = nil
	cheaper.Review2 = &v
	// the first consent does not count for the second review, nor does one to other figures
	for i, wrong := range []consent.Consent{{}, first, consentTo(cheaper, true)} {
		if _, err := o.Execute(t.Context(), wrong, nil); !errors.Is(err, flow.ErrConfirmation) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if b.pen.count.Load() != 1 || len(b.f.executed) != 0 {
		t.Fatalf("%d signatures, %d executes", b.pen.count.Load(), len(b.f.executed))
	}
}

func TestAConfirmationOfAnOldReviewIsVoid(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	old := consent1(o)
	b.f.prepare = func(r *api.PrepareResponse) error { r.TamperProofSignature = "0x1234"; return nil }
	if _, err := o.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := o.SignPrepared(t.Context(), old); !errors.Is(err, flow.ErrConfirmation) || b.pen.count.Load() != 0 {
		t.Fatal(err)
	}
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err != nil {
		t.Fatal(err)
	}
	first, void := s.Review2, consent2(o)
	b.w.ID = "0x" + strings.Repeat("2", 64)
	if s, err = o.Requote(t.Context()); err != nil || s.Previous == nil || s.Previous.ID != first.ID ||
		s.Review2.ID == first.ID {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	if _, err := o.Execute(t.Context(), void, nil); !errors.Is(err, flow.ErrConfirmation) ||
		b.pen.count.Load() != 1 {
		t.Fatal(err)
	}
	if _, err := o.Execute(t.Context(), consentTo(s, true), nil); err != nil {
		t.Fatal(err)
	}
}

const stranger = "0x000000000000000000000000000000000000dEaD"

func TestATamperedPreparedAnswerIsNeverSigned(t *testing.T) {
	for name, c := range map[string]struct {
		code   string
		change func(b *bench, r *api.PrepareResponse)
	}{
		"address": {"P1", func(_ *bench, r *api.PrepareResponse) { r.Accounts[0].AccountAddress = stranger }},
		"amount":  {"P7", func(_ *bench, r *api.PrepareResponse) { r.ChainOperation.Amount = "999" }},
		"extra call": {"U7", func(b *bench, r *api.PrepareResponse) {
			r.ChainOperation = b.w.PreparedOperation(append(b.w.Asked(),
				op.Call{To: common.HexToAddress(stranger), Value: common.Big0}))
		}},
		"spender": {"U8", func(b *bench, r *api.PrepareResponse) {
			r.ChainOperation = b.w.PreparedOperation(append(b.w.Asked(), approveCall(stranger)))
		}},
		"recipient": {"U7", func(b *bench, r *api.PrepareResponse) {
			r.ChainOperation = b.w.PreparedOperation(redirected(b.w.Asked()))
		}},
		"chain id": {"T2", func(_ *bench, r *api.PrepareResponse) {
			r.ChainOperation.TypedDataToSign.Domain.ChainID =
				1
		}},
		"nonce": {"U2", func(_ *bench, r *api.PrepareResponse) { r.ChainOperation.UserOp.Nonce = "5" }},
		"factory": {"U4", func(b *bench, r *api.PrepareResponse) {
			b.w.Deploy = true
			r.ChainOperation = b.w.PreparedOperation(b.w.Asked())
			r.ChainOperation.UserOp.Factory = stranger
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.f.prepare = func(r *api.PrepareResponse) error { c.change(b, r); return nil }
			o := b.start()
			s, err := o.Prepare(t.Context())
			if !errors.Is(err, flow.ErrRefused) || s.State != flow.StateRefused ||
				!s.Report1.Has(c.code, verify.Refuse) || s.Review1 != nil {
				t.Fatalf("%v %v %+v", s.State, err, s.Report1.Reasons)
			}
			if _, err := o.SignPrepared(t.Context(), consent.Consent{}); !errors.Is(err, flow.ErrState) {
				t.Error(err)
			}
			if b.pen.count.Load() != 0 || len(b.f.quoted)+len(b.f.executed) != 0 {
				t.Errorf("%d signatures, %d requests after the refusal", b.pen.count.Load(),
					len(b.f.quoted)+len(b.f.executed))
			}
		})
	}
}

func approveCall(spender string) op.Call {
	data := append(common.FromHex("095ea7b3"), make([]byte, 64)...)
	copy(data[16:36], common.FromHex(spender))
	data[67] = 1
	return op.Call{To: golden.TokenOf(golden.BaseUSDC), Value: common.Big0, Data: data}
}

func redirected(calls []op.Call) []op.Call {
	copy(calls[0].Data[16:36], common.FromHex(stranger))
	return calls
}

func TestATamperedQuoteIsNeverSigned(t *testing.T) {
	for name, c := range map[string]struct {
		code   string
		change func(b *bench, q *api.Quote)
	}{
		"account": {"Q2", func(_ *bench, q *api.Quote) { q.Accounts[0].SignerAddress = stranger }},
		"amount":  {"Q5", func(_ *bench, q *api.Quote) { q.OriginToken.Amount = "1" }},
		"extra op": {"Q6", func(b *bench, q *api.Quote) {
			q.OriginChainsOperations = append(q.OriginChainsOperations,
				b.w.Deposit(golden.Payment{Asset: golden.ArbETH, Amount: 5, Sequence: 9}))
		}},
		"chain id": {"T2", func(_ *bench, q *api.Quote) {
			q.OriginChainsOperations[0].TypedDataToSign.Domain.ChainID =
				1
		}},
		"recipient": {"Q9", func(_ *bench, q *api.Quote) {
			q.DestinationToken.RecipientAccount = "eip155:8453:" +
				stranger
		}},
		"nonce":   {"U2", func(_ *bench, q *api.Quote) { q.OriginChainsOperations[0].UserOp.Nonce = "5" }},
		"factory": {"U4", func(_ *bench, q *api.Quote) { q.OriginChainsOperations[1].UserOp.Factory = stranger }},
		"escrow": {"Q4", func(b *bench, q *api.Quote) {
			b.w.Network.Pins.Escrow = common.HexToAddress(stranger)
			q.OriginChainsOperations[0] = b.w.Deposit(golden.Payment{Asset: golden.ArbUSDC, Amount: 125_980_000,
				Sequence: 4})
		}},
		"over-pull": {"Q15", func(b *bench, q *api.Quote) {
			*q = b.w.QuoteResponse("400000000", map[string]string{},
				golden.Payment{Asset: golden.ArbUSDC, Amount: 400_000_000, Sequence: 4})
		}},
		"expired": {"Q10", func(_ *bench, q *api.Quote) { q.ExpirationTimestamp = "1" }},
		"minimum": {"Q8", func(_ *bench, q *api.Quote) { q.DestinationToken.MinimumAmount = "1" }},
		"signed": {"U13", func(_ *bench, q *api.Quote) {
			q.OriginChainsOperations[0].UserOp.Signature = "0x" + strings.Repeat("11", 65)
		}},
		"unprepared": {"U2", func(b *bench, q *api.Quote) {
			q.OriginChainsOperations = append(q.OriginChainsOperations,
				b.w.Operation(42161, op.LanePrepared, 9, false, b.w.Asked(), golden.ArbUSDC, "1"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			o := b.review1()
			b.f.quote = func(q *api.Quote) error { c.change(b, q); return nil }
			s, err := o.SignPrepared(t.Context(), consent1(o))
			refused := s.Report2.Has(c.code, verify.Refuse) || s.Report2.Has(c.code, verify.Gate)
			if !errors.Is(err, flow.ErrRefused) || s.State != flow.StateQuoting || !refused || s.Review2 != nil {
				t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
			}
			if b.pen.count.Load() != 1 || len(b.f.executed) != 0 {
				t.Errorf("%d signatures, %d executes", b.pen.count.Load(), len(b.f.executed))
			}
			if len(b.j.Outstanding(b.now())) != 1 {
				t.Error("the signature that was made is not listed")
			}
		})
	}
}

func TestJ2_EveryRecordIsOnDiskBeforeTheWire(t *testing.T) {
	b := newBench(t)
	at := map[string]journal.Operation{}
	b.f.onWire = func(call string) {
		r, err := journal.OpenReadOnly(b.dir, journal.Options{Network: b.w.Network.ID, Kind: b.policy.Network.Kind,
			Clock: b.now})
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		at[call] = r.Operations()[0]
	}
	o := b.review2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if at["prepare"].State != journal.Intent {
		t.Errorf("prepare: %s", at["prepare"].State)
	}
	if r := at["quote"]; r.State != journal.Signed || len(r.Signatures) != 1 || r.Signatures[0].Role != "prepared" {
		t.Errorf("quote: %+v", r)
	}
	if r := at["execute"]; r.State != journal.Executing || len(r.Signatures) != 3 || r.BodyHash == "" {
		t.Errorf("execute: %+v", r)
	}
	if len(b.f.quoted[0]) == 0 || !strings.Contains(string(b.f.quoted[0]), at["quote"].Signatures[0].Signature) {
		t.Error("what was sent is not what was recorded")
	}
}

func TestJ5_AFullJournalStopsEverySignature(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	b.j.Close()
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err == nil || b.pen.count.Load() != 0 || len(b.f.quoted) != 0 || s.Problem == "" {
		t.Fatalf("%v, %d signatures", err, b.pen.count.Load())
	}
}

func TestX1_TheBodyIsTheReviewedQuoteWithSignatures(t *testing.T) {
	b := newBench(t)
	var reviewed *api.Document
	b.f.rawQuote = func(d *api.Document) *api.Document { reviewed = d; return d }
	o := b.review2()
	s, err := o.Execute(t.Context(), consent2(o), nil)
	if err != nil || s.BodyHash == "" {
		t.Fatal(err)
	}
	body, err := api.ParseDocument(b.f.executed[0], api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	back, err := body.Splice(
		api.Edit{Pointer: "/originChainsOperations/0/userOp/signature", Value: []byte(`"0x"`)},
		api.Edit{Pointer: "/originChainsOperations/1/userOp/signature", Value: []byte(`"0x"`)})
	if err != nil || string(back.Raw()) != string(reviewed.Raw()) {
		t.Fatalf("the body differs from the reviewed quote: %v", err)
	}
}

func TestX3_AThousandExecutesMakeOneRequest(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	fp := consent2(o)
	var wg sync.WaitGroup
	var accepted atomic.Int64
	for range 1000 {
		wg.Go(func() {
			if s, err := o.Execute(t.Context(), fp, nil); err == nil && s.State == flow.StateAccepted {
				accepted.Add(1)
			} else if !errors.Is(err, flow.ErrBusy) && !errors.Is(err, flow.ErrState) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(b.f.executed) != 1 || accepted.Load() != 1 || b.pen.count.Load() != 3 {
		t.Fatalf("%d requests, %d accepted, %d signatures", len(b.f.executed), accepted.Load(), b.pen.count.Load())
	}
}

func TestN7_AnUnknownOutcomeIsAskedForAndNeverSentAgain(t *testing.T) {
	for name, err := range map[string]error{
		"time-out": &client.Error{Op: "execute", Kind: client.KindTimeout, Sent: true,
			Err: context.DeadlineExceeded},
		"cut body":     &client.Error{Op: "execute", Kind: client.KindBadAnswer, Sent: true, Err: errors.New("x")},
		"reset":        &client.Error{Op: "execute", Kind: client.KindNetwork, Sent: true, Err: errors.New("x")},
		"server error": &api.Error{Name: api.ErrInternal, StatusCode: 502, Message: "bad gateway"},
		"conflict":     api.NewError(api.ErrAlreadyExecuted, "executed before"),
	} {
		for _, happened := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, happened %v", name, happened), func(t *testing.T) {
				b := newBench(t)
				b.f.execute = func([]byte) (api.ExecuteResponse, error) { return api.ExecuteResponse{}, err }
				b.f.status = func(n int, id string) (api.ExecutionStatus, error) {
					if !happened {
						return api.ExecutionStatus{}, nil
					}
					if n < 3 {
						return api.ExecutionStatus{}, nil
					}
					return api.ExecutionStatus{QuoteID: id, Status: api.StatusCompleted}, nil
				}
				o := b.review2()
				fp := consent2(o)
				s, got := o.Execute(t.Context(), fp, nil)
				if s.State != flow.StateUnknown || got == nil || s.Problem == "" {
					t.Fatalf("%v %v", s.State, got)
				}
				if _, err := o.Execute(t.Context(), fp, nil); !errors.Is(err, flow.ErrState) {
					t.Error(err)
				}
				if _, err := o.Requote(t.Context()); !errors.Is(err, flow.ErrState) {
					t.Error(err)
				}
				if err := o.Abandon(); !errors.Is(err, flow.ErrState) {
					t.Error(err)
				}
				s, got = o.Watch(t.Context(), nil)
				want, outstanding := flow.StateNotExecuted, 3
				if happened {
					want, outstanding = flow.StateDone, 0
				}
				if got != nil || s.State != want || len(b.f.executed) != 1 ||
					len(b.j.Outstanding(b.now())) != outstanding {
					t.Fatalf("%v %v, %d executes, %d outstanding", s.State, got, len(b.f.executed),
						len(b.j.Outstanding(b.now())))
				}
				if !happened && b.clock.Load() < 60 {
					t.Errorf("given up after %d seconds: before expiry and margin", b.clock.Load())
				}
			})
		}
	}
}

func TestARefusedExecuteLeavesTheQuoteUsable(t *testing.T) {
	why := "price moved"
	for name, c := range map[string]struct {
		answer api.ExecuteResponse
		err    error
	}{
		"refusal":      {err: api.NewError(api.ErrInsufficientBalance, "needed 5, available 4")},
		"never left":   {err: &client.Error{Op: "execute", Kind: client.KindNetwork, Err: errors.New("no connection")}},
		"success:null": {answer: api.ExecuteResponse{Success: false, Error: &why}},
		"no reason":    {answer: api.ExecuteResponse{Success: false}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.f.execute = func([]byte) (api.ExecuteResponse, error) { return c.answer, c.err }
			o := b.review2()
			fp := consent2(o)
			s, err := o.Execute(t.Context(), fp, nil)
			if err == nil || s.State != flow.StateReview2 || s.Problem == "" ||
				b.record().State != journal.QuoteSigned {
				t.Fatalf("%v %v %s", s.State, err, b.record().State)
			}
			b.f.execute = nil
			if s, err := o.Execute(t.Context(), fp, nil); err != nil || s.State != flow.StateAccepted {
				t.Fatalf("%v %v", s.State, err)
			}
		})
	}
}

func TestSameChainExecutesOnOneSignatureOnlyIfTheQuoteIsThatOperation(t *testing.T) {
	b := newBench(t)
	b.w.CallType, b.f.build = api.CallSameChainExcludeSolver, b.w.SameChain
	o := b.review1()
	if v := o.Snapshot().Review1; !v.WholeConsent || v.Signatures != 1 {
		t.Fatalf("%+v", v)
	}
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err != nil || s.State != flow.StateAccepted || b.pen.count.Load() != 1 || len(b.f.executed) != 1 ||
		s.SignaturesTotal != 1 {
		t.Fatalf("%v %v, %d signatures", s.State, err, b.pen.count.Load())
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
}

func TestSameChainThatTurnsIntoAFundedCallNeedsTheSecondReview(t *testing.T) {
	b := newBench(t)
	b.w.CallType = api.CallSameChainExcludeSolver // announced so, but the quote wants payments
	o := b.review1()
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err != nil || s.State != flow.StateReview2 || b.pen.count.Load() != 1 || len(b.f.executed) != 0 ||
		!s.Report2.Has("P4", verify.Warn) {
		t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
}

func TestFundedCallThatTurnsOutToNeedNothingStillWaitsForTheSecondReview(t *testing.T) {
	b := newBench(t)
	b.f.build = b.w.SameChain
	o := b.review2()
	if b.pen.count.Load() != 1 || len(b.f.executed) != 0 {
		t.Fatal("executed without the second confirmation")
	}
	if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil ||
		s.State != flow.StateAccepted || b.pen.count.Load() != 1 {
		t.Fatal(s.State, err)
	}
}

func TestSameChainWithOneChangedByteIsRefused(t *testing.T) {
	b := newBench(t)
	b.w.CallType, b.f.build = api.CallSameChainExcludeSolver, b.w.SameChain
	b.f.quote = func(q *api.Quote) error { q.OriginChainsOperations[0].UserOp.CallGasLimit = "400001"; return nil }
	o := b.review1()
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if !errors.Is(err, flow.ErrRefused) || len(b.f.executed) != 0 || !s.Report2.Has("Q14", verify.Refuse) {
		t.Fatalf("%v %v", s.State, err)
	}
}

func TestQ10_ExpiryIsCheckedAgainAtSigningAndAtExecute(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	b.clock.Store(575) // the window ends at 600
	if _, err := o.SignPrepared(t.Context(), consent1(o)); !errors.Is(err, flow.ErrExpired) ||
		b.pen.count.Load() != 0 {
		t.Fatal(err)
	}
	b = newBench(t)
	o = b.review2()
	b.clock.Store(29)
	if _, err := o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, flow.ErrExpired) ||
		b.pen.count.Load() != 1 {
		t.Fatal(err)
	}
	if b.record().State != journal.Quoted || len(b.f.executed) != 0 {
		t.Fatal("something happened")
	}
}

func TestN9_TheStricterClockDecides(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	b.f.skew = 29 * time.Second // the service's clock is nearly at the expiry
	if _, err := o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, flow.ErrExpired) {
		t.Fatal(err)
	}
	b = newBench(t)
	b.f.skew = time.Hour
	o = b.review1()
	if s := o.Snapshot(); !s.Report1.Has("N9", verify.Warn) || !s.Deadline.Before(b.now()) {
		t.Errorf("%+v", s.Report1.Reasons)
	}
}

func TestErrorsOfTheServiceComeInPlainWords(t *testing.T) {
	for _, name := range []string{
		api.ErrInsufficientBalance, api.ErrNoRoute, api.ErrQuoteExpired, api.ErrPrepareAgain, api.ErrAlreadyExecuted,
		api.ErrSimulationFailed, api.ErrInvalidSignature,
		api.ErrTamperProof, api.ErrDelegation, api.ErrUnauthorized, api.ErrForbidden, api.ErrTooManyRequests,
		api.ErrValidation, api.ErrInternal, "Odd",
	} {
		b := newBench(t)
		b.f.prepare = func(*api.PrepareResponse) error { return api.NewError(name, "details \x1b[31m") }
		s, err := b.start().Prepare(t.Context())
		if err == nil || s.State != flow.StateDraft || len(s.Problem) < 7 || strings.ContainsRune(s.Problem, '\x1b') {
			t.Errorf("%s: %v %q", name, s.State, s.Problem)
		}
	}
	for _, kind := range []client.Kind{client.KindNetwork, client.KindTimeout, client.KindCancelled,
		client.KindTooLarge, client.KindBadAnswer, client.KindRedirect, client.KindRequest} {
		b := newBench(t)
		b.f.prepare = func(*api.PrepareResponse) error {
			return &client.Error{Op: "prepare", Kind: kind, Err: errors.New("cause")}
		}
		if s, err := b.start().Prepare(t.Context()); err == nil || len(s.Problem) < 10 {
			t.Errorf("%s: %q", kind, s.Problem)
		}
	}
}

func TestAFailedSignatureChangesNothing(t *testing.T) {
	for _, fault := range []error{sign.ErrFault, vault.ErrNoKey, vault.ErrNetwork, context.Canceled} {
		b := newBench(t)
		o := b.review1()
		b.pen.fail = fault
		s, err := o.SignPrepared(t.Context(), consent1(o))
		if !errors.Is(err, fault) || s.State != flow.StateReview1 || b.record().State != journal.Prepared ||
			len(b.f.quoted) != 0 || s.Problem == "" {
			t.Fatalf("%v %v", s.State, err)
		}
		b = newBench(t)
		o = b.review2()
		b.pen.fail = fault
		if s, err = o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, fault) ||
			s.State != flow.StateReview2 || len(b.f.executed) != 0 {
			t.Fatalf("%v %v", s.State, err)
		}
	}
}

func TestAQuoteThatFailsCanBeAskedForAgain(t *testing.T) {
	b := newBench(t)
	o := b.review1()
	b.f.quote = func(*api.Quote) error { return api.NewError(api.ErrNoRoute, "none") }
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err == nil || s.State != flow.StateQuoting || s.SignaturesDone != 1 {
		t.Fatal(s.State, err)
	}
	b.f.quote = nil
	if s, err = o.Requote(t.Context()); err != nil || s.State != flow.StateReview2 || b.pen.count.Load() != 1 {
		t.Fatalf("%v %v", s.State, err)
	}
	b.clock.Store(601)
	if _, err = o.Requote(t.Context()); !errors.Is(err, flow.ErrExpired) {
		t.Error(err)
	}
}

func TestJ3_ARestartResumesWithoutSendingAnything(t *testing.T) {
	type stop struct {
		name  string
		until func(b *bench)
		state flow.State
		list  int
	}
	for _, c := range []stop{
		{"after intent", func(b *bench) { b.start() }, "", 0},
		{"after prepare", func(b *bench) { b.review1() }, "", 0},
		{"after quote", func(b *bench) { b.review2() }, flow.StateQuoting, 1},
		{"after execute", func(b *bench) {
			o := b.review2()
			o.Execute(b.t.Context(), consent2(o), nil)
		}, flow.StateAccepted, 3},
		{"in execute", func(b *bench) {
			b.f.execute = func([]byte) (api.ExecuteResponse, error) {
				return api.ExecuteResponse{}, &client.Error{Op: "execute", Sent: true, Err: errors.New("killed")}
			}
			o := b.review2()
			o.Execute(b.t.Context(), consent2(o), nil)
		}, flow.StateUnknown, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.until(b)
			sent := len(b.f.calls)
			b.reopen()
			list := b.flow.Unfinished()
			if len(b.f.calls) != sent || len(b.j.Outstanding(b.now())) != c.list {
				t.Fatalf("calls %v, %d outstanding", b.f.calls[sent:], len(b.j.Outstanding(b.now())))
			}
			if c.state == "" {
				if len(list) != 0 {
					t.Fatal("what was never signed is listed")
				}
				return
			}
			if len(list) != 1 || list[0].Snapshot().State != c.state {
				t.Fatalf("%+v", list)
			}
			o := list[0]
			if c.state == flow.StateQuoting {
				b.w.ID = "0x" + strings.Repeat("3", 64)
				s, err := o.Requote(t.Context())
				if err != nil || s.State != flow.StateReview2 {
					t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
				}
				if s, err = o.Execute(t.Context(), consentTo(s, true), nil); err != nil {
					t.Fatal(err)
				}
			}
			if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone || len(b.f.executed) != 1 ||
				len(b.j.Outstanding(b.now())) != 0 {
				t.Fatalf("%v %v, %d executes, %d outstanding", s.State, err, len(b.f.executed),
					len(b.j.Outstanding(b.now())))
			}
		})
	}
}

func TestAResumedOperationCanBeAbandonedAndItsSignatureStaysListed(t *testing.T) {
	b := newBench(t)
	b.review2()
	b.reopen()
	o := b.flow.Unfinished()[0]
	if err := o.Abandon(); err != nil {
		t.Fatal(err)
	}
	if o.Snapshot().State != flow.StateAbandoned || len(b.flow.Unfinished()) != 0 ||
		len(b.j.Outstanding(b.now())) != 1 {
		t.Fatalf("%v", o.Snapshot().State)
	}
	// The next operation of the account must take the same nonce, so that only one of the two can run.
	b.w.Sequence = 1
	n := b.start()
	if s, err := n.Prepare(t.Context()); err == nil || !s.Report1.Has("U3", verify.Refuse) {
		t.Fatalf("%+v", s.Report1.Reasons)
	}
	b.w.Sequence = 0
	if s, err := n.Prepare(t.Context()); err != nil {
		t.Fatalf("%+v", s.Report1.Reasons)
	}
}

func TestRefundedAndFailedAreEndsWithWords(t *testing.T) {
	for status, c := range map[string]struct{ outstanding int }{api.StatusRefunded: {1}, api.StatusFailed: {3}} {
		for _, reason := range []string{"", "SLIPPAGE", "SOLVER_CAPACITY_EXCEEDED", "EXECUTION_REVERTED",
			"ORDER_EXPIRED", "NEW_REASON\x1b"} {
			b := newBench(t)
			b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
				return api.ExecutionStatus{QuoteID: strings.ToUpper(id[:2]) + id[2:], Status: status,
					FailReason: reason}, nil
			}
			o := b.review2()
			if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
				t.Fatal(err)
			}
			s, err := o.Watch(t.Context(), nil)
			if err != nil || s.State != flow.StateFailed || s.Problem == "" ||
				strings.ContainsRune(s.Problem, '\x1b') || len(b.j.Outstanding(b.now())) != c.outstanding {
				t.Fatalf("%s: %v %v %q %d", status, s.State, err, s.Problem, len(b.j.Outstanding(b.now())))
			}
		}
	}
}

func TestH4_UnknownStatusesAreNoEndAndOtherQuotesAreIgnored(t *testing.T) {
	b := newBench(t)
	b.f.status = func(n int, id string) (api.ExecutionStatus, error) {
		switch n {
		case 1:
			return api.ExecutionStatus{}, errors.New("no connection")
		case 2:
			return api.ExecutionStatus{QuoteID: "0x" + strings.Repeat("9", 64), Status: api.StatusCompleted}, nil
		case 3:
			return api.ExecutionStatus{QuoteID: id, Status: "SHINY"}, nil
		}
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusCompleted}, nil
	}
	o := b.review2()
	o.Execute(t.Context(), consent2(o), nil)
	var problems int
	s, err := o.Watch(t.Context(), func(s flow.Snapshot) {
		if s.Problem != "" {
			problems++
		}
	})
	if err != nil || s.State != flow.StateDone || b.f.polls != 4 || problems != 2 {
		t.Fatalf("%v %v, %d polls, %d problems", s.State, err, b.f.polls, problems)
	}
}

func TestN13_CancelledWatchingCanGoOn(t *testing.T) {
	b := newBench(t)
	o := b.review2()
	o.Execute(t.Context(), consent2(o), nil)
	ctx, cancel := context.WithCancel(t.Context())
	b.f.status = func(_ int, id string) (api.ExecutionStatus, error) {
		cancel()
		return api.ExecutionStatus{QuoteID: id, Status: api.StatusPending}, nil
	}
	if s, err := o.Watch(ctx, nil); !errors.Is(err, context.Canceled) || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if _, err := o.Watch(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.f.status = nil
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
	if _, err := b.flow.Start(ctx, b.w.Intent()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// brittle is a journal whose disk fills up after a number of records.
type brittle struct {
	*journal.Journal
	left int
}

func (b *brittle) Append(op string, state journal.State, e journal.Entry) error {
	if b.left == 0 {
		return fmt.Errorf("%w: no space left", journal.ErrReadOnly)
	}
	b.left--
	return b.Journal.Append(op, state, e)
}

func TestJ2_NothingIsSentThatCouldNotBeRecorded(t *testing.T) {
	for left := range 7 {
		b := newBench(t)
		j := &brittle{b.j, left}
		b.flow = flow.New(flow.Deps{
			Client: b.f, Signer: b.pen, Journal: j, Policy: verify.DefaultPolicy(b.w.Network, b.w.Catalog),
			Clock: b.now,
			Sleep: func(ctx context.Context, _ time.Duration) error { b.clock.Add(1); return ctx.Err() },
		})
		o := b.start()
		s, err := o.Prepare(t.Context())
		if err == nil {
			s, err = o.SignPrepared(t.Context(), consentTo(s, false))
		}
		if err == nil {
			s, err = o.Execute(t.Context(), consentTo(s, true), nil)
		}
		if err == nil {
			s, err = o.Watch(t.Context(), nil)
		}
		state := b.record().State
		if err == nil && left < 6 {
			t.Errorf("%d records: no error", left)
		}
		if (len(b.f.quoted) > 0) != (left >= 2) || (len(b.f.executed) > 0) != (left >= 5) {
			t.Errorf("%d records (%s): %d quoted, %d executed", left, state, len(b.f.quoted), len(b.f.executed))
		}
		if err != nil && s.Problem == "" {
			t.Errorf("%d records: an error without words", left)
		}
		// After a restart what was sent is known, and nothing is sent again.
		b.reopen()
		for _, o := range b.flow.Unfinished() {
			if st := o.Snapshot().State; st == flow.StateUnknown || st == flow.StateAccepted {
				if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
					t.Errorf("%d records: %v %v", left, s.State, err)
				}
			}
		}
		if len(b.f.executed) > 1 {
			t.Errorf("%d records: executed %d times", left, len(b.f.executed))
		}
	}
}

func TestAResumedOperationWhoseRecordDoesNotHoldCanOnlyBeAbandoned(t *testing.T) {
	b := newBench(t)
	b.review2()
	used := b.j.Operations()[0].Signatures[0]
	// Another operation used the nonce meanwhile.
	id, err := b.j.Begin([]byte("{}"), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	used.OpHash = "0xother"
	for _, s := range []struct {
		state journal.State
		entry journal.Entry
	}{
		{journal.Prepared, journal.Entry{}}, {journal.Signed, journal.Entry{Signatures: []journal.Signature{used}}},
		{journal.Quoted, journal.Entry{QuoteID: "0x5"}},
		{journal.QuoteSigned, journal.Entry{QuoteID: "0x5"}}, {journal.Executing, journal.Entry{QuoteID: "0x5"}},
		{journal.Done, journal.Entry{Used: []string{"0xother"}}},
	} {
		if err := b.j.Append(id, s.state, s.entry); err != nil {
			t.Fatal(err)
		}
	}
	b.reopen()
	list := b.flow.Unfinished()
	if len(list) != 1 || list[0].Snapshot().Err == nil || list[0].Snapshot().Problem == "" {
		t.Fatalf("%+v", list)
	}
	if _, err := list[0].Requote(t.Context()); !errors.Is(err, flow.ErrState) {
		t.Error(err)
	}
	if err := list[0].Abandon(); err != nil || len(b.flow.Unfinished()) != 0 {
		t.Error(err)
	}
}
