package linear

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"coffer/api/amount"
	"coffer/ui/present"
)

// clean is the gate for foreign text.
func clean(text string, most int) string { return present.Clean(text, most) }

// address is an address in full, in groups of four, on one line where a line can hold it.
func address(a string) span { return span{Text: present.Address(a), Whole: true} }

// spanWords writes a duration in words, rounded up to the second: "9 minutes 41 seconds".
func spanWords(d time.Duration) string {
	sec := int(max(0, d+time.Second-1) / time.Second)
	h, m := sec/3600, sec/60%60
	sec %= 60
	var parts []string
	if h > 0 {
		parts = append(parts, present.Plural(h, "hour", "hours"))
	}
	if m > 0 {
		parts = append(parts, present.Plural(m, "minute", "minutes"))
	}
	if (sec > 0 && h == 0) || len(parts) == 0 {
		parts = append(parts, present.Plural(sec, "second", "seconds"))
	}
	return strings.Join(parts, " ")
}

// clock writes a time of today, in the zone of the context's clock.
func (s *session) clock(t time.Time) string {
	if t.IsZero() {
		return amount.Unknown
	}
	return t.In(s.now().Location()).Format("15:04:05")
}

// date writes a time of any day, with the name of its zone.
func (s *session) date(t time.Time) string {
	if t.IsZero() {
		return "time unknown"
	}
	return t.In(s.now().Location()).Format("2006-01-02 15:04:05 MST")
}

// spelled writes an address for listening: one line per group of four, digits as they are, capitals named.
func spelled(a string) []string {
	text := present.Address(a)
	var out []string
	if rest, ok := strings.CutPrefix(text, "0x"); ok {
		out, text = append(out, "First: zero, x."), rest
	}
	for i, group := range strings.Fields(text) {
		var parts []string
		for _, r := range group {
			part := string(r)
			if unicode.IsUpper(r) {
				part = "capital " + part
			}
			parts = append(parts, part)
		}
		out = append(out, "Group "+strconv.Itoa(i+1)+": "+strings.Join(parts, ", ")+".")
	}
	return out
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// why is an error in a sentence.
func why(err error) string { return sentence(clean(err.Error(), 600)) }

// networkWords says what kind of money is on the network.
func (s *session) networkWords() string {
	return "Network " + present.Network(s.ctx.Network.Kind) + "."
}
