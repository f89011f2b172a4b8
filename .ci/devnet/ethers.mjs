// Checks of one chain with ethers: `node ethers.mjs HTTP WS KEY [--dev]`.
import { ContractFactory, JsonRpcProvider, NonceManager, Wallet, WebSocketProvider } from 'ethers';
import { check, notHere, runAll, assert, until } from './checks.mjs';
import { compile } from './contract.mjs';

const [url, ws, key] = process.argv.slice(2);
const dev = process.argv.includes('--dev');
const { abi, bytecode } = compile();
const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 50 });
const signer = new NonceManager(new Wallet(key, provider));
let contract;

check(56, 'ethers deploys and calls', async () => {
  contract = await new ContractFactory(abi, bytecode, signer).deploy();
  await contract.waitForDeployment();
  const receipt = await (await contract.set(5)).wait();
  assert.equal(receipt.status, 1);
  assert.equal(await contract.v(), 5n);
});
check(57, 'ethers hears events over HTTP and WebSocket', async () => {
  const socket = new WebSocketProvider(ws);
  const seen = { http: [], ws: [] };
  await contract.on('Set', (_who, value) => seen.http.push(value));
  await contract.connect(socket).on('Set', (_who, value) => seen.ws.push(value));
  await new Promise((r) => setTimeout(r, 300));
  await (await contract.set(6)).wait();
  await until('the events', () => seen.http.length > 0 && seen.ws.length > 0);
  await new Promise((r) => setTimeout(r, 200));
  assert.deepEqual(seen, { http: [6n], ws: [6n] });
  await contract.removeAllListeners();
  await socket.destroy();
});
check(58, 'ethers staticCall of what reverts', async () => {
  await assert.rejects(contract.fail.staticCall(0), (e) => e.code === 'CALL_EXCEPTION' && e.reason === 'plain reason');
});
if (dev) {
  check(58.1, 'ethers getSigner', async () => {
    const unlocked = await provider.getSigner(0);
    const receipt = await (await unlocked.sendTransaction({ to: unlocked.address, value: 1n })).wait();
    assert.equal(receipt.status, 1);
  });
} else {
  notHere(58.1, 'ethers getSigner', 'without --dev the node has no accounts');
}
check(58.2, 'ethers: fifty reads in one batch', async () => {
  const values = await Promise.all(Array.from({ length: 50 }, () => contract.v()));
  assert(values.every((v) => v === 6n));
});

const passed = await runAll();
provider.destroy();
process.exit(passed ? 0 : 1);
