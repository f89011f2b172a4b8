// Package journal is the write-ahead record of every operation: one append-only file per network that says what was
// asked, answered, signed and sent, so that a crash at any moment loses nothing that matters and repeats nothing (TH-J1
// … J5).
//
// Promise: Append returns only after the record is on disk (written and fsynced); a signature is recorded before it is
// on the wire and EXECUTING before the first byte of an execute request (TH-J2). Several processes may have it open:
// each step (Hold) takes the lock, reads what others appended, and lets go; who waits too long gets an error that names
// the holder. A record that was cut short by a crash is removed when the file is opened, and Repaired tells; damage
// anywhere else makes the journal read-only, and a read-only journal refuses every Append, so nothing more gets signed.
// A failed write is undone; if that is not possible, or if fsync fails, the journal refuses everything until it is
// opened again.
//
// An anchor outside the directory says how far the journal was written: the number of records and a running hash over
// all of them. It is written after a record is on disk and before the record's announcement is on the wire, so it
// always counts a beginning of the true journal. A journal that lacks a record which the anchor counts, because an
// older copy was restored, the file was removed or its end was cut off, is read-only (ErrOlder) until the newer copy is
// back or a person adopts it (Adopt). A crash between record and anchor leaves the anchor behind, which is sound.
//
// When a journal is opened and a quarter of it are answers of the service about operations that have ended, it is
// written anew without them. A record then holds the SHA-256 of its answer in the answer's place, and the running hash
// is the same as before, so that the anchor fits both files.
//
// The file holds intents, answers of the service, what was agreed to, signatures, digests and quote ids, but no key.
// Directory 0700, file 0600.
//
// A signature is outstanding until its place is used or its time is over (TH-J4): a user operation until its nonce is
// used or its window ends, an approval of a role-based account until its nonce is used, an EIP-7702 authorization until
// the account nonce of its EOA moved on, a Solana message until its block hash is forgotten. What no time ends a person
// may void (VOID): it is then in nobody's way, but stays listed. That a place is used is known only on an embedded
// network, where service and wallet are one program (Options.Kind). Elsewhere the end that a record holds is what the
// service said: the signature stays outstanding with that word (Signature.Said), and a person may say where a lane goes
// on (REPAIR), which closes nothing either.
//
// Format, all numbers big endian: header = magic "COFFERJL" (8) | version u32 | SHA-256 of the network id (32) | CRC32C
// of the header so far (4); record = payload length u32 | type u8 | payload JSON | CRC32C of length, type and payload
// (4). Payloads only ever gain members, so a file of an earlier program is read and continued; a later program's file
// is read-only for an earlier one: one with a VOID record (type 11) is for a program that knows ten types, and one with
// REPAIR (type 12) likewise. Types 255 (ADOPTED) and 254 (MOVED) are about the file: the header names the network that
// it began with, the last MOVED record the one that it belongs to. The anchor is a JSON object: version, network,
// records, sum (hex) and the time of the last record; sum n = SHA-256(sum n-1 | digest of record n), digest =
// SHA-256(type | payload with answerHash for document).
package journal
