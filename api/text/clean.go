// Package text holds the one gate through which every string of a foreign document passes before it can reach a screen,
// a log line or an error (TH-R1): letters, numbers, punctuation, symbols and the plain space stay; everything else,
// combining marks and invisible characters among it, becomes U+FFFD. The result never contains a control character, an
// escape sequence or a direction mark.
package text

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s with every rune outside the allow-list replaced, cut to at most max runes (an ellipsis marks the
// cut).
func Clean(s string, max int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if n == max {
			b.WriteRune('…')
			break
		}
		n++
		if r == utf8.RuneError || !allowed(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

func allowed(r rune) bool {
	if r == ' ' {
		return true
	}
	if ignorable(r) {
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// ignorable lists the letters and symbols that have no shape of their own and would hide in a name (Unicode
// default-ignorable).
func ignorable(r rune) bool {
	switch r {
	case 0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0:
		return true
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// Named is foreign text as an error message names it: cut to 80 characters, "nothing" when it is empty.
func Named(s string) string { return cmp.Or(Clean(s, 80), "nothing") }
