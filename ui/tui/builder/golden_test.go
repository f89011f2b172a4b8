package builder

import (
	"slices"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

func sizes(t *testing.T, name string, to func(*rig)) {
	ends := slices.Contains([]string{"filled", "mistakes", "transfer-mistakes", "swap", "overrides"}, name)
	for _, z := range []struct {
		suffix string
		w, h   int
	}{{"60x20", 60, 15}, {"80x24", 80, 19}, {"120x40", 120, 35}, {"200x60", 200, 55}} {
		if (z.w > 120 || z.w < 80) && !ends {
			continue
		}
		t.Run(z.suffix, func(t *testing.T) {
			r := newRig(t)
			r.w, r.h = z.w, z.h
			to(r)
			r.golden(name + "-" + z.suffix)
		})
	}
}

func TestGoldenEmpty(t *testing.T) { sizes(t, "empty", func(*rig) {}) }

func TestGoldenFilled(t *testing.T) { sizes(t, "filled", func(r *rig) { r.press("d") }) }

func TestGoldenTyping(t *testing.T) {
	sizes(t, "typing", func(r *rig) { r.press("d").on(compose.IDArg(0, []int{1})) })
}

func TestGoldenMistakes(t *testing.T) {
	sizes(t, "mistakes", func(r *rig) {
		r.press("d")
		r.on(compose.IDArg(0, []int{0})).press("backspace").typeText("7")
		r.on(compose.IDArg(0, []int{1})).typeText("1234567")
		r.fill(compose.IDValue(0), "x").press("esc")
		r.s.focus = compose.IDValue(0)
	})
}

func TestGoldenApprove(t *testing.T) {
	sizes(t, "approve", func(r *rig) {
		r.fill(compose.IDTo(0), "USDC").fill(compose.IDSig(0),
			"approve(address spender, uint256 amount)").fill(compose.IDArg(0, []int{0}),
			router).fill(compose.IDArg(0, []int{1}), "100").press("esc")
	})
}

func TestGoldenNested(t *testing.T) {
	sizes(t, "nested", func(r *rig) {
		r.fill(compose.IDTo(0), router).fill(compose.IDSig(0),
			"swap((address token, uint256[] amounts)[] steps, bytes note, bool exact)")
		r.press("esc")
		r.s.focus = compose.IDArg(0, []int{0})
		r.press("+")
		r.s.focus = compose.IDArg(0, []int{0, 0, 1})
		r.press("+", "+")
	})
}

func TestGoldenServiceFailures(t *testing.T) {
	sizes(t, "failures", func(r *rig) {
		r.press("d")
		in := r.frozen()
		r.s.frozen = in.ID()
		r.s.restore(in.Draft(), []api.Failure{
			{Path: "calls[0].to", Expected: "a contract with code", Got: "an address without code"},
			{Path: "accounts[0].type", Expected: "something else", Got: "kernel"},
		})
	})
}

func TestGoldenLists(t *testing.T) {
	sizes(t, "list-function", func(r *rig) { r.s.focus = compose.IDSig(0); r.press("enter") })
	sizes(t, "list-fund", func(r *rig) { r.press("d"); r.s.focus = compose.IDFund; r.press("enter") })
}

func TestGoldenTransfer(t *testing.T) {
	sizes(t, "transfer", func(r *rig) { filledTransfer(r) })
	sizes(t, "transfer-empty", func(r *rig) { r.press("t") })
	sizes(t, "transfer-mistakes", func(r *rig) {
		r.s.PaidKnown = true
		filledTransfer(r)
		r.press("m")
		r.fill(compose.IDTarget, "").press("esc")
		r.s.x[intent.KindTransfer].To = stranger
		r.s.x[intent.KindTransfer].Amount = "9000"
		r.s.focus = compose.IDTarget
	})
	sizes(t, "transfer-alike", func(r *rig) {
		filledTransfer(r)
		r.s.x[intent.KindTransfer].To = "0x00c0000000000000000000000000000000000001"
		r.s.focus = compose.IDTarget
	})
}

func TestGoldenSwap(t *testing.T) {
	sizes(t, "swap", func(r *rig) {
		filledSwap(r)
		r.fill(compose.IDMin,
			"0.165").press("esc")
		r.s.focus = compose.IDMin
	})
	sizes(t, "list-receive", func(r *rig) { filledSwap(r); r.s.focus = compose.IDReceive; r.press("enter") })
}

func TestGoldenKept(t *testing.T) {
	sizes(t, "list-open", func(r *rig) {
		r.s = keepRig(r.t, &memory{}).s
		filledSwap(r)
		r.press("s").typeText("into ether").press("enter")
		r.press("o")
	})
	sizes(t, "import-refused", func(r *rig) {
		r.s = keepRig(r.t, &memory{}).s
		r.press("o", "enter").paste(`{"version":1}`).press("enter")
	})
	sizes(t, "imported", func(r *rig) {
		r.s = keepRig(r.t, &memory{}).s
		r.press("o", "enter").paste(`{"version":"1.0","chainId":"8453","meta":{},"transactions":[{"to":"` + router +
			`","value":"1000000000000000000000000000","data":"0x12345678ff"}]}`).press("enter")
	})
}

func TestGoldenOverrides(t *testing.T) {
	sizes(t, "overrides", func(r *rig) {
		r.press("d")
		r.s.addOverride()
		r.fill(compose.IDOverride(0, "address"), router).fill(compose.IDOverride(0, "balance"), "1.5").press("esc")
		r.s.addSlot(0)
		r.fill(compose.IDSlot(0, 0, "key"), "3").fill(compose.IDSlot(0, 0, "value"), "0xzz").press("esc")
		r.s.focus = compose.IDSlot(0, 0, "value")
	})
}

// TestGoldenColours fixes the colours on dark and on light terminals: mistakes, remarks, names and the chosen form.
func TestGoldenColours(t *testing.T) {
	for name, dark := range map[string]bool{"dark": true, "light": false} {
		sizes(t, "colours-"+name, func(r *rig) {
			r.look = theme.New(dark, colorprofile.TrueColor, false)
			filledTransfer(r)
			r.s.x[intent.KindTransfer].Amount = "0.1234567"
			r.s.x[intent.KindTransfer].To = "0x00c0000000000000000000000000000000000001"
			r.s.focus = compose.IDTarget
		})
	}
}

func BenchmarkKeyToFrameWithAHundredCalls(b *testing.B) {
	r := newRig(b)
	r.w, r.h = 120, 35
	r.press("d")
	for range api.MaxListed {
		r.s.focus = compose.IDTo(0)
		r.press("p")
	}
	for b.Loop() {
		r.press("down")
		r.view()
	}
}
