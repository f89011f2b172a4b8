package builder

import (
	"reflect"
	"strings"
	"testing"

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
	pays := func(r *rig) { r.press("t").pick(idPay, usdcChoice) }
	named := func(r *rig) {
		r.s.deps.Book = append(r.s.deps.Book, Contact{Name: "2nd office", Address: nobody})
		pays(r)
	}
	swaps := func(r *rig) {
		r.press("w").pick(idPay, usdcChoice).pick(idReceive, ethBase).fill(idAmount, "500").press("esc")
	}
	calls := func(r *rig) {
		r.fill(idTo(0), usdc).fill(idSig(0), "transfer(address to, uint256 amount)").press("esc")
	}
	allows := func(r *rig) { r.do(r.s.addAllowance(usdcBase)) }
	assumes := func(r *rig) { r.s.addOverride() }
	amount := func(r *rig) string { return r.s.x[r.s.form].amount.Value() }
	to := func(r *rig) string { return r.s.x[r.s.form].to.Value() }
	least := func(r *rig) string { return r.s.x[r.s.form].min.Value() }
	contract := func(r *rig) string { return r.s.b.calls[0].to.Value() }
	sig := func(r *rig) string { return r.s.b.calls[0].sig.Value() }
	data := func(r *rig) string { return r.s.b.calls[0].data.Value() }
	arg := func(r *rig) string { return r.s.b.calls[0].args[0].field.Value() }
	share := func(r *rig) string { return bpsText(r.s.slip().bps()) + ", " + r.s.slip().own.Value() }
	valid := func(r *rig) string { return r.s.b.valid.words(minutesText) }
	starts := func(r *rig) string { return r.s.b.start.words(startText) }
	for _, c := range []struct {
		list  string
		ready func(*rig)
		id    string
		text  string
		got   func(*rig) string
		want  string
		wrong string // the row with the mistake
	}{
		{"amount", pays, idAmount, "2", amount, "2", ""},
		{"amount", pays, idAmount, "2275", amount, "2275", ""},
		{"amount", pays, idAmount, "1.5 USDC", amount, "1.5 USDC", ""},
		{"amount", pays, idAmount, ".5", amount, ".5", idAmount},
		{"amount", pays, idAmount, "max", amount, "2275", ""},
		{"amount", pays, idAmount, "every", amount, "2275", ""},
		{"amount", pays, idAmount, "half", amount, "1137.5", ""},
		{"amount", pays, idAmount, "a lot", amount, "a lot", idAmount},
		{"amount", pays, idAmount, "type", amount, "type", idAmount},
		{"amount", func(r *rig) { r.press("t") }, idAmount, "25", amount, "25", ""},
		{"amount of a swap", swaps, idAmount, "5", amount, "5", ""},
		{"at least", swaps, idMin, "0", least, "0", idMin},
		{"at least", swaps, idMin, "0.1", least, "0.1", ""},
		{"at least", swaps, idMin, "1.00 %", least, "1.00 %", idMin},
		{"at least", swaps, idMin, "none", least, "", ""},
		{"recipient", pays, idTarget, nobody, to, nobody, ""},
		{"recipient", pays, idTarget, "0x1111", to, "0x1111", idTarget},
		{"recipient", pays, idTarget, "payee", to, present.Checksummed(payee), ""},
		{"recipient", pays, idTarget, "your", to, account, ""},
		{"recipient", named, idTarget, "2nd", to, nobody, ""},
		{"recipient", pays, idTarget, "usdc", to, "usdc", idTarget},
		{"recipient", pays, idTarget, "nobody", to, "nobody", idTarget},
		{"recipient", pays, idTarget, "eip155:42161:" + nobody, to, nobody, ""},
		{"recipient", pays, idTarget, onSolana, to, onSolana[strings.LastIndex(onSolana, ":")+1:], ""},
		{"recipient of a swap", swaps, idTarget, nobody, to, nobody, ""},
		{"contract", nil, idTo(0), nobody, contract, nobody, ""},
		{"contract", nil, idTo(0), "usdc", contract, usdc, ""},
		{"contract", nil, idTo(0), "833589", contract, "833589", idTo(0)},
		{"address of a call", calls, idArg(0, []int{0}), nobody, arg, nobody, ""},
		{"address of a call", calls, idArg(0, []int{0}), "demo", arg, present.Checksummed(payee), ""},
		{"address of a call", calls, idArg(0, []int{0}), "who", arg, "who", idArg(0, []int{0})},
		{"spender", allows, idAllowRow(0, "spender"), nobody,
			func(r *rig) string { return r.s.b.allow[0].spender.Value() }, nobody, ""},
		{"assumed state", assumes, idOverRow(0, "address"), nobody,
			func(r *rig) string { return r.s.b.over[0].address.Value() }, nobody, ""},
		{"function", nil, idSig(0), "transferFr", sig, "transferFrom(address from, address to, uint256 amount)", ""},
		{"function", nil, idSig(0), "transfer(address)", sig, "transfer(address)", idArg(0, []int{0})},
		{"function", nil, idSig(0), "fill(uint8", sig, "fill(uint8", idSig(0)},
		{"function", nil, idSig(0), "raw", data, "0x", ""},
		{"function", nil, idSig(0), "gibberish", sig, "gibberish", idSig(0)},
		{"function", nil, idSig(0), `[{"type":"function","name":"poke","inputs":[]}]`, sig, "poke()", ""},
		{"function", nil, idSig(0), `[{"type":`, sig, `[{"type":`, idSig(0)},
		{"function", nil, idSig(0), "0xdeadbeef01", data, "0xdeadbeef01", ""},
		{"function", nil, idSig(0), "0xdeadbeef0", data, "0xdeadbeef0", idData(0)},
		{"function", nil, idSig(0), "0x12", data, "0x12", ""},
		{"slippage", nil, idSlip, "1", share, "0.01 %, 1", ""},
		{"slippage", nil, idSlip, "100", share, "1.00 %, 100", ""},
		{"slippage", nil, idSlip, "0.7 %", share, "0.70 %, 0.7 %", ""},
		{"slippage", nil, idSlip, "0.5 %", share, "0.50 %, 0.5 %", ""},
		{"slippage", nil, idSlip, "1.00 %", share, "1.00 %, 50", ""},
		{"slippage", nil, idSlip, "0.1", share, "0.00 %, 0.1", idSlipBps},
		{"slippage", nil, idSlip, "little", share, "0.00 %, little", idSlipBps},
		{"slippage of a transfer", pays, idSlip, "70", share, "0.70 %, 70", ""},
		{"valid", nil, idValid, "1", valid, "own 1", idValid + ownSuffix},
		{"valid", nil, idValid, "5", valid, "5 minutes", ""},
		{"valid", nil, idValid, "7 min", valid, "own 7", ""},
		{"valid", nil, idValid, "10 minutes", valid, "10 minutes", ""},
		{"valid", nil, idValid, "ages", valid, "own ages", idValid + ownSuffix},
		{"starts", nil, idAfter, "0", starts, "at once", ""},
		{"starts", nil, idAfter, "3", starts, "own 3", ""},
		{"starts", nil, idAfter, "at once", starts, "at once", ""},
		{"a moment that came with a draft", func(r *rig) { r.s.b.after = "1795262700" }, idAfter, "3",
			func(r *rig) string { return r.s.b.after + starts(r) }, "own 3", ""},
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

// words are the span in the form that a test compares.
func (m minutes) words(of func(int) string) string {
	if m.preset == ownPreset {
		return "own " + m.field.Value()
	}
	return of(m.preset)
}

func TestAListThatTakesItsItemsOnlySaysThatNothingMatches(t *testing.T) {
	for id, ready := range map[string]func(*rig){
		idChain: nil, idFund: nil, idAddNeed: func(r *rig) { r.s.ownNeeds() }, idAllow: nil,
		idPay: func(r *rig) { r.press("t") }, idReceive: func(r *rig) { r.press("w") },
		idArg(0, []int{0}): func(r *rig) { r.fill(idSig(0), "set(bool on)").press("esc") },
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
	for id, text := range map[string]string{idTarget: nobody, idAmount: "25"} {
		v := r.openOn(id, text).view()
		if !strings.Contains(v, "what you typed, as the") || !strings.Contains(v, "enter takes what you typed") ||
			strings.Contains(v, "nothing matches") {
			t.Errorf("%s:\n%s", id, v)
		}
		r.press("esc")
	}
	if v := r.openOn(idSlip, "1").view(); !strings.Contains(v, "= 0.01 %") {
		t.Errorf("it is not said what 1 means:\n%s", v)
	}
}

func TestTextThatIsTooLongForItsFieldIsNotCut(t *testing.T) {
	for id, text := range map[string]string{idAmount: strings.Repeat("1", 101), idTarget: strings.Repeat("a", 161),
		idSlip: "0.7000000000 %"} {
		r := newRig(t)
		r.press("t").openOn(id, "").paste(text).press("enter")
		if !r.s.choice.IsOpen() || r.s.choice.Text() != text || !strings.Contains(r.view(), tooLong) {
			t.Errorf("%s:\n%s", id, r.view())
		}
	}
	r := newRig(t)
	r.press("t").openOn(idAmount, "7").paste(strings.Repeat("1", kit.FilterLimit))
	if r.s.choice.Text() != "7" || !strings.Contains(r.toast(), "too long") {
		t.Errorf("%d characters, %q", len(r.s.choice.Text()), r.toast())
	}
}

func TestALongDocumentPastedIntoTheListOfFunctionsIsTakenAtOnce(t *testing.T) {
	r := newRig(t)
	r.openOn(idSig(0), "").paste("[" + strings.Repeat(`{"type":"function","name":"poke","inputs":[]},`, 300) + "\n" +
		`{"type":"function","name":"prod","inputs":[]}]`)
	if !r.s.choice.IsOpen() || !strings.Contains(r.view(), "Function of the pasted ABI") {
		t.Fatal(r.view())
	}
	if r.typeText("prod").press("enter"); r.s.b.calls[0].sig.Value() != "prod()" {
		t.Errorf("%q", r.s.b.calls[0].sig.Value())
	}
	r = newRig(t)
	r.openOn(idSig(0), "").paste("0xd0e30db0")
	if r.s.choice.IsOpen() || r.s.b.calls[0].sig.Value() != "deposit()" {
		t.Errorf("%q", r.s.b.calls[0].sig.Value())
	}
}
