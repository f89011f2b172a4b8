package kit

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// Figure is an amount in two parts: the significant digits, and trailing zeros that are drawn dim.
type Figure struct{ Main, Zeros string }

// String returns both parts.
func (f Figure) String() string { return f.Main + f.Zeros }

// Cell is the figure as a table cell.
func (f Figure) Cell(th theme.Theme) Cell {
	return Cell{Text: f.Main, Tail: f.Zeros, TailStyle: th.Dim}
}

// Exact is present.Exact as a figure.
func Exact(v *big.Int, decimals int) Figure { return figure(present.Exact(v, decimals)) }

func figure(digits, zeros string) Figure { return Figure{digits, zeros} }

// Short writes at most shown decimals, rounded towards zero, and marks a loss: "…" (more) follows when it drops digits
// other than zeros, and an amount too small to show is "<0.000001". With at least shown decimals the point is shown+2
// cells from the right end, so that figures line up. nil is "?".
func Short(v *big.Int, decimals, shown int, more string) Figure {
	if v == nil || decimals < 0 || decimals > amount.MaxDecimals {
		return Figure{Main: present.UnknownText + strings.Repeat(" ", shown+2)}
	}
	cut := amount.Scale(v, decimals, min(decimals, shown))
	rest := new(big.Int).Sub(v, amount.Scale(cut, min(decimals, shown), decimals))
	if cut.Sign() == 0 && rest.Sign() != 0 {
		tiny := amount.Format(big.NewInt(1), min(decimals, shown))
		if v.Sign() < 0 {
			tiny = "-" + tiny
		}
		return Figure{Main: "<" + tiny + " "}
	}
	f := figure(present.Zeros(amount.Group(amount.Format(cut, min(decimals, shown)))))
	pad := shown - min(decimals, shown)
	if decimals == 0 || shown == 0 {
		pad = shown + 1
	}
	if rest.Sign() != 0 {
		f.Main, f.Zeros = f.Main+f.Zeros+more, ""
		return f
	}
	f.Zeros += strings.Repeat(" ", pad+1)
	return f
}

// Shown writes figures such as "250.5 USDC" as they are, or without their number.
func Shown(th theme.Theme, hidden bool) func(figure string) string {
	if !hidden {
		return func(figure string) string { return figure }
	}
	return func(figure string) string {
		if figure == "" {
			return ""
		}
		_, unit, _ := strings.Cut(figure, " ")
		return strings.TrimSpace(Masked(th) + " " + unit)
	}
}

// Masked hides a figure: the same few cells for any size.
func Masked(th theme.Theme) string { return strings.Repeat(th.Signs.Mask, 5) }
