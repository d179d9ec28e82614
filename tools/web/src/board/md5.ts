// MD5, which a board's loader computes of its flash: RFC 1321.

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));
const BLOCK = 64; // bytes

/** Return the MD5 in hexadecimal. */
export function md5(data: Uint8Array): string {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
  const view = new DataView(padded(data).buffer);
  const words = new Int32Array(BLOCK / 4);
  for (let at = 0; at < view.byteLength; at += BLOCK) {
    words.forEach((_, i) => (words[i] = view.getInt32(at + 4 * i, true)));
    mix(state, words);
  }
  const bytes = new DataView(new ArrayBuffer(16));
  state.forEach((word, i) => bytes.setInt32(4 * i, word, true));
  const digest = new Uint8Array(bytes.buffer);
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return the data with a bit 1, zeros, and the number of bits, as whole blocks. */
function padded(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array((Math.floor((data.length + 8) / BLOCK) + 1) * BLOCK);
  all.set(data);
  all[data.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setUint32(all.length - 8, (data.length * 8) >>> 0, true);
  view.setUint32(all.length - 4, Math.floor(data.length / 2 ** 29), true);
  return all;
}

function mix(state: Int32Array, words: Int32Array): void {
  let [a, b, c, d] = state as unknown as [number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const [value, place] = chosen(round, i, b, c, d);
    const sum = (a + value + SINES[i]! + words[place]!) | 0;
    const shift = SHIFTS[4 * round + (i & 3)]!;
    [a, b, c, d] = [d, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0, b, c];
  }
  [a, b, c, d].forEach((word, i) => (state[i] = state[i]! + word));
}

/** Return the round's function of three words, and the place of the block's word. */
function chosen(round: number, i: number, b: number, c: number, d: number): [number, number] {
  if (round === 0) return [(b & c) | (~b & d), i];
  if (round === 1) return [(d & b) | (~d & c), (5 * i + 1) & 15];
  if (round === 2) return [b ^ c ^ d, (3 * i + 5) & 15];
  return [c ^ (b | ~d), (7 * i) & 15];
}
