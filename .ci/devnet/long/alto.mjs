// Runs checks against alto, a bundler in another process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entryPoint07Address } from 'viem/account-abstraction';
import { until } from '../checks.mjs';
import { script } from '../devnet.mjs';

const here = dirname(fileURLToPath(import.meta.url));
export const bin = (name, file) => join(here, 'node_modules', name, ...file.split('/'));

const freePort = () => new Promise((resolve) => {
  const s = createServer().listen(0, '127.0.0.1', () => {
    const { port } = s.address();
    s.close(() => resolve(port));
  });
});

// alto starts the bundler with keys of executor and utility, waits until it answers, and runs a script of checks, which
// gets the address of the chain, a key and the address of the bundler before its own arguments.
export async function alto(name, path, url, [key, executor, utility], { flags = [], args = [] } = {}) {
  const port = await freePort();
  const child = spawn(process.execPath, [bin('@pimlico/alto', 'esm/cli/alto.js'), '--entrypoints', entryPoint07Address,
    '--executor-private-keys', executor, '--utility-private-key', utility, '--rpc-url', url, '--port', `${port}`,
    '--safe-mode', 'false', '--log-level', 'warn', ...flags], { cwd: here, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const out of [child.stdout, child.stderr]) out.on('data', (d) => (log += d));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const base = `http://127.0.0.1:${port}`;
  let passed = false;
  try {
    await until('alto', () => fetch(`${base}/health`).then((r) => r.ok, () => false), 60_000);
    passed = await script(name, path, [url, key, base, ...args]);
  } catch (err) {
    console.log(String(err));
  }
  child.kill('SIGKILL');
  await ended;
  if (!passed) console.log(log.slice(-10_000));
  return passed;
}
