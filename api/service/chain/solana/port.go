package solana

import (
	"context"

	"coffer/api/op/solmsg"
)

// Chain is what use cases know of Solana; a *Ledger is one, where everything is final at
// once. Times are Unix seconds. An error is a fault of the chain or of the connection to
// it, unless a method names others.
type Chain interface {
	// Blockhash is a recent block hash, to be put into a message at that time. LastValid
	// is the last second in which a message with it is surely still included.
	Blockhash(ctx context.Context, at uint64) (hash solmsg.Key, lastValid uint64, err error)
	// BlockhashValid reports whether a message with this hash would be included at the
	// time.
	BlockhashValid(ctx context.Context, hash solmsg.Key, at uint64) (bool, error)
	// State opens a view of the latest commit.
	State(context.Context) (State, error)
	// Receipt finds a final transaction by its first signature in base58; false when
	// unknown or when the text is no signature.
	Receipt(ctx context.Context, signature string) (r Receipt, found bool, err error)
	// Simulate runs transactions as Seal would at that time and throws everything away;
	// unsigned skips the signature checks. The error may be a *TxError.
	Simulate(ctx context.Context, at uint64, unsigned bool, txs ...Tx) ([]Receipt, error)
	// Seal includes transactions, in order and in one commit with Record. After an error
	// nothing has changed. It is a *TxError, wraps ErrNotAccepted, comes from Record as it
	// is, or is a fault.
	Seal(context.Context, SealRequest) ([]Receipt, error)
}

// Others is a Solana chain whose blocks others make: what is sent there has an end that counts blocks, and competes for
// its place.
type Others interface {
	Chain
	// Recent is a recent block hash with the last block height at which a message with it can be included, and the last
	// second in which it surely still is.
	Recent(ctx context.Context, at uint64) (hash solmsg.Key, lastHeight, lastValid uint64, err error)
	// UnitPrice is what a compute unit lately cost beside others that write to these accounts, in micro-lamports.
	UnitPrice(ctx context.Context, writable ...solmsg.Key) (uint64, error)
	// FeeCap is what the chain may take for a transaction at most, in lamports.
	FeeCap() uint64
}

// Primer is a State that reads several accounts at once, before they are asked for.
type Primer interface {
	Prime(keys ...solmsg.Key) error
}

// State is a frozen view of Solana. It is not safe for concurrent use and must be closed;
// it may hold a store.Snapshot, so the goroutine that holds it must close it before it
// calls Seal or Update on the same store.
type State interface {
	// Account reads an account; one that does not exist has no lamports.
	Account(solmsg.Key) (Account, error)
	// Lamports is the balance of an account.
	Lamports(solmsg.Key) (uint64, error)
	// Tokens is what the associated token account of owner holds, in base units of the
	// mint; exists tells whether there is such an account.
	Tokens(owner, mint solmsg.Key) (amount uint64, exists bool, err error)
	Close()
}
