// Package verify decides whether an answer of the service may be signed. The service is the adversary: it builds the
// operation, the typed data and the description, so every expected value comes from the Intent, from the pins of the
// network and from the catalogue, never from the answer that is being judged (docs/threats.md).
//
// Promise: Prepared, Quote and Exchange return a value only when no check refused; otherwise a Report says which row of
// docs/threats.md was broken, in plain words, with the place, what was expected and what was found. What gets signed is
// built again from the checked values. Views are made only from the decoded bytes; whatever the service merely says is
// marked so. Unknown forms are refused (fail closed); no input makes the package panic.
//
// It judges answers of v1 and v3 for all four account types. A kernel account signs its operation, one behind an EOA
// (EIP-7702) also a delegation where its code is not there yet, a role-based account signs an approval, a Solana
// account a message. What cannot be checked but might be wanted stands behind a gate (Limits.Gates): closed it refuses,
// open it asks for a sentence to be typed. The user's own limits are rows Y1 to Y8.
//
// Package verify does no input or output, holds no key, and knows no clock but the one that is passed in. Units: base
// units and wei in *big.Int, micro USD, basis points, Unix seconds. Sources: docs/threats.md; protocol §2, §3.
package verify
