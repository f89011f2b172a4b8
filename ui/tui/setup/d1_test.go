package setup

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/config"
	"coffer/ui/tui/internal/tuitest"
)

// typed presses the characters of a text and fails when one of them acts as a key.
func (w *walk) typed(text string) {
	w.Helper()
	for _, c := range text {
		if _, cmd := w.m.Update(tea.KeyPressMsg{Code: c, Text: string(c)}); cmd != nil {
			w.Fatalf("%q of %q does something", c, text)
		}
	}
}

// others is everything outside one row: texts, lengths of secrets, choices, the step and the place.
func (w *walk) others(but string) string {
	var b strings.Builder
	fmt.Fprintln(&b, w.m.step, w.m.at, w.m.picks, w.m.busy, w.m.note, w.quit, len(w.f.given), len(w.f.made))
	for _, r := range w.m.rows() {
		switch {
		case r.id == but:
		case r.field != nil:
			fmt.Fprintln(&b, r.id, r.field.Value())
		case r.secret != nil:
			fmt.Fprintln(&b, r.id, r.secret.Empty())
		}
	}
	return b.String()
}

// TestD1_TypingInTheSetUpChangesThatFieldOnly types words on every text row of every step, hidden ones included.
func TestD1_TypingInTheSetUpChangesThatFieldOnly(t *testing.T) {
	w := newWalk(t)
	next, rows := tuitest.NewWords(6), 0
	w.m.picks[storeGroup] = config.VaultFile
	for _, picks := range []map[string]string{{ownGroup: ownFile, evmGroup: api.AccountKernelV31},
		{ownGroup: ownTyped, evmGroup: api.AccountRoleBased, solanaGroup: yes}} {
		for group, value := range picks {
			w.m.picks[group] = value
		}
		for s := stepName; s <= stepSummary; s++ {
			w.m.goTo(s)
			for i, r := range w.m.rows() {
				if r.field == nil && r.secret == nil {
					continue
				}
				rows++
				w.m.at[s] = i
				w.m.focus()
				before := w.others(r.id)
				for range 40 {
					word := next.Next()
					w.typed(word)
					if r.field != nil && !strings.HasPrefix(word, r.field.Value()) ||
						r.field != nil && r.field.Value() == "" || r.secret != nil && r.secret.Empty() {
						t.Fatalf("%q is not in %s", word, r.id)
					}
					if after := w.others(r.id); after != before {
						t.Fatalf("%q on %s changes more than the field:\n%s\n%s", word, r.id, before, after)
					}
					if r.field != nil {
						r.field.Set("")
					} else {
						r.secret.Wipe()
					}
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows take text", rows)
	}
}
