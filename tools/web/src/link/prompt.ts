// A board that shows MicroPython's prompt, and a hello that no prompt obeys: what comes to a board
// while it starts, or after its program was stopped, is typed at the prompt.

import { LINK } from "../shared";
import { encodeFrame } from "./frames";

/** Ctrl-C clears, Ctrl-B leaves the raw REPL, Ctrl-D starts main.py. */
export const RESTART = Uint8Array.from([13, 3, 2, 4]);
const OBEYED = [2, 3, 4]; // bytes that a prompt would take for commands
const SESSIONS = 65536;

/** Whether a board that wrote this shows a prompt of MicroPython. */
export function showsPrompt(written: Uint8Array): boolean {
  return />>> |raw REPL|paste mode/.test(new TextDecoder().decode(written));
}

/** The line that begins a session. */
export function helloLine(session: number): Uint8Array<ArrayBuffer> {
  return encodeFrame({ type: LINK.HELLO, session, number: 0, credits: 0, payload: new Uint8Array() });
}

/** A session number, by chance, whose hello has no byte that a prompt would obey. */
export function drawnSession(): number {
  for (;;) {
    const session = 1 + (crypto.getRandomValues(new Uint16Array(1))[0]! % (SESSIONS - 1));
    if (!helloLine(session).some((byte) => OBEYED.includes(byte))) return session;
  }
}
