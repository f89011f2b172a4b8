package activity

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/ui/present"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

var update = flag.Bool("update", false, "write golden screens")

func begin() time.Time { return time.Date(2026, 11, 21, 12, 1, 3, 0, time.UTC) }

const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

func id64(b string) string { return "0x" + strings.Repeat(b, 32) }

// fakeOp plays prepared snapshots while it is watched.
type fakeOp struct {
	id      string
	snap    flow.Snapshot
	steps   []flow.Snapshot
	err     error
	watched int
}

func (f *fakeOp) ID() string              { return f.id }
func (f *fakeOp) Snapshot() flow.Snapshot { return f.snap }

func (f *fakeOp) Watch(ctx context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error) {
	f.watched++
	for _, x := range f.steps {
		f.snap = x
		progress(x)
	}
	return f.snap, f.err
}

func snapshot(state flow.State, status string) flow.Snapshot {
	now := begin()
	usd := func(v int64) verify.AmountView {
		return verify.AmountView{Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: "USDC", Decimals: 6,
			Amount: big.NewInt(v), Micro: big.NewInt(v)}
	}
	s := flow.Snapshot{
		ID: "op1", State: state, Started: now, QuoteID: id64("9f"), SignaturesDone: 3, SignaturesTotal: 3,
		StatusAt: now,
		Intent: intent.Draft{TargetChain: "eip155:8453",
			Calls: []intent.Call{{To: usdc, Function: "transfer(address to, uint256 amount)"}}},
		Review2: &verify.QuoteView{ID: id64("9f"), Legs: []verify.LegView{
			{Chain: verify.ChainLabel{ID: 10, CAIP: "eip155:10", Name: "Optimism"}, Pays: usd(125_980_000)},
			{Chain: verify.ChainLabel{ID: 42161, CAIP: "eip155:42161", Name: "Arbitrum One"}, Pays: usd(100_000_000)},
		}},
		Status: api.ExecutionStatus{QuoteID: id64("9f"), Status: status},
	}
	ref := func(chain, h string) api.OperationRef {
		return api.OperationRef{Hash: id64(h), Chain: chain,
			ExplorerURL: "https://lab.example/explorer/" + chain + "/tx/" + id64(h)}
	}
	switch status {
	case api.StatusInProgress:
		s.Status.OriginChainOperations = []api.OperationRef{ref("eip155:10", "a1")}
	case api.StatusExecuted, api.StatusCompleted, api.StatusRefunded:
		s.Status.OriginChainOperations = []api.OperationRef{ref("eip155:10", "a1"), ref("eip155:42161", "b2")}
	}
	if status == api.StatusExecuted || status == api.StatusCompleted {
		s.Status.DestinationChainOperations = []api.OperationRef{ref("eip155:8453", "c3")}
	}
	return s
}

type rig struct {
	t    testing.TB
	s    *Screen
	now  time.Time
	w, h int
	sent []tea.Msg
}

func newRig(t testing.TB, d Deps) *rig {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, now: begin(), w: 80, h: 19}
	if d.Retry == 0 {
		d.Retry = time.Nanosecond
	}
	lab := network.Descriptor{Kind: network.Lab}
	r.s = New(screen.Context{Catalog: c, Clock: func() time.Time { return r.now }, Network: lab,
		BaseURL: "https://lab.example/api"}, d)
	r.do(r.s.Init())
	return r
}

func (r *rig) do(cmd tea.Cmd) {
	for _, m := range tuitest.Messages(cmd) {
		switch m.(type) {
		case loadedMsg, liveMsg, progressedMsg, watchedMsg, abandonedMsg, voidedMsg:
			r.do(r.s.Update(m))
		default:
			r.sent = append(r.sent, m)
		}
	}
}

func (r *rig) track(ops ...*fakeOp) *rig {
	for _, op := range ops {
		r.do(r.s.Update(TrackMsg{Op: op}))
	}
	return r
}

func (r *rig) press(names ...string) *rig {
	for _, n := range names {
		k := tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
		switch n {
		case "enter":
			k = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "esc":
			k = tea.KeyPressMsg{Code: tea.KeyEscape}
		case "tab":
			k = tea.KeyPressMsg{Code: tea.KeyTab}
		case "space":
			k = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
		}
		r.do(r.s.Update(k))
	}
	return r
}

func (r *rig) view() string {
	v := r.s.View(screen.Frame{W: r.w, H: r.h, Theme: theme.New(true, colorprofile.NoTTY, false), Now: r.now})
	v, _, _, _ = kit.TakeCursor(v)
	return v
}

func (r *rig) golden(name string) {
	r.t.Helper()
	th := theme.New(true, colorprofile.NoTTY, false)
	var b strings.Builder
	for _, l := range strings.Split(kit.Box(r.view(), r.w, r.h)+"\n"+
		kit.KeyLine(th, r.s.Keys(), r.w, tuitest.MoreKey(r.s)), "\n") {
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

func live(now time.Time) []present.Signature {
	return []present.Signature{{
		Operation: "op1", Until: now.Add(9*time.Minute + 41*time.Second),
		Void: "It expires at 12:10:44 UTC, or as soon as another operation of this account uses nonce " +
			"1208925819614629174706176 on eip155:8453.",
		Summary: verify.OpSummary{
			Role: verify.RolePrepared, Chain: "eip155:8453", Sender: "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",
			Nonce: "1208925819614629174706176",
			Spend: []verify.AmountView{{Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: "USDC", Decimals: 6,
				Amount: big.NewInt(250_500_000)}},
		},
	}}
}

func TestGoldenScreens(t *testing.T) {
	refunded := snapshot(flow.StateFailed, api.StatusRefunded)
	refunded.Status.FailReason = "SOLVER_CAPACITY_EXCEEDED"
	unknown := snapshot(flow.StateUnknown, "")
	unknown.Problem = "The service did not answer in time."
	waiting := snapshot(flow.StateReview2, "")
	waiting.ID, waiting.SignaturesDone = "op2", 1
	for name, ops := range map[string][]*fakeOp{
		"empty":     nil,
		"executing": {{id: "op1", snap: snapshot(flow.StateAccepted, api.StatusInProgress)}},
		"completed": {{id: "op1", snap: snapshot(flow.StateDone, api.StatusCompleted)}},
		"refunded":  {{id: "op1", snap: refunded}},
		"unknown":   {{id: "op1", snap: unknown}, {id: "op2", snap: waiting}},
	} {
		for suffix, z := range map[string][2]int{"60x20": {60, 15}, "80x24": {80, 19}, "120x40": {120, 35},
			"200x60": {200, 55}} {
			if (z[0] == 200 || z[0] == 60) && name != "unknown" && name != "completed" {
				continue
			}
			r := newRig(t, Deps{})
			if z[0] == 200 {
				r = newRig(t, Deps{Outstanding: liveKinds})
				r.s.ctx.Terms = terms
			}
			r.w, r.h = z[0], z[1]
			r.track(ops...).golden(name + "-" + suffix)
		}
	}
	for suffix, z := range map[string][2]int{"80x24": {80, 19}, "120x40": {120, 35}} {
		r := newRig(t, Deps{Outstanding: live})
		r.w, r.h = z[0], z[1]
		r.track(&fakeOp{id: "op1", snap: snapshot(flow.StateReview2, "")}).press("o").golden("signatures-" + suffix)
		r = newRig(t, Deps{Outstanding: liveKinds})
		r.w, r.h = z[0], z[1]
		r.press("o").golden("signature-kinds-" + suffix)
		r = newRig(t, Deps{})
		r.w, r.h = z[0], z[1]
		r.track(&fakeOp{id: "op1", snap: aSwap(flow.StateAccepted, api.StatusInProgress)},
			&fakeOp{id: "op2", snap: aSwap(flow.StateReview2, "")}).golden("swap-" + suffix)
	}
}

func TestCompletionRefreshesBalancesAndHistoryOnce(t *testing.T) {
	op := &fakeOp{id: "op1", snap: snapshot(flow.StateAccepted, ""), steps: []flow.Snapshot{
		snapshot(flow.StateAccepted, api.StatusInProgress), snapshot(flow.StateAccepted, api.StatusExecuted),
		snapshot(flow.StateDone, api.StatusCompleted),
	}}
	r := newRig(t, Deps{}).track(op)
	r.track(op)
	changed, told, ended := 0, 0, 0
	for _, m := range r.sent {
		switch x := m.(type) {
		case screen.BalancesChangedMsg:
			changed++
		case screen.ToastMsg:
			if strings.Contains(x.Text, "transfer on Base: COMPLETED") {
				told++
			}
		case screen.EndedMsg:
			if x == (screen.EndedMsg{What: "transfer on Base", Word: "COMPLETED"}) {
				ended++
			}
		}
	}
	if changed != 1 || told != 1 || ended != 1 || op.watched != 1 {
		t.Fatalf("changed %d, told %d, ended %d, watched %d", changed, told, ended, op.watched)
	}
}

func TestUnfinishedOperationsAreWatchedAfterAStart(t *testing.T) {
	op := &fakeOp{id: "op1", snap: snapshot(flow.StateUnknown, ""),
		steps: []flow.Snapshot{snapshot(flow.StateNotExecuted, "")}}
	waits := &fakeOp{id: "op2", snap: snapshot(flow.StateQuoting, "")}
	r := newRig(t, Deps{Unfinished: func() []Operation { return []Operation{op, waits} }})
	if op.watched != 1 || waits.watched != 0 || len(r.s.items) != 2 {
		t.Fatalf("watched %d and %d, %d items", op.watched, waits.watched, len(r.s.items))
	}
	if st := r.s.state(r.s.find("op1").snap, r.now); st.Word != "never ran" {
		t.Fatal(st.Word)
	}
}

func TestAFailedWatchIsStartedAgain(t *testing.T) {
	op := &fakeOp{id: "op1", snap: snapshot(flow.StateAccepted, api.StatusPending),
		err: errors.New("the journal is full")}
	r := newRig(t, Deps{}).track(op)
	var again tea.Msg
	for _, m := range r.sent {
		if x, ok := m.(retryMsg); ok {
			again = x
		}
	}
	if again == nil || !strings.Contains(r.view(), "the journal is full") {
		t.Fatal("no second try is arranged, or nothing is said")
	}
	op.err = nil
	r.do(r.s.Update(again))
	if op.watched != 2 {
		t.Fatalf("watched %d times", op.watched)
	}
}

func TestOnlyAnOperationThatWaitsOpensAReview(t *testing.T) {
	waits := &fakeOp{id: "op1", snap: snapshot(flow.StateReview2, "")}
	r := newRig(t, Deps{}).track(waits).press("enter")
	open, ok := r.sent[len(r.sent)-1].(screen.OpenMsg)
	if !ok || open.Screen != screen.Review || open.Arg.(ReopenArg).Op != Operation(waits) {
		t.Fatalf("%+v", r.sent)
	}
	r = newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snapshot(flow.StateUnknown, "")})
	r.sent = nil
	r.press("enter")
	for _, m := range r.sent {
		if _, ok := m.(screen.OpenMsg); ok {
			t.Fatal("an operation that may have been sent was offered for a review")
		}
	}
}

func TestTheReasonOfARefundHasWordsAdviceAndTheServicesOwnName(t *testing.T) {
	for reason, want := range map[string]string{
		"SLIPPAGE": "The price moved further than you allowed. Ask again, or allow a larger move. The service says: " +
			"SLIPPAGE",
		"SOMETHING\x1bNEW": "Coffer has no words for this cause. Copy the support bundle (b) for the operator of the " +
			"service. The service says: SOMETHING\uFFFDNEW",
	} {
		snap := snapshot(flow.StateFailed, api.StatusRefunded)
		snap.Status.FailReason = reason
		r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
		if all := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(all, want) {
			t.Errorf("%q is not shown: %s", want, all)
		}
	}
}

func TestLeftBeforeASignatureLeavesNoTrace(t *testing.T) {
	op := &fakeOp{id: "op1", snap: flow.Snapshot{ID: "op1", State: flow.StateReview1, Started: begin()}}
	r := newRig(t, Deps{}).track(op)
	op.snap.State = flow.StateAbandoned
	r.track(op)
	if len(r.s.items) != 0 {
		t.Fatalf("%d items", len(r.s.items))
	}
}

func TestExplorerAddressesAndIdsAreWholeAndCanBeCopied(t *testing.T) {
	snap := snapshot(flow.StateDone, api.StatusCompleted)
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	r.h = 60
	all := strings.NewReplacer(" ", "", "\n", "").Replace(r.view())
	for _, list := range [][]api.OperationRef{snap.Status.OriginChainOperations,
		snap.Status.DestinationChainOperations} {
		for _, ref := range list {
			if !strings.Contains(all, ref.ExplorerURL) {
				t.Errorf("%s is not whole", ref.ExplorerURL)
			}
		}
	}
	if !strings.Contains(all, snap.QuoteID) {
		t.Error("the quote id is not whole")
	}
	r.press("c", "u")
	if c := r.sent[len(r.sent)-2].(screen.CopyMsg); c.Text != snap.QuoteID {
		t.Error(c)
	}
	if c := r.sent[len(r.sent)-1].(screen.CopyMsg); c.Text != snap.Status.DestinationChainOperations[0].ExplorerURL {
		t.Error(c)
	}
}

// TestTheTransactionsOfAFinishedOperationAreLinks: to the pinned explorer, even where the service names no page.
func TestTheTransactionsOfAFinishedOperationAreLinks(t *testing.T) {
	snap := snapshot(flow.StateDone, api.StatusCompleted)
	for i := range snap.Status.OriginChainOperations {
		snap.Status.OriginChainOperations[i].ExplorerURL = ""
	}
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
	th := theme.New(true, colorprofile.TrueColor, false)
	th.Links = true
	page := "https://optimistic.etherscan.io/tx/" + snap.Status.OriginChainOperations[0].Hash
	for kind, want := range map[network.Kind]bool{network.Real: true, network.Lab: false, network.Embedded: false} {
		r.s.ctx.Network.Kind = kind
		view := r.s.View(screen.Frame{W: 120, H: 60, Theme: th, Now: r.now})
		if got := strings.Contains(view, ";"+page); got != want {
			t.Errorf("%s: a link is %v, want %v", kind, got, want)
		}
	}
}

// detailText scrolls through the details as a person does and returns all text that was on the screen, without spaces.
func (r *rig) detailText() string {
	var lines []string
	for {
		r.view()
		shown := strings.Split(r.s.detail.View(r.w), "\n")
		lines = append(lines[:min(len(lines), r.s.detail.Top())], shown...)
		if r.s.detail.Below() == 0 {
			return strings.ReplaceAll(strings.Join(strings.Fields(strings.Join(lines, " ")), ""), ",", "")
		}
		r.press("space")
	}
}

func TestNoIdAddressAmountOrLinkOfTheDetailsIsCutAtAnySizeFrom60x20(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hex := func(label string, from, to int) string {
			return "0x" + rapid.StringMatching(fmt.Sprintf("[0-9a-f]{%d,%d}", from, to)).Draw(rt, label)
		}
		snap := snapshot(flow.StateDone, api.StatusCompleted)
		snap.QuoteID = hex("quote", 1, 400)
		want := []string{snap.QuoteID}
		for i, list := range [][]api.OperationRef{snap.Status.OriginChainOperations,
			snap.Status.DestinationChainOperations} {
			list[0].Hash, list[0].ExplorerURL = hex(fmt.Sprint("hash", i), 64, 300), ""
			if rapid.Bool().Draw(rt, "with a page") {
				list[0].ExplorerURL = "https://" + rapid.StringMatching("[a-z./?=-]{1,900}").Draw(rt,
					fmt.Sprint("url", i)) + list[0].Hash
				want = append(want, list[0].ExplorerURL)
				continue
			}
			want = append(want, list[0].Hash)
		}
		digits := rapid.StringMatching("[1-9][0-9]{70,76}").Draw(rt, "amount")
		v, _ := new(big.Int).SetString(digits, 10)
		a := verify.AmountView{Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: strings.Repeat("SYM", 15),
			Decimals: 6, Amount: v}
		want = append(want, digits[:len(digits)-6]+"."+digits[len(digits)-6:], a.Symbol)
		foreign := a
		foreign.Symbol, foreign.Decimals = "", -1
		want = append(want, digits+"baseunitsof"+a.Asset.Display())
		snap.Review1 = &verify.PreparedView{Outflow: []verify.AmountView{a, foreign}}
		r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snap})
		r.w, r.h = rapid.IntRange(60, 160).Draw(rt, "w"), rapid.IntRange(15, 50).Draw(rt, "h")
		all := r.detailText()
		for _, x := range want {
			if !strings.Contains(all, x) {
				rt.Fatalf("%d×%d: %q is not whole: %s", r.w, r.h, x, all)
			}
		}
	})
}

func TestHiddenAmountsAreInNoLineOfTheActivity(t *testing.T) {
	snap := snapshot(flow.StateReview2, "")
	snap.Review1 = &verify.PreparedView{Outflow: live(begin())[0].Summary.Spend}
	d := Deps{Outstanding: live}
	for _, keys := range [][]string{nil, {"o"}} {
		r := newRig(t, d).track(&fakeOp{id: "op1", snap: snap}).press(keys...)
		if v := r.view(); !strings.Contains(v, "250.5") {
			t.Fatalf("there is no amount to hide:\n%s", v)
		}
		r.do(r.s.Update(screen.AmountsMsg{Hidden: true}))
		if v := r.view(); strings.Contains(v, "250.5") || !strings.Contains(v, "••••• USDC") {
			t.Errorf("the amount is not hidden:\n%s", v)
		}
	}
}

// leftOp is an operation that can be abandoned.
type leftOp struct {
	fakeOp
	abandoned int
}

func (o *leftOp) Abandon() error {
	o.abandoned++
	o.snap.State = flow.StateAbandoned
	return nil
}

func TestAnUnsentOperationIsAbandonedByTheSameKeyTwice(t *testing.T) {
	op := &leftOp{fakeOp: fakeOp{id: "op1", snap: snapshot(flow.StateReview2, "")}}
	r := newRig(t, Deps{})
	r.do(r.s.Update(TrackMsg{Op: op}))
	r.press("x")
	r.now = r.now.Add(askTime + time.Second)
	r.press("x")
	if op.abandoned != 0 {
		t.Fatal("one key abandons")
	}
	r.press("x")
	if op.abandoned != 1 || !strings.Contains(r.view(), "it was never sent") {
		t.Fatalf("abandoned %d times:\n%s", op.abandoned, r.view())
	}
	if slices.ContainsFunc(r.sent, func(m tea.Msg) bool { _, notified := m.(screen.EndedMsg); return notified }) {
		t.Error("what the person abandons is a notification")
	}
	sent := &leftOp{fakeOp: fakeOp{id: "op2", snap: snapshot(flow.StateUnknown, "")}}
	sent.snap.ID, sent.snap.Started = "op2", begin().Add(time.Second)
	r.do(r.s.Update(TrackMsg{Op: sent}))
	r.s.selectID("op2")
	r.press("x", "x")
	if sent.abandoned != 0 {
		t.Fatal("what may have been sent was abandoned")
	}
}
