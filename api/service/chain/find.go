package chain

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// Primer is a chain that fetches for a State what messages are going to read, in few round trips. What they do is not
// done.
type Primer interface {
	Prime(st State, next ...Message)
	// Told are balances of an account as its chain's nodes tell them in the block of a view, where they cost one
	// question each and no code of a token is fetched. Zero is the coin, nil what a token does not tell.
	Told(st State, account Address, tokens []Address) ([]*big.Int, error)
	// Met reports whether the view has read anything of an account. What it did not meet no message ran or changed.
	Met(st State, a Address) bool
}

// Finder is a chain on which logs of any sender can be found.
type Finder interface {
	// Find looks for a log of a contract whose first topics are these, in the blocks of a time (Unix seconds, both
	// included), and returns the receipt that has it. final says that the answer stays: the block cannot be taken back,
	// or, when nothing was found, no block of that time can come any more.
	Find(ctx context.Context, from, to uint64, at Address, topics ...Hash) (r Receipt, found, final bool, err error)
}

// Witness is a chain whose nodes are asked together, because money hangs on the answer.
type Witness interface {
	// Ask calls a contract in the newest block that a quorum of the nodes has, changes nothing, and returns what they
	// agree on. final is the time of a final block that is not newer, in Unix seconds, 0 while there is none: what can
	// only become true and is not yet, was not true in that block either.
	Ask(ctx context.Context, to Address, data []byte) (answer []byte, final uint64, err error)
}

// Event is a log with the transaction that made it.
type Event struct {
	Log
	Tx    Hash
	To    Address // of the transaction
	Time  uint64  // of its block, in Unix seconds
	Input []byte  // of the transaction
}

// Historian is a chain whose final blocks can be searched.
type Historian interface {
	// Events lists the logs of a contract with a first topic, of blocks from a time on (Unix seconds) that are final;
	// until is the time of the newest of them. A quorum of the nodes agrees on all.
	Events(ctx context.Context, since uint64, at Address, topic Hash) (found []Event, until uint64, err error)
}

// Charger is a chain that takes more than gas at a price.
type Charger interface {
	// DataFee is what a transaction that makes a call costs at this moment beside its execution: coins of its sender,
	// and gas that its limit must hold.
	DataFee(ctx context.Context, m Message) (wei *big.Int, gas uint64, err error)
}

// UsualData is about what the data of a transaction with one operation is when it is compressed.
func UsualData() (out []byte) {
	for i := range byte(20) {
		out = append(out, crypto.Keccak256([]byte{i})...)
	}
	return out
}
