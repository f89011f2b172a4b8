// Checks of the ERC-4337 methods with viem's bundler client and permissionless: `node bundler.mjs HTTP KEY`.
import { createPublicClient, createWalletClient, http, defineChain, parseEther } from 'viem';
import { createBundlerClient, entryPoint07Address } from 'viem/account-abstraction';
import { privateKeyToAccount, generatePrivateKey } from 'viem/accounts';
import { createSmartAccountClient } from 'permissionless';
import { toKernelSmartAccount } from 'permissionless/accounts';
import { createPimlicoClient } from 'permissionless/clients/pimlico';
import { check, runAll, assert } from './checks.mjs';
import { compile } from './contract.mjs';

const [url, key, bundlerURL = url] = process.argv.slice(2);
const { abi, bytecode } = compile();
const id = await createPublicClient({ transport: http(url) }).getChainId();
const chain = defineChain({
  id, name: 'devnet', nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 }, rpcUrls: { default: { http: [url] } },
});
const client = createPublicClient({ chain, transport: http(), pollingInterval: 50 });
const wallet = createWalletClient({ account: privateKeyToAccount(key), chain, transport: http() });
const bundler = createBundlerClient({ client, chain, transport: http(bundlerURL), pollingInterval: 50 });
const owner = privateKeyToAccount(generatePrivateKey());
const account = await toKernelSmartAccount({
  client, owners: [owner], version: '0.3.1', entryPoint: { address: entryPoint07Address, version: '0.7' },
});
let contract;

// verifies has signatures of the account and of a stranger checked through eth_call.
async function verifies() {
  const stranger = privateKeyToAccount(generatePrivateKey());
  const text = { message: 'a message' };
  const typed = { domain: { chainId: id }, types: { Note: [{ name: 'text', type: 'string' }] }, primaryType: 'Note', message: { text: 'a' } };
  const { address } = account;
  const signed = [await account.signMessage(text), await account.signTypedData(typed)];
  assert.equal(await client.verifyMessage({ address, ...text, signature: signed[0] }), true);
  assert.equal(await client.verifyTypedData({ address, ...typed, signature: signed[1] }), true);
  assert.equal(await client.verifyMessage({ address, message: 'another', signature: signed[0] }), false);
  assert.equal(await client.verifyTypedData({ address, ...typed, signature: await stranger.signTypedData(typed) }), false);
  return signed;
}
const wrapped = (signature) => signature.endsWith('6492'.repeat(16)); // ERC-6492: with what deploys the account

check(51.1, 'viem: what an account signs that is not deployed yet (ERC-6492)', async () => {
  assert((await verifies()).every(wrapped));
  assert.equal(await client.getCode({ address: account.address }), undefined);
});
check(54, 'viem bundler client: an operation that makes its account', async () => {
  assert.deepEqual((await bundler.getSupportedEntryPoints()).map((a) => a.toLowerCase()), [entryPoint07Address.toLowerCase()]);
  contract = (await client.waitForTransactionReceipt({ hash: await wallet.deployContract({ abi, bytecode }) })).contractAddress;
  await client.waitForTransactionReceipt({
    hash: await wallet.sendTransaction({ to: account.address, value: parseEther('0.5') }),
  });
  const hash = await bundler.sendUserOperation({ account, calls: [{ to: contract, abi, functionName: 'set', args: [3n] }] });
  const receipt = await bundler.waitForUserOperationReceipt({ hash });
  assert.equal(receipt.success, true);
  assert(receipt.logs.some((l) => l.address.toLowerCase() === contract.toLowerCase()));
  assert.equal(await client.readContract({ address: contract, abi, functionName: 'v' }), 3n);
  const found = await bundler.getUserOperation({ hash });
  assert.equal(found.userOperation.sender.toLowerCase(), account.address.toLowerCase());
  assert.equal(found.transactionHash, receipt.receipt.transactionHash);
});
check(54.2, 'viem: what a deployed account signs (ERC-1271)', async () => {
  assert(!(await verifies()).some(wrapped));
});
check(54.1, 'permissionless: a smart account client with its gas price', async () => {
  const pimlico = createPimlicoClient({ chain, transport: http(bundlerURL), entryPoint: { address: entryPoint07Address, version: '0.7' } });
  const smart = createSmartAccountClient({
    account, chain, bundlerTransport: http(bundlerURL), client,
    userOperation: { estimateFeesPerGas: async () => (await pimlico.getUserOperationGasPrice()).fast },
  });
  const hash = await smart.sendTransaction({ calls: [
    { to: contract, abi, functionName: 'set', args: [4n] }, { to: owner.address, value: 1n },
  ] });
  const receipt = await client.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, 'success');
  assert.equal(await client.readContract({ address: contract, abi, functionName: 'v' }), 4n);
});
check(55, 'viem: an operation with a wrong signature', async () => {
  const prepared = await bundler.prepareUserOperation({
    account, calls: [{ to: contract, abi, functionName: 'set', args: [5n] }],
  });
  const stranger = privateKeyToAccount(generatePrivateKey());
  const signature = await stranger.signMessage({ message: 'not this operation' });
  const nonce = await account.getNonce();
  await assert.rejects(bundler.sendUserOperation({ ...prepared, account: undefined, signature, entryPointAddress: entryPoint07Address }),
    (e) => /AA24|[Ss]ignature/.test(String(e)));
  assert.equal(await client.readContract({ address: contract, abi, functionName: 'v' }), 4n);
  assert(nonce !== undefined);
});
check(55.1, 'viem: an operation that reverts is refused by the estimate', async () => {
  await assert.rejects(bundler.estimateUserOperationGas({ account, calls: [{ to: contract, abi, functionName: 'fail', args: [0n] }] }),
    /revert/i);
});

process.exit((await runAll()) ? 0 : 1);
