package builder

import (
	"testing"

	"coffer/ui/compose"
	"coffer/wallet/intent"
)

func TestTheLabGetsWhatIsBeingBuiltAndNothingWithMistakes(t *testing.T) {
	r := newRig(t)
	if d, ok := r.s.Draft(); ok {
		t.Errorf("nothing was typed: %+v", d)
	}
	r.press("d")
	d, ok := r.s.Draft()
	if !ok || len(d.Calls) != 1 {
		t.Fatalf("%+v, %v", d, ok)
	}
	if _, err := intent.Freeze(d, r.s.Rules()); err != nil {
		t.Error(err)
	}
	r.fill(compose.IDTo(0), "nowhere")
	if d, ok := r.s.Draft(); ok {
		t.Errorf("with a mistake: %+v", d)
	}
}
