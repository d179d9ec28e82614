// MicroPython's raw REPL: code runs on the board, and its output comes back.
// https://docs.micropython.org/en/latest/reference/repl.html

import { texts } from "../texts";
import type { Port } from "./port";

const PATIENCE = 10_000; // milliseconds without an answer
const KNOCK = 250; // milliseconds between two tries to stop a program
const STOP = "\r\x03\x03\x02"; // Ctrl-C as the device's program expects it; Ctrl-B requests a prompt
const PROMPT = ">>> ";
const RAW = "raw REPL; CTRL-B to exit\r\n>";
const PIECE = 256; // bytes that a board without flow control accepts at once
const PAUSE = 10; // milliseconds between two pieces
const STARTED = "\0"; // the empty frame that a program sends when it has started

/** The board cannot carry out a command; the message is for people. */
export class BoardError extends Error {}

/** A line of Python raised an exception on the board; `text` is its last line. */
export class RaisedError extends BoardError {
  constructor(readonly text: string) {
    super(texts.board.says(text));
  }
}

export class RawRepl {
  private received = "";
  private why: string | null = null;
  private wake: () => void = () => undefined;
  private readonly decoder = new TextDecoder();

  private constructor(private readonly port: Port) {
    port.take = (data) => {
      this.received += this.decoder.decode(data, { stream: true });
      this.wake();
    };
    this.watch();
  }

  private watch(): void {
    this.why = null;
    void this.port.gone.then((why) => {
      this.why = why;
      this.wake();
    });
  }

  /** Reopen the port, which a board that is also a keyboard takes away at its start and at a reset. */
  private async again(patience: number): Promise<void> {
    const { why } = this;
    if (why === null) throw new BoardError(texts.board.silent);
    await this.port.reopen(patience).catch(() => {
      throw new BoardError(why);
    });
    this.watch();
  }

  /** Stop the board's program, and enter the raw REPL. */
  static async enter(port: Port): Promise<RawRepl> {
    const repl = new RawRepl(port);
    const end = performance.now() + PATIENCE;
    while (!(await repl.comes(PROMPT, KNOCK, false))) {
      if (performance.now() > end) throw new BoardError(texts.board.silent);
      await repl.send(STOP);
    }
    await repl.reset();
    return repl;
  }

  /** Do a soft reset: the board's RAM is cleared, and main.py is not started. */
  async reset(): Promise<void> {
    await this.send("\r\x01");
    await this.until(RAW, PATIENCE);
    await this.send("\x04");
    try {
      await this.until("soft reboot", PATIENCE);
      await this.until(RAW, PATIENCE);
    } catch {
      await this.again(PATIENCE);
      await this.send("\r\x03\x01");
      await this.until(RAW, PATIENCE);
    }
    this.received = "";
  }

  /** Run the code and return its output. `patience` is the longest silence, in milliseconds. */
  async run(code: string, patience = PATIENCE): Promise<string> {
    const bytes = new TextEncoder().encode(code);
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (at) await sleep(PAUSE);
      await this.port.write(bytes.slice(at, at + PIECE));
    }
    await this.send("\x04");
    await this.until("OK", PATIENCE);
    const output = await this.until("\x04", patience);
    const complaint = await this.until("\x04", patience);
    await this.until(">", patience);
    if (complaint) throw new RaisedError(complaint.trim().split("\n").at(-1)!);
    return output;
  }

  /** Return the value of an expression on the board: numbers, texts, lists, objects. */
  async value<Value>(expression: string, patience = PATIENCE): Promise<Value> {
    const printed = await this.run(`import json; print(json.dumps(${expression}))`, patience);
    return JSON.parse(printed) as Value;
  }

  /** Start main.py; return its output until it runs, or for `patience` milliseconds. */
  async start(patience: number): Promise<string> {
    await this.send("\r\x02");
    await this.comes(PROMPT, KNOCK);
    await this.send("\x04");
    await this.comes(STARTED, patience).catch(async () => {
      await this.again(patience);
      await this.comes(STARTED, patience);
    });
    return this.received.replace(STARTED, "");
  }

  close(): Promise<void> {
    return this.port.close();
  }

  private send(text: string): Promise<void> {
    return this.port.write(new TextEncoder().encode(text));
  }

  /** Return the text before a mark, and consume both. */
  private async until(mark: string, patience: number): Promise<string> {
    if (!(await this.comes(mark, patience))) throw new BoardError(texts.board.silent);
    const at = this.received.indexOf(mark);
    const before = this.received.slice(0, at);
    this.received = this.received.slice(at + mark.length);
    return before;
  }

  /** Return whether a mark arrives within `patience`; any input starts the time again if `renews`. */
  private async comes(mark: string, patience: number, renews = true): Promise<boolean> {
    let end = performance.now() + patience;
    while (!this.received.includes(mark)) {
      if (this.why !== null) throw new BoardError(this.why);
      const before = this.received.length;
      const rest = end - performance.now();
      if (rest <= 0) return false;
      await Promise.race([sleep(rest), new Promise<void>((resolve) => (this.wake = resolve))]);
      if (renews && this.received.length > before) end = performance.now() + patience;
    }
    return true;
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
