package builder

import (
	"reflect"
	"strings"
	"testing"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

const (
	nobody   = "0x1111111111111111111111111111111111111111"
	onSolana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
)

// openOn opens the list of a row and types into it.
func (r *rig) openOn(id, text string) *rig {
	r.t.Helper()
	r.s.leaveField()
	r.s.focus = id
	if got := r.s.current().id; got != id {
		r.t.Fatalf("there is no row %s", id)
	}
	r.do(r.s.list(r.s.current()))
	return r.typeText(text)
}

// TestWhatIsTypedIntoAListIsTaken covers typed text and enter in every list of the builder that offers items and takes
// free text as well.
func TestWhatIsTypedIntoAListIsTaken(t *testing.T) {
	pays := func(r *rig) { r.press("t").pick(compose.IDPay, usdcChoice) }
	named := func(r *rig) {
		r.s.Book = append(r.s.Book, compose.Contact{Name: "2nd office", Address: nobody})
		pays(r)
	}
	swaps := func(r *rig) {
		r.press("w").pick(compose.IDPay, usdcChoice).pick(compose.IDReceive, ethBase).fill(compose.IDAmount,
			"500").press("esc")
	}
	calls := func(r *rig) {
		r.fill(compose.IDTo(0), usdc).fill(compose.IDSig(0), "transfer(address to, uint256 amount)").press("esc")
	}
	allows := func(r *rig) { r.do(r.s.addAllowance(usdcBase)) }
	assumes := func(r *rig) { r.s.addOverride() }
	amount := func(r *rig) string { return r.s.x[r.s.form].Amount }
	to := func(r *rig) string { return r.s.x[r.s.form].To }
	least := func(r *rig) string { return r.s.x[r.s.form].Minimum }
	contract := func(r *rig) string { return r.s.b.Calls[0].To }
	sig := func(r *rig) string { return r.s.b.Calls[0].Signature }
	data := func(r *rig) string { return r.s.b.Calls[0].Data }
	arg := func(r *rig) string { return r.s.b.Calls[0].Args[0].Text }
	share := func(r *rig) string {
		return present.Percent(r.s.shown().Tolerance().Bps()) + ", " + r.s.shown().Tolerance().Text
	}
	valid := func(r *rig) string { return span(r.s.b.Valid, minutesText) }
	starts := func(r *rig) string { return span(r.s.b.Start, startText) }
	for _, c := range []struct {
		list  string
		ready func(*rig)
		id    string
		text  string
		got   func(*rig) string
		want  string
		wrong string // the row with the mistake
	}{
		{"amount", pays, compose.IDAmount, "2", amount, "2", ""},
		{"amount", pays, compose.IDAmount, "2275", amount, "2275", ""},
		{"amount", pays, compose.IDAmount, "1.5 USDC", amount, "1.5 USDC", ""},
		{"amount", pays, compose.IDAmount, ".5", amount, ".5", compose.IDAmount},
		{"amount", pays, compose.IDAmount, "max", amount, "2275", ""},
		{"amount", pays, compose.IDAmount, "every", amount, "2275", ""},
		{"amount", pays, compose.IDAmount, "half", amount, "1137.5", ""},
		{"amount", pays, compose.IDAmount, "a lot", amount, "a lot", compose.IDAmount},
		{"amount", pays, compose.IDAmount, "type", amount, "type", compose.IDAmount},
		{"amount", func(r *rig) { r.press("t") }, compose.IDAmount, "25", amount, "25", ""},
		{"amount of a swap", swaps, compose.IDAmount, "5", amount, "5", ""},
		{"at least", swaps, compose.IDMin, "0", least, "0", compose.IDMin},
		{"at least", swaps, compose.IDMin, "0.1", least, "0.1", ""},
		{"at least", swaps, compose.IDMin, "1.00 %", least, "1.00 %", compose.IDMin},
		{"at least", swaps, compose.IDMin, "none", least, "", ""},
		{"recipient", pays, compose.IDTarget, nobody, to, nobody, ""},
		{"recipient", pays, compose.IDTarget, "0x1111", to, "0x1111", compose.IDTarget},
		{"recipient", pays, compose.IDTarget, "payee", to, present.Checksummed(payee), ""},
		{"recipient", pays, compose.IDTarget, "your", to, account, ""},
		{"recipient", named, compose.IDTarget, "2nd", to, nobody, ""},
		{"recipient", pays, compose.IDTarget, "usdc", to, "usdc", compose.IDTarget},
		{"recipient", pays, compose.IDTarget, "nobody", to, "nobody", compose.IDTarget},
		{"recipient", pays, compose.IDTarget, "eip155:42161:" + nobody, to, nobody, ""},
		{"recipient", pays, compose.IDTarget, onSolana, to, onSolana[strings.LastIndex(onSolana, ":")+1:], ""},
		{"recipient of a swap", swaps, compose.IDTarget, nobody, to, nobody, ""},
		{"contract", nil, compose.IDTo(0), nobody, contract, nobody, ""},
		{"contract", nil, compose.IDTo(0), "usdc", contract, usdc, ""},
		{"contract", nil, compose.IDTo(0), "833589", contract, "833589", compose.IDTo(0)},
		{"address of a call", calls, compose.IDArg(0, []int{0}), nobody, arg, nobody, ""},
		{"address of a call", calls, compose.IDArg(0, []int{0}), "demo", arg, present.Checksummed(payee), ""},
		{"address of a call", calls, compose.IDArg(0, []int{0}), "who", arg, "who", compose.IDArg(0, []int{0})},
		{"spender", allows, compose.IDAllowance(0, "spender"), nobody,
			func(r *rig) string { return r.s.b.Allow[0].Spender }, nobody, ""},
		{"assumed state", assumes, compose.IDOverride(0, "address"), nobody,
			func(r *rig) string { return r.s.b.Overrides[0].Address }, nobody, ""},
		{"function", nil, compose.IDSig(0), "transferFr", sig, "transferFrom(address from, address to, uint256 amount)",
			""},
		{"function", nil, compose.IDSig(0), "transfer(address)", sig, "transfer(address)", compose.IDArg(0, []int{0})},
		{"function", nil, compose.IDSig(0), "fill(uint8", sig, "fill(uint8", compose.IDSig(0)},
		{"function", nil, compose.IDSig(0), "raw", data, "0x", ""},
		{"function", nil, compose.IDSig(0), "gibberish", sig, "gibberish", compose.IDSig(0)},
		{"function", nil, compose.IDSig(0), `[{"type":"function","name":"poke","inputs":[]}]`, sig, "poke()", ""},
		{"function", nil, compose.IDSig(0), `[{"type":`, sig, `[{"type":`, compose.IDSig(0)},
		{"function", nil, compose.IDSig(0), "0xdeadbeef01", data, "0xdeadbeef01", ""},
		{"function", nil, compose.IDSig(0), "0xdeadbeef0", data, "0xdeadbeef0", compose.IDData(0)},
		{"function", nil, compose.IDSig(0), "0x12", data, "0x12", ""},
		{"slippage", nil, compose.IDSlip, "1", share, "0.01 %, 1", ""},
		{"slippage", nil, compose.IDSlip, "100", share, "1.00 %, 100", ""},
		{"slippage", nil, compose.IDSlip, "0.7 %", share, "0.70 %, 0.7 %", ""},
		{"slippage", nil, compose.IDSlip, "0.5 %", share, "0.50 %, 0.5 %", ""},
		{"slippage", nil, compose.IDSlip, "1.00 %", share, "1.00 %, 50", ""},
		{"slippage", nil, compose.IDSlip, "0.1", share, "0.00 %, 0.1", compose.IDSlipBps},
		{"slippage", nil, compose.IDSlip, "little", share, "0.00 %, little", compose.IDSlipBps},
		{"slippage of a transfer", pays, compose.IDSlip, "70", share, "0.70 %, 70", ""},
		{"valid", nil, compose.IDValid, "1", valid, "own 1", compose.IDValid + compose.OwnText},
		{"valid", nil, compose.IDValid, "5", valid, "5 minutes", ""},
		{"valid", nil, compose.IDValid, "7 min", valid, "own 7", ""},
		{"valid", nil, compose.IDValid, "10 minutes", valid, "10 minutes", ""},
		{"valid", nil, compose.IDValid, "ages", valid, "own ages", compose.IDValid + compose.OwnText},
		{"starts", nil, compose.IDAfter, "0", starts, "at once", ""},
		{"starts", nil, compose.IDAfter, "3", starts, "own 3", ""},
		{"starts", nil, compose.IDAfter, "at once", starts, "at once", ""},
		{"a moment that came with a draft", func(r *rig) { r.s.b.After = "1795262700" }, compose.IDAfter, "3",
			func(r *rig) string { return r.s.b.After + starts(r) }, "own 3", ""},
	} {
		for _, pasted := range []bool{false, true} {
			r := newRig(t)
			if c.ready != nil {
				c.ready(r)
			}
			if pasted {
				r.openOn(c.id, "").paste("\n" + c.text + "\n")
			} else {
				r.openOn(c.id, c.text)
			}
			if v := r.view(); r.s.choice.IsOpen() && strings.Contains(v, "nothing matches") {
				t.Errorf("%s, %q:\n%s", c.list, c.text, v)
			}
			if r.s.choice.IsOpen() { // pasted call data and documents are taken at once
				r.press("enter")
			}
			// a remark refuses a document that cannot be read, as in the field
			if pasted && c.text[0] == '[' && c.wrong != "" {
				if !strings.Contains(r.toast(), "o reads an intent") {
					t.Errorf("%q: %q", c.text, r.toast())
				}
				continue
			}
			if got := c.got(r); !strings.EqualFold(got, c.want) || r.s.choice.IsOpen() {
				t.Errorf("%s, %q (pasted: %v): got %q, want %q", c.list, c.text, pasted, got, c.want)
			}
			r.s.tried = c.wrong != ""
			if wrong := r.s.mistakes(); c.wrong != "" && wrong[c.wrong] == "" {
				t.Errorf("%s, %q: no mistake at %s: %v", c.list, c.text, c.wrong, wrong)
			} else if c.wrong == "" && wrong[c.id] != "" {
				t.Errorf("%s, %q: %q", c.list, c.text, wrong[c.id])
			}
		}
	}
}

// span is a choice of minutes in the form that a test compares.
func span(m compose.Choice, of func(int) string) string {
	if m.Preset == compose.OwnMinutes {
		return "own " + m.Text
	}
	return of(m.Preset)
}

func TestAListThatTakesItsItemsOnlySaysThatNothingMatches(t *testing.T) {
	for id, ready := range map[string]func(*rig){
		compose.IDChain: nil, compose.IDFund: nil, idAddNeed: func(r *rig) { r.s.ownNeeds() }, compose.IDAllow: nil,
		compose.IDPay: func(r *rig) { r.press("t") }, compose.IDReceive: func(r *rig) { r.press("w") },
		compose.IDArg(0, []int{0}): func(r *rig) { r.fill(compose.IDSig(0), "set(bool on)").press("esc") },
	} {
		r := newRig(t)
		if ready != nil {
			ready(r)
		}
		before := r.s.desk()
		r.openOn(id, "nothing of that").press("enter")
		if !r.s.choice.IsOpen() || !strings.Contains(r.view(), "nothing matches") {
			t.Errorf("%s:\n%s", id, r.view())
		}
		if r.press("esc"); !reflect.DeepEqual(before, r.s.desk()) {
			t.Errorf("%s: something was taken", id)
		}
	}
}

func TestTheBoxSaysWhatEnterDoesWithWhatWasTyped(t *testing.T) {
	r := newRig(t)
	r.press("t")
	for id, text := range map[string]string{compose.IDTarget: nobody, compose.IDAmount: "25"} {
		v := r.openOn(id, text).view()
		if !strings.Contains(v, "what you typed, as the") || !strings.Contains(v, "enter takes what you typed") ||
			strings.Contains(v, "nothing matches") {
			t.Errorf("%s:\n%s", id, v)
		}
		r.press("esc")
	}
	if v := r.openOn(compose.IDSlip, "1").view(); !strings.Contains(v, "= 0.01 %") {
		t.Errorf("it is not said what 1 means:\n%s", v)
	}
}

func TestTextThatIsTooLongForItsFieldIsNotCut(t *testing.T) {
	for id, text := range map[string]string{compose.IDAmount: strings.Repeat("1", 101),
		compose.IDTarget: strings.Repeat("a", 161),
		compose.IDSlip:   "0.7000000000 %"} {
		r := newRig(t)
		r.press("t").openOn(id, "").paste(text).press("enter")
		if !r.s.choice.IsOpen() || r.s.choice.Text() != text || !strings.Contains(r.view(), tooLong) {
			t.Errorf("%s:\n%s", id, r.view())
		}
	}
	r := newRig(t)
	r.press("t").openOn(compose.IDAmount, "7").paste(strings.Repeat("1", kit.FilterLimit))
	if r.s.choice.Text() != "7" || !strings.Contains(r.toast(), "too long") {
		t.Errorf("%d characters, %q", len(r.s.choice.Text()), r.toast())
	}
}

func TestALongDocumentPastedIntoTheListOfFunctionsIsTakenAtOnce(t *testing.T) {
	r := newRig(t)
	r.openOn(compose.IDSig(0), "").paste("[" + strings.Repeat(`{"type":"function","name":"poke","inputs":[]},`, 300) +
		"\n" +
		`{"type":"function","name":"prod","inputs":[]}]`)
	if !r.s.choice.IsOpen() || !strings.Contains(r.view(), "Function of the ABI") {
		t.Fatal(r.view())
	}
	if r.typeText("prod").press("enter"); r.s.b.Calls[0].Signature != "prod()" {
		t.Errorf("%q", r.s.b.Calls[0].Signature)
	}
	r = newRig(t)
	r.openOn(compose.IDSig(0), "").paste("0xd0e30db0")
	if r.s.choice.IsOpen() || r.s.b.Calls[0].Signature != "deposit()" {
		t.Errorf("%q", r.s.b.Calls[0].Signature)
	}
}
