// Package verify decides whether an answer of the service may be signed. The service is the adversary: it builds the operation, the typed data
// and the description, so every expected value comes from the Intent, from the pins of the network and from the catalogue, never from the
// answer that is being judged (threats part 0.1).
//
// Promise: Prepared and Quote return a value only when no check refused; otherwise a Report says which row of the threat table was broken, in plain
// words, with the place, what was expected and what was found. What gets signed is built again from the checked values. Views are made only from the
// decoded bytes; whatever the service merely says is marked so. Unknown forms are refused (fail closed); no input makes the package panic.
//
// This version judges kernel-v3.1-ecdsa accounts and v3 documents. Package verify does no input or output, holds no key, and knows no clock but the one
// that is passed in. Units: base units and wei in *big.Int, micro USD, basis points, Unix seconds. Sources: threats rows L, P, U, T, Q; protocol §2, §3,
// which win over the table.
package verify
