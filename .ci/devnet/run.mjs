// Starts a devnet and points the tools at it: `node run.mjs PROGRAM`, where PROGRAM is the built program. Each script is
// run against a devnet of its own kind, with --dev and without.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));

// start runs a devnet and returns its line of JSON, the milliseconds until it was printed, and a way to end it.
async function start(...flags) {
  const began = performance.now();
  const child = spawn(program, ['devnet', '--listen', '127.0.0.1:0', '--json', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.on('exit', (code) => reject(new Error(`the devnet ended with ${code}`)));
    child.on('error', reject);
  });
  const ready = Math.round(performance.now() - began);
  const stop = async () => {
    child.kill('SIGINT');
    const code = await ended;
    if (code !== 0) throw new Error(`the devnet ended with ${code} after an interrupt`);
  };
  return { reach: JSON.parse(line), ready, stop };
}

function script(name, ...args) {
  return new Promise((resolve) => {
    console.log(`--- ${name}`);
    spawn(process.execPath, [join(here, name), ...args], { stdio: ['ignore', 'inherit', 'inherit'] })
      .on('exit', (code) => resolve(code === 0));
  });
}

let passed = true;
for (const dev of [false, true]) {
  const flags = dev ? ['--dev'] : [];
  const { reach, ready, stop } = await start(...flags);
  console.log(`=== coffer devnet ${flags.join(' ')}: ready after ${ready} ms`);
  const base = reach.endpoints.find((e) => e.id === 8453);
  const solana = reach.endpoints.find((e) => !e.id);
  const [key, other] = reach.accounts.map((a) => a.privateKey);
  const all = [
    ['cast.mjs', base.http, key, other, ...flags],
    ['viem.mjs', base.http, base.webSocket, key, other, ...flags],
    ['ethers.mjs', base.http, base.webSocket, key, ...flags],
  ];
  if (!dev) all.push(['bundler.mjs', base.http, key], ['solana.mjs', solana.http, solana.webSocket]);
  for (const [name, ...args] of all) {
    passed = (await script(name, ...args)) && passed;
  }
  await stop();
}
process.exit(passed ? 0 : 1);
