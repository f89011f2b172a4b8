// Compares a devnet with anvil in one run: `node speed.mjs PROGRAM [DIRECTORY]`. Reads and calls one after the other on
// Base, transactions from sending to their receipt, the time until all chains are ready, and the memory that they take.
// Ready is, from the start of the processes, when every chain has told its height and the balance of the first account;
// each program is asked as soon as it says that it listens. The anvils are started side by side, and, as a script that
// waits for each does, one after the other.
// The devnet is measured in memory and, in DIRECTORY, on a synced file. As a client that asks one node does, a network is
// asked twenty times in a row, then the next one, so that what else the machine does counts for each; in every order in
// turn, as one may still work for a moment after its answer. The figure is the median.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { toFunctionSelector } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { compile } from './contract.mjs';

const [program, directory] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const anvil = join(here, 'node_modules', '@foundry-rs', 'anvil-linux-amd64', 'bin', 'anvil');
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
const { bytecode } = compile();
const vOfChecked = toFunctionSelector('v()');

// A client on one connection that stays open.
function client(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let id = 0;
  return (method, ...params) => new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request(url, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (d) => (text += d));
      response.on('end', () => {
        const answer = JSON.parse(text);
        if (answer.error) reject(new Error(`${method}: ${answer.error.message}`));
        else resolve(answer.result);
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

// What every chain must answer before a network is ready.
async function right(asks) {
  await Promise.all(asks.map(async (ask) => {
    const [height, balance] = [await ask('eth_blockNumber'), await ask('eth_getBalance', account.address, 'latest')];
    if (!(BigInt(height) >= 0n && BigInt(balance) === 10n ** 22n)) throw new Error(`height ${height}, balance ${balance}`);
  }));
}

async function devnet(...flags) {
  const began = performance.now();
  const child = spawn(program, ['devnet', '--listen', '127.0.0.1:0', '--json', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const chains = JSON.parse(line).endpoints.filter((e) => e.id);
  const asks = chains.map((e) => client(e.http));
  await right(asks);
  const ready = performance.now() - began;
  return { ready, pids: [child.pid], ask: asks[chains.findIndex((e) => e.id === 8453)], chains,
    stop: () => Promise.all([once(child, 'exit'), child.kill('SIGINT')]) };
}

// One anvil, once it says where it listens. What it says afterwards is thrown away.
async function oneAnvil(id) {
  const child = spawn(anvil, ['--port', '0', '--chain-id', String(id), '--hardfork', 'osaka'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const at = await new Promise((resolve) => createInterface({ input: child.stdout }).on('line', (line) => {
    const found = line.match(/^Listening on (.*)$/);
    if (found) resolve(found[1]);
  }));
  return { id, child, ask: client(`http://${at}`) };
}

// One anvil for each chain, started side by side or one after the other.
async function anvils(ids, inTurn) {
  const began = performance.now();
  const all = [];
  if (inTurn) {
    for (const id of ids) {
      all.push(await oneAnvil(id));
      await right([all.at(-1).ask]);
    }
  } else {
    all.push(...await Promise.all(ids.map(oneAnvil)));
    await right(all.map((a) => a.ask));
  }
  return { ready: performance.now() - began, pids: all.map((a) => a.child.pid), ask: all.find((a) => a.id === 8453).ask,
    stop: () => Promise.all(all.map((a) => [once(a.child, 'exit'), a.child.kill()][0])) };
}

const memory = (pids, what) => pids.reduce((sum, pid) =>
  sum + Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${what}:\\s+(\\d+)`))[1]) / 1024, 0);

// What is resident, and what of it is no page of the program's file, of which the system keeps more or fewer.
function printMemory(what, networks) {
  print(what, networks, networks.map((n) => memory(n.pids, 'VmRSS')), 'MB');
  print(`${what}, without the file`, networks, networks.map((n) => memory(n.pids, 'RssAnon')), 'MB');
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

// Every order of a list.
const orders = (list) => list.length < 2 ? [list] : list.flatMap((first) =>
  orders(list.filter((other) => other !== first)).map((rest) => [first, ...rest]));

// timed asks the networks in turn, count times, and prints the medians in microseconds with the ratio to the last one.
async function timed(what, networks, count, ask) {
  const times = networks.map(() => []);
  const turns = orders([...networks.keys()]);
  for (let row = 0; row < count / 20; row++) {
    for (const n of turns[row % turns.length]) {
      for (let i = row * 20; i < (row + 1) * 20; i++) {
        const began = performance.now();
        await ask(networks[n], i);
        times[n].push((performance.now() - began) * 1000);
      }
    }
  }
  const medians = times.map(median);
  print(what, networks, medians, 'µs');
}

function print(what, networks, figures, unit) {
  const last = figures.at(-1);
  console.log(`${what}: ${networks.map((n, i) => `${n.name} ${Math.round(figures[i])} ${unit} (${(figures[i] / last).toFixed(2)})`).join(', ')}`);
}

let ids;
const networks = [{ name: 'devnet', start: () => devnet() }];
if (directory) networks.push({ name: 'devnet on a file', start: (i) => devnet('--data', join(directory, String(i))) });
networks.push({ name: 'anvil', start: () => anvils(ids, false) });
const inTurn = { name: 'anvils one after the other', start: () => anvils(ids, true), passing: true };
const starting = [...networks, inTurn];
const starts = new Map(starting.map((n) => [n, []]));
for (let i = 0, last = 12; i <= last; i++) { // those of the last round stay
  for (const network of starting) {
    const started = await network.start(i);
    starts.get(network).push(started.ready);
    ids ??= started.chains.map((c) => c.id);
    if (i < last || network.passing) await started.stop();
    else Object.assign(network, started);
  }
}
const began = networks.map((n) => median(starts.get(n)));
print('ready', networks, began, 'ms');
console.log(`ready, anvils one after the other: ${Math.round(median(starts.get(inTurn)))} ms; ${networks.slice(0, -1)
  .map((n, i) => `${n.name} ${(began[i] / median(starts.get(inTurn))).toFixed(2)}`).join(', ')}`);
printMemory('memory of all chains', networks);

for (const n of networks) {
  n.nonce = Number(await n.ask('eth_getTransactionCount', account.address, 'latest'));
  n.sign = (tx) => account.signTransaction({ chainId: 8453, type: 'eip1559', nonce: n.nonce++, maxFeePerGas: 20n * 10n ** 9n,
    maxPriorityFeePerGas: 10n ** 9n, gas: 1_500_000n, ...tx });
  const hash = await n.ask('eth_sendRawTransaction', await n.sign({ data: bytecode }));
  let receipt; // anvil answers before it has one
  while (!(receipt = await n.ask('eth_getTransactionReceipt', hash)));
  n.contract = receipt.contractAddress;
}
await timed('eth_getBalance', networks, 3000, (n) => n.ask('eth_getBalance', account.address, 'latest'));
await timed('eth_call', networks, 3000, (n) => n.ask('eth_call', { to: n.contract, data: vOfChecked }, 'latest'));
for (const n of networks) {
  n.raws = [];
  for (let i = 0; i < 300; i++) {
    n.raws.push(await n.sign({ to: n.contract, data: `0x60fe47b1${(i + 1).toString(16).padStart(64, '0')}` }));
  }
}
await timed('transaction to receipt', networks, 300, async (n, i) => {
  const hash = await n.ask('eth_sendRawTransaction', n.raws[i]);
  while (!(await n.ask('eth_getTransactionReceipt', hash)));
});
printMemory('memory afterwards', networks);
for (const n of networks) n.stop();
