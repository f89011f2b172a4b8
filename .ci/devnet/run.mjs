// Starts a devnet and points the tools at it: `node run.mjs PROGRAM`, where PROGRAM is the built program. Each script is
// run against a devnet of its own kind, with --dev and without.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { script, start } from './devnet.mjs';

const program = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));

let passed = true;
for (const dev of [false, true]) {
  const flags = dev ? ['--dev'] : [];
  const { reach, ready, stop } = await start(program, ...flags);
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
    passed = (await script(name, join(here, name), args)) && passed;
  }
  await stop();
}
process.exit(passed ? 0 : 1);
