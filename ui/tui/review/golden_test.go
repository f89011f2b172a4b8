package review

import (
	"context"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/secret"
	"coffer/ui/internal/reviewtest"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// sizes runs a golden screen at 80×24 and 120×40, less the five lines of the shell.
func sizes(t *testing.T, name string, to func(*rig)) { golden(t, name, 1, 3, to) }

// everySize runs it at 60×20 and 200×60 too.
func everySize(t *testing.T, name string, to func(*rig)) { golden(t, name, 0, 4, to) }

func golden(t *testing.T, name string, from, end int, to func(*rig)) {
	for _, z := range []struct {
		suffix string
		w, h   int
	}{{"60x20", 60, 15}, {"80x24", 80, 19}, {"120x40", 120, 35}, {"200x60", 200, 55}}[from:end] {
		t.Run(z.suffix, func(t *testing.T) {
			r := newRig(t)
			r.w, r.h = z.w, z.h
			to(r)
			r.golden(name + "-" + z.suffix)
		})
	}
}

func TestGoldenReview1(t *testing.T) {
	everySize(t, "review1", func(r *rig) { r.open().settle() })
	sizes(t, "review1-end", func(r *rig) { r.open().settle().read() })
}

func TestGoldenReview1WholeConsent(t *testing.T) {
	everySize(t, "whole", func(r *rig) {
		r.op.view1.WholeConsent, r.op.view1.Deploys = true, false
		r.op.view1.CallTypeWords = "Everything needed is already on the target chain. This signature is the only " +
			"one: with it the calls can run."
		r.open().settle().read()
	})
}

func TestGoldenReview2(t *testing.T) {
	everySize(t, "review2", func(r *rig) { r.open().settle().read().press("y").settle() })
}

// asked puts a review 1 of package reviewtest on the screen.
func (r *rig) asked(c consent.Review) *rig {
	r.op.asked, r.op.view1, r.op.report1 = &c.Intent, c.Call, c.Report
	return r.open().settle()
}

func TestGoldenSeveralCalls(t *testing.T) {
	everySize(t, "payouts", func(r *rig) { r.asked(reviewtest.Payouts()) })
	everySize(t, "calls", func(r *rig) { r.asked(reviewtest.All()[1].Review) })
}

// The pane beside a review, with the keyboard in it and the arithmetic in full.
func TestGoldenBeside(t *testing.T) {
	golden(t, "beside", 2, 4, func(r *rig) { r.toReview2().press("a", "tab") })
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
	everySize(t, "refused", func(r *rig) {
		r.op.report1 = report(verify.Reason{
			Code: "U7", Level: verify.Refuse,
			Title: "The operation contains a call that is not yours, or not in your order.",
			Path:  "/chainOperation/userOp/callData",
			Want:  "nothing more", Got: "call 2: USDC 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 " +
				"transfer(0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0, 24500000)",
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
		r.s.signed = true
		r.s.enter(phaseQuote)
		r.clock.add(3 * time.Second)
	})
	sizes(t, "empty", func(r *rig) {})
}

func TestGoldenDelegation(t *testing.T) {
	everySize(t, "delegation", func(r *rig) { r.op.view1 = delegated(r.op.view1); r.open().settle() })
	sizes(t, "delegation-end", func(r *rig) { r.op.view1 = delegated(r.op.view1); r.open().settle().read() })
	everySize(t, "delegation2", func(r *rig) {
		r.op.view1 = delegated(r.op.view1)
		r.op.next.Legs[0].AccountType, r.op.next.Legs[0].Delegation = api.AccountKernelV33, delegation(10, "Optimism")
		r.open().settle().read().press("y").settle().read()
	})
}

func TestGoldenRoleBased(t *testing.T) {
	everySize(t, "rolebased", func(r *rig) { r.op.view1.AccountType = api.AccountRoleBased; r.open().settle() })
}

func TestGoldenSolana(t *testing.T) {
	to := func(r *rig) *rig {
		r.op.next = solanaQuote(r.clock.now)
		return r.open().settle().read().press("y").settle()
	}
	everySize(t, "solana", func(r *rig) { to(r) })
	sizes(t, "solana-end", func(r *rig) { to(r).read() })
}

func TestGoldenSwap(t *testing.T) {
	everySize(t, "swap", func(r *rig) { r.openSwap().settle() })
	sizes(t, "swap-unknown-fees", func(r *rig) {
		r.openSwap()
		r.op.next.Fees, r.op.next.FeesMicro, r.op.next.FeeUSD, r.op.next.Explained = nil, nil, "", false
		r.op.next.CostMicro, r.op.next.CostBps, r.op.next.UnexplainedMicro = nil, -1, nil
		r.settle().read()
	})
}

func TestGoldenTransfer(t *testing.T) {
	everySize(t, "transfer", func(r *rig) { r.openTransfer().settle() })
}

func TestGoldenSubmitted(t *testing.T) {
	sizes(t, "submitted", func(r *rig) {
		r.toReview2()
		r.op.locked, r.op.snap.Problem = flow.ErrSubmitted, "This quote was already submitted. It is not sent twice."
		r.typeText("250.98").press("enter")
	})
}

func TestGoldenGate(t *testing.T) {
	sizes(t, "gate", func(r *rig) { r.gated().open().settle().read() })
	sizes(t, "gate-typing", func(r *rig) { r.gated().open().settle().read().press("enter").typeText("this signature") })
	sizes(t, "gate-closed", func(r *rig) { r.op.report1 = report(blind(false)); r.open().settle() })
}

func TestGoldenPolicyRefusal(t *testing.T) {
	sizes(t, "policy", func(r *rig) {
		r.op.report1 = report(
			verify.Reason{Code: "Y2", Level: verify.Refuse, Title: "Not true: your policy allows the recipient.",
				Path: "/chainOperation/userOp/callData", Want: "a recipient in your policy file", Got: payee},
			verify.Reason{Code: "Y5", Level: verify.Refuse,
				Title: "Not true: what is spent within a day is within your policy.", Want: "at most $500.00",
				Got: "$750.45"},
		)
		r.open().settle()
	})
}

func TestGoldenLocked(t *testing.T) {
	sizes(t, "locked-before", func(r *rig) { r.withVault(&fakeVault{locked: true}).open().settle() })
	sizes(t, "locked", func(r *rig) {
		r.withVault(&fakeVault{locked: true}).open().without().settle().read().press("y").typeText("correct horse")
	})
	sizes(t, "locked-wrong", func(r *rig) {
		r.withVault(&fakeVault{locked: true, err: vault.ErrPassphrase}).open().without()
		r.settle().read().press("y").typeText(
			"wrong horse").press("enter")
	})
	sizes(t, "locked-busy", func(r *rig) {
		r.withVault(&fakeVault{locked: true})
		r.s.deps.Unlock = func(context.Context, secret.Secret) error { return nil }
		r.open().without().settle().read().press("y").typeText("correct horse")
		r.clock.add(time.Second)
		r.s.Update(keyOf("enter"))
	})
}
