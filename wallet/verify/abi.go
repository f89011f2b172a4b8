package verify

import (
	"strings"

	"coffer/api/op/abicall"
)

// decodeAs reads call data by a well-known function of the same selector or, without one that fits, by the
// human-readable signature that the user built it with. The well-known one goes first: an intent may come from a file,
// and a harmless name with the selector of a dangerous function is quickly found. It fails when the selector differs or
// the data is not the one encoding of its arguments. The name is a reading aid only: nothing is decided by it.
func decodeAs(function string, data []byte) (string, []ArgView, bool) {
	if len(data) < 4 {
		return "", nil, false
	}
	selector := [4]byte(data[:4])
	if f, known := abicall.Lookup(abicall.Known(), selector); known {
		if name, args, ok := decodeBy(f, data); ok {
			return name, args, true
		}
	}
	f, err := abicall.ParseSignature(function)
	if err != nil || f.Selector() != selector {
		return "", nil, false
	}
	return decodeBy(f, data)
}

func decodeBy(f abicall.Function, data []byte) (string, []ArgView, bool) {
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
