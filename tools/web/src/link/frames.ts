// Frames of the serial link: 0 | COBS(body) | 0, see docs/reference/link.md.

import { FRAME } from "../shared";
import { crc32 } from "../zip";

const { version: VERSION, header: HEAD, trailer: TAIL } = FRAME; // the trailer is the CRC32
const RUN = 254; // the longest run of COBS

/** A request or an answer; a request has 0 credits. */
export interface Frame {
  readonly type: number;
  readonly session: number;
  readonly number: number; // in the sequence
  readonly credits: number;
  readonly payload: Uint8Array<ArrayBuffer>;
}

/** Return the bytes of a frame on the line. */
export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(HEAD + frame.payload.length + TAIL);
  const view = new DataView(body.buffer);
  body.set([VERSION, frame.type]);
  view.setUint16(2, frame.session, true);
  view.setUint16(4, frame.number, true);
  body[6] = frame.credits;
  body.set(frame.payload, HEAD);
  view.setUint32(body.length - TAIL, crc32(body.subarray(0, -TAIL)), true);
  return Uint8Array.from([0, ...cobs(body), 0]);
}

/** Return the frame between two zeros; null for anything else, such as text or a damaged frame. */
export function decodeFrame(piece: Uint8Array): Frame | null {
  const body = uncobs(piece);
  if (!body || body.length < HEAD + TAIL || body[0] !== VERSION) return null;
  const view = new DataView(body.buffer);
  const end = body.length - TAIL;
  if (view.getUint32(end, true) !== crc32(body.subarray(0, end))) return null;
  return {
    type: body[1]!,
    session: view.getUint16(2, true),
    number: view.getUint16(4, true),
    credits: body[6]!,
    payload: body.slice(HEAD, end),
  };
}

/** Cuts received bytes into the pieces between zeros. */
export class Splitter {
  private rest: number[] = [];

  constructor(private readonly take: (piece: Uint8Array) => void) {}

  feed(data: Uint8Array): void {
    for (const byte of data) {
      if (byte) {
        this.rest.push(byte);
      } else if (this.rest.length) {
        const piece = Uint8Array.from(this.rest);
        this.rest = [];
        this.take(piece);
      }
    }
  }

  /** The bytes after the last zero, such as a prompt. */
  get unfinished(): Uint8Array {
    return Uint8Array.from(this.rest);
  }
}

function cobs(body: Uint8Array): number[] {
  const out: number[] = [];
  let run: number[] = [];
  let open = true; // a run has to follow, even an empty one
  for (const byte of body) {
    open = true;
    if (byte) run.push(byte);
    if (!byte || run.length === RUN) {
      out.push(run.length + 1, ...run);
      open = !byte;
      run = [];
    }
  }
  if (open || run.length) out.push(run.length + 1, ...run);
  return out;
}

function uncobs(piece: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const out: number[] = [];
  let at = 0;
  while (at < piece.length) {
    const size = piece[at]! - 1;
    if (at + 1 + size > piece.length) return null;
    out.push(...piece.subarray(at + 1, at + 1 + size));
    at += 1 + size;
    if (size < RUN && at < piece.length) out.push(0);
  }
  return Uint8Array.from(out);
}
