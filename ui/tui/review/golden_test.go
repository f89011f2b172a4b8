package review

import (
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/verify"
)

// sizes runs a golden screen at the two sizes of the house: 80×24 and 120×40, of which the shell takes five lines.
func sizes(t *testing.T, name string, to func(*rig)) {
	for _, z := range []struct {
		suffix string
		w, h   int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		t.Run(z.suffix, func(t *testing.T) {
			r := newRig(t)
			r.w, r.h = z.w, z.h
			to(r)
			r.golden(name + "-" + z.suffix)
		})
	}
}

func TestGoldenReview1(t *testing.T) {
	sizes(t, "review1", func(r *rig) { r.open().settle() })
	sizes(t, "review1-end", func(r *rig) { r.open().settle().read() })
}

func TestGoldenReview1WholeConsent(t *testing.T) {
	sizes(t, "whole", func(r *rig) {
		r.op.view1.WholeConsent, r.op.view1.Deploys = true, false
		r.op.view1.CallTypeWords = "Everything needed is already on the target chain. This signature is the only one: with it the calls can run."
		r.open().settle().read()
	})
}

func TestGoldenReview2(t *testing.T) {
	sizes(t, "review2", func(r *rig) { r.open().settle().read().press("y").settle().read() })
}

func TestGoldenExpired(t *testing.T) {
	sizes(t, "expired", func(r *rig) {
		r.open().settle().read().press("y").settle().read()
		r.clock.add(2 * time.Minute)
	})
	sizes(t, "requoted", func(r *rig) {
		r.open().settle().read().press("y").settle().read()
		r.clock.add(2 * time.Minute)
		r.press("r").settle()
	})
}

func TestGoldenRefused(t *testing.T) {
	sizes(t, "refused", func(r *rig) {
		r.op.report1 = report(verify.Reason{
			Code: "U7", Level: verify.Refuse, Title: "The operation contains a call that is not yours, or not in its place.", Path: "/chainOperation/userOp/callData",
			Want: "nothing more", Got: "call 2: USDC 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 transfer(0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0, 24500000)",
		})
		r.open().settle()
	})
}

func TestGoldenProblem(t *testing.T) {
	sizes(t, "problem", func(r *rig) {
		r.op.err = api.NewError(api.ErrSimulationFailed, "call 1 reverted: transfer amount exceeds balance")
		r.open().settle()
	})
}

func TestGoldenSigning(t *testing.T) {
	sizes(t, "signing", func(r *rig) {
		r.open().settle().read().press("y").settle().read()
		r.s.enter(phaseExecute)
		r.s.events = nil
		r.s.Update(eventMsg{gen: r.s.gen, event: signedEvent(2, r.clock.now), feed: closedFeed()})
	})
}

func TestGoldenPages(t *testing.T) {
	sizes(t, "checks", func(r *rig) { r.open().settle().read().press("c") })
	sizes(t, "inspect", func(r *rig) { r.open().settle().read().press("i") })
}

func TestGoldenWaiting(t *testing.T) {
	sizes(t, "waiting", func(r *rig) {
		r.open().settle().read()
		r.s.enter(phaseQuote)
		r.clock.add(3 * time.Second)
	})
	sizes(t, "empty", func(r *rig) {})
}
