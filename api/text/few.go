package text

import (
	"strconv"
	"strings"
)

// Few lists the first most of the names and counts the others: "a, b and 3 more".
func Few(names []string, most int) string {
	out := strings.Join(names[:min(len(names), most)], ", ")
	if rest := len(names) - most; rest > 0 {
		out += " and " + strconv.Itoa(rest) + " more"
	}
	return out
}
