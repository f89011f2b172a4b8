package abicall

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escape writes the bytes of a Solidity string as one line of visible text. Every byte
// string has exactly one such form and unescape undoes it.
func escape(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			writeByte(&out, b[0])
		case r == '\\':
			out.WriteString(`\\`)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r < utf8.RuneSelf && !unicode.IsPrint(r):
			writeByte(&out, b[0])
		case !unicode.IsPrint(r):
			out.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		default:
			out.WriteRune(r)
		}
		b = b[n:]
	}
	return out.String()
}

func writeByte(out *strings.Builder, b byte) {
	const digits = "0123456789abcdef"
	out.WriteString(`\x`)
	out.WriteByte(digits[b>>4])
	out.WriteByte(digits[b&15])
}

// unescape reads the text of a string field. A backslash must start one of the known
// escapes; everything else stands for itself.
func unescape(s string) ([]byte, string) {
	out := make([]byte, 0, len(s))
	for s != "" {
		before, after, found := strings.Cut(s, `\`)
		out = append(out, before...)
		if !found {
			break
		}
		n, b := unescapeOne(after)
		if n == 0 {
			return nil, `a backslash must be written \\ (or start \n, \r, \t, \xNN, \u{N})`
		}
		out, s = append(out, b...), after[n:]
	}
	return out, ""
}

// unescapeOne reads what follows a backslash: the length used and the bytes meant.
func unescapeOne(s string) (int, []byte) {
	if s == "" {
		return 0, nil
	}
	switch s[0] {
	case '\\':
		return 1, []byte{'\\'}
	case 'n':
		return 1, []byte{'\n'}
	case 'r':
		return 1, []byte{'\r'}
	case 't':
		return 1, []byte{'\t'}
	case 'x':
		if len(s) >= 3 {
			if v, ok := hexDigits(s[1:3]); ok {
				return 3, []byte{byte(v)}
			}
		}
	case 'u':
		digits, _, closed := strings.Cut(strings.TrimPrefix(s[1:], "{"), "}")
		if !closed || len(s) < 2 || s[1] != '{' || len(digits) > 6 {
			return 0, nil
		}
		if v, ok := hexDigits(digits); ok && utf8.ValidRune(rune(v)) {
			return len(digits) + 3, utf8.AppendRune(nil, rune(v))
		}
	}
	return 0, nil
}

func hexDigits(s string) (uint64, bool) {
	v, err := strconv.ParseUint(s, 16, 32)
	return v, err == nil && s[0] != '+'
}

// showText makes foreign text safe and short for a message.
func showText(s string) string {
	const most = maxShown * utf8.UTFMax
	if len(s) > most {
		s = s[:most]
	}
	return shorten(escape([]byte(s)))
}

// shorten cuts text that is safe already.
func shorten(s string) string {
	runes := 0
	for i := range s {
		if runes++; runes > maxShown {
			return s[:i] + mark
		}
	}
	return s
}
