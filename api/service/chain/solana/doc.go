// Package solana is the embedded Solana ledger: the programs System, SPL Token,
// Associated Token Account, Memo and ComputeBudget over real account layouts, committed
// to the service's store on request, without peers, votes or an RPC server.
//
// Promises:
//
//   - After genesis only signed transactions change state. Every message passes
//     solmsg.Parse first; every required signature is verified.
//   - The sum of each token never changes; lamports are balances plus burned fees. Both
//     are checked for every transaction before it counts.
//   - A transaction is all or nothing. One that fails pays its fee and changes nothing
//     else. One that may not be included at all (a bad signature, an unknown or old block
//     hash, a message that was processed, a payer without the fee) is a *TxError: then
//     nothing of the whole request has changed.
//   - What a request changes, its receipts and what the caller records with it are one
//     commit. Whatever fails before leaves everything as it was.
//   - A slot is 400 ms of the clock since genesis and never goes back. The block hash of
//     a slot follows from the genesis hash, so a restart knows every hash it gave out.
//   - An account ends a transaction with 0 lamports, and is gone, or with at least its
//     rent minimum. A program has its rent, and none is asked of the incinerator.
//   - Result, fault, log, fee, balances, owners and sizes are those of Agave 4.3 with all its
//     features, as far as the programs go: testdata/vm.jsonl has 4 200 random transactions
//     and what the real VM made of them (.ci/vectors). The log lacks the lines about compute
//     units, is never cut, and says "Program failed to complete" of a memo that is not UTF-8.
//   - A receipt has the balances of all accounts of its message, before and after.
//
// What is left out: lookup tables, programs of users, other instructions of the five
// programs (they fail with a reason; of System there are CreateAccount, Assign, Transfer
// and Allocate), wrapped SOL, compute metering (the programs are built in; a compute limit
// only prices the priority fee), and the burning of what the incinerator gets. The balance
// of a program counts from 0. A later version may judge otherwise: a transaction runs once,
// and what is stored of it is read and never run again.
//
// Units: lamports and token base units as uint64, times in Unix seconds. Sources:
// protocol §3.4, §5.3 and §8.5.
package solana
