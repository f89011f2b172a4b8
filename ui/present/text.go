// Package present puts what the wallet knows into words, for the screens, the lines and the commands alike: names,
// amounts, addresses, statuses, reasons and findings.
//
// Promise: one fact has one wording. Nothing here has a style, a key or a width, and nothing does input or output. What
// a service or a file wrote passes through Clean before it is shown; an address and an exact amount are never cut; a
// missing figure reads "unknown" and never zero.
//
// Screens and lines write times in the person's zone and name it beside a date; commands write UTC, JSON RFC 3339 in
// UTC.
package present

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"coffer/api/text"
)

// Clean is the gate for every string of a service or of a file: the allow-list of api/text, cut to max runes. It also
// replaces text whose width terminals disagree about (joined letters, flags), because it would shift the figures beside
// it.
func Clean(s string, max int) string {
	s = text.Clean(s, max)
	if plain(s) || oneWidth(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r >= 0x20 && r < 0x7f || r == '…' {
			b.WriteRune(r)
			continue
		}
		b.WriteRune('\uFFFD')
	}
	return b.String()
}

// Whole is Clean without a limit: nothing is cut.
func Whole(s string) string { return Clean(s, max(1, len(s))) }

// Inert is a cell of a table for spreadsheets: an apostrophe stands before a text that one would run as a formula, or
// whose own apostrophe it would hide.
func Inert(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@'\t\r\n＝＋－＠", r) {
		return "'" + s
	}
	return s
}

// oneWidth reports whether every way of counting cells agrees, by character and joined, since terminals do either, and
// whether nothing in s joins the text before or after it on the screen.
func oneWidth(s string) bool {
	sum := 0
	for _, r := range s {
		alone := ansi.StringWidth(string(r))
		if r > 0x7e && ansi.StringWidth("a"+string(r)+"a") != alone+2 {
			return false
		}
		sum += alone
	}
	return sum == ansi.StringWidth(s) && sum == ansi.StringWidthWc(s)
}

// Width is the number of cells of s; escape sequences take none.
func Width(s string) int {
	if n, ok := simple(s); ok {
		return n
	}
	return ansi.StringWidth(s)
}

// simple counts text of printable ASCII, the theme's signs and looks only: each is one cell, a look none, and nothing
// joins.
func simple(s string) (n int, ok bool) {
	look := 0 // where the escape sequence ends
	for i, r := range s {
		switch {
		case i < look:
		case r == '\x1b':
			if look = i + Sequence(s[i:]); look == i {
				return 0, false
			}
		case r >= 0x20 && r <= 0x7e, r == '…', r >= '←' && r <= '↓', r == '↵', r == '•', r == '·', r == '›', r == '✓',
			r == '✗', r >= 0x2500 && r <= 0x25c0:
			n++
		default:
			return 0, false
		}
	}
	return n, true
}

// Sequence is the length of the escape sequence that s begins with, such as that of a look; 0 where there is none, or
// one of another form.
func Sequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := len("\x1b["); i < len(s); i++ {
		switch c := s[i]; {
		case c >= '@' && c <= '~':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// plain reports whether s is printable ASCII only, where bytes are cells.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Groups writes a hex string in groups of four after its 0x: "0x12ab 34cd". It returns other text cleaned. Nothing is
// cut.
func Groups(hex string) string {
	rest, ok := strings.CutPrefix(hex, "0x")
	if !ok {
		return Whole(hex)
	}
	return "0x" + fours(Whole(rest))
}

// fours puts a blank after every four characters.
func fours(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n > 0 && n%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// Plural writes "1 asset" or "3 assets"; many is the word for any number but one.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
