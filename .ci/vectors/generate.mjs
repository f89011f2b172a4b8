// Writes the differential vectors, or compares them with --check. README.md says what is in them.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { approval, authorization, userOperation } from './evm.mjs';
import { ledgerWorld } from './ledger.mjs';
import { solanaMessage } from './solana.mjs';

const root = new URL('../../api/', import.meta.url);
const files = {
  'op/testdata/differential/user-operations.bin': [userOperation, 10_000],
  'op/testdata/differential/typed-data.bin': [approval, 10_000],
  'op/testdata/differential/authorizations.bin': [authorization, 10_000],
  'op/solmsg/testdata/differential/messages.bin': [solanaMessage, 10_000],
  'service/chain/solana/testdata/vm.jsonl': [ledgerWorld, 140],
};

// --worlds FROM TO FILE writes other worlds of the ledger than those that are kept, TO not among them.
const other = process.argv.indexOf('--worlds');
if (other > 0) {
  const [from, to, file] = process.argv.slice(other + 1);
  const parts = [ledgerWorld(0)[0]]; // the head
  for (let i = Number(from); i < Number(to); i++) parts.push(...ledgerWorld(i).slice(i === 0 ? 1 : 0));
  writeFileSync(file, Buffer.concat(parts));
  console.log(`${file}: ${parts.length - 1} transactions`);
  process.exit(0);
}

const check = process.argv.includes('--check');
let different = 0;
for (const [name, [make, count]] of Object.entries(files)) {
  const began = performance.now();
  const parts = [];
  for (let i = 0; i < count; i++) parts.push(...(await make(i)));
  const made = Buffer.concat(parts);
  const path = new URL(name, root);
  let word = 'written';
  if (check) {
    word = made.equals(readFileSync(path)) ? 'the same' : 'DIFFERENT';
    different += word === 'DIFFERENT' ? 1 : 0;
  } else {
    mkdirSync(new URL('.', path), { recursive: true });
    writeFileSync(path, made);
  }
  console.log(`${name}: ${count} items, ${made.length} bytes, ${word}, ${((performance.now() - began) / 1000).toFixed(1)} s`);
}
process.exit(different === 0 ? 0 : 1);
