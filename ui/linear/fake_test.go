package linear

import (
	"context"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

const (
	account = "0x21f6b1D4B4fA4bE12C4c4a60cE0C4C4A5D4f5A10"
	payee   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	usdc    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	escrow  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
	gate    = "this signature can move everything in the account"
)

var errTyped = flow.ErrVoidTyped

func hash(b byte) string { return "0x" + strings.Repeat(string("0123456789abcdef"[b%16])+"e", 32) }

func chain(id uint64, name string) verify.ChainLabel {
	return verify.ChainLabel{ID: id, CAIP: caip.EVM(id).String(), Name: name, Short: strings.ToLower(name)}
}

func usdcOf(units, micro int64, where string) verify.AmountView {
	return verify.AmountView{
		Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: "USDC", Decimals: 6, Amount: number(units),
		Micro: number(micro), ChainName: where,
	}
}

func ethOf(wei string, micro int64, where string) verify.AmountView {
	v, _ := new(big.Int).SetString(wei, 10)
	return verify.AmountView{Asset: caip.Native(10), Symbol: "ETH", Decimals: 18, Amount: v, Micro: number(micro),
		ChainName: where}
}

func someAccounts() []api.Account {
	return []api.Account{{
		Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee), AccountAddress: strings.ToLower(account),
		DeploymentType: api.DeploymentERC4337,
	}}
}

func someBalances() api.AggregatedBalance {
	one := func(asset caip.Asset, units, usd string) api.AssetBalance {
		return api.AssetBalance{AssetType: asset.String(), Balance: units, FiatValue: api.Number(usd)}
	}
	return api.AggregatedBalance{
		BalanceByAggregatedAsset: []api.AggregateBalance{
			{AggregatedAssetID: "ob:eth", Balance: "200000000000000000", FiatValue: "680.14",
				IndividualAssetBalances: []api.AssetBalance{
					one(caip.Native(8453), "100000000000000000", "340.07"),
					one(caip.Native(10), "100000000000000000", "340.07"),
				}},
			{AggregatedAssetID: "ob:usdc", Balance: "2275000000", FiatValue: "2274.77",
				IndividualAssetBalances: []api.AssetBalance{
					one(caip.ERC20(8453, common.HexToAddress(usdc)), "25000000", "25.00"),
					one(caip.ERC20(10, common.HexToAddress("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85")), "2250000000",
						"2249.77"),
				}},
			{AggregatedAssetID: "ob:dai", Balance: "0", FiatValue: "0"},
			{AggregatedAssetID: "ob:nobody\x1b[2J", Balance: "5"},
		},
		TotalBalance: api.TotalBalance{FiatValue: "2954.91"},
	}
}

// prepared is review 1 of a transfer of 250.5 USDC on Base.
func prepared(now time.Time) *verify.PreparedView {
	a := usdcOf(250_500_000, 250_449_900, "Base")
	return &verify.PreparedView{
		Network: hash(1), AccountType: api.AccountKernelV31, Chain: chain(8453, "Base"), Sender: account, Signer: payee,
		Lines: []verify.CallView{{
			Index: 1, Asked: 1, Role: verify.RoleCall, To: usdc, ToName: "USDC", Value: new(big.Int),
			Function: "transfer(address to, uint256 amount)",
			Args: []verify.ArgView{{Name: "to", Type: "address", Value: payee},
				{Name: "amount", Type: "uint256", Value: "250500000"}},
			Decoded: true, AsAsked: true, Amount: &a, Recipient: payee, FirstTime: true,
			Data: "0xa9059cbb" + strings.Repeat("0", 24) + strings.ToLower(payee[2:]) + strings.Repeat("0", 56) +
				"0eee53a0",
		}},
		Outflow: []verify.AmountView{a}, Requires: []verify.AmountView{a},
		Window:   verify.Window{From: now, Until: now.Add(10 * time.Minute)},
		CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay for what is missing. " +
			"Those payments are reviewed and signed separately.",
		Deploys: true, Nonce: "1208925819614629174706176", OpHash: hash(2), Digest: hash(3), Fingerprint: hash(4),
		Signatures: 1,
	}
}

// quote is review 2 of the same call: two payments.
func quote(now time.Time, life time.Duration) *verify.QuoteView {
	return &verify.QuoteView{
		ID: hash(5), CallType: api.CallCrossChain, CallTypeWords: "x", Expires: now.Add(life),
		Legs: []verify.LegView{
			{Chain: chain(10, "Optimism"), Pays: usdcOf(125_980_000, 125_954_804, "Optimism"), Nonce: "1",
				OpHash: hash(6), Escrow: escrow, RefundAfter: now.Add(time.Hour)},
			{Chain: chain(42161, "Arbitrum"), Pays: usdcOf(100_000_000, 99_980_000, "Arbitrum"), Deploys: true,
				Nonce: "2", OpHash: hash(7), Escrow: escrow, RefundAfter: now.Add(time.Hour)},
		},
		Promise: &verify.PromiseView{Minimums: []verify.AmountView{usdcOf(225_500_000, 225_454_900, "Base")},
			FillBy:    now.Add(5 * time.Minute),
			Attesters: 1, Threshold: 1},
		Pay:   []verify.AmountView{usdcOf(225_980_000, 225_934_804, "")},
		Worst: []verify.AmountView{usdcOf(476_480_000, 476_384_704, "")}, PayMicro: number(225_934_804),
		DeliverMicro: number(225_454_900), FeesMicro: number(479_904),
		CostMicro: number(479_904), CostBps: 22, UnexplainedMicro: new(big.Int), Explained: true,
		Needs: []verify.NeedView{{Need: usdcOf(250_500_000, 250_449_900, "Base"), Have: number(25_000_000),
			Short: number(225_500_000)}},
		Delivered: usdcOf(250_500_000, 250_449_900, "Base"), Minimum: usdcOf(250_500_000, 250_449_900, "Base"),
		Recipient: account, RecipientOwn: true,
		Fees: []verify.AmountView{usdcOf(480_000, 479_904, "")}, FeeUSD: "0.48", SlippageBps: 50, Fingerprint: hash(8),
	}
}

// exchangeQuote is the only review of a swap or a transfer of 90 USDC: cheap enough for one word.
func exchangeQuote(now time.Time, kind string) *verify.QuoteView {
	q := quote(now, time.Minute)
	q.Kind, q.Needs, q.Legs = kind, nil, q.Legs[:1]
	q.Legs[0].Pays = usdcOf(90_000_000, 89_982_000, "Optimism")
	q.Pay, q.PayMicro, q.DeliverMicro = []verify.AmountView{q.Legs[0].Pays}, number(89_982_000), number(89_502_096)
	q.Worst = q.Pay
	q.Delivered, q.Minimum = usdcOf(89_520_000, 89_502_096, "Base"), usdcOf(89_072_400, 89_054_585, "Base")
	q.Recipient, q.RecipientFirstTime, q.RecipientOwn, q.Fingerprint = payee, true, false, hash(10)
	if kind == intent.KindSwap {
		q.Delivered, q.Minimum = ethOf("26260000000000000", 89_502_096, "Optimism"),
			ethOf("26128700000000000", 89_054_585, "Optimism")
		q.Recipient, q.RecipientFirstTime, q.RecipientOwn = account, false, true
	}
	q.Promise.Minimums = []verify.AmountView{q.Minimum}
	return q
}

func report(reasons ...verify.Reason) verify.Report {
	r := verify.Report{Reasons: reasons}
	for _, c := range []string{"U1", "U2", "T1"} {
		r.Passed = append(r.Passed, verify.Check{Code: c, Title: "check " + c + " holds"})
	}
	return r
}

func notes() []verify.Reason {
	return []verify.Reason{
		{Code: "V4", Level: verify.Warn, Title: verify.FirstPayment, Got: payee},
		{Code: "P6", Level: verify.Unknown, Title: "The usable balances are the service's word.",
			Path: "/sourceAssetBalances"},
	}
}

// fakeOp plays an operation and counts its calls. It refuses a confirmation of anything but what was shown.
type fakeOp struct {
	mu                                       sync.Mutex // of the fields that Watch changes
	snap                                     flow.Snapshot
	prepares, signs, quotes, executes, gones int
	confirmed                                []string
	view1                                    *verify.PreparedView
	stays                                    bool // the same view returns
	report1                                  verify.Report
	next                                     *verify.QuoteView
	report2                                  verify.Report
	err                                      error // the error of the next step
	statuses                                 []api.ExecutionStatus
	lingers                                  time.Duration // between the last report of Watch and its return
	requoted                                 func(now time.Time) *verify.QuoteView
}

func newFake(now time.Time) *fakeOp {
	return &fakeOp{report1: report(notes()...), report2: report(),
		snap: flow.Snapshot{ID: "op1", State: flow.StateDraft, Started: now, SignaturesTotal: 1}, statuses: settled()}
}

func settled() []api.ExecutionStatus {
	at := func(status string, origin, target []api.OperationRef) api.ExecutionStatus {
		return api.ExecutionStatus{QuoteID: hash(5), Status: status, OriginChainOperations: origin,
			DestinationChainOperations: target}
	}
	o := []api.OperationRef{{Hash: hash(11), Chain: "eip155:10"}, {Hash: hash(12), Chain: "eip155:42161"}}
	d := []api.OperationRef{{Hash: hash(13), Chain: "eip155:8453"}}
	return []api.ExecutionStatus{at(api.StatusPending, nil, nil), at(api.StatusInProgress, o[:1], nil),
		at(api.StatusExecuted, o, d), at(api.StatusCompleted, o, d)}
}

func (f *fakeOp) begin(in intent.Intent) {
	f.snap = flow.Snapshot{ID: "op1", State: flow.StateDraft, Started: utc(), SignaturesTotal: 1, Intent: in.Draft()}
}

func (f *fakeOp) ID() string { return "op1" }

func (f *fakeOp) Snapshot() flow.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap
}

func (f *fakeOp) Abandon() error {
	f.gones++
	f.snap.State = flow.StateAbandoned
	return nil
}

func (f *fakeOp) takeErr() error {
	err := f.err
	f.err = nil
	f.snap.Err = err
	return err
}

func (f *fakeOp) Prepare(context.Context) (flow.Snapshot, error) {
	f.prepares++
	if err := f.takeErr(); err != nil {
		return f.snap, err
	}
	if f.view1 == nil || !f.stays && !utc().Before(f.view1.Window.Until) {
		f.view1 = prepared(utc())
	}
	f.snap.Report1, f.snap.Review1, f.snap.State, f.snap.Deadline = f.report1, f.view1, flow.StateReview1,
		f.view1.Window.Until
	if f.report1.Refused() {
		f.snap.Review1, f.snap.State, f.snap.Err = nil, flow.StateRefused, flow.ErrRefused
		return f.snap, flow.ErrRefused
	}
	return f.snap, nil
}

func (f *fakeOp) SignPrepared(_ context.Context, c consent.Consent) (flow.Snapshot, error) {
	f.signs++
	if err := f.check(c.Confirmation(), f.view1.Fingerprint, f.view1.Phrase); err != nil {
		return f.snap, err
	}
	f.snap.SignaturesDone = f.view1.Signatures
	return f.quoted()
}

func (f *fakeOp) check(confirmed, fingerprint, phrase string) error {
	f.confirmed = append(f.confirmed, confirmed)
	if phrase != "" {
		fingerprint += "\n" + phrase
	}
	if confirmed != fingerprint {
		return flow.ErrConfirmation
	}
	return f.takeErr()
}

func (f *fakeOp) Quote(context.Context) (flow.Snapshot, error)   { return f.quoted() }
func (f *fakeOp) Requote(context.Context) (flow.Snapshot, error) { return f.quoted() }
func (f *fakeOp) Renew(context.Context) (flow.Snapshot, error)   { return f.quoted() }

func (f *fakeOp) quoted() (flow.Snapshot, error) {
	f.quotes++
	if err := f.takeErr(); err != nil {
		f.snap.State = flow.StateQuoting
		return f.snap, err
	}
	switch {
	case f.snap.Review2 != nil && f.requoted != nil:
		f.next = f.requoted(utc())
	case f.next == nil && f.snap.Intent.Kind != "":
		f.next = exchangeQuote(utc(), f.snap.Intent.Kind)
	case f.next == nil:
		f.next = quote(utc(), time.Minute)
	}
	f.snap.Previous, f.snap.Review2, f.snap.Report2 = f.snap.Review2, f.next, f.report2
	f.snap.State, f.snap.Deadline, f.snap.QuoteID = flow.StateReview2, f.next.Expires, f.next.ID
	f.snap.SignaturesTotal = f.snap.SignaturesDone + len(f.next.Legs)
	if f.report2.Refused() {
		f.snap.Review2, f.snap.State, f.snap.Err = nil, flow.StateQuoting, flow.ErrRefused
		return f.snap, flow.ErrRefused
	}
	return f.snap, nil
}

func (f *fakeOp) Execute(_ context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	f.executes++
	if err := f.check(c.Confirmation(), f.next.Fingerprint, f.next.Phrase); err != nil {
		return f.snap, err
	}
	for _, l := range f.next.Legs {
		f.snap.SignaturesDone++
		progress(flow.Event{Kind: flow.EventSigned, Index: f.snap.SignaturesDone, Chain: l.Chain.CAIP, At: utc()})
	}
	for _, kind := range []string{flow.EventJournaled, flow.EventSent, flow.EventAccepted} {
		progress(flow.Event{Kind: kind, At: utc()})
	}
	f.snap.State = flow.StateAccepted
	return f.snap, nil
}

// Watch reports a status every second until the last; without one it waits forever.
func (f *fakeOp) Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error) {
	if progress == nil {
		progress = func(flow.Snapshot) {}
	}
	snap := f.Snapshot()
	for i, st := range f.statuses {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return snap, ctx.Err()
		}
		snap.Status, snap.StatusAt = st, utc()
		if i == len(f.statuses)-1 {
			snap.State = flow.StateDone
			if st.Status == api.StatusRefunded || st.Status == api.StatusFailed {
				snap.State = flow.StateFailed
			}
			f.mu.Lock()
			f.snap = snap
			f.mu.Unlock()
		}
		progress(snap)
	}
	if len(f.statuses) == 0 {
		<-ctx.Done()
		return snap, ctx.Err()
	}
	time.Sleep(f.lingers)
	return snap, nil
}
