package kit

import (
	"math/big"
	"strings"

	"coffer/ui/present"
	"coffer/ui/tui/theme"
)

// BarCell is a share bar as a table cell: part of total fills so much of w cells, to the nearest step of its last cell.
// Anything above zero fills at least one step; an unknown part or total gives blanks.
func BarCell(th theme.Theme, part, total *big.Int, w int) Cell {
	if part == nil || total == nil || total.Sign() <= 0 || w <= 0 {
		return Cell{}
	}
	steps := len(th.Signs.BarParts) + 1
	n := new(big.Int).Mul(part, big.NewInt(int64(w*steps)*2))
	n.Quo(n.Add(n, total), new(big.Int).Lsh(total, 1)) // rounded to the nearest step
	full := w * steps
	if n.Cmp(big.NewInt(int64(full))) < 0 {
		full = max(int(n.Int64()), part.Sign(), 0)
	}
	bar := strings.Repeat(th.Signs.BarFull, full/steps)
	if rest := full % steps; rest > 0 {
		bar += th.Signs.BarParts[rest-1]
	}
	return Styled(bar, th.Accent)
}

// Area draws values as columns in h lines, between their smallest and largest; nil values are blanks.
func Area(th theme.Theme, values []*big.Int, h int) []string {
	lo, hi := present.Bounds(values)
	steps := len(th.Signs.Sparks)
	out := make([]string, h)
	for _, v := range values {
		filled := 0
		if v != nil {
			filled = 1 + level(v, lo, hi, h*steps)
		}
		for i := range out {
			sign := " "
			if part := filled - (h-1-i)*steps; part > 0 {
				sign = th.Signs.Sparks[min(part, steps)-1]
			}
			out[i] += sign
		}
	}
	return out
}

// Spark draws the last w values as a line of bars between their smallest and largest; nil values are blanks.
func Spark(th theme.Theme, values []*big.Int, w int) string {
	if len(values) > w {
		values = values[len(values)-max(0, w):]
	}
	lo, hi := present.Bounds(values)
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(th.Signs.Sparks[level(v, lo, hi, len(th.Signs.Sparks))])
	}
	return b.String()
}

func level(v, lo, hi *big.Int, steps int) int {
	room := new(big.Int).Sub(hi, lo)
	if room.Sign() == 0 {
		return 0
	}
	at := new(big.Int).Sub(v, lo)
	at.Mul(at, big.NewInt(int64(steps-1)))
	return int(at.Quo(at, room).Int64())
}
