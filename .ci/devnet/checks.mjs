// What the checks share: a list of numbered checks, run one after another, and the command line tools.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import assert from 'node:assert/strict';

export { assert };

const checks = [];

// check adds a check. Its name is what a reader of the report sees.
export function check(number, name, run) {
  checks.push({ number, name, run });
}

// notHere adds a line that says why a check is not made.
export function notHere(number, name, why) {
  checks.push({ number, name, why });
}

// runAll runs the checks in order of their numbers and reports whether all passed.
export async function runAll() {
  let failed = 0;
  checks.sort((a, b) => a.number - b.number);
  for (const { number, name, run, why } of checks) {
    if (why) {
      console.log(`not here ${number} ${name}: ${why}`);
      continue;
    }
    const began = performance.now();
    try {
      await run();
      console.log(`ok ${number} ${name} (${Math.round(performance.now() - began)} ms)`);
    } catch (err) {
      failed++;
      console.log(`not ok ${number} ${name}\n${String(err.stack ?? err).replace(/^/gm, '    ')}`);
    }
  }
  console.log(`${checks.filter((c) => c.run).length - failed} passed, ${failed} failed, ` +
    `${checks.filter((c) => c.why).length} not here`);
  return failed === 0;
}

// home is that of the tools: what they keep of a chain in a cache, the next devnet does not have.
const home = mkdtempSync(join(tmpdir(), 'devnet-home-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

// command runs a program and returns what it printed; it throws when the program fails, unless mayFail.
export function command(program, args, { cwd, input, mayFail = false, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, HOME: home, NO_COLOR: '1', ...env } });
    let out = '';
    let err = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (err += d));
    child.on('error', reject);
    child.on('close', (code) => {
      const result = { code, out: out.trim(), err: err.trim(), all: `${out}\n${err}` };
      if (code !== 0 && !mayFail) reject(new Error(`${program} ${args.join(' ')}\nexit ${code}\n${result.all}`));
      else resolve(result);
    });
    child.stdin.on('error', () => {}); // it ended without reading
    child.stdin.end(input ?? '');
  });
}

// until waits for a condition.
export async function until(what, condition, ms = 5000) {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    const value = await condition();
    if (value) return value;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`waited ${ms} ms for ${what}`);
}
