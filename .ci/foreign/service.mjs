// The service as a foreign program sees it: HTTPS, JSON, an API key, a CA file. Every answer is kept, so that all of them can be held against
// the service's own description at the end.
import fs from 'node:fs';
import https from 'node:https';

export class Service {
  constructor({ baseUrl, caFile, apiKey }) {
    this.base = new URL(baseUrl);
    this.agent = new https.Agent({ ca: fs.readFileSync(caFile), keepAlive: true }); // this authority and no other
    this.apiKey = apiKey;
    this.answers = [];
  }

  get(path, query = {}, options = {}) {
    return this.request('GET', path, { query, ...options });
  }

  // Everything that is posted has been through JSON and back, with its members in another order: nothing may depend on received bytes.
  post(path, body, options = {}) {
    return this.request('POST', path, { body: reordered(JSON.parse(JSON.stringify(body))), ...options });
  }

  // request returns the parsed answer; a status other than `want` is an error that quotes request and answer. A key of null sends none.
  async request(method, path, { query = {}, body, want = 200, key = this.apiKey } = {}) {
    for (;;) {
      const got = await this.send(method, path, query, body, key);
      if (got.status === 429 && want !== 429) {
        await sleep(1000 * Number(got.headers['retry-after'] ?? 1));
        continue;
      }
      if (got.status !== want) {
        const asked = JSON.stringify(body ?? query);
        throw new Error(`${method} ${path} answered ${got.status} instead of ${want}: ${got.text.slice(0, 1500)}\n      request: ${asked.slice(0, 6000)}`);
      }
      return got.body;
    }
  }

  async send(method, path, query, body, key) {
    const got = await this.fetch(new URL(this.base.href + path + search(query)), { method, key, body: body && JSON.stringify(body) });
    const answer = { method, path, request: body, status: got.status, headers: got.headers, text: got.text, body: JSON.parse(got.text) };
    this.answers.push(answer);
    return answer;
  }

  // fetch asks for any address of the service, also for pages that are not JSON.
  fetch(url, { method = 'GET', key, body } = {}) {
    const headers = { ...(key && { 'x-api-key': key }), ...(body && { 'content-type': 'application/json' }) };
    return new Promise((resolve, reject) => {
      const request = https.request(url, { method, headers, agent: this.agent }, (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part)).on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString('utf8') }));
      });
      request.setTimeout(60_000, () => request.destroy(new Error(`${method} ${url} took over a minute`)));
      request.on('error', reject).end(body);
    });
  }
}

const search = (query) => (Object.keys(query).length ? `?${new URLSearchParams(query)}` : '');

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// reordered turns the members of every object around; lists keep their order.
export function reordered(value) {
  if (Array.isArray(value)) return value.map(reordered);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([name, member]) => [name, reordered(member)]));
}
