package httplog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"coffer/api"
)

// shortest is the length, in bytes of JSON, up to which the value of a `signature` holds none: "" and "0x".
const shortest = len(`"0x"`)

// mark begins the text that replaces a signature.
const mark = "[signature left out: "

// withheld replaces a body that may hold a signature but does not parse.
const withheld = "[left out: it is no readable JSON and may hold a signature]"

// Redacted returns a body without its signatures, and how many it took out: it replaces every string below a member
// called `signature`, in any case, by a remark of its length. It returns a body without one as it is, not copied. It
// keeps a body that is no JSON document within the limits of the interface only when no such name can occur in it.
func Redacted(body []byte) ([]byte, int) {
	if !mentions(body) {
		return body, 0
	}
	doc, err := api.ParseDocument(body, api.DefaultLimits())
	if err != nil {
		return []byte(withheld), 1
	}
	var edits []api.Edit
	doc.Leaves(func(pointer string, value []byte) {
		if len(value) <= shortest || value[0] != '"' || !signature(pointer) ||
			bytes.HasPrefix(value, []byte(`"`+mark)) {
			return
		}
		edits = append(edits, api.Edit{Pointer: pointer,
			Value: fmt.Appendf(nil, `"%s%d characters]"`, mark, len(value)-2)})
	})
	if len(edits) == 0 {
		return body, 0
	}
	without, err := doc.Splice(edits...)
	if err != nil {
		return []byte(withheld), 1
	}
	return without.Raw(), len(edits)
}

// mentions reports whether a body can have a member of this name; an escape may hide one.
func mentions(body []byte) bool {
	return bytes.Contains(bytes.ToLower(body), []byte("signature")) || bytes.Contains(body, []byte(`\u`))
}

// signature reports whether a pointer leads to a member called signature or below one.
func signature(pointer string) bool {
	return slices.ContainsFunc(strings.Split(pointer, "/"),
		func(part string) bool { return strings.EqualFold(part, "signature") })
}
