// A zip file whose files are stored as they are, without times: equal files make equal bytes.

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const HEAD = 30; // bytes of a file's header, without its name
const VERSION = 20;
const UTF8 = 0x0800;
const FIRST_DAY = 0x21; // 1980-01-01, the earliest date in a zip
const MODE = 0o100644;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** Return the CRC32 of bytes, unsigned; `before` is the CRC32 of the bytes before them. */
export function crc32(data: Uint8Array, before = 0): number {
  let crc = ~before;
  for (const byte of data) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 255]!;
  return ~crc >>> 0;
}

/** Return a zip of files by their names, in that order. */
export function zip(files: Readonly<Record<string, Uint8Array>>): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const [path, data] of Object.entries(files)) {
    const name = new TextEncoder().encode(path);
    const common = [...u16(VERSION, UTF8, 0, 0, FIRST_DAY), ...u32(crc32(data))];
    const sizes = [...u32(data.length, data.length), ...u16(name.length, 0)];
    const head = bytes(u32(LOCAL), common, sizes, name);
    const more = [...u16(0, 0, 0), ...u32(MODE << 16, at)];
    directory.push(bytes(u32(CENTRAL), u16((3 << 8) | VERSION), common, sizes, more, name));
    parts.push(head, new Uint8Array(data));
    at += head.length + data.length;
  }
  const size = directory.reduce((sum, entry) => sum + entry.length, 0);
  const count = directory.length;
  const end = bytes(u32(END), u16(0, 0, count, count), u32(size, at), u16(0));
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

/** Return the files in a zip of files that are stored as they are; null for other or damaged data. */
export function unzip(data: Uint8Array): Record<string, Uint8Array<ArrayBuffer>> | null {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  let at = 0;
  while (at + HEAD <= data.length && view.getUint32(at, true) === LOCAL) {
    const [size, stored] = [view.getUint32(at + 18, true), view.getUint32(at + 22, true)];
    const begin = at + HEAD + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    const end = begin + size;
    if (view.getUint16(at + 8, true) || size !== stored || end > data.length) return null;
    const file = data.slice(begin, end);
    if (crc32(file) !== view.getUint32(at + 14, true)) return null;
    const nameEnd = at + HEAD + view.getUint16(at + 26, true);
    files[new TextDecoder().decode(data.subarray(at + HEAD, nameEnd))] = file;
    at = end;
  }
  return at + 4 <= data.length && view.getUint32(at, true) === CENTRAL ? files : null;
}

function bytes(...parts: readonly Iterable<number>[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

function u16(...values: readonly number[]): number[] {
  return values.flatMap((value) => [value & 255, (value >>> 8) & 255]);
}

function u32(...values: readonly number[]): number[] {
  return values.flatMap((value) => u16(value & 0xffff, value >>> 16));
}
