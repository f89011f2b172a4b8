// Uses the Solana endpoint of a devnet as wallets do, with @solana/web3.js and @solana/kit: `node solana.mjs URL [WEBSOCKET]`, where the
// second is the first as ws:// when it is left out. Exits with 0 when every check passed.
import assert from 'node:assert/strict';
import * as web3 from '@solana/web3.js';
import * as kit from '@solana/kit';

const [url, socket = url?.replace(/^http/, 'ws')] = process.argv.slice(2);
if (!url) {
  console.error('usage: node solana.mjs URL [WEBSOCKET]');
  process.exit(2);
}
const SOL = web3.LAMPORTS_PER_SOL;
const FEE = 5_000;
const system = web3.SystemProgram.programId;
const token = new web3.PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const associated = new web3.PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const memo = new web3.PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const connection = new web3.Connection(url, { commitment: 'confirmed', wsEndpoint: socket });
const alice = web3.Keypair.generate();
const bob = web3.Keypair.generate();

let checks = 0;
async function check(name, run) {
  const began = performance.now();
  await run();
  checks++;
  console.log(`ok ${name} (${(performance.now() - began).toFixed(0)} ms)`);
}

// within fails when something takes longer than it may.
function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// faucet sends the airdrops; mint is that of one of its tokens.
let faucet;
let mint;

const transfer = (from, to, lamports) => new web3.Transaction().add(web3.SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports }));
const send = (tx, ...signers) => within(2_000, 'sendAndConfirmTransaction', web3.sendAndConfirmTransaction(connection, tx, signers));

await check('web3.js: version, genesis, epoch', async () => {
  assert.match((await connection.getVersion())['solana-core'], /^\d+\.\d+\.\d+/);
  assert.equal((await connection.getGenesisHash()).length > 30, true);
  const epoch = await connection.getEpochInfo();
  assert.equal(epoch.absoluteSlot <= await connection.getSlot(), true);
  assert.equal(await connection.getMinimumBalanceForRentExemption(165), 2_039_280);
  assert.equal((await connection.getAccountInfo(system)).executable, true);
});

await check('web3.js: requestAirdrop, confirmTransaction', async () => {
  const [one, two] = await Promise.all([connection.requestAirdrop(alice.publicKey, 2 * SOL), connection.requestAirdrop(alice.publicKey, 2 * SOL)]);
  assert.notEqual(one, two);
  const latest = await connection.getLatestBlockhash();
  for (const signature of [one, two]) {
    const { value } = await within(2_000, 'confirmTransaction', connection.confirmTransaction({ signature, ...latest }));
    assert.equal(value.err, null);
  }
  assert.equal(await connection.getBalance(alice.publicKey), 4 * SOL);
  const { transaction } = await connection.getTransaction(one, { maxSupportedTransactionVersion: 0 });
  faucet = transaction.message.staticAccountKeys[0];
});

let signature;
await check('web3.js: onAccountChange, onLogs, sendAndConfirmTransaction', async () => {
  const changes = [];
  const logs = [];
  const account = connection.onAccountChange(bob.publicKey, (info, context) => changes.push([info.lamports, context.slot]));
  const log = connection.onLogs(alice.publicKey, (l) => logs.push(l));
  await new Promise((resolve) => setTimeout(resolve, 300)); // web3.js does not say when it has subscribed
  signature = await send(transfer(alice, bob.publicKey, SOL), alice);
  await within(2_000, 'notifications', (async () => { while (!changes.length || !logs.length) await new Promise((r) => setTimeout(r, 10)); })());
  assert.equal(changes[0][0], SOL);
  assert.equal(logs[0].signature, signature);
  assert.deepEqual(logs[0].logs, [`Program ${system} invoke [1]`, `Program ${system} success`]);
  await connection.removeAccountChangeListener(account);
  await connection.removeOnLogsListener(log);
});

await check('web3.js: getTransaction with the balances of all accounts', async () => {
  const tx = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  assert.deepEqual(tx.meta.preBalances, [4 * SOL, 0, 0]);
  assert.deepEqual(tx.meta.postBalances, [3 * SOL - FEE, SOL, 0]);
  assert.equal(tx.meta.fee, FEE);
  assert.equal(tx.version, 'legacy');
  assert.equal(Math.abs(tx.blockTime - Date.now() / 1_000) < 60, true);
  const parsed = await connection.getParsedTransaction(signature);
  assert.deepEqual(parsed.transaction.message.instructions[0].parsed,
    { type: 'transfer', info: { source: alice.publicKey.toBase58(), destination: bob.publicKey.toBase58(), lamports: SOL } });
});

await check('web3.js: getParsedTokenAccountsByOwner', async () => {
  const held = (await connection.getParsedTokenAccountsByOwner(faucet, { programId: token })).value.map((v) => v.account.data.parsed.info);
  assert.equal(held.length > 0, true);
  assert.equal(held[0].owner, faucet.toBase58());
  assert.equal(Number(held[0].tokenAmount.uiAmountString) > 0, true);
  mint = new web3.PublicKey(held[0].mint);
  const [at] = web3.PublicKey.findProgramAddressSync([bob.publicKey.toBytes(), token.toBytes(), mint.toBytes()], associated);
  const keys = [[alice.publicKey, true, true], [at, false, true], [bob.publicKey], [mint], [system], [token]]
    .map(([pubkey, isSigner = false, isWritable = false]) => ({ pubkey, isSigner, isWritable }));
  const tx = new web3.Transaction().add(
    new web3.TransactionInstruction({ programId: associated, keys, data: Buffer.from([1]) }),
    new web3.TransactionInstruction({ programId: memo, keys: [], data: Buffer.from('for bob') }));
  const opened = await send(tx, alice);
  const { value } = await connection.getParsedTokenAccountsByOwner(bob.publicKey, { programId: token });
  assert.equal(value.length, 1);
  assert.equal(value[0].pubkey.toBase58(), at.toBase58());
  const { info, type } = value[0].account.data.parsed;
  assert.equal(type, 'account');
  assert.equal(info.mint, mint.toBase58());
  assert.deepEqual(info.tokenAmount, { amount: '0', decimals: held[0].tokenAmount.decimals, uiAmount: 0, uiAmountString: '0' });
  assert.equal((await connection.getTokenAccountBalance(at)).value.amount, '0');
  assert.equal((await connection.getTokenSupply(mint)).value.decimals, held[0].tokenAmount.decimals);
  const parsed = await connection.getParsedTransaction(opened);
  assert.deepEqual(parsed.meta.innerInstructions[0].instructions.map((ix) => ix.parsed.type),
    ['getAccountDataSize', 'createAccount', 'initializeImmutableOwner', 'initializeAccount3']);
  assert.equal(parsed.meta.postTokenBalances[0].owner, bob.publicKey.toBase58());
  const [newest, before] = await connection.getSignaturesForAddress(bob.publicKey);
  assert.deepEqual([newest.signature, newest.memo, before.signature], [opened, '[7] for bob', signature]);
});

await check('web3.js: a transfer above the balance is refused with the log', async () => {
  await assert.rejects(send(transfer(bob, alice.publicKey, 100 * SOL), bob), (error) => {
    assert.equal(error instanceof web3.SendTransactionError, true);
    assert.equal(error.logs.includes(`Transfer: insufficient lamports ${SOL - FEE}, need ${100 * SOL}`), true, error.logs.join('\n'));
    assert.match(error.message, /custom program error: 0x1/);
    return true;
  });
  assert.equal(await connection.getBalance(bob.publicKey), SOL);
});

await check('web3.js: versioned transactions, simulateTransaction, getFeeForMessage', async () => {
  const { blockhash } = await connection.getLatestBlockhash();
  const message = new web3.TransactionMessage({ payerKey: alice.publicKey, recentBlockhash: blockhash,
    instructions: transfer(alice, bob.publicKey, 1).instructions }).compileToV0Message();
  assert.equal((await connection.getFeeForMessage(message)).value, FEE);
  const tx = new web3.VersionedTransaction(message);
  const { value } = await connection.simulateTransaction(tx, { replaceRecentBlockhash: true, accounts: { encoding: 'base64', addresses: [bob.publicKey.toBase58()] } });
  assert.equal(value.err, null);
  assert.equal(value.accounts[0].lamports, SOL + 1);
  tx.sign([alice]);
  const name = await connection.sendTransaction(tx);
  assert.equal((await connection.getSignatureStatus(name)).value.confirmationStatus, 'finalized');
  assert.equal((await connection.getTransaction(name, { maxSupportedTransactionVersion: 0 })).version, 0);
  await assert.rejects(connection.sendTransaction(tx), /already been processed/);
});

const rpc = kit.createSolanaRpc(url);
const rpcSubscriptions = kit.createSolanaRpcSubscriptions(socket);
const confirm = kit.sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });

// payment makes a signed transfer of kit. The data of the instruction is written here, so that one package is enough.
async function payment(signer, to, lamports) {
  const { value: latest } = await rpc.getLatestBlockhash().send();
  const data = new Uint8Array(12);
  new DataView(data.buffer).setUint32(0, 2, true);
  new DataView(data.buffer).setBigUint64(4, lamports, true);
  const instruction = { programAddress: kit.address(system.toBase58()), data,
    accounts: [{ address: signer.address, role: kit.AccountRole.WRITABLE_SIGNER, signer }, { address: to, role: kit.AccountRole.WRITABLE }] };
  const message = kit.pipe(kit.createTransactionMessage({ version: 0 }),
    (m) => kit.setTransactionMessageFeePayerSigner(signer, m),
    (m) => kit.setTransactionMessageLifetimeUsingBlockhash(latest, m),
    (m) => kit.appendTransactionMessageInstruction(instruction, m));
  return kit.signTransactionMessageWithSigners(message);
}

await check('kit: airdropFactory, sendAndConfirmTransactionFactory', async () => {
  const signer = await kit.generateKeyPairSigner();
  await within(2_000, 'airdrop', kit.airdropFactory({ rpc, rpcSubscriptions })({ commitment: 'confirmed', lamports: kit.lamports(BigInt(SOL)), recipientAddress: signer.address }));
  const to = kit.address(bob.publicKey.toBase58());
  const before = (await rpc.getBalance(to).send()).value;
  const tx = await payment(signer, to, 7n);
  await within(2_000, 'confirmation', confirm(tx, { commitment: 'confirmed' }));
  assert.equal((await rpc.getBalance(to).send()).value, before + 7n);
  const sealed = await rpc.getTransaction(kit.getSignatureFromTransaction(tx), { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }).send();
  assert.equal(sealed.meta.err, null);
  await assert.rejects(async () => confirm(await payment(signer, to, 100n * BigInt(SOL)), { commitment: 'confirmed' }), (error) => {
    assert.equal(kit.isSolanaError(error, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE), true, String(error));
    assert.equal(error.context.logs.some((l) => l.startsWith('Transfer: insufficient lamports')), true);
    return true;
  });
});

await check('kit: notifications of slots and accounts', async () => {
  const stop = new AbortController();
  const slots = await rpcSubscriptions.slotNotifications().subscribe({ abortSignal: stop.signal });
  const seen = [];
  await within(4_000, 'slots', (async () => {
    for await (const { slot } of slots) {
      seen.push(slot);
      if (seen.length === 3) break;
    }
  })());
  assert.equal(seen[0] < seen[1] && seen[1] < seen[2], true);
  stop.abort();
});

console.log(`${checks} checks passed`);
process.exit(0);
