// The text of a file, piece by piece, plain or packed with gzip; and the kind of a file that is no text.

import { FILE_KINDS, LIMITS } from "../shared";
import { texts } from "../texts";
import { DataError, readByCommand } from "./data_error";

const [LF, CR] = [10, 13];
const NO_SIGNS = /[\x81\x8d\x8f\x90\x9d]/; // bytes that Windows-1252 has no sign for
const COMMAND_READS = /^an Excel workbook|NumPy|MATLAB|Parquet|Arrow/; // read by the command with the extra `files`
export const JSON_FILE = "a JSON file"; // the page reads JSON

/**
 * Yield pieces of the text; `read` gets the number of bytes read. A line that is not UTF-8 is read as
 * Windows-1252, and `notUtf8` gets the first such line. Throws DataError.
 */
export async function* piecesOf(
  name: string,
  file: Blob,
  read: (bytes: number) => void = () => undefined,
  notUtf8: (line: number) => void = () => undefined,
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
  let decoder: Decoder | undefined;
  for await (const piece of chunksOf(name, plain, isPacked)) {
    if (!decoder) {
      checkKind(name, piece);
      decoder = decoderOf(name, piece, notUtf8);
    }
    const text = withoutZeros(name, decoder(piece));
    if (text) yield text;
    read(bytes);
  }
  if (decoder) yield withoutZeros(name, decoder());
}

type Decoder = (piece?: Uint8Array) => string;

function decoderOf(name: string, start: Uint8Array, notUtf8: (line: number) => void): Decoder {
  const mark = `${start[0]} ${start[1]}`;
  if (mark !== "255 254" && mark !== "254 255") return lineDecoder(name, notUtf8);
  const decoder = new TextDecoder(mark === "255 254" ? "utf-16le" : "utf-16be");
  return (piece) => (piece ? decoder.decode(piece, { stream: true }) : decoder.decode());
}

/** Return a decoder of whole lines; a line that is not UTF-8 is decoded as Windows-1252. */
function lineDecoder(name: string, notUtf8: (line: number) => void): Decoder {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let held: Uint8Array = new Uint8Array(0); // bytes of an unfinished line
  let isFirst = true;
  let line = 1;
  let isNoted = false;
  const older = (bytes: Uint8Array): string => {
    try {
      return utf8.decode(bytes);
    } catch {
      const text = new TextDecoder("windows-1252").decode(bytes);
      if (NO_SIGNS.test(text)) throw new DataError(texts.errors.utf8(name));
      if (!isNoted) notUtf8(line);
      isNoted = true;
      return text;
    }
  };
  const byLine = (bytes: Uint8Array): string => {
    let text = "";
    for (let from = 0; from < bytes.length; ) {
      const end = bytes.indexOf(LF, from) + 1 || bytes.length;
      text += older(bytes.subarray(from, end));
      from = end;
      line++;
    }
    return text;
  };
  return (piece) => {
    const all = piece ? joined(held, piece) : held;
    let end = piece ? Math.max(all.lastIndexOf(LF), all.lastIndexOf(CR)) + 1 : all.length;
    if (!end && all.length > LIMITS.line) {
      end = all.length;
      while ((all[end - 1] ?? 0) > 127) end--; // between letters
    }
    held = all.subarray(end);
    const lines = all.subarray(0, end);
    let text;
    try {
      text = utf8.decode(lines);
      if (!isNoted) for (const byte of lines) if (byte === LF) line++;
    } catch {
      text = byLine(lines);
    }
    if (isFirst && end) {
      text = text.replace(/^\ufeff/, "");
      isFirst = false;
    }
    return text;
  };
}

function withoutZeros(name: string, text: string): string {
  if (text.includes("\0")) throw new DataError(texts.errors.zero(name));
  return text;
}

async function* chunksOf(
  name: string,
  stream: ReadableStream<Uint8Array>,
  isPacked: boolean,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let held: Uint8Array<ArrayBufferLike> | undefined = new Uint8Array(0); // until the kind is known
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (held) {
        held = joined(held, value ?? new Uint8Array(0));
        if (!done && held.length < LIMITS.start) continue;
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

function checkKind(name: string, piece: Uint8Array): void {
  let start = "";
  for (const byte of piece.subarray(0, LIMITS.start)) start += String.fromCharCode(byte);
  start = start.replace(/^\xef\xbb\xbf/, "");
  for (const [pattern, what, remedy] of FILE_KINDS) {
    if (what === JSON_FILE || !new RegExp(`^(?:${pattern})`, "is").test(start)) continue;
    const save = remedy.startsWith("read_") ? texts.errors.saveAsCsv : remedy;
    const message = texts.errors.notCsv(name, what, save);
    const isRead = COMMAND_READS.test(what) || /\.npz$/i.test(name);
    throw isRead ? readByCommand(name, message) : new DataError(message);
  }
}
