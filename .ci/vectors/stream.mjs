// The inputs of every vector: a stream of bytes that follows from the names alone, so that Go draws the same ones (api/op/internal/seeded).
// README.md says how each value is drawn.
import { createHash } from 'node:crypto';

const SEED = 'coffer vectors 1';

export const sha256 = (...parts) => {
  const h = createHash('sha256');
  for (const p of parts) h.update(p);
  return h.digest();
};

// short is what a file keeps of a result: the first eight bytes of its SHA-256.
export const short = (...parts) => sha256(...parts).subarray(0, 8);

export const hex = (bytes) => '0x' + Buffer.from(bytes).toString('hex');

export class Stream {
  #name;
  #item;
  #block = 0;
  #rest = Buffer.alloc(0);

  constructor(kind, item) {
    this.#name = Buffer.from(`${SEED}\0${kind}\0`, 'latin1');
    this.#item = item;
  }

  bytes(n) {
    while (this.#rest.length < n) {
      const at = Buffer.alloc(8);
      at.writeUInt32BE(this.#item, 0);
      at.writeUInt32BE(this.#block++, 4);
      this.#rest = Buffer.concat([this.#rest, sha256(this.#name, at)]);
    }
    const out = this.#rest.subarray(0, n);
    this.#rest = this.#rest.subarray(n);
    return out;
  }

  // below is a number from 0 to n-1.
  below(n) {
    return this.bytes(4).readUInt32BE(0) % n;
  }

  // number has up to the given bits; zero, the largest one and the highest bit alone come often.
  number(bits) {
    const shape = this.below(8);
    if (shape === 0) return 0n;
    if (shape === 1) return (1n << BigInt(bits)) - 1n;
    if (shape === 2) return 1n << BigInt(bits - 1);
    const width = 1 + this.below(bits);
    return BigInt(hex(this.bytes(Math.ceil(width / 8)))) & ((1n << BigInt(width)) - 1n);
  }

  // positive is a number that is not zero.
  positive(bits) {
    return this.number(bits) || 1n;
  }

  // blob is a byte string; the empty one comes often.
  blob(most) {
    return this.below(8) === 0 ? Buffer.alloc(0) : this.bytes(this.below(most + 1));
  }

  // text is printable ASCII, at least one character.
  text(most) {
    const codes = this.bytes(1 + this.below(most));
    return String.fromCharCode(...codes.map((b) => 0x20 + (b % 95)));
  }
}

// KEYS is how many keys of each sort there are.
export const KEYS = 64;

// keyBytes are the 32 bytes of a key. They are public and must never hold anything.
export const keyBytes = (sort, i) => new Stream(`${sort} key`, i).bytes(32);
