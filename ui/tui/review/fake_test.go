package review

import (
	"context"
	"errors"
	"flag"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

var update = flag.Bool("update", false, "write golden screens")

const (
	account = "0x21f6b1D4B4fA4bE12C4c4a60cE0C4C4A5D4f5A10"
	payee   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	usdc    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	escrow  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
)

// clock is the time of a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time      { return c.now }
func (c *clock) add(d time.Duration) { c.now = c.now.Add(d) }
func begin() time.Time               { return time.Date(2026, 11, 21, 12, 1, 3, 0, time.UTC) }
func hash(b byte) string             { return "0x" + strings.Repeat(string("0123456789abcdef"[b%16])+"e", 32) }
func baseUSDC() caip.Asset           { return caip.ERC20(8453, common.HexToAddress(usdc)) }
func chain(id uint64, name string) verify.ChainLabel {
	return verify.ChainLabel{ID: id, CAIP: caip.EVM(id).String(), Name: name, Short: strings.ToLower(name)}
}

func usdcOf(units, micro int64, where string) verify.AmountView {
	return verify.AmountView{Asset: baseUSDC(), Symbol: "USDC", Decimals: 6, Amount: big.NewInt(units),
		Micro: big.NewInt(micro), ChainName: where}
}

// prepared is review 1 of a transfer of 250.5 USDC on Base.
func prepared(now time.Time) *verify.PreparedView {
	a := usdcOf(250_500_000, 250_449_900, "Base")
	return &verify.PreparedView{
		Network: hash(1), Chain: chain(8453, "Base"), Sender: account, Signer: payee,
		Lines: []verify.CallView{{
			Index: 1, Asked: 1, Role: verify.RoleCall, To: usdc, ToName: "USDC", Value: new(big.Int),
			Function: "transfer(address to, uint256 amount)",
			Args: []verify.ArgView{{Name: "to", Type: "address", Value: payee},
				{Name: "amount", Type: "uint256", Value: "250500000"}},
			Data: "0xa9059cbb" + strings.Repeat("00", 64), Decoded: true, AsAsked: true, Amount: &a, Recipient: payee,
			FirstTime: true,
		}},
		Outflow: []verify.AmountView{a}, Requires: []verify.AmountView{a},
		Window:   verify.Window{From: now, Until: now.Add(10 * time.Minute)},
		CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay for what is missing. " +
			"Those payments are reviewed and signed separately.",
		Deploys: true, Nonce: "1208925819614629174706176", OpHash: hash(2), Digest: hash(3), Fingerprint: hash(4),
		Signatures: 1,
		Sources: []verify.AmountView{usdcOf(25_000_000, 24_995_000, "Base"),
			usdcOf(600_000_000, 599_880_000, "Optimism")},
	}
}

// quote is review 2 of the same call: two payments.
func quote(now time.Time, life time.Duration) *verify.QuoteView {
	pay := usdcOf(225_980_000, 225_934_804, "")
	return &verify.QuoteView{
		ID: hash(5), CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay for what " +
			"is missing. Those payments are reviewed and signed separately.", Expires: now.Add(life),
		Legs: []verify.LegView{
			{Chain: chain(10, "Optimism"), Pays: usdcOf(125_980_000, 125_954_804, "Optimism"), Nonce: "1",
				OpHash: hash(6), Escrow: escrow, RefundAfter: now.Add(time.Hour), Until: now.Add(10 * time.Minute)},
			{Chain: chain(42161, "Arbitrum"), Pays: usdcOf(100_000_000, 99_980_000, "Arbitrum"), Deploys: true,
				Nonce: "2", OpHash: hash(7), Escrow: escrow, RefundAfter: now.Add(time.Hour),
				Until: now.Add(10 * time.Minute)},
		},
		Promise: &verify.PromiseView{Minimums: []verify.AmountView{usdcOf(225_500_000, 225_454_900, "Base")},
			FillBy:    now.Add(5 * time.Minute),
			Attesters: 1, Threshold: 1},
		Pay: []verify.AmountView{pay}, Worst: []verify.AmountView{usdcOf(476_480_000, 476_384_704, "")},
		PayMicro: big.NewInt(225_934_804), DeliverMicro: big.NewInt(225_454_900), FeesMicro: big.NewInt(479_904),
		CostMicro: big.NewInt(479_904), CostBps: 22, UnexplainedMicro: new(big.Int), Explained: true,
		Needs: []verify.NeedView{{Need: usdcOf(250_500_000, 250_449_900, "Base"), Have: big.NewInt(25_000_000),
			Short: big.NewInt(225_500_000)}},
		Delivered: usdcOf(250_500_000, 250_449_900, "Base"), Minimum: usdcOf(250_500_000, 250_449_900, "Base"),
		Recipient: account, RecipientOwn: true,
		Fees: []verify.AmountView{usdcOf(480_000, 479_904, "")}, FeeUSD: "0.48", SlippageBps: 50, Fingerprint: hash(8),
	}
}

func report(reasons ...verify.Reason) verify.Report {
	r := verify.Report{Reasons: reasons}
	for _, c := range []string{"U1", "U2", "U5", "U7", "U8", "U12", "T1"} {
		r.Passed = append(r.Passed, verify.Check{Code: c, Title: "check " + c + " holds"})
	}
	return r
}

func notes() []verify.Reason {
	return []verify.Reason{
		{Code: "V4", Level: verify.Warn, Title: verify.FirstPayment, Got: payee},
		{Code: "P6", Level: verify.Unknown, Title: "The usable balances are the service's word.",
			Path: "/sourceAssetBalances"},
		{Code: "L4", Level: verify.Show, Title: "The answer has fields that this wallet does not use."},
	}
}

// fakeOp counts the screen's calls. It refuses a confirmation of anything but the fingerprint that it showed.
type fakeOp struct {
	clock                           *clock
	snap                            flow.Snapshot
	prepare, sign, requote, execute int
	quotes, renews                  int
	noRenewal                       error
	locked                          error // the error of the next signature
	confirmed                       string
	abandoned                       int
	view1                           *verify.PreparedView
	report1                         verify.Report
	next                            *verify.QuoteView
	report2                         verify.Report
	err                             error
	outcome                         flow.State
	requoted                        *verify.QuoteView // the answer to Requote, if it differs
	asked                           *intent.Draft     // the request, if it is not the intent that was handed over
}

func newFake(c *clock) *fakeOp {
	return &fakeOp{clock: c, view1: prepared(c.now), report1: report(notes()...), next: quote(c.now, time.Minute),
		report2: report(), outcome: flow.StateAccepted,
		snap: flow.Snapshot{ID: "op1", State: flow.StateDraft, Started: c.now, SignaturesTotal: 1}}
}

func (f *fakeOp) ID() string              { return "op1" }
func (f *fakeOp) Snapshot() flow.Snapshot { return f.snap }
func (f *fakeOp) Abandon() error          { f.abandoned++; f.snap.State = flow.StateAbandoned; return nil }

func (f *fakeOp) Watch(context.Context, func(flow.Snapshot)) (flow.Snapshot, error) {
	return f.snap, nil
}

func (f *fakeOp) Prepare(context.Context) (flow.Snapshot, error) {
	f.prepare++
	if f.err != nil {
		f.snap.Err = f.err
		return f.snap, f.err
	}
	f.snap.Report1, f.snap.Review1, f.snap.State = f.report1, f.view1, flow.StateReview1
	f.snap.Deadline = f.view1.Window.Until
	if f.report1.Refused() {
		f.snap.Review1, f.snap.State = nil, flow.StateRefused
	}
	return f.snap, nil
}

var errFingerprint = errors.New("confirmed something else than was shown")

func (f *fakeOp) SignPrepared(_ context.Context, c consent.Consent) (flow.Snapshot, error) {
	f.sign++
	f.confirmed = c.Confirmation()
	if err := f.refuses(f.confirmed, f.view1.Fingerprint, f.view1.Phrase); err != nil {
		return f.snap, err
	}
	f.snap.SignaturesDone = max(1, f.view1.Signatures)
	return f.quoted()
}

// refuses is the error of a confirmation of something else, or of a vault that is locked at that moment.
func (f *fakeOp) refuses(confirmed, fingerprint, phrase string) error {
	if phrase != "" {
		fingerprint += "\n" + phrase
	}
	if confirmed != fingerprint {
		return errFingerprint
	}
	err := f.locked
	f.locked = nil
	return err
}

// Quote answers with the quote of a swap or a transfer.
func (f *fakeOp) Quote(context.Context) (flow.Snapshot, error) {
	f.quotes++
	return f.quoted()
}

func (f *fakeOp) quoted() (flow.Snapshot, error) {
	if f.err != nil {
		f.snap.State, f.snap.Err = flow.StateQuoting, f.err
		return f.snap, f.err
	}
	f.snap.Previous, f.snap.Review2, f.snap.Report2, f.snap.Quoted = f.snap.Review2, f.next, f.report2, f.clock.now
	f.snap.State, f.snap.Deadline, f.snap.SignaturesTotal = flow.StateReview2, f.next.Expires,
		f.snap.SignaturesDone+present.Payments(f.next)
	if f.report2.Refused() {
		f.snap.Review2, f.snap.State = nil, flow.StateRefused
	}
	return f.snap, nil
}

// Renew answers like Requote, or with the error of a renewal, which changes nothing.
func (f *fakeOp) Renew(ctx context.Context) (flow.Snapshot, error) {
	if f.renews++; f.noRenewal != nil {
		return f.snap, f.noRenewal
	}
	f.requote--
	return f.Requote(ctx)
}

func (f *fakeOp) Requote(context.Context) (flow.Snapshot, error) {
	f.requote++
	q := quote(f.clock.now, time.Minute)
	q.Pay[0].Amount, q.Pay[0].Micro = big.NewInt(226_040_000), big.NewInt(225_994_792)
	q.Legs[0].Pays.Amount, q.Legs[0].Pays.Micro = big.NewInt(126_040_000), big.NewInt(126_014_792)
	q.PayMicro, q.CostMicro, q.FeesMicro = big.NewInt(225_994_792), big.NewInt(539_892), big.NewInt(539_892)
	q.Fees[0].Amount, q.Fees[0].Micro = big.NewInt(540_000), big.NewInt(539_892)
	q.Fingerprint = hash(9)
	if f.requoted != nil {
		q = f.requoted
	}
	f.next = q
	return f.quoted()
}

func (f *fakeOp) Execute(_ context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	f.execute++
	f.confirmed = c.Confirmation()
	if err := f.refuses(f.confirmed, f.next.Fingerprint, f.next.Phrase); err != nil {
		return f.snap, err
	}
	n := f.snap.SignaturesDone
	for _, l := range f.next.Legs {
		for range present.LegSignatures(l) {
			n++
			progress(flow.Event{Kind: flow.EventSigned, Index: n, Chain: l.Chain.CAIP, At: f.clock.now})
		}
	}
	progress(flow.Event{Kind: flow.EventSent, At: f.clock.now})
	f.snap.State, f.snap.SignaturesDone = f.outcome, f.snap.SignaturesTotal
	return f.snap, nil
}
