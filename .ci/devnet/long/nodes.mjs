// Points alto at a chain of anvil on which the program put its contracts: `node nodes.mjs PROGRAM ANVIL`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { command } from '../checks.mjs';
import { alto } from './alto.mjs';

const [program, anvil] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const keys = [ // the first of every development network
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
];

const home = mkdtempSync(join(tmpdir(), 'coffer-real-'));
const node = spawn(anvil, ['--port', '0', '--chain-id', '8453', '--hardfork', 'prague', '--block-time', '1'],
  { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => node.on('exit', resolve));
process.on('exit', () => {
  node.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

const lines = createInterface({ input: node.stdout });
const url = await new Promise((resolve) => lines.on('line', (line) => {
  const found = line.match(/^Listening on (.*)$/);
  if (found) resolve(`http://${found[1]}`);
}));
const coffer = (...args) => command(program, args, { env: { HOME: home, XDG_CONFIG_HOME: home } });
const file = join(home, 'networks.toml');
writeFileSync(join(home, 'key'), keys[0], { mode: 0o600 });
await coffer('network', 'init', '--kind', 'lab', '--chain', `base=${url}`, '--out', file);
await coffer('network', 'deploy', '--file', file, '--key-file', join(home, 'key'), '--yes');
const { out } = await coffer('network', 'check', '--file', file);
const at = (name) => out.match(new RegExp(`ok +${name} +(0x[0-9a-fA-F]{40})`))[1];
await command(process.execPath, [join(here, 'approve.mjs'), url, at('MetaFactory'), at('KernelFactory')]);

let passed = await alto('alto on anvil, with the contracts of coffer network deploy', join(here, '..', 'bundler.mjs'),
  url, keys);
passed = (await alto('alto on anvil, without fees', join(here, 'window.mjs'), url, keys,
  { flags: ['--is-gas-free-chain', 'true'], args: [at('Window')] })) && passed;
node.kill('SIGKILL');
await ended;
process.exit(passed ? 0 : 1);
