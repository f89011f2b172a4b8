// The flows of the interface: a call (prepare, sign, quote, sign, execute, poll), a swap or transfer (quote, sign, execute, poll), balances, history.
import assert from 'node:assert/strict';
import { decodeAbiParameters, decodeFunctionData, encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { sleep } from './service.mjs';

export const BASE = 'eip155:8453';
export const PAYEE = '0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0';

const PATHS = {
  1: {
    prepare: '/quotes/prepare-call-quote', callQuote: '/quotes/call-quote', quote: '/v1/quote', execute: '/quotes/execute-quote',
    status: '/status/get-execution-status', history: '/status/get-tx-history',
  },
  3: {
    prepare: '/v3/quote/prepare-call-quote', callQuote: '/v3/quote/call-quote', quote: '/v3/quote', execute: '/v3/quote/execute-quote',
    status: '/v3/status/get-execution-status', history: '/v3/status/get-tx-history',
  },
};
export const paths = (version) => PATHS[version];

// who names the accounts of a request: v1 has one, v3 a list.
export const who = (version, holder) => (version === 1 ? { account: holder.accounts[0] } : { accounts: holder.accounts });

// payment is the call that pays an asset of the target chain, a token or the chain's coin, to somebody.
export const payment = (asset, to, amount) => (tokenOf(asset)
  ? { to: tokenOf(asset), value: '0x0', data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }) }
  : { to, value: String(amount), data: '0x' });

export const chainOf = (asset) => asset.split('/')[0];
export const tokenOf = (asset) => asset.split('/erc20:')[1];

// callsIn reads the batch that a user operation of an ERC-7579 account executes.
export function callsIn({ callData }) {
  const { args: [mode, batch] } = decodeFunctionData({ abi: parseAbi(['function execute(bytes32 mode, bytes executionCalldata)']), data: callData });
  assert.ok(mode.startsWith('0x01'), 'a batch');
  return decodeAbiParameters([{ type: 'tuple[]', components: [{ type: 'address', name: 'to' }, { type: 'uint256', name: 'value' }, { type: 'bytes', name: 'data' }] }], batch)[0];
}

// prepare asks for the operation of one payment and signs it once it is exactly that.
export async function prepare(service, version, holder, { asset, to, amount, ...more }) {
  const call = payment(asset, to, amount);
  const prepared = await service.post(paths(version).prepare, {
    ...who(version, holder), targetChain: chainOf(asset), calls: [call], tokensRequired: [{ assetType: asset, amount: String(amount) }],
    ...(version === 1 && { allowanceRequirements: [] }), ...more,
  });
  const operation = prepared.chainOperation;
  assert.equal(operation.userOp.signature, '0x');
  assert.deepEqual(callsIn(operation.userOp).map((c) => [c.to.toLowerCase(), c.value, c.data]), [[call.to.toLowerCase(), BigInt(call.value), call.data]], 'the operation is the call that was asked for');
  return { ...prepared, chainOperation: await holder.sign(operation) };
}

export const callQuote = (service, version, prepared, more = { fromAggregatedAssetId: 'ob:usdc' }, options) => service.post(paths(version).callQuote, {
  ...who(version, { accounts: prepared.accounts ?? [prepared.account] }), chainOperation: prepared.chainOperation, tamperProofSignature: prepared.tamperProofSignature, ...more,
}, options);

// signed returns the quote with all its origin operations signed.
export async function signed(quote, holder) {
  return { ...quote, originChainsOperations: await Promise.all(quote.originChainsOperations.map(holder.sign)) };
}

export async function execute(service, version, quote) {
  assert.deepEqual(await service.get(paths(version).status, { quoteId: quote.id }), {}, 'a quote that was not executed has no status');
  const accepted = await service.post(paths(version).execute, quote);
  assert.deepEqual(accepted, { success: true, guarantees: null, error: null });
  return completed(service, version, quote.id);
}

// completed polls until the status is final. It may only move forward, and must end in COMPLETED.
export async function completed(service, version, quoteId, within = 90_000) {
  const order = ['PENDING', 'IN_PROGRESS', 'EXECUTED', 'COMPLETED'];
  const until = Date.now() + within;
  for (let reached = 0; ; await sleep(250)) {
    const status = await service.get(paths(version).status, { quoteId });
    const step = order.indexOf(status.status);
    assert.ok(step >= reached, `status ${status.status} after ${order[reached]}, reason ${status.failReason}`);
    reached = step;
    if (status.status === 'COMPLETED') return status;
    assert.ok(Date.now() < until, `${quoteId} is still ${status.status}`);
  }
}

// makeCall runs a call from prepare to COMPLETED.
export async function makeCall(service, version, holder, call, offer) {
  const prepared = await prepare(service, version, holder, call);
  const quote = await callQuote(service, version, prepared, offer);
  return { prepared, quote, status: await execute(service, version, await signed(quote, holder)) };
}

// makeQuote asks for a swap or a transfer; `exchange` runs it to COMPLETED. `to` is a CAIP-10 account and may be absent.
export const makeQuote = (service, version, holder, { from, amount, into, to, slippageTolerance }, options) => service.post(paths(version).quote, {
  from: { ...who(version, holder), asset: { assetId: from }, amount: String(amount) },
  to: { asset: { assetId: into }, ...(to && { account: to }) },
  ...(slippageTolerance && { slippageTolerance }),
}, options);

export async function exchange(service, version, holder, terms) {
  const quote = await makeQuote(service, version, holder, terms);
  return { quote, status: await execute(service, version, await signed(quote, holder)) };
}

// offered returns the chain-specific tokens of an aggregated asset: all on EVM chains, or the one on a chain.
export function offered(list, aggregate) {
  const assets = list.find((a) => a.aggregatedAssetId === aggregate).aggregatedEntities.map((e) => e.assetType);
  return { evm: assets.filter((a) => a.startsWith('eip155:')), on: (chain) => assets.find((a) => chainOf(a) === chain) };
}

// balances returns what the named accounts hold: asset → base units, EVM assets in lower case.
export async function balances(service, ...accounts) {
  const named = accounts.map((a) => (a.startsWith('0x') ? `eip155:1:${a}` : `solana:${a}`)).join(',');
  const answer = await service.get('/v3/balances/aggregated-balance', { account: named, aggregatedAssetId: 'ob:usdc,ob:usdt,ob:eth,ob:sol' });
  return Object.fromEntries(answer.balanceByAggregatedAsset.flatMap((a) => a.individualAssetBalances).map((b) => [key(b.assetType), BigInt(b.balance)]));
}

export const key = (asset) => (asset.startsWith('eip155:') ? asset.toLowerCase() : asset);

// richest returns the asset of which most is held.
export const richest = (held, assets) => assets.reduce((best, a) => (held[key(a)] > held[key(best)] ? a : best));

// changes returns what differs between two states, so that a test can say all of it.
export function changes(before, after) {
  return Object.fromEntries(Object.keys(after).filter((a) => after[a] !== before[a]).map((a) => [a, after[a] - before[a]]));
}

// paid adds up what the funding operations of a quote take, and what of it is fees: asset → negative amount, and totals in base units of
// one aggregate whose entities all have the same decimals.
export function paid(quote) {
  const out = {};
  for (const o of quote.originChainsOperations) out[key(o.assetType)] = (out[key(o.assetType)] ?? 0n) - BigInt(o.amount);
  const total = -Object.values(out).reduce((a, b) => a + b, 0n);
  const fees = Object.values(quote.fees?.assets ?? {}).reduce((a, b) => a + BigInt(b), 0n);
  return { out, total, fees };
}

// history returns all records of a user, page by page; a record that stands on two pages is an error.
export async function history(service, version, user, limit) {
  const records = [];
  for (let continuation; ;) {
    const page = await service.get(paths(version).history, { user, limit, ...(continuation && { continuation }) });
    assert.ok(page.transactions.length <= limit);
    records.push(...page.transactions);
    continuation = page.continuation;
    if (continuation === undefined) break;
  }
  assert.equal(new Set(records.map((r) => r.quoteId)).size, records.length, 'no record twice');
  return records;
}
