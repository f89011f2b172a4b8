package chain

import "context"

// Primer is a chain that fetches for a State what messages are going to read, in few round trips. What they do is not
// done.
type Primer interface {
	Prime(st State, next ...Message)
}

// Finder is a chain on which logs of any sender can be found.
type Finder interface {
	// Find looks for a log of a contract whose first topics are these, in the blocks of a time (Unix seconds, both
	// included), and returns the receipt that has it. final says that the answer stays: the block cannot be taken back,
	// or, when nothing was found, no block of that time can come any more.
	Find(ctx context.Context, from, to uint64, at Address, topics ...Hash) (r Receipt, found, final bool, err error)
}
