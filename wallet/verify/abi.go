package verify

import (
	"strings"

	"coffer/api/op/abicall"
)

// decodeAs reads call data by the human-readable signature that the user built it with or, without one, by a well-known function of the same selector.
// It fails when the selector differs or the data is not the one encoding of its arguments. The name is a reading aid only: nothing is decided by it.
func decodeAs(function string, data []byte) (string, []ArgView, bool) {
	if len(data) < 4 {
		return "", nil, false
	}
	f, err := abicall.ParseSignature(function)
	if err != nil || f.Selector() != [4]byte(data[:4]) {
		var known bool
		if f, known = abicall.Lookup(abicall.Known(), [4]byte(data[:4])); !known {
			return "", nil, false
		}
	}
	values, err := f.Decode(data)
	if err != nil {
		return "", nil, false
	}
	var args []ArgView
	for _, l := range f.Lines(values) {
		args = append(args, ArgView{Name: strings.Repeat("  ", l.Depth) + l.Label, Type: l.Type, Value: l.Text})
	}
	return f.String(), args, true
}
