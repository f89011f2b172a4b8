package tui

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"coffer/ui/tui/activity"
	"coffer/ui/tui/builder"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// waiting is an operation that waits for a review.
type waiting int

func (o waiting) ID() string { return strconv.Itoa(int(o)) }

func (o waiting) Snapshot() flow.Snapshot {
	return flow.Snapshot{ID: o.ID(), State: flow.StateReview2, SignaturesDone: 1 + int(o)%2,
		Started: tuitest.Now().Add(time.Duration(o) * time.Minute),
		Intent:  intent.Draft{TargetChain: "eip155:8453", Calls: []intent.Call{{}}}}
}

func (o waiting) Watch(context.Context, func(flow.Snapshot)) (flow.Snapshot, error) {
	return o.Snapshot(), nil
}

// TestD12_PanesBesideAFormAndAListAreCheapOnTheWire: a move in the form draws none of its summary, and one in the list
// of operations draws their steps once the selection holds still.
func TestD12_PanesBesideAFormAndAListAreCheapOnTheWire(t *testing.T) {
	for _, c := range []struct {
		tab           string
		cols, rows    int
		move, details int // bytes
	}{
		{"2", 80, 24, 700, 0}, {"2", 120, 40, 700, 0}, {"2", 200, 60, 700, 0},
		{"3", 120, 40, 330, 900}, {"3", 200, 60, 380, 900},
	} {
		t.Run(c.tab+" "+strconv.Itoa(c.cols), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := sample(t)
				o := options(t, src)
				o.beside(func(ctx screen.Context) map[screen.ID]screen.Screen {
					return map[screen.ID]screen.Screen{
						screen.Build: builder.New(ctx, builder.Deps{Balances: src.Balances}),
						screen.Activity: activity.New(ctx, activity.Deps{Unfinished: func() []activity.Operation {
							var out []activity.Operation
							for i := range 9 {
								out = append(out, waiting(i))
							}
							return out
						}}),
					}
				})
				s := tuitest.Start(t, New(o), c.cols, c.rows, tea.WithColorProfile(colorprofile.TrueColor))
				settle := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
				settle(time.Second)
				s.Type(c.tab)
				settle(time.Second)
				if c.tab == "2" {
					s.Type("w") // a swap: its first rows take no text
					settle(time.Second)
				}
				before := s.Bytes()
				for range 3 { // the third operation has other steps
					s.Type("\x1b[B")
					settle(33 * time.Millisecond)
				}
				move := (s.Bytes() - before) / 3
				before = s.Bytes()
				settle(300 * time.Millisecond)
				details := s.Bytes() - before
				if t.Logf("a move: %d bytes, details: %d bytes", move, details); move > c.move || details > c.details {
					t.Errorf("a move takes %d bytes of %d, its details %d of %d:\n%s", move, c.move, details, c.details,
						s.Screen())
				}
				if c.tab == "3" && details == 0 {
					t.Errorf("no details follow:\n%s", s.Screen())
				}
				for range 2 { // the first one warns of what is under way
					s.Type("\x03")
					settle(100 * time.Millisecond)
				}
				if err := s.End(); err != nil {
					t.Error(err)
				}
				settle(2 * time.Minute)
			})
		})
	}
}
