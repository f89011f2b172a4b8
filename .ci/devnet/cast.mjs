// Checks of one chain with cast and forge: `node cast.mjs HTTP KEY OTHERKEY [--dev]`. KEY and OTHERKEY are private keys
// of funded accounts. The numbers are those of docs/devnet.md.
import { mkdtempSync, mkdirSync, writeFileSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, notHere, runAll, command, assert } from './checks.mjs';
import { compile, source } from './contract.mjs';

const [url, key, otherKey] = process.argv.slice(2);
const dev = process.argv.includes('--dev');
const here = dirname(fileURLToPath(import.meta.url));
const bin = (tool) => join(here, 'node_modules', '@foundry-rs', `${tool}-linux-amd64`, 'bin', tool);
const cast = (...args) => command(bin('cast'), [...args, '-r', url]);
const castFails = (...args) => command(bin('cast'), [...args, '-r', url], { mayFail: true });
const offline = async (...args) => (await command(bin('cast'), args)).out;
const rpc = async (method, ...params) =>
  JSON.parse((await command(bin('cast'), ['rpc', '-r', url, method, ...params.map((p) => (typeof p === 'string' ? p : JSON.stringify(p)))])).out);
const send = async (...args) => JSON.parse((await cast('send', '--json', ...args)).out);

const a = await offline('wallet', 'address', '--private-key', key);
const other = '0x00000000000000000000000000000000C0FFEE01';
const { bytecode } = compile();
let contract;
let setHash;
let early; // a transaction that no tool has looked into
const expectRefused = async (pattern, ...args) => {
  const { code, all } = await castFails(...args);
  assert.notEqual(code, 0, all);
  assert.match(all, pattern);
};

check(1, 'cast chain-id', async () => {
  assert.equal((await cast('chain-id')).out, url.match(/\/(\d+)$/)?.[1] ?? (await cast('chain-id')).out);
});
check(2, 'cast client', async () => assert.match((await cast('client')).out, /coffer/i));
check(3, 'cast balance, finalized and latest', async () => {
  const at = (tag) => cast('balance', a, '-B', tag);
  assert.equal((await at('finalized')).out, (await at('latest')).out);
});
check(4, 'cast nonce, pending and latest', async () => {
  const at = (tag) => cast('nonce', a, '-B', tag);
  assert.equal((await at('pending')).out, (await at('latest')).out);
});
check(5, 'cast send', async () => {
  const r = await send(other, '--value', '1', '--private-key', key);
  assert.equal(r.status, '0x1');
  assert.equal(r.type, '0x2');
});
check(6, 'cast send --legacy', async () => {
  const r = await send(other, '--value', '1', '--private-key', key, '--legacy');
  assert.equal(r.type, '0x0');
  const tx = await rpc('eth_getTransactionByHash', r.transactionHash);
  assert.equal(r.effectiveGasPrice, tx.gasPrice);
});
check(7, 'cast send --async, then cast receipt', async () => {
  const { out } = await cast('send', other, '--value', '1', '--private-key', key, '--async');
  const r = JSON.parse((await cast('receipt', out, '--json')).out);
  assert.equal(r.status, '0x1');
  early = out;
});
if (dev) {
  check(8, 'cast send --unlocked', async () => {
    const [unlocked] = await rpc('eth_accounts');
    const r = await send(other, '--value', '1', '--from', unlocked, '--unlocked');
    assert.equal(r.status, '0x1');
    assert.equal(r.from, unlocked.toLowerCase());
  });
} else {
  notHere(8, 'cast send --unlocked', 'without --dev no account is unlocked: nothing unsigned enters a chain');
}
check(9, 'cast send --unlocked of an address that is not', async () => {
  const before = (await cast('nonce', other)).out;
  await expectRefused(/./, 'send', a, '--value', '1', '--from', other, '--unlocked');
  assert.equal((await cast('nonce', other)).out, before);
});
check(10, 'cast send --create', async () => {
  const nonce = (await cast('nonce', a)).out;
  const r = JSON.parse((await command(bin('cast'), ['send', '--json', '--private-key', key, '-r', url, '--create', bytecode])).out);
  contract = (await offline('compute-address', a, '--nonce', nonce)).match(/0x[0-9a-fA-F]{40}/)[0];
  assert.equal(r.contractAddress.toLowerCase(), contract.toLowerCase());
});
check(11, 'cast call', async () => {
  setHash = (await send(contract, 'set(uint256)', '41', '--private-key', key)).transactionHash;
  assert.equal((await cast('call', contract, 'v()(uint256)')).out, '41');
});
check(12, 'cast call at the head by number', async () => {
  const head = (await cast('block-number')).out;
  assert.equal((await cast('call', contract, 'v()(uint256)', '-b', head)).out, '41');
});
check(13, 'cast call with an override', async () => {
  const { out } = await cast('call', contract, 'v()(uint256)', '--override-state-diff', `${contract}:0x0:0x7`);
  assert.equal(out, '7');
  assert.equal((await cast('call', contract, 'v()(uint256)')).out, '41');
});
check(14, 'cast call that reverts with a reason', () =>
  expectRefused(/execution reverted: plain reason[\s\S]*0x08c379a0/, 'call', contract, 'fail(uint256)', '0'));
check(15, 'cast call that reverts without one', () =>
  expectRefused(/error code 3[\s\S]*0x/, 'call', contract, 'fail(uint256)', '2'));
check(16, 'cast call that panics', () =>
  expectRefused(/0x4e487b71[0-9a-f]*12/, 'call', contract, 'fail(uint256)', '3'));
check(17, 'cast estimate', async () => {
  const estimate = BigInt((await cast('estimate', contract, 'set(uint256)', '5', '--from', a)).out);
  const used = BigInt((await send(contract, 'set(uint256)', '5', '--private-key', key)).gasUsed);
  assert(estimate >= used && estimate * 10n <= used * 13n, `${estimate} for ${used}`);
});
check(18, 'cast access-list', async () => {
  const { out } = await cast('access-list', contract, 'set(uint256)', '6', '--from', a);
  assert.match(out.toLowerCase(), new RegExp(contract.toLowerCase()));
  assert.match(out, /0x0{64}/);
});
check(19, 'cast send that the estimate refuses', () =>
  expectRefused(/revert/i, 'send', contract, 'fail(uint256)', '1', '--private-key', key));
check(20, 'cast send that reverts in its block', async () => {
  const before = BigInt((await cast('balance', a)).out);
  const nonce = Number((await cast('nonce', a)).out);
  const { out } = await castFails('send', '--json', contract, 'fail(uint256)', '1', '--gas-limit', '100000', '--private-key', key);
  const r = JSON.parse(out);
  assert.equal(r.status, '0x0');
  assert.equal(Number((await cast('nonce', a)).out), nonce + 1);
  assert(BigInt((await cast('balance', a)).out) < before);
});
check(21, 'cast tx --raw', async () => {
  const { out } = await cast('tx', setHash, '--raw');
  assert.equal(await offline('keccak', out), setHash);
});
check(22, 'cast block --full', async () => {
  const block = JSON.parse((await cast('block', 'latest', '--full', '--json')).out);
  assert(block.transactions.length > 0);
  for (const tx of block.transactions) assert.equal(typeof tx, 'object');
});
check(23, 'cast logs', async () => {
  const logs = JSON.parse((await cast('logs', '--json', '--address', contract, 'Set(address indexed,uint256 indexed,string)',
    '--from-block', '0')).out);
  const values = logs.map((l) => BigInt(l.topics[2]));
  assert.deepEqual(values, [41n, 5n]);
});
check(24, 'cast proof', async () => {
  const proof = JSON.parse((await cast('proof', contract, '0')).out);
  assert.equal(BigInt(proof.storageProof[0].value), 5n);
});
check(25, 'cast codehash and storage-root', async () => {
  const proof = JSON.parse((await cast('proof', contract)).out);
  assert.equal((await cast('storage-root', contract)).out, proof.storageHash);
  const code = (await cast('code', contract)).out;
  assert.equal((await cast('codehash', contract)).out, await offline('keccak', code));
});
check(26, 'cast run within the window', async () => {
  const { all } = await cast('run', setHash);
  assert.match(all, /Transaction successfully executed/);
  const used = BigInt(JSON.parse((await cast('receipt', setHash, '--json')).out).gasUsed);
  assert.match(all, new RegExp(`Gas used: ${used}`));
});
check(27, 'cast run outside of it', async () => {
  for (let i = 0; i < 130; i++) await cast('publish', (await cast('mktx', other, '--value', '1', '--private-key', key)).out);
  const { all, code } = await castFails('run', early);
  assert.notEqual(code, 0, all);
  assert.match(all, /oldest|available/i);
});
check(28, 'cast call --trace while others seal', async () => {
  const head = (await cast('block-number')).out;
  const sealing = (async () => {
    for (let i = 0; i < 20; i++) await send(other, '--value', '1', '--private-key', otherKey);
  })();
  const { all } = await cast('call', contract, 'v()', '--trace', '-b', head);
  await sealing;
  assert.match(all, /\[Return\][\s\S]*5/);
});
check(29, 'cast publish twice', async () => {
  const raw = (await cast('mktx', other, '--value', '1', '--private-key', key)).out;
  assert.equal(JSON.parse((await cast('publish', raw)).out).status, '0x1');
  await expectRefused(/nonce too low|already known/, 'publish', raw);
});
check(30, 'cast send with a used nonce', () =>
  expectRefused(/nonce too low/, 'send', other, '--value', '1', '--nonce', '0', '--private-key', key));
check(31, 'cast send of more than there is', () =>
  expectRefused(/insufficient funds/i, 'send', other, '--value', '1000000000ether', '--private-key', key));
check(32, 'cast send --auth', async () => {
  const fresh = JSON.parse((await command(bin('cast'), ['wallet', 'new', '--json'])).out);
  const { address, private_key: secret } = (fresh.data ?? fresh)[0] ?? fresh.data ?? fresh;
  await send(address, '--value', '0.1ether', '--private-key', key);
  const r = await send(other, '--auth', contract, '--private-key', secret);
  assert.equal(r.type, '0x4');
  assert.equal((await cast('code', address)).out.toLowerCase(), `0xef0100${contract.slice(2).toLowerCase()}`);
});
check(33, 'cast send above the gas of one transaction', () =>
  expectRefused(/gas limit too high/, 'send', other, '--value', '1', '--gas-limit', '16777217', '--private-key', key));
check(34, 'cast gas-price, basefee and eth_feeHistory', async () => {
  const price = BigInt((await cast('gas-price')).out);
  assert(price >= BigInt((await cast('basefee')).out));
  const history = await rpc('eth_feeHistory', '0xa', 'latest', [20]);
  assert.equal(history.baseFeePerGas.length, 11);
  assert.equal(history.reward.length, 10);
});
check(35, 'cast find-block', async () => {
  const time = (await cast('block', '5', '-f', 'timestamp')).out;
  const found = (await cast('find-block', time)).out;
  assert.equal((await cast('block', found, '-f', 'timestamp')).out, time);
});
check(36, 'cast rpc of a method that does not exist', () => expectRefused(/-32601/, 'rpc', 'eth_noSuch'));

// forge compiles with the compiler of npm, started through a script.
const work = mkdtempSync(join(tmpdir(), 'devnet-forge-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
mkdirSync(join(work, 'src'));
mkdirSync(join(work, 'test'));
const solc = join(work, 'solc');
writeFileSync(solc, `#!/bin/sh\nexec ${process.execPath} ${join(here, 'contract.mjs')} "$@"\n`);
chmodSync(solc, 0o755);
writeFileSync(join(work, 'foundry.toml'),
  `[profile.default]\nsrc = "src"\ntest = "test"\nlibs = []\nsolc = "${solc}"\noptimizer = true\nevm_version = "osaka"\n`);
writeFileSync(join(work, 'src', 'Checked.sol'), source);
writeFileSync(join(work, 'src', 'Script.sol'), `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
import {Checked} from "./Checked.sol";
interface Vm { function startBroadcast() external; function stopBroadcast() external; }
contract Deploy {
    bool public IS_SCRIPT = true;
    Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
    function run() external {
        vm.startBroadcast();
        Checked c = new Checked();
        c.set(11);
        vm.stopBroadcast();
    }
}
`);
const forge = (...args) => command(bin('forge'), args, { cwd: work });
check(37, 'forge create', async () => {
  const { all } = await forge('create', 'src/Checked.sol:Checked', '--broadcast', '--private-key', key, '-r', url);
  const deployed = all.match(/Deployed to: (0x[0-9a-fA-F]{40})/)[1];
  assert.notEqual((await cast('code', deployed)).out, '0x');
});
if (dev) {
  check(38, 'forge create --unlocked', async () => {
    const [unlocked] = await rpc('eth_accounts');
    const { all } = await forge('create', 'src/Checked.sol:Checked', '--broadcast', '--unlocked', '--from', unlocked, '-r', url);
    assert.match(all, /Deployed to: 0x/);
  });
  check(40, 'forge script --unlocked --slow', async () => {
    const [, unlocked] = await rpc('eth_accounts');
    const { all } = await forge('script', 'src/Script.sol:Deploy', '--broadcast', '--unlocked', '--sender', unlocked, '--slow',
      '--rpc-url', url);
    assert.match(all, /ONCHAIN EXECUTION COMPLETE & SUCCESSFUL/);
  });
} else {
  notHere(38, 'forge create --unlocked', 'as 8');
  notHere(40, 'forge script --unlocked', 'as 8');
}
check(39, 'forge script', async () => {
  const before = Number((await cast('nonce', a)).out);
  const { all } = await forge('script', 'src/Script.sol:Deploy', '--broadcast', '--private-key', key, '--rpc-url', url);
  assert.match(all, /ONCHAIN EXECUTION COMPLETE & SUCCESSFUL/);
  assert.equal(Number((await cast('nonce', a)).out), before + 2);
});
const forkTest = (address, value) => `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
interface C { function v() external view returns (uint256); function set(uint256) external payable; }
contract ForkTest {
    function test_reads_and_writes() external {
        C c = C(${address});
        require(c.v() == ${value}, "read");
        c.set(99);
        require(c.v() == 99, "written");
    }
}
`;
check(41, 'forge test --fork-url', async () => {
  const head = (await cast('block-number')).out;
  const address = (await offline('to-check-sum-address', contract));
  writeFileSync(join(work, 'test', 'Fork.t.sol'), forkTest(address, 5));
  await forge('test', '--fork-url', url);
  assert.equal((await cast('block-number')).out, head);
  assert.equal((await cast('call', contract, 'v()(uint256)')).out, '5');
});
check(42, 'forge test --fork-block-number within the window', async () => {
  for (let i = 0; i < 5; i++) await send(other, '--value', '1', '--private-key', key);
  const head = Number((await cast('block-number')).out);
  await forge('test', '--fork-url', url, '--fork-block-number', String(head - 5));
});

process.exit((await runAll()) ? 0 : 1);
