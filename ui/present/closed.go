package present

import (
	"slices"
	"strconv"
	"time"

	"coffer/api/catalog"
	"coffer/wallet/journal"
)

// Closed is a signature that nothing can use any more, as the person's own node saw.
type Closed struct {
	Signature
	Seen string // in words
}

// ClosedSignatures reads the signatures that own nodes closed; behind as for Signatures.
func ClosedSignatures(c *catalog.Catalog, list []journal.Closed, behind time.Duration) []Closed {
	out := make([]Closed, 0, len(list))
	for _, x := range list {
		one := Signatures(c, []journal.Outstanding{{Signature: x.Signature, Op: x.Op, Made: x.Made}}, behind)[0]
		out = append(out, Closed{one, Saw(x)})
	}
	return out
}

// Saw says what own nodes saw of a signature that they closed.
func Saw(x journal.Closed) string {
	if x.Block == 0 { // a record from before blocks were numbered has the sentence
		return Clean(x.Note, 200)
	}
	what := "its nonce"
	if x.Role == journal.RoleDelegation {
		what = "its account nonce"
	}
	return SeenByNode + ": " + what + " is used in block " + strconv.FormatUint(x.Block, 10) + ", which is final"
}

// Cannot heads a list of closed signatures.
const Cannot = "Can no longer be used:"

// closedOf reports whether own nodes closed a signature of an operation. Delegations do not count: each lives on its
// own.
func closedOf(list []Closed, operation string) bool {
	return slices.ContainsFunc(list, func(x Closed) bool {
		return x.Operation == operation && x.Summary.Role != journal.RoleDelegation
	})
}
