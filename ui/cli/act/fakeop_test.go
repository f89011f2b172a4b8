package act

import (
	"cmp"
	"context"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// fakeOp plays an operation and counts its calls. It refuses a confirmation of anything but what was shown.
type fakeOp struct {
	r                                        *rig
	snap                                     flow.Snapshot
	prepares, signs, quotes, executes, gones int
	spend                                    int64 // micro USD of the payments
	consent                                  bool  // the first signature is the only one
	phrase1, phrase2                         string
	report1, report2                         verify.Report
	errPrepare, errSign, errQuote, errExec   error // the next step ends with this error
	lost                                     bool  // execute gets no answer
	watched                                  flow.State
	said                                     bool // the end is what the service reports
	status                                   string
	errWatch                                 error
	forever                                  bool   // it never ends
	overdue                                  string // words past the refund
	life                                     time.Duration
	forget                                   func() // at the end
}

func newOp(r *rig) *fakeOp {
	passed := verify.Report{Passed: []verify.Check{{Code: "U1", Title: "the sender is the account"},
		{Code: "T1", Title: "the hash is right"}}}
	return &fakeOp{r: r, spend: 25_000_000, report1: passed, report2: passed, watched: flow.StateDone,
		status: api.StatusCompleted, life: time.Minute}
}

func (f *fakeOp) ID() string              { return opID }
func (f *fakeOp) Snapshot() flow.Snapshot { return f.snap }

func (f *fakeOp) Abandon() error {
	if f.snap.State.Terminal() {
		return flow.ErrState
	}
	f.gones++
	f.snap.State = flow.StateAbandoned
	return nil
}

func take(err *error) error {
	e := *err
	*err = nil
	return e
}

func (f *fakeOp) fail(state flow.State, err error, words string) (flow.Snapshot, error) {
	f.snap.State, f.snap.Err, f.snap.Problem = state, err, words
	return f.snap, err
}

func hash(b string) string { return "0x" + strings.Repeat(b, 32) }

func (f *fakeOp) Prepare(ctx context.Context) (flow.Snapshot, error) {
	f.prepares++
	if err := ctx.Err(); err != nil {
		return f.fail(flow.StateDraft, err, "You stopped this step.")
	}
	if err := take(&f.errPrepare); err != nil {
		return f.fail(flow.StateDraft, err, err.Error())
	}
	f.snap.Report1 = f.report1
	if f.report1.Refused() {
		return f.fail(flow.StateRefused, flow.ErrRefused, "The answer of the service was refused.")
	}
	now := f.r.now
	c := f.snap.Intent.Calls[0]
	data := common.FromHex(c.Data)
	a := usdcOf(new(big.Int).SetBytes(data[36:]).Int64(), f.spend, "Base")
	v := &verify.PreparedView{
		Network: netID, AccountType: api.AccountKernelV31,
		Chain:  verify.ChainLabel{ID: 8453, CAIP: "eip155:8453", Name: "Base", Short: "base"},
		Sender: common.HexToAddress(account).Hex(), Signer: payee,
		Lines: []verify.CallView{{
			Index: 1, Asked: 1, Role: verify.RoleCall, To: common.HexToAddress(c.To).Hex(), ToName: "USDC",
			Value: new(big.Int), Function: "transfer(address to, uint256 amount)",
			Args: []verify.ArgView{{Name: "to", Type: "address", Value: payee},
				{Name: "amount", Type: "uint256", Value: a.Amount.String()}},
			Decoded: true, AsAsked: true, Amount: &a, Recipient: payee, FirstTime: true, Data: c.Data,
		}},
		Outflow: []verify.AmountView{a}, Requires: []verify.AmountView{a},
		Window:   verify.Window{From: now, Until: now.Add(10 * time.Minute)},
		CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay.", Deploys: true,
		Nonce: "7", OpHash: hash("02"), Digest: hash("03"),
		Fingerprint: "aaaa 0001", Signatures: 1, WholeConsent: f.consent, Phrase: f.phrase1,
	}
	f.snap.Review1, f.snap.State, f.snap.Deadline, f.snap.Err, f.snap.Problem = v, flow.StateReview1, v.Window.Until,
		nil, ""
	return f.snap, nil
}

// confirmed compares a confirmation with the review.
func confirmed(given, fingerprint, phrase string) error {
	if phrase != "" {
		fingerprint += "\n" + phrase
	}
	if given != fingerprint {
		return flow.ErrConfirmation
	}
	return nil
}

func (f *fakeOp) SignPrepared(_ context.Context, c consent.Consent) (flow.Snapshot, error) {
	f.signs++
	if err := confirmed(c.Confirmation(), f.snap.Review1.Fingerprint, f.phrase1); err != nil {
		return f.fail(flow.StateReview1, err, "What you confirmed is not what is on the screen now.")
	}
	if err := take(&f.errSign); err != nil {
		return f.fail(flow.StateReview1, err, err.Error())
	}
	f.snap.SignaturesDone = 1
	if f.consent {
		f.snap.State, f.snap.QuoteID = flow.StateAccepted, quoteID(5)
		return f.snap, nil
	}
	return f.quote()
}

func (f *fakeOp) Quote(context.Context) (flow.Snapshot, error)   { return f.quote() }
func (f *fakeOp) Requote(context.Context) (flow.Snapshot, error) { return f.quote() }
func (f *fakeOp) Renew(context.Context) (flow.Snapshot, error)   { return f.quote() }

func (f *fakeOp) quote() (flow.Snapshot, error) {
	f.quotes++
	if err := take(&f.errQuote); err != nil {
		return f.fail(flow.StateQuoting, err, err.Error())
	}
	f.snap.Report2 = f.report2
	if f.report2.Refused() {
		return f.fail(flow.StateQuoting, flow.ErrRefused, "The answer of the service was refused.")
	}
	units := f.spend
	pays := usdcOf(units, f.spend, "Optimism")
	v := &verify.QuoteView{
		ID: quoteID(5), Kind: cmp.Or(f.snap.Intent.Kind, "call"), CallType: api.CallCrossChain, CallTypeWords: "x",
		Expires: f.r.now.Add(f.life),
		Legs: []verify.LegView{{
			Chain: verify.ChainLabel{ID: 10, CAIP: "eip155:10", Name: "Optimism"}, Pays: pays, Nonce: "1",
			OpHash: hash("06"), Escrow: escrow, AccountType: api.AccountKernelV31,
			RefundAfter: f.r.now.Add(time.Hour),
		}},
		Promise: &verify.PromiseView{Minimums: []verify.AmountView{usdcOf(units-100_000, f.spend-100_000, "Base")},
			FillBy:    f.r.now.Add(5 * time.Minute),
			Attesters: 1, Threshold: 1},
		Pay: []verify.AmountView{pays}, Worst: []verify.AmountView{usdcOf(2*units, 2*f.spend, "")},
		PayMicro: big.NewInt(f.spend), DeliverMicro: big.NewInt(f.spend - 100_000), FeesMicro: big.NewInt(100_000),
		CostMicro: big.NewInt(100_000),
		CostBps:   40, MinimumCostBps: 40, UnexplainedMicro: new(big.Int), Explained: true,
		Delivered: usdcOf(units-100_000, f.spend-100_000, "Base"),
		Minimum:   usdcOf(units-100_000, f.spend-100_000, "Base"),
		Recipient: common.HexToAddress(account).Hex(), RecipientOwn: true,
		Fees: []verify.AmountView{usdcOf(100_000, 100_000, "")}, FeeUSD: "0.10", SlippageBps: 50,
		Fingerprint: "bbbb 0002", Phrase: f.phrase2,
	}
	f.snap.Previous, f.snap.Review2 = f.snap.Review2, v
	f.snap.State, f.snap.Deadline, f.snap.QuoteID, f.snap.SignaturesTotal, f.snap.Err, f.snap.Problem =
		flow.StateReview2, v.Expires, v.ID, f.snap.SignaturesDone+1, nil, ""
	return f.snap, nil
}

func (f *fakeOp) Execute(ctx context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	f.executes++
	if err := confirmed(c.Confirmation(), f.snap.Review2.Fingerprint, f.phrase2); err != nil {
		return f.fail(flow.StateReview2, err, "What you confirmed is not what is on the screen now.")
	}
	if err := take(&f.errExec); err != nil {
		return f.fail(flow.StateReview2, err, err.Error())
	}
	f.snap.SignaturesDone++
	progress(flow.Event{Kind: flow.EventSigned, Index: f.snap.SignaturesDone, Chain: "eip155:10"})
	progress(flow.Event{Kind: flow.EventJournaled})
	progress(flow.Event{Kind: flow.EventSent})
	if f.lost {
		f.snap.Problem = "The quote was sent but no clear answer came."
		f.snap.State = flow.StateUnknown
		return f.snap, context.Canceled
	}
	progress(flow.Event{Kind: flow.EventAccepted})
	f.snap.State = flow.StateAccepted
	return f.snap, nil
}

func (f *fakeOp) Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error) {
	if f.forever {
		f.snap.Overdue, f.snap.Problem = f.overdue != "", f.overdue
		<-ctx.Done()
		return f.snap, ctx.Err()
	}
	if f.errWatch != nil {
		return f.snap, f.errWatch
	}
	f.snap.State, f.snap.Said, f.snap.StatusAt = f.watched, f.said, f.r.now
	if f.forget != nil {
		f.forget()
	}
	if f.status != "" {
		f.snap.Status = api.ExecutionStatus{QuoteID: quoteID(5), Status: f.status, User: account}
	}
	switch f.watched {
	case flow.StateFailed:
		f.snap.Problem = "The call did not run and the payments came back."
	case flow.StateNotExecuted:
		f.snap.Problem = "The quote was never executed."
	}
	progress(f.snap)
	return f.snap, nil
}
