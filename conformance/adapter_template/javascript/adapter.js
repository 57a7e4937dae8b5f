// An adapter that hashes int, long and string with the Murmur3 below. It needs only Node.js. README.md beside it
// describes what comes next.
//
//     node adapter.js
"use strict";

const readline = require("node:readline");

/** The 32-bit Murmur3 of the x86 variant, seed 0. */
function murmur3(data) {
  const rotated = (word, by) => (word << by) | (word >>> (32 - by));
  const mixed = (word) => Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  const whole = data.length - (data.length % 4);
  let state = 0;
  for (let at = 0; at < whole; at += 4) {
    state = (Math.imul(rotated(state ^ mixed(data.readInt32LE(at)), 13), 5) + 0xe6546b64) | 0;
  }
  const tail = Buffer.alloc(4);
  data.copy(tail, 0, whole);
  state ^= mixed(tail.readInt32LE(0)) ^ data.length;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return state ^ (state >>> 16);
}

/** The answer to one request for a hash. A long is a decimal string, as it is more than a number of JavaScript holds. */
function hash(type, value) {
  if (type === "string" && typeof value === "string") {
    return { ok: murmur3(Buffer.from(value, "utf8")) };
  }
  if (type === "int" || type === "long") {
    const text = String(value);
    const bits = type === "int" ? 32 : 64;
    if (/^-?[0-9]+$/.test(text) && BigInt.asIntN(bits, BigInt(text)) === BigInt(text)) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(text));
      return { ok: murmur3(bytes) };
    }
  } else if (type !== "string") {
    return { unsupported: "hashing this type" };
  }
  return { error: { kind: "invalid", message: `${value} is not a value of ${type}` } };
}

function answer(op, args) {
  if (op === "start") {
    const about = { implementation: "@NAME@", version: "0.0", language: "javascript", protocol: 1 };
    return { ok: { ...about, format_versions: [1, 2, 3], operations: ["hash"] } };
  }
  if (op !== "hash") {
    return { unsupported: `the operation ${op}` };
  }
  return hash(args.type, args.value);
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { seq, op, args } = JSON.parse(line);
  if (op === "stop") {
    process.exit(0);
  }
  process.stdout.write(`${JSON.stringify({ seq, ...answer(op, args) })}\n`);
});
