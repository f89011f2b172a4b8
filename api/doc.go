// Package api is the language that wallet and service both speak: the wire types of the chain-abstraction interface,
// the validation rules that a request must pass, the error bodies, and the lossless Document in which every answer is
// kept.
//
// Amounts are decimal strings in the smallest unit of their asset, chains are CAIP-2, assets CAIP-19, accounts CAIP-10,
// aggregated assets `ob:<symbol>`, times Unix seconds in decimal strings. Slippage is in basis points. The package does
// no input or output.
//
// Sources: docs/interface.md, protocol §2–§8.
package api
