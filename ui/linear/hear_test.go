package linear

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// A listener hears the headline, the warnings, the cost and the time first, and the rest before a question confirms.
func TestL3_AReviewSaysFirstWhatAPersonDecidesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t).begins()
		said := r.types(callScript()[:yesAt+1]...)
		_, said, _ = strings.Cut(said, "Review 2 of 2.")
		first, _, _ := strings.Cut(said, "  1. ")
		if !inOrder(first, "Send 250.50 USDC to alice", "250.98 USDC leaves", "Warning: First payment",
			"Cost: 0.48 USDC", "The quote expires in 1 minute") || strings.Contains(first, "0x") {
			t.Errorf("first it says:\n%s", first)
		}
		rest := r.types("1")
		if !inOrder(rest, "Leaves Base: 25 USDC", "To: 0x93DB D23b", "Escrow: 0x0AD6", "type the amount 250") ||
			strings.Contains(rest, "Cost:") {
			t.Errorf("then:\n%s", rest)
		}
		if r.types("250"); r.op.executes != 1 {
			t.Errorf("%d executes", r.op.executes)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

func inOrder(text string, all ...string) bool {
	for _, x := range all {
		_, rest, ok := strings.Cut(text, x)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// Of a new quote only lines are said that differ from the quote before it; a figure that comes back after another one
// is said again. All of it counts as heard.
func TestL3_ANewQuoteSaysOnlyWhatChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		dear, n := true, byte(8)
		r.op.requoted = func(now time.Time) *verify.QuoteView {
			q := quote(now, time.Minute)
			if n++; dear {
				q.Legs[0].Pays = usdcOf(126_040_000, 126_014_792, "Optimism")
			}
			dear, q.Fingerprint = !dear, hash(n)
			return q
		}
		r.begins().types(callScript()[:amountAt]...)
		r.types("") // heard in full, and back to the choices
		for _, want := range []string{"Leaves Optimism: 126.04 USDC", "Leaves Optimism: 125.98 USDC"} {
			said := r.types("2")
			if !strings.Contains(said, "What is not as before:") || !strings.Contains(said, want) ||
				strings.Contains(said, "Leaves Base") || strings.Contains(said, "To: ") ||
				strings.Contains(said, "First payment") {
				t.Errorf("it says:\n%s", said)
			}
		}
		if said := r.types("3"); !strings.Contains(said, "Leaves Base") || !strings.Contains(said, "To: ") {
			t.Errorf("again it says:\n%s", said)
		}
		r.types("1", "250")
		if r.op.executes != 1 || r.op.confirmed[1] != hash(n) {
			t.Errorf("%d executes, confirmed %v", r.op.executes, r.op.confirmed)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

// What comes first is no consent without the rest.
func TestL3_WhatWasNotSaidCannotBeConsentedTo(t *testing.T) {
	x := preparedCourse(utc())
	said(t, x, func(c *reviewSession) {
		c.readOut(stageReview1)
		give := func() error {
			_, err := consent.Give(c.under(stageReview1), c.atStake(stageReview1), consent.Answers{Shown: c.shown})
			return err
		}
		if err := give(); !errors.Is(err, consent.ErrUnshown) {
			t.Errorf("after the beginning alone: %v", err)
		}
		c.readRest(stageReview1)
		if err := give(); errors.Is(err, consent.ErrUnshown) {
			t.Errorf("after the rest: %v", err)
		}
	})
}
