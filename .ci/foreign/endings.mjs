// Statuses that a quick service passes by too fast to be seen, and ends other than COMPLETED. They need a service that is slow and fails on
// purpose: every deposit and every fill waits, and of three quotes one fails before its first deposit, one at its fill.
import assert from 'node:assert/strict';
import * as flow from './flow.mjs';
import { kernel31 } from './holders.mjs';
import { sleep } from './service.mjs';

const { BASE, PAYEE, key } = flow;

// follow polls until the end and returns every status that was seen, in order, and the last answer.
async function follow(service, version, quoteId) {
  const seen = [];
  for (const until = Date.now() + 90_000; ; await sleep(50)) {
    const status = await service.get(flow.paths(version).status, { quoteId });
    if (seen.at(-1) !== status.status) seen.push(status.status);
    if (['COMPLETED', 'REFUNDED', 'FAILED'].includes(status.status)) return { seen, status };
    assert.ok(Date.now() < until, `${quoteId} is still ${status.status}`);
  }
}

// Quotes go on until each way to end was seen; each check of balances says what that end means.
async function everyStatus({ faulty: service, usdc }) {
  const asset = usdc.on(BASE);
  const ends = {};
  for (let n = 0; n < 8 && Object.keys(ends).length < 3; n++) {
    const version = n % 2 ? 1 : 3;
    const holder = await kernel31(service, `endings/${n}`);
    const before = await flow.balances(service, holder.address);
    const amount = before[key(asset)] + before[key(flow.richest(before, usdc.evm.filter((a) => a !== asset)))] + 100_000_000n;
    const prepared = await flow.prepare(service, version, holder, { asset, to: PAYEE, amount });
    const quote = await flow.signed(await flow.callQuote(service, version, prepared), holder);
    await service.post(flow.paths(version).execute, quote);
    const { seen, status } = await follow(service, version, quote.id);
    const changed = flow.changes(before, await flow.balances(service, holder.address));
    const [record] = await flow.history(service, version, holder.address, 5);
    assert.equal(record.status, status.status, 'history tells the same end');
    switch (status.status) {
      case 'COMPLETED':
        assert.ok(['PENDING', 'IN_PROGRESS'].every((s) => seen.includes(s)), `${seen}`);
        assert.notDeepEqual(changed, {});
        break;
      case 'REFUNDED':
        assert.ok(seen.includes('IN_PROGRESS') && status.failReason, `${seen}, ${status.failReason}`);
        assert.deepEqual(changed, {}, 'every deposit came back');
        break;
      default:
        assert.ok(seen.includes('PENDING') && !seen.includes('IN_PROGRESS') && status.failReason, `${seen}, ${status.failReason}`);
        assert.deepEqual(changed, {}, 'nothing moved');
    }
    ends[status.status] ??= seen.join(' ');
  }
  assert.deepEqual(Object.keys(ends).sort(), ['COMPLETED', 'FAILED', 'REFUNDED']);
  return Object.values(ends).join('; ');
}

export const endings = { 'every status, from a service that is slow and fails': everyStatus };
