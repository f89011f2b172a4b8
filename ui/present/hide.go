package present

import (
	"strconv"
	"strings"

	"coffer/wallet/consent"
)

// hiddenLetters stand in the place of the characters of an address that the person types from elsewhere.
const hiddenLetters = "____"

// Typed says which characters of an address have to be typed.
func Typed(d consent.Demand) string {
	return "characters " + strconv.Itoa(d.Place) + " to " + strconv.Itoa(d.Place+consent.Letters-1) +
		" of the address, from where you have it"
}

// Hide leaves the characters out of a page that d asks for: a person who copied them from there would not have looked
// at the address that it came from.
func (p Page) Hide(d consent.Demand) Page {
	if d.Place == 0 {
		return p
	}
	hide := func(text *string) { *text = hide(*text, d) }
	spans := func(list []Span) {
		for i := range list {
			hide(&list[i].Text)
			hide(&list[i].Raw)
		}
	}
	for i := range p {
		b := &p[i]
		hide(&b.Label)
		spans(b.Spans)
		spans(b.Right)
		for k := range b.Entries {
			hide(&b.Entries[k].Text)
			spans(b.Entries[k].Note)
		}
		for k := range b.Changes {
			hide(&b.Changes[k].Old)
			hide(&b.Changes[k].New)
		}
		b.Fold.Inside.Hide(d)
		for _, x := range b.Pairs {
			for _, side := range [][]Block{x.Asked, x.Brief, x.Holds} {
				Page(side).Hide(d)
			}
		}
	}
	return p
}

// hide leaves the characters out of every occurrence of the address in a text, whatever blanks are in it.
func hide(text string, d consent.Demand) string {
	want, hex := strings.CutPrefix(d.Address, "0x")
	if len(text) < len(want) {
		return text
	}
	var at []int // where the characters of the text are, without blanks
	var tight strings.Builder
	for i := range len(text) {
		if text[i] != ' ' {
			at = append(at, i)
			tight.WriteByte(text[i])
		}
	}
	in := tight.String()
	if hex {
		in, want = strings.ToLower(in), strings.ToLower(want)
	}
	var out strings.Builder
	from := 0
	for n := strings.Index(in, want); n >= 0; {
		begin, end := at[n+d.Place-1], at[n+d.Place-2+consent.Letters]+1
		out.WriteString(text[from:begin])
		out.WriteString(hiddenLetters)
		from = end
		more := strings.Index(in[n+len(want):], want)
		if more < 0 {
			break
		}
		n += len(want) + more
	}
	return out.String() + text[from:]
}
