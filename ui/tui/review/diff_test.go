package review

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op/erc20"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// flat is the screen with its white space collapsed.
func (r *rig) flat() string {
	divider := theme.New(true, colorprofile.NoTTY, false).Signs.Divider
	return strings.Join(strings.Fields(apart(strings.Split(r.view(), "\n"), divider)), " ")
}

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
	for _, w := range []int{80, 120, 200} {
		r := newRig(t).allowance()
		r.w, r.h = w, 60
		r.open().settle()
		v := r.flat()
		if strings.Count(v, "added, as you allowed !") != 2 || strings.Count(v, "same ✓") != 1 ||
			!strings.Contains(v, "allowance 250.500000 USDC") {
			t.Errorf("at %d columns:\n%s", w, r.view())
		}
		if two := strings.Contains(r.view(), " │ The operation contains"); two != (w >= 160) {
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

func TestTheFingerprintOfTheDocumentIsBehindBothReviews(t *testing.T) {
	r := newRig(t)
	r.h = 60
	r.open().settle().press("i")
	if v := strings.ReplaceAll(r.flat(), " ", ""); !strings.Contains(v, "reviewcode"+r.op.view1.Fingerprint) {
		t.Error(r.view())
	}
	r.press("esc").settle().press("y").settle().press("i")
	if v := strings.ReplaceAll(r.flat(), " ", ""); !strings.Contains(v, "reviewcode"+r.op.next.Fingerprint) {
		t.Error(r.view())
	}
	r.press("esc")
	r.press("i", "C")
	if c, ok := r.sent[len(r.sent)-1].(screen.CopyMsg); !ok || c.Text != r.op.next.Fingerprint {
		t.Errorf("%+v", r.sent[len(r.sent)-1])
	}
}

func TestKeysThatSignAreForTheKeyboardOnlyAndAClickDoesNothing(t *testing.T) {
	r := newRig(t).withVault(&fakeVault{locked: true})
	r.h = 60
	r.open().without().settle()
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

// endless makes the calls take an amount that no one would type.
func (f *fakeOp) endless() {
	v := &f.view1.Outflow[0]
	v.Amount, _ = new(big.Int).SetString("123456789012345678901234567890", 10)
	v.Micro, f.next.Needs = nil, nil
}

func TestAnAmountThatNobodyTypesIsConfirmedByCharactersOfTheAddress(t *testing.T) {
	r := newRig(t)
	r.op.endless()
	r.toReview2().press("enter").count(1, 0)
	k := r.s.atStake()
	if !strings.Contains(r.view(), present.Typed(k)[:20]) || !r.s.Capturing() {
		t.Fatal(r.view())
	}
	r.typeText("zzzz").press("enter").count(1, 0)
	if !strings.Contains(r.view(), "not the same") {
		t.Error("wrong characters are not said to be wrong")
	}
	r.s.typed.Set("")
	r.typeText(strings.ToLower(letters(k))).press("enter").count(1, 1) // letter case has no meaning in it
}

// The four characters of an unknown payee are on no page of the review while they are asked for; its end,
// which an address that imitates it has, is not enough.
func TestD5_APayeeWhomNobodyKnowsCostsASecondAnswer(t *testing.T) {
	const other = "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	to := func(r *rig) *rig {
		l := &r.op.view1.Lines[0]
		l.Recipient, l.Args[0].Value, l.Data = other, other, "0xa9059cbb"+strings.Repeat("0", 24)+
			strings.ToLower(other[2:])+strings.Repeat("0", 64)
		r.op.asked = &intent.Draft{Kind: intent.KindCall, Accounts: anIntent(t, r.clock.now).Draft().Accounts,
			Calls: []intent.Call{{To: usdc, Data: l.Data, Function: l.Function}}}
		r.op.report2 = report(verify.Reason{Code: "V4", Level: verify.Warn, Title: "first time", Got: other})
		return r
	}
	r := to(newRig(t))
	r.h = 100
	r.toReview2()
	k := r.s.atStake()
	pages := r.view() + r.press("c").view() + r.press("esc", "i").view()
	if r.press("esc"); strings.Contains(strings.ToLower(squash(pages)), strings.ToLower(other[2:])) ||
		strings.Count(pages, "____") != 3 {
		t.Errorf("%d: %s", k.Place, pages)
	}
	r.clock.add(time.Second)
	r.typeText("250").press("enter").count(1, 0)
	if !r.told("now type " + present.Typed(k)) {
		t.Fatal(r.view())
	}
	r.clock.add(time.Second)
	r.typeText(other[len(other)-4:]).press("enter").count(1, 0)
	r.s.typed.Set("")
	r.clock.add(time.Second)
	r.typeText(letters(k)).press("enter").count(1, 1)

	r = to(newRig(t))
	r.s.deps.Known = func(address string) bool { return address == other }
	r.h = 100
	r.toReview2().typeText("250").press("enter").count(1, 1)
}

// letters are the characters of an address that a review asks for.
func letters(k consent.Demand) string {
	return strings.TrimPrefix(k.Address, "0x")[k.Place-1:][:consent.Letters]
}

func TestTheCharactersOfAnAddressAreAskedForAfterTheSentenceOfAGate(t *testing.T) {
	r := newRig(t)
	r.op.endless()
	r.op.view1.WholeConsent, r.op.view1.Phrase = true, blindText
	r.open().settle().read().press("enter").typeText(blindText)
	r.clock.add(time.Second)
	r.press("enter").count(0, 0)
	if !r.told("now type characters") {
		t.Fatal(r.view())
	}
	r.clock.add(2 * time.Second)
	r.typeText(letters(r.s.atStake())).press("enter").count(1, 0)
}

func TestACostlyPaymentIsTypedWhateverItIsWorth(t *testing.T) {
	r := newRig(t)
	r.op.cheap()
	r.op.next.CostBps = 1_000
	r.toReview2().press("y", "enter").count(1, 0)
	r.typeText("1").press("enter").count(1, 1)
}

func TestAQuoteThatWasSubmittedIsNeverAskedForAgain(t *testing.T) {
	r := newRig(t)
	r.toReview2()
	r.op.locked = flow.ErrSubmitted
	r.op.snap.Problem = "This quote was already submitted. It is not sent twice."
	r.typeText("250.98").press("enter").count(1, 1)
	v := r.flat()
	for _, want := range []string{"It is not sent twice.", "Do not repeat it before", "enter opens Activity"} {
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
