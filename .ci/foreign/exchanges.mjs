// Swaps and transfers: exact input, so that the delivery lies between the minimum and the quoted amount.
import assert from 'node:assert/strict';
import { assertNamesQuote } from './calls.mjs';
import * as flow from './flow.mjs';
import { evmKey, kernel31, roleBased, SOLANA, solana, together } from './holders.mjs';

const { key, richest } = flow;
const ARBITRUM = 'eip155:42161';
const SOL = `${SOLANA}/slip44:501`;

// assertDelivered checks that the asset of the recipient grew by what was promised; it returns every other change.
function assertDelivered(quote, before, after) {
  const { amount, minimumAmount, assetType } = quote.destinationToken;
  const { [key(assetType)]: delivered, ...rest } = flow.changes(before, after);
  assert.ok(delivered >= BigInt(minimumAmount) && delivered <= BigInt(amount), `delivered ${delivered} of ${minimumAmount} to ${amount}`);
  return rest;
}

// minimum is what a tolerance in basis points leaves of the quoted amount.
const minimum = (quote, bps) => String(BigInt(quote.destinationToken.amount) * BigInt(10_000 - bps) / 10_000n);

async function solanaToEvm({ service, usdc }) {
  const holder = solana('swap out');
  const recipient = evmKey('swap recipient').address;
  const state = () => flow.balances(service, holder.address, recipient);
  const before = await state();
  const terms = { from: SOL, amount: 1_500_000_000n, into: usdc.on(ARBITRUM), to: `${ARBITRUM}:${recipient}`, slippageTolerance: 100 };
  const { quote, status } = await flow.exchange(service, 3, holder, terms);
  assert.equal(quote.originChainsOperations.length, 1);
  assertNamesQuote(quote.originChainsOperations[0], quote.id);
  assert.equal(quote.originToken.aggregatedAssetId, 'ob:single', 'one chain\'s asset was asked for');
  assert.equal(quote.destinationToken.minimumAmount, minimum(quote, 100));
  assert.equal(key(quote.destinationToken.recipientAccount), key(terms.to));
  assert.equal(key(status.recipientAccountId), key(`${ARBITRUM}/${recipient}`));
  assert.deepEqual(assertDelivered(quote, before, await state()), { [SOL]: -terms.amount }, 'the sponsor pays the fee of Solana');
  assert.equal((await flow.history(service, 3, holder.address, 5))[0].type, 'SWAP');
}

async function evmToSolana({ service, usdc, eth }) {
  const [evm, sol] = [await kernel31(service, 'swap in'), solana('swap in')];
  const state = () => flow.balances(service, evm.address, sol.address);
  const before = await state();
  const from = richest(before, eth.evm);
  const amount = before[key(from)] / 4n;
  const { quote } = await flow.exchange(service, 3, together(evm, sol), { from, amount, into: usdc.on(SOLANA), to: `${SOLANA}:${sol.address}` });
  assert.equal(quote.destinationToken.minimumAmount, minimum(quote, 200), 'the tolerance of a request that names none');
  assert.deepEqual(assertDelivered(quote, before, await state()), { [key(from)]: -amount });
}

// From one chain to another, with nobody named: the own account receives.
async function acrossChains({ service, usdc }) {
  const holder = await kernel31(service, 'across chains');
  const before = await flow.balances(service, holder.address);
  const from = richest(before, usdc.evm);
  const into = usdc.evm.find((a) => a !== from);
  const amount = before[key(from)] / 2n;
  const { quote } = await flow.exchange(service, 3, holder, { from, amount, into });
  assert.equal(key(quote.destinationToken.recipientAccount), key(`${flow.chainOf(into)}:${holder.address}`));
  assert.deepEqual(assertDelivered(quote, before, await flow.balances(service, holder.address)), { [key(from)]: -amount });
}

// An aggregated asset is paid from as many chains as it takes. No recipient is named: the own account receives.
async function aggregateToOneChain({ service, usdc, eth }) {
  const holder = await kernel31(service, 'aggregate');
  const before = await flow.balances(service, holder.address);
  const amount = before[key(richest(before, usdc.evm))] + 100_000_000n;
  const { quote } = await flow.exchange(service, 3, holder, { from: 'ob:usdc', amount, into: eth.on(ARBITRUM) });
  assert.ok(quote.originChainsOperations.length >= 2, 'several chains pay');
  assert.deepEqual([quote.originToken.aggregatedAssetId, BigInt(quote.originToken.amount), flow.paid(quote).total], ['ob:usdc', amount, amount], 'exact input');
  assert.deepEqual(assertDelivered(quote, before, await flow.balances(service, holder.address)), flow.paid(quote).out);
}

// A recipient whose token account does not exist: somebody has to open it, and it is not the user who pays for that.
async function toANewSolanaAccount({ service, usdc }) {
  const asset = usdc.on(SOLANA);
  const holder = solana('sends');
  const recipient = solana('receives').address;
  const before = await flow.balances(service, holder.address);
  const { quote } = await flow.exchange(service, 3, holder, { from: asset, amount: 20_000_000n, into: asset, to: `${SOLANA}:${recipient}` });
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), { [asset]: -20_000_000n });
  const there = Object.entries(await flow.balances(service, recipient)).filter(([, held]) => held > 0n);
  assert.deepEqual(there, [[asset, BigInt(quote.destinationToken.amount)]], 'a recipient that was paid gets no test funds');
}

async function transferBetweenChains({ service, usdc }) {
  const into = usdc.on(ARBITRUM);
  const holder = await roleBased(service, 'transfer');
  const recipient = evmKey('transfer recipient').address;
  const [before, there] = [await flow.balances(service, holder.address), await flow.balances(service, recipient)];
  const from = richest(before, usdc.evm.filter((a) => a !== into));
  const { quote, status } = await flow.exchange(service, 1, holder, { from, amount: 60_000_000n, into, to: `${ARBITRUM}:${recipient}` });
  assert.deepEqual(quote.account, { ...holder.account, type: 'role-based' });
  assert.equal('destinationChainOperation' in quote, false);
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), { [key(from)]: -60_000_000n });
  assert.deepEqual(assertDelivered(quote, there, await flow.balances(service, recipient)), {});
  assert.ok(status.destinationChainOperations.every((o) => o.chainId === 42161));
  assert.equal((await flow.history(service, 1, holder.address, 5))[0].type, 'TRANSFER');
}

export const exchanges = {
  'v3 swap from Solana to an EVM chain': solanaToEvm,
  'v3 swap from an EVM chain to Solana': evmToSolana,
  'v3 swap of an aggregated asset, several chains pay': aggregateToOneChain,
  'v3 transfer from one chain to another, to the own account': acrossChains,
  'v3 transfer to a Solana account that nobody has seen': toANewSolanaAccount,
  'v1 transfer between chains, role-based account without type': transferBetweenChains,
};
