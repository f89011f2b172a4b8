// Operations without fees that carry the paymaster Window, through a bundler: `node window.mjs HTTP KEY BUNDLER WINDOW`.
import { concat, createPublicClient, createWalletClient, defineChain, encodeFunctionData, http, numberToHex, parseEther } from 'viem';
import { createBundlerClient, entryPoint07Address } from 'viem/account-abstraction';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { to7702KernelSmartAccount, toKernelSmartAccount } from 'permissionless/accounts';
import { check, runAll, assert } from '../checks.mjs';
import { compile } from '../contract.mjs';

const [url, key, bundlerURL, window] = process.argv.slice(2);
const { abi, bytecode } = compile();
const chain = defineChain({ id: 8453, name: 'anvil', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [url] } } });
const client = createPublicClient({ chain, transport: http(), pollingInterval: 50 });
const wallet = createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() });
const bundler = createBundlerClient({ client, chain, transport: http(bundlerURL), pollingInterval: 50 });
const entryPoint = { address: entryPoint07Address, version: '0.7' };
const smart = await toKernelSmartAccount({ client, owners: [privateKeyToAccount(generatePrivateKey())], version: '0.3.1', entryPoint });
const owner = privateKeyToAccount(generatePrivateKey());
const delegated = await to7702KernelSmartAccount({ client, owner });
const target = (await client.waitForTransactionReceipt({ hash: await wallet.deployContract({ abi, bytecode }) })).contractAddress;
const set = (v) => ({ to: target, abi, functionName: 'set', args: [v] });
const value = () => client.readContract({ address: target, abi, functionName: 'v' });
// alto wants gas before verification; at no price it costs nothing.
const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, preVerificationGas: 100_000n };

// windowed are the fields of an operation that can run from one second to another; signature is what should be zeros.
async function windowed(from, to, signature = `0x${'00'.repeat(65)}`) {
  const now = Number((await client.getBlock()).timestamp);
  return {
    paymaster: window, paymasterVerificationGasLimit: 100_000n, paymasterPostOpGasLimit: 0n,
    paymasterData: concat([numberToHex(now + to, { size: 6 }), numberToHex(now + from, { size: 6 }), signature]),
  };
}
async function runs(account, calls, more = {}) {
  const hash = await bundler.sendUserOperation({ account, calls, ...free, ...(await windowed(0, 600)), ...more });
  const receipt = await bundler.waitForUserOperationReceipt({ hash });
  assert.equal(receipt.success, true);
  assert.equal(receipt.paymaster.toLowerCase(), window.toLowerCase());
  assert.equal(BigInt(receipt.actualGasCost), 0n);
  return receipt;
}
const gas = { callGasLimit: 300_000n, verificationGasLimit: 1_500_000n };

check(1, 'an operation without fees makes its account, which has no coins', async () => {
  await runs(smart, [set(11n)], gas);
  assert.equal(await value(), 11n);
  assert.equal(await client.getBalance({ address: smart.address }), 0n);
});
check(2, 'a batch', async () => {
  await runs(smart, [set(12n), set(13n)], gas);
  assert.equal(await value(), 13n);
});
check(3, 'both nonce lanes', async () => {
  const plain = await smart.getNonce({ key: 0n });
  for (const lane of [0n, 1n]) {
    const nonce = lane === 0n ? plain : ((plain >> 64n) | lane) << 64n;
    assert.equal(nonce & 0xffffffffffffffffn, lane === 0n ? plain & 0xffffffffffffffffn : 0n);
    await runs(smart, [set(20n + lane)], { ...gas, nonce });
    assert.equal(await value(), 20n + lane);
  }
});
check(4, 'a key that EIP-7702 delegates', async () => {
  const authorization = await owner.signAuthorization({ chainId: 8453, nonce: 0, contractAddress: delegated.authorization.address });
  await runs(delegated, [set(30n)], { ...gas, authorization });
  assert.equal(await value(), 30n);
  assert.match(await client.getCode({ address: owner.address }), /^0xef0100/);
  await runs(delegated, [set(31n), set(32n)], gas);
  assert.equal(await value(), 32n);
});
check(5, 'a window that is over, one that has not begun, and bytes where zeros belong', async () => {
  const before = await value();
  const data = encodeFunctionData({ abi, functionName: 'set', args: [99n] });
  for (const [why, fields] of [
    [/AA32|expires/, await windowed(-600, -300)],
    [/AA32|not valid yet/, await windowed(3600, 7200)],
    [/AA33/, await windowed(0, 600, `0x${'00'.repeat(64)}01`)],
    [/AA31/, { ...(await windowed(0, 600)), maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n }],
  ]) {
    await assert.rejects(bundler.sendUserOperation({ account: smart, calls: [{ to: target, data }], ...gas, ...free, ...fields }),
      (e) => why.test(e.details) || assert.fail(`${why}: ${e.details}`));
  }
  assert.equal(await value(), before);
});
check(6, 'coins go along', async () => {
  await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to: smart.address, value: parseEther('1') }) });
  await runs(smart, [{ to: owner.address, value: 5n }], gas);
  assert.equal(await client.getBalance({ address: owner.address }), 5n);
});

process.exit((await runAll()) ? 0 : 1);
