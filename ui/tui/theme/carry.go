package theme

import (
	"strings"

	"coffer/ui/present"
)

// shortGap is the number of blanks that keep the look of what is before them. Longer ones fill columns: with a look
// they would change with the text before them, and would be written again.
const shortGap = 2

// Carry lets the blanks between two segments keep the look of the first one, where a look does not show on a blank. The
// screen library writes each change of looks: this way there is one change from one segment to the next instead of two,
// and none between two segments of one look.
func Carry(content string) string {
	var b strings.Builder
	b.Grow(len(content))
	open := "" // the looks since the last reset
	for {
		before, _, found := strings.Cut(content, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		content = content[len(before):]
		look := lookAt(content)
		if look != reset {
			open += look
			n := max(len(look), len("\x1b["))
			b.WriteString(content[:n])
			content = content[n:]
			continue
		}
		content = content[len(reset):]
		rest := strings.TrimLeft(content, " ")
		blanks, next := content[:len(content)-len(rest)], lookAt(rest)
		keeps := blanks != "" && next != "" && next != reset && !shows(open)
		switch {
		case keeps && next == open:
			b.WriteString(blanks)
			content = rest[len(next):]
			continue
		case keeps && len(blanks) <= shortGap:
			b.WriteString(blanks)
			content = rest
		}
		b.WriteString(reset)
		open = ""
	}
}

// lookAt is the sequence of a look at the start of s, or "".
func lookAt(s string) string {
	if n := present.Sequence(s); n > 0 && s[n-1] == 'm' {
		return s[:n]
	}
	return ""
}

// shows reports whether a blank in these looks differs from a blank without any: a background, a line or exchanged
// colours do that, a foreground, bold and faint do not.
func shows(looks string) bool {
	for looks != "" {
		look := lookAt(looks)
		looks = looks[len(look):]
		for p := strings.Split(look[2:len(look)-1], ";"); len(p) > 0; {
			switch c := p[0]; {
			case c == "38" && len(p) > 4 && p[1] == "2":
				p = p[5:]
			case c == "38" && len(p) > 2 && p[1] == "5":
				p = p[3:]
			case c == "1", c == "2", len(c) == 2 && c != "38" && (c[0] == '3' || c[0] == '9'):
				p = p[1:]
			default:
				return true
			}
		}
	}
	return false
}
