package present

import (
	"strconv"
	"strings"
)

// Chosen lists the choices that an answer can mean: that of its number, else those that it names in full, else those
// that begin with it, else those that have words which begin with its words, in this order. One is an answer, several
// are a question.
func Chosen(answer string, choices []string) []int {
	answer = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(answer), "."))
	if n, err := strconv.Atoi(answer); err == nil {
		if n >= 1 && n <= len(choices) {
			return []int{n - 1}
		}
		return nil
	}
	if answer == "" {
		return nil
	}
	for _, means := range []func(choice string) bool{
		func(c string) bool {
			return c == answer || strings.HasPrefix(c, answer+",") || strings.HasPrefix(c, answer+":")
		},
		func(c string) bool { return strings.HasPrefix(c, answer) },
		func(c string) bool { return inOrder(strings.Fields(answer), strings.Fields(c)) },
	} {
		var found []int
		for i, c := range choices {
			if means(strings.ToLower(c)) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// inOrder reports whether each of some beginnings begins a word, in the order of the words.
func inOrder(beginnings, words []string) bool {
	for _, w := range words {
		if len(beginnings) > 0 && strings.HasPrefix(w, beginnings[0]) {
			beginnings = beginnings[1:]
		}
	}
	return len(beginnings) == 0
}
