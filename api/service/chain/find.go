package chain

import "context"

// Finder is a chain on which logs are found, whoever caused them.
type Finder interface {
	// Find looks for a log of a contract whose first topics are these, in the blocks of a time (Unix seconds, both
	// included), and returns the receipt that has it. final says that the block cannot be taken back.
	Find(ctx context.Context, from, to uint64, at Address, topics ...Hash) (r Receipt, found, final bool, err error)
}
