package builder

import (
	"testing"

	"coffer/api"
)

func sizes(t *testing.T, name string, to func(*rig)) {
	for _, z := range []struct {
		suffix string
		w, h   int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
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
	sizes(t, "typing", func(r *rig) { r.press("d").on(idArg(0, []int{1})) })
}

func TestGoldenMistakes(t *testing.T) {
	sizes(t, "mistakes", func(r *rig) {
		r.press("d")
		r.on(idArg(0, []int{0})).press("backspace").typeText("7")
		r.on(idArg(0, []int{1})).typeText("1234567")
		r.fill(idValue(0), "x").press("esc")
	})
}

func TestGoldenApprove(t *testing.T) {
	sizes(t, "approve", func(r *rig) {
		r.fill(idTo(0), "USDC").fill(idSig(0), "approve(address spender, uint256 amount)").fill(idArg(0, []int{0}), router).fill(idArg(0, []int{1}), "100").press("esc")
		r.s.focus = idSig(0)
	})
}

func TestGoldenNested(t *testing.T) {
	sizes(t, "nested", func(r *rig) {
		r.fill(idTo(0), router).fill(idSig(0), "swap((address token, uint256[] amounts)[] steps, bytes note, bool exact)")
		r.press("esc")
		r.s.focus = idArg(0, []int{0})
		r.press("+")
		r.s.focus = idArg(0, []int{0, 0, 1})
		r.press("+", "+")
	})
}

func TestGoldenServiceFailures(t *testing.T) {
	sizes(t, "failures", func(r *rig) {
		r.press("d")
		in := r.frozen()
		r.s.frozen = in.ID()
		r.s.restore(in.Draft(), []api.Failure{
			{Path: "calls[0].to", Expected: "a contract with code", Got: "an address without code"}, {Path: "accounts[0].type", Expected: "something else", Got: "kernel"},
		})
	})
}

func TestGoldenLists(t *testing.T) {
	sizes(t, "list-function", func(r *rig) { r.s.focus = idSig(0); r.press("enter") })
	sizes(t, "list-fund", func(r *rig) { r.press("d"); r.s.focus = idFund; r.press("enter") })
}
