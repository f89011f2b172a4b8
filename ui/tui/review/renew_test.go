package review

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/wallet/verify"
)

// another is the quote of a renewal: the same figures with a new fingerprint, times from now on, and what change does.
func (r *rig) another(b byte, change func(q *verify.QuoteView)) *rig {
	q := quote(r.clock.now, time.Minute)
	q.Fingerprint, q.ID = hash(b), hash(b+1)
	if change != nil {
		change(q)
	}
	r.op.requoted = q
	return r
}

// renews lets the time of the renewal come.
func (r *rig) renews() *rig {
	r.t.Helper()
	if at := r.s.renews(r.clock.now); at.IsZero() || len(r.due) == 0 {
		r.t.Fatal("nothing renews")
	} else if at.After(r.clock.now) {
		r.clock.now = at
	}
	r.do(r.s.Update(r.due[len(r.due)-1]))
	return r
}

func dearer(q *verify.QuoteView) {
	q.Legs[0].Pays = usdcOf(126_040_000, 126_014_792, "Optimism")
	q.Fees[0] = usdcOf(540_000, 539_892, "")
}

// What was typed and read stays when nothing is worse; the key counts after the pause of a new question, and signs the
// fingerprint that is on the screen.
func TestD5_ARenewedQuoteThatIsNotWorseKeepsWhatWasTypedAndRead(t *testing.T) {
	r := newRig(t).toReview2().typeText("250")
	if v := r.view(); !strings.Contains(v, "quote renews in") {
		t.Error(v)
	}
	r.another(10, nil).renews()
	r.view()
	if r.op.renews != 1 || r.s.typed.Value() != "250" || !r.s.text[pageMain].SeenAll() {
		t.Fatalf("%d renewals, typed %q", r.op.renews, r.s.typed.Value())
	}
	r.press("enter").count(1, 0)
	r.clock.add(time.Second)
	r.press("enter").count(1, 1)
	if r.op.confirmed != hash(10) {
		t.Errorf("confirmed %q", r.op.confirmed)
	}
}

// When something is worse the text is cleared, nothing counts as read, and what is worse has its old figure beside it.
func TestD5_ARenewedQuoteThatIsWorseClearsTheTextAndMarksWhatIsWorse(t *testing.T) {
	r := newRig(t).toReview2().typeText("250")
	r.another(10, dearer).renews()
	if r.s.typed.Value() != "" || !r.told("changed; read it and type again") ||
		!strings.Contains(r.flat(), "was 125.98 !") {
		t.Fatalf("typed %q:\n%s", r.s.typed.Value(), r.view())
	}
	r.clock.add(time.Second)
	r.press("enter").count(1, 0)
	r.settle().read().typeText("251").press("enter").count(1, 1)
	if r.op.confirmed != hash(10) {
		t.Errorf("confirmed %q", r.op.confirmed)
	}
}

// It is compared with the quote for which the text was first typed: better, then as before, is not worse.
func TestD5_ARenewalIsComparedWithTheQuoteThatTheTextWasTypedFor(t *testing.T) {
	cheaper := func(q *verify.QuoteView) { q.CostMicro = big.NewInt(400_000) }
	r := newRig(t).toReview2().typeText("250")
	r.another(10, cheaper).renews().another(11, nil).renews()
	if r.s.typed.Value() != "250" {
		t.Error("the quote was compared with the one before it")
	}
	r = newRig(t).toReview2()
	r.another(10, cheaper).renews()
	r.clock.add(time.Second)
	r.typeText("250").another(11, nil).renews()
	if r.s.typed.Value() != "" {
		t.Error("the quote was compared with one from before the text was typed")
	}
}

func TestD5_RenewalsEndAfterFiveWithoutAKeyAndWhenOneFails(t *testing.T) {
	r := newRig(t).toReview2()
	for i := range 5 {
		r.another(byte(10+i), nil).renews()
	}
	if !r.s.renews(r.clock.now).IsZero() || !strings.Contains(r.view(), "quote expires in") {
		t.Error("it goes on renewing")
	}
	r.do(r.s.Update(r.due[len(r.due)-1]))
	r.do(r.s.Update(renewMsg{r.s.gen, r.s.fingerprint()}))
	if r.op.renews != 5 {
		t.Errorf("%d renewals", r.op.renews)
	}

	r = newRig(t).toReview2().typeText("250")
	r.op.noRenewal = errors.New("no route")
	r.renews()
	if r.op.noRenewal = nil; r.s.typed.Value() != "250" || !strings.Contains(r.view(), "quote expires in") {
		t.Fatalf("typed %q:\n%s", r.s.typed.Value(), r.view())
	}
	r.press("enter").count(1, 1)
	if r.op.confirmed != hash(8) {
		t.Errorf("confirmed %q", r.op.confirmed)
	}
	r.do(r.s.Update(renewMsg{r.s.gen, hash(8)}))
	if r.op.renews != 1 {
		t.Error("renewed after the confirmation")
	}
}

// Random keys, pastes and waits over a review whose quote renews, at the pace of a person or of a machine: nothing is
// signed before the right text stood in the field and enter was pressed, and then the fingerprint on the screen.
func TestD5_NoStrayKeySignsWhileQuotesRenew(t *testing.T) {
	keys := []string{"enter", "space", "esc", "1", "2", "3", "5", "0", "y", "i", "c", "r", "Y", ".", "ctrl+u", "tab"}
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // the same keys for the same seed
		r := newRig(t).toReview2()
		for range 150 {
			before, at := r.s.typed.Value(), r.s.fingerprint()
			key := keys[random.IntN(len(keys))]
			switch random.IntN(12) {
			case 0:
				r.do(r.s.Update(tea.PasteMsg{Content: "250\r"}))
			case 1:
				change := dearer
				if random.IntN(2) == 0 {
					change = nil
				}
				if r.another(byte(random.IntN(16)), change); !r.s.renews(r.clock.now).IsZero() {
					r.renews()
				}
			case 2:
				r.clock.add(time.Duration(random.IntN(3000)) * time.Millisecond)
			case 3:
				for range 12 {
					r.view()
					r.press("space")
				}
			default:
				if key == "esc" && r.s.page == pageMain && !r.s.writing() {
					continue // it leaves
				}
				executed := r.op.execute
				r.press(key)
				if r.op.execute > executed && (key != "enter" || !strings.HasPrefix(before, "25") ||
					r.op.confirmed != at) {
					t.Fatalf("seed %d: %q signed %q with %q in the field, %q on the screen", seed, key, r.op.confirmed,
						before, at)
				}
			}
			if r.op.execute > 0 {
				break
			}
			if r.s.phase != phaseReview2 {
				t.Fatalf("seed %d: the review is lost after %q: phase %d", seed, key, r.s.phase)
			}
		}
	}
}

// A renewal repaints the figures where they are. Each that is worse has its old figure beside it, at every size; what
// got better has no mark, and the whole table of old and new is a fold.
func TestD5_ARenewalRepaintsFiguresInPlace(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		r := newRig(t)
		r.w, r.h = w, 45
		r.toReview2().another(10, func(q *verify.QuoteView) {
			dearer(q)
			q.Legs[1].Pays = usdcOf(99_000_000, 98_980_000, "Arbitrum")
			q.CostMicro, q.FeesMicro = big.NewInt(539_892), big.NewInt(539_892)
			q.Minimum = usdcOf(250_400_000, 250_350_000, "Base")
		}).renews()
		v := r.flat()
		for _, want := range []string{"worse where marked", "126.040000 USDC $126.01", "was 125.98 !", "was 250.5 !",
			"99.000000 USDC"} {
			if !strings.Contains(v, want) {
				t.Errorf("at %d columns %q is missing:\n%s", w, want, r.view())
			}
		}
		if strings.Contains(v, "was 100") {
			t.Errorf("at %d columns what is better is marked:\n%s", w, r.view())
		}
		if v = r.press("d").flat(); !strings.Contains(v, "0.540000 USDC +0.06 !") &&
			!strings.Contains(v, "was 0.480000 USDC +0.06 !") {
			t.Errorf("at %d columns the old figures are not beside the new:\n%s", w, r.view())
		}
	}
}

// Beside the review, a renewal that took nothing says so.
func TestD5_ARenewalThatIsNotWorseIsSaidBesideTheReview(t *testing.T) {
	r := newRig(t)
	r.w, r.h = 120, 35
	r.toReview2().typeText("250").another(10, nil).renews()
	if v := r.flat(); !strings.Contains(v, "Since the last quote nothing is worse ✓") || r.s.typed.Value() != "250" {
		t.Error(r.view())
	}
}
