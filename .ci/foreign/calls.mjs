// Calls: prepared, signed, quoted, signed, executed, followed to their end. Each check says what every balance of the account became.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { concat, encodeDeployData, encodeFunctionData, erc20Abi, getContractAddress } from 'viem';
import * as flow from './flow.mjs';
import { evmKey, kernel31, kernel33, readMessage, roleBased, signTypedData, SOLANA, solana, together } from './holders.mjs';

const { BASE, PAYEE, key } = flow;

// spentWith is how balances change when a call takes all that its chain holds and funding operations bring the rest.
const spentWith = (quote, before, asset) => ({ ...flow.paid(quote).out, ...(before[key(asset)] && { [key(asset)]: -before[key(asset)] }) });

async function fundedFromSeveralChains({ service, usdc }) {
  const asset = usdc.on(BASE);
  const holder = await kernel31(service, 'several chains');
  const [before, payeeBefore] = [await flow.balances(service, holder.address), await flow.balances(service, PAYEE)];
  const others = usdc.evm.filter((a) => a !== asset);
  const short = before[key(flow.richest(before, others))] + 100_000_000n;
  const amount = before[key(asset)] + short;
  const { prepared, quote, status } = await flow.makeCall(service, 3, holder, { asset, to: PAYEE, amount });

  assert.equal(prepared.callType, 'cross_chain_with_solver');
  assert.ok(prepared.chainOperation.userOp.factory, 'the first operation deploys the account');
  assert.ok(quote.originChainsOperations.length >= 2, 'several chains pay');
  for (const operation of quote.originChainsOperations) {
    const [approval, deposit] = flow.callsIn(operation.userOp);
    assert.equal(approval.to.toLowerCase(), flow.tokenOf(operation.assetType).toLowerCase());
    assert.ok(deposit.data.includes(quote.id.slice(2)), 'the deposit names the quote');
  }
  const { total, fees } = flow.paid(quote);
  assert.equal(total, short + fees, 'what is paid is what is short, and the fees');
  assert.equal(BigInt(quote.originToken.amount), total);
  assert.equal(BigInt(quote.destinationToken.amount), amount);
  assert.equal(quote.destinationToken.minimumAmount, quote.destinationToken.amount, 'a call is exact');
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), spentWith(quote, before, asset));
  assert.deepEqual(flow.changes(payeeBefore, await flow.balances(service, PAYEE)), { [key(asset)]: amount });

  assert.equal(status.originChainOperations.length, quote.originChainsOperations.length);
  for (const { explorerUrl, hash } of [...status.originChainOperations, ...status.destinationChainOperations]) {
    const page = await service.fetch(new URL(explorerUrl)); // needs no key
    assert.ok(page.status === 200 && page.text.includes(hash), `${explorerUrl} answered ${page.status}`);
  }
  for (const user of [holder.address, holder.address.toLowerCase()]) {
    const [record] = await flow.history(service, 3, user, 20);
    assert.deepEqual([record.quoteId, record.status, record.type, record.recipientAccountId], [quote.id, 'COMPLETED', 'CALL', status.recipientAccountId]);
    assert.deepEqual(record.originToken, quote.originToken);
  }
}

// What the target chain holds already pays alone: the prepared operation comes back as the only one, without fees.
async function paidOnTheChain({ service, usdc }) {
  const asset = usdc.on(BASE);
  const holder = await kernel31(service, 'one chain');
  const before = await flow.balances(service, holder.address);
  for (const [i, amount] of [4_000_000n, 5_000_000n].entries()) {
    const { prepared, quote } = await flow.makeCall(service, 3, holder, { asset, to: PAYEE, amount });
    assert.equal(prepared.callType, 'same_chain_exclude_solver');
    assert.equal('factory' in prepared.chainOperation.userOp, i === 0, 'the second operation finds the account deployed');
    assert.deepEqual(quote.originChainsOperations, [await unsigned(prepared.chainOperation)]);
    assert.deepEqual(quote.fees, { assets: {}, cumulativeUSD: '0.00' });
  }
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), { [key(asset)]: -9_000_000n });
  assert.equal((await flow.history(service, 3, holder.address, 1)).length, 2, 'page by page');
}

const unsigned = (operation) => ({ ...operation, userOp: { ...operation.userOp, signature: '0x' } });

// Native coin is paid for with another asset, from another chain and from the same one. A base unit of USDC buys some 10^8 wei, so up to that much
// is left over.
async function paidWithAnotherAsset({ service, usdc, eth }) {
  for (const callType of ['cross_chain_with_solver_and_swaps', 'same_chain_with_solver']) {
    const holder = await kernel31(service, `pays with another asset/${callType}`);
    const before = await flow.balances(service, holder.address);
    const asset = eth.on(BASE);
    const amount = before[key(asset)] + 2_000_000_000_000_000n;
    const from = { fromAssetId: callType.startsWith('same') ? usdc.on(BASE) : flow.richest(before, usdc.evm) };
    const { prepared, quote } = await flow.makeCall(service, 3, holder, { asset, to: PAYEE, amount, ...from }, from);
    assert.equal(prepared.callType, callType);
    const after = await flow.balances(service, holder.address);
    assert.ok(after[key(asset)] < 10n ** 9n, `${after[key(asset)]} wei are left over`);
    assert.deepEqual(flow.changes(before, { ...after, [key(asset)]: 0n }), spentWith(quote, before, asset));
  }
}

// A declared allowance is approved before the calls and taken back after them, in one operation.
async function declaredAllowance({ service, usdc }) {
  const asset = usdc.on(BASE);
  const holder = await kernel31(service, 'allowance');
  const spender = evmKey('spender').address;
  const approve = (amount) => encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
  const prepared = await service.post('/v3/quote/prepare-call-quote', {
    accounts: holder.accounts, targetChain: BASE, calls: [flow.payment(asset, PAYEE, 1_000_000n)],
    tokensRequired: [{ assetType: asset, amount: '1000000' }], allowanceRequirements: [{ assetType: asset, amount: '2000000', spender }],
  });
  const [before, , after, ...rest] = flow.callsIn(prepared.chainOperation.userOp).map((c) => c.data);
  assert.deepEqual([before, after, rest], [approve(2_000_000n), approve(0n), []]);
  const signed = { ...prepared, chainOperation: await holder.sign(prepared.chainOperation) };
  await flow.execute(service, 3, await flow.signed(await flow.callQuote(service, 3, signed), holder));
}

// A token that /assets/list does not have: a call of the account deploys it, then every version tells what is held of it.
async function unlistedToken({ service }) {
  const holder = await kernel31(service, 'unlisted token');
  const { abi, bytecode } = JSON.parse(fs.readFileSync(new URL('../../assets/contracts/artifacts/Token.json', import.meta.url)));
  const creation = encodeDeployData({ abi, bytecode, args: ['Ant coin', 'ANT', 9, holder.address, 1_234_567n] });
  const salt = `0x${'00'.repeat(32)}`;
  const deployer = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
  const prepared = await service.post(flow.paths(3).prepare, {
    accounts: holder.accounts, targetChain: BASE, calls: [{ to: deployer, data: concat([salt, creation]) }],
  });
  const operation = { ...prepared, chainOperation: await holder.sign(prepared.chainOperation) };
  await flow.execute(service, 3, await flow.signed(await flow.callQuote(service, 3, operation), holder));
  const token = getContractAddress({ opcode: 'CREATE2', from: deployer, salt, bytecode: creation });
  const assetId = `${BASE}/erc20:${token}`;
  const told = { assetType: assetId, balance: '1234567', fiatValue: null, decimals: 9, symbol: 'ANT' };
  const v3 = await service.get('/v3/balances/aggregated-balance', { account: `eip155:1:${holder.address}`, assetId });
  assert.deepEqual(v3.balanceBySpecificAsset, [told]);
  const v2 = await service.get('/v2/balances/aggregated-balance', { address: holder.address, assetId });
  assert.deepEqual(v2.balanceBySpecificAsset, [told]);
  await service.get('/v2/balances/aggregated-balance', { address: holder.address, assetId: `${BASE}/erc20:${PAYEE}` }, { want: 400 });
}

// The first quote leaves destinationChainOperation as it came, the second has it signed as older clients do.
async function v1RoleBased({ service, usdc }) {
  const asset = usdc.on(BASE);
  const holder = await roleBased(service, 'v1');
  const before = await flow.balances(service, holder.address);
  const prepared = await flow.prepare(service, 1, holder, { asset, to: PAYEE, amount: before[key(asset)] + 40_000_000n });
  assert.deepEqual(prepared.account, { ...holder.account, type: 'role-based' }, 'the answer carries the type');
  const quote = await flow.callQuote(service, 1, prepared);
  assert.deepEqual(quote.destinationChainOperation, unsigned(prepared.chainOperation));
  await flow.execute(service, 1, await flow.signed(quote, holder));
  const { total } = flow.paid(quote);
  assert.equal(BigInt(quote.originToken.amount), total);
  assert.ok(total > 40_000_000n && total < 44_000_000n, `v1 quotes show no fees; ${total} for 40 USDC`);
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), spentWith(quote, before, asset));

  const again = await flow.prepare(service, 1, holder, { asset, to: PAYEE, amount: 7_000_000n });
  assert.equal('factory' in again.chainOperation.userOp, false, 'the account is deployed by now');
  const offer = await flow.callQuote(service, 1, again);
  const complete = { ...await flow.signed(offer, holder), destinationChainOperation: await holder.sign(offer.destinationChainOperation) };
  const status = await flow.execute(service, 1, complete);
  assert.ok(status.originChainOperations.every((o) => `eip155:${o.chainId}` === o.chain), 'v1 names chains by number too');
  const records = await flow.history(service, 1, holder.address, 1);
  assert.deepEqual(records.map((r) => [r.quoteId, r.status, r.type]), [offer.id, quote.id].map((id) => [id, 'COMPLETED', 'CALL']));
}

// The admin's messages are signed as docs/interface.md says; the service relays them, also for an account that is not deployed yet.
async function adminMessages({ service, usdc }) {
  const holder = await roleBased(service, 'admin messages');
  const account = { ...holder.account, type: 'role-based' };
  const [chain, chainId] = [BASE, Number(BASE.split(':')[1])];
  const roles = () => service.get('/account/roles', { account: `${chain}:${holder.address}` });
  const member = (name, type) => ({ name, type });
  const types = {
    RotateSession: [member('account', 'address'), member('newSession', 'address'), member('nonce', 'uint256')],
    AnnounceExit: [member('account', 'address'), member('nonce', 'uint256')],
    CancelExit: [member('account', 'address'), member('nonce', 'uint256')],
  };
  const relay = async (action, primaryType, more = {}) => {
    const { adminNonce: nonce } = await roles();
    const signature = await evmKey('admin messages/admin').signTypedData({
      domain: { name: 'RoleBasedECDSAValidator', version: '1.4.3', chainId, verifyingContract: '0xA24bD06230f3F54e5bf266AE7A41750eE3b789FA' },
      types, primaryType, message: { account: holder.address, nonce: BigInt(nonce), ...more },
    });
    const sent = await service.post('/account/relay', { account, chain, action, nonce, signature, ...more });
    assert.equal(sent.chain, chain);
    const page = await service.fetch(new URL(sent.explorerUrl));
    assert.ok(page.status === 200 && page.text.includes(sent.hash));
  };
  assert.equal((await roles()).deployed, false);
  await relay('announce-exit', 'AnnounceExit');
  const away = (await roles()).exitAvailableAt - Date.now() / 1000;
  assert.ok(Math.abs(away - 86_400) < 120, `the exit opens in ${away} s`);
  await relay('cancel-exit', 'CancelExit');
  const session = evmKey('admin messages/second session');
  await relay('rotate-session', 'RotateSession', { newSession: session.address });
  const { adminNonce, exitAvailableAt, sessionAddress } = await roles();
  assert.deepEqual([adminNonce, exitAvailableAt, sessionAddress], ['3', 0, session.address]);

  const renewed = { ...holder, accounts: [{ ...account, sessionAddress: session.address }], sign: (operation) => signTypedData(operation, session) };
  await flow.makeCall(service, 3, renewed, { asset: usdc.on(BASE), to: PAYEE, amount: 1_000_000n });
}

// An EOA lends itself to the kernel's code on the chains that it pays from and is called on; once it has, nobody asks again.
async function delegatedEoa({ service, usdc }) {
  const asset = usdc.on(BASE);
  const holder = kernel33('delegated');
  const before = await flow.balances(service, holder.address);
  const first = await flow.makeCall(service, 3, holder, { asset, to: PAYEE, amount: before[key(asset)] + 30_000_000n });
  assert.equal(first.prepared.chainOperation.delegation?.nonce, 0, 'an EOA without code needs a delegation on the target chain');
  assert.ok(first.quote.originChainsOperations.every((o) => o.delegation && !o.userOp.factory), 'and on the chains that pay');
  assert.deepEqual(flow.changes(before, await flow.balances(service, holder.address)), spentWith(first.quote, before, asset));

  const second = await flow.makeCall(service, 3, holder, { asset, to: PAYEE, amount: 5_000_000n });
  assert.equal('delegation' in second.prepared.chainOperation, false, 'the target chain knows the delegation');
  const known = first.quote.originChainsOperations.map((o) => flow.chainOf(o.assetType));
  for (const o of second.quote.originChainsOperations) {
    assert.equal('delegation' in o, !known.includes(flow.chainOf(o.assetType)), `delegation on ${flow.chainOf(o.assetType)}`);
  }
}

// The required amount is more than all EVM chains hold, so that Solana has to pay a part.
async function partlyFromSolana({ service, usdc }) {
  const asset = usdc.on(BASE);
  const [evm, sol] = [await kernel31(service, 'with solana'), solana('with solana')];
  const state = () => flow.balances(service, evm.address, sol.address);
  const before = await state();
  const amount = usdc.evm.reduce((sum, a) => sum + before[key(a)], 0n) + 100_000_000n;
  const { prepared, quote } = await flow.makeCall(service, 3, together(evm, sol), { asset, to: PAYEE, amount });
  assert.ok(prepared.sourceAssetBalances.some((b) => b.assetType === usdc.on(SOLANA)));
  const [fromSolana, ...more] = quote.originChainsOperations.filter((o) => o.type === 'solana');
  assert.deepEqual(more, []);
  assert.ok(quote.originChainsOperations.length > 2, 'EVM chains pay too');
  assertNamesQuote(fromSolana, quote.id);
  const { total, fees } = flow.paid(quote);
  assert.equal(total, amount - before[key(asset)] + fees);
  assert.deepEqual(flow.changes(before, await state()), spentWith(quote, before, asset));
  for (const user of [evm.address, sol.address]) {
    assert.equal((await flow.history(service, 3, user, 5))[0].quoteId, quote.id, `found under ${user}`);
  }
}

// assertNamesQuote checks the memo that ties a Solana payment to its quote, and that nobody signed yet.
export function assertNamesQuote(operation, id) {
  const memo = readMessage(operation).instructions.at(-1);
  assert.equal(memo.programId, 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
  assert.equal(Buffer.from(memo.data, 'hex').toString('utf8'), id);
  assert.equal('signature' in operation, false);
}

export const calls = {
  'v3 call, kernel v3.1, funded from several chains': fundedFromSeveralChains,
  'v3 call, kernel v3.1, paid on the chain, twice': paidOnTheChain,
  'v3 call, kernel v3.1, paid with another asset': paidWithAnotherAsset,
  'v3 call with a declared allowance': declaredAllowance,
  'balances of a token that the service does not list': unlistedToken,
  'v1 call, role-based account without type': v1RoleBased,
  "the admin's messages: announce and cancel an exit, rotate the session key": adminMessages,
  'v3 call, EIP-7702 account, and again without delegation': delegatedEoa,
  'v3 call funded from EVM chains and Solana': partlyFromSolana,
};
