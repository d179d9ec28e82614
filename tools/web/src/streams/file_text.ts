// The text of a file, piece by piece, plain or packed with gzip; and what a file is that is no text.

import { texts } from "../texts";
import { DataError, readByCommand } from "./data_error";

/** How files of other kinds begin, what that is, and what to do: as streams/file_kinds.py has it. */
export type Kinds = readonly (readonly [pattern: string, what: string, remedy: string])[];

const LOOKED_AT = 4096; // bytes
const COMMAND_READS = /^an Excel workbook|NumPy|MATLAB|Parquet|Arrow/; // with the extra files
export const JSON_FILE = "a JSON file"; // which is read

/** Pieces of the text; `read` is told how many bytes of the file are read. Throws DataError. */
export async function* piecesOf(
  name: string,
  file: Blob,
  kinds: Kinds,
  read: (bytes: number) => void = () => undefined,
): AsyncGenerator<string> {
  const gone = (): never => {
    throw new DataError(texts.errors.gone(name));
  };
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer().catch(gone));
  const isPacked = name.toLowerCase().endsWith(".gz") || (start[0] === 0x1f && start[1] === 0x8b);
  let bytes = 0;
  const counted = file.stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(piece, to) {
        bytes += piece.length;
        to.enqueue(piece);
      },
    }),
  );
  const plain = isPacked ? counted.pipeThrough(new DecompressionStream("gzip")) : counted;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isFirst = true;
  for await (const piece of chunksOf(name, plain, isPacked)) {
    if (isFirst) checkKind(name, piece, kinds);
    isFirst = false;
    if (piece.includes(0)) throw new DataError(texts.errors.zero(name));
    yield decoded(name, decoder, piece);
    read(bytes);
  }
  yield decoded(name, decoder);
}

async function* chunksOf(
  name: string,
  stream: ReadableStream<Uint8Array>,
  isPacked: boolean,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let held: Uint8Array<ArrayBufferLike> | undefined = new Uint8Array(0); // until the kind can be told
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (held) {
        held = joined(held, value ?? new Uint8Array(0));
        if (!done && held.length < LOOKED_AT) continue;
        if (held.length) yield held;
        held = undefined;
      } else if (value) yield value;
      if (done) return;
    }
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError(isPacked ? texts.errors.gzip(name) : texts.errors.gone(name));
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function checkKind(name: string, piece: Uint8Array, kinds: Kinds): void {
  const isUtf16 = (piece[0] === 0xff && piece[1] === 0xfe) || (piece[0] === 0xfe && piece[1] === 0xff);
  if (isUtf16) throw new DataError(texts.errors.utf16(name));
  let start = "";
  for (const byte of piece.subarray(0, LOOKED_AT)) start += String.fromCharCode(byte);
  start = start.replace(/^\xef\xbb\xbf/, "");
  for (const [pattern, what, remedy] of kinds) {
    if (what === JSON_FILE || !new RegExp(`^(?:${pattern})`, "is").test(start)) continue;
    const save = remedy.startsWith("read_") ? texts.errors.saveAsCsv : remedy;
    const message = texts.errors.kind(name, what, save);
    const isRead = COMMAND_READS.test(what) || /\.npz$/i.test(name);
    throw isRead ? readByCommand(name, message) : new DataError(message);
  }
}

function decoded(name: string, decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch {
    throw new DataError(texts.errors.utf8(name));
  }
}
