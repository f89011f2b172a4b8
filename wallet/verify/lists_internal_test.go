package verify

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTH_B4_EveryLookAlikeStandsForOneLetter(t *testing.T) {
	seen := map[rune]string{}
	n := 0
	for line := range strings.Lines(lookAlikes) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		to, rest, ok := strings.Cut(line, " ")
		if !ok || len(to) != 1 || !utf8.ValidString(rest) {
			t.Fatalf("%q", line)
		}
		for _, r := range rest {
			if other, twice := seen[r]; twice {
				t.Errorf("%c (%U) reads as %s and as %s", r, r, other, to)
			}
			if invisible(r) || r == ' ' {
				t.Errorf("%U is in the table but has no shape", r)
			}
			seen[r] = to
			n++
		}
	}
	if len(confusables()) != n {
		t.Errorf("%d of %d", len(confusables()), n)
	}
}

// TestTH_B4_StyledLettersReadAsPlainOnes spells the alphabet and the digits in every block.
func TestTH_B4_StyledLettersReadAsPlainOnes(t *testing.T) {
	spell := func(first rune, from, to rune) {
		for r := from; r <= to; r++ {
			if got := styled(first + r - from); got != r {
				t.Errorf("%U is %c, not %c", first+r-from, got, r)
			}
		}
	}
	for _, first := range []rune{0xFF21, 0x24B6, 0x1F1E6, 0x1F110, 0x1F130, 0x1F150, 0x1F170, 0x24D0, 0x249C} {
		spell(first, 'A', 'Z')
	}
	spell(0xFF41, 'a', 'z')
	for first := rune(0x1D400); first <= 0x1D670; first += 26 {
		spell(first, 'A', 'Z')
	}
	for first := rune(0x1D7CE); first <= 0x1D7F6; first += 10 {
		spell(first, '0', '9')
	}
	spell(0x2460, '1', '9')
	spell(0x2080, '0', '9')
	spell(0x2074, '4', '9')
	spell(0xFF10, '0', '9')
	for first := rune(0x1D6A8); first < 0x1D7C9; first += 58 {
		spell(first, 0x391, 0x391+16)
		spell(first+26, 0x3B1, 0x3C9)
	}
	for in, want := range map[rune]rune{0x2070: '0', 0xB9: '1', 0xB2: '2', 0xB3: '3', 0x1D6A4: 'I', 0x1D6C1: 0x1D6C1,
		0x1D6DB: 0x1D6DB, 0x1D6A5: 0x1D6A5, 'x': 'x', 0x24EA: 0x24EA, 0x1F18A: 0x1F18A} {
		if got := styled(in); got != want {
			t.Errorf("%U is %U", in, got)
		}
	}
}
