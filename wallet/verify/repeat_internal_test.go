package verify

import "coffer/wallet/intent"

// Repeats lets the tests of the package see what counts as a repeat.
func Repeats(p Policy, d intent.Draft, earlier []byte) bool { return p.repeats(d, earlier) }
