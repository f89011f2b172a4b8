package consent

import (
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

const (
	usdc  = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	payee = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	gate  = "I sign what cannot be read"
)

func dollars(n int64) verify.AmountView {
	asset, err := caip.ParseAsset("eip155:8453/erc20:" + usdc)
	if err != nil {
		panic(err)
	}
	units := big.NewInt(n * 1_000_000)
	return verify.AmountView{Asset: asset, Symbol: "USDC", Decimals: 6, Amount: units, Micro: units}
}

// call is review 1 of a transfer of n USDC whose signature is the whole consent.
func call(n int64) Review {
	a := dollars(n)
	return Review{
		Intent: intent.Draft{Calls: []intent.Call{{To: usdc, Data: "0xa9059cbb", Value: "0"}}},
		Call: &verify.PreparedView{
			Fingerprint: "aaaa 0001", WholeConsent: true, Outflow: []verify.AmountView{a},
			Window: verify.Window{Until: time.Unix(1_800_000_000, 0)},
			Lines: []verify.CallView{{Index: 1, Asked: 1, Role: verify.RoleCall, To: usdc, Value: new(big.Int),
				Data: "0xa9059cbb", Decoded: true, AsAsked: true, Amount: &a, Recipient: payee}},
		},
	}
}

func catalogue(t interface{ Fatal(...any) }) *catalog.Catalog {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// person knows no one; the characters of an address that are asked for begin with the 17th.
func person() Person { return Person{From: TypeFrom(), Draw: 3} }

// everything is the path of every mandatory fact.
func everything(r Review) []string { return Unshown(r, nil) }

func TestNothingIsConsentedToUnlessEveryMandatoryFactWasShown(t *testing.T) {
	r := call(25)
	r.Report.Reasons = []verify.Reason{{Code: "V4", Level: verify.Warn, Title: "first time"},
		{Code: "P5", Level: verify.Show, Title: "for your information"}}
	d, all := Demanded(catalogue(t), r, person()), everything(r)
	for _, path := range []string{"call.outflow[0]", "call.lines[0].recipient", "call.window.until", "findings[0]"} {
		if !slices.Contains(all, path) {
			t.Errorf("%s need not be shown", path)
		}
	}
	if _, err := Give(r, d, Answers{Shown: all}); err != nil {
		t.Fatal(err)
	}
	for i, path := range all {
		left := slices.Delete(slices.Clone(all), i, i+1)
		if _, err := Give(r, d, Answers{Shown: left}); !errors.Is(err, ErrUnshown) {
			t.Errorf("without %s: %v", path, err)
		}
	}
}

func TestBytesThatAreNotDecodedMustBeShown(t *testing.T) {
	r := call(25)
	if slices.Contains(everything(r), "call.lines[0].data") {
		t.Error("decoded bytes must be shown")
	}
	r.Call.Lines[0].Decoded = false
	if !slices.Contains(everything(r), "call.lines[0].data") {
		t.Error("bytes that cannot be read need not be shown")
	}
}

func TestWhatIsTypedHasToBeRight(t *testing.T) {
	r := call(250)
	r.Call.Phrase = gate
	r.Call.Lines[0].FirstTime = true
	d, shown := Demanded(catalogue(t), r, person()), everything(r)
	if d.Cause != Valuable || d.Least != "250" || d.Address != payee || d.Place != 17 || !d.Payee {
		t.Fatalf("%+v", d)
	}
	if _, err := Give(r, d, Answers{shown, gate, "250.00", "3a19"}); err != nil {
		t.Error(err)
	}
	for _, a := range []Answers{{shown, "", "250", "3A19"}, {shown, gate + ".", "250", "3A19"},
		{shown, gate, "", "3A19"}, {shown, gate, "25", "3A19"}, {shown, gate, "250", ""},
		{shown, gate, "250", "3A18"}, {shown, gate, "250", payee[len(payee)-4:]}} {
		if _, err := Give(r, d, a); !errors.Is(err, ErrTyped) {
			t.Errorf("%q, %q and %q: %v", a.Phrase, a.Amount, a.Letters, err)
		}
	}
	cheap := call(25)
	cheap.Call.Fingerprint, cheap.Call.Phrase = "aaaa 0002", gate
	for name, of := range map[string]Demand{"none": {}, "another review": Demanded(catalogue(t), cheap, person())} {
		if _, err := Give(r, of, Answers{Shown: shown, Phrase: of.Phrase}); !errors.Is(err, ErrTyped) {
			t.Errorf("with the demand of %s: %v", name, err)
		}
	}
}

func TestACommandNamesEveryWarningAndTypesEverySentence(t *testing.T) {
	r := call(25)
	r.Call.Phrase = gate
	r.Report.Reasons = []verify.Reason{{Code: "V4", Level: verify.Warn}, {Code: "Q11", Level: verify.Unknown},
		{Code: "P5", Level: verify.Unknown}, {Code: "T7", Level: verify.Gate, Open: true}}
	if _, err := ByPolicy(r, []string{"V4", "Q11"}, []string{gate}); err != nil {
		t.Error(err)
	}
	for _, accepted := range [][]string{nil, {"V4"}, {"Q11"}, {"P5"}} {
		if _, err := ByPolicy(r, accepted, []string{gate}); !errors.Is(err, ErrWarnings) {
			t.Errorf("%v: %v", accepted, err)
		}
	}
	if _, err := ByPolicy(r, []string{"V4", "Q11"}, []string{"yes"}); !errors.Is(err, ErrTyped) {
		t.Error("a gate was passed without its sentence")
	}
}

func TestNothingThatWasRefusedOrDiffersFromTheIntentIsConsentedTo(t *testing.T) {
	for name, change := range map[string]func(*Review){
		"a refusal":       func(r *Review) { r.Report.Reasons = []verify.Reason{{Code: "P1", Level: verify.Refuse}} },
		"a closed gate":   func(r *Review) { r.Report.Reasons = []verify.Reason{{Code: "T7", Level: verify.Gate}} },
		"another target":  func(r *Review) { r.Call.Lines[0].To = payee },
		"another value":   func(r *Review) { r.Call.Lines[0].Value = big.NewInt(1) },
		"a call too many": func(r *Review) { r.Call.Lines = append(r.Call.Lines, r.Call.Lines[0]) },
		"a call missing":  func(r *Review) { r.Call.Lines = nil },
		"a call not as asked, whatever its bytes": func(r *Review) { r.Call.Lines[0].AsAsked = false },
	} {
		r := call(25)
		change(&r)
		if _, err := Give(r, Demand{}, Answers{Shown: everything(r)}); !errors.Is(err, ErrUnlike) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ByPolicy(r, []string{"P1", "T7"}, nil); !errors.Is(err, ErrUnlike) {
			t.Errorf("%s, by policy: %v", name, err)
		}
	}
	if _, err := Give(Review{}, Demand{}, Answers{}); !errors.Is(err, ErrNothing) {
		t.Error("there was nothing to consent to")
	}
}

func TestAConsentPermitsTheReviewItWasGivenForAndNoOther(t *testing.T) {
	c, err := ByPolicy(call(25), nil, nil)
	if err != nil || !c.Permits(call(25)) {
		t.Fatal(err)
	}
	if (Consent{}).Permits(call(25)) || (Consent{}).Permits(Review{}) {
		t.Error("the zero Consent permits something")
	}
	for name, change := range map[string]func(*Review){
		"document": func(r *Review) { r.Call.Fingerprint = "aaaa 0002" },
		"amount":   func(r *Review) { r.Call.Outflow = []verify.AmountView{dollars(26)} },
		"payee":    func(r *Review) { r.Call.Lines[0].Recipient = usdc },
		"end":      func(r *Review) { r.Call.Window.Until = r.Call.Window.Until.Add(time.Second) },
		"sentence": func(r *Review) { r.Call.Phrase = gate },
		"finding":  func(r *Review) { r.Report.Reasons = []verify.Reason{{Code: "V4", Level: verify.Warn}} },
		"quote":    func(r *Review) { r.Quote = &verify.QuoteView{Fingerprint: "aaaa 0001"} },
	} {
		r := call(25)
		change(&r)
		if c.Permits(r) {
			t.Errorf("another %s is permitted", name)
		}
	}
}
