package review

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// flat is the screen with its white space collapsed.
func (r *rig) flat() string { return strings.Join(strings.Fields(r.view()), " ") }

// allowance adds to review 1 an approval, and its revocation, for a declared allowance of 250.5 USDC.
func (r *rig) allowance() *rig {
	d := anIntent(r.t, r.clock.now).Draft()
	d.Allowances = []api.AllowanceRequirement{{AssetType: baseUSDC().String(), Amount: "250500000",
		Spender: strings.ToLower(escrow)}}
	r.op.asked = &d
	approve := func(role string, units int64) verify.CallView {
		v := big.NewInt(units)
		a := usdcOf(units, units, "Base")
		return verify.CallView{Role: role, To: usdc, ToName: "USDC", Value: new(big.Int),
			Function: "approve(address spender, uint256 amount)", Decoded: true, AsAsked: true, Amount: &a,
			Data: "0x" + common.Bytes2Hex(erc20.Approve(common.HexToAddress(escrow), v)),
			Args: []verify.ArgView{{Name: "spender", Type: "address", Value: escrow},
				{Name: "amount", Type: "uint256", Value: v.String()}}}
	}
	own := r.op.view1.Lines[0]
	r.op.view1.Lines = []verify.CallView{approve(verify.RoleApprove, 250_500_000), own, approve(verify.RoleRevoke, 0)}
	return r
}

func TestGoldenAllowance(t *testing.T) {
	sizes(t, "allowance", func(r *rig) { r.allowance().open().settle() })
}

func TestAdditionsAreMarkedAndStandBesideTheAllowanceThatAsksForThem(t *testing.T) {
	for _, w := range []int{80, 120} {
		r := newRig(t).allowance()
		r.w, r.h = w, 60
		r.open().settle()
		v := r.flat()
		if strings.Count(v, "added, as you allowed !") != 2 || strings.Count(v, "same ✓") != 1 ||
			!strings.Contains(v, "allowance 250.500000 USDC") {
			t.Errorf("at %d columns:\n%s", w, r.view())
		}
		if two := strings.Contains(r.view(), " │ The operation contains"); two != (w >= sideBySide) {
			t.Errorf("two columns at %d: %v", w, two)
		}
		r.press("y").count(1, 0)
	}
}

func TestADeclaredAllowanceThatIsNotNeededIsSaidToBeSo(t *testing.T) {
	r := newRig(t).allowance()
	r.op.view1.Lines = r.op.view1.Lines[1:2]
	r.h = 60
	r.open().settle()
	if v := r.flat(); !strings.Contains(v, "no approval: the contract may already take that much") {
		t.Fatal(r.view())
	}
	r.press("y").count(1, 0)
}

// Whatever the verdict, a call that differs from the intent's own in any byte is marked and cannot be confirmed.
func TestTheScreenComparesEveryCallItself(t *testing.T) {
	for name, change := range map[string]func(v *verify.PreparedView, d *intent.Draft){
		"other data":     func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].Data += "00" },
		"another target": func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].To = escrow },
		"another value":  func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].Value = big.NewInt(1) },
		"a call too many": func(v *verify.PreparedView,
			_ *intent.Draft) {
			v.Lines = append(v.Lines, v.Lines[0])
		},
		"a call nobody made":    func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].Asked = 2 },
		"marked as foreign":     func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].AsAsked = false },
		"an undeclared approve": func(v *verify.PreparedView, _ *intent.Draft) { v.Lines[0].Role = verify.RoleApprove },
		"a call is missing": func(_ *verify.PreparedView,
			d *intent.Draft) {
			d.Calls = append(d.Calls, d.Calls[0])
		},
	} {
		for _, w := range []int{80, 120} {
			r := newRig(t)
			r.w, r.h = w, 80
			d := anIntent(t, r.clock.now).Draft()
			change(r.op.view1, &d)
			r.op.asked = &d
			r.open().settle().press("y").count(0, 0)
			v := r.flat()
			if !strings.Contains(v, "not the same as what you asked ✗") &&
				!strings.Contains(v, "✗ not the same as what you asked") ||
				!strings.Contains(v, "the operation is not what you asked for") {
				t.Errorf("%s at %d columns is not said:\n%s", name, w, r.view())
			}
		}
	}
}

func TestTheFingerprintOfTheDocumentIsOnBothReviews(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.open().settle()
	if v := strings.ReplaceAll(r.flat(), " ", ""); !strings.Contains(v, "fingerprint"+r.op.view1.Fingerprint) {
		t.Error(r.view())
	}
	r.press("y").settle()
	if v := strings.ReplaceAll(r.flat(), " ", ""); !strings.Contains(v, "fingerprint"+r.op.next.Fingerprint) {
		t.Error(r.view())
	}
	r.press("i", "C")
	if c, ok := r.sent[len(r.sent)-1].(screen.CopyMsg); !ok || c.Text != r.op.next.Fingerprint {
		t.Errorf("%+v", r.sent[len(r.sent)-1])
	}
}

func TestKeysThatSignAreForTheKeyboardOnlyAndAClickDoesNothing(t *testing.T) {
	r := newRig(t).withVault(&fakeVault{locked: true})
	r.h = 60
	r.open().settle()
	careful := func(press string) {
		t.Helper()
		if k, ok := kit.FindKey(r.s.Keys(), press); !ok || !k.Careful || k.Off != "" {
			t.Errorf("%+v", k)
		}
	}
	careful("y")
	for y := range r.h {
		r.do(r.s.Update(screen.ClickMsg{X: 3, Y: y}))
	}
	r.count(0, 0)
	r.press("y")
	careful("enter") // of the dialog that opens the vault
	r = newRig(t)
	r.toReview2()
	careful("enter")
	for y := range r.h {
		r.do(r.s.Update(screen.ClickMsg{X: 3, Y: y}))
	}
	r.count(1, 0)
}

func TestAnAmountThatNobodyTypesIsConfirmedByTheEndOfTheAddress(t *testing.T) {
	r := newRig(t)
	r.op.next.Pay[0].Amount, _ = new(big.Int).SetString("123456789012345678901234567890", 10)
	r.op.next.PayMicro, r.op.next.Pay[0].Micro = nil, nil
	r.toReview2().press("enter").count(1, 0)
	if !strings.Contains(r.view(), "its last 4 characters") || !r.s.Capturing() {
		t.Fatal(r.view())
	}
	r.typeText("5a11").press("enter").count(1, 0)
	if !strings.Contains(r.view(), "not the same") {
		t.Error("a wrong end is not said to be wrong")
	}
	r.press("backspace")
	r.s.typed.Set("")
	r.typeText("5a10").press("enter").count(1, 1) // letter case has no meaning in it
	d := consent.Demand{Cause: consent.Unreadable, Tail: solOwner}
	if d.Right("fmj") || d.Right("gFmj") || !d.Right("hFMJ") {
		t.Error("the end of a Solana address is compared without its letter case")
	}
}

func TestTheEndOfAnAddressIsAskedForAfterTheSentenceOfAGate(t *testing.T) {
	r := newRig(t)
	r.op.view1.WholeConsent, r.op.view1.Phrase = true, blindText
	r.op.view1.Outflow[0].Amount, _ = new(big.Int).SetString("123456789012345678901234567890", 10)
	r.op.view1.Outflow[0].Micro = nil
	r.open().settle().read().press("enter").typeText(blindText)
	r.clock.add(time.Second)
	r.press("enter").count(0, 0)
	if !r.told("now the address") {
		t.Fatal(r.view())
	}
	r.clock.add(2 * time.Second)
	r.typeText(payee[len(payee)-4:]).press("enter").count(1, 0)
}

func TestACostlyPaymentIsTypedWhateverItIsWorth(t *testing.T) {
	r := newRig(t)
	r.op.next.PayMicro, r.op.next.CostBps = big.NewInt(2_000_000), 1_000
	r.toReview2().press("y", "enter").count(1, 0)
	r.typeText("225.98").press("enter").count(1, 1)
}

func TestAQuoteThatWasSubmittedIsNeverAskedForAgain(t *testing.T) {
	r := newRig(t)
	r.toReview2()
	r.op.locked = flow.ErrSubmitted
	r.op.snap.Problem = "This quote was already submitted. It is not sent twice."
	r.typeText("225.98").press("enter").count(1, 1)
	v := r.flat()
	for _, want := range []string{"It is not sent twice.", "Do not ask for the same again", "enter opens Activity"} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r.press("r", "e", "y")
	if r.op.requote != 0 || r.lastOpen(screen.Build) != nil || !r.told("was submitted before") {
		t.Fatalf("%d new quotes", r.op.requote)
	}
	r.count(1, 1)
	r.press("enter")
	if r.lastOpen(screen.Activity) == nil {
		t.Error("there is no way to see how it ended")
	}
}
