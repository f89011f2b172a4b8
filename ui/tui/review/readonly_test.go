package review

import (
	"strings"
	"testing"
)

// Where nothing can be signed the review says so first, and the key of the decision says why it is off; nothing reaches
// the flow.
func TestAReviewWithoutASignerIsReadAndNotConfirmed(t *testing.T) {
	for name, open := range map[string]func(*rig) *rig{"review 1": (*rig).open,
		"the review of a swap": (*rig).openSwap} {
		r := newRig(t)
		r.s.deps.NoSigner = "no key to sign with is loaded here"
		open(r).settle()
		if v := r.view(); !strings.Contains(v, "Read only: no key to sign with is loaded here. You can look") {
			t.Errorf("%s: it does not say so first\n%s", name, v)
		} else if strings.Contains(v, "closes in") || strings.Contains(v, "renews in") ||
			!strings.Contains(v, "nothing can be signed here") {
			t.Errorf("%s: time runs out for nothing\n%s", name, v)
		} else if strings.Contains(v, "y sign") {
			t.Errorf("%s: signing is offered\n%s", name, v)
		}
		r.read().press("y").count(0, 0)
		r.press("enter").count(0, 0)
		off := ""
		for _, k := range r.s.Keys() {
			if k.ActionName() == "confirm" {
				off = k.Off
			}
		}
		if off != r.s.deps.NoSigner {
			t.Errorf("%s: the key of the decision says %q", name, off)
		}
	}
}
