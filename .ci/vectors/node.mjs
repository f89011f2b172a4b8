// A Solana chain of its own for tests: nodes that answer JSON-RPC over litesvm, which runs the programs of Agave. A
// message that @solana/web3.js would write in other bytes is refused. It prints one line of JSON with its
// genesis hash and its addresses, and ends with its input. Each address is a node; all of them have one chain.
//
// `test` is a method of ours: {pays: {to, lamports}}, {others: {to, lamports, mint, amount}} (somebody else sends that to an owner, in one transaction), {tokens: {mint, to, amount}}, {lose: true} (nodes say that they take a transaction, and drop it),
// {hide: true} (this node knows no transaction), {lie: true} (this node says that every transaction failed), {fees: micro-lamports}, {holds: {mint, of}} (answers what an owner has). Else it answers how often
// something was sent.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';

const litesvm = createRequire(import.meta.url)('litesvm-linux-x64-gnu');
const SLOT = 100; // ms
const LIFE = 150; // block heights for which a hash is taken
const FINAL = 32; // slots
const token = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const associated = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');

const vm = new litesvm.LiteSvm();
vm.setBlockhashCheck(false); // blocks are made here
const name = (bytes) => new PublicKey(bytes).toBase58();
const genesis = name(randomBytes(32));
const began = Date.now();
const slot = () => 1000 + Math.floor((Date.now() - began) / SLOT);
const time = (s) => Math.floor((began + (s - 1000) * SLOT) / 1000);
const at = (commitment) => slot() - (commitment === 'finalized' || commitment === undefined ? FINAL : commitment === 'confirmed' ? 1 : 0);
const hashes = new Map(); // of a slot
const landed = new Map(); // by signature, in order
let losing = false;
let sends = 0; // that arrived at any node
let price = 0;

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

function recent(commitment) {
  const n = at(commitment);
  const hash = [...hashes].find(([, s]) => s === n)?.[0] ?? name(randomBytes(32));
  hashes.set(hash, n);
  return { blockhash: hash, lastValidBlockHeight: n + LIFE };
}
const taken = (hash) => hashes.has(hash) && slot() <= hashes.get(hash) + LIFE;

function account(k) {
  const a = vm.getAccount(new PublicKey(k).toBytes());
  if (!a || a.lamports() === 0n) return null;
  return { lamports: Number(a.lamports()), owner: name(a.owner()), data: [Buffer.from(a.data()).toString('base64'), 'base64'], executable: a.executable(), rentEpoch: 0 };
}

const kinds = (of) => Object.fromEntries(Object.entries(of).filter(([k]) => !/^\d+$/.test(k)).map(([k, v]) => [v, k]));
const fieldless = [kinds(litesvm.TransactionErrorFieldless), kinds(litesvm.InstructionErrorFieldless)];

// fault is an error of the runtime as nodes write it.
function fault(e) {
  if (typeof e === 'number') return fieldless[0][e];
  if (e instanceof litesvm.TransactionErrorInstructionError) {
    const inner = e.err();
    if (inner instanceof litesvm.InstructionErrorCustom) return { InstructionError: [e.index, { Custom: inner.code }] };
    return { InstructionError: [e.index, typeof inner === 'number' ? fieldless[1][inner] : 'GenericError'] };
  }
  if (e instanceof litesvm.TransactionErrorInsufficientFundsForRent) return { InsufficientFundsForRent: { account_index: e.accountIndex } };
  return 'GenericError';
}

function read(text) {
  const raw = Buffer.from(text, 'base64');
  if (raw.length > 1232) throw new Refusal(-32602, 'base64 encoded too large');
  const tx = VersionedTransaction.deserialize(raw);
  const again = TransactionMessage.decompile(tx.message).compileToV0Message().serialize();
  if (Buffer.compare(Buffer.from(again), Buffer.from(tx.message.serialize())) !== 0) throw new Refusal(-32602, 'web3.js makes another message of this');
  return { raw, tx };
}

function simulate(text, c) {
  const { raw, tx } = read(text);
  const out = (err, meta) => ({ err, logs: meta?.logs() ?? [], unitsConsumed: Number(meta?.computeUnitsConsumed() ?? 0), accounts: null, returnData: null });
  if (!taken(tx.message.recentBlockhash)) return out('BlockhashNotFound');
  if (landed.has(name58(tx.signatures[0]))) return out('AlreadyProcessed');
  vm.setSigverify(c.sigVerify === true);
  const r = vm.simulateVersionedTransaction(raw);
  vm.setSigverify(true);
  return r instanceof litesvm.FailedTransactionMetadata ? out(fault(r.err()), r.meta()) : out(null, r.meta());
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
function name58(bytes) {
  let v = BigInt('0x' + Buffer.from(bytes).toString('hex')), out = '';
  for (; v > 0n; v /= 58n) out = ALPHABET[Number(v % 58n)] + out;
  for (const b of bytes) {
    if (b !== 0) break;
    out = '1' + out;
  }
  return out;
}

// held are the token accounts among keys, as nodes list them.
function held(keys) {
  return keys.flatMap((k, accountIndex) => {
    const a = vm.getAccount(k.toBytes());
    const data = a && Buffer.from(a.data());
    if (!a || name(a.owner()) !== token.toBase58() || data.length !== 165) return [];
    const mint = data.subarray(0, 32), decimals = Buffer.from(vm.getAccount(mint).data())[44];
    const amount = data.readBigUInt64LE(64).toString();
    return [{ accountIndex, mint: name(mint), owner: name(data.subarray(32, 64)), programId: token.toBase58(), uiTokenAmount: { amount, decimals, uiAmount: null, uiAmountString: amount } }];
  });
}

function send(text) {
  sends++;
  return includes(text);
}

function includes(text) {
  const { raw, tx } = read(text);
  const signature = name58(tx.signatures[0]);
  if (losing || !taken(tx.message.recentBlockhash) || landed.has(signature)) return signature;
  const keys = tx.message.staticAccountKeys, tokensBefore = held(keys);
  const before = keys.map((k) => vm.getBalance(k.toBytes()) ?? 0n);
  const r = vm.sendVersionedTransaction(raw);
  const after = keys.map((k) => vm.getBalance(k.toBytes()) ?? 0n);
  const failed = r instanceof litesvm.FailedTransactionMetadata;
  const sum = (list) => list.reduce((a, b) => a + b, 0n);
  const fee = Number(sum(before) - sum(after));
  if (failed && fee === 0) return signature; // it is not included
  landed.set(signature, { slot: slot(), err: failed ? fault(r.err()) : null, fee, raw, keys: keys.map(String), before: before.map(Number), after: after.map(Number), tokensBefore, tokensAfter: held(keys) });
  return signature;
}

// tokens gives an owner some of a mint, which comes to be with it.
function tokens({ mint, to, amount }) {
  const u64 = (v) => Buffer.from(new BigUint64Array([BigInt(v)]).buffer);
  const m = new PublicKey(mint), owner = new PublicKey(to);
  const put = (k, lamports, data) => vm.setAccount(k.toBytes(), new litesvm.Account(BigInt(lamports), data, token.toBytes(), false, 0n));
  put(m, 1_461_600, Buffer.concat([Buffer.alloc(36), u64(10n ** 15n), Buffer.from([6, 1]), Buffer.alloc(36)]));
  const [at] = PublicKey.findProgramAddressSync([owner.toBytes(), token.toBytes(), m.toBytes()], associated);
  put(at, 2_039_280, Buffer.concat([m.toBytes(), owner.toBytes(), u64(amount), Buffer.alloc(36), Buffer.from([1]), Buffer.alloc(56)]));
}

// others has somebody else send lamports and tokens to an owner, who has an account for them.
function others({ to, lamports, mint, amount }) {
  const from = Keypair.generate(), owner = new PublicKey(to);
  vm.setAccount(from.publicKey.toBytes(), new litesvm.Account(10n ** 10n, Buffer.alloc(0), new PublicKey(new Uint8Array(32)).toBytes(), false, 0n));
  const instructions = [SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: owner, lamports })];
  if (mint) {
    const m = new PublicKey(mint);
    tokens({ mint, to: from.publicKey.toBase58(), amount });
    const [source, target] = [from.publicKey, owner].map((k) => PublicKey.findProgramAddressSync([k.toBytes(), token.toBytes(), m.toBytes()], associated)[0]);
    const data = Buffer.concat([Buffer.from([3]), Buffer.from(new BigUint64Array([BigInt(amount)]).buffer)]);
    instructions.push(new TransactionInstruction({ programId: token, data, keys: [{ pubkey: source, isSigner: false, isWritable: true }, { pubkey: target, isSigner: false, isWritable: true }, { pubkey: from.publicKey, isSigner: true, isWritable: false }] }));
  }
  const tx = new VersionedTransaction(new TransactionMessage({ payerKey: from.publicKey, recentBlockhash: recent('confirmed').blockhash, instructions }).compileToV0Message());
  tx.sign([from]);
  if (!landed.has(includes(Buffer.from(tx.serialize()).toString('base64')))) throw new Refusal(-32000, 'it did not land');
}

// holds is what an owner has of a mint.
function holds({ mint, of }) {
  const [at] = PublicKey.findProgramAddressSync([new PublicKey(of).toBytes(), token.toBytes(), new PublicKey(mint).toBytes()], associated);
  const a = vm.getAccount(at.toBytes());
  return a ? Number(Buffer.from(a.data()).readBigUInt64LE(64)) : 0;
}

function control(node, c) {
  if (c.pays) vm.setAccount(new PublicKey(c.pays.to).toBytes(), new litesvm.Account(BigInt(c.pays.lamports), Buffer.alloc(0), new PublicKey(new Uint8Array(32)).toBytes(), false, 0n));
  if (c.tokens) tokens(c.tokens);
  if (c.others) others(c.others);
  if ('lose' in c) losing = c.lose;
  if ('fees' in c) price = c.fees;
  for (const k of ['hide', 'lie']) if (k in c) node[k] = c[k];
  if (c.holds) return holds(c.holds);
  return sends;
}

// seen is what a node tells of a transaction at a commitment.
function seen(node, signature, commitment) {
  const x = landed.get(signature);
  if (!x || node.hide || at(commitment) < x.slot) return null;
  return node.lie ? { ...x, err: 'AccountInUse' } : x;
}

const context = (value) => ({ context: { slot: slot(), apiVersion: '4.0.0' }, value });
const methods = (node) => ({
  getGenesisHash: () => genesis,
  getVersion: () => ({ 'solana-core': '4.0.0', 'feature-set': 0 }),
  getHealth: () => 'ok',
  getSlot: (c = {}) => at(c.commitment),
  getBlockHeight: (c = {}) => at(c.commitment),
  getBlockTime: time,
  getLatestBlockhash: (c = {}) => context(recent(c.commitment)),
  isBlockhashValid: (hash) => context(taken(hash)),
  getBalance: (k) => context(account(k)?.lamports ?? 0),
  getAccountInfo: (k) => context(account(k)),
  getMultipleAccounts: (keys) => context(keys.map(account)),
  getRecentPrioritizationFees: () => Array.from({ length: 150 }, (_, i) => ({ slot: slot() - i, prioritizationFee: price })),
  simulateTransaction: (text, c = {}) => context(simulate(text, c)),
  sendTransaction: (text) => send(text),
  getSignatureStatuses: (all) =>
    context(all.map((s) => {
      const x = seen(node, s, 'processed');
      return x && { slot: x.slot, confirmations: null, err: x.err, status: x.err ? { Err: x.err } : { Ok: null }, confirmationStatus: at('finalized') >= x.slot ? 'finalized' : at('confirmed') >= x.slot ? 'confirmed' : 'processed' };
    })),
  getTransaction: (s, c = {}) => {
    const x = seen(node, s, c.commitment);
    return x && { slot: x.slot, blockTime: time(x.slot), version: 0, transaction: [x.raw.toString('base64'), 'base64'], meta: { err: x.err, fee: x.fee, status: {}, preBalances: x.before, postBalances: x.after, preTokenBalances: x.tokensBefore, postTokenBalances: x.tokensAfter, loadedAddresses: { writable: [], readonly: [] } } };
  },
  getSignaturesForAddress: (k, c = {}) => {
    if (c.minContextSlot > at(c.commitment)) throw new Refusal(-32016, 'Minimum context slot has not been reached');
    const all = [...landed].filter(([s, x]) => x.keys.includes(k) && seen(node, s, c.commitment));
    const from = c.before ? all.findIndex(([s]) => s === c.before) : all.length;
    return all.slice(0, Math.max(0, from)).reverse().slice(0, c.limit ?? 1000).map(([signature, x]) => ({ signature, slot: x.slot, err: x.err, memo: null, blockTime: time(x.slot), confirmationStatus: 'confirmed' }));
  },
  test: (c) => control(node, c),
});

function answer(node, call) {
  const out = { jsonrpc: '2.0', id: call.id };
  const method = methods(node)[call.method];
  if (!method) return { ...out, error: { code: -32601, message: 'Method not found' } };
  try {
    return { ...out, result: method(...(call.params ?? [])) };
  } catch (e) {
    return { ...out, error: { code: e.code ?? -32602, message: String(e.message) } };
  }
}

const nodes = await Promise.all([0, 1].map(async () => {
  const node = { hide: false, lie: false };
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', (d) => parts.push(d));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? body.map((c) => answer(node, c)) : answer(node, body)));
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${server.address().port}`;
}));
console.log(JSON.stringify({ genesis, nodes }));
process.stdin.resume().on('end', () => process.exit(0));
