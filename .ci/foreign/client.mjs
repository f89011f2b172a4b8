// A foreign client of the service: it knows the interface and nothing else. Reads two lines {"baseUrl","caFile","apiKey"} from standard input, of the
// service and of one that is slow and fails, runs its checks in order, prints a line for each, and exits with 1 when one failed. Arguments are parts
// of names: only those checks run.
import fs from 'node:fs';
import { calls } from './calls.mjs';
import { description } from './description.mjs';
import { endings } from './endings.mjs';
import { exchanges } from './exchanges.mjs';
import { offered } from './flow.mjs';
import { lateQuote, refusals } from './refusals.mjs';
import { Service } from './service.mjs';

const only = process.argv.slice(2);
const [service, faulty] = fs.readFileSync(0, 'utf8').trim().split('\n').map((line) => new Service(JSON.parse(line)));
const all = Object.entries({ ...calls, ...exchanges, ...endings, ...refusals, ...description });
const chosen = all.filter(([name]) => !only.length || only.some((part) => name.includes(part)));
const assets = await service.get('/assets/list');
const context = { service, faulty, usdc: offered(assets, 'ob:usdc'), eth: offered(assets, 'ob:eth') };
if (chosen.some(([name]) => name.includes('expired'))) {
  context.late = lateQuote(context);
  context.late.catch(() => {}); // the check that needs it says so
}

let failed = 0;
for (const [name, check] of chosen) {
  const started = performance.now();
  try {
    const words = await check(context);
    console.log(`ok    ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)${words ? `: ${words}` : ''}`);
  } catch (error) {
    failed++;
    const where = error.stack?.split('\n').find((line) => line.includes('.mjs:') && !line.includes('node_modules'))?.trim() ?? '';
    console.log(`FAIL  ${name}: ${error.message}\n     ${where}`);
  }
}
console.log(`${chosen.length - failed} of ${chosen.length} checks passed`);
for (const s of [service, faulty]) s.agent.destroy();
process.exitCode = failed ? 1 : 0;
