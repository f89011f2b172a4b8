// Checks of one chain with viem, over HTTP and WebSocket: `node viem.mjs HTTP WS KEY OTHERKEY [--dev]`.
import {
  createPublicClient, createWalletClient, http, webSocket, defineChain, nonceManager, parseAbi, hashMessage, parseEther,
  recoverMessageAddress, encodeFunctionData, BaseError, ContractFunctionRevertedError, zeroHash,
} from 'viem';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { check, notHere, runAll, assert, until } from './checks.mjs';
import { compile } from './contract.mjs';

const [url, ws, key, otherKey] = process.argv.slice(2);
const dev = process.argv.includes('--dev');
const { abi, bytecode } = compile();
const plain = createPublicClient({ transport: http(url) });
const chain = defineChain({
  id: await plain.getChainId(), name: 'devnet', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [url], webSocket: [ws] } },
});
const reader = createPublicClient({ chain, transport: http(), pollingInterval: 50 });
const socket = createPublicClient({ chain, transport: webSocket(ws) });
const account = privateKeyToAccount(key);
const wallet = createWalletClient({ account, chain, transport: http() });
const otherWallet = createWalletClient({ account: privateKeyToAccount(otherKey), chain, transport: http() });
const other = '0x00000000000000000000000000000000c0ffee02';
let contract;

check(43, 'viem deployContract, writeContract and waitForTransactionReceipt', async () => {
  const deployed = await reader.waitForTransactionReceipt({ hash: await wallet.deployContract({ abi, bytecode }) });
  contract = deployed.contractAddress;
  const began = performance.now();
  const hash = await wallet.writeContract({ address: contract, abi, functionName: 'set', args: [1n] });
  const receipt = await reader.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, 'success');
  assert(performance.now() - began < 10_000);
});
check(44, 'viem: three sends at once with a nonce manager', async () => {
  const own = privateKeyToAccount(otherKey, { nonceManager });
  const sender = createWalletClient({ account: own, chain, transport: http() });
  const hashes = await Promise.all([1n, 2n, 3n].map((value) => sender.sendTransaction({ to: other, value })));
  for (const hash of hashes) {
    assert.equal((await reader.waitForTransactionReceipt({ hash })).status, 'success');
  }
});
check(45, 'viem simulateContract decodes a custom error', async () => {
  const failed = await reader.simulateContract({ account, address: contract, abi, functionName: 'fail', args: [1n] })
    .then(() => assert.fail('it did not revert'), (e) => e);
  assert(failed instanceof BaseError);
  const reverted = failed.walk((e) => e instanceof ContractFunctionRevertedError);
  assert.equal(reverted.data.errorName, 'Bad');
  assert.deepEqual(reverted.data.args, [account.address, 7n]);
});
check(46, 'viem multicall without a contract for it', async () => {
  const call = { address: contract, abi, functionName: 'v' };
  const results = await reader.multicall({ contracts: [call, call], deployless: true, allowFailure: false });
  assert.deepEqual(results, [1n, 1n]);
});
check(47, 'viem getContractEvents by an indexed argument', async () => {
  const hash = await otherWallet.writeContract({ address: contract, abi, functionName: 'set', args: [2n] });
  await reader.waitForTransactionReceipt({ hash });
  const events = await reader.getContractEvents({
    address: contract, abi, eventName: 'Set', args: { who: account.address }, fromBlock: 0n,
  });
  assert.deepEqual(events.map((e) => e.args.value), [1n]);
});
check(48, 'viem watchContractEvent over HTTP and WebSocket', async () => {
  const seen = { http: [], ws: [] };
  const stop = [
    reader.watchContractEvent({ address: contract, abi, eventName: 'Set', onLogs: (l) => seen.http.push(...l) }),
    socket.watchContractEvent({ address: contract, abi, eventName: 'Set', onLogs: (l) => seen.ws.push(...l) }),
  ];
  await new Promise((r) => setTimeout(r, 300));
  for (const value of [31n, 32n, 33n]) {
    const hash = await wallet.writeContract({ address: contract, abi, functionName: 'set', args: [value] });
    await reader.waitForTransactionReceipt({ hash });
  }
  await until('the events', () => seen.http.length >= 3 && seen.ws.length >= 3);
  await new Promise((r) => setTimeout(r, 200));
  for (const s of stop) s();
  for (const way of ['http', 'ws']) assert.deepEqual(seen[way].map((l) => l.args.value), [31n, 32n, 33n], way);
});
check(49, 'viem watchBlocks over WebSocket', async () => {
  const blocks = [];
  const stop = socket.watchBlocks({ includeTransactions: true, onBlock: (b) => blocks.push(b) });
  await new Promise((r) => setTimeout(r, 200));
  const hash = await wallet.sendTransaction({ to: other, value: 5n });
  await until('the block', () => blocks.some((b) => b.transactions.some((t) => t.hash === hash)));
  stop();
});
check(50, 'viem signAuthorization and getDelegation', async () => {
  const fresh = privateKeyToAccount(generatePrivateKey());
  const own = createWalletClient({ account: fresh, chain, transport: http() });
  await reader.waitForTransactionReceipt({
    hash: await wallet.sendTransaction({ to: fresh.address, value: parseEther('0.1') }),
  });
  const authorization = await own.signAuthorization({ contractAddress: contract, executor: 'self' });
  const hash = await own.sendTransaction({ authorizationList: [authorization], to: fresh.address,
    data: encodeFunctionData({ abi, functionName: 'set', args: [9n] }) });
  assert.equal((await reader.waitForTransactionReceipt({ hash })).status, 'success');
  assert.equal((await reader.getDelegation({ address: fresh.address })).toLowerCase(), contract.toLowerCase());
});
check(51, 'viem verifyMessage through a contract (ERC-1271)', async () => {
  const hash = await wallet.writeContract({ address: contract, abi, functionName: 'set', args: [BigInt(account.address)] });
  await reader.waitForTransactionReceipt({ hash });
  const message = 'a message';
  const signature = await account.signMessage({ message });
  assert.equal(await recoverMessageAddress({ message, signature }), account.address);
  assert.equal(await reader.verifyMessage({ address: contract, message, signature }), true);
  assert.equal(await reader.verifyMessage({ address: contract, message: 'another', signature }), false);
  assert.equal(await reader.verifyHash({ address: contract, hash: hashMessage(message), signature }), true);
});
check(52, 'viem simulateCalls with the changes of assets', async () => {
  const { assetChanges, results } = await reader.simulateCalls({
    account: account.address, traceAssetChanges: true, calls: [{ to: other, value: 7n }],
  });
  assert.equal(results[0].status, 'success');
  assert.equal(assetChanges[0].value.diff, -7n);
});
if (dev) {
  check(53, 'viem wallet client on an account of the node', async () => {
    const [address] = await reader.request({ method: 'eth_accounts' });
    const unlocked = createWalletClient({ account: address, chain, transport: http() });
    const hash = await unlocked.sendTransaction({ to: other, value: 1n });
    assert.equal((await reader.waitForTransactionReceipt({ hash })).status, 'success');
  });
} else {
  notHere(53, 'viem wallet client on an account of the node', 'without --dev the node has no accounts, and it never signs');
}
check(53.1, 'viem: the node signs neither a message nor typed data, also not for its accounts', async () => {
  const unlocked = createWalletClient({ account: account.address, chain, transport: http() });
  const typed = { domain: { chainId: chain.id }, types: { Note: [{ name: 'text', type: 'string' }] }, primaryType: 'Note', message: { text: 'a' } };
  for (const sign of [() => unlocked.signMessage({ message: 'a' }), () => unlocked.signTypedData(typed)]) {
    await assert.rejects(sign(), (e) => e.walk((x) => x.code === -32601) !== null);
  }
});
check(60.1, 'a block found by its hash, and one that is not', async () => {
  const block = await reader.getBlock({ includeTransactions: true });
  assert.equal((await reader.getBlock({ blockHash: block.hash })).number, block.number);
  await assert.rejects(reader.getBlock({ blockHash: zeroHash }), /could not be found/);
});
check(60.2, 'state at an older block stays what it was', async () => {
  const at = await reader.getBlockNumber();
  const read = () => reader.readContract({ address: contract, abi: parseAbi(['function v() view returns (uint256)']),
    functionName: 'v', blockNumber: at });
  const before = await read();
  const hash = await wallet.writeContract({ address: contract, abi, functionName: 'set', args: [before + 1n] });
  await reader.waitForTransactionReceipt({ hash });
  assert.equal(await read(), before);
});

process.exit((await runAll()) ? 0 : 1);
