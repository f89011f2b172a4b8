package activity

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/ui/present"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// unsentCall is a call with its first signature.
func unsentCall(state flow.State) flow.Snapshot {
	x := snapshot(state, "")
	x.QuoteID, x.SignaturesDone, x.SignaturesTotal, x.Status = "", 1, 1, api.ExecutionStatus{}
	return x
}

// aging is a journal with two signatures of op1: one ends after 30 s and counts for a minute more, the other ends after
// 90.
func aging() func(now time.Time) []present.Signature {
	made := begin()
	return func(now time.Time) []present.Signature {
		var out []present.Signature
		for i, s := range []time.Duration{30, 90} {
			o := present.Signature{
				Operation: "op1", Hash: id64([]string{"a1", "b2"}[i]), Until: made.Add(s * time.Second),
				Ends:    made.Add((s + 60) * time.Second),
				Summary: verify.OpSummary{Role: verify.RolePrepared, Chain: "eip155:8453", Nonce: "1"},
				Void:    "It ends by itself.",
			}
			if now.Before(o.Ends) {
				out = append(out, o)
			}
		}
		return out
	}
}

// TestD2_WhatHasEndedSaysSo: row, header, detail and page follow the clock, without reading the journal again.
func TestD2_WhatHasEndedSaysSo(t *testing.T) {
	r := newRig(t, Deps{Outstanding: aging()}).track(&fakeOp{id: "op1", snap: unsentCall(flow.StateQuoting)})
	r.w, r.h = 100, 35
	for _, c := range []struct {
		after        time.Duration
		header, says string
		page         int
		over         bool
	}{
		{0, "2 outstanding signatures", "2 signatures can still be used until 12:03:33.", 2, false},
		{91 * time.Second, "1 outstanding signature", "1 signature can still be used until 12:03:33.", 1, false},
		{151 * time.Second, "", "The first signature can no longer be used.", 0, true},
	} {
		r.now = begin().Add(c.after)
		op := r.s.find("op1")
		op.snap.Over = c.over
		text := r.view()
		if !strings.Contains(flat(text), c.says) || strings.Contains(text,
			"outstanding signature") != (c.header != "") || !strings.Contains(text, c.header) {
			t.Errorf("after %s:\n%s", c.after, text)
		}
		if c.over && (!strings.Contains(text, "it has expired") ||
			strings.Contains(flat(text), "can still be used")) {
			t.Errorf("after %s:\n%s", c.after, text)
		}
		r.press("o")
		if page := r.view(); strings.Count(page, "the call itself, on Base") != c.page ||
			(c.page == 0) != strings.Contains(page, "No signature is outstanding") {
			t.Errorf("after %s: not %d signatures:\n%s", c.after, c.page, page)
		}
		r.press("esc")
	}
}

// flat is a screen as one line.
// flat is a text in one line, one pane after the other.
func flat(s string) string {
	return strings.Join(strings.Fields(strings.Join(tuitest.Columns(s), "\n")), " ")
}

// TestD2_BetweenItsEndAndTheMarginASignatureIsCountedAndSaysWhy.
func TestD2_BetweenItsEndAndTheMarginASignatureIsCountedAndSaysWhy(t *testing.T) {
	r := newRig(t, Deps{Outstanding: aging()})
	r.w, r.h, r.now = 100, 35, begin().Add(31*time.Second)
	if text := r.press("o").view(); !strings.Contains(text, "over; counted until 12:02:33, as clocks differ") ||
		!strings.Contains(text, "until 12:02:33, in 0:59") {
		t.Errorf("%s", text)
	}
	if got := r.s.Wake(r.now); got <= 0 || got > 59*time.Second {
		t.Errorf("the screen wakes in %s", got)
	}
}

// TestD2_TheKeysThatAreOfferedWork: enter does what can be done with the operation, or says why nothing can.
func TestD2_TheKeysThatAreOfferedWork(t *testing.T) {
	for name, c := range map[string]struct {
		change func(x *flow.Snapshot)
		label  string
		off    string
		says   string
	}{
		"a quote can be asked for": {func(*flow.Snapshot) {}, "open review", "",
			"ask for a quote (enter), or abandon it (x)"},
		"it has expired": {func(x *flow.Snapshot) { x.Over = true }, "prepare again", "",
			"Prepare it again (enter), or abandon it (x)"},
		"it cannot be read": {func(x *flow.Snapshot) { x.Stuck = true }, "open review", "it can only be abandoned",
			"you can only abandon it (x)"},
	} {
		t.Run(name, func(t *testing.T) {
			x := unsentCall(flow.StateQuoting)
			c.change(&x)
			r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: x})
			r.w = 120
			k, ok := kit.FindKey(r.s.Keys(), "enter")
			if !ok || k.Label != c.label || !strings.Contains(k.Off, c.off) || (k.Off == "") != (c.off == "") {
				t.Errorf("%+v", k)
			}
			if text := flat(r.view()); !strings.Contains(text, c.says) {
				t.Errorf("%s", text)
			}
			if r, ok := kit.FindKey(r.s.Keys(), "r"); ok && r.Off == "" {
				t.Error("r is offered although there is nothing to ask")
			}
		})
	}
}

// TestD2_AnErrorOfTheLastReadingGoesWithTheOperation: the screen promises no r once it asks no more.
func TestD2_AnErrorOfTheLastReadingGoesWithTheOperation(t *testing.T) {
	r := newRig(t, Deps{}).track(&fakeOp{id: "op1", snap: snapshot(flow.StateDone, api.StatusCompleted)})
	it := r.s.find("op1")
	it.err, it.errAt = errors.New("no answer").Error(), r.now
	if text := r.view(); strings.Contains(text, "r asks now") {
		t.Errorf("%s", text)
	}
}

// TestK3_TheEndIsToldAsWhatTheServiceSays.
func TestK3_TheEndIsToldAsWhatTheServiceSays(t *testing.T) {
	for name, c := range map[string]struct {
		state  flow.State
		status string
		open   bool
		says   []string
		word   string
	}{
		"completed": {flow.StateDone, api.StatusCompleted, true,
			[]string{"The service says it ran; nothing on this machine proves it.",
				"2 signatures can still be used until 12:03:33."}, "service: COMPLETED"},
		"refunded": {flow.StateFailed, api.StatusRefunded, true,
			[]string{"The service says this was refunded",
				"until 12:03:33. If you build it again before that, you could pay twice."}, "service: REFUNDED"},
		"refunded, ended": {flow.StateFailed, api.StatusRefunded, false,
			[]string{"It may have run before that: look at the chain before you"}, "service: REFUNDED"},
		"failed": {flow.StateFailed, api.StatusFailed, true,
			[]string{"The service says this did not run and nothing was paid"}, "service: FAILED"},
		"never ran": {flow.StateNotExecuted, "", true,
			[]string{"The service says it never ran this", "you could pay twice"}, "service: never ran"},
		"not of a service": {flow.StateFailed, api.StatusRefunded, true,
			[]string{"Your call did not run. Everything paid was refunded"}, " REFUNDED"},
	} {
		t.Run(name, func(t *testing.T) {
			x := snapshot(c.state, c.status)
			x.Said = name != "not of a service"
			r := newRig(t, Deps{Outstanding: aging()})
			r.w, r.h = 120, 35
			if !c.open {
				r.now = begin().Add(time.Hour)
			}
			r.track(&fakeOp{id: "op1", snap: x})
			text := r.view()
			for _, want := range append(slices.Clone(c.says), c.word) {
				if !strings.Contains(flat(text), want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if !x.Said && strings.Contains(text, "service:") {
				t.Errorf("%s", text)
			}
		})
	}
}
