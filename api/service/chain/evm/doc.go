// Package evm is the embedded EVM chain behind the port of package chain: real
// headers, state roots, receipts and logs, sealed block by block on request,
// without peers. Only it and the packages below import go-ethereum's core, whose
// API changes between patch releases.
//
// Promises:
//
//   - Rules are those of the Osaka fork for every chain id. Every block that places nothing passes
//     go-ethereum's own importer when the clock moves at least one second from
//     block to block; equal timestamps are this package's only liberty
//     (protocol §5.3).
//   - Same genesis, transactions and clock give the same head hash on every
//     store.
//   - A block, its receipts, the state it leads to and what the caller records
//     with it are one commit. Whatever fails before leaves everything as it
//     was, in the store and in memory.
//   - After genesis only signed transactions change state, and contracts that a
//     block places: those of tokens that a catalogue file adds. Its record has
//     them, and Verify places them again. On a development network a caller may
//     also set what an account has, send without a key and take blocks back;
//     what remains is in the records, and Verify does it again.
//   - Only the head's state is kept: flat accounts and slots for reading and
//     the trie's nodes by path for hashing. The commit that replaces a trie
//     removes the nodes it no longer needs, so the state grows with the
//     accounts and not with the blocks. A reader of an older head is safe
//     because it holds a snapshot of the store.
//
// The ring buffers of EIP-4788 and EIP-2935 are not deployed: they would write
// two slots a block for beacon roots that do not exist here and for hashes that
// BLOCKHASH gives, and they are the only state that would grow with time. Both
// system calls then do nothing, as their specifications say. Fees: the base fee
// is burned; a tip, which settlement does not pay, goes to the zero address.
//
// A Node is what an endpoint needs of a chain: complete blocks, the state after
// each of the last 128 of them, and a way in for transactions that others have
// signed. The older states are kept in memory, as what each block replaced, and
// only while there is a Node.
package evm
