package builder

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api/op/abicall"
	"coffer/ui/compose"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/wallet/intent"
)

// everyRow is a builder whose forms have every kind of row that takes text.
func everyRow(t testing.TB) *rig {
	r := newRig(t)
	filledTransfer(r)
	r.s.x[intent.KindTransfer].Minimum = "1"
	filledSwap(r)
	r.s.form = formCalls
	r.press("d")
	for range 2 {
		r.s.focus = compose.IDCall(0)
		r.press("n").press("esc")
	}
	fn, err := abicall.ParseSignature(
		"swap((address token, uint256[] amounts)[] steps, bytes note, bool exact, string name, int8[2] pair)")
	if err != nil {
		t.Fatal(err)
	}
	c := r.s.b.Calls[1]
	c.To = router
	c.Signature = fn.String()
	c.ReadSignature(false)
	r.s.addItem(c.Args[0])
	r.s.addItem(c.Args[0].Items[0].Items[1])
	c = r.s.b.Calls[2]
	c.Raw, c.Why = true, ""
	c.Data = "0x12345678"
	r.do(r.s.addAllowance(usdcBase))
	r.s.addOverride()
	r.s.b.Overrides[0].Address = router
	r.s.addSlot(0)
	r.s.stopEditing()
	r.s.ownNeeds()
	for _, form := range []string{formCalls, intent.KindTransfer, intent.KindSwap} {
		r.s.form = form
		r.s.shown().Tolerance().Preset = 0
		r.s.shown().Tolerance().Text = "70"
	}
	r.s.b.Valid.Preset, r.s.b.Start.Preset = compose.OwnMinutes, compose.OwnMinutes
	r.s.form = formCalls
	r.s.stopEditing()
	r.sent = nil
	return r
}

// all is everything that typing into one row must leave unchanged: other texts, the focus, open panels, the content of
// undo.
func (r *rig) all() string {
	s := r.s
	b, err := json.Marshal(map[string]any{
		"calls": s.b, "transfer": s.x[intent.KindTransfer], "swap": s.x[intent.KindSwap], "form": s.form,
		"focus": s.focus, "list": s.choice.IsOpen(),
		"prompt": s.prompt.open, "undo": s.before, "frozen": s.frozen, "trial": s.trialDue, "rows": len(s.rows()),
		"tried": s.tried,
	}, json.Deterministic(true))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

// TestD1_TypingOnATextRowChangesThatFieldOnly types words on every text row of every form while it is highlighted and
// not edited. Each character must be text for the shell too; it is appended to that field, and nothing else changes,
// opens or is sent.
func TestD1_TypingOnATextRowChangesThatFieldOnly(t *testing.T) {
	t.Parallel()
	const words = 6_000
	r := everyRow(t)
	type place struct{ form, id string }
	var places []place
	for _, form := range []string{formCalls, intent.KindTransfer, intent.KindSwap} {
		r.s.form = form
		for _, row := range r.s.rows() {
			if row.id != "" && row.takesText() {
				places = append(places, place{form, row.id})
			}
		}
	}
	if len(places) < 35 {
		t.Fatalf("only %d rows take text: %v", len(places), places)
	}
	// state with the focus there: every word starts and ends with it
	next, as := tuitest.NewWords(1), map[place]string{}
	for n := range words {
		p := places[n%len(places)]
		r.s.form, r.s.focus = p.form, p.id
		if as[p] == "" {
			as[p] = r.all()
		}
		word, row, before := next.Next(), r.s.current(), as[p]
		if row.field == nil {
			r.typeIntoList(word, before)
			continue
		}
		had := *row.field
		if sent := tuitest.Type(t, r.s, word); len(sent) > 0 {
			t.Fatalf("%q on %s sends %+v", word, p.id, sent)
		}
		if got := *row.field; !r.s.editing || got == had && len(had) < 4 || !strings.HasPrefix(had+word, got) ||
			!strings.HasPrefix(got, had) {
			t.Fatalf("%q on %s with %q: %q, editing %v", word, p.id, had, got, r.s.editing)
		}
		r.s.stopEditing()
		*row.field = had
		r.s.changed()
		if after := r.all(); after != before {
			t.Fatalf("%q on %s changes more than the field:\n%s\n%s", word, p.id, before, after)
		}
	}
}

// typeIntoList types on a row whose list takes text: the text goes into the list, and esc restores everything.
func (r *rig) typeIntoList(word, before string) {
	r.t.Helper()
	id := r.s.focus
	if sent := tuitest.Type(r.t, r.s, word); len(sent) > 0 || !r.s.choice.IsOpen() ||
		r.s.choice.Text() != strings.TrimSpace(word) {
		r.t.Fatalf("%q on %s: %q in the list, sends %+v", word, id, r.s.choice.Text(), sent)
	}
	r.press("esc")
	if after := r.all(); after != before {
		r.t.Fatalf("%q on %s changes something:\n%s\n%s", word, id, before, after)
	}
}

// TestD1_KeysOfATextRowAreNoText checks the key line and the help on text rows: none of the keys is a character.
func TestD1_KeysOfATextRowAreNoText(t *testing.T) {
	r := everyRow(t)
	for _, form := range []string{formCalls, intent.KindTransfer, intent.KindSwap} {
		r.s.form = form
		for _, row := range r.s.rows() {
			if row.id == "" || !row.takesText() {
				continue
			}
			for _, editing := range []bool{false, true} {
				r.s.focus = row.id
				if editing {
					r.s.edit()
				}
				for _, k := range r.s.Keys() {
					for _, p := range k.Press {
						if len([]rune(p)) == 1 || p == "space" {
							t.Errorf("%s (editing %v): %s is a key for %q", row.id, editing, p, k.Label)
						}
					}
				}
				r.s.stopEditing()
			}
		}
	}
}

// TestD1_FromATextRowEveryKeyIsOneEscAway leaves a text row with esc, edited or not, and finds single keys that act on
// the part around the row.
func TestD1_FromATextRowEveryKeyIsOneEscAway(t *testing.T) {
	r := everyRow(t)
	for _, form := range []string{formCalls, intent.KindTransfer, intent.KindSwap} {
		r.s.form = form
		for _, row := range r.s.rows() {
			if row.id == "" || !row.takesText() {
				continue
			}
			r.s.focus = row.id
			r.press("esc")
			if r.s.Capturing() {
				t.Fatalf("esc on %s leads to %s, which takes text", row.id, r.s.focus)
			}
			if at := r.s.current(); row.of != nil && at.of != row.of {
				t.Errorf("esc on %s leads to %s", row.id, at.id)
			}
		}
	}
	r.s.form, r.s.focus = formCalls, compose.IDTo(1)
	r.press("esc", "x")
	if len(r.s.b.Calls) != 2 || r.s.b.Calls[1].Raw != true {
		t.Fatal("x does not remove the call that the field belongs to")
	}
}

// TestD1_CtrlKeysWorkOnATextRow reviews and removes without leaving the row.
func TestD1_CtrlKeysWorkOnATextRow(t *testing.T) {
	r := everyRow(t)
	for _, id := range []string{compose.IDOverride(0, "balance"), compose.IDAllowance(0, "amount"),
		compose.IDNeed(0, "amount")} {
		r.s.focus = id
		r.press("7", "ctrl+x")
		for _, row := range r.s.rows() {
			if row.id == id {
				t.Errorf("ctrl+x leaves %s where it is", id)
			}
		}
		if r.s.editing {
			t.Errorf("ctrl+x on %s leaves a field open", id)
		}
	}
	r.s.focus = compose.IDTo(0)
	if r.press("ctrl+x"); len(r.s.b.Calls) != 3 || !strings.Contains(r.toast(), "esc, then x") {
		t.Errorf("%d calls, %q", len(r.s.b.Calls), r.toast())
	}
	r = newRig(t)
	r.press("d").on(compose.IDArg(0, []int{1})).press("backspace", "7", "ctrl+r")
	open, ok := r.sent[len(r.sent)-1].(screen.OpenMsg)
	if !ok || open.Screen != screen.Review {
		t.Fatalf("ctrl+r sends %+v", r.sent)
	}
}
