// A board that shows MicroPython's prompt, and a hello that no prompt obeys: bytes that reach a
// starting board, or a board whose program was stopped, are input at the prompt.

import { LINK } from "../shared";
import { encodeFrame } from "./frames";

/** Ctrl-C clears, Ctrl-B leaves the raw REPL, Ctrl-D starts main.py. */
export const RESTART = Uint8Array.from([13, 3, 2, 4]);
const OBEYED = [2, 3, 4]; // bytes that are commands at a prompt
const SESSIONS = 65536;

/** Return whether a board that wrote this shows a prompt of MicroPython. */
export function showsPrompt(written: Uint8Array): boolean {
  return />>> |raw REPL|paste mode/.test(new TextDecoder().decode(written));
}

/** Return the bytes that begin a session. */
export function helloLine(session: number): Uint8Array<ArrayBuffer> {
  return encodeFrame({ type: LINK.HELLO, session, number: 0, credits: 0, payload: new Uint8Array() });
}

/** Draw a session number whose hello has no byte that a prompt would obey. */
export function drawnSession(): number {
  for (;;) {
    const session = 1 + (crypto.getRandomValues(new Uint16Array(1))[0]! % (SESSIONS - 1));
    if (!helloLine(session).some((byte) => OBEYED.includes(byte))) return session;
  }
}
