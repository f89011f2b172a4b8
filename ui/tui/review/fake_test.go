package review

import (
	"context"
	"errors"
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
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
	return verify.AmountView{Asset: baseUSDC(), Symbol: "USDC", Decimals: 6, Amount: big.NewInt(units), Micro: big.NewInt(micro), ChainName: where}
}

// prepared is review 1 of a transfer of 250.5 USDC on Base.
func prepared(now time.Time) *verify.PreparedView {
	a := usdcOf(250_500_000, 250_449_900, "Base")
	return &verify.PreparedView{
		Network: hash(1), Chain: chain(8453, "Base"), Sender: account, Signer: payee,
		Lines: []verify.CallView{{
			Index: 1, Asked: 1, Role: verify.RoleCall, To: usdc, ToName: "USDC", Value: new(big.Int), Function: "transfer(address to, uint256 amount)",
			Args: []verify.ArgView{{Name: "to", Type: "address", Value: payee}, {Name: "amount", Type: "uint256", Value: "250500000"}},
			Data: "0xa9059cbb" + strings.Repeat("00", 64), Decoded: true, AsAsked: true, Amount: &a, Recipient: payee, FirstTime: true,
		}},
		Outflow: []verify.AmountView{a}, Requires: []verify.AmountView{a},
		Window:   verify.Window{From: now, Until: now.Add(10 * time.Minute)},
		CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay for what is missing. Those payments are reviewed and signed separately.",
		Deploys: true, Nonce: "1208925819614629174706176", OpHash: hash(2), Digest: hash(3), Fingerprint: hash(4), Signatures: 1,
		Sources: []verify.AmountView{usdcOf(25_000_000, 24_995_000, "Base"), usdcOf(600_000_000, 599_880_000, "Optimism")},
	}
}

// quote is review 2 of the same: two payments.
func quote(now time.Time, life time.Duration) *verify.QuoteView {
	pay := usdcOf(225_980_000, 225_934_804, "")
	return &verify.QuoteView{
		ID: hash(5), CallType: api.CallCrossChain, CallTypeWords: "x", Expires: now.Add(life),
		Legs: []verify.LegView{
			{Chain: chain(10, "Optimism"), Pays: usdcOf(125_980_000, 125_954_804, "Optimism"), Nonce: "1", OpHash: hash(6), Escrow: escrow, RefundAfter: now.Add(time.Hour)},
			{Chain: chain(42161, "Arbitrum"), Pays: usdcOf(100_000_000, 99_980_000, "Arbitrum"), Deploys: true, Nonce: "2", OpHash: hash(7), Escrow: escrow, RefundAfter: now.Add(time.Hour)},
		},
		Pay: []verify.AmountView{pay}, PayMicro: big.NewInt(225_934_804), DeliverMicro: big.NewInt(225_454_900), FeesMicro: big.NewInt(479_904),
		CostMicro: big.NewInt(479_904), CostBps: 22, UnexplainedMicro: new(big.Int), Explained: true,
		Needs:     []verify.NeedView{{Need: usdcOf(250_500_000, 250_449_900, "Base"), Have: big.NewInt(25_000_000), Short: big.NewInt(225_500_000)}},
		Delivered: usdcOf(250_500_000, 250_449_900, "Base"), Minimum: usdcOf(250_500_000, 250_449_900, "Base"), Recipient: account,
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
		{Code: "V4", Level: verify.Warn, Title: "You never sent anything to this recipient before.", Got: payee},
		{Code: "P6", Level: verify.Unknown, Title: "The usable balances are the service's word.", Path: "/sourceAssetBalances"},
		{Code: "L4", Level: verify.Show, Title: "The answer carries members that this wallet does not use."},
	}
}

// fakeOp counts what the screen asks for. It refuses a confirmation of anything but the fingerprint that it showed.
type fakeOp struct {
	clock                           *clock
	snap                            flow.Snapshot
	prepare, sign, requote, execute int
	quotes                          int
	locked                          error // what the next signature ends with
	confirmed                       string
	abandoned                       int
	view1                           *verify.PreparedView
	report1                         verify.Report
	next                            *verify.QuoteView
	report2                         verify.Report
	err                             error
	outcome                         flow.State
}

func newFake(c *clock) *fakeOp {
	return &fakeOp{clock: c, view1: prepared(c.now), report1: report(notes()...), next: quote(c.now, time.Minute), report2: report(), outcome: flow.StateAccepted,
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

func (f *fakeOp) SignPrepared(_ context.Context, confirmed string) (flow.Snapshot, error) {
	f.sign++
	f.confirmed = confirmed
	if err := f.refuses(confirmed, f.view1.Fingerprint, f.view1.Phrase); err != nil {
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
	f.snap.Previous, f.snap.Review2, f.snap.Report2 = f.snap.Review2, f.next, f.report2
	f.snap.State, f.snap.Deadline, f.snap.SignaturesTotal = flow.StateReview2, f.next.Expires, f.snap.SignaturesDone+payments(f.next)
	if f.report2.Refused() {
		f.snap.Review2, f.snap.State = nil, flow.StateRefused
	}
	return f.snap, nil
}

func (f *fakeOp) Requote(context.Context) (flow.Snapshot, error) {
	f.requote++
	q := quote(f.clock.now, time.Minute)
	q.Pay[0].Amount, q.Pay[0].Micro = big.NewInt(226_040_000), big.NewInt(225_994_792)
	q.Legs[0].Pays.Amount, q.Legs[0].Pays.Micro = big.NewInt(126_040_000), big.NewInt(126_014_792)
	q.PayMicro, q.CostMicro, q.FeesMicro = big.NewInt(225_994_792), big.NewInt(539_892), big.NewInt(539_892)
	q.Fees[0].Amount, q.Fees[0].Micro = big.NewInt(540_000), big.NewInt(539_892)
	q.Fingerprint = hash(9)
	f.next = q
	return f.quoted()
}

func (f *fakeOp) Execute(_ context.Context, confirmed string, progress func(flow.Event)) (flow.Snapshot, error) {
	f.execute++
	f.confirmed = confirmed
	if err := f.refuses(confirmed, f.next.Fingerprint, f.next.Phrase); err != nil {
		return f.snap, err
	}
	n := f.snap.SignaturesDone
	for _, l := range f.next.Legs {
		for range legCount(l) {
			n++
			progress(flow.Event{Kind: flow.EventSigned, Index: n, Chain: l.Chain.CAIP, At: f.clock.now})
		}
	}
	progress(flow.Event{Kind: flow.EventSent, At: f.clock.now})
	f.snap.State, f.snap.SignaturesDone = f.outcome, f.snap.SignaturesTotal
	return f.snap, nil
}

// rig is a screen with its fake, driven without a program.
type rig struct {
	t     testing.TB
	clock *clock
	op    *fakeOp
	s     *Screen
	w, h  int
	sent  []tea.Msg // what the screen asked the shell for
}

func cat(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func anIntent(t testing.TB, now time.Time) intent.Intent {
	t.Helper()
	d := intent.Draft{
		Version: intent.Version, Network: hash(1), TargetChain: "eip155:8453", SlippageBps: 50,
		Accounts:       []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee), AccountAddress: strings.ToLower(account), DeploymentType: api.DeploymentERC4337}},
		Calls:          []intent.Call{{To: usdc, Data: "0xa9059cbb" + strings.Repeat("00", 64), Function: "transfer(address to, uint256 amount)"}},
		TokensRequired: []api.TokenRequirement{{AssetType: baseUSDC().String(), Amount: "250500000"}},
	}
	in, err := intent.Freeze(d, api.Rules{Catalog: cat(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func newRig(t testing.TB) *rig {
	t.Helper()
	c := &clock{now: begin()}
	r := &rig{t: t, clock: c, op: newFake(c), w: 80, h: 19}
	ctx := screen.Context{Catalog: cat(t), Clock: c.Now}
	r.s = New(ctx, Deps{Start: func(_ context.Context, in intent.Intent) (Operation, error) {
		r.op.snap.Intent = in.Draft()
		return r.op, nil
	}})
	return r
}

// openSwap hands over a swap, which has one review only.
func (r *rig) openSwap() *rig {
	r.op.next = swapQuote(r.clock.now)
	r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: aSwap(r.t, r.clock.now)}}))
	return r
}

// open hands an intent over and runs everything until the screen waits.
func (r *rig) open() *rig {
	r.do(r.s.Update(screen.OpenedMsg{Arg: StartArg{Intent: anIntent(r.t, r.clock.now)}}))
	return r
}

// do runs commands and feeds their messages back until none is left.
func (r *rig) do(cmd tea.Cmd) {
	for _, m := range runAll(cmd) {
		switch m.(type) {
		case startedMsg, steppedMsg, eventMsg, unlockedMsg:
			r.do(r.s.Update(m))
		default:
			r.sent = append(r.sent, m)
		}
	}
}

func (r *rig) view() string {
	v := r.s.View(screen.Frame{W: r.w, H: r.h, Theme: theme.New(true, colorprofile.NoTTY, false), Now: r.clock.now})
	v, _, _, _ = kit.TakeCursor(v)
	return v
}

// settle draws once and waits out the grace period.
func (r *rig) settle() *rig { r.view(); r.clock.add(time.Second); return r }

// read scrolls to the end, drawing each screen.
func (r *rig) read() *rig {
	for range 200 {
		r.view()
		if r.s.text[pageMain].Below() == 0 {
			return r
		}
		r.press("space")
		r.clock.add(time.Second)
	}
	r.t.Fatal("the text has no end")
	return r
}

func keyOf(name string) tea.KeyPressMsg {
	switch name {
	case "enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "esc":
		return tea.KeyPressMsg{Code: tea.KeyEscape}
	case "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func (r *rig) press(names ...string) *rig {
	for _, n := range names {
		r.do(r.s.Update(keyOf(n)))
		r.clock.add(300 * time.Millisecond)
	}
	return r
}

func (r *rig) typeText(text string) *rig {
	for _, c := range text {
		r.press(string(c))
	}
	return r
}

// golden compares a whole screen with its accepted form: the body above the line of keys.
func (r *rig) golden(name string) {
	r.t.Helper()
	th := theme.New(true, colorprofile.NoTTY, false)
	var b strings.Builder
	for _, l := range strings.Split(kit.Box(r.view(), r.w, r.h)+"\n"+kit.KeyLine(th, r.s.Keys(), r.w), "\n") {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if string(want) != b.String() {
		r.t.Errorf("%s differs:\n%s", name, b.String())
	}
}

// runAll runs a command and all that it consists of, in order, and returns their messages.
func runAll(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	if v := reflect.ValueOf(msg); v.IsValid() && v.Type() != reflect.TypeFor[tea.Cmd]() && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		var out []tea.Msg
		for i := range v.Len() {
			c, _ := v.Index(i).Interface().(tea.Cmd)
			out = append(out, runAll(c)...)
		}
		return out
	}
	if msg == nil {
		return nil
	}
	return []tea.Msg{msg}
}
