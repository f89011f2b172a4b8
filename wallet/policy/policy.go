// Package policy reads the file in which a person limits what may be signed: allowed chains, recipients and contracts,
// caps on spending, cost and slippage, gates that stand open, and addresses to trust beside those of a network. It
// becomes verify.Limits; package verify enforces it.
//
// Promise: the file is strict TOML. An unknown key, a wrong type, a malformed address or chain, a wrong checksum, an
// amount that is not a plain decimal text, an unknown gate or an empty list is an *Error with line and column. A file
// that is not there, cannot be read, is empty, is no plain file, is larger than 1 MiB or can be written by others is an
// error as well (fail closed).
//
// Units: money is USD in decimal text with at most six decimals, kept as micro USD; shares are in basis points. Chains
// are CAIP-2, recipients are EVM addresses or Solana keys in base58, pins belong to one network id. Sources:
// docs/policy.md (rows Y1 … Y8), TH-L5, TH-C3.
package policy

import (
	"slices"

	"coffer/api/amount"
	"coffer/api/files"
	"coffer/wallet/verify"
)

// Version is the version of the policy file that this program reads.
const Version = 1

// File is a policy that was read. It is immutable; the zero File limits nothing.
type File struct {
	limits verify.Limits
	pins   map[string]verify.Limits // by network id; only the lists of pins are set
}

// An Error is a fault of the policy file.
type Error = files.Fault

// Limits returns the limits as they hold on the network of this id, with the pins that the file has for it. The result
// is the caller's own copy.
func (f File) Limits(network string) verify.Limits {
	l := f.limits
	l.Chains, l.Recipients, l.Contracts, l.Gates = slices.Clone(l.Chains), slices.Clone(l.Recipients),
		slices.Clone(l.Contracts), slices.Clone(l.Gates)
	l.MaxSpend, l.MaxSpendPerDay = amount.Copy(l.MaxSpend), amount.Copy(l.MaxSpendPerDay)
	p := f.pins[network]
	l.EntryPoints, l.Validators, l.Factories = slices.Clone(p.EntryPoints), slices.Clone(p.Validators),
		slices.Clone(p.Factories)
	l.Delegates, l.Paymasters, l.Escrows = slices.Clone(p.Delegates), slices.Clone(p.Paymasters),
		slices.Clone(p.Escrows)
	l.Programs = slices.Clone(p.Programs)
	return l
}
