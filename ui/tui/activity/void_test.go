package activity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/ui/present"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/flow"
)

// voids plays flow.Void.
type voids struct {
	err   error
	calls [][2]string
}

func (v *voids) void(hash, typed string) error {
	v.calls = append(v.calls, [2]string{hash, typed})
	return v.err
}

// voidable is an approval that no time ends, after the signatures that time ends.
func voidable(now time.Time) []present.Signature {
	out := liveKinds(now)
	out[2].Hash, out[2].Voidable = id64("77"), true
	return out
}

// onVoid opens the form for the last signature of a list.
func onVoid(t *testing.T, v *voids) *rig {
	t.Helper()
	r := newRig(t, Deps{Outstanding: voidable, Void: v.void})
	r.press("o", "j", "j", "v")
	return r
}

func (r *rig) told(text string) bool {
	for _, m := range r.sent {
		if x, ok := m.(screen.ToastMsg); ok && strings.Contains(x.Text, text) {
			return true
		}
	}
	return false
}

// settle draws, reads to the end and lets the grace period pass.
func (r *rig) settle() *rig {
	for range 20 {
		r.view()
		r.do(r.s.Update(tea.KeyPressMsg{Code: tea.KeyPgDown}))
	}
	r.now = r.now.Add(2 * time.Second)
	return r
}

func TestGoldenVoid(t *testing.T) {
	for suffix, z := range map[string][2]int{"80x24": {80, 19}, "120x40": {120, 35}} {
		r := onVoid(t, &voids{})
		r.w, r.h = z[0], z[1]
		r.view()
		r.golden("void-" + suffix)
	}
}

func TestASignatureIsVoidedByTheEndOfItsAccountTypedByHand(t *testing.T) {
	v := &voids{}
	r := onVoid(t, v)
	if !r.s.Capturing() {
		t.Fatal("what is typed goes elsewhere")
	}
	all := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{"What voiding means",
		"It takes nothing back. Anyone who has the signature can still use it until this nonce is used on Base."} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r.settle().press("7", "B", "C", "0")
	r.do(r.s.Update(tea.KeyPressMsg{Code: tea.KeyEnter, IsRepeat: true}))
	if len(v.calls) != 0 {
		t.Fatal("a held key voids")
	}
	r.press("enter")
	if len(v.calls) != 1 || v.calls[0] != [2]string{id64("77"), "7BC0"} || r.s.void.open ||
		!r.told("void: it blocks nothing") {
		t.Fatalf("%v", v.calls)
	}
}

func TestR4NothingVoidsByAPasteInTheFirstHalfSecondUnreadOrEmpty(t *testing.T) {
	v := &voids{}
	r := onVoid(t, v)
	r.h = 8
	r.view()
	r.press("7")
	r.now = r.now.Add(3 * time.Second)
	r.press("B", "enter")
	if len(v.calls) != 0 || r.s.void.field.Value() != "B" || !r.told("read to the end first") {
		t.Fatalf("%v, typed %q", v.calls, r.s.void.field.Value())
	}
	r.settle()
	r.s.void.field.Set("")
	r.do(r.s.Update(tea.PasteMsg{Content: "7BC0\n"}))
	r.press("enter")
	if len(v.calls) != 0 || r.s.void.field.Value() != "" || !r.told("a paste confirms nothing") ||
		!r.told("type the last four") {
		t.Fatalf("%v, typed %q", v.calls, r.s.void.field.Value())
	}
	for y := range r.h {
		r.do(r.s.Update(screen.ClickMsg{X: 5, Y: y}))
	}
	if k, ok := kit.FindKey(r.s.Keys(), "enter"); !ok || !k.Careful {
		t.Error("the key that voids can be pressed by the mouse")
	}
	if r.press("esc"); r.s.void.open || len(v.calls) != 0 {
		t.Error("esc does not keep the signature")
	}
}

func TestWhyASignatureWasNotVoidedIsSaid(t *testing.T) {
	for err, want := range map[error]string{
		flow.ErrVoidTyped: "not the end of the account's address", flow.ErrVoidUnknown: "not open any more",
		errors.New("the disk\x1b is full"): "could not be voided: the disk\uFFFD is full",
	} {
		v := &voids{err: err}
		r := onVoid(t, v)
		r.h = 40
		r.settle().press("x", "y", "z", "0", "enter")
		if got := strings.Join(strings.Fields(r.view()), " "); !strings.Contains(got, want) || !r.s.void.open {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
		r.press("esc")
		r.do(r.s.Update(voidedMsg{id64("77"), err})) // the form is closed by now
		if !r.told(strings.TrimSuffix(want, ": the disk\uFFFD is full")) {
			t.Errorf("%q is not told after the form was closed", want)
		}
	}
}

func TestOnlyASignatureThatNoTimeEndsIsOfferedToVoid(t *testing.T) {
	r := newRig(t, Deps{Outstanding: voidable, Void: (&voids{}).void}).press("o")
	off := func() string {
		k, _ := kit.FindKey(r.s.Keys(), "v")
		return k.Off
	}
	if why := off(); !strings.Contains(why, "never expires") {
		t.Error(why)
	}
	r.press("v")
	if r.s.void.open || !r.told("never expires") {
		t.Error("a signature that ends by itself can be voided")
	}
	if r.press("j", "j"); off() != "" {
		t.Error(off())
	}
	r.s.live[2].Voided = r.now
	if !strings.Contains(off(), "already") || !strings.Contains(r.view(), "voided by you") {
		t.Errorf("%s\n%s", off(), r.view())
	}
	r.s.live = nil
	if !strings.Contains(off(), "no signature") {
		t.Error(off())
	}
	r = newRig(t, Deps{Outstanding: voidable}).press("o", "j", "j")
	if !strings.Contains(off(), "no journal") {
		t.Error(off())
	}
}

func TestTheChosenSignatureIsOnTheScreenAndItsHashCanBeCopied(t *testing.T) {
	r := newRig(t, Deps{Outstanding: voidable}).press("o")
	r.h = 12
	r.view()
	if r.press("j", "j"); !strings.Contains(r.view(), "›! the call itself, on Base") {
		t.Error(r.view())
	}
	r.press("c")
	if c, ok := r.sent[len(r.sent)-1].(screen.CopyMsg); !ok || c.Text != id64("77") {
		t.Errorf("%+v", r.sent)
	}
	if r.press("k"); !strings.Contains(r.view(), "›! the payment of a swap") {
		t.Error(r.view())
	}
	if r.press("k", "k"); !strings.Contains(r.view(), "›! a delegation") {
		t.Error(r.view())
	}
	r.h = 60
	for y, l := range strings.Split(r.view(), "\n") {
		if strings.Contains(l, "allows    250.5") {
			r.do(r.s.Update(screen.ClickMsg{X: 9, Y: y}))
			break
		}
	}
	if r.s.sig != 1 {
		t.Errorf("a click chose signature %d", r.s.sig)
	}
}
