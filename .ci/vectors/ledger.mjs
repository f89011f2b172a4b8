// Random transactions for the Solana ledger and what the real VM makes of them: litesvm runs the programs of Agave. A world is one VM, and the
// transactions follow one another in it.
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { Stream, keyBytes } from './stream.mjs';

// The machine code alone: the package litesvm would bring 180 others for what web3.js does here.
const litesvm = createRequire(import.meta.url)('litesvm-linux-x64-gnu');

const TRANSACTIONS = 30; // of a world
const FOREIGN = 100; // the first world of tokens and of what the programs refuse
const RENT = 890_880;
const MiB = 1 << 20;
const seeds = Array.from({ length: 10 }, (_, i) => keyBytes('ed25519', i));
const pairs = seeds.map((s) => Keypair.fromSeed(s));
const system = SystemProgram.programId;
const token = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const associated = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const memo = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const mint = new PublicKey(keyBytes('ed25519', 20));
const tokensOf = (owner) => PublicKey.findProgramAddressSync([owner.toBytes(), token.toBytes(), mint.toBytes()], associated)[0];
const purses = [0, 1, 2].map((i) => tokensOf(pairs[i].publicKey));
const programs = [system, token, associated, memo, ComputeBudgetProgram.programId];
const others = [
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'Config1111111111111111111111111111111111111', 'SysvarC1ock11111111111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111', 'Ed25519SigVerify111111111111111111111111111', 'NativeLoader1111111111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
].map((k) => new PublicKey(k));
// failing are programs of the runtime, now or once, that cannot do without accounts: what matters is their fee.
const failing = [
  'Vote111111111111111111111111111111111111111', 'Stake11111111111111111111111111111111111111', 'AddressLookupTab1e1111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111', 'BPFLoader2111111111111111111111111111111111', 'BPFLoader1111111111111111111111111111111111',
].map((k) => new PublicKey(k));
const stranger = new PublicKey(keyBytes('ed25519', 21));
const keys = [...pairs.map((p) => p.publicKey), mint, ...purses, ...programs, ...others, stranger, ...failing];
const names = new Map(keys.map((k, i) => [k.toBase58(), i]));
const index = (k) => names.get(new PublicKey(k).toBase58());

const u32 = (v) => Buffer.from(new Uint32Array([v]).buffer);
const u64 = (v) => Buffer.from(new BigUint64Array([BigInt.asUintN(64, BigInt(v))]).buffer);

// begin is every account of a world's beginning but the runtime's own: lamports, owner and data.
const begin = new Map([
  [pairs[0].publicKey, [10e9, system, Buffer.alloc(0)]],
  [pairs[1].publicKey, [1e9, system, Buffer.alloc(0)]],
  [pairs[2].publicKey, [RENT + 20_000, system, Buffer.alloc(0)]],
  [pairs[3].publicKey, [200e9, system, Buffer.alloc(0)]],
  [mint, [1_461_600, token, Buffer.concat([Buffer.alloc(36), u64(1_000), Buffer.from([6, 1]), Buffer.alloc(36)])]],
  ...[0, 1].map((i) => [purses[i], [2_039_280, token, Buffer.concat([mint.toBytes(), pairs[i].publicKey.toBytes(), u64(500), Buffer.alloc(36), Buffer.from([1]), Buffer.alloc(56)])]]),
]);

// head is the first line of the file: the keys that all other lines name by their place, and the beginning.
function head() {
  const accounts = [...begin].map(([k, [lamports, owner, data]]) => ({ key: index(k), lamports, owner: index(owner), data: data.toString('hex') }));
  return Buffer.from(JSON.stringify({ seeds: seeds.map((s) => s.toString('hex')), keys: keys.map((k) => k.toBase58()), accounts }) + '\n');
}

// ledgerWorld is the lines of one world, after the head of the file where it is the first.
export function ledgerWorld(i) {
  const s = new Stream('solana ledger', i);
  const vm = new litesvm.LiteSvm();
  for (const [k, [lamports, owner, data]] of begin) {
    vm.setAccount(k.toBytes(), new litesvm.Account(BigInt(lamports), data, owner.toBytes(), false, 0n));
  }
  const lines = Array.from({ length: TRANSACTIONS }, () => Buffer.from(JSON.stringify({ world: i, ...transaction(s, vm, i) }) + '\n'));
  return i === 0 ? [head(), ...lines] : lines;
}

function transaction(s, vm, world) {
  const payer = pairs[pick(s, [0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 4, 5])];
  const budget = s.below(3) === 0 ? budgets(s) : [];
  const many = s.below(40) === 0;
  const instructions = [
    ...budget,
    ...(many
      ? [...Array.from({ length: 56 + s.below(10) }, () => call(memo, [])), opening(payer.publicKey, pairs[2].publicKey, 1)]
      : Array.from({ length: pick(s, [1, 1, 1, 1, 2, 3]) }, () => spoiled(s, instruction(s, vm, world)))),
  ];
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: vm.latestBlockhash(), instructions }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  const signers = message.staticAccountKeys.slice(0, message.header.numRequiredSignatures);
  transaction.sign(pairs.filter((p) => signers.some((k) => k.equals(p.publicKey))));
  const before = message.staticAccountKeys.map((k) => account(vm, k));
  const result = vm.sendVersionedTransaction(transaction.serialize());
  vm.expireBlockhash();
  const after = message.staticAccountKeys.map((k) => account(vm, k));
  const fee = before.reduce((sum, a, i) => sum + a.lamports - after[i].lamports, 0);
  const changes = message.staticAccountKeys
    .map((k, i) => [index(k), after[i].lamports - before[i].lamports, after[i].owner, after[i].size])
    .filter((c, i) => c[1] !== 0 || c[2] !== before[i].owner || c[3] !== before[i].size);
  return { payer: index(payer.publicKey), instructions: instructions.map(text), ...outcome(result, fee, message.staticAccountKeys), fee, changes };
}

// text is an instruction as the file has it: program/accounts with their rights/data.
function text(ix) {
  const accounts = ix.keys.map((k) => index(k.pubkey) + (k.isSigner ? 's' : '') + (k.isWritable ? 'w' : ''));
  return `${index(ix.programId)}/${accounts.join(' ')}/${ix.data.toString('hex')}`;
}

// outcome tells apart what is not included, what fails, and at which instruction. Error is the runtime's name and place or
// code of the fault; logs is the start of a hash of the log, without what the ledger does not know: the units consumed.
function outcome(result, fee, keys) {
  const failed = result instanceof litesvm.FailedTransactionMetadata;
  if (failed && fee === 0) return { result: 'refused', ...fault(result.err()) };
  const lines = (failed ? result.meta() : result).logs();
  const known = lines.filter((l) => !/^Program \S+ consumed \d+ of \d+ compute units$/.test(l));
  const logs = lines.includes('Log truncated') ? {} : { logs: short(known) };
  const inner = called(failed ? result.meta() : result, keys);
  if (!failed) return { result: 'success', ...logs, ...inner };
  const error = result.err();
  return { result: 'failure', at: error instanceof litesvm.TransactionErrorInstructionError ? error.index : -1, ...fault(error), ...logs, ...inner };
}

// short is the start of a hash.
const short = (lines) => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);

// called is the start of a hash of the instructions that programs called: place of the caller/program/accounts/data.
function called(meta, keys) {
  const lines = meta.innerInstructions().flatMap((list, at) => list.map((inner) => {
    const ix = inner.instruction();
    return [at, index(keys[ix.programIdIndex()]), [...ix.accounts()].map((i) => index(keys[i])).join(' '), Buffer.from(ix.data()).toString('hex')].join('/');
  }));
  return lines.length === 0 ? {} : { inner: short(lines) };
}

const fieldless = ['AccountInUse', 'AccountLoadedTwice', 'AccountNotFound', 'ProgramAccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee'];
const instructionErrors = {
  1: 'InvalidArgument', 2: 'InvalidInstructionData', 3: 'InvalidAccountData', 6: 'IncorrectProgramId', 7: 'MissingRequiredSignature', 11: 'ModifiedProgramId',
  12: 'ExternalAccountLamportSpend', 14: 'ReadonlyLamportChange', 15: 'ReadonlyDataModified', 19: 'NotEnoughAccountKeys', 29: 'UnsupportedProgramId',
  31: 'MissingAccount', 34: 'InvalidSeeds', 37: 'PrivilegeEscalation', 45: 'ArithmeticOverflow', 47: 'IllegalOwner', 48: 'MaxAccountsDataAllocationsExceeded', 50: 'MaxInstructionTraceLengthExceeded',
};

// fault is an error as text: kind, index, name or code. litesvm has numbers for names without fields.
function fault(error) {
  if (error instanceof litesvm.TransactionErrorInstructionError) {
    const inner = error.err();
    if (inner instanceof litesvm.InstructionErrorCustom) return { error: `InstructionError ${error.index} Custom`, code: inner.code };
    return { error: `InstructionError ${error.index} ${instructionErrors[inner] ?? inner}` };
  }
  if (error instanceof litesvm.TransactionErrorInsufficientFundsForRent) return { error: `InsufficientFundsForRent ${rentIndex(error)}` };
  if (error instanceof litesvm.TransactionErrorDuplicateInstruction) return { error: `DuplicateInstruction ${error.index}` };
  return { error: fieldless[error] ?? String(error) };
}
const rentIndex = (error) => /account_index: (\d+)/.exec(String(error))[1];

function account(vm, k) {
  const a = vm.getAccount(k.toBytes());
  return a === null || a.lamports() === 0n ? { lamports: 0, owner: 0, size: 0 } : { lamports: Number(a.lamports()), owner: a.executable() ? -1 : index(a.owner()), size: a.data().length };
}

const pick = (s, list) => list[s.below(list.length)];
const meta = (pubkey, rights) => ({ pubkey, isSigner: rights.includes('s'), isWritable: rights.includes('w') });
const call = (programId, accounts, ...data) => new TransactionInstruction({ programId, keys: accounts, data: Buffer.concat(data) });
const holder = (s) => pairs[pick(s, [0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9])].publicKey;
const fresh = (s) => (s.below(6) === 0 ? pick(s, keys.slice(0, 4)) : pairs[4 + s.below(6)].publicKey);
const anyone = (s) => (s.below(3) === 0 ? pick(s, [...keys, purses[2], purses[2]]) : holder(s));

const opening = (payer, owner, tag) =>
  call(associated, [meta(payer, 'sw'), meta(tokensOf(owner), 'w'), meta(owner, ''), meta(mint, ''), meta(system, ''), meta(token, '')], Buffer.from([tag]));

// lamports are often those at an edge: of nothing, of the rent, of what the account has.
function lamports(s, vm, from, least) {
  const has = Number(vm.getBalance(from.toBytes()) ?? 0n);
  const edges = [0, 1, least - 1, least, least, least + 1, RENT, RENT];
  if (s.below(6) === 0) return u64(Math.max(0, pick(s, [has, has - 5_000, has - 10_000, has - 5_000 - RENT, has - 10_000 - RENT + 1])));
  if (s.below(3) > 0) return u64(pick(s, edges));
  return s.below(8) === 0 ? u64(-1) : u64(s.below(4_000_000) * pick(s, [1, 1, 500, 5_000]));
}

// tokenCall is any instruction of SPL Token that the ledger offers, right in most of its parts.
function tokenCall(s) {
  const from = s.below(2);
  const rarely = (right, ...wrong) => (s.below(8) === 0 ? pick(s, wrong) : right);
  const source = rarely(purses[from], purses[2], pairs[3].publicKey, mint);
  const authority = rarely(pairs[from].publicKey, pairs[1 - from].publicKey, pairs[3].publicKey);
  const other = rarely(purses[1 - from], purses[from], purses[2], pairs[3].publicKey, mint);
  const named = rarely(mint, purses[0], pairs[1].publicKey);
  const amount = u64(pick(s, [0, 1, 100, 250, 500, 501]));
  const decimals = [rarely(6, 7)];
  const signs = rarely('s', '');
  switch (s.below(8)) {
    case 0:
      return call(token, [meta(source, 'w'), meta(other, 'w'), meta(authority, signs)], Buffer.from([3]), amount);
    case 1: case 2:
      return call(token, [meta(source, 'w'), meta(named, ''), meta(other, 'w'), meta(authority, signs)], Buffer.from([12]), amount, Buffer.from(decimals));
    case 3:
      return call(token, [meta(source, 'w'), meta(pairs[s.below(4)].publicKey, ''), meta(authority, signs)], Buffer.from([4]), amount);
    case 4:
      return call(token, [meta(source, 'w'), meta(named, ''), meta(pairs[s.below(4)].publicKey, ''), meta(authority, signs)], Buffer.from([13]), amount, Buffer.from(decimals));
    case 5:
      return call(token, [meta(source, 'w'), meta(authority, signs)], Buffer.from([5]));
    case 6:
      return call(token, [meta(source, 'w'), meta(rarely(pairs[3].publicKey, source), 'w'), meta(authority, signs)], Buffer.from([9]));
  }
  return call(token, [meta(source, 'w')], Buffer.from([pick(s, [17, 99])]));
}

// foreign is what the programs around it refuse or log: tokens, associated accounts with a wrong part, and memos of signers.
function foreign(s) {
  switch (s.below(6)) {
    case 0: {
      const owner = pairs[s.below(3)].publicKey;
      const right = opening(pick(s, [pairs[0], pairs[1], pairs[2]]).publicKey, owner, s.below(2));
      const wrong = [pick(s, [mint, purses[0], pairs[3].publicKey]), pick(s, [purses[0], purses[2]]), pick(s, [memo, pairs[3].publicKey])];
      const at = pick(s, [9, 9, 3, 1, 4, 5]);
      return call(associated, right.keys.map((k, i) => (i === at ? { ...k, pubkey: wrong[{ 3: 0, 1: 1, 4: 2, 5: 2 }[at]] } : k)), right.data);
    }
    case 1:
      return call(memo, pick(s, [[], [pairs[0]], [pairs[0], pairs[1]]]).map((p) => meta(p.publicKey, s.below(6) === 0 ? '' : 's')), Buffer.from('Grüße'));
  }
  return tokenCall(s);
}

function instruction(s, vm, world) {
  if (world >= FOREIGN) return foreign(s);
  switch (s.below(17)) {
    case 0: case 1: case 2: case 3: {
      const from = holder(s);
      return call(system, [meta(from, 'sw'), meta(anyone(s), 'w')], u32(2), lamports(s, vm, from, RENT));
    }
    case 4: case 5: case 6: case 7: {
      const from = holder(s);
      const size = pick(s, [0, 0, 0, 1, 82, 165, 165, 1_000, 5_000, s.below(20_000), 10 * MiB, 10 * MiB + 1, -1]);
      const least = size < 0 ? RENT : (128 + size) * 6_960;
      return call(system, [meta(from, 'sw'), meta(fresh(s), 'sw')], u32(0), lamports(s, vm, from, least), u64(size), pick(s, [system, token, memo, stranger]).toBytes());
    }
    case 8: case 9:
      return call(system, [meta(fresh(s), 'sw')], u32(8), u64(pick(s, [0, 0, 1, 100, 165, 10 * MiB, 10 * MiB + 1, -1])));
    case 10: case 11:
      return call(system, [meta(fresh(s), 'sw')], u32(1), pick(s, [system, token, memo, stranger]).toBytes());
    case 12: {
      const [from, to] = [s.below(3), s.below(3)];
      return call(token, [meta(purses[from], 'w'), meta(purses[to], 'w'), meta(pairs[from].publicKey, 's')], Buffer.from([3]), u64(pick(s, [0, 1, 100, 500, 501])));
    }
    case 13: {
      const from = s.below(3);
      const to = s.below(2) === 0 ? pick(s, [token, memo, associated, stranger]) : anyone(s);
      return call(token, [meta(purses[from], 'w'), meta(to, 'w'), meta(pairs[from].publicKey, 's')], Buffer.from([9]));
    }
    case 14:
      return opening(holder(s), pairs[s.below(3)].publicKey, s.below(2));
    case 15:
      return call(pick(s, failing), [], Buffer.from([9]));
  }
  return call(memo, [], Buffer.from('memo'));
}

// budgets ask for what is enough in any case: the ledger does not meter.
function budgets(s) {
  const budget = (...data) => call(ComputeBudgetProgram.programId, [], ...data);
  const asked = [];
  if (s.below(8) > 0) asked.push(budget(Buffer.from([3]), u64(pick(s, [1, 1_000, 1_000, 333_333, 1_000_000, 50_000_000, s.below(1 << 30)]))));
  if (s.below(3) === 0) asked.push(budget(Buffer.from([2]), u32(pick(s, [300_000, 1_000_000, 1_400_000, 1_400_001, 0xffffffff]))));
  if (s.below(6) === 0) asked.push(budget(Buffer.from([1]), u32(pick(s, [32, 33, 64, 256, 257]) * 1_024 + pick(s, [0, 0, 0, 1]))));
  if (s.below(12) === 0) asked.push(pick(s, [budget(Buffer.from([3]), u64(5)), budget(Buffer.from([0]), u64(5)), budget(Buffer.from([3, 1])), budget()]));
  return asked.map((ix) => (s.below(8) === 0 ? call(ix.programId, [], ix.data, s.bytes(1 + s.below(3))) : ix));
}

// spoiled takes something away or adds bytes, now and then.
function spoiled(s, ix) {
  const at = s.below(Math.max(1, ix.keys.length));
  switch (s.below(24)) {
    case 0:
      return call(ix.programId, ix.keys.map((k, i) => (i === at ? { ...k, isSigner: false } : k)), ix.data);
    case 1: case 2:
      return call(ix.programId, ix.keys.map((k, i) => (i === at ? { ...k, isWritable: false } : k)), ix.data);
    case 3:
      return call(ix.programId, ix.keys.slice(0, at), ix.data);
    case 4:
      return ix.programId.equals(system) ? call(system, ix.keys, ix.data.subarray(0, s.below(ix.data.length))) : ix;
    case 5:
      return ix.programId.equals(system) ? call(system, ix.keys, ix.data, s.bytes(1 + s.below(3))) : ix;
  }
  return ix;
}
