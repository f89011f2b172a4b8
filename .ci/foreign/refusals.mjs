// Refusals: what the service must not accept, and the name it gives to each.
import assert from 'node:assert/strict';
import { encodeFunctionData, erc20Abi } from 'viem';
import * as flow from './flow.mjs';
import { evmKey, kernel31, kernel33, roleBased, signTypedData, SOLANA, solana } from './holders.mjs';
import { sleep } from './service.mjs';

const { BASE, PAYEE, key } = flow;
const V3 = flow.paths(3);

// refuse posts a body and checks status and name of the error, which it returns.
async function refuse(service, path, body, names, want = 400) {
  const answer = await service.post(path, body, { want });
  assert.ok([names].flat().includes(answer.error) && answer.statusCode === want, `${path}: expected ${names}, got ${JSON.stringify(answer)}`);
  return answer;
}

// offer returns a prepared call that another chain funds, and its signed quote.
async function offer({ service, usdc }, holder) {
  const asset = usdc.on(BASE);
  const held = await flow.balances(service, holder.address);
  const prepared = await flow.prepare(service, 3, holder, { asset, to: PAYEE, amount: held[key(asset)] + 20_000_000n });
  return { holder, prepared, quote: await flow.signed(await flow.callQuote(service, 3, prepared), holder) };
}

// An altered value is found wherever it stands, and so is an added or a missing one.
async function alteredValues(context) {
  const { service } = context;
  const { prepared, quote } = await offer(context, await kernel31(service, 'altered'));
  for (const [name, alter] of Object.entries({
    'a lower payment': (q) => { q.originToken.amount = '1'; },
    'a later expiry': (q) => { q.expirationTimestamp = String(Number(q.expirationTimestamp) + 600); },
    'another recipient': (q) => { q.destinationToken.recipientAccount = `${BASE}:${PAYEE}`; },
    'another amount of an operation': (q) => { q.originChainsOperations[0].amount = '1'; },
    'another call': (q) => { q.originChainsOperations[0].userOp.callData += '00'; },
    'a fee left out': (q) => { delete q.fees; },
    'something added': (q) => { q.note = 'please'; },
  })) {
    const altered = structuredClone(quote);
    alter(altered);
    const { message } = await refuse(service, V3.execute, altered, 'TamperProof');
    assert.ok(message.startsWith('Incorrect tamper proof signature'), `${name}: ${message}`);
  }
  const request = { ...prepared, callType: undefined, sourceAssetBalances: undefined, fromAggregatedAssetId: 'ob:usdc' };
  await refuse(service, V3.callQuote, { ...request, chainOperation: { ...prepared.chainOperation, amount: '1' } }, 'TamperProof');
  await refuse(service, V3.callQuote, { ...request, tamperProofSignature: quote.tamperProofSignature }, 'TamperProof');
  await flow.execute(service, 3, quote); // no refusal used the quote up
}

async function executedTwice(context) {
  const { service } = context;
  const { quote } = await offer(context, await kernel31(service, 'twice'));
  await flow.execute(service, 3, quote);
  await refuse(service, V3.execute, quote, 'QuoteAlreadyExecuted', 409);
  const raced = (await offer(context, await kernel31(service, 'raced'))).quote;
  const sent = await Promise.all([1, 2, 3, 4].map(() => service.send('POST', V3.execute, {}, raced, service.apiKey)));
  assert.deepEqual(sent.map((s) => s.status).sort(), [200, 409, 409, 409], 'of four at once one wins');
  await flow.completed(service, 3, raced.id);
}

// The mistakes that are made most, each answered with the member it is in.
async function commonMistakes({ service, usdc }) {
  const asset = usdc.on(BASE);
  const { accounts: [account] } = await kernel31(service, 'mistakes');
  const [call, approve] = [flow.payment(asset, PAYEE, 1n), encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PAYEE, 1n] })];
  const body = { accounts: [account], targetChain: BASE, calls: [call], tokensRequired: [{ assetType: asset, amount: '1' }] };
  for (const [path, change] of [
    ['calls[1]', { calls: [call, { ...call, data: approve }] }],
    ['calls[0].data', { calls: [{ ...call, data: 'a9059cbb' }] }],
    ['tokensRequired[0].assetType', { tokensRequired: [{ assetType: 'ob:usdc', amount: '1' }] }],
    ['accounts', { accounts: undefined }],
    ['accounts', { accounts: [account, ...kernel33('mistakes').accounts] }],
    ['accounts[0].deploymentType', { accounts: [{ ...account, deploymentType: 'EIP7702' }] }],
    ['targetChain', { targetChain: SOLANA }],
    ['slippageTolerance', { slippageTolerance: 0 }],
  ]) {
    const { details } = await refuse(service, V3.prepare, { ...body, ...change }, 'Validation failed');
    assert.ok(details.some((d) => d.path.startsWith(path) && d.expected && 'got' in d), `${path}: ${JSON.stringify(details)}`);
  }
  const { details } = await refuse(service, V3.prepare, { accounts: [account], targetChain: 'base', calls: [] }, 'Validation failed');
  assert.ok(details.length >= 2, 'all failures at once');
}

async function wrongSignatures(context) {
  const { service, usdc } = context;
  const [asset, stranger] = [usdc.on(BASE), await kernel31(service, 'stranger')];
  const holder = await kernel31(service, 'signatures');
  const prepared = await flow.prepare(service, 3, holder, { asset, to: PAYEE, amount: 1_000_000n });
  const ask = ({ accounts, tamperProofSignature }, chainOperation) => ({ accounts, chainOperation, tamperProofSignature });
  const operation = prepared.chainOperation;
  await refuse(service, V3.callQuote, ask(prepared, await signTypedData(operation, evmKey('signatures'))), 'InvalidSignature'); // a kernel account signs no typed data
  await refuse(service, V3.callQuote, ask(prepared, await stranger.sign(operation)), 'InvalidSignature');
  await refuse(service, V3.execute, await flow.callQuote(service, 3, prepared, {}), ['InvalidSignature', 'Validation failed']); // funding left unsigned

  const lock = await roleBased(service, 'signatures');
  const owned = await flow.prepare(service, 1, lock, { asset, to: PAYEE, amount: 1_000_000n });
  const byAdmin = await signTypedData(owned.chainOperation, evmKey('signatures/admin'));
  await refuse(service, flow.paths(1).callQuote, { account: owned.account, chainOperation: byAdmin, tamperProofSignature: owned.tamperProofSignature, fromAggregatedAssetId: 'ob:usdc' }, 'InvalidSignature');

  const eoa = kernel33('signatures');
  const { chainOperation, ...rest } = await flow.prepare(service, 3, eoa, { asset, to: PAYEE, amount: 1_000_000n });
  const { signature } = chainOperation.delegation;
  const elsewhere = { ...chainOperation, delegation: { ...chainOperation.delegation, signature: { ...signature, yParity: 1 - signature.yParity, v: signature.v === '0x1b' ? '0x1c' : '0x1b' } } };
  await refuse(service, V3.callQuote, ask(rest, elsewhere), 'InvalidSignature');
}

async function solanaMistakes({ service, usdc }) {
  const holder = solana('mistakes');
  const terms = { from: `${SOLANA}/slip44:501`, amount: 100_000_000n, into: usdc.on(BASE), to: `${BASE}:${PAYEE}` };
  const quote = await flow.makeQuote(service, 3, holder, terms);
  const [operation] = quote.originChainsOperations;
  const other = holder.sign((await flow.makeQuote(service, 3, holder, terms)).originChainsOperations[0]);
  for (const signature of [`0x${'ab'.repeat(64)}`, (await other).signature, undefined]) { // in hex, of another quote, none
    await refuse(service, V3.execute, { ...quote, originChainsOperations: [{ ...operation, signature }] }, ['InvalidSignature', 'Validation failed']);
  }
  assert.equal((await flow.makeQuote(service, 1, holder, terms, { want: 400 })).error, 'Validation failed', 'Solana needs v3');
  assert.equal((await flow.makeQuote(service, 3, holder, { ...terms, amount: 10n ** 15n }, { want: 400 })).error, 'InsufficientBalance');
}

async function keysAndQueries({ service }) {
  for (const apiKey of [null, 'wrong']) {
    const answer = await service.get('/assets/list', {}, { want: 401, key: apiKey });
    assert.deepEqual([answer.error, answer.path], ['UnauthorizedException', `${service.base.pathname}/assets/list`]);
  }
  await service.get('/v3/balances/aggregated-balance', { account: `eip155:1:${PAYEE}` }, { want: 400 });
  assert.deepEqual(await service.get(V3.status, { quoteId: `0x${'0'.repeat(64)}` }), {}, 'an unknown quote is no error');
}

// lateQuote is asked for when the run begins; by the time that `expired` runs it has expired, or is waited for.
export const lateQuote = async (context) => offer(context, await kernel31(context.service, 'late'));

async function expired({ service, late }) {
  const { quote, prepared, holder } = await late;
  await sleep(Math.max(0, Number(quote.expirationTimestamp) * 1000 + 1500 - Date.now()));
  await refuse(service, V3.execute, quote, 'QuoteExpired');
  assert.deepEqual(await service.get(V3.status, { quoteId: quote.id }), {}, 'it never ran');
  await flow.execute(service, 3, await flow.signed(await flow.callQuote(service, 3, prepared), holder)); // the prepared pair can be quoted again
}

export const refusals = {
  'refused: altered values': alteredValues,
  'refused: a second execute': executedTwice,
  'refused: the mistakes made most': commonMistakes,
  'refused: wrong signatures': wrongSignatures,
  'refused: mistakes with Solana': solanaMistakes,
  'refused: keys and queries': keysAndQueries,
  'refused: an expired quote': expired,
};
