package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/secret"
	"coffer/ui/tui/screen"
	"coffer/wallet/vault"
)

const passphrase = "korrekt horse ß 42"

func TestK6ALockedVaultAsksAndNeverConfirmsByItself(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true}
	r.withVault(v).open().without().settle().read().press("y").count(0, 0)
	if !r.s.Capturing() || !strings.Contains(r.view(), "The keys are locked") {
		t.Fatal("no dialog")
	}
	r.settle().typeText(passphrase).press("enter").count(0, 0)
	if len(v.tries) != 1 || v.tries[0] != passphrase {
		t.Fatalf("%d tries", len(v.tries))
	}
	if !r.told("nothing is signed yet") || strings.Contains(r.view(), "The keys are locked") {
		t.Error("the person is not back on the review")
	}
	r.clock.add(time.Millisecond)
	r.do(r.s.Update(keyOf("y"))) // the grace period restarted
	r.count(0, 0)
	r.clock.add(time.Second)
	r.press("y").count(1, 0)
}

func TestK6NothingOfThePassphraseIsShownKeptOrSentInTheClear(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true, err: vault.ErrPassphrase}
	r.withVault(v).open().without().settle().read().press("y")
	var all strings.Builder
	for _, c := range passphrase {
		r.press(string(c))
		all.WriteString(r.view())
	}
	before := fmt.Sprintf("%#v", r.s)
	cmd := r.s.Update(keyOf("enter"))
	msg := cmd()
	fmt.Fprintf(&all, "%v %+v %#v", msg, msg, msg)
	r.do(r.s.Update(msg))
	all.WriteString(r.view() + before + fmt.Sprintf("%#v %v", r.s, r.sent))
	for _, part := range []string{passphrase, "horse", "korrekt"} {
		if strings.Contains(all.String(), part) {
			t.Errorf("%q is in the clear", part)
		}
	}
	if r.s.key != "" && strings.Contains(passphrase, r.s.key) && r.s.key != "y" {
		t.Errorf("the key %q is remembered", r.s.key)
	}
	if b := v.given[0].Reveal(); !bytes.Equal(b, make([]byte, len(b))) || len(b) == 0 {
		t.Error("the passphrase was not wiped")
	}
	if !r.s.unlock.field.Empty() || !strings.Contains(r.view(), "Wrong passphrase") {
		t.Error("a wrong passphrase stays in the field, or is not said to be wrong")
	}
}

func TestEscInTheDialogConfirmsNothingAndTheGraceBeginsAnew(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true}
	r.withVault(v).open().without().settle().read().press("y").typeText("half").press("esc").count(0, 0)
	if r.s.unlock.open || !r.s.unlock.field.Empty() || len(v.tries) != 0 || r.s.phase != phaseReview1 {
		t.Fatal("the dialog is not gone without a trace")
	}
	v.locked = false
	r.s.guard.Open(r.clock.now)
	r.do(r.s.Update(keyOf("y")))
	r.count(0, 0)
	r.clock.add(time.Second)
	r.press("y").count(1, 0)
}

func TestEscWhileTheVaultOpensDropsTheOutcome(t *testing.T) {
	r := newRig(t)
	locked := 0
	r.s.ctx.Vault.Lock = func() { locked++ }
	v := &fakeVault{locked: true}
	r.withVault(v).open().without().settle().read().press("y").typeText("x")
	r.clock.add(time.Second)
	cmd := r.s.Update(keyOf("enter"))
	r.do(r.s.Update(keyOf("z"))) // typing is ignored meanwhile
	r.press("esc")
	r.sent = nil
	r.do(r.s.Update(cmd()))
	if r.told("unlocked") || r.s.unlock.open {
		t.Error("an outcome that nobody waits for did something")
	}
	r.count(0, 0)
	if locked != 1 {
		t.Errorf("the vault that nobody waits for was locked %d times", locked)
	}
}

func TestK6ASuspensionCallsOffAVaultThatIsBeingOpened(t *testing.T) {
	r := newRig(t)
	var called context.Context
	r.s.deps.Locked = func() bool { return true }
	r.s.deps.Unlock = func(ctx context.Context, _ secret.Secret) error { called = ctx; return ctx.Err() }
	r.open().without().settle().read().press("y").typeText("x")
	r.clock.add(time.Second)
	cmd := r.s.Update(keyOf("enter"))
	r.do(r.s.Update(screen.SuspendedMsg{}))
	r.do(r.s.Update(cmd()))
	if called.Err() == nil || r.s.unlock.open || r.s.phase != phaseReview1 {
		t.Errorf("cancelled %v, dialog %v, phase %d", called.Err(), r.s.unlock.open, r.s.phase)
	}
}

func TestR4APasteFillsThePassphraseAndSubmitsNothing(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true}
	r.withVault(v).open().without().settle().read().press("y")
	r.clock.add(time.Second)
	r.do(r.s.Update(tea.PasteMsg{Content: passphrase + "\n"}))
	if len(v.tries) != 0 {
		t.Fatal("a paste was submitted")
	}
	r.press("enter")
	if len(v.tries) != 1 || v.tries[0] != passphrase {
		t.Fatalf("%v", v.tries)
	}
}

func TestAHeldEnterOpensTheDialogOnly(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true, err: vault.ErrPassphrase}
	r.withVault(v).toReview1Whole().typeText("250.5")
	for range 40 {
		r.do(r.s.Update(keyOf("enter")))
		r.clock.add(33 * time.Millisecond)
	}
	if !r.s.unlock.open || len(v.tries) > 0 {
		t.Fatalf("open %v, %d tries", r.s.unlock.open, len(v.tries))
	}
	r.clock.add(time.Second)
	r.press("enter")
	if len(v.tries) != 1 || !strings.Contains(r.view(), "Type the passphrase first.") {
		t.Fatal(r.view())
	}
	v.err = nil
	r.clock.add(time.Second)
	r.typeText("pass").press("enter")
	if r.s.unlock.open || r.s.typed.Value() != "" {
		t.Error("what was typed before the dialog still stands")
	}
	r.clock.add(time.Second)
	r.typeText("250.5").press("enter").count(1, 0)
}

// toReview1Whole walks to a review whose one signature is the whole consent, and reads it.
func (r *rig) toReview1Whole() *rig {
	r.op.view1.WholeConsent = true
	return r.open().without().settle().read()
}

func TestAVaultThatLockedMeanwhileLeadsBackToTheSameReview(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{}
	r.withVault(v).toReview2().typeText("250.98")
	v.locked = false // it seems open, and locks while the key is in use
	r.op.locked = fmt.Errorf("sign: %w", vault.ErrLocked)
	r.press("enter").count(1, 1)
	if r.s.phase != phaseReview2 || !r.s.unlock.open {
		t.Fatalf("phase %d, dialog %v", r.s.phase, r.s.unlock.open)
	}
	r.clock.add(time.Second)
	r.typeText("pass").press("enter").count(1, 1)
	if why := r.s.obstacle(r.clock.now); why != "" {
		t.Errorf("what was read has to be read again: %s", why)
	}
	r.clock.add(time.Second)
	r.typeText("250.98").press("enter").count(1, 2)
	if r.s.phase != phaseGone {
		t.Errorf("phase %d", r.s.phase)
	}
}

func TestAConfirmationWithoutASignatureAsksForNoPassphrase(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{}
	r.op.next.SameChainOnly, r.op.next.Legs, r.op.next.Promise, r.op.next.Pay = true, nil, nil, nil
	r.op.cheap()
	r.withVault(v).toReview2()
	v.locked = true
	r.press("y").count(1, 1)
}

// ringError is the error of a keyring that cannot be asked.
func ringError(t *testing.T) error {
	t.Helper()
	o := vault.Options{Profile: "lab", NetworkID: hash(1), Clock: time.Now, Random: strings.NewReader(""),
		Keyring: deafKeyring{}}
	s, err := vault.OpenKeyring(o)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Unlock(context.Background(), secret.New([]byte("passphrase")))
	var ring *vault.KeyringError
	if !errors.As(err, &ring) || ring.Advice == "" {
		t.Fatalf("%v", err)
	}
	return err
}

type deafKeyring struct{}

func (deafKeyring) Set(string, string, []byte) error { return errors.New("dbus-launch") }
func (deafKeyring) Get(string, string) ([]byte, error) {
	return nil, errors.New("dbus-launch: executable file not found")
}
func (deafKeyring) Delete(string, string) error { return errors.New("dbus-launch") }

func TestZ2TheAdviceOfAKeyringIsShownWhole(t *testing.T) {
	err := ringError(t)
	var ring *vault.KeyringError
	errors.As(err, &ring)
	r := newRig(t)
	r.withVault(&fakeVault{locked: true, err: err}).open().without().settle().read().press("y").typeText("x")
	r.clock.add(time.Second)
	r.press("enter")
	whole := func(view string) bool {
		return strings.Contains(strings.NewReplacer(" ", "", "\n", "", "│", "").Replace(between(view)),
			strings.ReplaceAll(ring.Advice, " ", ""))
	}
	if !whole(r.view()) {
		t.Errorf("%q is not whole:\n%s", ring.Advice, r.view())
	}
	r = newRig(t) // the same while signing
	r.op.locked = err
	r.open().without().settle().read().press("y")
	if got := squash(r.view()); !strings.Contains(got, squash(ring.Advice)) {
		t.Errorf("%q is not whole:\n%s", ring.Advice, r.view())
	}
}

// between returns the content of the panel in a view.
func between(view string) string {
	var b strings.Builder
	for _, l := range strings.Split(view, "\n") {
		if _, rest, ok := strings.Cut(l, "│"); ok {
			in, _, _ := strings.Cut(rest, "│")
			b.WriteString(in)
		}
	}
	return b.String()
}

func TestK6ASuspensionWipesWhatWasTyped(t *testing.T) {
	r := newRig(t)
	r.withVault(&fakeVault{locked: true}).open().without().settle().read().press("y").typeText("half")
	r.do(r.s.Update(screen.SuspendedMsg{}))
	if !r.s.unlock.field.Empty() {
		t.Error("the passphrase stays in memory")
	}
	r.press("esc")
	r.clock.add(time.Second)
	r.do(r.s.Update(screen.ResumedMsg{}))
	v := &fakeVault{}
	r.withVault(v)
	r.do(r.s.Update(keyOf("y")))
	r.count(0, 0)
	r.clock.add(time.Second)
	r.press("y").count(1, 0)
}

// A canceled attempt that still opens the vault leaves nothing open behind a later one that fails.
func TestK6AWrongPassphraseLeavesNoVaultOpenThatAnEarlierTryOpened(t *testing.T) {
	r := newRig(t)
	v := &fakeVault{locked: true}
	r.s.ctx.Vault.Lock = func() { v.locked = true }
	r.withVault(v).open().without().settle().read().press("y").typeText("x")
	r.clock.add(time.Second)
	first := r.s.Update(keyOf("enter"))
	r.press("esc")
	r.settle().press("y").typeText("z")
	r.clock.add(time.Second)
	second := r.s.Update(keyOf("enter"))
	r.do(r.s.Update(first()))
	v.err = vault.ErrPassphrase
	r.do(r.s.Update(second()))
	if !v.locked {
		t.Error("the vault is open behind a passphrase that was wrong")
	}
}
