package builder

import (
	"context"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/tui"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/activity"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// walkOp is an operation that succeeds: one payment of 226 USDC, completed at the second question.
type walkOp struct {
	in            intent.Intent
	snap          flow.Snapshot
	sign, execute int
}

func (o *walkOp) ID() string              { return "walk" }
func (o *walkOp) Snapshot() flow.Snapshot { return o.snap }
func (o *walkOp) Abandon() error          { o.snap.State = flow.StateAbandoned; return nil }

func usdcView(v int64) verify.AmountView {
	a, _ := caip.ParseAsset("eip155:8453/erc20:" + strings.ToLower(usdc))
	return verify.AmountView{Asset: a, Symbol: "USDC", Decimals: 6, Amount: big.NewInt(v), Micro: big.NewInt(v),
		ChainName: "Base"}
}

func (o *walkOp) Prepare(context.Context) (flow.Snapshot, error) {
	base := verify.ChainLabel{ID: 8453, CAIP: "eip155:8453", Name: "Base"}
	o.snap.State = flow.StateReview1
	o.snap.Review1 = &verify.PreparedView{
		Chain: base, Sender: account, Fingerprint: "one",
		Window:  verify.Window{From: time.Now(), Until: time.Now().Add(10 * time.Minute)},
		Outflow: []verify.AmountView{usdcView(250_500_000)},
		Lines: []verify.CallView{{Index: 1, Asked: 1, Role: verify.RoleCall, To: usdc, ToName: "USDC",
			Function: "transfer(address to, uint256 amount)", Decoded: true, AsAsked: true, Value: new(big.Int),
			Data: o.in.Draft().Calls[0].Data}},
	}
	o.snap.Deadline = o.snap.Review1.Window.Until
	return o.snap, nil
}

func (o *walkOp) SignPrepared(_ context.Context, c consent.Consent) (flow.Snapshot, error) {
	if c.Confirmation() != "one" {
		return o.snap, flow.ErrConfirmation
	}
	o.sign++
	return o.Requote(context.Background())
}

func (o *walkOp) Quote(context.Context) (flow.Snapshot, error) { return o.snap, flow.ErrState }

func (o *walkOp) Renew(ctx context.Context) (flow.Snapshot, error) { return o.Requote(ctx) }

func (o *walkOp) Requote(context.Context) (flow.Snapshot, error) {
	q := &verify.QuoteView{ID: "0x01", Fingerprint: "two", Expires: time.Now().Add(time.Minute),
		Pay: []verify.AmountView{usdcView(226_000_000)}, PayMicro: big.NewInt(226_000_000), CostBps: -1,
		Worst: []verify.AmountView{usdcView(226_000_000)},
		Legs: []verify.LegView{{Chain: verify.ChainLabel{ID: 10, CAIP: "eip155:10", Name: "Optimism"},
			Pays: usdcView(226_000_000), Escrow: router}}, Delivered: usdcView(225_500_000),
		Minimum: usdcView(225_500_000)}
	o.snap.State, o.snap.Review2, o.snap.Deadline, o.snap.SignaturesDone, o.snap.SignaturesTotal = flow.StateReview2, q,
		q.Expires, 1, 2
	return o.snap, nil
}

func (o *walkOp) Execute(_ context.Context, c consent.Consent, progress func(flow.Event)) (flow.Snapshot, error) {
	if c.Confirmation() != "two" {
		return o.snap, flow.ErrConfirmation
	}
	o.execute++
	progress(flow.Event{Kind: flow.EventSigned, Index: 2, Chain: "eip155:10", At: time.Now()})
	o.snap.State, o.snap.SignaturesDone, o.snap.QuoteID = flow.StateAccepted, 2, "0x01"
	return o.snap, nil
}

func (o *walkOp) Watch(_ context.Context, progress func(flow.Snapshot)) (flow.Snapshot, error) {
	o.snap.Status = api.ExecutionStatus{QuoteID: "0x01", Status: api.StatusPending}
	progress(o.snap)
	o.snap.State, o.snap.Status.Status = flow.StateDone, api.StatusCompleted
	return o.snap, nil
}

// program runs the shell with its screens inside a synctest bubble: commands run off the event loop, timers take no
// time.
type program struct {
	m    *tui.Model
	msgs chan tea.Msg
}

func (p *program) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		for _, m := range tuitest.Messages(cmd) {
			p.msgs <- m
		}
	}()
}

// idle lets everything finish that waits for no timer.
func (p *program) idle() {
	for {
		synctest.Wait()
		select {
		case m := <-p.msgs:
			if strings.Contains(strings.ToLower(typeName(m)), "woke") {
				continue
			}
			_, cmd := p.m.Update(m)
			p.fan(cmd)
		default:
			return
		}
	}
}

// fan starts each part of a batch separately, because one of them may wait for a timer; a sequence keeps its order.
func (p *program) fan(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				p.fan(c)
			}
			return
		}
		p.run(func() tea.Msg { return msg })
	}()
}

func (p *program) press(names ...string) {
	for _, n := range names {
		_, cmd := p.m.Update(keyOf(n))
		p.fan(cmd)
		p.idle()
		p.screen()
		time.Sleep(time.Second) // the bubble's clock: a person takes time between keys
		p.idle()
	}
}

func (p *program) screen() string { return ansi.Strip(p.m.View().Content) }

// opened is the shell with the builder, the review and the activity, at w by h cells.
func opened(r *rig, op *walkOp, w, h int) *program {
	ctx := r.s.ctx
	ctx.Clock = time.Now
	more := func(c screen.Context) map[screen.ID]screen.Screen {
		return map[screen.ID]screen.Screen{
			screen.Build: New(c, Deps{Book: []compose.Contact{{Name: "Demo payee", Address: payee}}}),
			screen.Review: review.New(c, review.Deps{Start: func(_ context.Context, in intent.Intent) (review.Operation,
				error) {
				op.in, op.snap = in, flow.Snapshot{ID: "walk", State: flow.StateDraft, Started: time.Now(),
					Intent: in.Draft()}
				return op, nil
			}}),
			screen.Activity: activity.New(c, activity.Deps{}), screen.Accounts: accounts.New(c, accounts.Deps{}),
		}
	}
	p := &program{msgs: make(chan tea.Msg, 1000)}
	p.m = tui.New(tui.Options{Context: ctx, Screens: more, Start: screen.Build, NoColor: true})
	for _, m := range []tea.Msg{tea.WindowSizeMsg{Width: w, Height: h},
		tea.ColorProfileMsg{Profile: colorprofile.NoTTY}} {
		_, cmd := p.m.Update(m)
		p.fan(cmd)
	}
	p.idle()
	return p
}

// end lets the last timers of the bubble end.
func (p *program) end() {
	p.m.Close()
	time.Sleep(time.Minute)
	p.idle()
}

func TestTheMainJobCanBeWalkedFromTheTrialCallToCompleted(t *testing.T) {
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		op := &walkOp{}
		p := opened(r, op, 80, 24)
		must := func(want string) {
			t.Helper()
			if !strings.Contains(p.screen(), want) {
				t.Fatalf("%q is not on the screen:\n%s", want, p.screen())
			}
		}
		must("fills in a trial call")
		p.press("d", "enter")
		must("Review 1 of 2")
		if op.sign != 0 {
			t.Fatal("signed without a review")
		}
		p.press("G", "y")
		must("Review 2 of 2")
		p.press("space", "space") // until the last line was on the screen
		must("type 476")          // what the call takes of Base, and the payment
		if op.sign != 1 || op.execute != 0 {
			t.Fatalf("signed %d, executed %d", op.sign, op.execute)
		}
		p.press("4", "7", "6", "enter")
		must("COMPLETED")
		must("transfer on Base")
		if op.sign != 1 || op.execute != 1 {
			t.Fatalf("signed %d, executed %d", op.sign, op.execute)
		}
		p.end()
	})
}

func TestTheRemarkThatLinesAreUnreadGoesWithThem(t *testing.T) {
	const words = "read to the end first"
	for name, keys := range map[string][]string{"a line further": {"down"}, "the end": {"G"}, "another page": {"c"},
		"the next review": {"G", "g", "space", "space", "y"}} {
		r := newRig(t)
		synctest.Test(t, func(t *testing.T) {
			op := &walkOp{}
			p := opened(r, op, 60, 20)
			p.press("d", "enter", "y")
			if !strings.Contains(p.screen(), words) || op.sign != 0 {
				t.Fatalf("%s: signed %d\n%s", name, op.sign, p.screen())
			}
			p.press(keys...)
			if strings.Contains(p.screen(), words) || name == "the next review" && op.sign != 1 {
				t.Errorf("%s: signed %d\n%s", name, op.sign, p.screen())
			}
			p.end()
		})
	}
}

func typeName(m tea.Msg) string { return reflect.TypeOf(m).String() }
