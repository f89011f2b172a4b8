// Starts a devnet for the checks, and the scripts that point a tool at it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

// start runs a devnet and returns its line of JSON, the milliseconds until it was printed, and a way to end it.
export async function start(program, ...flags) {
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

// script runs a program of Node and reports whether it succeeded.
export function script(name, path, args, options = {}) {
  return new Promise((resolve) => {
    console.log(`--- ${name}`);
    spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'inherit', 'inherit'], ...options })
      .on('exit', (code) => resolve(code === 0));
  });
}
