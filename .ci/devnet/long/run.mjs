// Runs the tests of a hardhat project on a devnet, and alto, a bundler in another process, with the checks of our own
// bundler: `node run.mjs PROGRAM`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryPoint07Address } from 'viem/account-abstraction';
import { until } from '../checks.mjs';
import { source } from '../contract.mjs';
import { script, start } from '../devnet.mjs';

const program = process.argv[2];
const here = dirname(fileURLToPath(import.meta.url));
const bin = (name, file) => join(here, 'node_modules', name, ...file.split('/'));

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

const freePort = () => new Promise((resolve) => {
  const s = createServer().listen(0, '127.0.0.1', () => {
    const { port } = s.address();
    s.close(() => resolve(port));
  });
});

// alto starts the bundler, waits until it answers, and runs the checks of the bundler against it.
async function alto(url, [key, executor, utility]) {
  const port = await freePort();
  const child = spawn(process.execPath, [bin('@pimlico/alto', 'esm/cli/alto.js'), '--entrypoints', entryPoint07Address,
    '--executor-private-keys', executor, '--utility-private-key', utility, '--rpc-url', url, '--port', `${port}`,
    '--safe-mode', 'false', '--log-level', 'warn'], { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const out of [child.stdout, child.stderr]) out.on('data', (d) => (log += d));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const base = `http://127.0.0.1:${port}`;
  let passed = false;
  try {
    await until('alto', () => fetch(`${base}/health`).then((r) => r.ok, () => false), 60_000);
    passed = await script('alto, a bundler in another process', join(here, '..', 'bundler.mjs'), [url, key, base]);
  } catch (err) {
    console.log(String(err));
  }
  child.kill('SIGKILL');
  await ended;
  if (!passed) console.log(log.slice(-10_000));
  return passed;
}

let passed = true;
for (const dev of [false, true]) {
  const { reach, stop } = await start(program, ...(dev ? ['--dev'] : []));
  const { http } = reach.endpoints.find((e) => e.id === 8453);
  const keys = reach.accounts.map((a) => a.privateKey);
  passed = (await hardhat(http, keys[3], dev)) && passed;
  if (!dev) passed = (await alto(http, keys)) && passed;
  await stop();
}
process.exit(passed ? 0 : 1);
