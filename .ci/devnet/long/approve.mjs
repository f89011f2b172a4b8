// Has the owner of Kernel's meta factory approve the account factory on a chain of anvil: `node approve.mjs HTTP META
// FACTORY`.
import { createTestClient, http, parseAbi, parseEther, publicActions, walletActions } from 'viem';

const [url, address, factory] = process.argv.slice(2);
const abi = parseAbi(['function owner() view returns (address)', 'function approveFactory(address factory, bool approval)']);
const anvil = createTestClient({ mode: 'anvil', transport: http(url), pollingInterval: 50 })
  .extend(publicActions).extend(walletActions);
const account = await anvil.readContract({ address, abi, functionName: 'owner' });
await anvil.impersonateAccount({ address: account });
await anvil.setBalance({ address: account, value: parseEther('1') });
const hash = await anvil.writeContract({ account, chain: null, address, abi, functionName: 'approveFactory', args: [factory, true] });
const { status } = await anvil.waitForTransactionReceipt({ hash });
process.exit(status === 'success' ? 0 : 1);
