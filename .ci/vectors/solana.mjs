// Solana messages, legacy and version 0 with and without lookup tables, compiled and signed by web3.js.
import { AddressLookupTableAccount, Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { KEYS, Stream, keyBytes, short } from './stream.mjs';

const holders = Array.from({ length: KEYS }, (_, i) => Keypair.fromSeed(keyBytes('ed25519', i)));
const key = (s) => new PublicKey(s.bytes(32));
const keys = (s, n) => Array.from({ length: n }, () => key(s));

const FORMS = ['v0', 'legacy', 'v0 with tables'];

export function solanaMessage(i) {
  const s = new Stream('solana message', i);
  const form = FORMS[s.below(FORMS.length)];
  const payer = holders[s.below(KEYS)];
  const second = holders[s.below(KEYS)];
  const recentBlockhash = key(s).toBase58();
  const programs = keys(s, 3);
  const others = keys(s, 8);
  const instructions = Array.from({ length: 1 + s.below(5) }, (_, n) => instruction(s, n, payer.publicKey, second.publicKey, programs, others));
  const compile = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions });
  const message =
    form === 'legacy' ? compile.compileToLegacyMessage() : compile.compileToV0Message(form === 'v0' ? [] : tables(s, [second.publicKey, ...programs, ...others]));
  const transaction = new VersionedTransaction(message);
  const required = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures);
  transaction.sign([payer, second].filter((k) => required.some((r) => r.equals(k.publicKey))));
  return [short(message.serialize()), short(...transaction.signatures)];
}

function instruction(s, n, payer, second, programs, others) {
  const programId = programs[s.below(programs.length)];
  const accounts = Array.from({ length: s.below(7) }, () => {
    const pick = s.below(20);
    const holder = pick === 0 ? payer : pick <= 2 ? second : null;
    const pubkey = holder ?? (pick === 3 ? programs[s.below(programs.length)] : others[s.below(others.length)]);
    return { pubkey, isSigner: holder !== null && s.below(2) === 1, isWritable: s.below(2) === 1 };
  });
  const data = s.blob(n === 0 && s.below(4) === 0 ? 400 : 60);
  return new TransactionInstruction({ programId, keys: accounts, data });
}

// tables hold some of the keys that the message may name, among others that it does not.
function tables(s, named) {
  return Array.from({ length: 1 + s.below(2) }, () => {
    const table = { key: key(s), state: { addresses: [], authority: undefined, deactivationSlot: 0n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 } };
    for (const k of named) {
      if (s.below(4) === 0) table.state.addresses.push(key(s));
      if (s.below(2) === 1) table.state.addresses.push(k);
    }
    return new AddressLookupTableAccount(table);
  });
}
