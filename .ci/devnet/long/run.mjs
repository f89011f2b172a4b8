// Runs the tests of a hardhat project on a devnet, and alto, a bundler in another process, with the checks of our own
// bundler: `node run.mjs PROGRAM`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { source } from '../contract.mjs';
import { script, start } from '../devnet.mjs';
import { alto, bin } from './alto.mjs';

const program = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));

// hardhat runs the tests of a project that is made for it. It is told to compile with solc from npm.
async function hardhat(url, key, dev) {
  const root = mkdtempSync(join(tmpdir(), 'devnet-hardhat-'));
  mkdirSync(join(root, 'contracts'));
  writeFileSync(join(root, 'contracts', 'Checked.sol'), source);
  const env = { ...process.env, PROJECT: root, DEVNET: url, KEY: dev ? '' : key, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
    HOME: root };
  const args = ['--config', join(here, 'hardhat.config.cjs'), 'test', '--network', 'devnet'];
  const passed = await script(`hardhat test --network devnet, ${dev ? 'accounts of the node' : 'a private key'}`,
    bin('hardhat', 'internal/cli/bootstrap.js'), args, { cwd: here, env });
  rmSync(root, { recursive: true, force: true });
  return passed;
}

let passed = true;
for (const dev of [false, true]) {
  const { reach, stop } = await start(program, ...(dev ? ['--dev'] : []));
  const { http } = reach.endpoints.find((e) => e.id === 8453);
  const keys = reach.accounts.map((a) => a.privateKey);
  passed = (await hardhat(http, keys[3], dev)) && passed;
  if (!dev) passed = (await alto('alto, a bundler in another process', join(here, '..', 'bundler.mjs'), http, keys)) && passed;
  await stop();
}
process.exit(passed ? 0 : 1);
