package kit

import (
	"slices"
	"strings"
	"unicode"
)

// The ranks of a typed word, by where a text has it. A word of the label counts more than one of what also finds it.
// Letters in order count only in a label, from the start of a word on, and only while nothing else is found.
const (
	rankWhole  = 100 // it is a word of the label
	rankStart  = 70  // a word of the label begins with it
	rankAlso   = 50  // a further word begins with it
	rankInside = 30  // it is inside the label
	rankSpread = 15  // its letters are in the label, in order
	rankBehind = 5   // it is inside the further words
	rankFirst  = 10  // more, where the label begins with it
)

// rank says how well typed words find a label, or the further words that find the same; 0: not at all. Each typed word
// has to be found. loose: one is found by its letters alone.
func rank(typed, label, also string) (total int, loose bool) {
	low, further := strings.ToLower(label), strings.ToLower(also)
	for _, word := range strings.Fields(strings.ToLower(typed)) {
		best := max(at(label, word), min(rankAlso, at(also, word)))
		switch {
		case best > 0:
		case strings.Contains(low, word):
			best = rankInside
		case spread(low, word):
			best, loose = rankSpread, true
		case strings.Contains(further, word):
			best = rankBehind
		default:
			return 0, false
		}
		total += best
	}
	return total, loose
}

// at is the rank of a word that begins a word of a text; 0 where none does. The parts of transferFrom are words.
func at(text, word string) int {
	best, before := 0, ' '
	for i, r := range text {
		start := !alnum(before) || unicode.IsLower(before) && unicode.IsUpper(r)
		before = r
		rest := text[i:]
		if !start || len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
			continue
		}
		score := rankStart
		if next := strings.TrimLeftFunc(rest[len(word):], alnum); len(next) == len(rest)-len(word) {
			score = rankWhole
		}
		if i == 0 {
			score += rankFirst
		}
		best = max(best, score)
	}
	return best
}

// spread reports whether the letters of a word are in a text in order, the first at the start of a word.
func spread(text, word string) bool {
	want, before := []rune(word), ' '
	if len(want) < 2 {
		return false
	}
	for i, r := range text {
		if r == want[0] && !alnum(before) {
			left := want
			for _, c := range text[i:] {
				if len(left) > 0 && c == left[0] {
					left = left[1:]
				}
			}
			if len(left) == 0 {
				return true
			}
		}
		before = r
	}
	return false
}

// ranked lists the items that typed words find, the best first, and those of one rank in their own order.
func ranked(items []Item, typed string, labels bool) []int {
	ranks, out, guesses := make([]int, len(items)), []int(nil), []int(nil)
	for i, it := range items {
		also := it.Also
		if !labels {
			also += " " + it.Note + " " + it.Value
		}
		var loose bool
		switch ranks[i], loose = rank(typed, it.Label, also); {
		case loose:
			guesses = append(guesses, i)
		case ranks[i] > 0 || strings.TrimSpace(typed) == "":
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		out = guesses
	}
	slices.SortStableFunc(out, func(a, b int) int { return ranks[b] - ranks[a] })
	return out
}
